// Kernels of clusters of dense rows, compiled once per instruction set. Each works on the rows of some leaves of a k-d tree.
#pragma once

#include "kernels/cluster/joined.hpp"
#include "kernels/near/found.hpp"
#include "kernels/near/tree_nodes.hpp"

namespace tenfold {

constexpr Place NO_ROW = -2, MANY_GROUPS = -1;  // of a node: it has no dense rows, or they are not known to be of one group

struct Leaves {
    size_t begin, end;
};

// Within which distance, in the unit of sums, rows are near.
struct Near {
    Apart apart;
    double power, radius;
};

struct DensityKernels {
    // Whether the rows within the radius of each weigh `least` or more.
    void (*find_dense)(const TreeView& tree, Leaves leaves, const double* weight, Near near, double least, std::uint8_t* dense);
    // Joins dense rows that are near one another (`joined.hpp`).
    void (*join_dense)(const TreeView& tree, Leaves leaves, Near near, const std::uint8_t* dense, Place* above, Place* one);
    // Of rows that are not dense, the least label of dense rows that are near.
    void (*label_border)(const TreeView& tree, Leaves leaves, Near near, const std::uint8_t* dense, const Place* one,
                         std::int64_t* label);
};

extern const DensityKernels density_baseline;
#if TENFOLD_X86_LEVELS
extern const DensityKernels density_avx2, density_avx512;
#endif

}  // namespace tenfold
