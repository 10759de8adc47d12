// Sums within bins, and the largest column of a row.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

// bin_sums: of the rows with x in each of the bins (.., e_0], (e_0, e_1], .., (e_last, ..) the sums of w, w t, w x, w^2.
// Without weights (w is empty) all are 1.
inline void bin_sums(std::span<const double> x, Labels t, Weights w, std::span<const double> edges, double* sums) {
    constexpr size_t FEW = 16;  // edges that are counted rather than searched
    for (size_t i = 0; i < x.size(); ++i) {
        if (i % 65536 == 0 && stopped()) return;
        size_t bin = 0;
        if (edges.size() <= FEW)
            for (double edge : edges) bin += edge < x[i];
        else bin = static_cast<size_t>(std::lower_bound(edges.begin(), edges.end(), x[i]) - edges.begin());
        const double weight = w.empty() ? 1.0 : w[i];
        double* sum = sums + 4 * bin;
        sum[0] += weight, sum[1] += weight * static_cast<double>(t[i]), sum[2] += weight * x[i], sum[3] += weight * weight;
    }
}

// largest_columns: the number of the largest value of each row; the first of several.
inline void largest_columns(Rows<const double> rows, std::int64_t* out) {
    for (size_t i = 0; i < rows.n; ++i) {
        if (i % 65536 == 0 && stopped()) return;
        const double* row = rows[i];
        size_t best = 0;
        for (size_t c = 1; c < rows.p; ++c) best = row[c] > row[best] ? c : best;
        out[i] = static_cast<std::int64_t>(best);
    }
}

}  // namespace tenfold
