// Losses of boosting: gradient, curvature and value at the raw predictions of some rows.
#pragma once

#include "kernels/boosting/histogram.hpp"
#include "kernels/common/explog.hpp"

namespace tenfold {

// With r the raw prediction and y the target:
enum class Loss {
    squared,      // (r - y)^2 / 2
    absolute,     // |r - y|
    huber,        // quadratic up to |r - y| = parameter, linear beyond
    quantile,     // (y - r) (parameter - [y < r])
    poisson,      // e^r - y r
    gamma,        // r + y e^-r
    logistic,     // log(1 + e^r) - y r, y in {0, 1}
    probability,  // softmax, class by class: r is the probability of a class, y in {0, 1} tells whether it is the row's, and the
                  // curvature is times the parameter
    exponential,  // y e^-r + (1 - y) e^r, y in {0, 1}
};
constexpr int N_LOSSES = 9;
// In their order: the names by which Python knows them (tenfold/tree/boosting/losses.py).
constexpr const char* LOSS_NAMES[N_LOSSES] = {"squared_error", "absolute_error", "huber",   "quantile",   "poisson",
                                              "gamma",         "log_loss",       "softmax", "exponential"};

using LossTerms = void(Loss, const double*, const double*, double, size_t, double*, double*);
using LossRows = void(Loss, const double*, const double*, const double*, double, size_t, double*);
using SoftmaxRows = void(const double*, size_t, size_t, size_t, size_t, double*);
using FixTerms = void(const double*, const double*, size_t, const Rule&, Sum*);

constexpr size_t LOSS_CHUNK = 512;

}  // namespace tenfold

