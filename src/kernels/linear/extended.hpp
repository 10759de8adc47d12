// Sums in double-double arithmetic (about 32 digits), for badly conditioned least squares.
#pragma once

#include "kernels/common/simd.hpp"

#if defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace tenfold::TENFOLD_LEVEL {

// An unevaluated sum hi + lo with |lo| <= ulp(hi) / 2; N is double or a vector of them.
template <class N>
struct Twofold {
    N hi{}, lo{};
};

#if defined(__FMA__) || defined(__aarch64__)
TENFOLD_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }
TENFOLD_INLINE V fused(V a, V b, V c) {
#if defined(__AVX512F__)
    return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__AVX2__)
    return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return (V)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
#endif
}

// Exact: a b = hi + lo. The asm keeps the compiler from fusing the rounded product into a later sum, which
// the proof of two_sum could not bear.
template <class N>
TENFOLD_INLINE Twofold<N> two_product(N a, N b) {
    N product = a * b;
#if defined(__AVX512F__)
    asm("" : "+v"(product));
#elif defined(__AVX2__)
    asm("" : "+x"(product));
#else
    asm("" : "+w"(product));
#endif
    return {product, fused(a, b, -product)};
}
#else
// Without a fused operation: each factor in two halves of 26 bits, whose products are exact (Dekker 1971).
template <class N>
TENFOLD_INLINE Twofold<N> two_product(N a, N b) {
    N product = a * b, ta = a * 134217729.0, tb = b * 134217729.0;
    N a1 = ta - (ta - a), b1 = tb - (tb - b), a2 = a - a1, b2 = b - b1;
    return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}
#endif

template <class N>
TENFOLD_INLINE Twofold<N> two_sum(N a, N b) {  // exact: a + b = hi + lo (Knuth)
    N s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

template <class N>
TENFOLD_INLINE Twofold<N> fast_two_sum(N a, N b) {  // exact when |a| >= |b| (Dekker)
    N s = a + b;
    return {s, b - (s - a)};
}

template <class N>
TENFOLD_INLINE Twofold<N> operator+(Twofold<N> a, Twofold<N> b) {
    Twofold<N> s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo);
    s = fast_two_sum(s.hi, s.lo + t.hi);
    return fast_two_sum(s.hi, s.lo + t.lo);
}

template <class N>
TENFOLD_INLINE Twofold<N> operator-(Twofold<N> a, Twofold<N> b) {
    return a + Twofold<N>{-b.hi, -b.lo};
}

template <class N>
TENFOLD_INLINE Twofold<N> operator*(Twofold<N> a, Twofold<N> b) {
    Twofold<N> product = two_product(a.hi, b.hi);
    return fast_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

template <class N>
TENFOLD_INLINE Twofold<N> operator*(Twofold<N> a, N b) {
    Twofold<N> product = two_product(a.hi, b);
    return fast_two_sum(product.hi, product.lo + a.lo * b);
}

TENFOLD_INLINE Twofold<double> operator/(Twofold<double> a, double b) {
    double q = a.hi / b;
    Twofold<double> r = a - two_product(q, b);
    return fast_two_sum(q, r.hi / b);
}

TENFOLD_INLINE Twofold<V> splat(Twofold<double> value) { return {splat(value.hi), splat(value.lo)}; }

// A row of padded(size) double-double numbers, zero at first.
class TwofoldRow {
public:
    explicit TwofoldRow(size_t size) : width(padded(size)), hi_(width), lo_(width) {}

    TENFOLD_INLINE Twofold<double> one(size_t j) const { return {hi_[j], lo_[j]}; }
    TENFOLD_INLINE Twofold<V> at(size_t j) const { return {load(hi_.data() + j), load(lo_.data() + j)}; }
    TENFOLD_INLINE void set(size_t j, Twofold<double> value) const { hi_[j] = value.hi, lo_[j] = value.lo; }
    TENFOLD_INLINE void put(size_t j, Twofold<V> value) const {
        store(hi_.data() + j, value.hi);
        store(lo_.data() + j, value.lo);
    }

    const size_t width;

private:
    Scratch<double> hi_, lo_;
};

// extended_gradient: r = y - x B;  gradient = sum w x^T r as hi + lo;  rss = sum w r^2, with B = Bhi + Blo
inline void extended_gradient(Rows<const double> X, Rows<const double> Y, Weights w, const double* Bhi,
                              const double* Blo, double* hi, double* lo, double* rss) {
    const size_t p = X.p, q = Y.p;
    TwofoldRow b(p), sum(p);
    for (size_t c = 0; c < q; ++c) {
        Twofold<double> squares;
        for (size_t j = 0; j < p; ++j) b.set(j, {Bhi[j * q + c], Blo[j * q + c]}), sum.set(j, {});
        for (size_t i = 0; i < X.n; ++i) {
            if (i % 256 == 0 && stopped()) return;
            Twofold<V> dot;
            for_vectors(
                p, [&](size_t j, auto at) __attribute__((always_inline)) { dot = dot + b.at(j) * at(X[i]); });
            Twofold<double> r{Y[i][c], 0};
            for (size_t l = 0; l < L; ++l) r = r - Twofold<double>{dot.hi[l], dot.lo[l]};
            const Twofold<double> wr = r * w[i];
            squares = squares + wr * r;
            for_vectors(p, [&](size_t j, auto at) __attribute__((always_inline)) {
                sum.put(j, sum.at(j) + splat(wr) * at(X[i]));
            });
        }
        for (size_t j = 0; j < p; ++j) hi[j * q + c] = sum.one(j).hi, lo[j * q + c] = sum.one(j).lo;
        rss[c] = squares.hi;
    }
}

// extended_gram: sum w z z^T as hi + lo over the rows z = [x R^-1, y], R upper triangular without zeros on
// its diagonal
inline void extended_gram(Rows<const double> X, Rows<const double> Y, Weights w, const double* R, double* hi,
                          double* lo) {
    const size_t p = X.p, m = X.p + Y.p;
    TwofoldRow z(m), sums(m * padded(m));
    Scratch<double> beyond(p * z.width);  // R right of its diagonal, zero elsewhere
    for (size_t a = 0; a < p; ++a)
        std::copy(R + a * p + a + 1, R + a * p + p, beyond.data() + a * z.width + a + 1);
    for (size_t i = 0; i < X.n; ++i) {
        if (i % 16 == 0 && stopped()) return;
        for (size_t j = 0; j < m; ++j) z.set(j, {j < p ? X[i][j] : Y[i][j - p], 0});
        for (size_t a = 0; a < p;
             ++a) {  // z_a is final; take z_a R_a. from the rest, a vector of columns at a time
            const Twofold<double> done = z.one(a) / R[a * p + a];
            for (size_t j = a / L * L; j < p; j += L)
                z.put(j, z.at(j) - splat(done) * load(beyond.data() + a * z.width + j));
            z.set(a, done);
        }
        for (size_t a = 0; a < m; ++a) {
            const Twofold<V> wz = splat(z.one(a) * w[i]);
            for (size_t j = a / L * L; j < m; j += L)
                sums.put(a * z.width + j, sums.at(a * z.width + j) + wz * z.at(j));
        }
    }
    for (size_t a = 0; a < m; ++a)
        for (size_t b = a; b < m; ++b) {
            const Twofold<double> value = sums.one(a * z.width + b);
            hi[a * m + b] = hi[b * m + a] = value.hi;
            lo[a * m + b] = lo[b * m + a] = value.lo;
        }
}

}  // namespace tenfold::TENFOLD_LEVEL
