// Compiled once per instruction set (see CMakeLists.txt): distances of all pairs of rows, and swaps of medoids.
#include "kernels/cluster/pairs.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(pairs_, level)

extern const PairsKernels TENFOLD_NAMED(TENFOLD_LEVEL){
    .sums = TENFOLD_LEVEL::sums,
    .change = TENFOLD_LEVEL::change<float>,
    .change64 = TENFOLD_LEVEL::change<double>,
};

}  // namespace tenfold
