// The sums of embed_kernels.hpp.
#pragma once

#include "kernels/common/simd.hpp"
#include "kernels/manifold/embed_kernels.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr size_t FLOATS = 2 * L;
using F = Simd<float, FLOATS>::Vector;

TENFOLD_INLINE V root_of_each(V x) {
#if defined(__AVX512F__)
    return (V)_mm512_maskz_sqrt_pd(0xff, (__m512d)x);  // the plain one makes GCC warn
#elif defined(__AVX2__)
    return (V)_mm256_sqrt_pd((__m256d)x);
#else
    for (size_t l = 0; l < L; ++l) x[l] = std::sqrt(x[l]);
    return x;
#endif
}

TENFOLD_INLINE F root_of_each(F x) {
#if defined(__AVX512F__)
    return (F)_mm512_maskz_sqrt_ps(0xffff, (__m512)x);
#elif defined(__AVX2__)
    return (F)_mm256_sqrt_ps((__m256)x);
#else
    for (size_t l = 0; l < FLOATS; ++l) x[l] = std::sqrt(x[l]);
    return x;
#endif
}

template <class T>
struct Lanes {
    static constexpr size_t count = std::is_same_v<T, float> ? FLOATS : L;
    using Vector = std::conditional_t<std::is_same_v<T, float>, F, V>;
    TENFOLD_INLINE static Vector load(const T* from) { return Simd<T, count>::load(from); }
    TENFOLD_INLINE static double sum(Vector v) {
        double total = 0;
        for (size_t l = 0; l < count; ++l) total += static_cast<double>(v[l]);
        return total;
    }
};

// t^(halves / 2)
template <class Vector>
TENFOLD_INLINE Vector similarity(Vector t, size_t halves) {
    if (halves == 2) return t;
    Vector q = halves % 2 ? root_of_each(t) : t;
    for (size_t h = halves % 2 ? 1 : 2; h < halves; h += 2) q *= t;
    return q;
}

// Sums of one row, an axis each; Fixed axes stay in registers, 0 takes any number of them.
template <class Vector, size_t Fixed>
class AxisSums {
public:
    explicit AxisSums(size_t axes) : many_(Fixed ? 0 : axes) {}
    TENFOLD_INLINE void clear(size_t axes) {
        for (size_t a = 0; a < axes; ++a) (*this)[a] = Vector{};
    }
    TENFOLD_INLINE Vector& operator[](size_t a) {
        if constexpr (Fixed) return few_[a];
        else return many_[a];
    }

private:
    Vector few_[Fixed ? Fixed : 1];
    Scratch<Vector> many_;
};

template <size_t Fixed>
void guttman_rows(const double* D, const Places<double>& x, size_t begin, size_t end, double* next, double* stress, double* size) {
    const size_t axes = Fixed ? Fixed : x.axes, n = x.n;
    AxisSums<V, Fixed> moved(axes);
    for (size_t i = begin; i < end; ++i) {
        if (i % 64 == 0 && stopped()) return;
        V far{}, wide{};
        moved.clear(axes);
        for_vectors(n, [&](size_t j, auto at) __attribute__((always_inline)) {
            V square{};
            for (size_t a = 0; a < axes; ++a) {
                const V apart = x.axis(a)[i] - load(x.axis(a) + j);
                square += apart * apart;
            }
            const V wanted = at(D + i * n), w = load(x.weight + j), d = root_of_each(square), rest = wanted - d;
            far += w * rest * rest;
            wide += w * square;
            const V ratio = square > 0.0 ? w * wanted / d : V{};  // places that coincide push one another nowhere
            for (size_t a = 0; a < axes; ++a) moved[a] += ratio * (x.axis(a)[i] - load(x.axis(a) + j));
        });
        for (size_t a = 0; a < axes; ++a) next[(i - begin) * axes + a] = sum_lanes(moved[a]);
        stress[i - begin] = sum_lanes(far);
        size[i - begin] = sum_lanes(wide);
    }
}

