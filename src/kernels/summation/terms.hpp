// What is kept of a node so that its rows need not be looked at: terms by which their sum follows at many points at once.
//
// Gaussian: with u = x − c and t = y − c about the middle c of the node, e^(−|x − y|²/2) = e^(−|u|²/2) e^(−|t|²/2) e^(u·t), and the
// terms are those of the Taylor series of e^(u·t) below a degree P. What is left out is at most
// e^(−(|u| − r)²/2) (|u| r)^P / P! for each unit of weight, where r >= |t|, |u|: it is relative to the kernel, not to 1.
// Others have closed forms where the node is within reach as a whole, in one column on one side of the point besides.
#pragma once

#include "kernels/summation/shapes.hpp"

namespace tenfold::TENFOLD_LEVEL {

// Number of terms of D columns below degree P: binomial(P − 1 + D, D).
template <size_t D>
TENFOLD_INLINE size_t terms_below(size_t P) {
    size_t count = 1;
    for (size_t j = 1; j <= D; ++j) count = count * (P - 1 + j) / j;
    return count;
}

// sums[k] += value t^k / k! for all k of degree below P; D columns. Vectors of rows.
template <size_t D>
TENFOLD_INLINE void add_powers(V* sums, size_t P, V value, const V* t) {
    for (size_t a = 0; a < P; ++a) {
        if constexpr (D == 1) sums[a] += value;
        else {
            add_powers<D - 1>(sums, P - a, value, t + 1);
            sums += terms_below<D - 1>(P - a);
        }
        value *= t[0] * (1.0 / static_cast<double>(a + 1));
    }
}

// Σ terms[k] u^k of degree below p of terms that were made for degree below P; N vectors of points, column j at u + j N.
template <size_t D, size_t N>
TENFOLD_INLINE void series_at(const double* terms, size_t P, size_t p, const V* u, V* result) {
    V found[N] = {};
    if constexpr (D == 1) {
        for (size_t a = p; a-- > 0;)
            for (size_t v = 0; v < N; ++v) found[v] = found[v] * u[v] + terms[a];
    } else {
        const double* next = terms + terms_below<D>(P) - terms_below<D>(P - p);
        for (size_t a = p; a-- > 0;) {
            next -= terms_below<D - 1>(P - a);
            V inner[N];
            series_at<D - 1, N>(next, P - a, p - a, u + N, inner);
            for (size_t v = 0; v < N; ++v) found[v] = found[v] * u[v] + inner[v];
        }
    }
    for (size_t v = 0; v < N; ++v) result[v] = found[v];
}

template <class Work>
TENFOLD_INLINE void with_columns(size_t p, Work&& work) {
    switch (p) {
        case 1: return work(std::integral_constant<size_t, 1>{});
        case 2: return work(std::integral_constant<size_t, 2>{});
        case 3: return work(std::integral_constant<size_t, 3>{});
        case 4: return work(std::integral_constant<size_t, 4>{});
        case 5: return work(std::integral_constant<size_t, 5>{});
        case 6: return work(std::integral_constant<size_t, 6>{});
    }
}

// Calls work(t, w) for vectors of the rows of a node, each about its middle.
template <size_t Most, class Work>
TENFOLD_INLINE void each_rows(const SumsView& rows, size_t node, Work&& work) {
    const size_t p = rows.tree.p;
    size_t first = node, last = node;
    while (first < rows.tree.inner) first = 2 * first + 1, last = 2 * last + 2;
    const double* middle = rows.middle(node);
    for (size_t leaf = first - rows.tree.inner; leaf <= last - rows.tree.inner; ++leaf)
        for (size_t i = 0; i < LEAF; i += L) {
            const V w = load(rows.weight + leaf * LEAF + i);
            V t[Most] = {};
            for (size_t j = 0; j < p && j < Most; ++j) {
                const V away = load(rows.tree.values + (leaf * p + j) * LEAF + i) - middle[j];
                t[j] = w > 0.0 ? away : V{};  // places without rows are anywhere
            }
            work(t, w);
        }
}

inline void expand_gaussian(const SumsView& rows, size_t node, double* terms) {
    with_columns(rows.tree.p, [&](auto columns) __attribute__((always_inline)) {
        constexpr size_t D = decltype(columns)::value;
        Scratch<double> room(rows.width * L);
        V* sums = reinterpret_cast<V*>(room.data());
        each_rows<D>(rows, node, [&](const V* t, V w) __attribute__((always_inline)) {
            V s{};
            for (size_t j = 0; j < D; ++j) s += t[j] * t[j];
            add_powers<D>(sums, rows.order, w * exp_negative(-0.5 * s), t);
        });
        for (size_t k = 0; k < rows.width; ++k) terms[k] = sum_lanes(sums[k]);
    });
}

inline void expand_node(const SumsView& rows, size_t node, double* terms) {
    if (rows.shape == Shape::gaussian) return expand_gaussian(rows, node, terms);
    constexpr size_t MOST = 16;
    if (rows.shape == Shape::epanechnikov) {  // Σ w |t|², Σ w t
        const size_t p = rows.tree.p;
        V sums[1 + MOST] = {};
        each_rows<MOST>(rows, node, [&](const V* t, V w) __attribute__((always_inline)) {
            for (size_t j = 0; j < p; ++j) sums[0] += w * t[j] * t[j], sums[1 + j] += w * t[j];
        });
        for (size_t k = 0; k <= p; ++k) terms[k] = sum_lanes(sums[k]);
        return;
    }
    const double r = rows.radius[node];
    V sums[4] = {};
    each_rows<1>(rows, node, [&](const V* at, V w) __attribute__((always_inline)) {
        const V t = at[0];
        if (rows.shape == Shape::exponential) {
            sums[0] += w * exp_negative(at_most_zero(t - r));
            sums[1] += w * exp_negative(at_most_zero(-t - r));
        } else if (rows.shape == Shape::cosine) {
            sums[0] += w * cosine_series(t * t, 0);
            sums[1] += w * t * cosine_series(t * t, 1);
        } else {
            V power = w;
            for (V& sum : sums) sum += power *= t;
        }
    });
    for (size_t k = 0; k < 4; ++k) terms[k] = sum_lanes(sums[k]);
}

// The sum over a node of weight W that is within reach as a whole, by its terms; u: column j at u + j N.
template <class Kernel, size_t N>
TENFOLD_INLINE void closed_form(const Kernel& kernel, const double* m, double W, double r, size_t p, const V* u, V* result) {
    for (size_t v = 0; v < N; ++v) {
        const V x = u[v], s = x * x;
        if constexpr (std::is_same_v<Kernel, TophatKernel>) result[v] = splat(W);
        else if constexpr (std::is_same_v<Kernel, EpanechnikovKernel>) {
            V square{}, product{};
            for (size_t j = 0; j < p; ++j) square += u[j * N + v] * u[j * N + v], product += u[j * N + v] * m[1 + j];
            result[v] = at_least_zero(W * (1.0 - square) + 2.0 * product - m[0]);
        } else if constexpr (std::is_same_v<Kernel, LinearKernel>) {
            result[v] = at_least_zero(x > 0.0 ? W * (1.0 - x) + m[0] : W * (1.0 + x) - m[0]);
        } else if constexpr (std::is_same_v<Kernel, CosineKernel>) {
            result[v] = at_least_zero(cosine_series(s, 0) * m[0] + x * cosine_series(s, 1) * m[1]);
        } else if constexpr (std::is_same_v<Kernel, BiweightKernel>) {
            const V a = 1.0 - s;
            result[v] = at_least_zero(a * a * W + 4.0 * a * x * m[0] + (4.0 * s - 2.0 * a) * m[1] - 4.0 * x * m[2] + m[3]);
        } else if constexpr (std::is_same_v<Kernel, ExponentialKernel>) {
            const V away = x > 0.0 ? x : -x;
            result[v] = exp_negative(at_most_zero(kernel.near + r - away)) * (x > 0.0 ? splat(m[0]) : splat(m[1]));
        }
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
