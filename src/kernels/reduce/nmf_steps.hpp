// Steps over dense rows: one pass over X changes W and sums what the next H needs.
#pragma once

#include "kernels/reduce/nmf_tiles.hpp"

namespace tenfold::TENFOLD_LEVEL {

TENFOLD_INLINE V at_least(V y, double floor) { return y > floor ? y : splat(floor); }

// A row of W after a multiplicative step with these numerators (k).
TENFOLD_INLINE void multiply_row(const NmfStep& step, const double* numerator, double* w) {
    for (size_t a = 0; a < step.k; ++a) {
        const double under = step.below[a] + step.l2 * w[a];
        w[a] = under > 0 ? w[a] * (numerator[a] / under) : 0.0;
    }
}

template <class T>
void nmf_kl(Rows<const T> X, Weights w, const NmfStep& step, size_t from, size_t to, double* W, double* sums) {
    RowTile<T> tile(X, step);
    Scratch<double> above(step.k);
    for (size_t start = from; start < to && !stopped(); start += NMF_ROWS) {
        tile.begin(start, to, W);
        tile.clear_dots();
        tile.blocks([&](size_t j, size_t width) __attribute__((always_inline)) {
            tile.fill_from_product(j, width, [&](V x, V y, size_t) __attribute__((always_inline)) { return x / at_least(y, step.floor); });
            tile.add_dots(j, width);
        });
        for (size_t r = 0; r < tile.count; ++r) {
            for (size_t a = 0; a < step.k; ++a) above[a] = tile.dot(r, a);
            multiply_row(step, above.data(), &tile.W[r * tile.wide]);
            std::copy_n(&tile.W[r * tile.wide], step.k, W + (start + r) * step.k);
        }
        if (!sums) continue;
        double weight[NMF_ROWS] = {};
        std::copy_n(w.data() + start, tile.count, weight);
        tile.blocks([&](size_t j, size_t width) __attribute__((always_inline)) {
            tile.fill_from_product(j, width, [&](V x, V y, size_t r) __attribute__((always_inline)) {
                return weight[r] * x / at_least(y, step.floor);
            });
            tile.add_outer_products(j, width, sums);
        });
    }
}

template <class T>
double nmf_log(Rows<const T> X, Weights w, const NmfStep& step, size_t from, size_t to, const double* W) {
    RowTile<T> tile(X, step);
    double total = 0;
    for (size_t start = from; start < to && !stopped(); start += NMF_ROWS) {
        tile.begin(start, to, W);
        V row[NMF_ROWS] = {};
        tile.blocks([&](size_t j, size_t width) __attribute__((always_inline)) {
            tile.fill_from_product(j, width, [&](V x, V y, size_t r) __attribute__((always_inline)) {
                const V ratio = x / at_least(y, step.floor);
                row[r] += x * log_of(ratio > 1e-300 ? ratio : splat(1.0));
                return ratio;
            });
        });
        for (size_t r = 0; r < tile.count; ++r) total += w[start + r] * sum_lanes(row[r]);
    }
    return total;
}

// NMF_ROWS problems min over w >= 0 of w C w / 2 - b w side by side.
class SweptTile {
public:
    SweptTile(const NmfDescent& by, size_t k) : by_(by), k_(k), w_(k * NMF_ROWS), b_(k * NMF_ROWS) {}

    // Of rows W (NMF_ROWS, stride), where linear(r, a) are their b. Returns the weighted sum of |projected gradient| of the first sweep.
    template <class Linear>
    TENFOLD_INLINE double sweep_rows(size_t count, size_t stride, const double* weight, Linear&& linear, double* W) {
        for (size_t a = 0; a < k_; ++a)
            for (size_t r = 0; r < NMF_ROWS; ++r) {
                w_[a * NMF_ROWS + r] = r < count ? W[r * stride + a] : 0.0;
                b_[a * NMF_ROWS + r] = r < count ? linear(r, a) : 0.0;
            }
        sweep();
        double total = 0;
        for (size_t r = 0; r < count; ++r) {
            for (size_t a = 0; a < k_; ++a) W[r * stride + a] = w_[a * NMF_ROWS + r];
            total += weight[r] * violation_[r / L][r % L];
        }
        return total;
    }

