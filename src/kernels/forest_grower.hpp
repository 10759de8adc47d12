// The grower of one tree of a forest (forest.hpp).
#pragma once

#include "kernels/forest_sums.hpp"

namespace tenfold {

constexpr size_t LEVELS = 3, SHRINK = 12;  // copies of rows within copies; a copy is made at 1 / SHRINK of the rows

template <class Targets>
class ForestGrower {
    using Cell = typename Targets::Cell;
    using Here = Frame<Cell>;

public:
    ForestGrower(const Binned& table, const ForestSettings& by, Targets targets, size_t classes, std::span<const Pair> pairs,
                 const typename Targets::Cell* cells, std::span<const std::uint32_t> drawn, std::span<const std::uint32_t> out)
        : table(table), by(by), targets(std::move(targets)), classes(classes), pairs(pairs) {
        leaf_of.assign(table.n, -1);
        grown.outputs = std::max<size_t>(classes, 1);
        frames.resize(LEVELS);
        frames[0].codes = table.codes.data();
        frames[0].cells = cells;
        frames[0].n = table.n;
        for (auto& rows : frames[0].rows) rows.assign(drawn.begin(), drawn.end());
        for (auto& rows : outside) rows.assign(out.begin(), out.end());
        lives.emplace_back(table.p);
        for (size_t j = 0; j < table.p; ++j) lives[0][j] = static_cast<std::uint32_t>(j);
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
    std::vector<std::int32_t> bins;     // by node: the last bin on the left
    std::vector<Totals> totals;         // by node
    std::vector<std::int64_t> counts;   // by node and class
    std::vector<double> curves;         // by node: Σ w f(y)
    std::vector<std::int32_t> leaf_of;  // of the rows that were not drawn

private:
    const std::uint32_t* rows_of(const Here& frame, const Part& part) const {
        return frame.rows[part.depth & 1].data() + part.start;
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
        bins.push_back(-1);
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

    // Sums a column by bin; returns the bins that occur.
    Mask fill(const Here& frame, const Part& part, size_t j) {
        const std::uint8_t* column = frame.codes + j * frame.n;
        const std::uint32_t* rows = rows_of(frame, part);
        seen.fill(0);
        for (size_t i = 0; i < part.m; ++i) {
            const size_t bin = column[rows[i]];
            targets.add(bin, cells[i]);
            seen[bin] = 0xFF;
        }
        return as_mask(seen);
    }

    // A small node whose column has no categories and nothing missing; returns whether the column varies.
    bool look_at_few(const Here& frame, const Part& part, size_t j, BestSplit& split) {
        if constexpr (std::is_same_v<Targets, PackedTargets>) {
            const FewRows found = by.kernels->best_of_few(frame.codes + j * frame.n, rows_of(frame, part), cells.data(),
                                                          part.m, targets.shift, targets.mean, targets.weight);
            if (found.bin > 255) return false;
            if (split.above(found.score)) {
                split.take(found.score, j, targets.open(found.sums), false, false);
                split.bin = found.bin;
            }
            return true;
        }
        return false;
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
            const std::uint8_t a = frame.codes[j * frame.n + rows[0]], b = frame.codes[j * frame.n + rows[1]];
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

    // The best split over columns drawn until enough of them vary; those that do not are not looked at below.
    BestSplit best(const Here& frame, Part& part, std::int32_t node) {
        begin(part, node);
        BestSplit split;
        if (classes == 0 && all_equal(frame, part)) return split;
        if (part.m == 2) return part_two(frame, part);
        cells.resize(part.m);
        for (size_t i = 0; i < part.m; ++i) cells[i] = frame.cells[rows_of(frame, part)[i]];
        const bool few = std::is_same_v<Targets, PackedTargets> && part.m <= FEW_ROWS && by.min_leaf == 1 &&
                         !by.random && by.min_weight_leaf <= 0;
        columns = lives[part.live];
        Draws draws{part.key};
        const auto most = static_cast<size_t>(by.max_features);
        size_t varying = 0, looked = 0;
        for (; looked < columns.size() && varying < most; ++looked) {
            std::swap(columns[looked], columns[looked + draws.below(columns.size() - looked)]);
            const size_t j = columns[looked];
            if (few && !table.categorical[j] && !table.missing[j]) {
                if (look_at_few(frame, part, j, split)) std::swap(columns[varying++], columns[looked]);
                continue;
            }
            const Mask mask = fill(frame, part, j);
            if (count_bins(mask) > 1) {
                consider(frame, part, j, mask, split);
                std::swap(columns[varying++], columns[looked]);
            }
            for_each_bin(mask, [&](size_t bin) { targets.clear(bin); });
        }
        if (varying < looked) {  // some columns are constant: the children need not know them
            std::vector<std::uint32_t> still(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(varying));
            still.insert(still.end(), columns.begin() + static_cast<std::ptrdiff_t>(looked), columns.end());
            std::sort(still.begin(), still.end());
            part.live = lives.size();
            lives.push_back(std::move(still));
        }
        return split;
    }

    void begin(const Part& part, std::int32_t node) {
        if constexpr (!Targets::counted)
            targets.begin(part.all);
        else
            targets.begin({&counts[static_cast<size_t>(node) * classes], classes});
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
        if (!missing && !category && !by.random && by.min_leaf == 1) return scan_numbers(part, j, mask, split);
        order.clear();
        for_each_bin(mask, [&](size_t bin) {
            if (bin != blank) order.push_back(static_cast<std::uint8_t>(bin));
        });
        if (order.empty()) return;
        if (category)
            std::stable_sort(order.begin(), order.end(),
                             [&](auto a, auto b) { return targets.order_key(a) < targets.order_key(b); });
        if (by.min_leaf > 1) count_rows(frame, part, j);
        if (by.random) {
            Draws draws{mix(part.key ^ (0x51ED2701u + j))};
            const size_t stop = order.size() > 1 ? drawn_stop(j, category, draws) : 1;
            if (stop < order.size() + missing)
                try_stops(part, j, stop, stop, missing && order.size() > 1 && draws.next() >> 63, missing, split);
            return;
        }
        try_stops(part, j, 1, order.size() - !missing, false, missing, split);
        if (missing) try_stops(part, j, 1, order.size() - 1, true, missing, split);
    }

    // The common case: numbers, none missing, leaves of any size.
    void scan_numbers(const Part& part, size_t j, const Mask& mask, BestSplit& split) const {
        typename Targets::Scan scan{targets};
        size_t left = count_bins(mask) - 1;
        for (size_t word = 0; left && word < 4; ++word)
            for (std::uint64_t bits = mask[word]; bits && left; bits &= bits - 1, --left) {
                const size_t bin = 64 * word + static_cast<size_t>(std::countr_zero(bits));
                scan.move(bin);
                const double score = scan.score();
                if (split.above(score) && heavy_enough(part, scan.totals().w)) {
                    split.take(score, j, scan.totals(), false, false);
                    split.bin = bin;
                }
            }
    }

    bool heavy_enough(const Part& part, std::int64_t left) const {
        return by.min_weight_leaf <= 0 || (static_cast<double>(left) >= by.min_weight_leaf &&
                                           static_cast<double>(part.all.w - left) >= by.min_weight_leaf);
    }

    // How many of the bins go left, drawn: by value for numbers, by rank for categories.
    size_t drawn_stop(size_t j, bool category, Draws& draws) const {
        if (category) return 1 + draws.below(order.size() - 1);
        const double* edges = &table.edges[j * 256];
        const double low = edges[order.front()], high = edges[order.back() - 1];
        const size_t between = static_cast<size_t>(order.back() - order.front());
        const double step = between > 1 ? (high - low) / static_cast<double>(between - 1) : 0.0;
        const double at = low - step / 2 + draws.unit() * (high - low + step);
        size_t bin = static_cast<size_t>(std::lower_bound(edges + order.front(), edges + order.back(), at) - edges);
        if (bin > order.front() && (bin >= order.back() || at - edges[bin - 1] < edges[bin] - at)) --bin;
        const auto past = std::upper_bound(order.begin(), order.end(), bin);
        return static_cast<size_t>(past - order.begin());
    }

    // Takes bins to the left in `order`, and looks at each stop from `first` to `last`.
    void try_stops(const Part& part, size_t j, size_t first, size_t last, bool blanks_left, bool missing, BestSplit& split) {
        typename Targets::Scan scan{targets};
        const auto blank = static_cast<size_t>(table.n_bins[j]);
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
            if (!split.above(score)) continue;
            if (!heavy_enough(part, scan.totals().w)) continue;
            split.take(score, j, scan.totals(), blanks_left, missing);
            stop = k;
        }
        if (!stop) return;
        split.bin = order[stop - 1];
        split.left = {};
        for (size_t k = 0; table.categorical[j] && k < stop; ++k) put(split.left, order[k]);
    }

    void count_rows(const Here& frame, const Part& part, size_t j) {
        row_counts.fill(0);
        const std::uint8_t* column = frame.codes + j * frame.n;
        for (size_t i = 0; i < part.m; ++i) ++row_counts[column[rows_of(frame, part)[i]]];
    }

    // Two children; rows drawn and rows not drawn are parted alike.
    std::pair<Part, Part> divide(Here& frame, const Part& part, std::int32_t number, BestSplit split) {
        Node& node = grown.nodes[static_cast<size_t>(number)];
        node.feature = static_cast<std::int32_t>(split.column);
        node.gain = targets.gain(split.score);
        bins[static_cast<size_t>(number)] = static_cast<std::int32_t>(split.bin);
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
        node.subset = static_cast<std::int64_t>(at);
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

    const Binned& table;
    const ForestSettings& by;
    Targets targets;
    size_t classes;
    std::span<const Pair> pairs;  // by row of the table, exact
    std::vector<Frame<Cell>> frames;
    std::vector<Cell> cells;  // of the node looked at, in the order of its rows
    std::vector<std::uint32_t> outside[2], columns, spare;
    std::vector<std::uint8_t> order;
    std::array<std::uint32_t, 256> row_counts{};
    std::array<std::uint8_t, 256> seen{};
    std::vector<std::vector<std::uint32_t>> lives;
};

}  // namespace tenfold
