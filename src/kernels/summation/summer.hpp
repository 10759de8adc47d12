// The sums: for a few points that lie together, nodes of the tree from the nearest to the farthest. A node is left out, or summed by its
// terms, where the error of that is at most its share, by weight, of what the sum so far allows.
#pragma once

#include "kernels/summation/point_sums.hpp"
#include "kernels/summation/terms.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr double INVERSE[] = {0.0,      1.0,      1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,  1.0 / 6,  1.0 / 7,  1.0 / 8, 1.0 / 9,
                              1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15, 1.0 / 16, 1.0 / 17, 1.0 / 18};
constexpr double UNSAFE = 1e-200;  // smaller sums are taken again, relative to the nearest row

template <class Kernel, size_t D>
class Summer : private PointSums<Kernel, D> {
    using Points = PointSums<Kernel, D>;
    using Points::p, Points::gather, Points::set_alone, Points::begin_sums, Points::sum_at, Points::look, Points::look_again, Points::by_terms,
        Points::add_rows, Points::add_leaf, Points::squares_of, Points::without_own;
    using Points::rows_, Points::asked_, Points::kernel_, Points::points_, Points::middle_, Points::half_, Points::away_, Points::known_,
        Points::count_, Points::own_, Points::reach_, Points::sums_, Points::over_rows_;

public:
    Summer(const SumsView& rows, const Asked& asked, Tolerance tolerance) : Points(rows, asked, tolerance) {}

    void run(size_t begin, size_t end, double* logs) {
        for (size_t at = begin, count; at < end && !stopped(); at += count) {
            count = gather(at, end);
            begin_sums();
            over_rows();
            double found[GROUP];  // some are taken again, one after the other
            for (size_t i = 0; i < count; ++i) found[i] = sum_at(i);
            for (size_t i = 0; i < count; ++i) logs[asked_.order[at + i]] = finished(asked_.order[at + i], found[i]);
        }
    }

private:
    // --- the tree ---

    void over_rows() {
        if (rows_.flat) {
            for (size_t leaf = 0; leaf <= rows_.tree.inner && !stopped(); ++leaf) add_leaf(leaf);
        } else if (by_terms()) over_tree<1>();
        else over_tree<BUNDLE>();
    }

    // Squared distance of a node from the points, at least.
    TENFOLD_INLINE double gap(size_t node) const {
        const double *middle = rows_.middle(node), *half = middle + p();
        double square = 0;
        for (size_t j = 0; j < p(); ++j) {
            const double between = std::max(std::abs(middle[j] - middle_[j]) - (half[j] + half_[j]), 0.0);
            square += between * between;
        }
        return square;
    }

    // The nodes, the nearest first, down to bundles of leaves.
    template <size_t Leaves>
    void over_tree() {
        const size_t inner = (rows_.tree.inner + 1 + Leaves - 1) / Leaves - 1;  // nodes above the bundles
        struct Waiting {
            size_t node;
            double gap;
        };
        Waiting stack[2 * 64];
        size_t top = 0;
        stack[top++] = {0, gap(0)};
        while (top > 0) {
            const Waiting now = stack[--top];
            if (now.gap >= reach_) continue;
            if (Leaves == BUNDLE && now.node >= inner) {
                add_bundle(now.node - inner);
                continue;
            }
            const bool whole = Leaves == 1 && add_node(now.node);
            if (whole || now.node >= inner) {
                if (!whole) add_leaf(now.node - inner);
                look();
                continue;
            }
            const Waiting first{2 * now.node + 1, gap(2 * now.node + 1)}, second{2 * now.node + 2, gap(2 * now.node + 2)};
            const bool turned = second.gap < first.gap;
            stack[top++] = turned ? first : second;
            stack[top++] = turned ? second : first;
        }
    }

