// Compiled once per instruction set (see CMakeLists.txt): sums of kernels over rows.
#include "kernels/summation/summer.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(summation_, level)

extern const SumsKernels TENFOLD_NAMED(TENFOLD_LEVEL){.expand = TENFOLD_LEVEL::expand_node, .sum = TENFOLD_LEVEL::sum_points};

}  // namespace tenfold
