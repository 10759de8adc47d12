// Mutual reachability: rows are as far apart as they are, but at least as far as each is from the rows around it (its core). The
// shortest tree that connects all rows by it: Boruvka's algorithm on a k-d tree, or Prim's row by row.
#pragma once

#include "kernels/cluster/density_kernels.hpp"
#include "kernels/cluster/guided_search.hpp"

namespace tenfold::TENFOLD_LEVEL {

// The k nearest rows, that of the query among them.
struct KNearest {
    Nearest nearest;

    TENFOLD_INLINE double reach() const { return nearest.reach(); }
    TENFOLD_INLINE bool passes(size_t, double) const { return false; }
    TENFOLD_INLINE void offer(Place place, double away) { nearest.offer({away, place}); }
    TENFOLD_INLINE void left(size_t) const {}
};

// Edges are ordered by their length, then by the numbers of their rows: the shortest tree is one, whatever is looked at first.
TENFOLD_INLINE bool shorter(const Edge& a, const Edge& b) {
    if (a.length != b.length) return a.length < b.length;
    return a.low != b.low ? a.low < b.low : a.high < b.high;
}

// The shortest edge from a row to any of another group.
struct Reaching {
    const Reach& all;
    Place me, mine;  // the row, and its group
    Edge best;

    TENFOLD_INLINE double longest() const {
        double group;
        __atomic_load(&all.shortest[mine], &group, __ATOMIC_RELAXED);
        return group < best.length ? group : best.length;
    }
    TENFOLD_INLINE double reach() const { return longest() * all.unscale; }
    TENFOLD_INLINE bool passes(size_t node, double away) const {
        return all.one[node] == mine || larger_of(away * CAREFUL * all.scale, all.least_core[node]) > longest();
    }
    TENFOLD_INLINE void offer(Place place, double away) {
        if (all.group[place] == mine) return;
        const std::int64_t a = all.number[me], b = all.number[place];
        const double length = larger_of(larger_of(away * all.scale, all.core[me]), all.core[place]);
        const Edge edge{length, std::min(a, b), std::max(a, b), place};
        if (shorter(edge, best)) best = edge;
    }
    TENFOLD_INLINE void left(size_t) const {}
};

inline void find_cores(const TreeView& tree, Leaves leaves, Near near, const double* weight, double least, size_t n, double* core) {
    with_measure(near.apart, near.power, [&]<Apart A>(const Measure<A>& measure) {
        GuidedSearch<A, KNearest> search(tree, measure);
        for (size_t k = std::min(n, static_cast<size_t>(least)), begin = leaves.begin; begin < leaves.end && !stopped(); ++begin) {
            Scratch<Neighbor> heap(n < 2 * k ? n : 2 * k);
            each_row(tree, {begin, begin + 1}, [&](const double* query, Place place) {
                for (size_t wanted = k;; wanted = std::min(n, 2 * wanted)) {
                    Scratch<Neighbor> more(wanted > k ? wanted : 1);
                    Neighbor* found = wanted > k ? more.data() : heap.data();
                    KNearest nearest{Nearest(found, wanted)};
                    search.search(query, nearest);
                    nearest.nearest.sort();
                    double sum = 0;
                    size_t i = 0;
                    while (i + 1 < wanted && (sum += weight ? weight[found[i].row] : 1.0) < least * (1 - 1e-12)) ++i;
                    core[place] = found[i].distance;
                    if (wanted == n || i + 1 < wanted || sum + (weight ? weight[found[i].row] : 1.0) >= least * (1 - 1e-12)) break;
                }
            });
        }
    });
}

inline void find_edges(const TreeView& tree, Leaves leaves, Near near, const Reach& all) {
    with_measure(near.apart, near.power, [&]<Apart A>(const Measure<A>& measure) {
        GuidedSearch<A, Reaching> search(tree, measure);
        each_row(tree, leaves, [&](const double* query, Place place) {
            Edge& edge = all.edge[place];
            const Place mine = all.group[place];
            if (edge.other >= 0 && all.group[edge.other] != mine) return;  // still the shortest: groups only grow
            double group;
            __atomic_load(&all.shortest[mine], &group, __ATOMIC_RELAXED);
            if (edge.length > group || all.core[place] > group) return;  // no edge of this row is shorter
            Reaching reaching{all, place, mine, {std::numeric_limits<double>::infinity(), INT64_MAX, INT64_MAX, -1}};
            search.search(query, reaching);
            const Edge& best = reaching.best;
            __atomic_load(&all.shortest[mine], &group, __ATOMIC_RELAXED);
            if (best.other < 0 || best.length > group) {  // longer edges were not looked at: all are at least so long
                edge = {group, INT64_MAX, INT64_MAX, -1};
                return;
            }
            edge = best;
            while (best.length < group &&
                   !__atomic_compare_exchange(&all.shortest[mine], &group, const_cast<double*>(&best.length), false, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED)) {
            }
        });
    });
}

// Prim's tree: `edge[place]` is that by which a row was reached.
inline void grow_tree(const TreeView& tree, Near near, size_t n, const double* core, double scale, double* nearest, Place* from,
                      std::uint8_t* gone, double* length, Place* order) {
    with_measure(near.apart, near.power, [&]<Apart A>(const Measure<A>& measure) {
        Scratch<double> query(tree.p);
        constexpr size_t VECTORS = LEAF / L;
        size_t leaf_of_me = 0, slot = 0;
        Place me = 0;
        for (size_t step = 0; step + 1 < n && !stopped(); ++step) {
            gone[me] = 1;
            read_row(tree, leaf_of_me, slot, query.data());
            double least = std::numeric_limits<double>::infinity();
            Place next = -1;
            size_t next_leaf = 0;
            for (size_t leaf = 0; leaf <= tree.inner; ++leaf) {
                V sum[VECTORS] = {};
                const double* column = tree.values + leaf * tree.p * LEAF;
                for (size_t j = 0; j < tree.p; ++j, column += LEAF) {
                    const V x = splat(query[j]);
                    for (size_t v = 0; v < VECTORS; ++v) sum[v] = measure.add(sum[v], measure.apart(x, load(column + v * L)));
                }
                double away[LEAF];
                std::memcpy(away, sum, sizeof sum);
                const size_t start = tree.start[leaf], count = tree.start[leaf + 1] - start;
                for (size_t i = 0; i < count; ++i) {
                    const size_t place = start + i;
                    if (gone[place]) continue;
                    const double reach = larger_of(larger_of(away[i] * scale, core[me]), core[place]);
                    if (reach < nearest[place]) nearest[place] = reach, from[place] = me;
                    if (nearest[place] < least) least = nearest[place], next = static_cast<Place>(place), next_leaf = leaf;
                }
            }
            if (next < 0) return;
            length[step] = least, order[step] = next;
            me = next, leaf_of_me = next_leaf, slot = static_cast<size_t>(next) - tree.start[next_leaf];
        }
    });
}

}  // namespace tenfold::TENFOLD_LEVEL
