// Squared distances from means in whitened coordinates, by triangular factors: half the work of full ones.
#pragma once

#include "kernels/common/simd.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr size_t ABREAST = 2 * L;  // rows that are worked on together, one in each lane of two vectors
constexpr size_t COLUMNS = 4;      // of a factor that are worked on together

// tile[j, i] = x_i - mean in column j, for ABREAST rows
template <class T>
TENFOLD_INLINE void pack_across(const T* const* x, size_t p, const double* mean, double* tile) {
    for_vectors(p, [&](size_t j, auto at) __attribute__((always_inline)) {
        const V m = at(mean);
        for (size_t half = 0; half < ABREAST; half += L) {
            V v[L];
            for (size_t l = 0; l < L; ++l) v[l] = at(x[half + l]) - m;
            transpose(v);
            for (size_t l = 0; l < L; ++l) store(tile + (j + l) * ABREAST + half, v[l]);
        }
    });
}

// The squared lengths of the rows of a tile times an upper triangular W, whose rows are `width` apart.
TENFOLD_INLINE void squared_lengths(const double* tile, size_t p, const double* W, size_t width, V* length) {
    length[0] = length[1] = V{};
    for (size_t b = 0; b < p; b += COLUMNS) {
        V z[COLUMNS][2] = {};
        for (size_t a = 0; a < std::min(b + COLUMNS, p); ++a) {
            const V first = load(tile + a * ABREAST), second = load(tile + a * ABREAST + L);
            for (size_t i = 0; i < COLUMNS; ++i) {
                const V factor = splat(W[a * width + b + i]);
                z[i][0] += factor * first;
                z[i][1] += factor * second;
            }
        }
        for (size_t i = 0; i < COLUMNS; ++i)
            for (size_t h = 0; h < 2; ++h) length[h] += z[i][h] * z[i][h];
    }
}

// whitened_squares: out_ic = ||(x_i - mean_c) W_c||^2 with W_c (p, p) upper triangular; what is below is not read.
template <class T>
void whitened_squares(Rows<const T> X, Rows<const double> mean, const double* W, double* out) {
    const size_t p = X.p, K = mean.n, width = ceil_div(p, COLUMNS) * COLUMNS;
    Scratch<double> tile(padded(p) * ABREAST), factor(p * width);
    for (size_t c = 0; c < K; ++c) {
        for (size_t a = 0; a < p; ++a) std::copy_n(W + (c * p + a) * p + a, p - a, factor.data() + a * width + a);
        for (size_t start = 0; start < X.n && !stopped(); start += ABREAST) {
            const size_t count = std::min(ABREAST, X.n - start);
            const T* x[ABREAST];
            for (size_t l = 0; l < ABREAST; ++l) x[l] = X[start + std::min(l, count - 1)];
            pack_across(x, p, mean[c], tile.data());
            V length[2];
            squared_lengths(tile.data(), p, factor.data(), width, length);
            for (size_t l = 0; l < count; ++l) out[(start + l) * K + c] = length[l / L][l % L];
        }
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
