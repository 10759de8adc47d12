// Trees as the walk over them wants them: checked once, nodes of 22 bytes that somebody else owns.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/rows_view.hpp"

namespace tenfold {

// Side by side without gaps: forests have millions of nodes. Children are numbered from the first node of their tree.
struct [[gnu::packed]] TreeNode {
    double threshold;         // left: x <= threshold
    std::int32_t left, right;  // -1 at a leaf
    std::int32_t feature;
    std::uint8_t missing_left, by_set;  // by_set: a mask says which categories go left
};
static_assert(sizeof(TreeNode) == 22);

struct PackedTrees {
    std::vector<size_t> first;  // the root of each tree, and the number of nodes
    const TreeNode* nodes = nullptr;
    const double* values = nullptr;    // (nodes, outputs)
    std::vector<std::int32_t> subset;  // by node: where the mask of the categories that go left begins; empty: no masks
    std::vector<std::uint64_t> bits;
    std::vector<std::int32_t> used;  // the columns that some node asks for
    size_t outputs = 1, width = 0;   // a table must have at least `width` columns

    TENFOLD_INLINE const std::uint64_t* mask(size_t node) const { return bits.data() + subset[node]; }
};

// The largest float that is at most t: for floats the comparison with it is the same.
TENFOLD_INLINE float float_below(double t) {
    const float nearest = static_cast<float>(t);
    return nearest > t ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}

template <class T>
TENFOLD_INLINE T* aligned64(T* from) {
    return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(from) + 63) & ~std::uintptr_t{63});
}

// Where a value goes at a node.
template <class T>
TENFOLD_INLINE bool goes_left(const PackedTrees& trees, size_t at, T x) {
    const TreeNode& node = trees.nodes[at];
    if (x != x) return node.missing_left;
    if (!node.by_set) return static_cast<double>(x) <= node.threshold;
    const std::uint64_t* mask = trees.mask(at);
    if (!(x >= 0) || !(static_cast<double>(x) < 64.0 * static_cast<double>(mask[0]))) return false;
    const auto code = static_cast<std::uint64_t>(x);
    return mask[1 + code / 64] >> (code % 64) & 1;
}

// The walks, compiled once for each instruction set.
template <class T>
struct WalksOf {
    void (*tree_sums)(const PackedTrees&, size_t, size_t, Rows<const T>, double*);
    void (*tree_leaves)(const PackedTrees&, size_t, size_t, Rows<const T>, std::int64_t*);
};

struct Walks {
    WalksOf<float> of_float;
    WalksOf<double> of_double;
};

extern const Walks walks_baseline, walks_avx2, walks_avx512;

}  // namespace tenfold