    // Of some leaves side by side, for each point those that are near enough: their rows stay at hand while the points pass.
    void add_bundle(size_t bundle) {
        const double *middle = rows_.bundles + bundle * 2 * p() * BUNDLE, *half = middle + p() * BUNDLE;
        bool changed = false;
        for (size_t q = 0; q < count_; ++q) {
            alignas(64) double gaps[BUNDLE];
            for (size_t l = 0; l < BUNDLE; l += L) {
                V square{};
                for (size_t j = 0; j < p(); ++j) {
                    const V away = load(middle + j * BUNDLE + l) - points_[j * GROUP + q];
                    const V between = at_least_zero((away > 0.0 ? away : -away) - load(half + j * BUNDLE + l));
                    square += between * between;
                }
                store(gaps + l, square);
            }
            for (size_t l = 0; l < BUNDLE; ++l)
                if (gaps[l] < known_[q].reach) add_rows(bundle * BUNDLE + l, q);
            if constexpr (Kernel::decays) changed |= look_again(known_[q], sum_lanes(over_rows_[q]));
        }
        if (!changed) return;
        reach_ = 0;
        for (size_t q = 0; q < count_; ++q) reach_ = std::max(reach_, known_[q].reach);
    }

    // --- nodes by their terms ---

    // Whether the node was summed as a whole.
    TENFOLD_INLINE bool add_node(size_t node) {
        if (own_ >= 0) return false;  // a row of it may be left out
        if constexpr (std::is_same_v<Kernel, GaussianKernel> && D == 0) return false;
        else if constexpr (std::is_same_v<Kernel, GaussianKernel>) {
            if (!rows_.slot || rows_.slot[node] < 0 || kernel_.near > 0) return false;
            return add_series(node);
        } else {
            const bool has_terms = rows_.slot && rows_.slot[node] >= 0;
            if (!(has_terms || std::is_same_v<Kernel, TophatKernel>) || !whole(node)) return false;
            const double* terms = has_terms ? rows_.terms + static_cast<size_t>(rows_.slot[node]) * rows_.width : nullptr;
            add_vectors(node, [&]<size_t N>(const V* u, V* found) __attribute__((always_inline)) {
                closed_form<Kernel, N>(kernel_, terms, rows_.total[node], rows_.radius[node], p(), u, found);
            });
            return true;
        }
    }

    // Whether the closed form holds for all points.
    TENFOLD_INLINE bool whole(size_t node) const {
        const double *middle = rows_.middle(node), *half = middle + p();
        double square = 0;
        bool aside = true;
        for (size_t j = 0; j < p(); ++j) {
            const double between = std::abs(middle[j] - middle_[j]), sides = half[j] + half_[j];
            square += (between + sides) * (between + sides);
            aside = between >= sides;
        }
        if constexpr (std::is_same_v<Kernel, ExponentialKernel>) return aside;
        else if constexpr (std::is_same_v<Kernel, LinearKernel>) return aside && square < 1;
        else return square < 1;
    }

    TENFOLD_INLINE bool add_series(size_t node) {
        const double *middle = rows_.middle(node), r = rows_.radius[node];
        double least = 0, most = 0;
        for (size_t j = 0; j < p(); ++j) {
            const double between = std::abs(middle[j] - middle_[j]), near = std::max(between - half_[j], 0.0), far = between + half_[j];
            least += near * near, most += far * far;
        }
        const double z = std::sqrt(most) * r, aside = std::max(std::sqrt(least) - r, 0.0);
        if (z > static_cast<double>(rows_.order)) return false;
        double rest = std::exp(-0.5 * aside * aside);
        size_t P = 0;
        while (rest > known_[0].rate) {
            if (++P > rows_.order) return false;
            rest *= z * INVERSE[P];
        }
        if (P == 0) return true;
        const double* terms = rows_.terms + static_cast<size_t>(rows_.slot[node]) * rows_.width;
        add_vectors(node, [&]<size_t N>(const V* u, V* found) __attribute__((always_inline)) {
            series_at<D, N>(terms, rows_.order, P, u, found);
            for (size_t v = 0; v < N; ++v) {
                V s{};
                for (size_t j = 0; j < D; ++j) s += u[j * N + v] * u[j * N + v];
                found[v] *= exp_negative(-0.5 * s);
            }
        });
        return true;
    }

