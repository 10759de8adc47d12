// The search for the best split of one node of a forest's tree (binned_table.hpp).
#pragma once

#include "kernels/forest/wide_columns.hpp"

namespace tenfold {

// Draws columns, sums the targets of a node by their bins, and looks at the splits between bins.
template <class Targets>
class SplitSearch : protected WideSearch<Targets> {
protected:
    using Wide = WideSearch<Targets>;
    using typename Wide::Cell, typename Wide::Here;
    using Wide::table, Wide::by, Wide::targets, Wide::classes, Wide::rows_of;

    SplitSearch(const Binned& table, const ForestSettings& by, Targets targets, size_t classes)
        : Wide(table, by, std::move(targets), classes) {
        lives.emplace_back(table.p);
        for (size_t j = 0; j < table.p; ++j) lives[0][j] = static_cast<std::uint32_t>(j);
    }

    // The best split over columns drawn until enough of them vary; those that do not are not looked at below.
    BestSplit best(const Here& frame, Part& part) {
        BestSplit split;
        if constexpr (!Targets::counted)
            if (classes == 0 && all_equal(frame, part)) return split;
        if (part.m == 2) return part_two(frame, part);
        cells.resize(part.m);
        for (size_t i = 0; i < part.m; ++i) cells[i] = frame.cells[rows_of(frame, part)[i]];
        const bool few = std::is_same_v<Targets, PackedTargets> && part.m <= SMALL_NODE_ROWS && by.min_leaf == 1 &&
                         !by.random && by.min_weight_leaf <= 0;
        columns = lives[part.live];
        Draws draws{part.key};
        const auto most = static_cast<size_t>(by.max_features);
        size_t varying = 0, looked = 0;
        for (; looked < columns.size() && varying < most; ++looked) {
            std::swap(columns[looked], columns[looked + draws.below(columns.size() - looked)]);
            const size_t j = columns[looked];
            if (table.wide[j]) {
                const bool drawn = by.random && !table.missing[j];
                const bool varies = drawn ? look_at_drawn(frame.wide_column(table.place[j]), frame, part, j, split)
                                          : look_at_wide(frame, part, j, split);
                if (varies) std::swap(columns[varying++], columns[looked]);
                continue;
            }
            if (few && by_few(j)) {
                if (look_at_few(frame, part, j, split)) std::swap(columns[varying++], columns[looked]);
                continue;
            }
            if (by.random && !table.categorical[j] && !table.missing[j]) {
                if (look_at_drawn(frame.column(table.place[j]), frame, part, j, split)) std::swap(columns[varying++], columns[looked]);
                continue;
            }
            const Mask mask = fill(frame, part, j);
            if (count_bins(mask) > 1) {
                consider(frame, part, j, mask, split);
                std::swap(columns[varying++], columns[looked]);
            }
            for_each_bin(mask, [&](size_t bin) { targets.clear(bin); });
        }
        if (few && split.found && by_few(split.column)) split.bin = middle_of_few(frame, part, split);
        if (varying < looked) {  // some columns are constant: the children need not know them
            std::vector<std::uint32_t> still(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(varying));
            still.insert(still.end(), columns.begin() + static_cast<std::ptrdiff_t>(looked), columns.end());
            std::sort(still.begin(), still.end());
            part.live = lives.size();
            lives.push_back(std::move(still));
        }
        return split;
    }

    std::vector<std::vector<std::uint32_t>> lives;  // columns that may still vary, by `live` of a part

private:
    using Wide::cells, Wide::offer, Wide::drawn_bin, Wide::middle_bin, Wide::look_at_wide;

    // Sums a column by bin; returns the bins that occur.
    Mask fill(const Here& frame, const Part& part, size_t j) {
        const std::uint8_t* column = frame.column(table.place[j]);
        const std::uint32_t* rows = rows_of(frame, part);
        seen.fill(0);
        for (size_t i = 0; i < part.m; ++i) {
            const size_t bin = column[rows[i]];
            targets.add(bin, cells[i]);
            seen[bin] = 0xFF;
        }
        return as_mask(seen);
    }

    bool by_few(size_t j) const { return !table.wide[j] && !table.categorical[j] && !table.missing[j]; }

    size_t middle_of_few(const Here& frame, const Part& part, const BestSplit& split) const {
        const std::uint8_t* column = frame.column(table.place[split.column]);
        size_t next = 256;
        for (size_t i = 0; i < part.m; ++i) {
            const size_t bin = column[rows_of(frame, part)[i]];
            next = bin > split.bin && bin < next ? bin : next;
        }
        return middle_bin(split.column, split.bin, next);
    }

