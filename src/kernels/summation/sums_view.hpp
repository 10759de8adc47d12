// Sums of kernels over weighted rows, Σ w K(|x − y|), for many points x: rows in a k-d tree with what is known of its nodes.
#pragma once

#include "kernels/near/tree_nodes.hpp"

namespace tenfold {

// K by the distance r: exp(−r²/2), 1, 1 − r², exp(−r), 1 − r, cos(π r / 2), (1 − r²)²; but for the first and the fourth 0 from r = 1 on.
enum class Shape : int { gaussian, tophat, epanechnikov, exponential, linear, cosine, biweight };

// The rows as sums see them. Node i of the tree has children 2 i + 1 and 2 i + 2; leaves come after the `inner` nodes.
constexpr size_t BUNDLE = 8;  // leaves that are looked at together
constexpr double LOG2_E = 1.4426950408889634;

struct SumsView {
    TreeView tree;
    bool flat;             // of many columns: no node is ever far from all, so that leaves are looked at one after the other
    const double* weight;  // (leaves, LEAF): of the rows, 0 where there is none
    double all;            // Σ of them
    const double* boxes;   // (nodes, 2, p): middles and half the sides
    const double* total;   // by node: its weight
    const double* radius;  // by node: a bound on how far its rows are from the middle
    const double* bundles;  // (bundles, 2, p, BUNDLE): middles and half the sides of the leaves of each, side by side
    const double* powers;   // (leaves, p + 1, LEAF): see `leaves.hpp`; null: they are not used
    double lightest;        // the least weight of a row
    Shape shape;
    size_t order, width;      // of the terms of a node, see `terms.hpp`
    const std::int32_t* slot;  // by node: where its terms are, -1: it has none; null: none has
    const double* terms;      // (slots, width)

    TENFOLD_INLINE const double* middle(size_t node) const { return boxes + node * 2 * tree.p; }
    TENFOLD_INLINE const double* half(size_t node) const { return middle(node) + tree.p; }
};

// Points to sum at, in an order in which neighbours come together; of points that are rows themselves, which (`own`, else null), and
// how much of its weight is left out.
struct Asked {
    Rows<const double> points;
    const std::int64_t* order;
    const std::int64_t* own;
    const double* taken;
};

// Sums are found with an error of at most relative · sum + absolute.
struct Tolerance {
    double relative, absolute;
};

struct SumsKernels {
    void (*expand)(const SumsView& rows, size_t node, double* terms);
    // logs[i] = log of the sum at point i, for points order[begin .. end).
    void (*sum)(const SumsView& rows, const Asked& asked, size_t begin, size_t end, Tolerance tolerance, double* logs);
};

extern const SumsKernels summation_baseline;
#if TENFOLD_X86_LEVELS
extern const SumsKernels summation_avx2, summation_avx512;
#endif

}  // namespace tenfold
