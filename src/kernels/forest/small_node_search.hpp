// The best split of a node of a few rows, without a histogram: each row is compared with each, in vectors.
#pragma once

#include "kernels/common/simd.hpp"
#include "kernels/forest/small_node.hpp"

namespace tenfold::TENFOLD_LEVEL {

// Room is a multiple of 8; sums[i] becomes the sum of the cells whose bin is at most that of row i.
template <size_t Room>
inline SmallNodeSplit best_in(const std::uint8_t* column, const std::uint32_t* rows, const std::uint64_t* cells, size_t m,
                       unsigned shift, double mean, double weight) {
    alignas(64) std::int64_t bins[Room];
    alignas(64) std::uint64_t sums[Room];  // weights may reach the highest bit
    alignas(64) double scores[Room];
    for (size_t i = 0; i < Room; ++i) bins[i] = i < m ? column[rows[i]] : 256, sums[i] = 0;
    for (size_t j = 0; j < m; ++j) {
        const std::int64_t bin = bins[j];
        const std::uint64_t cell = cells[j];
        for (size_t i = 0; i < Room; ++i) sums[i] += bins[i] >= bin ? cell : 0;
    }
    const std::uint64_t low = (std::uint64_t{1} << shift) - 1;
    for (size_t i = 0; i < Room; ++i) {
        const std::uint64_t sum = sums[i];
        const double w = static_cast<double>(static_cast<std::int64_t>(sum >> shift));
        const double d = static_cast<double>(static_cast<std::int64_t>(sum & low)) - w * mean, rest = weight - w;
        const double score = d * d / (w * (rest > 0 ? rest : 1.0));
        scores[i] = rest > 0 ? score : -1.0;  // nothing is left on the right
    }
    double most = -1.0;
    for (size_t i = 0; i < Room; ++i) most = scores[i] > most ? scores[i] : most;
    SmallNodeSplit best{most, 0, 256};
    if (most < 0) return best;
    for (size_t i = 0; i < m; ++i)  // of equals the lowest
        if (scores[i] >= most * (1 - 1e-9) && bins[i] < static_cast<std::int64_t>(best.bin))
            best = {scores[i], sums[i], static_cast<std::uint32_t>(bins[i])};
    return best;
}

inline SmallNodeSplit small_node_split(const std::uint8_t* column, const std::uint32_t* rows, const std::uint64_t* cells, size_t m,
                           unsigned shift, double mean, double weight) {
    if (m <= 8) return best_in<8>(column, rows, cells, m, shift, mean, weight);
    if (m <= 16) return best_in<16>(column, rows, cells, m, shift, mean, weight);
    return best_in<SMALL_NODE_ROWS>(column, rows, cells, m, shift, mean, weight);
}

}  // namespace tenfold::TENFOLD_LEVEL
