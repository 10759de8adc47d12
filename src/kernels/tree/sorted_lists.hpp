// The sorted lists of an exact tree (exact_grower.hpp), parted among its nodes: all that does not depend on what a split is worth.
#pragma once

#include "kernels/tree/exact_split.hpp"

namespace tenfold {

template <class Index>
class Lists {
public:
    // `sorted` (p, n) are the lists of the columns; `rows` (n) the rows, in rising order of y where the criterion asks for it.
    Lists(const Settings& by, const Values& X, size_t outputs, std::vector<Index> sorted, std::vector<Index> rows)
        : by(by), X(X), n(rows.size()), p(X.p), lists(std::move(sorted)), row_list(std::move(rows)), spare(1), side(n) {
        grown.outputs = outputs;
        lives.emplace_back(p);
        for (size_t j = 0; j < p; ++j) lives[0][j] = static_cast<std::uint32_t>(j);
    }

    // The list of a column, or of the rows alone (j = p): a piece has the same range in each.
    const Index* list(size_t j) const { return j < p ? &lists[j * n] : row_list.data(); }
    const std::vector<std::uint32_t>& live(const Piece& piece) const { return lives[piece.live]; }

    Team* team = nullptr;             // that shares the columns of large pieces; none: one thread
    std::vector<std::uint32_t> rows;  // numbers of rows in the whole table; empty: as they are
    Grown grown;

    // Once no list is parted any more.
    void rest() {
        spare = {};
        side = {};
    }

protected:
    double value_at(Index entry, size_t j) const {
        const size_t row = row_of(entry);
        return X.at(rows.empty() ? row : rows[row], j);
    }

    bool is_category(size_t j) const { return !by.categorical.empty() && by.categorical[j]; }

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

    // The best of the splits of some columns; those found constant are not looked at below the piece.
    Split best_of(Piece& piece, std::vector<Split>& splits, double weight) {
        Split* best = nullptr;
        std::vector<std::uint32_t> still;
        for (Split& split : splits) {
            if (split.found && (!best || split.score > best->bar)) best = &split;
            if (!split.constant) still.push_back(static_cast<std::uint32_t>(split.column));
        }
        if (by.ratio && best) best = best_by_ratio(splits, weight);
        if (splits.size() == lives[piece.live].size() && still.size() < splits.size()) {
            piece.live = lives.size();
            lives.push_back(std::move(still));
        }
        return best ? *best : Split{};
    }

    // How many values of a column are missing in a piece: they are last.
    size_t blanks(const Index* here, size_t m, size_t j) const {
        if (!by.missing[j]) return 0;
        return static_cast<size_t>(here + m - std::partition_point(here, here + m, [&](Index e) { return !std::isnan(value_at(e, j)); }));
    }

    // Halfway to the next value; below it whatever the rounding.
    double threshold(const Index* here, size_t present, size_t j, size_t at) const {
        if (at == present) return DBL_MAX;  // every value goes left, what is missing right
        const double a = value_at(here[at - 1], j), b = value_at(here[at], j), middle = a / 2 + b / 2;
        return middle < b && middle >= a ? middle : a;
    }

    // The node of a split, and two children that own the parted list of the rows; those of the columns are parted by `part_columns`.
    std::pair<Piece, Piece> divide(const Piece& piece, const Split& split, double gain) {
        const Index* here = list(split.column) + piece.start;
        const size_t left = split.left();
        mark_sides(here, piece.m, piece.m - split.blank, split);
        const std::int32_t numbers[] = {grown.add(left), grown.add(piece.m - left)};
        Node& node = grown.nodes[static_cast<size_t>(piece.node)];
        node.left = numbers[0];
        node.right = numbers[1];
        node.feature = static_cast<std::int32_t>(split.column);
        node.threshold = split.threshold;
        node.gain = gain;
        node.missing_left = split.blank ? split.missing_left : left > piece.m - left;
        if (is_category(split.column)) node.subset = store_categories(here, split);
        part_one(p, piece, left, 0);
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
        }
        return {children[0], children[1]};
    }

    void part_columns(const Piece& piece, size_t left) {
        const auto& columns = lives[piece.live];
        if (team) spare.resize(std::max(spare.size(), by.n_threads));
        share(piece, columns.size(), [&](size_t c, size_t thread) { part_one(columns[c], piece, left, thread); });
    }

    // Calls work(c, thread) for each of these columns.
    template <class Work>
    void share(const Piece& piece, size_t columns, Work&& work) {
        if (!team || piece.m * columns < 50'000) {
            for (size_t c = 0; c < columns; ++c) work(c, size_t{0});
            return;
        }
        team->resize(by.n_threads);
        team->each(columns, work);
    }

    const Settings& by;
    const Values& X;
    size_t n, p;
    std::vector<std::vector<std::uint32_t>> lives;  // columns that are not constant, as nodes found them

private:
    void part_one(size_t j, const Piece& piece, size_t left, size_t thread) {
        if (spare[thread].size() <= piece.m - left) spare[thread].resize(piece.m - left + 1);
        Index* own = (j < p ? &lists[j * n] : row_list.data()) + piece.start;
        part_list(own, spare[thread].data(), piece.m, left, side.data());
    }

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

    std::vector<Index> lists, row_list;     // parted in place
    std::vector<std::vector<Index>> spare;  // by thread
    std::vector<std::uint8_t> side;
};

}  // namespace tenfold
