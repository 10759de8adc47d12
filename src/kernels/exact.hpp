// A tree with every distinct threshold, grown on sorted lists (presorted.hpp).
//
// A node owns the same range of every list; a split parts each list in place. Large
// nodes share columns among threads. A node of at most `SMALL` rows is grown by one thread in a copy of its own with
// 16-bit lists, which stays in cache, whatever grows beside it. Nothing depends on who grew what: sums are whole
// numbers, columns are compared in their order, and what is drawn is keyed by the place in the tree.
#pragma once

#include <queue>

#include "kernels/exact_pieces.hpp"

namespace tenfold {

struct Workshop;

template <class Index, class Criterion>
class Grower {
public:
    // `sorted` (p, n) are the lists of the columns; `rows` (n) the rows, in rising order of y where the criterion asks for it.
    Grower(const Settings& by, const Values& X, Criterion criterion, size_t outputs, std::vector<Index> sorted,
           std::vector<Index> rows)
        : by(by), X(X), criterion(std::move(criterion)), n(rows.size()), p(X.p), lists(std::move(sorted)),
          row_list(std::move(rows)), spare(by.n_threads + 1), side(n) {
        grown.outputs = outputs;
        lives.emplace_back(p);
        for (size_t j = 0; j < p; ++j) lives[0][j] = static_cast<std::uint32_t>(j);
    }

    // The list of a column, or of the rows alone (j = p): a piece has the same range in each.
    const Index* list(size_t j) const { return j < p ? &lists[j * n] : row_list.data(); }
    const std::vector<std::uint32_t>& live(const Piece& piece) const { return lives[piece.live]; }

    std::vector<std::uint32_t> rows;  // numbers of rows in the whole table; empty: as they are
    Grown grown;

    // Once no list is parted any more.
    void rest() {
        spare = {};
        side = {};
    }

    // Left before right; `hand_over(piece)` may take a piece away, and the node is then its business.
    template <class HandOver>
    void grow(const Piece& from, HandOver hand_over) {
        std::vector<Piece> stack{from};
        while (!stack.empty() && !stopped()) {
            Piece piece = stack.back();
            stack.pop_back();
            if (piece.leaf || hand_over(piece)) continue;
            State state;
            const Split split = best(piece, state);
            if (!worth(split, state)) continue;
            const auto [left, right] = part(piece, state, split);
            stack.push_back(right);
            stack.push_back(left);
        }
    }

    // The leaf whose split gains most is split next.
    void grow_best_first(const Piece& from) {
        struct Open {
            double gain;
            Piece piece;
            State state;
            Split split;
            bool operator<(const Open& o) const {
                return gain != o.gain ? gain < o.gain : piece.node > o.piece.node;
            }
        };
        std::priority_queue<Open> open;
        const auto consider = [&](Piece piece) {
            State state;
            Split split = piece.leaf ? Split{} : best(piece, state);
            if (worth(split, state)) open.push({criterion.gain(split.score, state), piece, state, split});
        };
        consider(from);
        for (std::int64_t leaves = 1; leaves < by.max_leaves && !open.empty() && !stopped(); ++leaves) {
            const Open next = open.top();
            open.pop();
            const auto [left, right] = part(next.piece, next.state, next.split);
            consider(left);
            consider(right);
        }
    }

    // Fills in the node of a piece, and tells whether it can only be a leaf.
    void look(Piece& piece) {
        const Index* here = list(p) + piece.start;
        const State state = criterion.look(here, piece.m, grown.value(piece.node));
        Node& node = grown.nodes[static_cast<size_t>(piece.node)];
        node.impurity = state.impurity;
        node.weight = state.weight;
        const auto m = static_cast<std::int64_t>(piece.m);
        piece.leaf = state.pure || m < by.min_split || m < 2 * by.min_leaf || piece.depth == by.max_depth ||
                     state.weight < 2 * by.min_weight_leaf;
        double* value = grown.value(piece.node);
        if (grown.outputs == 1) value[0] = std::clamp(value[0], piece.low, piece.high);
        if (grown.outputs == 2 && !by.monotonic.empty()) {
            value[1] = std::clamp(value[1], std::max(0.0, piece.low), std::min(1.0, piece.high));
            value[0] = 1 - value[1];
        }
    }

private:
    double value_at(Index entry, size_t j) const {
        const size_t row = row_of(entry);
        return X.at(rows.empty() ? row : rows[row], j);
    }

    bool worth(const Split& split, const State& state) const {
        return split.found && (by.min_gain <= 0 || criterion.gain(split.score, state) * (1 + 1e-9) >= by.min_gain);
    }

