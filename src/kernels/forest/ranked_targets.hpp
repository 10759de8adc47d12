// Absolute error about medians, for trees of a forest (binned_table.hpp).
//
// The rows of a node come in rising order of their targets, so that the place of a row is its rank. The median of a side
// is followed through a list of ranks that rows leave: bins from the first on leave the right side behind, bins from the
// last on the left side. The median moves once for each bin, over about as much as the bin takes away: a row costs the
// same in large and small nodes.
#pragma once

#include "kernels/forest/binned_table.hpp"

namespace tenfold {

struct RankedTargets {
    using Cell = Pair;
    static constexpr bool counted = false, ranked = true, bounded = true, several = false;

    // A row of the node, of the ranks 1, ..., m; before and after them is nothing, of weight 0.
    struct Ranked {
        std::int64_t s, w;  // weight times target less `base`; weight
        std::uint32_t before, after;
    };

    // Some rows of the node, and their lower median.
    struct Side {
        std::int64_t S = 0, W = 0, s_below = 0, w_below = 0;
        std::uint32_t middle = 1;

        void move(const std::vector<Ranked>& list) {
            for (; 2 * (w_below + list[middle].w) < W; middle = list[middle].after)
                w_below += list[middle].w, s_below += list[middle].s;
            while (2 * w_below >= W) {
                middle = list[middle].before;
                w_below -= list[middle].w, s_below -= list[middle].s;
            }
        }
        double value(const std::vector<Ranked>& list) const {
            return static_cast<double>(list[middle].s) / static_cast<double>(list[middle].w);
        }
        // Σ w |y − median|.
        double spread(const std::vector<Ranked>& list) const {
            return static_cast<double>(S - 2 * s_below) + value(list) * static_cast<double>(2 * w_below - W);
        }
    };

    // The rows of a node, in rising order of their targets: cell(i) for i < m.
    template <class CellOf>
    void enter(size_t m, CellOf cell) {
        all.resize(m + 2);
        if (same_bin.size() < m) same_bin.resize(m);
        whole = {};
        for (size_t i = 0; i < m; ++i) whole.W += cell(i).w;
        size_t at = 0;
        for (std::int64_t below = 0; 2 * (below + cell(at).w) < whole.W; ++at) below += cell(at).w;
        base = cell(at).s / cell(at).w;  // near the median numbers are small, and products of them exact
        all[0] = all[m + 1] = {0, 0, 0, 0};
        for (size_t i = 0; i < m; ++i) {
            const Pair one = cell(i);
            const auto rank = static_cast<std::uint32_t>(i + 1);
            all[rank] = {one.s - base * one.w, one.w, rank - 1, rank + 1};
            whole.S += all[rank].s;
        }
        whole.move(all);
        spread = whole.spread(all);
        const auto reach = [](const Ranked& row) {
            return std::abs(static_cast<double>(row.s) / static_cast<double>(row.w));
        };
        slack = 1e-12 * spread + 1e-15 * std::max(reach(all[1]), reach(all[m])) * static_cast<double>(whole.W);
    }

    void begin(Totals) {}
    void make_room(size_t bins) { last_of.resize(std::max(last_of.size(), bins)); }
    void add(size_t bin, const Pair&) {  // in the order of their ranks
        same_bin[added] = last_of[bin];
        last_of[bin] = ++added;
    }
    void clear(size_t bin) {
        last_of[bin] = 0;
        added = 0;
    }

    // Both sides of each place between two bins, when they go left in this order. All bins that occur are in it.
    template <class Bin>
    void sweep(std::span<const Bin> order) {
        left.resize(order.size());
        right.resize(order.size());
        for (const bool forward : {true, false}) {
            list = all;
            Side side = whole;
            for (size_t k = 1; k < order.size(); ++k) {
                const size_t stop = forward ? k : order.size() - k;  // how many bins have gone left
                take_out(order[forward ? stop - 1 : stop], side);
                side.move(list);
                const double value = side.value(list) + static_cast<double>(base);
                (forward ? right : left)[stop] = {side.spread(list), value, side.W};
            }
        }
    }

    struct Scan {
        const RankedTargets& by;
        size_t stop = 0;
        void move(size_t) { ++stop; }
        double score() const { return by.spread - by.left[stop].spread - by.right[stop].spread; }
        Totals totals() const { return {0, by.left[stop].weight}; }
        double left_value() const { return by.left[stop].value; }
        double right_value() const { return by.right[stop].value; }
    };

    // The lower median of a bin.
    double order_key(size_t bin) const {
        std::int64_t weight = 0, above = 0;
        for (auto rank = last_of[bin]; rank; rank = same_bin[rank - 1]) weight += all[rank].w;
        std::uint32_t found = 0;
        for (auto rank = last_of[bin]; rank && 2 * above <= weight; rank = same_bin[rank - 1]) {
            found = rank;
            above += all[rank].w;
        }
        return static_cast<double>(all[found].s) / static_cast<double>(all[found].w);
    }
    double gain(double value) const { return std::max(0.0, value); }
    double scale(double unit) const { return unit; }

    static Totals open(const Pair& cell) { return {cell.s, cell.w}; }

    Side whole;
    std::vector<Ranked> all;
    double spread = 0, slack = 0;  // of the node; what rounding may add to a score

private:
    struct Told {
        double spread, value;
        std::int64_t weight;
    };

    void take_out(size_t bin, Side& side) {
        for (auto rank = last_of[bin]; rank; rank = same_bin[rank - 1]) {
            const Ranked row = list[rank];
            list[row.before].after = row.after;
            list[row.after].before = row.before;
            side.S -= row.s, side.W -= row.w;
            const bool below = rank < side.middle;
            side.s_below -= below ? row.s : 0;
            side.w_below -= below ? row.w : 0;
            if (rank == side.middle) side.middle = row.after;
        }
    }

    std::vector<Ranked> list;
    std::uint32_t added = 0;                   // rows of the column that is looked at
    std::vector<std::uint32_t> same_bin;       // by row of it: the row of the same bin that came before it, or 0
    std::vector<std::uint32_t> last_of = std::vector<std::uint32_t>(256);  // by bin: the row that came last, or 0
    std::vector<Told> left, right;             // by the number of bins that have gone left
    std::int64_t base = 0;                     // about the median of the node
};

}  // namespace tenfold
