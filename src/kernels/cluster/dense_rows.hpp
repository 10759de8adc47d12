// Dense rows of a k-d tree: those with enough others within a radius, joined where they are within it of one another.
#pragma once

#include "kernels/cluster/density_kernels.hpp"
#include "kernels/cluster/guided_search.hpp"

namespace tenfold::TENFOLD_LEVEL {

// Adds up the weight of rows within a radius until there is enough.
struct Weighing {
    const double* weight;  // by place; null: one each
    double radius, least, sum = 0;

    TENFOLD_INLINE double reach() const { return sum < least ? radius : -1.0; }
    TENFOLD_INLINE bool passes(size_t, double) const { return sum >= least; }
    TENFOLD_INLINE void offer(Place place, double) { sum += weight ? weight[place] : 1.0; }
    TENFOLD_INLINE void left(size_t) const {}
};

// Joins a dense row with all dense rows within the radius. A node whose dense rows are known to be of one group says so, and is
// passed by the rows of that group: crowds are seen once.
struct Joining {
    const TreeView& tree;
    const std::uint8_t* dense;
    Place *above, *one;  // one: a dense row of each node where all of them are in its group, else MANY or NONE
    double radius;
    Place me;

    TENFOLD_INLINE double reach() const { return radius; }
    TENFOLD_INLINE bool passes(size_t node, double) const {
        const Place known = read(one[node]);
        return known == NO_ROW || (known >= 0 && root_of(above, known) == root_of(above, me));
    }
    TENFOLD_INLINE void offer(Place place, double) {
        if (dense[place]) join(above, me, place);
    }
    TENFOLD_INLINE void left(size_t node) {
        if (read(one[node]) == MANY_GROUPS) write(one[node], node < tree.inner ? of_children(node) : of_leaf(node - tree.inner));
    }
    TENFOLD_INLINE Place of_children(size_t node) const {
        const Place a = read(one[2 * node + 1]), b = read(one[2 * node + 2]);
        if (a == NO_ROW || b == NO_ROW) return a == NO_ROW ? b : a;
        if (a == MANY_GROUPS || b == MANY_GROUPS) return MANY_GROUPS;
        return root_of(above, a) == root_of(above, b) ? a : MANY_GROUPS;
    }
    TENFOLD_INLINE Place of_leaf(size_t leaf) const {
        Place found = NO_ROW;
        for (size_t i = tree.start[leaf]; i < tree.start[leaf + 1]; ++i) {
            if (!dense[i]) continue;
            const Place root = root_of(above, static_cast<Place>(i));
            if (found != NO_ROW && found != root) return MANY_GROUPS;
            found = root;
        }
        return found;
    }
};

// The first of the groups that a row which is not dense is within the radius of.
struct Bordering {
    const std::uint8_t* dense;
    const Place* one;
    const std::int64_t* label;  // by place
    double radius;
    std::int64_t best = INT64_MAX;

    TENFOLD_INLINE double reach() const { return radius; }
    TENFOLD_INLINE bool passes(size_t node, double) const { return one[node] == NO_ROW || (one[node] >= 0 && label[one[node]] >= best); }
    TENFOLD_INLINE void offer(Place place, double) {
        if (dense[place]) best = std::min(best, label[place]);
    }
    TENFOLD_INLINE void left(size_t) const {}
};

inline void find_dense(const TreeView& tree, Leaves leaves, const double* weight, Near near, double least, std::uint8_t* dense) {
    with_measure(near.apart, near.power, [&]<Apart A>(const Measure<A>& measure) {
        GuidedSearch<A, Weighing> search(tree, measure);
        each_row(tree, leaves, [&](const double* query, Place place) {
            Weighing weighing{weight, near.radius, least};
            search.search(query, weighing);
            dense[place] = weighing.sum >= least;
        });
    });
}

inline void join_dense(const TreeView& tree, Leaves leaves, Near near, const std::uint8_t* dense, Place* above, Place* one) {
    with_measure(near.apart, near.power, [&]<Apart A>(const Measure<A>& measure) {
        GuidedSearch<A, Joining> search(tree, measure);
        each_row(tree, leaves, [&](const double* query, Place place) {
            if (!dense[place]) return;
            Joining joining{tree, dense, above, one, near.radius, place};
            search.search(query, joining);
        });
    });
}

inline void label_border(const TreeView& tree, Leaves leaves, Near near, const std::uint8_t* dense, const Place* one,
                         std::int64_t* label) {
    with_measure(near.apart, near.power, [&]<Apart A>(const Measure<A>& measure) {
        GuidedSearch<A, Bordering> search(tree, measure);
        each_row(tree, leaves, [&](const double* query, Place place) {
            if (dense[place]) return;
            Bordering border{dense, one, label, near.radius};
            search.search(query, border);
            if (border.best != INT64_MAX) label[place] = border.best;
        });
    });
}

}  // namespace tenfold::TENFOLD_LEVEL
