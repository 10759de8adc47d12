// Isotonic regression by pooling neighbours that violate the order (Ayer et al. 1955; Best & Chakravarti 1990).
#pragma once

#include <memory>

#include "kernels/common/rows_view.hpp"

namespace tenfold {

// pool_neighbours: the nondecreasing f with the least sum of w (y - f)^2, in O(n). Weights are above zero; without any
// (w is empty) all are 1.
//   The pools to the left always increase. A run of values that never rises is a new pool; as long as the pool before it is
//   not smaller, the two become one, with their mean. `out` holds the values of the pools until all are known: pool k starts at row k
//   or later, so that they can be spread over their rows from the right.
template <bool weighted>
void pool_neighbours(std::span<const double> y, [[maybe_unused]] Weights w, double* out) {
    const size_t n = y.size();
    const auto start = std::make_unique_for_overwrite<size_t[]>(n + 1);
    const auto weight = std::make_unique_for_overwrite<double[]>(weighted ? n : 0);
    size_t pools = 0;
    for (size_t first = 0, i = 0; i < n; first = i) {
        if (stopped()) return;
        double size = 0, sum = 0;
        do {  // a run that never rises is one pool
            const double one = weighted ? w[i] : 1.0;
            size += one, sum += one * y[i];
        } while (++i < n && y[i] <= y[i - 1] && i % 65536 != 0);
        double mean = i - first == 1 ? y[first] : sum / size;
        for (; pools > 0 && out[pools - 1] >= mean; mean = sum / size) {
            --pools;
            const double heavy = weighted ? weight[pools] : static_cast<double>(first - start[pools]);
            size += heavy, sum += heavy * out[pools];
            first = start[pools];
        }
        start[pools] = first, out[pools] = mean;
        if constexpr (weighted) weight[pools] = size;
        ++pools;
    }
    for (size_t k = pools, end = n; k-- > 0; end = start[k]) std::fill(out + start[k], out + end, out[k]);
}

}  // namespace tenfold