namespace tenfold::TENFOLD_LEVEL {

TENFOLD_INLINE V absolute(V x) { return x < 0.0 ? -x : x; }
TENFOLD_INLINE V smaller(V a, V b) { return a < b ? a : b; }

// e^x for any x; beyond e^700 it stays there.
TENFOLD_INLINE V exp_any(V x) {
    const V e = exp_negative(-smaller(absolute(x), splat(700.0)));
    return x > 0.0 ? 1.0 / e : e;
}

TENFOLD_INLINE V logistic_of(V r) {
    const V e = exp_negative(-absolute(r));
    return (r < 0.0 ? e : splat(1.0)) / (1.0 + e);
}

// Calls f(y, r, i) for vectors of rows i .. i + L - 1; behind the last row y and r are zero.
template <class F>
TENFOLD_INLINE void for_rows(const double* y, const double* r, size_t n, F&& f) {
    for_vectors(n, [&](size_t i, auto at) __attribute__((always_inline)) { f(at(y), at(r), i); });
}

template <class F>
TENFOLD_INLINE void fill_terms(const double* y, const double* raw, size_t n, double* g, double* h, F&& f) {
    for_rows(y, raw, n, [&](V y, V r, size_t i) __attribute__((always_inline)) {
        const auto [gradient, curvature] = f(y, r);
        store(g + i, gradient);
        store(h + i, curvature);
    });
}

// loss_terms: first and second derivatives in r; at most LOSS_CHUNK rows, g and h have room for the padding.
inline void loss_terms(Loss loss, const double* y, const double* raw, double parameter, size_t n, double* g, double* h) {
    using Pair = std::pair<V, V>;
    const V one = splat(1.0), zero = V{};
    switch (loss) {
        case Loss::squared: return fill_terms(y, raw, n, g, h, [&](V y, V r) { return Pair{r - y, one}; });
        case Loss::absolute:
            return fill_terms(y, raw, n, g, h, [&](V y, V r) { return Pair{r > y ? one : r < y ? -one : zero, one}; });
        case Loss::huber:
            return fill_terms(y, raw, n, g, h, [&](V y, V r) {
                const V most = splat(parameter);
                return Pair{larger(smaller(r - y, most), -most), one};
            });
        case Loss::quantile:
            return fill_terms(y, raw, n, g, h,
                              [&](V y, V r) { return Pair{r > y ? splat(1 - parameter) : splat(-parameter), one}; });
        case Loss::poisson:
            return fill_terms(y, raw, n, g, h, [&](V y, V r) {
                const V mean = exp_any(r);
                return Pair{mean - y, mean};
            });
        case Loss::gamma:
            return fill_terms(y, raw, n, g, h, [&](V y, V r) {
                const V ratio = y * exp_any(-r);
                return Pair{1.0 - ratio, ratio};
            });
        case Loss::logistic:
            return fill_terms(y, raw, n, g, h, [&](V y, V r) {
                const V p = logistic_of(r);
                return Pair{p - y, p * (1.0 - p)};
            });
        case Loss::probability:
            return fill_terms(y, raw, n, g, h, [&](V y, V p) { return Pair{p - y, parameter * p * (1.0 - p)}; });
        case Loss::exponential:
            return fill_terms(y, raw, n, g, h, [&](V y, V r) {
                const V one_sided = y * exp_any(-r), other = (1.0 - y) * exp_any(r);
                return Pair{other - one_sided, other + one_sided};
            });
    }
}

template <class F>
TENFOLD_INLINE void fill_losses(const double* y, const double* raw, const double* w, size_t n, double* out, F&& f) {
    for_vectors(n, [&](size_t i, auto at) __attribute__((always_inline)) {
        const V loss = f(at(y), at(raw));
        store(out + i, w ? at(w) * loss : loss);
    });
}

// loss_rows: w loss(y, r) of each row, with w = 1 where there is none; at most LOSS_CHUNK rows, `out` has room for the padding.
inline void loss_rows(Loss loss, const double* y, const double* raw, const double* w, double parameter, size_t n, double* out) {
    switch (loss) {
        case Loss::squared: return fill_losses(y, raw, w, n, out, [](V y, V r) { return 0.5 * (r - y) * (r - y); });
        case Loss::absolute: return fill_losses(y, raw, w, n, out, [](V y, V r) { return absolute(r - y); });
        case Loss::huber:
            return fill_losses(y, raw, w, n, out, [=](V y, V r) {
                const V d = absolute(r - y), inside = smaller(d, splat(parameter));
                return inside * (d - 0.5 * inside);
            });
        case Loss::quantile:
            return fill_losses(y, raw, w, n, out,
                              [=](V y, V r) { return (y - r) * (r > y ? splat(parameter - 1) : splat(parameter)); });
        case Loss::poisson: return fill_losses(y, raw, w, n, out, [](V y, V r) { return exp_any(r) - y * r; });
        case Loss::gamma: return fill_losses(y, raw, w, n, out, [](V y, V r) { return r + y * exp_any(-r); });
        case Loss::logistic:
            return fill_losses(y, raw, w, n, out, [](V y, V r) {
                return larger(r, V{}) - y * r + log1p_unit(exp_negative(-absolute(r)));
            });
        case Loss::exponential:
            return fill_losses(y, raw, w, n, out, [](V y, V r) { return y * exp_any(-r) + (1.0 - y) * exp_any(r); });
        default: std::fill(out, out + n, 0.0);
    }
}

// softmax_rows: out[k n + i] = e^raw_ki / sum over k for rows begin .. end - 1 of `classes` lists of n raw predictions.
inline void softmax_rows(const double* raw, size_t classes, size_t n, size_t begin, size_t end, double* out) {
    for_vectors(end - begin, [&](size_t at_row, auto at) {
        const size_t i = begin + at_row, m = std::min(L, end - i);
        V top = at(raw + begin);
        for (size_t k = 1; k < classes; ++k) top = larger(top, at(raw + k * n + begin));
        V sum{};
        double part[L];
        for (size_t k = 0; k < classes; ++k) {
            const V e = exp_negative(at(raw + k * n + begin) - top);
            sum += e;
            store(part, e);
            std::memcpy(out + k * n + i, part, m * sizeof(double));
        }
        for (size_t k = 0; k < classes; ++k)
            for (size_t l = 0; l < m; ++l) out[k * n + i + l] /= sum[l];
    });
}

// fix_terms: gradients and curvatures as whole numbers of units, below 2^51 of them, each row counted once.
inline void fix_terms(const double* g, const double* h, size_t n, const Rule& rule, Sum* terms) {
    constexpr double SHIFT = 0x1.8p52;
    const double per_g = 1 / rule.gradient_unit, per_h = 1 / rule.curvature_unit;
    const std::int64_t shift = std::bit_cast<std::int64_t>(SHIFT);
    for (size_t i = 0; i < n; ++i) {
        const std::int64_t a = std::bit_cast<std::int64_t>(g[i] * per_g + SHIFT) - shift;
        const std::int64_t b = std::bit_cast<std::int64_t>(h[i] * per_h + SHIFT) - shift;
        terms[i] = {a, b << rule.bits | 1};
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
