// A few points that lie together, their sums so far with the error that these allow, and the rows of leaves added to them one by one.
#pragma once

#include "kernels/summation/leaves.hpp"
#include "kernels/summation/sums_view.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr size_t GROUP = 16;       // points at a time
constexpr double TOGETHER = 0.75;  // bandwidths from the middle of a group to its corners at most
constexpr double ROOT_LOG2_E = 1.2011224087864498;

// D: the number of columns, where it is known when this is compiled, else 0.
template <class Kernel, size_t D>
class PointSums {
protected:
    static constexpr size_t VECTORS = GROUP / L;

    // Of a sum: what it is at least, what error that allows for each unit of weight, and the squared distance from which on rows are left out.
    struct Known {
        double low, rate, reach;
    };

    PointSums(const SumsView& rows, const Asked& asked, Tolerance tolerance)
        : rows_(rows), asked_(asked), tolerance_(tolerance),
          points_(p() * GROUP), middle_(p()), half_(p()), high_(p()), away_(p() * GROUP), light_(std::log2(rows.lightest)) {}

    TENFOLD_INLINE size_t p() const { return D > 0 ? D : rows_.tree.p; }

    // Whether nodes may be summed as a whole.
    bool by_terms() const { return !rows_.flat && (rows_.slot || std::is_same_v<Kernel, TophatKernel>); }

    // --- the points at hand ---

    // The next points that lie together, in columns; places beyond them repeat the first.
    size_t gather(size_t at, size_t end) {
        own_ = -1;
        const double* first = asked_.points[static_cast<size_t>(asked_.order[at])];
        for (size_t j = 0; j < p(); ++j) {
            middle_[j] = high_[j] = first[j];  // the least and the largest, until all are there
            for (size_t i = 0; i < GROUP; ++i) points_[j * GROUP + i] = first[j];
        }
        count_ = 1;
        for (; count_ < GROUP && at + count_ < end; ++count_) {
            const double* next = asked_.points[static_cast<size_t>(asked_.order[at + count_])];
            double square = 0;
            for (size_t j = 0; j < p(); ++j) {
                const double side = std::max(high_[j], next[j]) - std::min(middle_[j], next[j]);
                square += side * side;
            }
            if (by_terms() && square > 4 * TOGETHER * TOGETHER) break;
            for (size_t j = 0; j < p(); ++j) {
                points_[j * GROUP + count_] = next[j];
                middle_[j] = std::min(middle_[j], next[j]), high_[j] = std::max(high_[j], next[j]);
            }
        }
        for (size_t j = 0; j < p(); ++j) {
            const double low = middle_[j], high = high_[j];
            middle_[j] = 0.5 * low + 0.5 * high;
            half_[j] = high > low ? 0.5 * (high - low) + 4e-16 * (high - low + std::abs(middle_[j])) : 0.0;
        }
        return count_;
    }

    // One point alone; `taken` of the weight of the row `own` is left out, -1: of none.
    void set_alone(const double* point, std::int64_t own, double taken) {
        for (size_t j = 0; j < p(); ++j) {
            middle_[j] = point[j], half_[j] = 0;
            for (size_t i = 0; i < GROUP; ++i) points_[j * GROUP + i] = point[j];
        }
        count_ = 1, own_ = own, taken_ = taken;
    }

    void begin_sums() {
        for (V& sum : sums_) sum = V{};
        for (V& sum : over_rows_) sum = V{};
        looked_ = next_look_ = 1;
        const double rate = tolerance_.absolute / rows_.all, reach = kernel_.reach(rate);
        for (size_t i = 0; i < count_; ++i) known_[i] = {0.0, rate, reach};
        reach_ = reach;
    }

    double sum_at(size_t i) const { return sums_[i / L][i % L] + sum_lanes(over_rows_[i]); }

    // How far must be looked, now that a sum is at least `low`.
    TENFOLD_INLINE bool look_again(Known& known, double low) const {
        if (low <= 1.2 * known.low) return false;
        const double rate = (tolerance_.relative * low + tolerance_.absolute) / rows_.all;
        known = {low, rate, kernel_.reach(rate)};
        return true;
    }

    // The same from time to time for points that share their nodes: for the one of the least sum.
    TENFOLD_INLINE void look() {
        if (!Kernel::decays || ++looked_ < next_look_) return;
        next_look_ = looked_ + std::min<size_t>(looked_, 16);
        double low = sum_at(0);
        for (size_t i = 1; i < count_; ++i) low = std::min(low, sum_at(i));
        if (look_again(known_[0], low)) reach_ = known_[0].reach;
    }

    // --- leaves, row by row ---

    TENFOLD_INLINE bool by_powers(size_t leaf) const {
        if constexpr (!std::is_same_v<Kernel, GaussianKernel>) return false;
        else return rows_.powers && own_ < 0 && kernel_.near == 0 && rows_.radius[rows_.tree.inner + leaf] <= TIGHT;
    }

