// Leave-one-out for linear fits and classes: the scores of every row after the row itself has gone from its class.
//
// With d = x - m the distance of a row of weight w from the mean of its class, of weight n,
//   weight n - w,   mean m - beta d,   scatter S - gamma d d^T     with beta = w / (n - w), gamma = w n / (n - w)
// are left of the class, and the row lies (1 + beta) d from the new mean. A row whose removal would cost digits gets NaN.
// L rows are taken at a time: sums over their columns end as the lanes of one vector.
#pragma once

#include <bit>

#include "kernels/common/simd.hpp"
#include "kernels/evaluate/class_weights.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr double LEAST_LEFT = 1e-3;  // what is left of a spread, as a share of it, below which digits are lost

// 1 / v to the last bits; a first guess and two steps of Newton's method where division is slow.
TENFOLD_INLINE V reciprocal(V v) {
#if defined(__AVX512F__)
    V r = (V)_mm512_maskz_rcp14_pd(0xFF, (__m512d)v);  // all lanes; the plain one makes GCC 12 warn
    r += r * (1.0 - v * r);
    return r + r * (1.0 - v * r);
#else
    return 1.0 / v;
#endif
}

// log v for normal v > 0: v = 2^e m with m about 1, and log m = 2 atanh s = 2 (s + s^3 / 3 + ..), s = (m - 1) / (m + 1).
TENFOLD_INLINE V log_positive(V v) {
    constexpr std::int64_t SQUARE_ROOT_HALF = 0x3FE6A09E667F3BCDll, MANTISSA = (std::int64_t{1} << 52) - 1;
    const I above = std::bit_cast<I>(v) - SQUARE_ROOT_HALF;
    const V m = std::bit_cast<V>((above & MANTISSA) + SQUARE_ROOT_HALF), e = __builtin_convertvector(above >> 52, V);
    const V s = (m - 1.0) / (m + 1.0), z = s * s;
    V series = splat(1.0 / 21);
    for (double odd : {19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0}) series = series * z + 1.0 / odd;
    return e * 0x1.62e42fefa39efp-1 + 2.0 * (s + s * z * series);
}

TENFOLD_INLINE V multiply_each(const V* v) {
    return fold_each(v, [](V a, V b) __attribute__((always_inline)) { return a * b; });
}

// (x_i - m) . b of L rows; m is zero unless it is given
template <class T>
TENFOLD_INLINE V products(const T* const* x, size_t p, const double* b, const double* m = nullptr) {
    V sum[L] = {};
    for_vectors(p, [&](size_t, auto at) __attribute__((always_inline)) {
        const V factor = at(b), origin = m ? at(m) : V{};
        for (size_t l = 0; l < L; ++l) sum[l] += (at(x[l]) - origin) * factor;
    });
    return sum_each(sum);
}

// residuals_left: what a linear fit to all other rows misses each row by,  e / (1 - h)  with the residual e of the fit to
// all rows and the leverage h_i = w_i (squares_i + share); NaN where 1 - h is below 1e-6, or below `digits` h.
template <class T>
void residuals_left(Rows<const T> X, Rows<const double> Y, Weights w, const double* squares, Rows<const double> coef,
                    const double* intercept, double share, double digits, double* out) {
    for (size_t start = 0; start < X.n; start += L) {
        if (start % 1024 == 0 && stopped()) return;
        const size_t count = std::min(L, X.n - start);
        const T* x[L];
        for (size_t l = 0; l < L; ++l) x[l] = X[start + std::min(l, count - 1)];
        for (size_t t = 0; t < coef.n; ++t) {
            const V value = products(x, X.p, coef[t]);
            for (size_t l = 0; l < count; ++l) {
                const size_t i = start + l;
                const double h = w[i] * (squares[i] + share), keep = 1 - h;
                const bool sound = keep >= std::max(1e-6, digits * h);
                out[i * coef.n + t] = sound ? (Y[i][t] - value[l] - intercept[t]) / keep : NOT_A_NUMBER;
            }
        }
    }
}

