// The grower of one tree of a forest (binned_table.hpp).
#pragma once

#include "kernels/forest/node_values.hpp"
#include "kernels/forest/split_search.hpp"

namespace tenfold {

constexpr size_t LEVELS = 3, SHRINK = 12;  // copies of rows within copies; a copy is made at 1 / SHRINK of the rows

template <class Targets>
class ForestGrower : private SplitSearch<Targets> {
    using Search = SplitSearch<Targets>;
    using typename Search::Cell, typename Search::Here;
    using Search::table, Search::by, Search::targets, Search::classes, Search::lives, Search::rows_of;

public:
    ForestGrower(const Binned& table, const ForestSettings& by, Targets targets, size_t classes, std::span<const Pair> pairs,
                 const Cell* cells, std::span<const std::uint32_t> drawn, std::span<const std::uint32_t> out)
        : Search(table, by, std::move(targets), classes), pairs(pairs) {
        leaf_of.assign(table.n, -1);
        values.grown.outputs = std::max<size_t>(classes, 1);
        const size_t leaves = by.max_leaves > 0 ? std::min<size_t>(by.max_leaves, drawn.size()) : drawn.size();
        values.reserve(2 * leaves, Targets::counted);
        frames.resize(LEVELS);
        frames[0].codes = table.codes.data();
        frames[0].wide_codes = table.wide_codes.data();
        frames[0].cells = cells;
        frames[0].n = table.n;
        for (auto& rows : frames[0].rows) rows.assign(drawn.begin(), drawn.end());
        for (auto& rows : outside) rows.assign(out.begin(), out.end());
    }

    void grow() {
        Part root;
        root.m = frames[0].rows[0].size();
        root.out_m = outside[0].size();
        root.key = mix(by.seed);
        root.all = sum_of(frames[0], root);
        if (by.max_leaves > 0)
            grow_best_first(root);
        else
            grow_in(0, root);
    }

    void describe(const Sample& sample) { values.describe(sample, targets, classes); }

    NodeValues values;
    std::vector<std::int32_t> leaf_of;  // of the rows that were not drawn

private:
    BestSplit best(const Here& frame, Part& part, std::int32_t node) {
        if constexpr (Targets::several && !Targets::ranked)
            targets.begin({&values.counts[static_cast<size_t>(node) * classes], classes}, part.all.w);
        else if constexpr (!Targets::counted)
            targets.begin(part.all);
        else
            targets.begin({&values.counts[static_cast<size_t>(node) * classes], classes});
        return Search::best(frame, part);
    }

    Totals sum_of(const Here& frame, const Part& part) const {
        Totals all;
        for (size_t i = 0; i < part.m; ++i) {
            const Totals one = targets.open(frame.cells[rows_of(frame, part)[i]]);
            all.s += one.s;
            all.w += one.w;
        }
        return all;
    }

    // A new node for a part; returns whether it may be split.
    bool enter(const Here& frame, const Part& part, std::int32_t& node) {
        node = values.grown.add(part.m);
        values.totals.push_back(part.all);
        if (!by.monotonic.empty()) values.bounds.push_back({part.low, part.high});
        if (part.parent >= 0) {
            Node& parent = values.grown.nodes[static_cast<size_t>(part.parent)];
            (part.left ? parent.left : parent.right) = node;
        }
        if constexpr (Targets::ranked && !Targets::several) look_at_ranks(frame, part);
        bool pure = part.m < 2;
        if constexpr (Targets::several) {
            pure = look_at_several(frame, part, node) || pure;
        } else if constexpr (Targets::counted) {
            auto& counts = values.counts;
            const size_t at = counts.size();
            counts.resize(at + classes);
            for (size_t i = 0; i < part.m; ++i) {
                const Pair& pair = frame.cells[rows_of(frame, part)[i]];
                counts[at + static_cast<size_t>(pair.s)] += pair.w;
            }
            for (size_t k = 0; k < classes; ++k) pure = pure || counts[at + k] == part.all.w;
        } else if (classes == 2) {
            pure = part.all.s == 0 || part.all.s == part.all.w;
        }
        const auto m = static_cast<std::int64_t>(part.m);
        return !pure && m >= by.min_split && m >= 2 * by.min_leaf && part.depth != by.max_depth &&
               static_cast<double>(part.all.w) >= 2 * by.min_weight_leaf;
    }