inline void guttman(const double* D, const Places<double>& x, size_t begin, size_t end, double* next, double* stress, double* size) {
    if (x.axes == 2) guttman_rows<2>(D, x, begin, end, next, stress, size);
    else if (x.axes == 3) guttman_rows<3>(D, x, begin, end, next, stress, size);
    else guttman_rows<0>(D, x, begin, end, next, stress, size);
}

template <class T, size_t Fixed, size_t Halves>
void push_rows(const Places<T>& x, size_t begin, size_t end, const Places<T>& bodies, const Similarity& as, double* force,
               double* mass) {
    using On = Lanes<T>;
    using Vector = typename On::Vector;
    const size_t axes = Fixed ? Fixed : x.axes, halves = Halves ? Halves : as.halves;
    const T per = static_cast<T>(as.per_freedom);
    AxisSums<Vector, Fixed> pushed(axes);
    for (size_t i = begin; i < end; ++i) {
        Vector sum{};
        pushed.clear(axes);
        for (size_t j = 0; j < bodies.n; j += On::count) {
            Vector square{};
            for (size_t a = 0; a < axes; ++a) {
                const Vector apart = x.axis(a)[i] - On::load(bodies.axis(a) + j);
                square += apart * apart;
            }
            const Vector t = T{1} / (T{1} + per * square), q = On::load(bodies.weight + j) * similarity(t, halves), qt = q * t;
            sum += q;
            for (size_t a = 0; a < axes; ++a) pushed[a] += qt * (x.axis(a)[i] - On::load(bodies.axis(a) + j));
        }
        for (size_t a = 0; a < axes; ++a) force[(i - begin) * axes + a] = On::sum(pushed[a]);
        mass[i - begin] = On::sum(sum);
    }
}

template <class T>
void push(const Places<T>& x, size_t begin, size_t end, const Places<T>& bodies, const Similarity& as, double* force, double* mass) {
    if (x.axes == 2 && as.halves == 2) push_rows<T, 2, 2>(x, begin, end, bodies, as, force, mass);
    else if (x.axes == 3 && as.halves == 3) push_rows<T, 3, 3>(x, begin, end, bodies, as, force, mass);
    else push_rows<T, 0, 0>(x, begin, end, bodies, as, force, mass);
}

template <class T, size_t Fixed>
void pull_rows(const Places<T>& x, size_t begin, size_t end, const Edges<T>& edges, const Similarity& as, double* force) {
    using On = Lanes<T>;
    using Vector = typename On::Vector;
    const size_t axes = Fixed ? Fixed : x.axes;
    const T per = static_cast<T>(as.per_freedom);
    AxisSums<Vector, Fixed> pulled(axes), apart(axes);
    for (size_t i = begin; i < end; ++i) {
        pulled.clear(axes);
        for (size_t e = edges.start[i]; e < edges.start[i + 1]; e += On::count) {
            Vector square{};
            for (size_t a = 0; a < axes; ++a) {
                const T* axis = x.axis(a);
                Vector there;
                for (size_t l = 0; l < On::count; ++l) there[l] = axis[edges.to[e + l]];
                apart[a] = axis[i] - there;
                square += apart[a] * apart[a];
            }
            const Vector strong = On::load(edges.strength + e) / (T{1} + per * square);
            for (size_t a = 0; a < axes; ++a) pulled[a] += strong * apart[a];
        }
        for (size_t a = 0; a < axes; ++a) force[(i - begin) * axes + a] = On::sum(pulled[a]);
    }
}

template <class T>
void pull(const Places<T>& x, size_t begin, size_t end, const Edges<T>& edges, const Similarity& as, double* force) {
    if (x.axes == 2) pull_rows<T, 2>(x, begin, end, edges, as, force);
    else if (x.axes == 3) pull_rows<T, 3>(x, begin, end, edges, as, force);
    else pull_rows<T, 0>(x, begin, end, edges, as, force);
}

}  // namespace tenfold::TENFOLD_LEVEL
