// Walking rows down packed trees: 64 rows at a time share the comparisons of a node, the last few walk alone.
#pragma once

#include <bit>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/common/simd.hpp"
#include "kernels/tree/packed_trees.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr size_t GROUP = 64;  // rows that walk together: one bit each
constexpr int FEW = 6;        // rows that had better walk alone

// Which of 64 values are at most t. A NaN is not, unless `missing` says that it goes along.
template <class T>
TENFOLD_INLINE std::uint64_t at_most(const T* x, T t, bool missing) {
    std::uint64_t bits = 0;
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 8) {
        const __m512d limit = _mm512_set1_pd(t);
        for (size_t i = 0; i < 8; ++i) {
            const __m512d v = _mm512_load_pd(x + 8 * i);
            const std::uint64_t found = missing ? _mm512_cmp_pd_mask(v, limit, _CMP_NGT_UQ)
                                                : _mm512_cmp_pd_mask(v, limit, _CMP_LE_OQ);
            bits |= found << (8 * i);
        }
    } else {
        const __m512 limit = _mm512_set1_ps(t);
        for (size_t i = 0; i < 4; ++i) {
            const __m512 v = _mm512_load_ps(x + 16 * i);
            const std::uint64_t found = missing ? _mm512_cmp_ps_mask(v, limit, _CMP_NGT_UQ)
                                                : _mm512_cmp_ps_mask(v, limit, _CMP_LE_OQ);
            bits |= found << (16 * i);
        }
    }
#elif defined(__AVX2__)
    if constexpr (sizeof(T) == 8) {
        const __m256d limit = _mm256_set1_pd(t);
        for (size_t i = 0; i < 16; ++i) {
            const __m256d v = _mm256_load_pd(x + 4 * i);
            const __m256d found = missing ? _mm256_cmp_pd(v, limit, _CMP_NGT_UQ) : _mm256_cmp_pd(v, limit, _CMP_LE_OQ);
            bits |= static_cast<std::uint64_t>(_mm256_movemask_pd(found)) << (4 * i);
        }
    } else {
        const __m256 limit = _mm256_set1_ps(t);
        for (size_t i = 0; i < 8; ++i) {
            const __m256 v = _mm256_load_ps(x + 8 * i);
            const __m256 found = missing ? _mm256_cmp_ps(v, limit, _CMP_NGT_UQ) : _mm256_cmp_ps(v, limit, _CMP_LE_OQ);
            bits |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm256_movemask_ps(found))) << (8 * i);
        }
    }
#else
    for (size_t i = 0; i < GROUP; ++i)
        bits |= static_cast<std::uint64_t>(missing ? !(x[i] > t) : x[i] <= t) << i;
#endif
    return bits;
}

// out[i] += value for the rows whose bit is set.
TENFOLD_INLINE void add_where(double* out, std::uint64_t rows, double value) {
#if defined(__AVX512F__)
    const __m512d v = _mm512_set1_pd(value);
    for (size_t i = 0; i < 8; ++i) {
        const __m512d sum = _mm512_load_pd(out + 8 * i);
        _mm512_store_pd(out + 8 * i, _mm512_mask_add_pd(sum, static_cast<__mmask8>(rows >> (8 * i)), sum, v));
    }
#else
    for (; rows; rows &= rows - 1) out[std::countr_zero(rows)] += value;
#endif
}

// Rows that wait at a node while others walk on.
struct Waiting {
    std::int32_t node;
    std::uint64_t rows;
};

// The values of groups of 64 rows, by column; only the columns that some tree asks for are filled.
template <class T>
struct Columns {
    std::unique_ptr<T[]> space;
    T* data;
    size_t width;

    Columns(size_t width, size_t groups)
        : space(std::make_unique_for_overwrite<T[]>(groups * width * GROUP + 64 / sizeof(T))),
          data(aligned64(space.get())),
          width(width) {}