    // The sums, or the medians, of a node of several targets; returns whether all of its rows have the same.
    bool look_at_several(const Here& frame, const Part& part, std::int32_t node) {
        const std::uint32_t* rows = rows_of(frame, part);
        const auto cell = [&](size_t i) -> const Cell& { return frame.cells[rows[i]]; };
        if constexpr (Targets::ranked) {
            targets.enter(part.m, cell, values.grown.value(node));
            values.curves.push_back(targets.spread);
        } else {
            const size_t at = values.counts.size();
            values.counts.resize(at + classes);
            for (size_t i = 0; i < part.m; ++i) targets.add_to(&values.counts[at], cell(i));
        }
        for (size_t i = 1; i < part.m; ++i)
            if (!targets.by.alike(cell(0).row, cell(i).row)) return false;
        return true;
    }

    // The median of a node and the spread about it.
    void look_at_ranks(const Here& frame, const Part& part) {
        const std::uint32_t* rows = rows_of(frame, part);
        targets.enter(part.m, [&](size_t i) { return frame.cells[rows[i]]; });
        const auto& whole = targets.whole;
        const size_t at = whole.middle - 1;
        const bool halves = 2 * (whole.w_below + frame.cells[rows[at]].w) == whole.W;  // as much above as up to here
        values.middles.push_back({frame.number(rows[at]), frame.number(rows[at + halves])});
        values.curves.push_back(targets.spread);
    }

    // Rows that were not drawn end here; of numbers the sum of w f(y) is kept, from which impurities follow.
    void finish_leaf(const Here& frame, const Part& part, std::int32_t node) {
        if constexpr (Targets::several && !Targets::ranked) {
            values.curves.resize(values.grown.nodes.size());
            for (size_t i = 0; i < part.m; ++i)
                values.curves[static_cast<size_t>(node)] += targets.curve(frame.cells[rows_of(frame, part)[i]]);
        } else if constexpr (!Targets::ranked) {
            values.curves.resize(values.grown.nodes.size());
            if (classes == 0) values.totals[static_cast<size_t>(node)] = {};
            for (size_t i = 0; classes == 0 && i < part.m; ++i) {
                const Pair& pair = pairs[frame.number(rows_of(frame, part)[i])];
                values.totals[static_cast<size_t>(node)].s += pair.s;
                values.totals[static_cast<size_t>(node)].w += pair.w;
                const double s = static_cast<double>(pair.s), w = static_cast<double>(pair.w);
                values.curves[static_cast<size_t>(node)] += targets.curve(s / w) * w;
            }
        }
        for (size_t i = 0; i < part.out_m; ++i) leaf_of[outside[part.depth & 1][part.out_start + i]] = node;
    }

    void grow_in(size_t level, const Part& from) {
        std::vector<Part> stack{from};
        while (!stack.empty() && !stopped()) {
            Part part = stack.back();
            stack.pop_back();
            if (level + 1 < LEVELS && part.m >= 32 && part.m * SHRINK <= frames[level].n) {
                copy_out(level, part);
                grow_in(level + 1, part);
                continue;
            }
            std::int32_t node;
            BestSplit split;
            if (enter(frames[level], part, node)) split = best(frames[level], part, node);
            if (!split.found || !worth(split)) {
                finish_leaf(frames[level], part, node);
                continue;
            }
            const auto [left, right] = divide(frames[level], part, node, split, targets.gain(split.score));
            stack.push_back(right);
            stack.push_back(left);
        }
    }

    bool worth(const BestSplit& split) const {
        return by.min_gain <= 0 || targets.gain(split.score) * (1 + 1e-9) >= by.min_gain;
    }

