// Merges of clusters, and the tree that they make.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cluster/linkage_kernels.hpp"

namespace tenfold {

// Two clusters, each told by one of its rows, and how far they were apart.
struct Merge {
    std::int64_t first, second;
    double height;
};

// The table of a tree, (n - 1, 4): the two clusters (rows are 0 .. n - 1, merge k is n + k), the smaller number first, how far they
// were apart, and how many rows they have together. Sorted: by rising height, equal ones in the order of merges.
inline void tell_tree(std::vector<Merge>& merges, bool sorted, double* out) {
    const size_t n = merges.size() + 1;
    if (sorted) std::stable_sort(merges.begin(), merges.end(), [](const Merge& a, const Merge& b) { return a.height < b.height; });
    std::vector<std::int64_t> parent(2 * n - 1), rows(2 * n - 1, 1);
    for (size_t i = 0; i < parent.size(); ++i) parent[i] = static_cast<std::int64_t>(i);
    const auto top = [&](std::int64_t at) {
        std::int64_t end = at;
        while (parent[static_cast<size_t>(end)] != end) end = parent[static_cast<size_t>(end)];
        while (parent[static_cast<size_t>(at)] != end) at = std::exchange(parent[static_cast<size_t>(at)], end);
        return end;
    };
    for (size_t k = 0; k + 1 < n; ++k) {
        const std::int64_t a = top(merges[k].first), b = top(merges[k].second), made = static_cast<std::int64_t>(n + k);
        const auto together = rows[static_cast<size_t>(a)] + rows[static_cast<size_t>(b)];
        parent[static_cast<size_t>(a)] = parent[static_cast<size_t>(b)] = made;
        rows[static_cast<size_t>(made)] = together;
        out[4 * k] = static_cast<double>(std::min(a, b));
        out[4 * k + 1] = static_cast<double>(std::max(a, b));
        out[4 * k + 2] = merges[k].height;
        out[4 * k + 3] = static_cast<double>(together);
    }
}

}  // namespace tenfold
