// Histograms of gradients over bins, in whole numbers: sums are the same in any order, and a sibling is a subtraction.
#pragma once

#include <limits>
#include <utility>

#include "kernels/common/simd.hpp"

namespace tenfold {

// Gradient and, in one number, curvature and count of some rows: `both` is curvature << bits | count. All are multiples of units
// that are powers of two.
struct alignas(16) Sum {
    std::int64_t gradient = 0, both = 0;

    TENFOLD_INLINE Sum operator+(const Sum& o) const { return {gradient + o.gradient, both + o.both}; }
    TENFOLD_INLINE Sum operator-(const Sum& o) const { return {gradient - o.gradient, both - o.both}; }
};

// What a split may be, and the units of the sums.
struct Rule {
    double l1, l2, least_curvature, least_gain, longest;  // longest: the largest value a node may have
    std::int64_t least_rows;
    double gradient_unit, curvature_unit;
    int bits;

    TENFOLD_INLINE double gradient(const Sum& s) const { return static_cast<double>(s.gradient) * gradient_unit; }
    TENFOLD_INLINE double curvature(const Sum& s) const { return static_cast<double>(s.both >> bits) * curvature_unit; }
    TENFOLD_INLINE std::int64_t count(const Sum& s) const { return s.both & ((std::int64_t{1} << bits) - 1); }
    // The gradient after the L1 penalty: nearer to zero by l1, or zero.
    TENFOLD_INLINE double soft(double g) const { return g > l1 ? g - l1 : g < -l1 ? g + l1 : 0.0; }
    // Twice what the best value for these rows takes off their loss, and that value; zero where nothing holds it.
    TENFOLD_INLINE double score(const Sum& s) const {
        const double g = soft(gradient(s)), h = curvature(s) + l2;
        return h > 0 ? g * g / h : 0.0;
    }
    TENFOLD_INLINE double value(const Sum& s) const {
        const double g = soft(gradient(s)), h = curvature(s) + l2;
        return h > 0 ? std::clamp(-g / h, -longest, longest) : 0.0;
    }
};

// A table of codes, row by row: of a byte each, or of two where a column has more than 255 bins.
struct Codes {
    const void* data;
    size_t width;  // codes of a row: whole words of 8 bytes
    bool wide;

    TENFOLD_INLINE size_t row_bytes() const { return width << wide; }
    TENFOLD_INLINE size_t most() const { return wide ? 65536 : 256; }  // different codes
    TENFOLD_INLINE Codes from(size_t row) const { return {static_cast<const std::uint8_t*>(data) + row * row_bytes(), width, wide}; }
    // Calls f with the first code, as a pointer to what it is.
    template <class F>
    TENFOLD_INLINE void visit(F&& f) const {
        if (wide) f(static_cast<const std::uint16_t*>(data));
        else f(static_cast<const std::uint8_t*>(data));
    }
};

// Rows of a node: `rows` lists them, or they are all from the first one on (nullptr).
struct NodeRows {
    Codes codes;
    const Sum* terms;  // of each row of the table
    const std::uint32_t* rows;
    size_t n;
};

// Where the bins of each column begin in a histogram: offset[j] .. offset[j + 1] - 1, the last one for missing values.
struct Layout {
    const std::uint32_t* offset;
    size_t p;
};

struct Cut {
    double gain = -std::numeric_limits<double>::infinity();  // what both sides score above the whole
    std::int32_t bin = -1;
    bool missing_left = false;
    Sum left;
};

constexpr double TIE = 1e-9;  // gains closer than this, relative, are equal: the first one counts

TENFOLD_INLINE bool exceeds(double a, double b) { return a > b + TIE * (b > 0 ? b : 0.0); }

using BuildHistogram = void(const NodeRows&, const Layout&, Sum*, std::uint8_t*);
using BestCut = Cut(const Sum*, size_t, const Sum&, const Rule&);
using PartRows = void(const std::uint32_t*, const std::uint8_t*, size_t, std::uint32_t*, std::uint32_t*);

}  // namespace tenfold