    void fill(size_t group, Rows<const T> X, size_t start, size_t count, std::span<const std::int32_t> used) {
        for (const auto j : used) {
            T* column = data + (group * width + static_cast<size_t>(j)) * GROUP;
            for (size_t i = 0; i < count; ++i) column[i] = X[start + i][j];
            std::fill(column + count, column + GROUP, T{0});
        }
    }
    const T* of(size_t group) const { return data + group * width * GROUP; }  // column j begins at 64 j
};

template <class T>
TENFOLD_INLINE std::uint64_t left_of(const PackedTrees& trees, size_t at, const T* column, std::uint64_t rows) {
    const TreeNode& node = trees.nodes[at];
    if (!node.by_set) {
        if constexpr (sizeof(T) == 8) return rows & at_most<T>(column, node.threshold, node.missing_left);
        else return rows & at_most<T>(column, float_below(node.threshold), node.missing_left);
    }
    std::uint64_t left = 0;
    for (std::uint64_t rest = rows; rest; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        if (goes_left(trees, at, column[i])) left |= std::uint64_t{1} << i;
    }
    return left;
}

// Calls reach(leaf, rows) for the leaves of one tree that some of the rows end in; leaves are numbered within the tree.
template <class T, class Reach>
TENFOLD_INLINE void descend(const PackedTrees& trees, size_t root, const T* columns, std::uint64_t rows,
                            std::vector<Waiting>& waiting, Reach&& reach) {
    const TreeNode* nodes = trees.nodes + root;
    const auto column = [&](std::int32_t j) { return columns + static_cast<size_t>(j) * GROUP; };
    struct Walker {
        std::int32_t at;
        int row;
    } alone[GROUP], arrived[GROUP];
    size_t walkers = 0, ends = 0;
    waiting.assign(1, {0, rows});
    while (!waiting.empty()) {
        auto [at, here] = waiting.back();
        waiting.pop_back();
        while (nodes[at].left >= 0 && std::popcount(here) > FEW) {
            const TreeNode& node = nodes[at];
            const std::uint64_t left = left_of(trees, root + static_cast<size_t>(at), column(node.feature), here);
            if (left != here) waiting.push_back({node.right, here & ~left});
            here = left;
            if (!here) break;
            at = node.left;
        }
        if (!here) continue;
        if (nodes[at].left < 0) {
            reach(static_cast<size_t>(at), here);
            continue;
        }
        for (; here; here &= here - 1) alone[walkers++] = {at, std::countr_zero(here)};
    }
    // Those that walk alone take their steps in turn: while one waits for its node, the others go on.
    while (walkers) {
        for (size_t w = 0; w < walkers;) {
            auto& [at, i] = alone[w];
            const TreeNode& node = nodes[at];
            if (node.left < 0) {
                __builtin_prefetch(trees.values + (root + static_cast<size_t>(at)) * trees.outputs);
                arrived[ends++] = alone[w];
                alone[w] = alone[--walkers];
                continue;
            }
            const T x = column(node.feature)[i];
            const std::int32_t left = node.left, right = node.right;
            const bool goes = node.by_set ? goes_left(trees, root + static_cast<size_t>(at), x)
                                          : (static_cast<double>(x) <= node.threshold) | ((x != x) & (node.missing_left != 0));
            at = right ^ ((left ^ right) & -std::int32_t{goes});  // no branch: nobody can foresee it
            __builtin_prefetch(nodes + at);
            __builtin_prefetch(reinterpret_cast<const char*>(nodes + at + 1) - 1);  // nodes may lie across two lines
            ++w;
        }
    }
    for (size_t w = 0; w < ends; ++w) reach(static_cast<size_t>(arrived[w].at), std::uint64_t{1} << arrived[w].row);
}

// How many groups of rows go down a tree before the next one: one where all trees stay in the cache beside them; else as
// many as have room there, so that a large tree is fetched once for all of them.
template <class T>
size_t groups_at_once(const PackedTrees& trees, size_t from, size_t to, size_t n) {
    constexpr size_t CACHE = size_t{1} << 19;  // bytes
    if ((trees.first[to] - trees.first[from]) * sizeof(TreeNode) <= CACHE) return 1;
    const size_t room = CACHE / (std::max<size_t>(trees.width, 1) * GROUP * sizeof(T));
    return std::clamp<size_t>(room, 1, (n + GROUP - 1) / GROUP + 1);
}

