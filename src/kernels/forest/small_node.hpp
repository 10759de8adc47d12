// Splits of small nodes of forests: what is compiled once for each instruction set (small_node_search.hpp).
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

// The best split of a column in a small node: `bin` is 256 where all rows are in one bin.
struct SmallNodeSplit {
    double score;
    std::uint64_t sums;
    std::uint32_t bin;
};
constexpr size_t SMALL_NODE_ROWS = 32;

struct ForestKernels {
    SmallNodeSplit (*small_node_split)(const std::uint8_t* column, const std::uint32_t* rows, const std::uint64_t* cells, size_t m,
                           unsigned shift, double mean, double weight);
};
extern const ForestKernels forest_baseline, forest_avx2, forest_avx512;

}  // namespace tenfold
