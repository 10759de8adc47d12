// The kernels of boosting, compiled once for each instruction set.
#pragma once

#include "kernels/boosting/column_bins.hpp"
#include "kernels/boosting/histogram.hpp"
#include "kernels/boosting/losses.hpp"

namespace tenfold {

struct BoostKernels {
    CodeRows<float, std::uint8_t>* code_floats;
    CodeRows<double, std::uint8_t>* code_doubles;
    CodeRows<float, std::uint16_t>* code_floats_wide;
    CodeRows<double, std::uint16_t>* code_doubles_wide;
    BuildHistogram* build_histogram;
    BestCut* best_cut;
    PartRows* part_rows;
    LossTerms* loss_terms;
    LossRows* loss_rows;
    SoftmaxRows* softmax_rows;
    FixTerms* fix_terms;
};

extern const BoostKernels boost_baseline, boost_avx2, boost_avx512;

}  // namespace tenfold