namespace tenfold::TENFOLD_LEVEL {

typedef std::int64_t Pair __attribute__((vector_size(16)));

// One row after the other, G columns at a time: their bins stay in the first cache.
template <class Code, size_t G>
void add_columns(const Code* codes, size_t width, const Sum* terms, size_t n, Sum* histogram, const std::uint32_t* offset) {
    constexpr size_t BITS = 8 * sizeof(Code);
    Pair* bins[G];
    for (size_t g = 0; g < G; ++g) bins[g] = reinterpret_cast<Pair*>(histogram + offset[g]);
    for (size_t i = 0; i < n; ++i, codes += width) {
        std::uint64_t word;
        std::memcpy(&word, codes, 8);
        const Pair term = *reinterpret_cast<const Pair*>(terms + i);
        for (size_t g = 0; g < G; ++g) bins[g][static_cast<Code>(word >> (BITS * g))] += term;
    }
}

template <class Code, size_t... G>
void add_tile(const Code* codes, size_t width, const Sum* terms, size_t n, const Layout& layout, Sum* histogram,
              std::index_sequence<G...>) {
    constexpr size_t WORD = sizeof...(G);
    constexpr decltype(&add_columns<Code, WORD>) adds[] = {add_columns<Code, G + 1>...};
    for (size_t j = 0; j < layout.p; j += WORD)
        adds[std::min(WORD, layout.p - j) - 1](codes + j, width, terms, n, histogram, layout.offset + j);
}

// Rows and bytes that a tile of gathered rows may have.
constexpr size_t TILE_ROWS = 2048, TILE_BYTES = 1 << 18;

inline size_t tile_rows(size_t row_bytes) { return std::clamp<size_t>(TILE_BYTES / row_bytes, 64, TILE_ROWS); }

template <class Code>
void build(const Code* table, const NodeRows& node, const Layout& layout, Sum* histogram, std::uint8_t* scratch) {
    const size_t width = node.codes.width, tile = tile_rows(node.codes.row_bytes());
    constexpr std::make_index_sequence<8 / sizeof(Code)> word;
    Sum* terms = reinterpret_cast<Sum*>(scratch);
    Code* codes = reinterpret_cast<Code*>(scratch + tile * sizeof(Sum));
    for (size_t begin = 0; begin < node.n; begin += tile) {
        if (stopped()) return;
        const size_t m = std::min(tile, node.n - begin);
        if (!node.rows) {
            add_tile(table + begin * width, width, node.terms + begin, m, layout, histogram, word);
            continue;
        }
        const std::uint32_t* rows = node.rows + begin;
        constexpr size_t AHEAD = 16;
        for (size_t i = 0; i < m; ++i) {
            if (begin + i + AHEAD < node.n) {
                __builtin_prefetch(table + size_t{rows[i + AHEAD]} * width);
                __builtin_prefetch(node.terms + rows[i + AHEAD]);
            }
            terms[i] = node.terms[rows[i]];
            const Code* from = table + size_t{rows[i]} * width;
            for (size_t b = 0; b < width; b += word.size()) std::memcpy(codes + i * width + b, from + b, 8);
        }
        add_tile(codes, width, terms, m, layout, histogram, word);
    }
}

// build_histogram: adds the terms of the rows to the bins of each column. `scratch` has room for a tile: of each row its codes
// and its term.
inline void build_histogram(const NodeRows& node, const Layout& layout, Sum* histogram, std::uint8_t* scratch) {
    node.codes.visit([&](const auto* table) { build(table, node, layout, histogram, scratch); });
}

// part_rows: rows whose flag is 1 go to `left`, those whose flag is 0 to `right`, in their order; no branch depends on a flag.
inline void part_rows(const std::uint32_t* rows, const std::uint8_t* flags, size_t n, std::uint32_t* left,
                      std::uint32_t* right) {
    size_t i = 0;
#if defined(__AVX512F__)
    for (; i + 16 <= n; i += 16) {
        const __m512i some = _mm512_loadu_si512(rows + i);
        const __m128i flag = _mm_loadu_si128(reinterpret_cast<const __m128i*>(flags + i));
        const __mmask16 goes_left = _mm_test_epi8_mask(flag, flag);
        const auto n_left = static_cast<size_t>(__builtin_popcount(goes_left));
        _mm512_mask_compressstoreu_epi32(left, goes_left, some);
        _mm512_mask_compressstoreu_epi32(right, static_cast<__mmask16>(~goes_left), some);
        left += n_left;
        right += 16 - n_left;
    }
#else
    constexpr size_t SOME = 256;
    std::uint32_t buffer[2][SOME + 1];
    for (; i < n; i += SOME) {
        size_t count[2] = {0, 0};
        for (size_t k = i; k < std::min(n, i + SOME); ++k) {
            buffer[0][count[0]] = buffer[1][count[1]] = rows[k];
            count[0] += flags[k] == 0;
            count[1] += flags[k] != 0;
        }
        left = std::copy_n(buffer[1], count[1], left);
        right = std::copy_n(buffer[0], count[0], right);
    }
#endif
    for (; i < n; ++i) *(flags[i] ? left : right)++ = rows[i];
}

// What is won by each cut after bins 0 .. n - 1, where `left` holds the sums left of it; -infinity where a side is too small.
inline void gains(const Sum* left, size_t n, const Sum& total, const Rule& rule, double* gain) {
    const std::int64_t mask = (std::int64_t{1} << rule.bits) - 1, all = total.both & mask;
    const double g_all = rule.gradient(total), h_all = rule.curvature(total), whole = rule.score(total);
    const double l1 = rule.l1, l2 = rule.l2, least = rule.least_curvature, gu = rule.gradient_unit, hu = rule.curvature_unit;
    const double none = -std::numeric_limits<double>::infinity();
    for (size_t b = 0; b < n; ++b) {
        const std::int64_t count = left[b].both & mask;
        const double g = static_cast<double>(left[b].gradient) * gu;
        const double h = static_cast<double>(left[b].both >> rule.bits) * hu;
        const double g_right = g_all - g, h_right = h_all - h;
        const double a = std::max(std::abs(g) - l1, 0.0), c = std::max(std::abs(g_right) - l1, 0.0);
        const double won = a * a / (h + l2) + c * c / (h_right + l2) - whole;
        const bool fits = (count >= rule.least_rows) & (all - count >= rule.least_rows) & (h >= least) & (h_right >= least);
        gain[b] = fits ? won : none;
    }
}

// best_cut: the best threshold of a column of `bins` bins (and one for missing values after them); ties go to the first. Cuts are
// judged some at a time: after bins without rows a cut is the same as before them.
inline Cut best_cut(const Sum* histogram, size_t bins, const Sum& total, const Rule& rule) {
    constexpr size_t SOME = 256;
    constexpr double none = -std::numeric_limits<double>::infinity();
    Cut best;
    Sum left[SOME];
    double gain[SOME], tops[65536 / SOME];
    const Sum missing = histogram[bins];
    const bool some_missing = rule.count(missing) > 0;
    const size_t cuts = some_missing ? bins : bins - 1;  // after the last bin: values against missing values
    for (int side = 0; side < (some_missing ? 2 : 1); ++side) {
        const Sum before = side ? missing : Sum{};
        const auto judge = [&](size_t first, Sum& sum) {
            const size_t n = std::min(SOME, cuts - first);
            const std::int64_t count = rule.count(sum);
            for (size_t b = 0; b < n; ++b) left[b] = sum = sum + histogram[first + b];
            if (first > 0 && rule.count(sum) == count) return none;
            gains(left, n, total, rule, gain);
            double top = none;
            for (size_t b = 0; b < n; ++b) top = std::max(top, gain[b]);
            return top;
        };
        Sum sum = before;
        double top = none;
        for (size_t first = 0; first < cuts; first += SOME) top = std::max(top, tops[first / SOME] = judge(first, sum));
        if (!exceeds(top, best.gain)) continue;
        size_t first = 0, b = 0;
        while (exceeds(top, tops[first / SOME])) first += SOME;
        if (first + SOME < cuts) {  // others were judged after it
            sum = before;
            for (size_t i = 0; i < first; ++i) sum = sum + histogram[i];
            judge(first, sum);
        }
        while (exceeds(top, gain[b])) ++b;
        best = {gain[b], static_cast<std::int32_t>(first + b), side == 1, left[b]};
    }
    return best;
}

}  // namespace tenfold::TENFOLD_LEVEL
