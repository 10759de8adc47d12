// Sums of a nonlinear function of projected rows: one step of independent component analysis.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

enum class Contrast : int { log_cosh, exponential, cube };  // g = tanh(a y), y exp(-y^2 / 2), y^3

struct Projections {
    const double* center;     // p
    Rows<const double> axes;  // (k, p): y = axes (x - center)
    Contrast contrast;
    double a;
};

struct Ica {
    // products (k, p) = sum w g(y) (x - center)^T,  slopes (k) = sum w g'(y),  both zero before.
    void (*sums_double)(Rows<const double> X, Weights w, const Projections&, double* products, double* slopes);
    void (*sums_float)(Rows<const float> X, Weights w, const Projections&, double* products, double* slopes);
};

extern const Ica ica_baseline;
#if TENFOLD_X86_LEVELS
extern const Ica ica_avx2, ica_avx512;
#endif

}  // namespace tenfold
