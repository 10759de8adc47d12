// Compiled once per instruction set (see CMakeLists.txt): clusters of dense rows.
#include "kernels/cluster/dense_rows.hpp"
#include "kernels/cluster/density_kernels.hpp"
#include "kernels/cluster/mean_shift.hpp"
#include "kernels/cluster/reach.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(density_, level)

extern const DensityKernels TENFOLD_NAMED(TENFOLD_LEVEL){
    .find_dense = TENFOLD_LEVEL::find_dense,
    .join_dense = TENFOLD_LEVEL::join_dense,
    .label_border = TENFOLD_LEVEL::label_border,
    .shift = TENFOLD_LEVEL::shift,
    .find_cores = TENFOLD_LEVEL::find_cores,
    .find_edges = TENFOLD_LEVEL::find_edges,
    .grow_tree = TENFOLD_LEVEL::grow_tree,
};

}  // namespace tenfold
