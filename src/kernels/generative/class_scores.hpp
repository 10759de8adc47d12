// Scores of n rows for k classes: linear, diagonal quadratic, full quadratic. All write out[n, k].
#pragma once

#include "kernels/common/tile.hpp"

namespace tenfold::TENFOLD_LEVEL {

// linear_scores: out = X B^T + b. One way for any number of rows: the scores of a row do not depend on the rows
// beside it.
template <class T>
void linear_scores(Rows<const T> X, Rows<const double> B, const double* b, double* out) {
    const size_t k = B.n;
    Tile rows(X.p, std::min(X.n, Tile::DEPTH)), factor(k, X.p);
    for (size_t c = 0; c < k; ++c)
        for (size_t j = 0; j < X.p; ++j) factor.at(j, c) = B[c][j];
    for (size_t start = 0; start < X.n && !stopped(); start += rows.depth) {
        const size_t count = std::min(rows.depth, X.n - start);
        for (size_t r = 0; r < count; ++r) rows.pack(r, X[start + r], X.p, 1.0);
        multiply_all(rows, count, X.p, factor,
                     [&](size_t r0, size_t panel, const auto& product) __attribute__((always_inline)) {
                         const size_t first = panel * PANEL, width = std::min(PANEL, k - first);
                         for (size_t r = 0; r < std::min(PANEL, count - r0); ++r) {
                             double* to = out + (start + r0 + r) * k + first;
                             for (size_t c = 0; c < width; ++c)
                                 to[c] = product[r][c / L][c % L] + b[first + c];
                         }
                     });
    }
}

// spread_scores: out_c = constant_c - 1/2 sum_j (x_j - mean_cj)^2 inverse_cj
template <class T>
void spread_scores(Rows<const T> X, Rows<const double> mean, const double* inverse, const double* constant,
                   double* out) {
    const size_t k = mean.n, p = X.p;
    for (size_t start = 0; start < X.n; start += L) {
        if (start % 1024 == 0 && stopped()) return;
        const size_t count = std::min(L, X.n - start);
        const T* row[L];
        for (size_t l = 0; l < L; ++l) row[l] = X[start + std::min(l, count - 1)];
        for (size_t c = 0; c < k; ++c) {
            V sum[L] = {};
            for_vectors(p, [&](size_t, auto at) __attribute__((always_inline)) {
                V m = at(mean[c]), scale = at(inverse + c * p);
                for (size_t l = 0; l < L; ++l) {
                    V d = at(row[l]) - m;
                    sum[l] += d * d * scale;
                }
            });
            V score = constant[c] - 0.5 * sum_each(sum);
            for (size_t l = 0; l < count; ++l) out[(start + l) * k + c] = score[l];
        }
    }
}

// quadratic_scores: out_c = constant_c - 1/2 ||(x - mean_c) W_c||^2
template <class T>
void quadratic_scores(Rows<const T> X, Rows<const double> mean, const double* W, const double* constant,
                      double* out) {
    const size_t k = mean.n, p = X.p;
    const double one = 1.0;
    Tile rows(p, std::min(X.n, Tile::DEPTH)), factor(p, p);
    Scratch<double> norm(rows.depth * L), ignored(padded(p));
    for (size_t c = 0; c < k; ++c) {
        for (size_t a = 0; a < p; ++a) factor.pack(a, W + (c * p + a) * p, p, 1.0);
        for (size_t start = 0; start < X.n && !stopped(); start += rows.depth) {
            const size_t count = std::min(rows.depth, X.n - start);
            for (size_t r = 0; r < count; ++r) {
                const T* x = X[start + r];
                rows.pack_centred<1>(r, &x, p, mean[c], &one, ignored.data());
            }
            std::memset(norm.data(), 0, rows.depth * L * sizeof(double));
            multiply_all(rows, count, p, factor,
                         [&](size_t r0, size_t, const auto& product) __attribute__((always_inline)) {
                             for (size_t r = 0; r < PANEL; ++r)
                                 for (size_t v = 0; v < PARTS; ++v) {
                                     double* sum = norm.data() + (r0 + r) * L;
                                     store(sum, load(sum) + product[r][v] * product[r][v]);
                                 }
                         });
            for (size_t r = 0; r < count; ++r)
                out[(start + r) * k + c] = constant[c] - 0.5 * sum_lanes(load(norm.data() + r * L));
        }
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