// L rows with their classes and what is left without each; a short group repeats its last row.
template <class T>
struct Group {
    size_t first, count;
    const T* x[L];
    size_t k[L];
    Removal gone[L];
    alignas(64) double beta[L], gamma[L], left[L];

    TENFOLD_INLINE Group(Rows<const T> X, Labels y, Weights w, size_t start, ClassWeights& classes)
        : first(start), count(std::min(L, X.n - start)) {
        for (size_t l = 0; l < L; ++l) {
            const size_t i = start + std::min(l, count - 1);
            x[l] = X[i];
            k[l] = static_cast<size_t>(y[i]);
            gone[l] = classes.without(k[l], w[i]);
            beta[l] = gone[l].beta, gamma[l] = gone[l].gamma, left[l] = gone[l].left;
        }
    }
};

// Calls use(group) for all rows, L at a time, then finish(row, its class, what is left without it) row by row.
template <class T, class Use, class Finish>
TENFOLD_INLINE void for_groups(Rows<const T> X, Labels y, Weights w, ClassWeights& classes, Use use, Finish finish) {
    for (size_t start = 0; start < X.n; start += L) {
        if (start % 1024 == 0 && stopped()) return;
        const Group<T> group(X, y, w, start, classes);
        use(group);
        for (size_t l = 0; l < group.count; ++l) finish(start + l, group.k[l], classes.without(group.k[l], w[start + l]));
    }
}

// sum = sum_j g / kept  and  logs = sum_j log kept,  with g = (x - m)^2 v and kept = a + b v - c g, in each lane; m and v
// are those of the class `of[l]`. Values of `kept` lie between 1e-9 and 1e9, so that a product of 32 stays in range: one
// logarithm serves them all. Lanes beyond the last column hold `a`.
template <class T>
TENFOLD_INLINE V kept_terms(const Group<T>& group, const NaiveBayes& model, const size_t* of, V a, V b, V c, V& logs) {
    const size_t p = model.mean.p;
    V sum[L] = {}, product[L];
    logs = V{};
    for (size_t l = 0; l < L; ++l) product[l] = splat(1.0);
    for_vectors(p, [&](size_t j, auto at) __attribute__((always_inline)) {
        for (size_t l = 0; l < L; ++l) {
            const V v = at(model.inverse + of[l] * p), d = at(group.x[l]) - at(model.mean[of[l]]), g = d * d * v;
            const V kept = a[l] + b[l] * v - c[l] * g;
            sum[l] += g * reciprocal(kept);
            product[l] *= kept;
        }
        if (j % 32 == 32 - L || j + L >= p) {
            logs += log_positive(multiply_each(product));
            for (size_t l = 0; l < L; ++l) product[l] = splat(1.0);
        }
    });
    return sum_each(sum);
}

// sum_j (x - m)^2 v of one class, in each lane
template <class T>
TENFOLD_INLINE V plain_terms(const Group<T>& group, const NaiveBayes& model, size_t k) {
    V sum[L] = {};
    for_vectors(model.mean.p, [&](size_t, auto at) __attribute__((always_inline)) {
        const V m = at(model.mean[k]), v = at(model.inverse + k * model.mean.p);
        for (size_t l = 0; l < L; ++l) {
            const V d = at(group.x[l]) - m;
            sum[l] += d * d * v;
        }
    });
    return sum_each(sum);
}