    // A small node whose column has no categories and nothing missing; returns whether the column varies.
    bool look_at_few(const Here& frame, const Part& part, size_t j, BestSplit& split) {
        if constexpr (std::is_same_v<Targets, PackedTargets>) {
            const SmallNodeSplit found = by.kernels->small_node_split(frame.column(table.place[j]), rows_of(frame, part), cells.data(),
                                                          part.m, targets.shift, targets.mean, targets.weight);
            if (found.bin > 255) return false;
            if (split.above(found.score)) {
                split.take(found.score, 0.0, j, targets.open(found.sums), false, false);
                split.bin = found.bin;
            }
            return true;
        }
        return false;
    }

    // One threshold, drawn, of a column without categories and nothing missing: sums of its two sides are all that is
    // needed, not those of every bin. Returns whether the column varies.
    template <class Code>
    bool look_at_drawn(const Code* column, const Here& frame, const Part& part, size_t j, BestSplit& split) {
        const std::uint32_t* rows = rows_of(frame, part);
        Code front = column[rows[0]], back = front;
        for (size_t i = 1; i < part.m; ++i) {
            const Code bin = column[rows[i]];
            front = std::min(front, bin);
            back = std::max(back, bin);
        }
        if (front == back) return false;
        Draws draws{mix(part.key ^ (0x51ED2701u + j))};
        const auto drawn = static_cast<Code>(drawn_bin(j, front, back, draws));
        size_t n_right = 0;
        for (size_t i = 0; i < part.m; ++i) {
            const Code bin = column[rows[i]];
            const size_t side = bin > drawn;
            targets.add(side, cells[i]);
            n_right += side;
        }
        if constexpr (Targets::ranked) {
            constexpr std::uint8_t SIDES[] = {0, 1};
            targets.sweep(std::span<const std::uint8_t>(SIDES));
        }
        typename Targets::Scan scan{targets};
        scan.move(0);
        const auto least = static_cast<size_t>(by.min_leaf);
        const double score = scan.score();
        if (n_right >= least && part.m - n_right >= least && split.above(score) &&
            offer(part, j, scan, score, false, false, split)) {
            split.bin = drawn;
            split.left = {};
        }
        targets.clear(0);
        targets.clear(1);
        return true;
    }

    // Of two rows every column that tells them apart is as good as any other: the first one is taken.
    BestSplit part_two(const Here& frame, const Part& part) {
        const std::uint32_t* rows = rows_of(frame, part);
        BestSplit split;
        columns = lives[part.live];
        Draws draws{part.key};
        for (size_t i = 0; i < columns.size() && !split.found; ++i) {
            std::swap(columns[i], columns[i + draws.below(columns.size() - i)]);
            const size_t j = columns[i];
            if (table.wide[j]) {
                cells.assign({frame.cells[rows[0]], frame.cells[rows[1]]});
                look_at_wide(frame, part, j, split);
                continue;
            }
            const std::uint8_t* column = frame.column(table.place[j]);
            const std::uint8_t a = column[rows[0]], b = column[rows[1]];
            if (a == b) continue;
            Mask mask{};
            put(mask, a);
            put(mask, b);
            targets.add(a, frame.cells[rows[0]]);
            targets.add(b, frame.cells[rows[1]]);
            consider(frame, part, j, mask, split);
            targets.clear(a);
            targets.clear(b);
        }
        return split;
    }

    bool all_equal(const Here& frame, const Part& part) const {
        const std::uint32_t* rows = rows_of(frame, part);
        const Totals first = targets.open(frame.cells[rows[0]]);
        for (size_t i = 1; i < part.m; ++i) {
            const Totals pair = targets.open(frame.cells[rows[i]]);
            // s / w is equal: the targets are
            if (static_cast<__int128>(pair.s) * first.w != static_cast<__int128>(first.s) * pair.w) return false;
        }
        return true;
    }

