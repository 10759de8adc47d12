// The search through a k-d tree: down to the leaf of the query, then back through those whose boxes are near enough.
#pragma once

#include "kernels/common/simd.hpp"
#include "kernels/near/apart.hpp"
#include "kernels/near/tree_nodes.hpp"

namespace tenfold::TENFOLD_LEVEL {

// How far a box may seem to be, by rounding, beyond where it is.
constexpr double CAREFUL = 1 - 1e-13;

// Takes: `reach()`, beyond which nothing is wanted, and `offer(Neighbor)`.
template <Apart A, class Taker>
class TreeSearch {
public:
    TreeSearch(const TreeView& tree, const Measure<A>& measure) : tree_(tree), measure_(measure), side_(tree.p) {}

    void search(const double* query, std::int64_t skip, Taker& taker) {
        query_ = query, skip_ = skip, taker_ = &taker;
        double away = 0;
        for (size_t j = 0; j < tree_.p; ++j) {
            side_[j] = larger_of(larger_of(tree_.low[j] - query[j], query[j] - tree_.high[j]), 0.0);
            away = measure_.add(away, measure_.part(side_[j]));
        }
        visit(0, away);
    }

private:
    void visit(size_t at, double away) {
        if (at >= tree_.inner) return leaf(at - tree_.inner);
        const auto j = static_cast<size_t>(tree_.column[at]);
        const double beyond = query_[j] - tree_.cut[at];
        const size_t first = 2 * at + (beyond < 0 ? 1 : 2), second = 4 * at + 3 - first;
        visit(first, away);
        const double before = side_[j], now = std::fabs(beyond);
        const double other = measure_.exchanged(away, measure_.part(before), measure_.part(now));
        if (other * CAREFUL > taker_->reach()) return;
        side_[j] = now;
        visit(second, other);
        side_[j] = before;
    }

    void leaf(size_t number) {
        constexpr size_t VECTORS = LEAF / L;
        V sum[VECTORS] = {};
        const double* column = tree_.values + number * tree_.p * LEAF;
        for (size_t j = 0; j < tree_.p; ++j, column += LEAF) {
            const V x = splat(query_[j]);
            for (size_t v = 0; v < VECTORS; ++v) sum[v] = measure_.add(sum[v], measure_.apart(x, load(column + v * L)));
        }
        const size_t count = tree_.start[number + 1] - tree_.start[number];
        const std::int64_t* rows = tree_.number + number * LEAF;
        double away[LEAF];
        std::memcpy(away, sum, sizeof sum);
        for (size_t i = 0; i < count; ++i)
            if (away[i] <= taker_->reach() && rows[i] != skip_) taker_->offer({away[i], rows[i]});
    }

    const TreeView& tree_;
    const Measure<A>& measure_;
    Scratch<double> side_;
    const double* query_ = nullptr;
    std::int64_t skip_ = -1;
    Taker* taker_ = nullptr;
};

inline void tree_nearest(const TreeView& tree, Rows<const double> queries, size_t k, const std::int64_t* skip, Apart apart,
                         double power, double* distance, std::int64_t* row) {
    with_measure(apart, power, [&]<Apart A>(const Measure<A>& measure) {
        Scratch<Neighbor> heap(k);
        TreeSearch<A, Nearest> search(tree, measure);
        for (size_t q = 0; q < queries.n && !stopped(); ++q) {
            Nearest nearest(heap.data(), k);
            search.search(queries[q], skip ? skip[q] : -1, nearest);
            nearest.sort();
            for (size_t i = 0; i < k; ++i) distance[q * k + i] = heap[i].distance, row[q * k + i] = heap[i].row;
        }
    });
}

inline void tree_within(const TreeView& tree, Rows<const double> queries, double radius, const std::int64_t* skip, Apart apart,
                        double power, Within& found, size_t* ends) {
    with_measure(apart, power, [&]<Apart A>(const Measure<A>& measure) {
        TreeSearch<A, Collected> search(tree, measure);
        for (size_t q = 0; q < queries.n && !stopped(); ++q) {
            Collected all{found, radius};
            search.search(queries[q], skip ? skip[q] : -1, all);
            ends[q] = found.count;
        }
    });
}

// How many rows are at most radius[q] away from query q.
inline void tree_count(const TreeView& tree, Rows<const double> queries, const double* radius, const std::int64_t* skip, Apart apart,
                       double power, std::int64_t* count) {
    with_measure(apart, power, [&]<Apart A>(const Measure<A>& measure) {
        TreeSearch<A, Counted> search(tree, measure);
        for (size_t q = 0; q < queries.n && !stopped(); ++q) {
            Counted some{radius[q]};
            search.search(queries[q], skip ? skip[q] : -1, some);
            count[q] = some.count;
        }
    });
}

}  // namespace tenfold::TENFOLD_LEVEL
