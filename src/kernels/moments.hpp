// Weighted means and centred cross-products, of all rows and of each group.
#pragma once

#include <cmath>

#include "blas.hpp"

namespace tenfold {

struct Moments {
    double& weight;
    double* center;   // p
    double* offset;   // p
    double* scatter;  // p x p
};

// moments: of the rows z = [x y] of one block
//   weight = sum w;  center ~ mean;  offset = sum w (z - center) / weight;  scatter = sum w (z - mean)(z - mean)^T
template <class T>
void moments(Rows<const T> X, Rows<const double> Y, Weights w, Moments out) {
    size_t p = X.p + Y.p;
    double total = 0;
    for (size_t i = 0; i < X.n; ++i) {
        total += w[i];
        for (size_t j = 0; j < X.p; ++j) out.center[j] += w[i] * X[i][j];
        for (size_t j = 0; j < Y.p; ++j) out.center[X.p + j] += w[i] * Y[i][j];
    }
    out.weight = total;
    if (!(total > 0)) return;
    for (size_t j = 0; j < p; ++j) out.center[j] /= total;
    std::vector<double> z(p);
    for (size_t i = 0; i < X.n; ++i) {
        double root = std::sqrt(w[i]);
        for (size_t j = 0; j < X.p; ++j) z[j] = (X[i][j] - out.center[j]) * root;
        for (size_t j = 0; j < Y.p; ++j) z[X.p + j] = (Y[i][j] - out.center[X.p + j]) * root;
        for (size_t j = 0; j < p; ++j) out.offset[j] += root * z[j];
        add_gram(z.data(), 1, p, out.scatter);
    }
    for (size_t j = 0; j < p; ++j) out.offset[j] /= total;
    for (size_t a = 0; a < p; ++a)
        for (size_t b = a; b < p; ++b) out.scatter[a * p + b] -= total * out.offset[a] * out.offset[b];
    mirror(out.scatter, p);
}

template <class T>
void group_moments(Rows<const T> X, Labels g, Weights w, size_t k, double* weight, double* center, double* offset,
                   double* scatter) {
    size_t p = X.p;
    for (size_t c = 0; c < k; ++c) {
        std::vector<T> rows;
        std::vector<double> mass;
        for (size_t i = 0; i < X.n; ++i)
            if (g[i] == static_cast<std::int64_t>(c)) {
                rows.insert(rows.end(), X[i], X[i] + p);
                mass.push_back(w[i]);
            }
        moments<T>({rows.data(), mass.size(), p}, {nullptr, mass.size(), 0}, mass,
                   {weight[c], center + c * p, offset + c * p, scatter + c * p * p});
    }
}

template <class T>
void group_spreads(Rows<const T> X, Labels g, Weights w, size_t k, double* weight, double* center, double* offset,
                   double* spread) {
    size_t p = X.p;
    for (size_t i = 0; i < X.n; ++i) {
        weight[g[i]] += w[i];
        for (size_t j = 0; j < p; ++j) center[g[i] * p + j] += w[i] * X[i][j];
    }
    for (size_t c = 0; c < k; ++c)
        for (size_t j = 0; j < p; ++j) center[c * p + j] = weight[c] > 0 ? center[c * p + j] / weight[c] : 0;
    for (size_t i = 0; i < X.n; ++i)
        for (size_t j = 0; j < p; ++j) {
            double d = X[i][j] - center[g[i] * p + j];
            offset[g[i] * p + j] += w[i] * d;
            spread[g[i] * p + j] += w[i] * d * d;
        }
    for (size_t c = 0; c < k; ++c)
        for (size_t j = 0; j < p; ++j)
            if (weight[c] > 0) {
                offset[c * p + j] /= weight[c];
                spread[c * p + j] -= weight[c] * offset[c * p + j] * offset[c * p + j];
            }
}

// weighted_gram: sum d z z^T over the rows z = [x 1].
template <class T>
void weighted_gram(Rows<const T> X, Weights d, double* gram) {
    size_t p = X.p + 1;
    std::vector<double> z(p);
    for (size_t i = 0; i < X.n; ++i) {
        double root = std::sqrt(d[i]);
        for (size_t j = 0; j < X.p; ++j) z[j] = X[i][j] * root;
        z[X.p] = root;
        add_gram(z.data(), 1, p, gram);
    }
    mirror(gram, p);
}

}  // namespace tenfold
