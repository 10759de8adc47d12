// Rows changed column by column, or each by its length: what is there for each instruction set.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

enum class Length { sum, root, largest };

struct Columns {
    // z = (x - shift) / scale
    void (*standardize)(Rows<const double> X, const double* shift, const double* scale, double* out);
    // z = (x - shift) * scale + plus
    void (*spread_out)(Rows<const double> X, const double* shift, const double* scale, const double* plus, double* out);
    // z = x, or the value of its column where it is NaN
    void (*fill)(Rows<const double> X, const double* value, double* out);
    // z = x / |x|; a row of zeros stays one
    void (*unit_rows_double)(Rows<const double> X, Length kind, double* out);
    void (*unit_rows_float)(Rows<const float> X, Length kind, float* out);
    // whether no value but NaN is larger than `largest` in size
    bool (*within_double)(std::span<const double> values, double largest);
    bool (*within_float)(std::span<const float> values, double largest);
};

extern const Columns columns_baseline;
#if TENFOLD_X86_LEVELS
extern const Columns columns_avx2, columns_avx512;
#endif

}  // namespace tenfold
