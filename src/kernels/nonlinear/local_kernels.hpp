// Sums of the rows around points, weighted by a kernel of their distance: what local means and local lines need.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

enum class Around : int { gaussian, epanechnikov, tricube };

// n rows by columns: (p, n) of X, (t, n) of the targets, n weights, of which those beyond the rows are zero; n is a
// multiple of 8. `inverse` holds 1 / bandwidth of each column.
struct LocalRows {
    const double* columns;
    const double* targets;
    const double* inverse;
    size_t n, p, t;

    // K, K z, K z z^T (lower triangle), K y, K z y, and the place of the point; z and the place are relative to the
    // nearest row, in bandwidths.
    TENFOLD_INLINE size_t sums(bool lines) const { return 1 + t + (lines ? p + p * (p + 1) / 2 + p * t + p : 0); }
    TENFOLD_INLINE size_t scratch(bool lines) const { return n + 8 * (sums(lines) + p); }
};

struct Local {
    void (*local_sums)(const LocalRows&, double* w, Rows<const double> points, const std::int64_t* skip, Around kernel,
                       bool lines, double* scratch, double* sums);
};

extern const Local local_baseline;
#if TENFOLD_X86_LEVELS
extern const Local local_avx2, local_avx512;
#endif

}  // namespace tenfold
