// Compiled once per instruction set (see CMakeLists.txt): rows changed column by column.
#include "kernels/prepare/columns.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(columns_, level)

extern const Columns TENFOLD_NAMED(TENFOLD_LEVEL){
    .standardize = TENFOLD_LEVEL::standardize,
    .spread_out = TENFOLD_LEVEL::spread_out,
    .fill = TENFOLD_LEVEL::fill,
    .unit_rows_double = TENFOLD_LEVEL::unit_rows<double>,
    .unit_rows_float = TENFOLD_LEVEL::unit_rows<float>,
    .within_double = TENFOLD_LEVEL::within<double>,
    .within_float = TENFOLD_LEVEL::within<float>,
};

}  // namespace tenfold
