// Searches for the nearest rows, compiled once per instruction set.
#pragma once

#include "kernels/near/codes_view.hpp"
#include "kernels/near/found.hpp"
#include "kernels/near/graph_view.hpp"
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
    // How many rows are at most radius[q] away from query q; radii are in the unit of sums.
    void (*tree_count)(const TreeView& tree, Rows<const double> queries, const double* radius, const std::int64_t* skip, Apart apart,
                       double power, std::int64_t* count);
    // See graph_search.hpp.
    void (*graph_join)(const GraphView& graph, size_t begin, size_t end, size_t first, size_t last, GraphDesk& desk);
    void (*graph_answer)(const GraphView& graph, size_t layer, const std::uint64_t* edge, size_t count);
    void (*graph_nearest)(const GraphView& graph, Rows<const double> rows, Rows<const double> queries, const GraphQueries& how,
                          GraphDesk& desk, double* distance, std::int64_t* row);
    // The k nearest of the `width` rows whose codes differ least from that of each query.
    void (*codes_nearest)(const CodesView& codes, Rows<const double> rows, Rows<const double> queries, const std::uint64_t* query_codes,
                          size_t k, size_t width, const std::int64_t* skip, double* distance, std::int64_t* row);
};

extern const NearKernels near_baseline;
#if TENFOLD_X86_LEVELS
extern const NearKernels near_avx2, near_avx512;
#endif

}  // namespace tenfold
