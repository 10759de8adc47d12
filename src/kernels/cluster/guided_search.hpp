// A search through a k-d tree in which somebody else knows which nodes need not be seen, as those whose rows are all of one group.
#pragma once

#include "kernels/cluster/density_kernels.hpp"
#include "kernels/near/tree_search.hpp"

namespace tenfold::TENFOLD_LEVEL {

// A row of a leaf as a query.
TENFOLD_INLINE void read_row(const TreeView& tree, size_t leaf, size_t i, double* row) {
    for (size_t j = 0; j < tree.p; ++j) row[j] = tree.values[(leaf * tree.p + j) * LEAF + i];
}

// Calls work(query, place) for the rows of some leaves.
template <class Work>
TENFOLD_INLINE void each_row(const TreeView& tree, Leaves leaves, Work&& work) {
    Scratch<double> query(tree.p);
    for (size_t leaf = leaves.begin; leaf < leaves.end && !stopped(); ++leaf)
        for (size_t i = 0; i < tree.start[leaf + 1] - tree.start[leaf]; ++i) {
            read_row(tree, leaf, i, query.data());
            work(query.data(), static_cast<Place>(tree.start[leaf] + i));
        }
}

// Asks its guide: `reach()`, beyond which nothing is wanted; `passes(node, away)`, whether a node whose box is `away` may be left
// out; `offer(place, distance)`, a row by its place in the order of leaves; `left(node)`, after all of it has been seen.
template <Apart A, class Guide>
class GuidedSearch {
public:
    GuidedSearch(const TreeView& tree, const Measure<A>& measure) : tree_(tree), measure_(measure), side_(tree.p) {}

    TENFOLD_INLINE void search(const double* query, Guide& guide) {
        query_ = query, guide_ = &guide;
        double away = 0;
        for (size_t j = 0; j < tree_.p; ++j) {
            side_[j] = larger_of(larger_of(tree_.low[j] - query[j], query[j] - tree_.high[j]), 0.0);
            away = measure_.add(away, measure_.part(side_[j]));
        }
        visit(0, away);
    }

private:
    void visit(size_t at, double away) {
        if (guide_->passes(at, away)) return;
        if (at >= tree_.inner) return leaf(at);
        const auto j = static_cast<size_t>(tree_.column[at]);
        const double beyond = query_[j] - tree_.cut[at];
        const size_t first = 2 * at + (beyond < 0 ? 1 : 2), second = 4 * at + 3 - first;
        visit(first, away);
        const double before = side_[j], now = std::fabs(beyond);
        const double other = measure_.exchanged(away, measure_.part(before), measure_.part(now));
        if (other * CAREFUL <= guide_->reach()) {
            side_[j] = now;
            visit(second, other);
            side_[j] = before;
        }
        guide_->left(at);
    }

    void leaf(size_t at) {
        constexpr size_t VECTORS = LEAF / L;
        const size_t number = at - tree_.inner;
        V sum[VECTORS] = {};
        const double* column = tree_.values + number * tree_.p * LEAF;
        for (size_t j = 0; j < tree_.p; ++j, column += LEAF) {
            const V x = splat(query_[j]);
            for (size_t v = 0; v < VECTORS; ++v) sum[v] = measure_.add(sum[v], measure_.apart(x, load(column + v * L)));
        }
        const size_t start = tree_.start[number], count = tree_.start[number + 1] - start;
        double away[LEAF];
        std::memcpy(away, sum, sizeof sum);
        for (size_t i = 0; i < count; ++i)
            if (away[i] <= guide_->reach()) guide_->offer(static_cast<Place>(start + i), away[i]);
        guide_->left(at);
    }

    const TreeView& tree_;
    const Measure<A>& measure_;
    Scratch<double> side_;
    const double* query_ = nullptr;
    Guide* guide_ = nullptr;
};

}  // namespace tenfold::TENFOLD_LEVEL
