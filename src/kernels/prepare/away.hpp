// Sums of a column around a centre, added up in pairs as NumPy does it: the same bits, in one pass without copies.
#pragma once

#include <cstddef>

namespace tenfold {

struct Away {
    double first = 0, second = 0;  // Σ (x − center), Σ (x − center)²

    Away& operator+=(const Away& more) {
        first += more.first;
        second += more.second;
        return *this;
    }
};

inline Away operator+(Away a, const Away& b) { return a += b; }

inline Away away_of(double x, double center) {
    const double away = x - center;
    return {away, away * away};
}

inline Away sums_away(const double* x, std::size_t n, double center) {
    constexpr std::size_t LANES = 8, IN_LANES = 128;
    if (n < LANES) {
        Away sum;
        for (std::size_t i = 0; i < n; ++i) sum += away_of(x[i], center);
        return sum;
    }
    if (n > IN_LANES) {
        const std::size_t half = n / 2 - n / 2 % LANES;
        return sums_away(x, half, center) + sums_away(x + half, n - half, center);
    }
    double first[LANES], second[LANES];
    for (std::size_t lane = 0; lane < LANES; ++lane) {
        const double away = x[lane] - center;
        first[lane] = away;
        second[lane] = away * away;
    }
    std::size_t i = LANES;
    for (; i + LANES <= n; i += LANES)
        for (std::size_t lane = 0; lane < LANES; ++lane) {
            const double away = x[i + lane] - center;
            first[lane] += away;
            second[lane] += away * away;
        }
    const auto together = [](const double* r) { return ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7])); };
    Away sum{together(first), together(second)};
    for (; i < n; ++i) sum += away_of(x[i], center);
    return sum;
}

}  // namespace tenfold