// naive_bayes_left: log posteriors (n, K), up to a constant of the row, of each row by a naive Bayes of all other rows.
template <class T>
void naive_bayes_left(Rows<const T> X, Labels y, Weights w, const NaiveBayes& model, ClassWeights& classes, double* out) {
    const size_t K = classes.count();
    const double beyond = static_cast<double>(padded(X.p) - X.p);
    const auto score = [&](const Group<T>& group) __attribute__((always_inline)) {
        alignas(64) double smoothing[L], grown[L];
        for (size_t l = 0; l < L; ++l) smoothing[l] = model.without(group.x[l], group.gone[l]);
        for (size_t l = 0; l < L; ++l) grown[l] = group.gone[l].log_grown;
        const V epsilon = load(smoothing), gamma = load(group.gamma), left = load(group.left), a = 1.0 + load(group.beta);
        const V change = epsilon - model.epsilon;
        bool changes = false;  // NaN aside: it goes with the row's own class
        for (size_t l = 0; l < L; ++l) changes |= std::abs(change[l]) > model.negligible;
        V logs;
        V own = a * a * kept_terms(group, model, group.k, a, epsilon - model.epsilon * a, gamma / left, logs);
        own = larger(own, -own) * gamma * LEAST_LEFT < left * a ? own : splat(NOT_A_NUMBER);  // else no spread is left
        own += logs - beyond * load(grown);
        for (size_t c = 0; c < K; ++c) {
            size_t all[L];
            std::fill_n(all, L, c);
            const V sum = changes ? kept_terms(group, model, all, splat(1.0), change, V{}, logs) + logs
                                  : plain_terms(group, model, c);
            for (size_t l = 0; l < group.count; ++l) out[(group.first + l) * K + c] = sum[l];
        }
        for (size_t l = 0; l < group.count; ++l) out[(group.first + l) * K + group.k[l]] = own[l];
    };
    for_groups(X, y, w, classes, score, [&](size_t i, size_t k, const Removal&) __attribute__((always_inline)) {
        const double* prior = classes.priors(k);
        for (size_t c = 0; c < K; ++c) out[i * K + c] = prior[c] + model.level[c] - 0.5 * out[i * K + c];
    });
}

// centroids_left: for each row -sum_j (x - m_c)^2 / s_j^2 + 2 log prior of each class, the row taken out of its mean and of
// the standard deviations s within classes; then the number of the class: the best, or the nearest mean. `unit` is 1 / the
// sum of squares of a column within classes.
template <class T>
void centroids_left(Rows<const T> X, Labels y, Weights w, Rows<const double> mean, const double* unit, bool nearest,
                    ClassWeights& classes, double* out) {
    const size_t K = mean.n, width = padded(X.p);
    Scratch<double> inverse(L * width), near(L * K);
    const auto score = [&](const Group<T>& group) __attribute__((always_inline)) {
        for_vectors(X.p, [&](size_t j, auto at) __attribute__((always_inline)) {
            const V u = at(unit);
            for (size_t l = 0; l < L; ++l) {
                const V d = at(group.x[l]) - at(mean[group.k[l]]);
                store(inverse.data() + l * width + j, u * reciprocal(1.0 - group.gamma[l] * u * d * d));
            }
        });
        for (size_t c = 0; c < K; ++c) {
            V scaled[L] = {}, plain[L] = {};
            for_vectors(X.p, [&](size_t j, auto at) __attribute__((always_inline)) {
                const V m = at(mean[c]);
                for (size_t l = 0; l < L; ++l) {
                    const V d = at(group.x[l]) - m, square = d * d;
                    plain[l] += square;
                    scaled[l] += square * load(inverse.data() + l * width + j);
                }
            });
            const V sum = sum_each(scaled), distance = sum_each(plain);
            for (size_t l = 0; l < group.count; ++l) {
                out[(group.first + l) * (K + 1) + c] = sum[l];
                near[l * K + c] = distance[l];
            }
        }
    };
    for_groups(X, y, w, classes, score, [&](size_t i, size_t k, const Removal& gone) __attribute__((always_inline)) {
        double *row = out + i * (K + 1), *away = near.data() + i % L * K;
        const double *prior = classes.priors(k), times = (1 + gone.beta) * (1 + gone.beta);
        const bool sound = std::abs(row[k]) * gone.gamma * LEAST_LEFT < 1 && gone.total > classes.known();
        const double scale = sound ? classes.known() - gone.total : NOT_A_NUMBER;
        row[k] *= times, away[k] *= times;
        size_t best = K;
        for (size_t c = 0; c < K; ++c) {
            row[c] = scale * row[c] + 2 * prior[c];
            if (classes.of(c) > 0 && (best == K || (nearest ? away[c] < away[best] : row[c] > row[best]))) best = c;
        }
        row[K] = static_cast<double>(best);
    });
}