    // Of the columns whose best split gains at least the mean, the one with the largest gain for each bit that its two sides
    // take to tell (Quinlan 1993): without the mean a split that cuts off one row would win.
    static Split* best_by_ratio(std::vector<Split>& splits, double weight) {
        double total = 0;
        size_t count = 0;
        for (const Split& split : splits)
            if (split.found) total += split.score, ++count;
        Split* best = nullptr;
        double highest = -DBL_MAX;
        for (Split& split : splits) {
            if (!split.found || split.score < total / static_cast<double>(count) * (1 - 1e-9)) continue;
            const double l = split.weight / weight, r = 1 - l, ratio = -split.score / (l * std::log2(l) + r * std::log2(r));
            if (best && ratio <= highest + 1e-9 * std::abs(highest)) continue;
            best = &split;
            highest = ratio;
        }
        return best;
    }

    // The best split of a piece over the columns it may look at; columns found constant are not looked at below it.
    Split best(Piece& piece, State& state) {
        std::vector<double> value(grown.outputs);
        state = criterion.look(list(p) + piece.start, piece.m, value.data());
        const std::vector<std::uint32_t> columns = drawn(piece);
        std::vector<Split> splits(columns.size());
        share_out(columns.size(), piece.m * columns.size() < 50'000 ? 1 : by.n_threads, [&](size_t c) {
            if (!stopped()) splits[c] = search(piece, state, columns[c], value.data());
        });
        Split* best = nullptr;
        std::vector<std::uint32_t> still;
        for (Split& split : splits) {
            if (split.found && (!best || split.score > best->bar)) best = &split;
            if (!split.constant) still.push_back(static_cast<std::uint32_t>(split.column));
        }
        if (by.ratio && best) best = best_by_ratio(splits, state.weight);
        if (columns.size() == lives[piece.live].size() && still.size() < columns.size()) {
            piece.live = lives.size();
            lives.push_back(std::move(still));
        }
        return best ? *best : Split{};
    }

    // All columns, or as many as asked for among those that are not constant, in rising order.
    std::vector<std::uint32_t> drawn(const Piece& piece) const {
        std::vector<std::uint32_t> columns = lives[piece.live];
        const auto most = static_cast<size_t>(by.max_features);
        if (most == 0 || most >= columns.size()) return columns;
        Draws draws{piece.key};
        size_t kept = 0;
        for (size_t i = 0; i < columns.size() && kept < most; ++i) {
            std::swap(columns[i], columns[i + draws.below(columns.size() - i)]);
            const Index* here = list(columns[i]) + piece.start;
            const double first = value_at(here[0], columns[i]), last = value_at(here[piece.m - 1], columns[i]);
            if (first != last && !(std::isnan(first) && std::isnan(last))) std::swap(columns[kept++], columns[i]);
        }
        columns.resize(kept);
        std::sort(columns.begin(), columns.end());
        return columns;
    }

    Split search(const Piece& piece, const State& state, size_t j, const double* value) const {
        const Index* here = list(j) + piece.start;
        Split split;
        split.column = j;
        if (by.missing[j])  // blanks are last
            split.blank = static_cast<size_t>(
                here + piece.m - std::partition_point(here, here + piece.m, [&](Index e) { return !std::isnan(value_at(e, j)); }));
        const size_t present = piece.m - split.blank;
        const bool numeric = by.categorical.empty() || !by.categorical[j];
        if (present == 0) {
            split.constant = true;
        } else if (!numeric) {
            scan_categories(piece, state, here, present, value, split);
        } else if (by.random) {
            try_at_random(piece, state, here, present, value, split);
        } else {
            bool varies = split.blank > 0;
            scan(piece, state, here, present, false, value, split, varies);
            if (split.blank) scan(piece, state, here, present, true, value, split, varies);
            split.constant = !varies;
            if (split.found) split.threshold = threshold(here, present, j, split.at);
        }
        return split;
    }

    // Halfway to the next value; below it whatever the rounding.
    double threshold(const Index* here, size_t present, size_t j, size_t at) const {
        if (at == present) return DBL_MAX;  // every value goes left, what is missing right
        const double a = value_at(here[at - 1], j), b = value_at(here[at], j), middle = a / 2 + b / 2;
        return middle < b && middle >= a ? middle : a;
    }

