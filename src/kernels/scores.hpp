// Scores of n rows for k classes: linear, diagonal quadratic, full quadratic.
#pragma once

#include "blas.hpp"

namespace tenfold {

// linear_scores: out = X B^T + b
template <class T>
void linear_scores(Rows<const T> X, Rows<const double> B, const double* b, double* out) {
    for (size_t i = 0; i < X.n; ++i)
        for (size_t c = 0; c < B.n; ++c) {
            double sum = b[c];
            for (size_t j = 0; j < X.p; ++j) sum += X[i][j] * B[c][j];
            out[i * B.n + c] = sum;
        }
}

// spread_scores: out_k = constant_k - 1/2 sum_j (x_j - mean_kj)^2 inverse_kj
template <class T>
void spread_scores(Rows<const T> X, Rows<const double> mean, const double* inverse, const double* constant, double* out) {
    for (size_t i = 0; i < X.n; ++i)
        for (size_t c = 0; c < mean.n; ++c) {
            double sum = 0;
            for (size_t j = 0; j < X.p; ++j) {
                double d = X[i][j] - mean[c][j];
                sum += d * d * inverse[c * X.p + j];
            }
            out[i * mean.n + c] = constant[c] - 0.5 * sum;
        }
}

// quadratic_scores: out_k = constant_k - 1/2 ||(x - mean_k) W_k||^2
template <class T>
void quadratic_scores(Rows<const T> X, Rows<const double> mean, const double* W, const double* constant, double* out) {
    size_t p = X.p;
    for (size_t i = 0; i < X.n; ++i)
        for (size_t c = 0; c < mean.n; ++c) {
            double norm = 0;
            for (size_t b = 0; b < p; ++b) {
                double v = 0;
                for (size_t a = 0; a < p; ++a) v += (X[i][a] - mean[c][a]) * W[(c * p + a) * p + b];
                norm += v * v;
            }
            out[i * mean.n + c] = constant[c] - 0.5 * norm;
        }
}

}  // namespace tenfold
