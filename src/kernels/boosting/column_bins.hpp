// Columns as bins: where a column is cut, and the number of the bin of each value.
#pragma once

#include <cmath>
#include <vector>

#include "kernels/common/simd.hpp"

namespace tenfold {

// Bins of a table: column j has edges[start[j] ..], ascending and filled up with infinity to a power of two that is at least
// 256; bin b holds what is above edge b - 1 and at most edge b. `missing[j]` is the number of the bin of NaN.
struct ColumnEdges {
    const double* edges;
    const std::int64_t* start;
    const std::int32_t* halvings;  // 2^halvings[j] is above the number of edges of column j
    const std::int64_t* missing;
    size_t p;
};

constexpr std::int32_t SHORT = 8;  // halvings of a column whose codes are bytes

// A number from a (inclusive) to b (exclusive), half way where there is one: rows of a are left of it, rows of b right.
inline double between(double a, double b) {
    const double middle = a / 2 + b / 2;
    return middle >= a && middle < b ? middle : a;
}

// Calls f(value, the next different value, weight of the value) for each different value but the last of a sorted column.
template <class F>
void for_values(std::span<const double> sorted, std::span<const double> weight, F&& f) {
    double heavy = 0;
    for (size_t i = 0; i + 1 < sorted.size(); ++i) {
        heavy += weight.empty() ? 1.0 : weight[i];
        if (sorted[i] == sorted[i + 1]) continue;
        if (!f(sorted[i], sorted[i + 1], heavy)) return;
        heavy = 0;
    }
}

// Cuts a sorted column, each value with its weight (or all with the same), into at most `most` bins of about equal weight:
// a bin is closed where its weight comes closest to an even share of what is left. Few different values have a bin each.
inline void bin_edges(std::span<const double> sorted, std::span<const double> weight, size_t most,
                      std::vector<double>& edges) {
    edges.clear();
    for_values(sorted, weight, [&](double a, double b, double) {
        edges.push_back(between(a, b));
        return edges.size() < most;
    });
    if (edges.size() < most) return;
    edges.clear();
    double rest = 0, held = 0, before = 0;
    for (size_t i = 0; i < sorted.size(); ++i) rest += weight.empty() ? 1.0 : weight[i];
    double share = rest / static_cast<double>(most);
    for_values(sorted, weight, [&](double a, double b, double heavy) {
        const auto close = [&](double left, double right) {
            edges.push_back(between(left, right));
            rest -= held;
            held = 0;
            share = rest / static_cast<double>(most - edges.size());
        };
        if (held > 0 && held + heavy - share > share - held) close(before, a);  // closer without this value than with it
        held += heavy;
        before = a;
        if (edges.size() + 1 < most && held >= share) close(a, b);
        return edges.size() + 1 < most;
    });
}

// The two sizes of numbers a kernel takes, and of codes it makes.
template <class T, class Code>
using CodeRows = void(Rows<const T>, const ColumnEdges&, Code*, size_t);

}  // namespace tenfold

namespace tenfold::TENFOLD_LEVEL {

// How many of the edges are below x. The edges are 256, the last of them infinite.
struct Search {
#if defined(__AVX512F__)
    // Sixteen pivots choose sixteen edges: four comparisons of vectors.
    explicit Search(const double* edges, std::int32_t) : edges(edges) {
        alignas(64) double pivot[16];
        for (size_t k = 0; k < 16; ++k) pivot[k] = edges[16 * k + 15];
        low = _mm512_load_pd(pivot);
        high = _mm512_load_pd(pivot + 8);
    }
    TENFOLD_INLINE std::int32_t operator()(double x) const {
        const __m512d v = _mm512_set1_pd(x);
        const auto below = [&](__m512d e) { return __builtin_popcount(_mm512_cmp_pd_mask(e, v, _CMP_LT_OQ)); };
        const std::int32_t block = 16 * (below(low) + below(high));
        return block + below(_mm512_loadu_pd(edges + block)) + below(_mm512_loadu_pd(edges + block + 8));
    }
    const double* edges;
    __m512d low, high;
#else
    explicit Search(const double* edges, std::int32_t halvings) : edges(edges), first(1 << halvings >> 1) {}
    TENFOLD_INLINE std::int32_t operator()(double x) const {
        std::int32_t at = 0;
        for (std::int32_t step = first; step > 0; step >>= 1) at += x > edges[at + step - 1] ? step : 0;
        return at;
    }
    const double* edges;
    std::int32_t first;
#endif
};

// One column of rows begin .. end - 1, of more than 256 edges: searches side by side, so that none waits for memory alone.
template <class T, class Code>
void code_long_column(Rows<const T> X, const ColumnEdges& by, size_t j, size_t begin, size_t end, Code* out, size_t width) {
    constexpr size_t SIDE_BY_SIDE = 16;
    const double* edges = by.edges + by.start[j];
    for (size_t i = begin; i < end; i += SIDE_BY_SIDE) {
        const size_t n = std::min(SIDE_BY_SIDE, end - i);
        double x[SIDE_BY_SIDE] = {};
        std::int32_t at[SIDE_BY_SIDE] = {};
        for (size_t r = 0; r < n; ++r) x[r] = static_cast<double>(X[i + r][j]);
        for (std::int32_t step = 1 << by.halvings[j] >> 1; step > 0; step >>= 1)
            for (size_t r = 0; r < SIDE_BY_SIDE; ++r) at[r] += x[r] > edges[at[r] + step - 1] ? step : 0;
        for (size_t r = 0; r < n; ++r) out[(i + r) * width + j] = static_cast<Code>(x[r] == x[r] ? at[r] : by.missing[j]);
    }
}

// code_rows: out[i, j] = number of edges of column j that are below x_ij, or missing[j] for NaN. Rows of `out` are `width` long.
template <class T, class Code>
void code_rows(Rows<const T> X, const ColumnEdges& by, Code* out, size_t width) {
    constexpr size_t TILE = sizeof(Code) == 1 ? 64 : 1024;  // rows that stay in the first cache, or beside long lists of edges
    for (size_t i = 0; i < X.n; i += TILE) {
        if (i % 4096 == 0 && stopped()) return;
        const size_t end = std::min(i + TILE, X.n);
        for (size_t j = 0; j < by.p; ++j) {
            if (sizeof(Code) > 1 && by.halvings[j] > SHORT) {
                code_long_column(X, by, j, i, end, out, width);
                continue;
            }
            const Search search(by.edges + by.start[j], by.halvings[j]);
            for (size_t r = i; r < end; ++r) {
                const double x = static_cast<double>(X[r][j]);
                out[r * width + j] = static_cast<Code>(x == x ? search(x) : by.missing[j]);
            }
        }
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
