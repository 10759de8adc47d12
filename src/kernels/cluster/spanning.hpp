// The shortest tree that connects all rows, whose edges are the merges of single linkage. With `cores`, an edge is at least as long as
// those of both of its rows: mutual reachability.
#pragma once

#include "kernels/cluster/clusters.hpp"

namespace tenfold {

// Row by row, always the nearest to those before (Prim 1957). Told: the row that came before, which at every height is in the cluster
// that the new one joins.
inline void spanning_rows(const LinkageKernels& kernels, Rows<const double> rows, const Distance& distance, const double* cores,
                          std::vector<Merge>& merges) {
    const size_t n = rows.n;
    constexpr size_t STEP = 128;  // blocks at a time
    Packed packed(rows);
    std::vector<std::int64_t> number(n);
    for (size_t i = 0; i < n; ++i) number[i] = static_cast<std::int64_t>(i);
    std::vector<double> nearest(n, FAR), gone(n, 0.0), core(cores, cores ? cores + n : cores), away(STEP * SIDE);
    size_t m = n, left = n, at = 0;
    for (std::int64_t here = 0; left > 1;) {
        leave_if_stopped();
        gone[at] = FAR;
        --left;
        if (left * 5 < m * 4) {  // without those that are in the tree
            size_t to = 0;
            for (size_t i = 0; i < m; ++i)
                if (gone[i] == 0) {
                    if (to != i) {
                        number[to] = number[i], nearest[to] = nearest[i];
                        if (cores) core[to] = core[i];
                        packed.put(to, rows[static_cast<size_t>(number[to])]);
                    }
                    gone[to++] = 0.0;
                }
            m = packed.n = to;
        }
        Neighbor next{FAR, -1};
        for (size_t block = 0; block < packed.blocks(); block += STEP) {
            const size_t end = std::min(packed.blocks(), block + STEP), i = block * SIDE;
            kernels.away(packed.view(), rows[static_cast<size_t>(here)], 1, block, end, distance, away.data(), 0);
            const Neighbor found = kernels.reach(away.data(), cores ? cores[here] : 0.0, cores ? core.data() + i : nullptr, gone.data() + i,
                                                 std::min(m, end * SIDE) - i, nearest.data() + i);
            if (found.row >= 0 && found.distance < next.distance) next = {found.distance, found.row + static_cast<std::int64_t>(i)};
        }
        if (next.row < 0) throw std::overflow_error("a distance is not finite");
        at = static_cast<size_t>(next.row);
        merges.push_back({here, number[at], next.distance});
        here = number[at];
    }
}

// The same of a table of distances.
inline void spanning_table(const LinkageKernels& kernels, const PairTable& table, size_t n, std::vector<Merge>& merges) {
    std::vector<double> nearest(n, FAR), gone(n, 0.0), away(n);
    size_t here = 0;
    for (size_t left = n; left > 1; --left) {
        leave_if_stopped();
        gone[here] = FAR;
        if (here) std::memcpy(away.data(), table.row(here), here * sizeof(double));
        away[here] = FAR;
        for (size_t i = here + 1; i < n; ++i)
            if (gone[i] == 0) away[i] = table.at(i, here);
        const Neighbor next = kernels.reach(away.data(), 0.0, nullptr, gone.data(), n, nearest.data());
        if (next.row < 0) throw std::overflow_error("a distance is not finite");
        merges.push_back({static_cast<std::int64_t>(here), next.row, next.distance});
        here = static_cast<size_t>(next.row);
    }
}

}  // namespace tenfold
