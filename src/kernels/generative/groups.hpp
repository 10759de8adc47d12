// Weighted means and spreads of k groups of rows, numbered 0 .. k - 1. An empty group gives zeros.
#pragma once

#include "kernels/common/moments.hpp"

namespace tenfold::TENFOLD_LEVEL {

// weight_k and mean_k of each group; mean has rows of padded(p) values.
template <class T>
TENFOLD_INLINE void group_means(Rows<const T> X, Labels g, Weights w, size_t k, double* weight,
                                double* mean) {
    const size_t width = padded(X.p);
    for (size_t i = 0; i < X.n; ++i) {
        double* sum = mean + g[i] * width;
        weight[g[i]] += w[i];
        for_vectors(X.p, [&](size_t j, auto at) __attribute__((always_inline)) {
            store(sum + j, load(sum + j) + w[i] * at(X[i]));
        });
    }
    for (size_t c = 0; c < k; ++c)
        for (size_t j = 0; j < width; ++j)
            mean[c * width + j] = weight[c] > 0 ? mean[c * width + j] / weight[c] : 0.0;
}

// group_moments: `moments` of the rows of each group. Row numbers are sorted by group, each group is then one
// run of tiles.
template <class T>
void group_moments(Rows<const T> X, Labels g, Weights w, size_t k, double* weight, double* center,
                   double* offset, double* scatter) {
    const size_t p = X.p, width = padded(p);
    Scratch<double> mean(k * width), shift(width + PANEL);
    group_means(X, g, w, k, weight, mean.data());

    // A counting sort. end[c] is where group c starts in order, and after the last loop where it ends.
    Scratch<size_t> end(k + 1), order(X.n);
    for (size_t i = 0; i < X.n; ++i) ++end[g[i] + 1];
    for (size_t c = 0; c < k; ++c) end[c + 1] += end[c];
    for (size_t i = 0; i < X.n; ++i) order[end[g[i]]++] = i;

    Gram gram(p, X.n);
    for (size_t c = 0, start = 0; c < k; start = end[c++]) {
        if (!(weight[c] > 0)) continue;
        gram.clear();
        std::fill_n(shift.data(), width, 0.0);
        for (; start < end[c] && !stopped(); start += gram.depth()) {
            const size_t rows = std::min(gram.depth(), end[c] - start);
            pack_rows<T>(
                gram.tile, rows, p, mean.data() + c * width, shift.data(),
                [&](size_t r) { return X[order[start + r]]; }, [&](size_t r) { return w[order[start + r]]; });
            gram.add(rows);
        }
        for (size_t j = 0; j < p; ++j) {
            center[c * p + j] = mean[c * width + j];
            offset[c * p + j] = shift[j] = shift[j] / weight[c];
        }
        gram.unpack(weight[c], shift.data(), scatter + c * p * p);
    }
}

// group_spreads: as group_moments, with only the diagonal of each scatter.
template <class T>
void group_spreads(Rows<const T> X, Labels g, Weights w, size_t k, double* weight, double* center,
                   double* offset, double* spread) {
    const size_t p = X.p, width = padded(p);
    Scratch<double> mean(k * width), shift(k * width), square(k * width);
    group_means(X, g, w, k, weight, mean.data());
    for (size_t i = 0; i < X.n; ++i) {
        if (i % 1024 == 0 && stopped()) return;
        const size_t at_group = g[i] * width;
        double *m = mean.data() + at_group, *s = shift.data() + at_group, *q = square.data() + at_group;
        for_vectors(p, [&](size_t j, auto at) __attribute__((always_inline)) {
            V d = at(X[i]) - at(m), wd = w[i] * d;
            store(s + j, load(s + j) + wd);
            store(q + j, load(q + j) + wd * d);
        });
    }
    for (size_t c = 0; c < k; ++c)
        for (size_t j = 0; j < p && weight[c] > 0; ++j) {
            const size_t at = c * width + j;
            const double away = shift[at] / weight[c];
            center[c * p + j] = mean[at];
            offset[c * p + j] = away;
            spread[c * p + j] = std::max(square[at] - weight[c] * away * away, 0.0);
        }
}

}  // namespace tenfold::TENFOLD_LEVEL
