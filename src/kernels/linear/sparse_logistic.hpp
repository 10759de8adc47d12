// Logistic regression over sparse rows that lie in memory: the loss with its gradient, and products with its curvature.
//
// θ, gradients and products are (p + 1, K), so that what a column has for all classes lies side by side; of two classes K = 1. What a
// row bends is kept from the visit of a point for the products there: w μ (1 − μ) of two classes, else the probabilities (K).
#pragma once

#include <cmath>
#include <type_traits>

#include "kernels/linear/sparse_rows.hpp"

namespace tenfold {

using Two = std::integral_constant<size_t, 1>;  // classes, which one score tells apart: known to the compiler

template <class Classes>
struct ClassRows {
    SparseRows X;
    std::span<const std::int64_t> y;
    std::span<const double> w;
    size_t p;
    Classes K;

    // Merging the sums of a piece, and waking a thread for it, must cost less than making them.
    size_t pieces(size_t width) const { return pieces_of(X, std::max(size_t{1 << 17}, width) / K); }

    // f = z·θ of row i, z = [x 1].
    void scores(size_t i, const double* theta, double* f) const {
        std::copy_n(theta + p * K, K, f);
        for (std::int64_t k = X.begin[i]; k < X.begin[i + 1]; ++k) {
            const double x = X.value[k], *row = theta + static_cast<size_t>(X.column[k]) * K;
            for (size_t c = 0; c < K; ++c) f[c] += x * row[c];
        }
    }
    // sums += z share of row i.
    void add(size_t i, const double* share, double* sums) const {
        for (std::int64_t k = X.begin[i]; k < X.begin[i + 1]; ++k) {
            const double x = X.value[k];
            double* row = sums + static_cast<size_t>(X.column[k]) * K;
            for (size_t c = 0; c < K; ++c) row[c] += x * share[c];
        }
        for (size_t c = 0; c < K; ++c) sums[p * K + c] += share[c];
    }
    // sums += z² share.
    void add_squares(size_t i, const double* share, double* sums) const {
        for (std::int64_t k = X.begin[i]; k < X.begin[i + 1]; ++k) {
            const double square = X.value[k] * X.value[k];
            double* row = sums + static_cast<size_t>(X.column[k]) * K;
            for (size_t c = 0; c < K; ++c) row[c] += square * share[c];
        }
        for (size_t c = 0; c < K; ++c) sums[p * K + c] += share[c];
    }
};

// Of one row with score f: its loss; residual w (μ − y), bend w μ (1 − μ). Small losses and residuals keep their relative accuracy.
inline double two_class_row(double f, bool second, double w, double& residual, double& bend) {
    const double margin = second ? f : -f, e = std::exp(-std::abs(margin)), missing = (margin < 0 ? 1.0 : e) / (1 + e);
    residual = second ? -w * missing : w * missing;
    bend = w * e / ((1 + e) * (1 + e));
    return w * (std::max(-margin, 0.0) + std::log1p(e));
}

// The same of K scores f, which become probabilities.
inline double many_class_row(double* f, size_t K, size_t y, double w, double* residual, double* bend) {
    const double top = *std::max_element(f, f + K), mine = f[y];
    double sum = 0;
    for (size_t c = 0; c < K; ++c) sum += f[c] = std::exp(f[c] - top);
    for (size_t c = 0; c < K; ++c) {
        f[c] /= sum;
        residual[c] = w * (f[c] - (c == y ? 1.0 : 0.0));
        bend[c] = w * f[c] * (1 - f[c]);
    }
    return w * (std::log(sum) + top - mine);
}

// At θ: the gradient, the diagonal of the curvature, and the loss last: (2 (p + 1) K + 1); and what rows bend (n, 1 or K).
template <class Classes>
void logistic_slopes(const ClassRows<Classes>& of, const double* theta, size_t threads, double* out, double* kept) {
    const Classes K = of.K;
    const size_t q = (of.p + 1) * K;
    add_pieces(of.X, of.pieces(2 * q + 1), 2 * q + 1, threads, out, [&](size_t from, size_t to, double* sums) {
        std::vector<double> residual(K), bend(K);
        double loss = 0;
        for (size_t i = from; i < to; ++i) {
            if ((i & 1023) == 1023 && stopped()) return;
            double* f = kept + i * K;
            of.scores(i, theta, f);
            const auto y = static_cast<size_t>(of.y[i]);
            if (of.w[i] == 0) {  // a loss beyond all numbers would not vanish
                std::fill_n(f, K, 0.0);
                continue;
            }
            if (K == 1) {
                loss += two_class_row(*f, y == 1, of.w[i], residual[0], bend[0]);
                *f = bend[0];
            } else {
                loss += many_class_row(f, K, y, of.w[i], residual.data(), bend.data());
            }
            of.add(i, residual.data(), sums);
            of.add_squares(i, bend.data(), sums + q);
        }
        sums[2 * q] += loss;
    });
}

// The curvature times v, where rows bend as `kept` says.
template <class Classes>
void logistic_product(const ClassRows<Classes>& of, const double* kept, const double* v, size_t threads, double* out) {
    const Classes K = of.K;
    const size_t q = (of.p + 1) * K;
    add_pieces(of.X, of.pieces(q), q, threads, out, [&](size_t from, size_t to, double* sums) {
        std::vector<double> along(K);
        for (size_t i = from; i < to; ++i) {
            if ((i & 1023) == 1023 && stopped()) return;
            const double* P = kept + i * K;
            of.scores(i, v, along.data());
            if (K == 1) {
                along[0] *= P[0];
            } else {
                double mean = 0;
                for (size_t c = 0; c < K; ++c) mean += P[c] * along[c];
                for (size_t c = 0; c < K; ++c) along[c] = of.w[i] * P[c] * (along[c] - mean);
            }
            of.add(i, along.data(), sums);
        }
    });
}

}  // namespace tenfold
