// Trees as the walk over them wants them: checked once, nodes of 32 bytes.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "view.hpp"

namespace tenfold {

struct TreeNode {
    double threshold;     // left: x <= threshold
    float threshold32;    // the largest float that is at most threshold: for floats the comparison is the same
    std::int32_t slot;    // place of the column among those used; -1 at a leaf
    std::uint32_t left, right;
    std::int32_t subset;  // where the mask of the categories that go left begins; -1: a threshold
    bool missing_left;
};

struct PackedTrees {
    std::vector<size_t> first;  // the root of each tree, and the number of nodes
    std::vector<TreeNode> nodes;
    std::vector<std::uint64_t> bits;
    std::vector<double> values;       // (nodes, outputs)
    std::vector<std::int32_t> used;  // the columns that some node asks for
    size_t outputs = 1, width = 0;   // a table must have at least `width` columns
};

inline float float_below(double t) {
    const float nearest = static_cast<float>(t);
    return nearest > t ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}

template <class T>
T* aligned64(T* from) {
    return reinterpret_cast<T*>((reinterpret_cast<std::uintptr_t>(from) + 63) & ~std::uintptr_t{63});
}

// Where a value goes at a node. Always inlined, so that each instruction set has its own.
template <class T>
[[gnu::always_inline]] static inline bool goes_left(const TreeNode& node, T x, const std::uint64_t* bits) {
    if (x != x) return node.missing_left;
    if (node.subset < 0) return static_cast<double>(x) <= node.threshold;
    const std::uint64_t* mask = bits + node.subset;
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