    // Takes rows to the left in order of their values, and keeps the best place to stop.
    void scan(const Piece& piece, const State& state, const Index* here, size_t present, bool blanks_left,
              const double* value, Split& split, bool& varies) const {
        typename Criterion::Scan moving{criterion, state};
        const size_t extra = blanks_left ? split.blank : 0, last = present - (split.blank && !blanks_left ? 0 : 1);
        const auto least = static_cast<size_t>(by.min_leaf);
        const double slack = slack_of(state);
        for (size_t i = present; i < present + extra; ++i) moving.move(row_of(here[i]));
        for (size_t at = 1; at <= last; ++at) {
            moving.move(row_of(here[at - 1]));
            if (at < present) {
                if (here[at] & TIE<Index>) continue;
                varies = true;
            }
            if (at + extra < least || piece.m - at - extra < least) continue;
            const double score = moving.score(at);
            if (score > split.bar) offer(piece, state, moving, score, slack, at, blanks_left, value, split);
        }
    }

    double slack_of(const State& state) const {
        const double unit = criterion.gain(1.0, state);
        return unit > 0 ? 1e-12 * state.impurity * state.weight / unit : 0.0;
    }

    // Takes the split unless a side is too light or the columns' directions forbid it.
    template <class Scan>
    void offer(const Piece& piece, const State& state, const Scan& moving, double score, double slack, size_t at,
               bool blanks_left, const double* value, Split& split) const {
        if (by.min_weight_leaf > 0) {
            const double w = criterion.weight_of(moving);
            if (w < by.min_weight_leaf || state.weight - w < by.min_weight_leaf) return;
        }
        if (!by.monotonic.empty()) {
            const double l = criterion.in_units(moving.left(), state, value);
            const double r = criterion.in_units(moving.right(), state, value);
            if (std::min(l, r) < piece.low || std::max(l, r) > piece.high) return;
            if ((l - r) * by.monotonic[split.column] > 0) return;
            split.middle = l / 2 + r / 2;
        }
        split.take(score, slack, at, blanks_left);
        if (by.ratio) split.weight = criterion.weight_of(moving);
    }

    // A threshold drawn between the least and the largest value; blanks go to a side by the toss of a coin.
    void try_at_random(const Piece& piece, const State& state, const Index* here, size_t present, const double* value,
                       Split& split) const {
        const size_t j = split.column;
        const double low = value_at(here[0], j), high = value_at(here[present - 1], j);
        split.constant = low == high && !split.blank;
        if (split.constant) return;
        Draws draws{mix(piece.key ^ (0x51ED2701u + j))};
        const double u = draws.unit();
        double cut = low * (1 - u) + high * u;
        cut = cut < high ? std::max(cut, low) : low;
        const bool blanks_left = split.blank && low < high && draws.next() >> 63;
        const size_t at = low == high ? present
                                      : static_cast<size_t>(std::partition_point(here, here + present, [&](Index e) {
                                                                return value_at(e, j) <= cut;
                                                            }) - here);
        const size_t left = at + (blanks_left ? split.blank : 0), least = static_cast<size_t>(by.min_leaf);
        if (left < least || piece.m - left < least) return;
        typename Criterion::Scan moving{criterion, state};
        for (size_t i = 0; i < at; ++i) moving.move(row_of(here[i]));
        for (size_t i = present; i < present + left - at; ++i) moving.move(row_of(here[i]));
        const double score = moving.score(at);
        if (score > split.bar) offer(piece, state, moving, score, 0.0, at, blanks_left, value, split);
        split.threshold = low == high ? DBL_MAX : cut;
    }

    // Categories in order of their targets, then as numbers are.
    void scan_categories(const Piece& piece, const State& state, const Index* here, size_t present, const double* value,
                         Split& split) const {
        std::vector<std::uint32_t> starts;
        for (size_t i = 0; i < present; ++i)
            if (i == 0 || !(here[i] & TIE<Index>)) starts.push_back(static_cast<std::uint32_t>(i));
        split.constant = starts.size() == 1 && !split.blank;
        if (split.constant) return;
        const auto end_of = [&](std::uint32_t start) {
            size_t end = start + 1;
            while (end < present && (here[end] & TIE<Index>)) ++end;
            return end;
        };
        std::vector<std::pair<double, std::uint32_t>> order;
        for (const auto start : starts) {
            typename Criterion::Scan group{criterion, state};
            for (size_t i = start, end = end_of(start); i < end; ++i) group.move(row_of(here[i]));
            order.emplace_back(criterion.order_key(group, state), start);
        }
        std::sort(order.begin(), order.end());
        size_t taken = 0;
        for (const bool blanks_left : {false, true}) {
            if (blanks_left && !split.blank) continue;
            typename Criterion::Scan moving{criterion, state};
            size_t at = 0, last = order.size() - (split.blank && !blanks_left ? 0 : 1);
            const size_t extra = blanks_left ? split.blank : 0, least = static_cast<size_t>(by.min_leaf);
            for (size_t i = present; i < present + extra; ++i) moving.move(row_of(here[i]));
            for (size_t k = 0; k < last; ++k) {
                const size_t start = order[k].second, end = end_of(order[k].second);
                for (size_t i = start; i < end; ++i) moving.move(row_of(here[i]));
                at += end - start;
                if (at + extra < least || piece.m - at - extra < least) continue;
                const double score = moving.score(at);
                if (score > split.bar) offer(piece, state, moving, score, slack_of(state), at, blanks_left, value, split);
                if (split.found && split.at == at && split.missing_left == blanks_left) taken = k + 1;
            }
        }
        for (size_t k = 0; split.found && k < taken; ++k) split.runs.push_back(order[k].second);
    }

