// Weighted means and the upper triangle of centred cross-products: what is there for each instruction set.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

struct Packed {
    // Doubles that the memory of a packed triangle of p columns must have while it is summed.
    size_t (*room)(size_t p);
    void (*moments_double)(Rows<const double> X, Labels rows, Weights w, double& weight, double* center, double* offset,
                           double* packed);
    void (*moments_float)(Rows<const float> X, Labels rows, Weights w, double& weight, double* center, double* offset,
                          double* packed);
    void (*merge)(double* A, const double* B, std::span<const double> d);
};

extern const Packed packed_baseline;
#if TENFOLD_X86_LEVELS
extern const Packed packed_avx2, packed_avx512;
#endif

}  // namespace tenfold
