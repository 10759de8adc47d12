// What every search for a split of a forest's tree shares: the node's rows, and which splits may be taken (binned_table.hpp).
#pragma once

#include "kernels/forest/several_medians.hpp"
#include "kernels/forest/summed_targets.hpp"

namespace tenfold {

template <class Targets>
class SplitOffers {
protected:
    using Cell = typename Targets::Cell;
    using Here = Frame<Cell>;

    SplitOffers(const Binned& table, const ForestSettings& by, Targets targets, size_t classes)
        : table(table), by(by), targets(std::move(targets)), classes(classes) {}

    static const std::uint32_t* rows_of(const Here& frame, const Part& part) {
        return frame.rows[part.depth & 1].data() + part.start;
    }

    // Takes the split unless a side is too light or the columns' directions forbid it.
    bool offer(const Part& part, size_t j, const typename Targets::Scan& scan, double score, bool blanks_left,
               bool blanks_here, BestSplit& split) const {
        if (!heavy_enough(part, scan.totals().w)) return false;
        if constexpr (Targets::bounded) {
            if (!by.monotonic.empty()) {
                const double l = scan.left_value(), r = scan.right_value();
                if (std::min(l, r) < part.low || std::max(l, r) > part.high) return false;
                if ((l - r) * by.monotonic[j] > 0) return false;
                split.middle = l / 2 + r / 2;
            }
        }
        double slack = 0;
        if constexpr (Targets::ranked) slack = targets.slack;
        split.take(score, slack, j, scan.totals(), blanks_left, blanks_here);
        return true;
    }

    // The last bin of the left side, drawn by value between those of the least and the largest value of a column of numbers.
    size_t drawn_bin(size_t j, size_t front, size_t back, Draws& draws) const {
        const double* edges = table.edges_of(j);
        const double low = edges[front], high = edges[back - 1];
        const size_t between = back - front;
        const double step = between > 1 ? (high - low) / static_cast<double>(between - 1) : 0.0;
        const double at = low - step / 2 + draws.unit() * (high - low + step);
        size_t bin = static_cast<size_t>(std::lower_bound(edges + front, edges + back, at) - edges);
        if (bin > front && (bin >= back || at - edges[bin - 1] < edges[bin] - at)) --bin;
        return bin;
    }

    // Of the bins from `last` to the one before `next`, the one that ends in the middle: what lies between two values of a
    // node goes to the nearer one.
    size_t middle_bin(size_t j, size_t last, size_t next) const {
        const double* edges = table.edges_of(j);
        const double middle = edges[last] / 2 + edges[next - 1] / 2;
        const auto bin = static_cast<size_t>(std::lower_bound(edges + last, edges + next - 1, middle) - edges);
        return bin > last && middle - edges[bin - 1] < edges[bin] - middle ? bin - 1 : bin;
    }

    const Binned& table;
    const ForestSettings& by;
    Targets targets;
    size_t classes;
    std::vector<Cell> cells;  // of the node looked at, in the order of its rows

private:
    bool heavy_enough(const Part& part, std::int64_t left) const {
        return by.min_weight_leaf <= 0 || (static_cast<double>(left) >= by.min_weight_leaf &&
                                           static_cast<double>(part.all.w - left) >= by.min_weight_leaf);
    }
};

}  // namespace tenfold
