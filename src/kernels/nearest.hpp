// The nearest of k centres, and one Lloyd step.
#pragma once

#include <limits>

#include "simd.hpp"

namespace tenfold::TENFOLD_LEVEL {

// nearest: label = argmin_k ||x - c_k||^2 (ties: smallest k), distance2 = that minimum
template <class T>
void nearest(Rows<const T> X, Rows<const double> C, std::int64_t* label, double* distance2) {
    for (size_t i = 0; i < X.n; ++i) {
        double best = std::numeric_limits<double>::infinity();
        label[i] = 0;
        for (size_t c = 0; c < C.n; ++c) {
            double sum = 0;
            for (size_t j = 0; j < X.p; ++j) {
                double d = X[i][j] - C[c][j];
                sum += d * d;
            }
            if (sum < best) best = sum, label[i] = static_cast<std::int64_t>(c);
        }
        distance2[i] = best;
    }
}

// assign_sums: weight_k = sum of w, sum_k = sum of w x, over the rows nearest to centre k;  inertia = sum w ||x - c||^2
template <class T>
void assign_sums(Rows<const T> X, Weights w, Rows<const double> C, double* weight, double* sum, double& inertia) {
    std::vector<std::int64_t> label(X.n);
    std::vector<double> distance2(X.n);
    nearest<T>(X, C, label.data(), distance2.data());
    for (size_t i = 0; i < X.n; ++i) {
        weight[label[i]] += w[i];
        inertia += w[i] * distance2[i];
        for (size_t j = 0; j < X.p; ++j) sum[label[i] * X.p + j] += w[i] * X[i][j];
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
