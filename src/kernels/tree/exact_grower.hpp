// A tree with every distinct threshold, grown on sorted lists (presorted.hpp).
//
// A node owns the same range of every list; a split parts each list in place. Large
// nodes share columns among threads. A node of at most `SMALL` rows is grown by one thread in a copy of its own with
// 16-bit lists, which stays in cache, whatever grows beside it. Nothing depends on who grew what: sums are whole
// numbers, columns are compared in their order, and what is drawn is keyed by the place in the tree.
#pragma once

#include <queue>

#include "kernels/tree/sorted_lists.hpp"

namespace tenfold {

struct Workshop;

template <class Index, class Criterion>
class Grower : public Lists<Index> {
    using Own = Lists<Index>;
    using Own::blanks, Own::by, Own::drawn, Own::is_category, Own::lives, Own::p, Own::threshold, Own::value_at;

public:
    using Own::grown, Own::list, Own::live;

    Grower(const Settings& by, const Values& X, Criterion criterion, size_t outputs, std::vector<Index> sorted,
           std::vector<Index> rows)
        : Own(by, X, outputs, std::move(sorted), std::move(rows)), criterion(std::move(criterion)) {}

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
        if (by.monotonic.empty()) return;
        if (grown.outputs == 1) value[0] = std::clamp(value[0], piece.low, piece.high);
        if (grown.outputs == 2) {
            value[1] = std::clamp(value[1], std::max(0.0, piece.low), std::min(1.0, piece.high));
            value[0] = 1 - value[1];
        }
    }

private:
    bool worth(const Split& split, const State& state) const {
        return split.found && (by.min_gain <= 0 || criterion.gain(split.score, state) * (1 + 1e-9) >= by.min_gain);
    }

    // The best split of a piece over the columns it may look at.
    Split best(Piece& piece, State& state) {
        std::vector<double> value(grown.outputs);
        state = criterion.look(list(p) + piece.start, piece.m, value.data());
        const std::vector<std::uint32_t> columns = drawn(piece);
        std::vector<Split> splits(columns.size());
        this->share(piece, columns.size(), [&](size_t c, size_t) {
            if (!stopped()) splits[c] = search(piece, state, columns[c], value.data());
        });
        return this->best_of(piece, splits, state.weight);
    }

    // Two children, and the lists parted between them where a child may be split again.
    std::pair<Piece, Piece> part(const Piece& piece, const State& state, const Split& split) {
        auto children = this->divide(piece, split, criterion.gain(split.score, state));
        look(children.first);
        look(children.second);
        if (!children.first.leaf || !children.second.leaf) this->part_columns(piece, split.left());
        return children;
    }

    Split search(const Piece& piece, const State& state, size_t j, const double* value) const {
        const Index* here = list(j) + piece.start;
        Split split;
        split.column = j;
        split.blank = blanks(here, piece.m, j);
        const size_t present = piece.m - split.blank;
        if (present == 0) {
            split.constant = true;
        } else if (is_category(j)) {
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

    Criterion criterion;

    template <class C>
    friend void grow_small(const Grower<std::uint32_t, C>&, const Piece&, Workshop&, Team*);
};

}  // namespace tenfold