// Takes all rows of X down trees from .. to - 1: calls reach(tree, leaf, the first row of 64, which of them, their group).
// `begin` and `end` are called around the trees with the first row, the number of rows and the group.
template <class T, class Begin, class Reach, class End>
TENFOLD_INLINE void walk(const PackedTrees& trees, size_t from, size_t to, Rows<const T> X, size_t groups, Begin&& begin,
                         Reach&& reach, End&& end) {
    std::vector<Waiting> waiting;
    Columns<T> columns(trees.width, groups);
    const auto count = [&](size_t start) { return std::min(GROUP, X.n - start); };
    for (size_t first = 0; first < X.n && !stopped(); first += groups * GROUP) {
        const size_t last = std::min(first + groups * GROUP, X.n);
        for (size_t start = first, g = 0; start < last; start += GROUP, ++g) {
            columns.fill(g, X, start, count(start), trees.used);
            begin(start, count(start), g);
        }
        for (size_t t = from; t < to; ++t)
            for (size_t start = first, g = 0; start < last; start += GROUP, ++g)
                descend<T>(trees, trees.first[t], columns.of(g), ~std::uint64_t{0} >> (GROUP - count(start)), waiting,
                           [&](size_t leaf, std::uint64_t here) { reach(t, leaf, start, here, g); });
        for (size_t start = first, g = 0; start < last; start += GROUP, ++g) end(start, count(start), g);
    }
}

// out (n, outputs) += the sums over trees from .. to - 1 of the values of the leaves that the rows of X end in.
template <class T>
void tree_sums(const PackedTrees& trees, size_t from, size_t to, Rows<const T> X, double* out) {
    const size_t k = trees.outputs, groups = groups_at_once<T>(trees, from, to, X.n);
    const auto nothing = [](size_t, size_t, size_t) {};
    if (k > 1) {
        const auto add = [&](size_t t, size_t leaf, size_t start, std::uint64_t here, size_t) {
            const double* value = trees.values + (trees.first[t] + leaf) * k;
            for (; here; here &= here - 1) {
                double* row = out + (start + static_cast<size_t>(std::countr_zero(here))) * k;
                for (size_t j = 0; j < k; ++j) row[j] += value[j];
            }
        };
        return walk(trees, from, to, X, groups, nothing, add, nothing);
    }
    const auto space = std::make_unique_for_overwrite<double[]>(groups * GROUP + 8);
    double* const sums = aligned64(space.get());
    walk(
        trees, from, to, X, groups,
        [&](size_t start, size_t count, size_t g) { std::copy_n(out + start, count, sums + g * GROUP); },
        [&](size_t t, size_t leaf, size_t, std::uint64_t here, size_t g) {
            const double value = trees.values[trees.first[t] + leaf];
            if (here & (here - 1)) add_where(sums + g * GROUP, here, value);
            else sums[g * GROUP + static_cast<size_t>(std::countr_zero(here))] += value;
        },
        [&](size_t start, size_t count, size_t g) { std::copy_n(sums + g * GROUP, count, out + start); });
}

// out (n, to - from): the number of the leaf that each row ends in, counted from the first node of the tree.
template <class T>
void tree_leaves(const PackedTrees& trees, size_t from, size_t to, Rows<const T> X, std::int64_t* out) {
    const auto nothing = [](size_t, size_t, size_t) {};
    const auto note = [&](size_t t, size_t leaf, size_t start, std::uint64_t here, size_t) {
        for (; here; here &= here - 1) {
            const size_t row = start + static_cast<size_t>(std::countr_zero(here));
            out[row * (to - from) + t - from] = static_cast<std::int64_t>(leaf);
        }
    };
    walk(trees, from, to, X, groups_at_once<T>(trees, from, to, X.n), nothing, note, nothing);
}

}  // namespace tenfold::TENFOLD_LEVEL