    // The leaf whose split gains most is split next; children are numbered when they are made.
    void grow_best_first(const Part& root) {
        struct Open {
            double gain;
            std::int32_t node;
            Part part;
            BestSplit split;
            bool operator<(const Open& o) const { return gain != o.gain ? gain < o.gain : node > o.node; }
        };
        std::priority_queue<Open> open;
        const auto consider = [&](Part part) {
            std::int32_t node;
            BestSplit split;
            if (enter(frames[0], part, node)) split = best(frames[0], part, node);
            if (split.found && worth(split))
                open.push({targets.gain(split.score), node, part, split});
            else
                finish_leaf(frames[0], part, node);
        };
        consider(root);
        for (std::int64_t leaves = 1; leaves < by.max_leaves && !open.empty() && !stopped(); ++leaves) {
            const Open next = open.top();
            open.pop();
            const auto [left, right] = divide(frames[0], next.part, next.node, next.split, next.gain);
            consider(left);
            consider(right);
        }
        for (; !open.empty(); open.pop()) finish_leaf(frames[0], open.top().part, open.top().node);
    }

    // The rows of a part, with the columns that still vary, into the frame of the next level.
    void copy_out(size_t level, Part& part) {
        const Here& from = frames[level];
        Here& to = frames[level + 1];
        const std::uint32_t* rows = rows_of(from, part);
        const size_t m = part.m;
        to.n = m;
        const size_t wide = table.wide_codes.size() / table.n, narrow = table.p - wide;
        if (to.own_codes.size() < narrow * m) to.own_codes.resize(narrow * m);
        if (to.own_wide_codes.size() < wide * m) to.own_wide_codes.resize(wide * m);
        to.own_cells.resize(m);
        to.global.resize(m);
        for (size_t i = 0; i < m; ++i) {
            to.own_cells[i] = from.cells[rows[i]];
            to.global[i] = static_cast<std::uint32_t>(from.number(rows[i]));
        }
        if (level == 0 && table.rows) copy_from_rows(part, to);
        else for (const auto j : lives[part.live]) {
            const auto copy_column = [&](const auto* column, auto* copy) {
                for (size_t i = 0; i < m; ++i) copy[i] = column[rows[i]];
            };
            const size_t at = table.place[j];
            if (table.wide[j]) copy_column(from.wide_column(at), &to.own_wide_codes[at * m]);
            else copy_column(from.column(at), &to.own_codes[at * m]);
        }
        to.codes = to.own_codes.data();
        to.wide_codes = to.own_wide_codes.data();
        to.cells = to.own_cells.data();
        for (auto& list : to.rows) list.resize(m);
        auto& list = to.rows[part.depth & 1];
        for (size_t i = 0; i < m; ++i) list[i] = static_cast<std::uint32_t>(i);
        part.start = 0;
    }

    // Rows of the whole table, a few at a time: what is read of them stays in cache while their columns are written.
    void copy_from_rows(const Part& part, Here& to) {
        constexpr size_t TILE = 64;
        std::array<const std::uint8_t*, TILE> row;
        const std::uint32_t* rows = rows_of(frames[0], part);
        for (size_t start = 0; start < part.m; start += TILE) {
            const size_t count = std::min(TILE, part.m - start);
            for (size_t i = 0; i < count; ++i) row[i] = table.rows + rows[start + i] * table.width;
            for (const auto j : lives[part.live]) {
                std::uint8_t* copy = &to.own_codes[table.place[j] * part.m + start];
                for (size_t i = 0; i < count; ++i) copy[i] = row[i][j];
            }
        }
    }

