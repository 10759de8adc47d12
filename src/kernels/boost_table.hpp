// The kernels of boosting, compiled once for each instruction set.
#pragma once

#include "column_bins.hpp"
#include "histogram.hpp"
#include "losses.hpp"

namespace tenfold {

struct BoostKernels {
    CodeRows<float>* code_floats;
    CodeRows<double>* code_doubles;
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
