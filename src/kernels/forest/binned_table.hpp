// Trees of a forest on binned columns, grown by one thread from the root down.
//
// Columns are stored one after the other, a byte a value (two where a column has more bins). A node draws columns, sums its rows by bin (whole numbers: the
// order of the rows does not matter), and splits between two bins that occur, or between sets of categories. Where a
// node has a small part of the rows around it, its rows are copied side by side, so that what follows stays in cache.
// Rows that were not drawn go down with the others, and end in the leaf that speaks of them out of bag.
// Rows far apart are read from the table that lies row by row: all columns of a row are in one or two lines of memory.
#pragma once

#include <array>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <queue>

#include "kernels/forest/small_node.hpp"
#include "kernels/tree/grown_tree.hpp"
#include "kernels/tree/targets.hpp"

namespace tenfold {

struct Binned {
    std::vector<std::uint8_t> codes;           // (columns of at most 255 bins, n)
    std::vector<std::uint16_t> wide_codes;     // (the other ones, n)
    std::vector<std::int64_t> n_bins;          // (p); bin n_bins[j] is that of missing values
    std::vector<double> edges;                 // threshold above each bin; those of column j begin at start[j]
    std::vector<std::int64_t> start;           // (p)
    std::vector<std::int64_t> category_codes;  // (p, 256): the category of each bin, where the column has categories
    std::vector<std::uint8_t> categorical;     // (p)
    std::vector<std::uint8_t> missing;         // (p): whether some value is missing
    std::vector<std::uint8_t> wide;            // (p): whether a code takes two bytes
    std::vector<std::uint32_t> place;          // (p): which of the columns with codes of its size it is
    const std::uint8_t* rows = nullptr;        // (n, width): the codes row by row, kept by the owner of this table; none of two bytes
    size_t n = 0, p = 0, width = 0;

    const double* edges_of(size_t j) const { return &edges[static_cast<size_t>(start[j])]; }
};

struct ForestSettings {
    bool random = false;  // thresholds drawn at random
    std::int64_t max_depth = -1, min_split = 2, min_leaf = 1, max_features = 1, max_leaves = -1;
    double min_weight_leaf = 0, min_gain = 0;  // in units of whole weights; in units of impurity times weight
    std::span<const std::int8_t> monotonic;    // by column, or empty
    std::uint64_t seed = 0;
    const ForestKernels* kernels = nullptr;
};

// What a row adds to the bin it falls into: its weight, and weight times target, or its class.
struct Pair {
    std::int64_t s, w;
};

constexpr std::uint64_t MOST_ATTEMPTS = 100;  // to draw any row: then a tree has all

// How often a row is drawn: Poisson, keyed by tree, row and the place of the row among those that are alike.
struct Drawing {
    std::vector<std::uint64_t> key;   // by row: its content
    std::vector<std::int64_t> first;  // by row: how many rows with the same key come before it
    std::vector<double> cumulated;     // P(drawn at most 0, 1, ... times)
    double rate;

    explicit Drawing(double rate) : rate(rate) {
        double term = std::exp(-rate), sum = term;
        for (int k = 1; k < 64 && sum < 1; ++k) {
            cumulated.push_back(sum);
            term *= rate / k;
            sum += term;
        }
    }
    std::int64_t times(size_t row, std::uint64_t seed, std::uint64_t attempt) const {
        const std::uint64_t own = mix(key[row] ^ mix(seed + attempt * 77));
        const double u = static_cast<double>(mix(own + 0x632BE59BD9B4E019u * static_cast<std::uint64_t>(first[row])) >> 11) * 0x1p-53;
        size_t times = 0;
        const size_t usual = std::min<size_t>(4, cumulated.size());  // no branch that depends on what is drawn
        for (size_t k = 0; k < usual; ++k) times += u >= cumulated[k];
        while (times >= usual && times < cumulated.size() && u >= cumulated[times]) ++times;
        return static_cast<std::int64_t>(times);
    }
};

struct Totals {
    std::int64_t s = 0, w = 0;
};

using Mask = std::array<std::uint64_t, 4>;  // a set of bins

template <class Do>
void for_each_bin(const Mask& mask, Do act) {
    for (size_t word = 0; word < 4; ++word)
        for (std::uint64_t left = mask[word]; left; left &= left - 1)
            act(64 * word + static_cast<size_t>(std::countr_zero(left)));
}

inline size_t count_bins(const Mask& mask) {
    size_t count = 0;
    for (const auto word : mask) count += static_cast<size_t>(std::popcount(word));
    return count;
}

inline bool holds(const Mask& mask, size_t bin) { return mask[bin / 64] >> (bin % 64) & 1; }
inline void put(Mask& mask, size_t bin) { mask[bin / 64] |= std::uint64_t{1} << (bin % 64); }

// The bins whose byte is 0xFF.
inline Mask as_mask(const std::array<std::uint8_t, 256>& seen) {
    Mask mask{};
    for (size_t word = 0; word < 4; ++word) {
#if defined(__SSE2__)
        for (size_t part = 0; part < 4; ++part) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(&seen[64 * word + 16 * part]));
            mask[word] |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(bytes))) << (16 * part);
        }
#else
        for (size_t bit = 0; bit < 64; ++bit)
            mask[word] |= static_cast<std::uint64_t>(seen[64 * word + bit] & 1) << bit;
#endif
    }
    return mask;
}

struct BestSplit {
    double score = 0, bar = -DBL_MAX / 2;
    double middle = 0;  // between the values of the two sides, where columns are monotone
    size_t column = 0, bin = 0;
    bool found = false, missing_left = false, missing_here = false;
    Mask left{};  // bins that go left
    Totals sums{};

    // Better by more than rounding: of equal splits the one found first stays.
    bool above(double other) const { return other > bar; }
    void take(double better, double slack, size_t j, Totals l, bool blanks_left, bool blanks_here) {
        score = better;
        bar = better + 1e-9 * std::abs(better) + slack;
        column = j;
        sums = l;
        found = true;
        missing_left = blanks_left;
        missing_here = blanks_here;
    }
};

// Rows side by side: those of the whole table, or a copy of some.
template <class Cell>
struct Frame {
    const std::uint8_t* codes = nullptr;
    const std::uint16_t* wide_codes = nullptr;
    const Cell* cells = nullptr;
    size_t n = 0;
    std::vector<std::uint8_t> own_codes;
    std::vector<std::uint16_t> own_wide_codes;
    std::vector<Cell> own_cells;
    std::vector<std::uint32_t> rows[2], global;  // by depth; and numbers in the whole table (empty: as they are)

    size_t number(std::uint32_t row) const { return global.empty() ? row : global[row]; }
    const std::uint8_t* column(size_t place) const { return codes + place * n; }
    const std::uint16_t* wide_column(size_t place) const { return wide_codes + place * n; }
};

struct Part {
    size_t start = 0, m = 0, out_start = 0, out_m = 0, live = 0;
    std::int64_t depth = 0;
    std::int32_t parent = -1;
    bool left = false;
    std::uint64_t key = 0;
    Totals all;
    double low = -DBL_MAX, high = DBL_MAX;  // where values must lie, by monotone columns, in the units of the sums
};

}  // namespace tenfold
