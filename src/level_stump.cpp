// Compiled once per instruction set (see CMakeLists.txt): the search for the best cut in two.
#include "kernels/tree/stump_search.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(stumps_, level)

extern const StumpKernels TENFOLD_NAMED(TENFOLD_LEVEL){TENFOLD_LEVEL::sum_chunks, TENFOLD_LEVEL::best_of_two,
                                                         TENFOLD_LEVEL::best_of_many};

}  // namespace tenfold
