// Loss, gradient and curvature of logistic regression, two classes and many.
#pragma once

#include <cmath>

#include "moments.hpp"

namespace tenfold {

template <class T>
double linear_predictor(const T* x, const double* beta, size_t p) {
    double eta = beta[p];
    for (size_t j = 0; j < p; ++j) eta += x[j] * beta[j];
    return eta;
}

// logistic_terms: eta = [x 1] beta;  loss = sum w (log(1 + e^eta) - y eta);  grad = sum w (sigmoid(eta) - y) [x 1]
template <class T>
void logistic_terms(Rows<const T> X, Labels y, Weights w, const double* beta, double& loss, double* grad) {
    for (size_t i = 0; i < X.n; ++i) {
        double eta = linear_predictor(X[i], beta, X.p);
        double e = std::exp(-std::fabs(eta));
        double mu = eta >= 0 ? 1 / (1 + e) : e / (1 + e);
        loss += w[i] * (std::max(eta, 0.0) + std::log1p(e) - (y[i] ? eta : 0.0));
        double r = w[i] * (mu - static_cast<double>(y[i]));
        for (size_t j = 0; j < X.p; ++j) grad[j] += r * X[i][j];
        grad[X.p] += r;
    }
}

// logistic_curvature: hess = sum w mu (1 - mu) [x 1]^T [x 1]
template <class T>
void logistic_curvature(Rows<const T> X, Weights w, const double* beta, double* hess) {
    std::vector<double> d(X.n);
    for (size_t i = 0; i < X.n; ++i) {
        double e = std::exp(-std::fabs(linear_predictor(X[i], beta, X.p)));
        d[i] = w[i] * e / ((1 + e) * (1 + e));
    }
    weighted_gram<T>(X, d, hess);
}

// softmax_terms: eta = B [x 1];  loss = sum w (log sum_k e^eta_k - eta_y);  grad_k = sum w (softmax_k - [y = k]) [x 1]
template <class T>
void softmax_terms(Rows<const T> X, Labels y, Weights w, Rows<const double> B, double& loss, double* grad) {
    size_t k = B.n, p = X.p;
    std::vector<double> eta(k);
    for (size_t i = 0; i < X.n; ++i) {
        for (size_t c = 0; c < k; ++c) eta[c] = linear_predictor(X[i], B[c], p);
        double top = *std::max_element(eta.begin(), eta.end()), sum = 0;
        loss += w[i] * (top - eta[y[i]]);
        for (double& e : eta) sum += e = std::exp(e - top);
        loss += w[i] * std::log(sum);
        for (size_t c = 0; c < k; ++c) {
            double r = w[i] * (eta[c] / sum - (static_cast<size_t>(y[i]) == c));
            for (size_t j = 0; j < p; ++j) grad[c * (p + 1) + j] += r * X[i][j];
            grad[c * (p + 1) + p] += r;
        }
    }
}

}  // namespace tenfold
