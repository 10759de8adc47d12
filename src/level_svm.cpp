// Compiled once per instruction set (see CMakeLists.txt): kernels of rows, and steps of support vector machines.
#include "kernels/machines/kernel_sums.hpp"
#include "kernels/machines/working_set.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(svm_, level)

extern const Svm TENFOLD_NAMED(TENFOLD_LEVEL){
    .doubles = {.columns = TENFOLD_LEVEL::COLUMNS,
                .sums = TENFOLD_LEVEL::kernel_sums<double>,
                .block = TENFOLD_LEVEL::kernel_block<double>,
                .solve = TENFOLD_LEVEL::solve_working_set<double>},
    .floats = {.columns = TENFOLD_LEVEL::COLUMNS,
               .sums = TENFOLD_LEVEL::kernel_sums<float>,
               .block = TENFOLD_LEVEL::kernel_block<float>,
               .solve = TENFOLD_LEVEL::solve_working_set<float>},
};

}  // namespace tenfold
