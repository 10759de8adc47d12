// Steps over sparse rows: of W H only what belongs to stored values is computed. H and G are (p, k) here.
#pragma once

#include "kernels/reduce/nmf_steps.hpp"

namespace tenfold::TENFOLD_LEVEL {

TENFOLD_INLINE double dot_whole(const double* a, const double* b, size_t k) {
    V sum{};
    for (size_t i = 0; i < k; i += L) sum += load(a + i) * load(b + i);
    return sum_lanes(sum);
}
TENFOLD_INLINE void add_whole(double share, const double* a, size_t k, double* to) {
    for (size_t i = 0; i < k; i += L) store(to + i, load(to + i) + share * load(a + i));
}

// f(column, value) of the stored values of a row.
template <class F>
TENFOLD_INLINE void stored_of(const SparseRows& X, size_t i, F&& f) {
    for (std::int64_t s = X.begin[i]; s < X.begin[i + 1]; ++s) f(static_cast<size_t>(X.column[s]), X.value[s]);
}

inline void nmf_kl_sparse(const SparseRows& X, Weights w, const NmfStep& step, size_t from, size_t to, double* W, double* sums) {
    const size_t k = step.k, wide = step.wide;
    Scratch<double> row(wide), above(wide);
    for (size_t i = from; i < to && !(i % NMF_ROWS == 0 && stopped()); ++i) {
        std::copy_n(W + i * k, k, row.data());
        std::fill_n(above.data(), wide, 0.0);
        stored_of(X, i, [&](size_t j, double x) __attribute__((always_inline)) {
            const double* h = step.H + j * wide;
            add_whole(x / std::max(dot_whole(row.data(), h, wide), step.floor), h, wide, above.data());
        });
        multiply_row(step, above.data(), row.data());
        std::copy_n(row.data(), k, W + i * k);
        if (!sums) continue;
        stored_of(X, i, [&](size_t j, double x) __attribute__((always_inline)) {
            add_whole(w[i] * x / std::max(dot_whole(row.data(), step.H + j * wide, wide), step.floor), row.data(), wide, sums + j * wide);
        });
    }
}

inline double nmf_log_sparse(const SparseRows& X, Weights w, const NmfStep& step, size_t from, size_t to, const double* W) {
    const size_t k = step.k, wide = step.wide;
    Scratch<double> row(wide);
    double total = 0;
    for (size_t i = from; i < to && !(i % NMF_ROWS == 0 && stopped()); ++i) {
        std::copy_n(W + i * k, k, row.data());
        double sum = 0;
        stored_of(X, i, [&](size_t j, double x) __attribute__((always_inline)) {
            if (x > 0) sum += x * std::log(x / std::max(dot_whole(row.data(), step.H + j * wide, wide), step.floor));
        });
        total += w[i] * sum;
    }
    return total;
}

inline double nmf_descent_sparse(const SparseRows& X, Weights w, const NmfStep& step, const NmfDescent& by, size_t from, size_t to,
                                 double* W, double* sums) {
    const size_t k = step.k, wide = step.wide;
    Scratch<double> rows(NMF_ROWS * wide), dots(NMF_ROWS * wide);
    SweptTile swept(by, k);
    double violation = 0;
    for (size_t start = from; start < to && !stopped(); start += NMF_ROWS) {
        const size_t count = std::min(NMF_ROWS, to - start);
        std::fill_n(dots.data(), NMF_ROWS * wide, 0.0);
        for (size_t r = 0; r < count; ++r) {
            std::copy_n(W + (start + r) * k, k, &rows[r * wide]);
            stored_of(X, start + r, [&](size_t j, double x) __attribute__((always_inline)) {
                add_whole(x, step.H + j * wide, wide, &dots[r * wide]);
            });
        }
        violation += swept.sweep_rows(
            count, wide, w.data() + start, [&](size_t r, size_t a) __attribute__((always_inline)) { return dots[r * wide + a] - step.l1; },
            rows.data());
        for (size_t r = 0; r < count; ++r) {
            std::copy_n(&rows[r * wide], k, W + (start + r) * k);
            stored_of(X, start + r, [&](size_t j, double x) __attribute__((always_inline)) {
                add_whole(w[start + r] * x, &rows[r * wide], wide, sums + j * wide);
            });
        }
    }
    return violation;
}

}  // namespace tenfold::TENFOLD_LEVEL