    // sums += f of the points about the middle of a node, two vectors at a time.
    template <class F>
    TENFOLD_INLINE void add_vectors(size_t node, F&& f) {
        const double* middle = rows_.middle(node);
        constexpr size_t N = 2;
        V* u = reinterpret_cast<V*>(away_.data());
        for (size_t v = 0; v * L < count_; v += N) {
            for (size_t j = 0; j < p(); ++j)
                for (size_t k = 0; k < N; ++k) u[j * N + k] = load(points_.data() + j * GROUP + (v + k) * L) - middle[j];
            V found[N];
            f.template operator()<N>(u, found);
            for (size_t k = 0; k < N; ++k) sums_[v + k] += found[k];
        }
    }

    // --- the last step ---

    // The logarithm of a sum; where it cannot be had from it, the sum is taken again for this point alone.
    double finished(std::int64_t point, double sum) {
        const bool leaves = asked_.own != nullptr;
        const auto i = static_cast<size_t>(point);
        const double taken = leaves ? asked_.taken[i] : 0.0, rest = sum - taken;  // K(0) = 1
        const bool lost = leaves && rest < 0.5 * sum;
        if (!lost && !(Kernel::decays && rest < UNSAFE)) return std::log(rest);
        set_alone(asked_.points[i], leaves ? asked_.own[i] : -1, taken);
        double found = lost ? taken_alone() : 0.0;
        if (!Kernel::decays || found >= UNSAFE) return std::log(found);
        if constexpr (Kernel::decays) {
            const double square = nearest();
            if (!(square < INFINITY)) return -INFINITY;
            kernel_.near = std::is_same_v<Kernel, GaussianKernel> ? square : std::sqrt(square);
            found = taken_alone();
            const double lost_log = kernel_.lost();
            kernel_.near = 0;
            return std::log(found) - lost_log;
        }
        return std::log(found);
    }

    double taken_alone() {
        begin_sums();
        over_rows();
        return sum_at(0);
    }

    // Squared distance of the nearest row that has weight.
    double nearest() {
        double best = INFINITY;
        const auto look_at = [&](size_t leaf) {
            alignas(64) double left[LEAF];
            const double *values = rows_.tree.values + leaf * p() * LEAF, *weight = without_own(leaf, left);
            for (size_t i = 0; i < LEAF; i += L) {
                const V s = squares_of(values + i, 0);
                for (size_t l = 0; l < L; ++l)
                    if (weight[i + l] > 0) best = std::min(best, s[l]);
            }
        };
        if (rows_.flat) {
            for (size_t leaf = 0; leaf <= rows_.tree.inner; ++leaf) look_at(leaf);
            return best;
        }
        size_t stack[2 * 64], top = 0;
        stack[top++] = 0;
        while (top > 0) {
            const size_t node = stack[--top];
            if (gap(node) >= best) continue;
            if (node >= rows_.tree.inner) {
                look_at(node - rows_.tree.inner);
                continue;
            }
            const bool turned = gap(2 * node + 2) < gap(2 * node + 1);
            stack[top++] = 2 * node + (turned ? 1 : 2);
            stack[top++] = 2 * node + (turned ? 2 : 1);
        }
        return best;
    }
};

inline void sum_points(const SumsView& rows, const Asked& asked, size_t begin, size_t end, Tolerance tolerance, double* logs) {
    const auto run = [&]<class Kernel, size_t D>(Kernel, std::integral_constant<size_t, D>) {
        Summer<Kernel, D>(rows, asked, tolerance).run(begin, end, logs);
    };
    constexpr std::integral_constant<size_t, 0> any{};
    if (rows.shape != Shape::gaussian || rows.tree.p > 6) with_kernel(rows.shape, [&](auto kernel) { run(kernel, any); });
    else with_columns(rows.tree.p, [&](auto columns) { run(GaussianKernel{}, columns); });
}

}  // namespace tenfold::TENFOLD_LEVEL
