// The kernels of boosting, compiled once for each instruction set.
#pragma once

#include "bins.hpp"

namespace tenfold {

struct BoostKernels {
    CodeRows<float>* code_floats;
    CodeRows<double>* code_doubles;
};

extern const BoostKernels boost_baseline, boost_avx2, boost_avx512;

}  // namespace tenfold