// linear_discriminant_left: log posteriors (n, K), up to a constant of the row, of each row by all other rows;
// squares_i = ||(x_i - center) A||^2. The covariance changes by rank one (Sherman & Morrison), seen by all classes.
template <class T>
void linear_discriminant_left(Rows<const T> X, Labels y, Weights w, const double* squares, const LinearClasses& model,
                              ClassWeights& classes, double* out) {
    const size_t K = classes.count();
    const double share = 1 / classes.total();
    const auto cross = [&](const Group<T>& group) __attribute__((always_inline)) {
        for (size_t c = 0; c < K; ++c) {
            const V product = products(group.x, X.p, model.coef[c], model.center);
            for (size_t l = 0; l < group.count; ++l) out[(group.first + l) * K + c] = product[l];
        }
    };
    for_groups(X, y, w, classes, cross, [&](size_t i, size_t k, const Removal& gone) __attribute__((always_inline)) {
        const double *inner = model.inner + k * K, *prior = classes.priors(k), own = squares[i];
        double* score = out + i * K;
        const double mine = score[k], q = own - 2 * mine + inner[k], gamma = gone.gamma * share;
        const double left = 1 - gamma * q, rest = left > model.least ? 1 / left : NOT_A_NUMBER;
        const double unit = -0.5 * gone.total * share;
        for (size_t c = 0; c < K; ++c) {
            const double along = own - mine - score[c] + inner[c];  // d^T A A^T (x - m_c)
            score[c] = unit * (own - 2 * score[c] + model.inner[c * K + c] + gamma * along * along * rest) + prior[c];
        }
        score[k] = unit * (1 + gone.beta) * (1 + gone.beta) * q * rest + prior[k];
    });
}

// quadratic_discriminant_left: from squared distances (n, K) from the means by the covariances of all rows to log posteriors,
// up to a constant of the row, of each row by all other rows: only its own class changes, by rank one. `level` is -1/2 log
// det of the covariances, `least_k` what must be left of a determinant, infinite where digits are short.
inline void quadratic_discriminant_left(Rows<const double> squares, size_t p, Labels y, Weights w, const double* level,
                                        const double* least, ClassWeights& classes, double* out) {
    const size_t K = squares.p;
    const auto own = [&](const Group<double>& group) __attribute__((always_inline)) {
        alignas(64) double distance[L], determinant[L];
        for (size_t l = 0; l < L; ++l) {
            const size_t k = group.k[l];
            const double n = classes.of(k), q = group.x[l][k], rest = 1 - group.gamma[l] / n * q;
            determinant[l] = rest > least[k] ? rest : NOT_A_NUMBER;
            distance[l] = (1 + group.beta[l]) * (1 + group.beta[l]) * (group.left[l] / n) * q;
        }
        const V rest = load(determinant), changed = log_positive(rest) + load(distance) / rest;
        for (size_t l = 0; l < group.count; ++l)  // in place of the square of the own class
            out[(group.first + l) * K + group.k[l]] = changed[l] + static_cast<double>(p) * group.gone[l].log_grown;
    };
    for_groups(squares, y, w, classes, own, [&](size_t i, size_t k, const Removal&) __attribute__((always_inline)) {
        const double* prior = classes.priors(k);
        double* score = out + i * K;
        for (size_t c = 0; c < K; ++c) score[c] = prior[c] + level[c] - 0.5 * (c == k ? score[k] : squares[i][c]);
    });
}

}  // namespace tenfold::TENFOLD_LEVEL
