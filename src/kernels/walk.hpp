// Walking rows down packed trees: 64 rows at a time share the comparisons of a node, the last few walk alone.
#pragma once

#include <bit>
#include <limits>
#include <memory>
#include <vector>

#include "simd.hpp"
#include "trees.hpp"

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

// The values of up to 64 rows, by column; only the columns that some tree asks for are filled.
template <class T>
struct Columns {
    std::unique_ptr<T[]> space;
    T* data;

    explicit Columns(size_t width)
        : space(std::make_unique_for_overwrite<T[]>(width * GROUP + 64 / sizeof(T))), data(aligned64(space.get())) {}

    void fill(Rows<const T> X, size_t start, size_t count, std::span<const std::int32_t> used) {
        for (const auto j : used) {
            T* column = data + static_cast<size_t>(j) * GROUP;
            for (size_t i = 0; i < count; ++i) column[i] = X[start + i][j];
            std::fill(column + count, column + GROUP, T{0});
        }
    }
    const T* operator[](std::int32_t j) const { return data + static_cast<size_t>(j) * GROUP; }
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
TENFOLD_INLINE void descend(const PackedTrees& trees, size_t root, const Columns<T>& columns, std::uint64_t rows,
                            std::vector<std::pair<std::int32_t, std::uint64_t>>& waiting, Reach&& reach) {
    const TreeNode* nodes = trees.nodes + root;
    struct Walker {
        std::int32_t at;
        int row;
    } alone[GROUP];
    size_t walkers = 0;
    waiting.assign(1, {0, rows});
    while (!waiting.empty()) {
        auto [at, here] = waiting.back();
        waiting.pop_back();
        while (nodes[at].left >= 0 && std::popcount(here) > FEW) {
            const TreeNode& node = nodes[at];
            const std::uint64_t left = left_of(trees, root + static_cast<size_t>(at), columns[node.feature], here);
            if (left != here) waiting.emplace_back(std::int32_t{node.right}, here & ~left);
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
                reach(static_cast<size_t>(at), std::uint64_t{1} << i);
                alone[w] = alone[--walkers];
                continue;
            }
            at = goes_left(trees, root + static_cast<size_t>(at), columns[node.feature][i]) ? node.left : node.right;
            __builtin_prefetch(nodes + at);
            ++w;
        }
    }
}

// out (n, outputs) += the sums over trees from .. to - 1 of the values of the leaves that the rows of X end in.
template <class T>
void tree_sums(const PackedTrees& trees, size_t from, size_t to, Rows<const T> X, double* out) {
    const size_t k = trees.outputs;
    std::vector<std::pair<std::int32_t, std::uint64_t>> waiting;
    alignas(64) double sums[GROUP];
    Columns<T> columns(trees.width);
    for (size_t start = 0; start < X.n && !stopped(); start += GROUP) {
        const size_t count = std::min(GROUP, X.n - start);
        const std::uint64_t rows = ~std::uint64_t{0} >> (GROUP - count);
        columns.fill(X, start, count, trees.used);
        double* block = out + start * k;
        if (k == 1) {
            std::copy_n(block, count, sums);
            for (size_t t = from; t < to; ++t) {
                const double* values = trees.values + trees.first[t];
                descend(trees, trees.first[t], columns, rows, waiting, [&](size_t leaf, std::uint64_t here) {
                    if (here & (here - 1)) add_where(sums, here, values[leaf]);
                    else sums[std::countr_zero(here)] += values[leaf];
                });
            }
            std::copy_n(sums, count, block);
            continue;
        }
        for (size_t t = from; t < to; ++t)
            descend(trees, trees.first[t], columns, rows, waiting, [&](size_t leaf, std::uint64_t here) {
                const double* value = trees.values + (trees.first[t] + leaf) * k;
                for (; here; here &= here - 1) {
                    double* row = block + static_cast<size_t>(std::countr_zero(here)) * k;
                    for (size_t j = 0; j < k; ++j) row[j] += value[j];
                }
            });
    }
}

// out (n, to - from): the number of the leaf that each row ends in, counted from the first node of the tree.
template <class T>
void tree_leaves(const PackedTrees& trees, size_t from, size_t to, Rows<const T> X, std::int64_t* out) {
    std::vector<std::pair<std::int32_t, std::uint64_t>> waiting;
    Columns<T> columns(trees.width);
    for (size_t start = 0; start < X.n && !stopped(); start += GROUP) {
        const size_t count = std::min(GROUP, X.n - start);
        columns.fill(X, start, count, trees.used);
        for (size_t t = from; t < to; ++t)
            descend(trees, trees.first[t], columns, ~std::uint64_t{0} >> (GROUP - count), waiting,
                    [&](size_t leaf, std::uint64_t here) {
                        for (; here; here &= here - 1)
                            out[(start + static_cast<size_t>(std::countr_zero(here))) * (to - from) + t - from] =
                                static_cast<std::int64_t>(leaf);
                    });
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