    // The rows of a leaf, a vector at a time, to the sum of one point.
    TENFOLD_INLINE void add_rows(size_t leaf, size_t q) {
        if (by_powers(leaf)) return add_powers_of_rows(leaf, q);
        alignas(64) double left[LEAF];
        const double *values = rows_.tree.values + leaf * p() * LEAF, *weight = rows_.weight + leaf * LEAF;
        if (own_ >= 0) weight = without_own(leaf, left);
        for (size_t i = 0; i < LEAF; i += L) over_rows_[q] += load(weight + i) * kernel_.at(squares_of(values + i, q));
    }

    TENFOLD_INLINE void add_powers_of_rows(size_t leaf, size_t q) {
        const double *t = rows_.powers + leaf * (p() + 1) * LEAF, *rest = t + p() * LEAF, *middle = rows_.middle(rows_.tree.inner + leaf);
        const double least = light_ - 0.5 * LOG2_E * known_[q].reach;  // rows of less are left out
        double *u = away_.data(), square = 0;
        for (size_t j = 0; j < p(); ++j) u[j] = ROOT_LOG2_E * (points_[j * GROUP + q] - middle[j]), square += u[j] * u[j];
        for (size_t i = 0; i < LEAF; i += L) {
            V power = load(rest + i) - 0.5 * square;
            for (size_t j = 0; j < p(); ++j) power += u[j] * load(t + j * LEAF + i);
            if (any_above(power, least)) over_rows_[q] += power2(power);
        }
    }

    // The rows of a leaf, one after the other, to the sums of vectors of points.
    void add_leaf(size_t leaf) {
        if (count_ == 1) return add_rows(leaf, 0);
        if (by_powers(leaf)) return add_powers_of_points(leaf);
        const double *values = rows_.tree.values + leaf * p() * LEAF, *weight = rows_.weight + leaf * LEAF;
        const size_t n = rows_.tree.start[leaf + 1] - rows_.tree.start[leaf];
        for (size_t v = 0; v * L < count_; ++v) {
            const double* points = points_.data() + v * L;
            V sum = sums_[v];
            for (size_t i = 0; i < n; ++i) {
                V s{};
                for (size_t j = 0; j < p(); ++j) {
                    const V away = load(points + j * GROUP) - values[j * LEAF + i];
                    s += away * away;
                }
                sum += weight[i] * kernel_.at(s);
            }
            sums_[v] = sum;
        }
    }

    TENFOLD_INLINE void add_powers_of_points(size_t leaf) {
        const double *t = rows_.powers + leaf * (p() + 1) * LEAF, *rest = t + p() * LEAF, *middle = rows_.middle(rows_.tree.inner + leaf);
        const size_t n = rows_.tree.start[leaf + 1] - rows_.tree.start[leaf];
        V* u = reinterpret_cast<V*>(away_.data());
        for (size_t v = 0; v * L < count_; ++v) {
            V square{}, sum{};
            for (size_t j = 0; j < p(); ++j) {
                u[j] = ROOT_LOG2_E * (load(points_.data() + j * GROUP + v * L) - middle[j]);
                square += u[j] * u[j];
            }
            square *= 0.5;
            for (size_t i = 0; i < n; ++i) {
                V power = rest[i] - square;
                for (size_t j = 0; j < p(); ++j) power += u[j] * t[j * LEAF + i];
                sum += power2(power);
            }
            sums_[v] += sum;
        }
    }

    TENFOLD_INLINE V squares_of(const double* values, size_t q) const {
        V s{};
        for (size_t j = 0; j < p(); ++j) {
            const V away = load(values + j * LEAF) - points_[j * GROUP + q];
            s += away * away;
        }
        return s;
    }

    // The weights of a leaf, less what is left out.
    const double* without_own(size_t leaf, double* left) const {
        const size_t n = rows_.tree.start[leaf + 1] - rows_.tree.start[leaf];
        for (size_t i = 0; i < LEAF; ++i) {
            left[i] = rows_.weight[leaf * LEAF + i];
            if (i < n && rows_.tree.number[leaf * LEAF + i] == own_) left[i] = std::max(left[i] - taken_, 0.0);
        }
        return left;
    }

    const SumsView& rows_;
    const Asked& asked_;
    const Tolerance tolerance_;
    Kernel kernel_{};
    Scratch<double> points_, middle_, half_, high_, away_;  // points_: (p, GROUP)
    Known known_[GROUP]{};
    size_t count_ = 0, looked_ = 1, next_look_ = 1;
    std::int64_t own_ = -1;
    double taken_ = 0, reach_ = 0;  // reach_: that of the point that must look farthest
    const double light_;
    V sums_[VECTORS], over_rows_[GROUP];  // the second: parts of the sum of each point
};

}  // namespace tenfold::TENFOLD_LEVEL
