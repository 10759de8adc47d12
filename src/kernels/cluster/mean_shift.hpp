// Mean shift: points move to the weighted mean of the rows around them until they rest.
#pragma once

#include "kernels/cluster/density_kernels.hpp"
#include "kernels/cluster/guided_search.hpp"
#include "kernels/common/explog.hpp"

namespace tenfold::TENFOLD_LEVEL {

// The weight and the weighted sum of the rows around a point. By the flat kernel, nodes that are wholly within the radius are added
// as they are.
template <bool GAUSSIAN>
class Around {
public:
    Around(const TreeView& tree, const NodeSums& nodes, const Kernel& kernel, double* sum)
        : tree_(tree), nodes_(nodes), kernel_(kernel), sum_(sum) {}

    TENFOLD_INLINE double add_up(const double* point) {
        point_ = point, weight_ = 0;
        for (size_t j = 0; j < tree_.p; ++j) sum_[j] = 0;
        visit(0);
        return weight_;
    }

private:
    void visit(size_t at) {
        const double *low = nodes_.box + at * 2 * tree_.p, *high = low + tree_.p;
        double least = 0, most = 0;
        for (size_t j = 0; j < tree_.p; ++j) {
            const double below = point_[j] - low[j], above = high[j] - point_[j];
            const double near = larger_of(larger_of(-below, -above), 0.0), far = larger_of(below, above);
            least += near * near, most += far * far;
        }
        if (least * CAREFUL > kernel_.radius2) return;
        if constexpr (!GAUSSIAN) {
            if (most <= kernel_.radius2 * CAREFUL) {
                const double* sums = nodes_.sums + at * (tree_.p + 1);
                for (size_t j = 0; j < tree_.p; ++j) sum_[j] += sums[j];
                weight_ += sums[tree_.p];
                return;
            }
        }
        if (at >= tree_.inner) return leaf(at - tree_.inner);
        visit(2 * at + 1);
        visit(2 * at + 2);
    }

    void leaf(size_t number) {
        constexpr size_t VECTORS = LEAF / L;
        V away[VECTORS] = {};
        const double* columns = tree_.values + number * tree_.p * LEAF;
        for (size_t j = 0; j < tree_.p; ++j) {
            const V x = splat(point_[j]);
            for (size_t v = 0; v < VECTORS; ++v) {
                const V apart = x - load(columns + j * LEAF + v * L);
                away[v] += apart * apart;
            }
        }
        const size_t start = tree_.start[number], count = tree_.start[number + 1] - start;
        double distance[LEAF], share[LEAF] = {};
        std::memcpy(distance, away, sizeof away);
        for (size_t i = 0; i < count; ++i) share[i] = distance[i] <= kernel_.radius2 ? nodes_.weight[start + i] : 0.0;
        V shares[VECTORS];
        std::memcpy(shares, share, sizeof share);
        if constexpr (GAUSSIAN)
            for (size_t v = 0; v < VECTORS; ++v) shares[v] *= exp_negative(away[v] * splat(-kernel_.scale));
        V all{};
        for (size_t v = 0; v < VECTORS; ++v) all += shares[v];
        weight_ += sum_lanes(all);
        for (size_t j = 0; j < tree_.p; ++j) {
            V sum{};
            for (size_t v = 0; v < VECTORS; ++v) sum += shares[v] * load(columns + j * LEAF + v * L);
            sum_[j] += sum_lanes(sum);
        }
    }

    const TreeView& tree_;
    const NodeSums& nodes_;
    const Kernel& kernel_;
    double* sum_;
    const double* point_ = nullptr;
    double weight_ = 0;
};

template <bool GAUSSIAN>
inline void move_points(const TreeView& tree, const NodeSums& nodes, const Kernel& kernel, size_t begin, size_t end, double* points,
                        double* weight, std::int64_t* steps) {
    Scratch<double> sum(tree.p);
    Around<GAUSSIAN> around(tree, nodes, kernel, sum.data());
    for (size_t i = begin; i < end && !stopped(); ++i) {
        double* point = points + i * tree.p;
        for (std::int64_t step = 0;; ++step) {
            const double found = around.add_up(point);
            weight[i] = found, steps[i] = step;
            if (!(found > 0)) break;
            double moved = 0;
            for (size_t j = 0; j < tree.p; ++j) {
                const double mean = sum[j] / found;
                moved += (mean - point[j]) * (mean - point[j]);
                point[j] = mean;
            }
            if (std::sqrt(moved) <= kernel.rest || step == kernel.most_steps) break;
        }
    }
}

inline void shift(const TreeView& tree, const NodeSums& nodes, const Kernel& kernel, size_t begin, size_t end, double* points,
                  double* weight, std::int64_t* steps) {
    if (kernel.gaussian) move_points<true>(tree, nodes, kernel, begin, end, points, weight, steps);
    else move_points<false>(tree, nodes, kernel, begin, end, points, weight, steps);
}

}  // namespace tenfold::TENFOLD_LEVEL
