// Compiled once per instruction set (see CMakeLists.txt): bins, histograms and losses of boosting.
#include "kernels/boosting/kernels.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(boost_, level)

extern const BoostKernels TENFOLD_NAMED(TENFOLD_LEVEL){
    .code_floats = TENFOLD_LEVEL::code_rows<float, std::uint8_t>,
    .code_doubles = TENFOLD_LEVEL::code_rows<double, std::uint8_t>,
    .code_floats_wide = TENFOLD_LEVEL::code_rows<float, std::uint16_t>,
    .code_doubles_wide = TENFOLD_LEVEL::code_rows<double, std::uint16_t>,
    .build_histogram = TENFOLD_LEVEL::build_histogram,
    .best_cut = TENFOLD_LEVEL::best_cut,
    .part_rows = TENFOLD_LEVEL::part_rows,
    .loss_terms = TENFOLD_LEVEL::loss_terms,
    .loss_rows = TENFOLD_LEVEL::loss_rows,
    .softmax_rows = TENFOLD_LEVEL::softmax_rows,
    .fix_terms = TENFOLD_LEVEL::fix_terms,
};

}  // namespace tenfold
