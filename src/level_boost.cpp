// Compiled once per instruction set (see CMakeLists.txt): bins, histograms and losses of boosting.
#include "kernels/boost_table.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(boost_, level)

extern const BoostKernels TENFOLD_NAMED(TENFOLD_LEVEL){
    .code_floats = TENFOLD_LEVEL::code_rows<float>,
    .code_doubles = TENFOLD_LEVEL::code_rows<double>,
};

}  // namespace tenfold
