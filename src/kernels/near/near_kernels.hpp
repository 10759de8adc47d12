// Searches for the nearest rows, compiled once per instruction set.
#pragma once

#include "kernels/near/found.hpp"
#include "kernels/near/tree_nodes.hpp"

namespace tenfold {

struct NearKernels {
    // The rows as the search through all of them wants them; `drop` frees it.
    void* (*pack)(Rows<const double> rows, Apart apart);
    void (*drop)(void* packed);
    // The k nearest rows of each query, nearest first; row skip[q] is not looked at (skip may be null). `power` of minkowski.
    void (*all_nearest)(const void* packed, Rows<const double> rows, Rows<const double> queries, size_t k, const std::int64_t* skip,
                        Apart apart, double power, double* distance, std::int64_t* row);
    // All rows at most `radius` away; those of query q end before ends[q]. The radius is in the unit of sums.
    void (*all_within)(const void* packed, Rows<const double> rows, Rows<const double> queries, double radius,
                       const std::int64_t* skip, Apart apart, double power, Within& found, size_t* ends);
    void (*tree_nearest)(const TreeView& tree, Rows<const double> queries, size_t k, const std::int64_t* skip, Apart apart,
                         double power, double* distance, std::int64_t* row);
    void (*tree_within)(const TreeView& tree, Rows<const double> queries, double radius, const std::int64_t* skip, Apart apart,
                        double power, Within& found, size_t* ends);
};

extern const NearKernels near_baseline;
#if TENFOLD_X86_LEVELS
extern const NearKernels near_avx2, near_avx512;
#endif

}  // namespace tenfold
