// Chains of nearest neighbours: from any cluster to its nearest, to the nearest of that, and on, until two are nearest to one another,
// which are merged (Benzécri 1982, Murtagh 1983). Where others are equally near the first of them is taken, and rather the one that
// the chain came from.
#pragma once

#include "kernels/cluster/clusters.hpp"

namespace tenfold {

inline void must_be_finite(const Neighbor& nearest) {
    if (nearest.row < 0) throw std::overflow_error("a distance is not finite");
}

// Merges until so many clusters are left, and keeps those.
template <class Clusters>
void chain(Clusters& clusters, size_t until, std::vector<Merge>& merges) {
    const size_t m = clusters.known.size();
    size_t left = m, start = 0;
    std::vector<double> away(m), gone(m, 0.0);
    std::vector<size_t> path;
    while (left > until) {
        leave_if_stopped();
        if (path.empty()) {
            while (gone[start] != 0) ++start;
            path.push_back(start);
        }
        const size_t x = path.back();
        clusters.away(x, away.data());
        const Neighbor nearest = clusters.kernels.least(away.data(), gone.data(), m);
        must_be_finite(nearest);
        const size_t y = static_cast<size_t>(nearest.row);
        if (path.size() < 2 || away[path[path.size() - 2]] > nearest.distance) {
            path.push_back(y);
            continue;
        }
        const size_t before = path[path.size() - 2], low = std::min(x, before), high = std::max(x, before);
        path.resize(path.size() - 2);
        merges.push_back({clusters.known.row[low], clusters.known.row[high], nearest.distance});
        clusters.join(low, high, nearest.distance);
        gone[low] = FAR;
        --left;
        // Rounding may have led the chain to a cluster twice: then it starts anew.
        for (const size_t one : path)
            if (gone[one] != 0) {
                path.clear();
                break;
            }
    }
    std::vector<size_t> still;
    for (size_t i = 0; i < m; ++i)
        if (gone[i] == 0) still.push_back(i);
    clusters.keep(still);
}

// Any linkage, one nearest pair after the other (Müllner 2011): each cluster knows a nearest one among those before it, or a bound on
// how far that is.
inline void nearest_pairs(Tabled& clusters, std::vector<Merge>& merges) {
    const size_t m = clusters.known.size();
    const PairTable& table = clusters.table;
    std::vector<double> gone(m, 0.0), bound(m, FAR);
    std::vector<size_t> nearest(m, 0);
    const auto look = [&](size_t i) {
        const Neighbor found = clusters.kernels.least(table.row(i), gone.data(), i);
        bound[i] = found.distance;  // infinite where nothing is before it
        nearest[i] = found.row < 0 ? 0 : static_cast<size_t>(found.row);
    };
    for (size_t i = 1; i < m; ++i) look(i);
    for (size_t left = m; left > 1; --left) {
        leave_if_stopped();
        size_t i = 0;
        for (;;) {
            const Neighbor found = clusters.kernels.least(bound.data(), gone.data(), m);
            must_be_finite(found);
            i = static_cast<size_t>(found.row);
            if (gone[nearest[i]] == 0 && table.at(i, nearest[i]) == bound[i]) break;
            look(i);
        }
        const size_t j = nearest[i];
        const double height = bound[i];
        merges.push_back({clusters.known.row[j], clusters.known.row[i], height});
        // The first of both goes on, for none of those after it need look among more than before.
        clusters.join(i, j, height);
        gone[i] = FAR;
        if (j > 0) look(j);
        for (size_t k = j + 1; k < m; ++k)
            if (gone[k] == 0) {
                const double d = table.at(k, j);
                if (d < bound[k]) bound[k] = d, nearest[k] = j;
                else if (nearest[k] == i) nearest[k] = j;
            }
    }
}

}  // namespace tenfold
