// Absolute error about the medians of several targets at once (ranked_targets.hpp): the ranks of each target are followed on their own.
#pragma once

#include "kernels/forest/ranked_targets.hpp"
#include "kernels/forest/several_targets.hpp"

namespace tenfold {

struct SeveralMedians {
    using Cell = RowCell;
    static constexpr bool counted = false, ranked = true, bounded = false, several = true;
    const TargetColumns& by;
    double spread = 0, slack = 0;  // of the node: the mean over the targets, as whole weight times number; what rounding may add

    explicit SeveralMedians(const TargetColumns& by) : by(by), each(by.q), order(by.q) {}

    // The rows of a node, cell(i) for i < m; their medians into `value`.
    template <class CellOf>
    void enter(size_t m, CellOf cell, double* value) {
        spread = slack = 0;
        for (size_t k = 0; k < by.q; ++k) {
            const auto target = [&](size_t i) { return by.y[cell(i).row * by.q + k]; };
            auto& places = order[k];
            places.resize(m);
            for (size_t i = 0; i < m; ++i) places[i] = static_cast<std::uint32_t>(i);
            std::sort(places.begin(), places.end(), [&](auto a, auto b) { return target(a) < target(b); });
            const auto pair = [&](size_t rank) {
                const RowCell& one = cell(places[rank]);
                return Pair{by.s[one.row * by.q + k] * static_cast<std::int64_t>(one.times), one.w};
            };
            each[k].enter(m, pair);
            const auto& whole = each[k].whole;
            const size_t at = whole.middle - 1;
            const bool halves = 2 * (whole.w_below + pair(at).w) == whole.W;  // as much above as up to here
            value[k] = halves ? target(places[at]) / 2 + target(places[at + 1]) / 2 : target(places[at]);
            spread += each[k].spread * by.unit[k] / static_cast<double>(by.q);
            slack += each[k].slack * by.unit[k] / static_cast<double>(by.q);
        }
    }

    void begin(Totals) {}
    static Totals open(const RowCell& cell) { return {0, cell.w}; }
    void make_room(size_t bins) {
        for (auto& one : each) one.make_room(bins);
    }
    void add(size_t bin, const RowCell&) { bin_of.push_back(static_cast<std::uint32_t>(bin)); }
    void clear(size_t bin) {
        for (auto& one : each) one.clear(bin);
        bin_of.clear();
        ranked_rows = false;
    }
    template <class Bin>
    void sweep(std::span<const Bin> bins) {
        rank_rows();
        for (auto& one : each) one.sweep(bins);
    }

    struct Scan {
        const SeveralMedians& of;
        size_t stop = 0;
        void move(size_t) { ++stop; }
        double score() const {
            double sum = 0;
            for (size_t k = 0; k < of.by.q; ++k) sum += of.by.unit[k] * RankedTargets::Scan{of.each[k], stop}.score();
            return sum / static_cast<double>(of.by.q);
        }
        Totals totals() const { return RankedTargets::Scan{of.each[0], stop}.totals(); }
    };
    double order_key(size_t bin) {
        rank_rows();
        return each[0].order_key(bin);
    }
    double gain(double value) const { return std::max(0.0, value); }

private:
    // Tells every target the bins of the rows, in its own order.
    void rank_rows() {
        if (ranked_rows) return;
        for (size_t k = 0; k < by.q; ++k)
            for (const auto place : order[k]) each[k].add(bin_of[place], {});
        ranked_rows = true;
    }

    std::vector<RankedTargets> each;
    std::vector<std::vector<std::uint32_t>> order;  // by target: places of the rows of the node, by rank
    std::vector<std::uint32_t> bin_of;              // of the rows of the node, of the column looked at
    bool ranked_rows = false;
};

}  // namespace tenfold
