// The whole of an exact tree: large nodes one after the other (exact_grower.hpp), small ones side by side.
#pragma once

#include "kernels/tree/exact_grower.hpp"

namespace tenfold {

constexpr size_t SMALL = 8192;

// What a thread needs for small trees: room for every row of the table, and for the nodes of the largest one.
struct Workshop {
    std::vector<std::uint16_t> place;
    Grown grown;
};

// The lists of a piece of at most SMALL rows, whose rows are numbered from 0 in the order of its list of rows.
struct SmallLists {
    std::vector<std::uint16_t> lists, row_list;
    std::vector<std::uint32_t> rows;

    SmallLists(const Lists<std::uint32_t>& trunk, size_t p, const Piece& piece, std::vector<std::uint16_t>& place)
        : lists(p * piece.m), row_list(piece.m), rows(piece.m) {
        const std::uint32_t* here = trunk.list(p) + piece.start;
        for (size_t i = 0; i < piece.m; ++i) {
            const size_t row = row_of(here[i]);
            place[row] = row_list[i] = static_cast<std::uint16_t>(i);
            rows[i] = static_cast<std::uint32_t>(row);
        }
        for (const auto j : trunk.live(piece)) {
            const std::uint32_t* from = trunk.list(j) + piece.start;
            std::uint16_t* to = &lists[j * piece.m];
            for (size_t i = 0; i < piece.m; ++i)
                to[i] = place[row_of(from[i])] | (from[i] & TIE<std::uint32_t> ? TIE<std::uint16_t> : std::uint16_t{0});
        }
    }
};

// The subtree of a piece of at most SMALL rows, in a copy of its own, left in `at`.
template <class Criterion>
void grow_small(const Grower<std::uint32_t, Criterion>& trunk, const Piece& piece, Workshop& at, Team* team) {
    SmallLists small(trunk, trunk.p, piece, at.place);
    const auto sample = trunk.criterion.sample.of(trunk.list(trunk.p) + piece.start, piece.m);
    Grower<std::uint16_t, Criterion> twig(trunk.by, trunk.X, trunk.criterion.with(sample), trunk.grown.outputs,
                                          std::move(small.lists), std::move(small.row_list));
    twig.team = team;
    twig.rows = std::move(small.rows);
    twig.grown = std::move(at.grown);
    twig.grown.clear(trunk.grown.outputs);
    twig.lives[0] = trunk.live(piece);
    Piece own = piece;
    own.start = own.live = 0;
    own.node = twig.grown.add(piece.m);
    twig.look(own);
    twig.grow(own, [](const Piece&) { return false; });
    at.grown = std::move(twig.grown);
}

// The whole tree. `lists` are those of `presort`, `rows` in rising order of y where the criterion asks for it.
template <class Criterion>
Grafted grow_tree(const Settings& by, const Values& X, const Criterion& criterion, size_t outputs,
                  std::vector<std::uint32_t> lists, std::vector<std::uint32_t> rows) {
    const size_t n = rows.size();
    Grower<std::uint32_t, Criterion> trunk(by, X, criterion, outputs, std::move(lists), std::move(rows));
    Team team(1);
    trunk.team = &team;
    Piece root;
    root.m = n;
    root.key = mix(by.seed);
    root.node = trunk.grown.add(n);
    trunk.look(root);
    std::vector<Piece> pieces;
    if (by.max_leaves > 0) {
        trunk.grow_best_first(root);
    } else {
        trunk.grow(root, [&](const Piece& piece) {
            if (piece.m > SMALL || piece.depth + 1 == by.max_depth) return false;
            Node& node = trunk.grown.nodes[static_cast<size_t>(piece.node)];
            node.left = GRAFTED;
            node.right = static_cast<std::int32_t>(pieces.size());
            pieces.push_back(piece);
            return true;
        });
    }
    trunk.rest();
    Grafted tree;
    tree.trunk.outputs = outputs;
    size_t room = 0;
    for (const Piece& piece : pieces) room += 2 * piece.m - 1;
    tree.reserve(pieces.size(), room);
    const size_t threads = std::max<size_t>(1, std::min(by.n_threads, pieces.size()));
    const bool alone = pieces.size() == 1;  // then threads share its columns
    std::atomic<size_t> next{0}, used{0};
    const auto grow_some = [&](size_t t) {
        if (t >= threads) return;
        Workshop own{std::vector<std::uint16_t>(n), {}};
        for (size_t i = next++; i < pieces.size(); i = next++) {
            leave_if_stopped();
            grow_small(trunk, pieces[i], own, alone ? &team : nullptr);
            tree.put(i, used.fetch_add(own.grown.nodes.size()), own.grown);
        }
    };
    if (alone) grow_some(0);
    else {
        team.resize(std::max(threads, team.size()));
        team.run(grow_some);
    }
    leave_if_stopped();
    tree.trunk = std::move(trunk.grown);
    return tree;
}

}  // namespace tenfold
