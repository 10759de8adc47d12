// Compiled once per instruction set (see CMakeLists.txt): searches for the nearest rows.
#include "kernels/near/all_rows.hpp"
#include "kernels/near/codes_search.hpp"
#include "kernels/near/graph_search.hpp"
#include "kernels/near/near_kernels.hpp"
#include "kernels/near/tree_search.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(near_, level)

extern const NearKernels TENFOLD_NAMED(TENFOLD_LEVEL){
    .pack = TENFOLD_LEVEL::pack,
    .drop = TENFOLD_LEVEL::drop,
    .all_nearest = TENFOLD_LEVEL::all_nearest,
    .all_within = TENFOLD_LEVEL::all_within,
    .tree_nearest = TENFOLD_LEVEL::tree_nearest,
    .tree_within = TENFOLD_LEVEL::tree_within,
    .tree_count = TENFOLD_LEVEL::tree_count,
    .graph_join = TENFOLD_LEVEL::graph_join,
    .graph_answer = TENFOLD_LEVEL::graph_answer,
    .graph_nearest = TENFOLD_LEVEL::graph_nearest,
    .codes_nearest = TENFOLD_LEVEL::codes_nearest,
};

}  // namespace tenfold