    // Of columns of H and B, both (k, stride).
    TENFOLD_INLINE double sweep_columns(size_t count, size_t stride, const double* B, double* H) {
        for (size_t a = 0; a < k_; ++a)
            for (size_t r = 0; r < NMF_ROWS; ++r) {
                w_[a * NMF_ROWS + r] = r < count ? H[a * stride + r] : 0.0;
                b_[a * NMF_ROWS + r] = r < count ? B[a * stride + r] : 0.0;
            }
        sweep();
        double total = 0;
        for (size_t a = 0; a < k_; ++a) std::copy_n(w_.data() + a * NMF_ROWS, count, H + a * stride);
        for (size_t r = 0; r < count; ++r) total += violation_[r / L][r % L];
        return total;
    }

private:
    static constexpr size_t N = NMF_ROWS / L;

    void sweep() {
        for (size_t v = 0; v < N; ++v) violation_[v] = V{};
        for (size_t round = 0; round < by_.sweeps; ++round)
            for (const std::int64_t t : by_.order) descend(static_cast<size_t>(t), round == 0);
    }

    TENFOLD_INLINE void descend(size_t t, bool first) {
        const double* C = by_.C + t * k_;
        V even[N], odd[N] = {};  // two sums: neither waits for the other
        for (size_t v = 0; v < N; ++v) even[v] = -load(b_.data() + t * NMF_ROWS + v * L);
        const double* w = w_.data();
        size_t a = 0;
        for (; a + 2 <= k_; a += 2, w += 2 * NMF_ROWS)
            for (size_t v = 0; v < N; ++v) {
                even[v] += splat(C[a]) * load(w + v * L);
                odd[v] += splat(C[a + 1]) * load(w + NMF_ROWS + v * L);
            }
        if (a < k_)
            for (size_t v = 0; v < N; ++v) even[v] += splat(C[a]) * load(w + v * L);
        for (size_t v = 0; v < N; ++v) {
            double* mine = w_.data() + t * NMF_ROWS + v * L;
            const V slope = even[v] + odd[v], now = load(mine);
            if (first) {
                const V down = slope < 0.0 ? -slope : V{}, size = slope < 0.0 ? -slope : slope;
                violation_[v] += now == 0.0 ? down : size;
            }
            if (C[t] > 0) {
                const V next = now - slope / C[t];
                store(mine, next > 0.0 ? next : V{});
            }
        }
    }

    const NmfDescent& by_;
    size_t k_;
    Scratch<double> w_, b_;
    V violation_[N] = {};
};

template <class T>
double nmf_descent(Rows<const T> X, Weights w, const NmfStep& step, const NmfDescent& by, size_t from, size_t to, double* W, double* sums) {
    RowTile<T> tile(X, step);
    SweptTile swept(by, step.k);
    double violation = 0;
    for (size_t start = from; start < to && !stopped(); start += NMF_ROWS) {
        tile.begin(start, to, W);
        tile.clear_dots();
        double weight[NMF_ROWS] = {};
        std::copy_n(w.data() + start, tile.count, weight);
        tile.blocks([&](size_t j, size_t width) __attribute__((always_inline)) {
            tile.fill(j, width, [](V x, size_t) __attribute__((always_inline)) { return x; });
            tile.add_dots(j, width);
        });
        violation += swept.sweep_rows(
            tile.count, tile.wide, weight, [&](size_t r, size_t a) __attribute__((always_inline)) { return tile.dot(r, a) - step.l1; },
            tile.W.data());
        for (size_t r = 0; r < tile.count; ++r) std::copy_n(&tile.W[r * tile.wide], step.k, W + (start + r) * step.k);
        tile.blocks([&](size_t j, size_t width) __attribute__((always_inline)) {
            tile.fill(j, width, [&](V x, size_t r) __attribute__((always_inline)) { return weight[r] * x; });
            tile.add_outer_products(j, width, sums);
        });
    }
    return violation;
}

inline double nmf_columns(const NmfDescent& by, size_t k, size_t p, size_t from, size_t to, const double* B, double* H) {
    SweptTile swept(by, k);
    double violation = 0;
    for (size_t start = from; start < to && !stopped(); start += NMF_ROWS)
        violation += swept.sweep_columns(std::min(NMF_ROWS, to - start), p, B + start, H + start);
    return violation;
}

}  // namespace tenfold::TENFOLD_LEVEL
