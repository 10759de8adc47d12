// The sums of ica_kernels.hpp: rows are packed once, projected, bent and multiplied with themselves while they are in the nearest cache.
#pragma once

#include "kernels/common/explog.hpp"
#include "kernels/common/tile.hpp"
#include "kernels/reduce/ica_kernels.hpp"

namespace tenfold::TENFOLD_LEVEL {

// tanh of any finite x, to about two units in the last place, near zero too: with q = e^(-2 |x|) - 1 it is -q / (2 + q), and
// q = 2^n (e^r - 1) + (2^n - 1), where n = 0 for small x leaves the series of e^r - 1 as it is.
TENFOLD_INLINE V tanh_of(V x) {
    constexpr double LOG2_HI = 0x1.62e42fefa3800p-1, LOG2_LO = 0x1.ef35793c76730p-45, FLAT = -40.0;  // beyond it is 1
    V t = x < 0.0 ? 2.0 * x : -2.0 * x;
    t = t < FLAT ? splat(FLAT) : t;
    V n = round_whole(t * 0x1.71547652b82fep0);
    V r = (t - n * LOG2_HI) - n * LOG2_LO;
    V series = splat(1.0 / 6227020800.0);
    for (double factorial : {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0})
        series = series * r + 1.0 / factorial;
    V power = power_of_two(n), q = power * (r + r * r * series) + (power - 1.0);
    V found = -q / (2.0 + q);
    return x < 0.0 ? -found : found;
}

// y becomes g(y); returns g'(y).
template <Contrast C>
TENFOLD_INLINE V bend(V& y, double a) {
    if constexpr (C == Contrast::log_cosh) {
        y = tanh_of(a * y);
        return a * (1.0 - y * y);
    } else if constexpr (C == Contrast::exponential) {
        V squared = y * y, bell = exp_negative(-0.5 * squared);
        y = y * bell;
        return (1.0 - squared) * bell;
    } else {
        V squared = y * y;
        y = y * squared;
        return 3.0 * squared;
    }
}

template <Contrast C, class T>
void ica_tiles(Rows<const T> X, Weights w, const Projections& on, double* products, double* slopes) {
    const size_t p = X.p, k = on.axes.n, depth = std::min<size_t>(X.n, 64);
    Tile rows(p, depth), bent(k, depth), factor(k, p);
    for (size_t c = 0; c < k; ++c)
        for (size_t j = 0; j < p; ++j) factor.at(j, c) = on.axes[c][j];
    const size_t row_of_blocks = rows.panels * BLOCK;
    Scratch<double> blocks(bent.panels * row_of_blocks), slope(bent.panels * PANEL), weight(rows.depth);
    for (size_t start = 0; start < X.n && !stopped(); start += rows.depth) {
        const size_t count = std::min(rows.depth, X.n - start);
        for (size_t r = 0; r < count; ++r) {
            const T* x = X[start + r];
            for_vectors(p, [&](size_t j, auto at)
                               __attribute__((always_inline)) { store(&rows.at(r, j), at(x) - at(on.center)); });
            weight[r] = w[start + r];
        }
        for (size_t r = count; r < rows.depth; ++r) weight[r] = 0;  // those of the tile before: they count nothing
        multiply_all(rows, count, p, factor, [&](size_t r0, size_t b, auto& product) __attribute__((always_inline)) {
            for (size_t v = 0; v < PARTS; ++v) {
                V sum = load(&slope[b * PANEL + v * L]);
                for (size_t r = 0; r < PANEL; ++r) {
                    V y = product[r][v], steep = bend<C>(y, on.a);
                    sum += weight[r0 + r] * steep;
                    store(bent.slot(r0 + r, b) + v * L, weight[r0 + r] * y);
                }
                store(&slope[b * PANEL + v * L], sum);
            }
        });
        for (size_t b = 0; b < rows.panels; b += REACH)
            for (size_t a = 0; a < bent.panels; ++a)
                add_outer(std::min(REACH, rows.panels - b), bent, a, rows, b, count,
                          [&](size_t column) { return blocks.data() + a * row_of_blocks + column * BLOCK; });
    }
    for (size_t c = 0; c < k; ++c) {
        for (size_t j = 0; j < p; ++j)
            products[c * p + j] = blocks[c / PANEL * row_of_blocks + j / PANEL * BLOCK + c % PANEL * PANEL + j % PANEL];
        slopes[c] = slope[c];
    }
}

// One projection of rows around zero: read where they lie, as a tile of one component would be nearly empty.
template <Contrast C, class T>
void ica_one(Rows<const T> X, Weights w, const Projections& on, double* products, double* slopes) {
    const size_t p = X.p;
    Scratch<double> sum(padded(p));
    V steep{};
    for (size_t start = 0; start < X.n; start += L) {
        if (start % 4096 == 0 && stopped()) return;
        const size_t count = std::min(L, X.n - start);
        const T* row[L];
        for (size_t l = 0; l < L; ++l) row[l] = X[start + std::min(l, count - 1)];
        const V weight = count == L ? load(w.data() + start) : load_part(w.data() + start, count);
        V each[L] = {};
        for_vectors(p, [&](size_t, auto at) __attribute__((always_inline)) {
            V b = at(on.axes[0]);
            for (size_t l = 0; l < L; ++l) each[l] += at(row[l]) * b;
        });
        V y = sum_each(each);
        steep += weight * bend<C>(y, on.a);
        y *= weight;
        for_vectors(p, [&](size_t j, auto at) __attribute__((always_inline)) {
            V even{}, odd = load(sum.data() + j);
            for (size_t l = 0; l < L; l += 2) {
                even += y[l] * at(row[l]);
                odd += y[l + 1] * at(row[l + 1]);
            }
            store(sum.data() + j, even + odd);
        });
    }
    std::copy_n(sum.data(), p, products);
    slopes[0] = sum_lanes(steep);
}

template <Contrast C, class T>
void ica_shaped(Rows<const T> X, Weights w, const Projections& on, double* products, double* slopes) {
    const bool around_zero = std::all_of(on.center, on.center + X.p, [](double c) { return c == 0; });
    if (on.axes.n == 1 && around_zero) ica_one<C>(X, w, on, products, slopes);
    else ica_tiles<C>(X, w, on, products, slopes);
}

template <class T>
void ica_sums(Rows<const T> X, Weights w, const Projections& on, double* products, double* slopes) {
    if (on.contrast == Contrast::log_cosh) ica_shaped<Contrast::log_cosh>(X, w, on, products, slopes);
    else if (on.contrast == Contrast::exponential) ica_shaped<Contrast::exponential>(X, w, on, products, slopes);
    else ica_shaped<Contrast::cube>(X, w, on, products, slopes);
}

}  // namespace tenfold::TENFOLD_LEVEL
