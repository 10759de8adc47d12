// The shortest tree that spans rows by their mutual reachability, on a k-d tree; and what bindings of such trees share.
#pragma once

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "kernels/cluster/density_kernels.hpp"
#include "kernels/common/team.hpp"
#include "run.hpp"

namespace tenfold {

constexpr size_t LEAVES = 16;  // that a thread takes at a time

inline size_t leaves_of(const TreeView& tree) { return tree.inner + 1; }

// Calls work(leaves) for all leaves of a tree, some at a time.
template <class Work>
void each_leaves(Team& team, const TreeView& tree, Work&& work) {
    team.ranges(leaves_of(tree), LEAVES, [&](size_t begin, size_t end) { work(Leaves{begin, end}); });
    leave_if_stopped();
}

// The numbers of the rows of a tree, by place.
inline std::vector<std::int64_t> numbers_of(const TreeView& tree) {
    std::vector<std::int64_t> number(tree.start[leaves_of(tree)]);
    for (size_t leaf = 0; leaf < leaves_of(tree); ++leaf)
        std::copy_n(tree.number + leaf * LEAF, tree.start[leaf + 1] - tree.start[leaf],
                    number.begin() + static_cast<std::ptrdiff_t>(tree.start[leaf]));
    return number;
}

// What is known of the nodes of a tree, from that of rows by place: joined(a, b) of both children, and of all rows of a leaf.
template <class T, class Join>
std::vector<T> of_nodes(const TreeView& tree, const T* rows, T none, Join&& joined) {
    std::vector<T> known(tree.inner + leaves_of(tree), none);
    for (size_t leaf = 0; leaf < leaves_of(tree); ++leaf)
        for (size_t i = tree.start[leaf]; i < tree.start[leaf + 1]; ++i) {
            T& here = known[tree.inner + leaf];
            here = i == tree.start[leaf] ? rows[i] : joined(here, rows[i]);
        }
    for (size_t node = tree.inner; node-- > 0;) known[node] = joined(known[2 * node + 1], known[2 * node + 2]);
    return known;
}

// The edges of the shortest tree, as places of rows, in the order in which they are found.
struct Spanning {
    std::vector<Place> first, second;
    std::vector<double> length;

    void add(Place a, Place b, double how_long) { first.push_back(a), second.push_back(b), length.push_back(how_long); }
};

// All groups at once find the shortest edge that leaves them, and are joined by it (Boruvka), until one is left.
inline void span_by_groups(const DensityKernels& kernels, Team& team, const TreeView& tree, Near near, double scale,
                           const std::vector<double>& core, const std::vector<std::int64_t>& number, Spanning& found) {
    const size_t n = core.size();
    const double far = std::numeric_limits<double>::infinity();
    const std::vector<double> least_core = of_nodes(tree, core.data(), far, [](double a, double b) { return std::min(a, b); });
    std::vector<Place> above(n), group(n), chosen(n);
    for (size_t i = 0; i < n; ++i) above[i] = static_cast<Place>(i);
    std::vector<Edge> edge(n, {0.0, INT64_MAX, INT64_MAX, -1});
    std::vector<double> shortest(n);
    const auto before = [](const Edge& a, const Edge& b) {
        if (a.length != b.length) return a.length < b.length;
        return a.low != b.low ? a.low < b.low : a.high < b.high;
    };
    while (found.length.size() + 1 < n) {
        leave_if_stopped();
        for (size_t i = 0; i < n; ++i) group[i] = root_of(above.data(), static_cast<Place>(i));
        const std::vector<Place> one = of_nodes(tree, group.data(), MANY_GROUPS, [](Place a, Place b) { return a == b ? a : MANY_GROUPS; });
        std::fill(shortest.begin(), shortest.end(), far);
        for (size_t i = 0; i < n; ++i)
            if (edge[i].other >= 0 && group[edge[i].other] != group[i]) shortest[group[i]] = std::min(shortest[group[i]], edge[i].length);
        const double unscale = scale == 1 ? 1 : (1 + 1e-12) / scale;
        const Reach all{scale, unscale, core.data(), least_core.data(), number.data(), group.data(), one.data(), shortest.data(), edge.data()};
        each_leaves(team, tree, [&](Leaves leaves) { kernels.find_edges(tree, leaves, near, all); });
        std::fill(chosen.begin(), chosen.end(), -1);
        for (size_t i = 0; i < n; ++i) {
            if (edge[i].other < 0 || group[edge[i].other] == group[i]) continue;
            Place& best = chosen[group[i]];
            if (best < 0 || before(edge[i], edge[best])) best = static_cast<Place>(i);
        }
        const size_t had = found.length.size();
        for (size_t i = 0; i < n; ++i)
            if (chosen[i] >= 0 && join(above.data(), chosen[i], edge[chosen[i]].other)) found.add(chosen[i], edge[chosen[i]].other, edge[chosen[i]].length);
        if (found.length.size() == had) throw std::overflow_error("a distance is not finite");
    }
}

// The row nearest to the tree joins it (Prim), until all have.
inline void span_row_by_row(const DensityKernels& kernels, const TreeView& tree, Near near, double scale, const std::vector<double>& core,
                            Spanning& found) {
    const size_t n = core.size();
    std::vector<double> nearest(n, std::numeric_limits<double>::infinity()), length(n);
    std::vector<Place> from(n), order(n, -1);
    std::vector<std::uint8_t> gone(n);
    kernels.grow_tree(tree, near, n, core.data(), scale, nearest.data(), from.data(), gone.data(), length.data(), order.data());
    leave_if_stopped();
    for (size_t i = 0; i + 1 < n; ++i) {
        if (order[i] < 0) throw std::overflow_error("a distance is not finite");
        found.add(from[order[i]], order[i], length[i]);
    }
}

}  // namespace tenfold
