// Planes with a margin over sparse rows that lie in memory: sums for Newton's method, and descent in the dual.
//
//     min over θ = [w b] of  ½ ‖w‖² + ½ b² / bias + Σ c (|r| − ε)₊  or the squares of these,   r = y − x·w − b
//
// With `sided` (classes, y = ±1) only residuals on the side of y cost anything. c is what a row costs: C times its weight.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/linear/sparse_rows.hpp"

namespace tenfold {

struct MarginRows {
    SparseRows X;
    std::span<const double> y, cost;
    double epsilon;
    bool sided;
    size_t p;

    // How far a residual is beyond the margin, with its sign; zero where it costs nothing.
    double beyond(double r, double target) const {
        if (sided && r * target <= 0) return 0.0;
        return std::abs(r) <= epsilon ? 0.0 : r - std::copysign(epsilon, r);
    }
};

// Of the squares at θ: Σ α z with α = 2 c (|r| − ε)₊ sign r, the diagonal of the curvature, and the loss last: (2 (p + 1) + 1).
inline void margin_squares(const MarginRows& of, const double* theta, bool intercept, size_t threads, double* out) {
    const size_t q = of.p + 1;
    add_pieces(of.X, pieces_of(of.X), 2 * q + 1, threads, out, [&](size_t from, size_t to, double* sums) {
        double *pull = sums, *diagonal = sums + q, loss = 0, constant = 0, bend = 0;
        for (size_t i = from; i < to; ++i) {
            const double over = of.beyond(of.y[i] - of.X.dot(i, theta) - theta[of.p], of.y[i]);
            if (over == 0.0) continue;
            const double alpha = 2 * of.cost[i] * over, curve = 2 * of.cost[i];
            for (std::int64_t k = of.X.begin[i]; k < of.X.begin[i + 1]; ++k) {
                const double x = of.X.value[k];
                pull[of.X.column[k]] += alpha * x;
                diagonal[of.X.column[k]] += curve * x * x;
            }
            loss += of.cost[i] * over * over;
            constant += alpha;
            bend += curve;
        }
        if (intercept) pull[of.p] = constant, diagonal[of.p] = bend;
        sums[2 * q] = loss;
    });
}

// Of the squares at θ: the curvature times v.
inline void margin_product(const MarginRows& of, const double* theta, const double* v, bool intercept, size_t threads, double* out) {
    add_pieces(of.X, pieces_of(of.X), of.p + 1, threads, out, [&](size_t from, size_t to, double* sums) {
        double constant = 0;
        for (size_t i = from; i < to; ++i) {
            double f = theta[of.p], g = v[of.p];
            for (std::int64_t k = of.X.begin[i]; k < of.X.begin[i + 1]; ++k) {
                f += of.X.value[k] * theta[of.X.column[k]];
                g += of.X.value[k] * v[of.X.column[k]];
            }
            if (of.beyond(of.y[i] - f, of.y[i]) == 0.0) continue;
            const double share = 2 * of.cost[i] * g;
            of.X.add(i, share, sums);
            constant += share;
        }
        if (intercept) sums[of.p] = constant;
    });
}

// Descent in the dual of the first powers, a row at a time:
//
//     min over α of  ½ ‖Σ α x‖² + ½ bias (Σ α)² − Σ α y + ε Σ |α|,   |α| ≤ c, and α on the side of y with `sided`
//
// θ = [Σ α x, bias Σ α]. Rows come in an order drawn anew in each sweep; rows at an end of their range that would go beyond it by more
// than the worst of the last sweep are left out until the others are done. (Hsieh et al. 2008; Ho & Lin 2012)
class DualDescent {
public:
    DualDescent(const MarginRows& of, double bias) : of(of), bias(bias), theta(of.p + 1, 0.0), alpha(of.X.size(), 0.0), square(of.X.size()) {
        for (size_t i = 0; i < of.X.size(); ++i) {
            double sum = bias;
            for (std::int64_t k = of.X.begin[i]; k < of.X.begin[i + 1]; ++k) sum += of.X.value[k] * of.X.value[k];
            square[i] = sum;
        }
        best = theta;
    }