    // Two children; rows drawn and rows not drawn are parted alike. `gain` was told when the targets were those of this node.
    std::pair<Part, Part> divide(Here& frame, const Part& part, std::int32_t number, BestSplit split, double gain) {
        Node& node = values.grown.nodes[static_cast<size_t>(number)];
        node.feature = static_cast<std::int32_t>(split.column);
        node.gain = gain;
        const bool category = table.categorical[split.column];
        const size_t j = split.column, at = table.place[j];
        const auto blank = static_cast<std::uint32_t>(table.n_bins[j]), last = static_cast<std::uint32_t>(split.bin);
        size_t n_left = 0, out_left = 0;
        const auto part_both = [&](const auto* column, const auto* whole, auto goes_left) {
            std::uint32_t* to = frame.rows[(part.depth + 1) & 1].data() + part.start;
            n_left = part_rows(column, 1, rows_of(frame, part), to, part.m, goes_left);
            if (!split.missing_here) split.missing_left = 2 * n_left > part.m;  // to the larger side
            const std::uint32_t* out = outside[part.depth & 1].data() + part.out_start;
            std::uint32_t* out_to = outside[(part.depth + 1) & 1].data() + part.out_start;
            out_left = column == whole || !table.rows ? part_rows(whole, 1, out, out_to, part.out_m, goes_left)
                                                      : part_rows(table.rows + j, table.width, out, out_to, part.out_m, goes_left);
        };
        const auto by_threshold = [&](std::uint32_t bin) { return bin == blank ? split.missing_left : bin <= last; };
        const auto by_set = [&](std::uint32_t bin) { return bin == blank ? split.missing_left : holds(split.left, bin); };
        if (table.wide[j]) part_both(frame.wide_column(at), frames[0].wide_column(at), by_threshold);
        else if (category) part_both(frame.column(at), frames[0].column(at), by_set);
        else part_both(frame.column(at), frames[0].column(at), by_threshold);
        node.missing_left = split.missing_left;
        if (category) {
            store_categories(node, split);
        } else {
            node.threshold = std::min(table.edges_of(j)[split.bin], DBL_MAX);
        }
        Part left = part, right = part;
        left.depth = right.depth = part.depth + 1;
        left.parent = right.parent = number;
        left.left = true;
        right.left = false;
        left.key = mix(part.key + 1);
        right.key = mix(part.key + 2);
        left.m = n_left, right.m = part.m - n_left, right.start = part.start + n_left;
        left.out_m = out_left, right.out_m = part.out_m - out_left, right.out_start = part.out_start + out_left;
        left.all = split.sums;
        right.all = {part.all.s - split.sums.s, part.all.w - split.sums.w};
        if (const int direction = by.monotonic.empty() ? 0 : by.monotonic[split.column]) {
            (direction > 0 ? left.high : left.low) = split.middle;
            (direction > 0 ? right.low : right.high) = split.middle;
        }
        return {left, right};
    }

    // Rows that go left first, both in their order; returns how many do. The codes of two rows are `step` apart.
    template <class Code, class GoesLeft>
    size_t part_rows(const Code* column, size_t step, const std::uint32_t* rows, std::uint32_t* to, size_t m,
                     GoesLeft goes_left) {
        if (spare.size() < m) spare.resize(m);
        size_t l = 0, r = 0;
        for (size_t i = 0; i < m; ++i) {
            const std::uint32_t row = rows[i];
            const size_t side = goes_left(column[row * step]);
            to[l] = row;
            spare[r] = row;
            l += side;
            r += 1 - side;
        }
        std::copy_n(spare.data(), r, to + l);
        return l;
    }

    void store_categories(Node& node, const BestSplit& split) {
        auto& bits = values.grown.bits;
        const size_t at = bits.size();
        node.subset = static_cast<std::int32_t>(at);
        bits.push_back(0);
        for_each_bin(split.left, [&](size_t bin) {
            if (static_cast<std::int64_t>(bin) >= table.n_bins[split.column]) return;
            const auto code = static_cast<size_t>(table.category_codes[split.column * 256 + bin]);
            if (code / 64 >= bits[at]) {
                bits.resize(at + 2 + code / 64, 0);
                bits[at] = code / 64 + 1;
            }
            bits[at + 1 + code / 64] |= std::uint64_t{1} << (code % 64);
        });
    }

    std::span<const Pair> pairs;  // by row of the table, exact
    std::vector<Here> frames;
    std::vector<std::uint32_t> outside[2], spare;
};

}  // namespace tenfold