    void consider(const Here& frame, const Part& part, size_t j, const Mask& mask, BestSplit& split) {
        const auto blank = static_cast<size_t>(table.n_bins[j]);
        const bool missing = holds(mask, blank), category = table.categorical[j];
        const bool plain = !missing && !category && !by.random && by.min_leaf == 1;
        if (plain && !Targets::ranked) return scan_numbers(part, j, mask, split);
        order.clear();
        for_each_bin(mask, [&](size_t bin) {
            if (bin != blank) order.push_back(static_cast<std::uint8_t>(bin));
        });
        if (order.empty()) return;
        if (category) {
            std::array<double, 256> key;
            for (const auto bin : order) key[bin] = targets.order_key(bin);
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return key[a] < key[b]; });
        }
        if (by.min_leaf > 1) count_rows(frame, part, j);
        if (by.random) return look_at_one(part, j, category, missing, split);
        try_stops(part, j, 1, order.size() - !missing, false, missing, split);
        if (missing) try_stops(part, j, 1, order.size() - 1, true, missing, split);
    }

    // The common case: numbers, none missing, leaves of any size.
    void scan_numbers(const Part& part, size_t j, const Mask& mask, BestSplit& split) const {
        typename Targets::Scan scan{targets};
        size_t left = count_bins(mask) - 1, last = 256;
        for (size_t word = 0; left && word < 4; ++word)
            for (std::uint64_t bits = mask[word]; bits && left; bits &= bits - 1, --left) {
                const size_t bin = 64 * word + static_cast<size_t>(std::countr_zero(bits));
                scan.move(bin);
                const double score = scan.score();
                if (split.above(score) && offer(part, j, scan, score, false, false, split)) last = bin;
            }
        if (last > 255) return;
        size_t next = last + 1;
        while (!holds(mask, next)) ++next;
        split.bin = middle_bin(j, last, next);
    }

    // One split, drawn: by value for numbers, by rank for categories; what is missing goes to either side.
    void look_at_one(const Part& part, size_t j, bool category, bool missing, BestSplit& split) {
        Draws draws{mix(part.key ^ (0x51ED2701u + j))};
        size_t stop = 1, bin = order.back();
        if (category && order.size() > 1) {
            stop = 1 + draws.below(order.size() - 1);
        } else if (order.size() > 1) {
            bin = drawn_bin(j, order.front(), order.back(), draws);
            stop = static_cast<size_t>(std::upper_bound(order.begin(), order.end(), bin) - order.begin());
        }
        if (stop >= order.size() + missing) return;
        const bool blanks_left = missing && order.size() > 1 && draws.next() >> 63;
        if (try_stops(part, j, stop, stop, blanks_left, missing, split) && !category) split.bin = bin;
    }

    // Takes bins to the left in `order`, and looks at each stop from `first` to `last`; returns whether one was taken.
    bool try_stops(const Part& part, size_t j, size_t first, size_t last, bool blanks_left, bool missing, BestSplit& split) {
        const auto blank = static_cast<size_t>(table.n_bins[j]);
        if constexpr (Targets::ranked) {
            going = order;
            if (missing) going.insert(blanks_left ? going.begin() : going.end(), static_cast<std::uint8_t>(blank));
            targets.sweep(std::span<const std::uint8_t>(going));
        }
        typename Targets::Scan scan{targets};
        size_t n_left = 0;
        const bool count = by.min_leaf > 1;
        if (blanks_left) {
            scan.move(blank);
            if (count) n_left += row_counts[blank];
        }
        size_t stop = 0;
        for (size_t k = 1; k <= last; ++k) {
            scan.move(order[k - 1]);
            if (count) n_left += row_counts[order[k - 1]];
            if (k < first) continue;
            if (count && (n_left < static_cast<size_t>(by.min_leaf) || part.m - n_left < static_cast<size_t>(by.min_leaf)))
                continue;
            const double score = scan.score();
            if (split.above(score) && offer(part, j, scan, score, blanks_left, missing, split)) stop = k;
        }
        if (!stop) return false;
        split.bin = order[stop - 1];
        split.left = {};
        if (table.categorical[j])
            for (size_t k = 0; k < stop; ++k) put(split.left, order[k]);
        else if (stop < order.size()) split.bin = middle_bin(j, split.bin, order[stop]);
        return true;
    }

    void count_rows(const Here& frame, const Part& part, size_t j) {
        row_counts.fill(0);
        const std::uint8_t* column = frame.column(table.place[j]);
        for (size_t i = 0; i < part.m; ++i) ++row_counts[column[rows_of(frame, part)[i]]];
    }

    std::vector<std::uint32_t> columns;
    std::vector<std::uint8_t> order, going;  // bins that occur, in the order in which they go left; blanks among them
    std::array<std::uint32_t, 256> row_counts{};
    std::array<std::uint8_t, 256> seen{};
};

}  // namespace tenfold
