// The grower of one tree of a forest (forest.hpp).
#pragma once

#include "kernels/forest_search.hpp"

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
        grown.outputs = std::max<size_t>(classes, 1);
        const size_t most = 2 * (by.max_leaves > 0 ? std::min<size_t>(by.max_leaves, drawn.size()) : drawn.size());
        grown.nodes.reserve(most);  // pages that are not written take no memory
        grown.values.reserve(most * grown.outputs);
        totals.reserve(most);
        curves.reserve(most);
        frames.resize(LEVELS);
        frames[0].codes = table.codes.data();
        frames[0].cells = cells;
        frames[0].n = table.n;
        for (auto& rows : frames[0].rows) rows.assign(drawn.begin(), drawn.end());
        for (auto& rows : outside) rows.assign(out.begin(), out.end());
    }

    // Values, impurities and weights of the nodes, in the units of the targets.
    void describe(const Sample& sample) {
        curves.resize(grown.nodes.size());
        for (size_t i = grown.nodes.size(); i-- > 0;) {  // children come after their parents
            Node& node = grown.nodes[i];
            if (node.left >= 0) {
                const auto l = static_cast<size_t>(node.left), r = static_cast<size_t>(node.right);
                curves[i] = curves[l] + curves[r];
                if (classes == 0) totals[i] = {totals[l].s + totals[r].s, totals[l].w + totals[r].w};
            }
            const double w = static_cast<double>(totals[i].w), mean = static_cast<double>(totals[i].s) / w;
            double* value = grown.value(static_cast<std::int32_t>(i));
            node.weight = w * sample.weight_unit;
            const double size = sample.unit / sample.weight_unit;
            if (classes == 0) {
                value[0] = sample.centre + mean * size;
                node.impurity = finite(std::max(0.0, curves[i] / w - targets.curve(mean)) * targets.scale(size));
                node.gain = finite(node.gain * targets.scale(size) * sample.weight_unit);
                continue;
            }
            double sum = 0;
            for (size_t k = 0; k < classes; ++k) {
                value[k] = !Targets::counted ? (k ? mean : 1 - mean) : static_cast<double>(counts[i * classes + k]) / w;
                sum += targets.impure(value[k]);
            }
            node.impurity = std::max(0.0, sum);
            node.gain *= sample.weight_unit * (Targets::counted ? 1.0 : 2.0);
        }
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

    Grown grown;
    std::vector<Totals> totals;         // by node
    std::vector<std::int64_t> counts;   // by node and class
    std::vector<double> curves;         // by node: Σ w f(y)
    std::vector<std::int32_t> leaf_of;  // of the rows that were not drawn

private:
    BestSplit best(const Here& frame, Part& part, std::int32_t node) {
        if constexpr (!Targets::counted)
            targets.begin(part.all);
        else
            targets.begin({&counts[static_cast<size_t>(node) * classes], classes});
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
        node = grown.add(part.m);
        totals.push_back(part.all);
        if (part.parent >= 0) {
            Node& parent = grown.nodes[static_cast<size_t>(part.parent)];
            (part.left ? parent.left : parent.right) = node;
        }
        bool pure = part.m < 2;
        if constexpr (Targets::counted) {
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

    // Rows that were not drawn end here; of numbers the sum of w f(y) is kept, from which impurities follow.
    void finish_leaf(const Here& frame, const Part& part, std::int32_t node) {
        curves.resize(grown.nodes.size());
        if (classes == 0) totals[static_cast<size_t>(node)] = {};
        for (size_t i = 0; classes == 0 && i < part.m; ++i) {
            const Pair& pair = pairs[frame.number(rows_of(frame, part)[i])];
            totals[static_cast<size_t>(node)].s += pair.s;
            totals[static_cast<size_t>(node)].w += pair.w;
            const double s = static_cast<double>(pair.s), w = static_cast<double>(pair.w);
            curves[static_cast<size_t>(node)] += targets.curve(s / w) * w;
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
            const auto [left, right] = divide(frames[level], part, node, split);
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
            const auto [left, right] = divide(frames[0], next.part, next.node, next.split);
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
        if (to.own_codes.size() < table.p * m) to.own_codes.resize(table.p * m);
        to.own_cells.resize(m);
        to.global.resize(m);
        for (size_t i = 0; i < m; ++i) {
            to.own_cells[i] = from.cells[rows[i]];
            to.global[i] = static_cast<std::uint32_t>(from.number(rows[i]));
        }
        for (const auto j : lives[part.live]) {
            const std::uint8_t* column = from.codes + j * from.n;
            std::uint8_t* copy = &to.own_codes[j * m];
            for (size_t i = 0; i < m; ++i) copy[i] = column[rows[i]];
        }
        to.codes = to.own_codes.data();
        to.cells = to.own_cells.data();
        for (auto& list : to.rows) list.resize(m);
        auto& list = to.rows[part.depth & 1];
        for (size_t i = 0; i < m; ++i) list[i] = static_cast<std::uint32_t>(i);
        part.start = 0;
    }

    // Two children; rows drawn and rows not drawn are parted alike.
    std::pair<Part, Part> divide(Here& frame, const Part& part, std::int32_t number, BestSplit split) {
        Node& node = grown.nodes[static_cast<size_t>(number)];
        node.feature = static_cast<std::int32_t>(split.column);
        node.gain = targets.gain(split.score);
        const auto blank = static_cast<std::uint8_t>(table.n_bins[split.column]);
        const bool category = table.categorical[split.column];
        const std::uint8_t last = static_cast<std::uint8_t>(split.bin);
        const auto part_both = [&](auto goes_left) {
            const std::uint32_t* rows = rows_of(frame, part);
            std::uint32_t* to = frame.rows[(part.depth + 1) & 1].data() + part.start;
            const size_t n_left = part_rows(frame.codes + split.column * frame.n, rows, to, part.m, goes_left);
            if (!split.missing_here) split.missing_left = 2 * n_left > part.m;  // to the larger side
            const std::uint32_t* out = outside[part.depth & 1].data() + part.out_start;
            std::uint32_t* out_to = outside[(part.depth + 1) & 1].data() + part.out_start;
            const std::uint8_t* column = table.codes.data() + split.column * table.n;
            return std::pair{n_left, part_rows(column, out, out_to, part.out_m, goes_left)};
        };
        const auto [n_left, out_left] =
            category ? part_both([&](std::uint8_t bin) {
                return bin == blank ? split.missing_left : holds(split.left, bin);
            })
                     : part_both([&](std::uint8_t bin) { return bin == blank ? split.missing_left : bin <= last; });
        node.missing_left = split.missing_left;
        if (category) {
            store_categories(node, split);
        } else {
            node.threshold = std::min(table.edges[split.column * 256 + split.bin], DBL_MAX);
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
        return {left, right};
    }

    // Rows that go left first, both in their order; returns how many do.
    template <class GoesLeft>
    size_t part_rows(const std::uint8_t* column, const std::uint32_t* rows, std::uint32_t* to, size_t m,
                     GoesLeft goes_left) {
        if (spare.size() < m) spare.resize(m);
        size_t l = 0, r = 0;
        for (size_t i = 0; i < m; ++i) {
            const std::uint32_t row = rows[i];
            const size_t side = goes_left(column[row]);
            to[l] = row;
            spare[r] = row;
            l += side;
            r += 1 - side;
        }
        std::copy_n(spare.data(), r, to + l);
        return l;
    }

    void store_categories(Node& node, const BestSplit& split) {
        const size_t at = grown.bits.size();
        node.subset = static_cast<std::int32_t>(at);
        grown.bits.push_back(0);
        for_each_bin(split.left, [&](size_t bin) {
            if (static_cast<std::int64_t>(bin) >= table.n_bins[split.column]) return;
            const auto code = static_cast<size_t>(table.category_codes[split.column * 256 + bin]);
            if (code / 64 >= grown.bits[at]) {
                grown.bits.resize(at + 2 + code / 64, 0);
                grown.bits[at] = code / 64 + 1;
            }
            grown.bits[at + 1 + code / 64] |= std::uint64_t{1} << (code % 64);
        });
    }

    std::span<const Pair> pairs;  // by row of the table, exact
    std::vector<Here> frames;
    std::vector<std::uint32_t> outside[2], spare;
};

}  // namespace tenfold
