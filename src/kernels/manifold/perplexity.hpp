// The width of a Gaussian around a row that leaves it a given number of neighbours.
#pragma once

#include <cmath>

#include "kernels/common/rows_view.hpp"

namespace tenfold {

// p_j = w_j exp(-b d_j^2) / Z with the b for which the entropy, log Z + b sum p d^2, is log(perplexity): Newton steps within a
// bracket, as the entropy falls in b with slope -b Var(d^2). Where no b is right (more neighbours than that are equally near, or
// there are fewer at all), the nearest to it: only the nearest count, or all alike. Distances are not changed by the least one nor by
// a scale, so that none is too large.
inline void share_among_neighbours(const double* d, const double* w, size_t k, double perplexity, double* p) {
    constexpr int STEPS = 200;
    constexpr double CLOSE = 1e-10;
    double least = d[0], most = d[0];
    for (size_t j = 1; j < k; ++j) least = std::min(least, d[j]), most = std::max(most, d[j]);
    const double goal = std::log(perplexity), unit = most > 0 ? most : 1.0;
    const auto square = [&](size_t j) { return (d[j] - least) / unit * ((d[j] + least) / unit); };
    double mean = 0;
    for (size_t j = 0; j < k; ++j) mean += square(j) / static_cast<double>(k);
    double low = 0, high = std::numeric_limits<double>::infinity(), b = mean > 0 ? 1 / mean : 0.0, total = 0;
    for (int step = 0; step < STEPS; ++step) {
        double first = 0, second = 0;
        total = 0;
        for (size_t j = 0; j < k; ++j) {
            const double s = square(j), one = w[j] * std::exp(-b * s);
            p[j] = one, total += one, first += one * s, second += one * s * s;
        }
        first /= total;
        const double rest = std::log(total) + b * first - goal, slope = -b * (second / total - first * first);
        if (!(mean > 0) || std::abs(rest) <= CLOSE) break;
        (rest > 0 ? low : high) = b;
        const double newton = slope < 0 ? b - rest / slope : -1.0;
        const double next = newton > low && newton < high ? newton : std::isinf(high) ? 2 * b : low + (high - low) / 2;
        if (next == b || next > 1e300) break;
        b = next;
    }
    for (size_t j = 0; j < k; ++j) p[j] /= total;
}

}  // namespace tenfold
