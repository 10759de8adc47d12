// Compiled once per instruction set (see CMakeLists.txt): the search for splits in small nodes of forests.
#include "kernels/forest/small_node_search.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(forest_, level)

extern const ForestKernels TENFOLD_NAMED(TENFOLD_LEVEL){.small_node_split = TENFOLD_LEVEL::small_node_split};

}  // namespace tenfold