    // Two children, and the lists parted between them where a child may be split again.
    std::pair<Piece, Piece> part(const Piece& piece, const State& state, const Split& split) {
        const Index* here = list(split.column) + piece.start;
        const size_t present = piece.m - split.blank, left = split.left();
        mark_sides(here, piece.m, present, split);
        const std::int32_t numbers[] = {grown.add(left), grown.add(piece.m - left)};
        Node& node = grown.nodes[static_cast<size_t>(piece.node)];
        node.left = numbers[0];
        node.right = numbers[1];
        node.feature = static_cast<std::int32_t>(split.column);
        node.threshold = split.threshold;
        node.gain = criterion.gain(split.score, state);
        node.missing_left = split.blank ? split.missing_left : left > piece.m - left;
        if (!split.runs.empty() || is_category(split.column)) node.subset = store_categories(here, split);
        const auto part_one = [&](size_t j, size_t thread) {
            if (spare[thread].size() <= piece.m - left) spare[thread].resize(piece.m - left + 1);
            Index* own = (j < p ? &lists[j * n] : row_list.data()) + piece.start;
            part_list(own, spare[thread].data(), piece.m, left, side.data());
        };
        part_one(p, 0);
        Piece children[2];
        for (int side_of = 0; side_of < 2; ++side_of) {
            Piece& child = children[side_of];
            child = piece;
            child.start = piece.start + (side_of ? left : 0);
            child.m = side_of ? piece.m - left : left;
            child.node = numbers[side_of];
            child.depth = piece.depth + 1;
            child.key = mix(piece.key + static_cast<std::uint64_t>(side_of) + 1);
            if (!by.monotonic.empty() && by.monotonic[split.column]) {
                const bool below = (by.monotonic[split.column] > 0) == (side_of == 0);
                (below ? child.high : child.low) = split.middle;
            }
            look(child);
        }
        if (!children[0].leaf || !children[1].leaf) {
            const auto& columns = lives[piece.live];
            share_out(columns.size(), piece.m * columns.size() < 50'000 ? 1 : by.n_threads,
                      [&](size_t c, size_t thread) { part_one(columns[c], thread); });
        }
        return {children[0], children[1]};
    }

    bool is_category(size_t j) const { return !by.categorical.empty() && by.categorical[j]; }

    void mark_sides(const Index* here, size_t m, size_t present, const Split& split) {
        const bool category = is_category(split.column);
        for (size_t i = 0; i < m; ++i)
            side[row_of(here[i])] = i < present ? !category && i < split.at : split.missing_left;
        for (const auto start : split.runs) {
            side[row_of(here[start])] = 1;
            for (size_t i = start + 1; i < present && (here[i] & TIE<Index>); ++i) side[row_of(here[i])] = 1;
        }
    }

    // The categories that go left as a mask; returns where it is.
    std::int32_t store_categories(const Index* here, const Split& split) {
        const size_t at = grown.bits.size();
        grown.bits.push_back(0);
        for (const auto start : split.runs) {
            const auto code = static_cast<size_t>(value_at(here[start], split.column));
            if (code / 64 >= grown.bits[at]) {
                grown.bits.resize(at + 2 + code / 64, 0);
                grown.bits[at] = code / 64 + 1;
            }
            grown.bits[at + 1 + code / 64] |= std::uint64_t{1} << (code % 64);
        }
        return static_cast<std::int32_t>(at);
    }

    const Settings& by;
    const Values& X;
    Criterion criterion;
    size_t n, p;
    std::vector<Index> lists, row_list;     // parted in place
    std::vector<std::vector<Index>> spare;  // by thread
    std::vector<std::uint8_t> side;
    std::vector<std::vector<std::uint32_t>> lives;  // columns that are not constant, as nodes found them

    template <class, class>
    friend class Grower;
    template <class C>
    friend void grow_small(const Grower<std::uint32_t, C>&, const Piece&, Workshop&);
};

}  // namespace tenfold