    // Sweeps until the gap between θ and α is at most `tol` of the objective; `leave` is asked before each one.
    template <class Leave>
    std::int64_t solve(double tol, std::int64_t most, Leave&& leave) {
        std::int64_t sweeps = 0;
        double enough = -1, worst = 0;
        for (;;) {
            measure();
            if (gap <= tol || sweeps >= most) return sweeps;
            rows.resize(alpha.size());
            std::iota(rows.begin(), rows.end(), size_t{0});
            double bound = std::numeric_limits<double>::infinity();
            do {
                if (leave()) return sweeps;
                worst = sweep(bound);
                ++sweeps;
                if (enough < 0) enough = 0.1 * worst;
                bound = worst > 0 ? worst : bound;
            } while (worst > enough && sweeps < most && !rows.empty());
            enough = SMALLER * std::min(enough, worst > 0 ? worst : enough);
        }
    }

    std::vector<double> best;  // θ of the least objective that was measured
    double gap = std::numeric_limits<double>::infinity();  // to it, relative

private:
    static constexpr double SMALLER = 0.2;

    double least(size_t i) const { return of.sided && of.y[i] > 0 ? 0.0 : -of.cost[i]; }
    double most(size_t i) const { return of.sided && of.y[i] <= 0 ? 0.0 : of.cost[i]; }

    double sweep(double bound) {
        double worst = 0;
        size_t kept = 0, left = rows.size();
        for (size_t s = 0; s < left; ++s) std::swap(rows[s], rows[s + below(left - s)]);
        for (size_t s = 0; s < left; ++s) {
            if ((s & 1023) == 1023 && stopped()) return worst;
            const size_t i = rows[s];
            const double slope = of.X.dot(i, theta.data()) + theta[of.p] - of.y[i], a = alpha[i], lo = least(i), hi = most(i);
            // By how much the objective rises to either side; at an end of the range it cannot be left.
            const double right = a < hi ? slope + (a >= 0 ? of.epsilon : -of.epsilon) : std::numeric_limits<double>::infinity();
            const double before = a > lo ? -slope - (a > 0 ? of.epsilon : -of.epsilon) : std::numeric_limits<double>::infinity();
            const double slack = std::min(right, before);
            if (slack > bound) continue;
            rows[kept++] = i;
            if (slack >= 0) continue;
            worst = std::max(worst, -slack);
            double next;
            if (square[i] > 0) {
                const double to = a - slope / square[i], shrunk = std::max(std::abs(to) - of.epsilon / square[i], 0.0);
                next = std::clamp(std::copysign(shrunk, to), lo, hi);
            } else {
                next = right < before ? hi : lo;
            }
            if (next == a) continue;
            of.X.add(i, next - a, theta.data());
            theta[of.p] += bias * (next - a);
            alpha[i] = next;
        }
        rows.resize(kept);
        return worst;
    }

    // θ anew from α, so that rounding does not add up; the objective at θ, and its distance from that of the dual.
    void measure() {
        std::fill(theta.begin(), theta.end(), 0.0);
        double total = 0, linear = 0;
        for (size_t i = 0; i < alpha.size(); ++i) {
            if (alpha[i] == 0.0) continue;
            of.X.add(i, alpha[i], theta.data());
            total += alpha[i];
            linear += alpha[i] * of.y[i] - of.epsilon * std::abs(alpha[i]);
        }
        theta[of.p] = bias * total;
        double penalty = 0.5 * bias * total * total, loss = 0;
        for (size_t j = 0; j < of.p; ++j) penalty += 0.5 * theta[j] * theta[j];
        for (size_t i = 0; i < alpha.size(); ++i)
            loss += of.cost[i] * std::abs(of.beyond(of.y[i] - of.X.dot(i, theta.data()) - theta[of.p], of.y[i]));
        dual = std::max(dual, linear - penalty);
        if (penalty + loss < primal) {
            primal = penalty + loss;
            best = theta;
        }
        gap = primal > 0 ? std::max(primal - dual, 0.0) / primal : 0.0;
    }

    size_t below(size_t n) {  // a number below n, of a fixed sequence
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return static_cast<size_t>(state % n);
    }

    const MarginRows& of;
    double bias;
    std::vector<double> theta, alpha, square;
    std::vector<size_t> rows;
    double primal = std::numeric_limits<double>::infinity(), dual = 0.0;  // α = 0 has the value 0
    std::uint64_t state = 0x9E3779B97F4A7C15ull;
};

}  // namespace tenfold
