// Splits on columns with more bins than a byte can tell (binned_table.hpp).
#pragma once

#include "kernels/forest/split_offer.hpp"

namespace tenfold {

// Sorts the rows of a node by their codes, and takes them to the left bin by bin: most of the bins may be empty.
template <class Targets>
class WideSearch : protected SplitOffers<Targets> {
protected:
    using Offers = SplitOffers<Targets>;
    using typename Offers::Cell, typename Offers::Here;
    using Offers::table, Offers::by, Offers::targets, Offers::cells, Offers::rows_of, Offers::offer;
    using Offers::drawn_bin, Offers::middle_bin;
    using Offers::Offers;

    // The best split of a column; returns whether the column varies.
    bool look_at_wide(const Here& frame, const Part& part, size_t j, BestSplit& split) {
        sort_rows(frame.wide_column(table.place[j]), rows_of(frame, part), part.m);
        if (groups < 2) return false;
        const bool missing = static_cast<std::int64_t>(code_of(groups - 1)) == table.n_bins[j];
        const size_t present = groups - missing;
        if (!by.random) {
            try_groups(part, j, 1, groups - 1, false, missing, split);
            if (missing) try_groups(part, j, 1, present - 1, true, missing, split);
            return true;
        }
        Draws draws{mix(part.key ^ (0x51ED2701u + j))};
        size_t stop = 1, bin = code_of(0);
        if (present > 1)
            for (bin = drawn_bin(j, bin, code_of(present - 1), draws); code_of(stop) <= bin;) ++stop;
        const bool blanks_left = missing && present > 1 && draws.next() >> 63;
        if (try_groups(part, j, stop, stop, blanks_left, missing, split)) split.bin = bin;
        return true;
    }

private:
    // Items are a code above, a place among the rows of the node below; a group is the rows of one bin.
    void sort_rows(const std::uint16_t* column, const std::uint32_t* rows, size_t m) {
        items.resize(m);
        for (size_t i = 0; i < m; ++i) items[i] = std::uint64_t{column[rows[i]]} << 32 | i;
        if (m < 256) {
            std::sort(items.begin(), items.end());
        } else {
            spare.resize(m);
            radix_sort(items, spare);
        }
        if (starts.size() <= m) starts.resize(m + 1);
        const std::uint64_t* item = items.data();
        std::uint32_t* end = starts.data();
        *end = 0;
        for (size_t i = 1; i < m; ++i) {  // without a branch, which would often be mispredicted
            end[1] = static_cast<std::uint32_t>(i);
            end += item[i - 1] >> 32 != item[i] >> 32;
        }
        *++end = static_cast<std::uint32_t>(m);
        groups = static_cast<size_t>(end - starts.data());
    }
    size_t code_of(size_t group) const { return items[starts[group]] >> 32; }
    size_t size_of(size_t group) const { return starts[group + 1] - starts[group]; }
    size_t row_of_item(size_t at) const { return static_cast<std::uint32_t>(items[at]); }

    // Takes groups to the left, blanks first or last, and looks at each stop from `first` to `last`; returns whether one was
    // taken.
    bool try_groups(const Part& part, size_t j, size_t first, size_t last, bool blanks_left, bool missing,
                    BestSplit& split) {
        const size_t least = static_cast<size_t>(by.min_leaf);
        if constexpr (Targets::ranked) rank_groups(blanks_left);
        typename Targets::Scan scan{targets};
        size_t n_left = 0, stop = 0;
        if (blanks_left) n_left += move_group(scan, groups - 1);
        for (size_t k = 1; k <= last; ++k) {
            n_left += move_group(scan, k - 1);
            if (k < first || n_left < least || part.m - n_left < least) continue;
            const double score = scan.score();
            if (split.above(score) && offer(part, j, scan, score, blanks_left, missing, split)) stop = k;
        }
        if constexpr (Targets::ranked)
            for (size_t k = 0; k < groups; ++k) targets.clear(k);
        if (!stop) return false;
        split.bin = code_of(stop - 1);
        if (stop < groups - missing) split.bin = middle_bin(j, split.bin, code_of(stop));
        split.left = {};
        return true;
    }

    // One bin of the targets serves for all groups, one after the other.
    size_t move_group(typename Targets::Scan& scan, size_t group) {
        if constexpr (!Targets::ranked) {
            for (size_t i = starts[group]; i < starts[group + 1]; ++i) targets.add(0, cells[row_of_item(i)]);
        }
        scan.move(0);
        if constexpr (!Targets::ranked) targets.clear(0);
        return size_of(group);
    }

    // Medians ask for the rows of all groups beforehand.
    void rank_groups(bool blanks_left) {
        group_of.resize(items.size());
        for (size_t k = 0; k < groups; ++k)
            for (size_t i = starts[k]; i < starts[k + 1]; ++i) group_of[row_of_item(i)] = static_cast<std::uint32_t>(k);
        targets.make_room(groups);
        for (size_t i = 0; i < items.size(); ++i) targets.add(group_of[i], cells[i]);
        order.resize(groups);
        for (size_t k = 0; k < groups; ++k)
            order[k] = static_cast<std::uint32_t>(blanks_left ? (k + groups - 1) % groups : k);
        targets.sweep(std::span<const std::uint32_t>(order));
    }

    std::vector<std::uint64_t> items, spare;
    std::vector<std::uint32_t> starts, group_of, order;  // where groups begin; groups by row; groups as they go left
    size_t groups = 0;
};

}  // namespace tenfold
