// Isotonic regression by pooling neighbours that violate the order (Ayer et al. 1955; Best & Chakravarti 1990).
#pragma once

#include <vector>

#include "view.hpp"

namespace tenfold {

// pool_neighbours: the nondecreasing f with the least sum of w (y - f)^2; O(n) time. Weights are above zero.
//   The pools to the left always increase. A new value is a pool of its own; as long as the pool before it is not smaller,
//   the two become one, with their mean.
inline void pool_neighbours(std::span<const double> y, Weights w, double* out) {
    const size_t n = y.size();
    std::vector<size_t> start(n);
    std::vector<double> value(n), weight(n);
    size_t pools = 0;
    for (size_t i = 0; i < n; ++i) {
        if (i % 65536 == 0 && stopped()) return;
        double mean = y[i], size = w[i];
        size_t first = i;
        for (; pools > 0 && value[pools - 1] >= mean; --pools) {
            size += weight[pools - 1];
            mean += (value[pools - 1] - mean) * (weight[pools - 1] / size);
            first = start[pools - 1];
        }
        start[pools] = first, value[pools] = mean, weight[pools++] = size;
    }
    for (size_t k = 0; k < pools; ++k)
        std::fill(out + start[k], out + (k + 1 < pools ? start[k + 1] : n), value[k]);
}

}  // namespace tenfold
