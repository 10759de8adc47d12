// Compiled once per instruction set (see CMakeLists.txt): steps of independent component analysis.
#include "kernels/reduce/ica_sums.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(ica_, level)

extern const Ica TENFOLD_NAMED(TENFOLD_LEVEL){
    .sums_double = TENFOLD_LEVEL::ica_sums<double>,
    .sums_float = TENFOLD_LEVEL::ica_sums<float>,
};

}  // namespace tenfold
