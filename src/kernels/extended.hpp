// Sums in double-double arithmetic (about 32 digits), for badly conditioned least squares.
#pragma once

#include <cmath>

#include "simd.hpp"

namespace tenfold::TENFOLD_LEVEL {

// An unevaluated sum hi + lo with |lo| <= ulp(hi) / 2.
struct Double2 {
    double hi = 0, lo = 0;
};

inline Double2 two_sum(double a, double b) {  // exact: a + b = hi + lo (Knuth)
    double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

inline Double2 fast_two_sum(double a, double b) {  // exact when |a| >= |b| (Dekker)
    double s = a + b;
    return {s, b - (s - a)};
}

inline Double2 two_product(double a, double b) {
    double product = a * b;
    return {product, std::fma(a, b, -product)};
}

inline Double2 operator+(Double2 a, Double2 b) {
    Double2 s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    s = fast_two_sum(s.hi, s.lo + t.hi);
    return fast_two_sum(s.hi, s.lo + t.lo);
}

inline Double2 operator-(Double2 a) { return {-a.hi, -a.lo}; }
inline Double2 operator-(Double2 a, Double2 b) { return a + -b; }

inline Double2 operator*(Double2 a, Double2 b) {
    Double2 product = two_product(a.hi, b.hi);
    return fast_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline Double2 operator/(Double2 a, double b) {
    double q = a.hi / b;
    Double2 r = a - two_product(q, b);
    return fast_two_sum(q, r.hi / b);
}

// extended_gradient: r = y - x B;  gradient = sum w x^T r;  rss = sum w r^2, with B = Bhi + Blo
inline void extended_gradient(Rows<const double> X, Rows<const double> Y, Weights w, const double* Bhi,
                              const double* Blo, double* hi, double* lo, double* rss) {
    size_t p = X.p, q = Y.p;
    std::vector<Double2> sum(p * q), squares(q);
    for (size_t i = 0; i < X.n; ++i)
        for (size_t c = 0; c < q; ++c) {
            Double2 r{Y[i][c], 0};
            for (size_t j = 0; j < p; ++j) r = r - Double2{X[i][j], 0} * Double2{Bhi[j * q + c], Blo[j * q + c]};
            Double2 wr = r * Double2{w[i], 0};
            squares[c] = squares[c] + wr * r;
            for (size_t j = 0; j < p; ++j) sum[j * q + c] = sum[j * q + c] + wr * Double2{X[i][j], 0};
        }
    for (size_t j = 0; j < p * q; ++j) hi[j] = sum[j].hi, lo[j] = sum[j].lo;
    for (size_t c = 0; c < q; ++c) rss[c] = squares[c].hi;
}

// extended_gram: sum w z z^T over the rows z = [x R^-1, y], R upper triangular
inline void extended_gram(Rows<const double> X, Rows<const double> Y, Weights w, const double* R, double* hi, double* lo) {
    size_t p = X.p, m = X.p + Y.p;
    std::vector<Double2> sum(m * m), z(m);
    for (size_t i = 0; i < X.n; ++i) {
        for (size_t j = 0; j < p; ++j) {
            Double2 v{X[i][j], 0};
            for (size_t a = 0; a < j; ++a) v = v - z[a] * Double2{R[a * p + j], 0};
            z[j] = v / R[j * p + j];
        }
        for (size_t c = p; c < m; ++c) z[c] = {Y[i][c - p], 0};
        for (size_t a = 0; a < m; ++a) {
            Double2 wz = z[a] * Double2{w[i], 0};
            for (size_t b = 0; b < m; ++b) sum[a * m + b] = sum[a * m + b] + wz * z[b];
        }
    }
    for (size_t j = 0; j < m * m; ++j) hi[j] = sum[j].hi, lo[j] = sum[j].lo;
}

}  // namespace tenfold::TENFOLD_LEVEL
