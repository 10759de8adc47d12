// Compiled once per instruction set (see CMakeLists.txt): sums of rows around points.
#include "kernels/nonlinear/local_sums.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(local_, level)

extern const Local TENFOLD_NAMED(TENFOLD_LEVEL){.local_sums = TENFOLD_LEVEL::local_sums};

}  // namespace tenfold
