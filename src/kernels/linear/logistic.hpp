// Loss, gradient and curvature of logistic regression, two classes and many.
#pragma once

#include <limits>

#include "kernels/common/explog.hpp"
#include "kernels/common/moments.hpp"

namespace tenfold::TENFOLD_LEVEL {

// L rows from row `start` on. Rows beyond the last repeat it, and get no weight.
template <class T>
struct RowGroup {
    const T* row[L];
    V weight{};
    size_t count;

    TENFOLD_INLINE RowGroup(Rows<const T> X, Weights w, size_t start) : count(std::min(L, X.n - start)) {
        for (size_t l = 0; l < L; ++l) row[l] = X[start + std::min(l, count - 1)];
        weight = count == L ? load(w.data() + start) : load_part(w.data() + start, count);
    }

    // [x 1] beta of the L rows
    TENFOLD_INLINE V predict(const double* beta, size_t p) const {
        V sum[L] = {};
        for_vectors(p, [&](size_t, auto at) __attribute__((always_inline)) {
            V b = at(beta);
            for (size_t l = 0; l < L; ++l) sum[l] += at(row[l]) * b;
        });
        return sum_each(sum) + beta[p];
    }
};

// logistic_terms: with eta = [x 1] beta and the margin m = eta for y = 1, -eta for y = 0
//   loss = sum w log(1 + e^-m);   grad = sum w (sigmoid(eta) - y) [x 1] = sum -+ w sigmoid(-m) [x 1]
// X is read from memory once; small losses and residuals keep their relative accuracy.
template <class T>
void logistic_terms(Rows<const T> X, Labels y, Weights w, const double* beta, double& loss, double* grad) {
    constexpr size_t GROUPS = 4;  // so many groups at a time hide the latency of exp
    Scratch<double> sum(padded(X.p));
    V losses{}, residuals{};
    for (size_t start = 0; start < X.n; start += GROUPS * L) {
        if (start % 1024 == 0 && stopped()) return;
        V residual[GROUPS];
        const size_t groups = std::min(GROUPS, ceil_div(X.n - start, L));
        for (size_t t = 0; t < groups; ++t) {
            RowGroup<T> rows(X, w, start + t * L);
            V sign = splat(-1.0);
            for (size_t l = 0; l < rows.count; ++l) sign[l] = y[start + t * L + l] ? 1.0 : -1.0;
            V margin = sign * rows.predict(beta, X.p);
            V e = exp_negative(margin < 0.0 ? margin : -margin);
            V lost = (margin < 0.0 ? -margin : V{}) + log1p_unit(e);
            losses += rows.weight > 0.0 ? rows.weight * lost : V{};
            residual[t] = -sign * rows.weight * ((margin < 0.0 ? splat(1.0) : e) / (1.0 + e));
            residuals += residual[t];
        }
        for (size_t t = 0; t < groups; ++t) {
            RowGroup<T> rows(X, w, start + t * L);
            for_vectors(X.p, [&](size_t j, auto at) __attribute__((always_inline)) {
                V even{}, odd = load(sum.data() + j);
                for (size_t l = 0; l < L; l += 2) {
                    even += residual[t][l] * at(rows.row[l]);
                    odd += residual[t][l + 1] * at(rows.row[l + 1]);
                }
                store(sum.data() + j, even + odd);
            });
        }
    }
    loss = sum_lanes(losses);
    std::copy_n(sum.data(), X.p, grad);
    grad[X.p] = sum_lanes(residuals);
}

// logistic_curvature: sum w mu (1 - mu) z z^T over the rows z = [x 1], with mu = sigmoid(z beta)
template <class T>
void logistic_curvature(Rows<const T> X, Weights w, const double* beta, double* hess) {
    Scratch<double> d(padded(X.n));
    for (size_t i = 0; i < X.n; i += L) {
        RowGroup<T> rows(X, w, i);
        V eta = rows.predict(beta, X.p);
        V e = exp_negative(eta < 0.0 ? eta : -eta);
        store(d.data() + i, rows.weight * e / ((1.0 + e) * (1.0 + e)));
    }
    weighted_gram<T>(X, {d.data(), X.n}, hess);
}

// The softmax of rows r .. r + L - 1 of scores in place, as residuals of the classes y: w (softmax_c - [c =
// y]). Returns the loss w (log sum_c e^score_c - score_y) of the first `count` rows; the others are computed
// and mean nothing. The scores that fill the last panel are -infinity on entry.
TENFOLD_INLINE double softmax_rows(const Tile& scores, size_t r, size_t count, const std::int64_t* y,
                                   const double* w) {
    const size_t k = scores.panels * PANEL;
    V top[L], total[L] = {};
    for (size_t l = 0; l < L; ++l) {
        top[l] = load(&scores.at(r + l, 0));
        for (size_t j = L; j < k; j += L) top[l] = larger(top[l], load(&scores.at(r + l, j)));
    }
    const V highest = largest_each(top);
    double loss = 0;
    for (size_t l = 0; l < count; ++l)
        loss += w[l] * (highest[l] - scores.at(r + l, static_cast<size_t>(y[l])));
    for (size_t l = 0; l < L; ++l)
        for (size_t j = 0; j < k; j += L) {
            V e = exp_negative(load(&scores.at(r + l, j)) - highest[l]);
            store(&scores.at(r + l, j), e);
            total[l] += e;
        }
    const V sum = sum_each(total);
    for (size_t l = 0; l < count; ++l) {
        loss += w[l] * std::log(sum[l]);
        const double scale = w[l] / sum[l];
        for (size_t j = 0; j < k; j += L) store(&scores.at(r + l, j), load(&scores.at(r + l, j)) * scale);
        scores.at(r + l, static_cast<size_t>(y[l])) -= w[l];
    }
    return loss;
}

// softmax_terms: with scores B [x 1]: loss = sum w (log sum_c e^score_c - score_y);  grad_c = sum w
// (softmax_c - [c = y]) [x 1]
template <class T>
void softmax_terms(Rows<const T> X, Labels y, Weights w, Rows<const double> B, double& loss, double* grad) {
    const size_t k = B.n, inner = X.p + 1,
                 depth = std::min<size_t>(X.n, 48);  // rows and scores in the first-level cache
    Tile rows(inner, depth), scores(k, depth), factor(k, inner);
    for (size_t c = 0; c < k; ++c)
        for (size_t j = 0; j < inner; ++j) factor.at(j, c) = B[c][j];
    const size_t row_of_blocks = rows.panels * BLOCK;
    Scratch<double> blocks(scores.panels * row_of_blocks), hidden(scores.panels * PANEL);
    std::fill(hidden.data() + k, hidden.data() + scores.panels * PANEL,
              -std::numeric_limits<double>::infinity());

    loss = 0;
    for (size_t start = 0; start < X.n && !stopped(); start += rows.depth) {
        const size_t count = std::min(rows.depth, X.n - start);
        for (size_t r = 0; r < count; ++r) {
            rows.pack(r, X[start + r], X.p, 1.0);
            rows.at(r, X.p) = 1.0;
        }
        multiply_all(rows, count, inner, factor,
                     [&](size_t r0, size_t b, const auto& product) __attribute__((always_inline)) {
                         for (size_t r = 0; r < PANEL; ++r)
                             for (size_t v = 0; v < PARTS; ++v)
                                 store(scores.slot(r0 + r, b) + v * L,
                                       product[r][v] + load(hidden.data() + b * PANEL + v * L));
                     });
        for (size_t r = 0; r < count; r += L) {
            const size_t i = start + r;
            loss += softmax_rows(scores, r, std::min(L, count - r), y.data() + i, w.data() + i);
        }
        for (size_t b = 0; b < rows.panels; b += REACH)
            for (size_t a = 0; a < scores.panels; ++a) {
                const size_t reach = std::min(REACH, rows.panels - b);
                auto block = [&](size_t column) {
                    return blocks.data() + a * row_of_blocks + column * BLOCK;
                };
                if (k - a * PANEL > PANEL / 2) add_outer(reach, scores, a, rows, b, count, block);
                else add_outer<PANEL / 2>(reach, scores, a, rows, b, count, block);
            }
    }
    for (size_t c = 0; c < k; ++c)
        for (size_t j = 0; j < inner; ++j)
            grad[c * inner + j] =
                blocks[c / PANEL * row_of_blocks + j / PANEL * BLOCK + c % PANEL * PANEL + j % PANEL];
}

}  // namespace tenfold::TENFOLD_LEVEL
