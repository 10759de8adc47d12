// Columns sorted once: for each column the numbers of its rows in rising order of value, missing values last.
//
// An entry is a row number whose highest bit says "same value as the entry before". When a list is split in two, the
// order and these bits are kept up in one pass (`part_list`), so that no node of a tree sorts anything again.
#pragma once

#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/common/team.hpp"
#include "kernels/tree/tie.hpp"

namespace tenfold {

// A number of the same order as the value: NaN above all, −0 equal to 0.
inline std::uint64_t order_of(double value) {
    if (std::isnan(value)) return ~std::uint64_t{0};
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

// The upper half of that number, and the lower one; a float has no lower half.
inline std::uint32_t upper_half(double value) { return static_cast<std::uint32_t>(order_of(value) >> 32); }
inline std::uint32_t lower_half(double value) { return static_cast<std::uint32_t>(order_of(value)); }
inline std::uint32_t upper_half(float value) {
    if (std::isnan(value)) return ~std::uint32_t{0};
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);
    return bits >> 31 ? ~bits : bits | std::uint32_t{1} << 31;
}
inline std::uint32_t lower_half(float) { return 0; }

// Sorts by the upper 32 bits, byte by byte from the lowest; equal ones stay in order.
inline void radix_sort(std::span<std::uint64_t> items, std::span<std::uint64_t> spare) {
    std::vector<size_t> counts(4 * 256, 0);
    for (const auto item : items)
        for (int byte = 0; byte < 4; ++byte) ++counts[byte * 256 + (item >> (32 + 8 * byte) & 255)];
    std::uint64_t *from = items.data(), *to = spare.data();
    for (int byte = 0; byte < 4; ++byte) {
        size_t* count = &counts[byte * 256];
        if (std::find(count, count + 256, items.size()) != count + 256) continue;  // all have the same byte
        size_t place = 0;
        for (int b = 0; b < 256; ++b) place += std::exchange(count[b], place);
        for (size_t i = 0; i < items.size(); ++i) to[count[from[i] >> (32 + 8 * byte) & 255]++] = from[i];
        std::swap(from, to);
    }
    if (from != items.data()) std::copy_n(from, items.size(), items.data());
}

constexpr size_t LONG_RUN = 1024;

// The rows of a column in rising order. An item is half of a value above, its row below; where the upper halves are equal, the
// lower ones decide.
template <class T>
void sort_column(Rows<const T> X, size_t j, std::span<std::uint64_t> items, std::span<std::uint64_t> spare) {
    const auto row_of_item = [](std::uint64_t item) { return static_cast<std::uint32_t>(item); };
    for (size_t i = 0; i < X.n; ++i) items[i] = std::uint64_t{upper_half(X[i][j])} << 32 | i;
    if (X.n < 256) std::sort(items.begin(), items.end());  // by value, then by row
    else radix_sort(items, spare);
    if constexpr (sizeof(T) == 4) return;
    for (size_t start = 0, end; start < X.n; start = end) {
        const std::uint64_t upper = items[start] >> 32;
        for (end = start + 1; end < X.n && items[end] >> 32 == upper;) ++end;
        if (end == start + 1 || upper == ~std::uint32_t{0}) continue;
        bool differ = false;
        const auto run = items.subspan(start, end - start);
        const std::uint32_t lower = lower_half(X[row_of_item(run[0])][j]);
        for (auto& item : run) {
            const std::uint32_t own = lower_half(X[row_of_item(item)][j]);
            differ |= own != lower;
            item = std::uint64_t{own} << 32 | row_of_item(item);
        }
        if (differ && run.size() >= LONG_RUN) radix_sort(run, spare);
        else if (differ) std::sort(run.begin(), run.end());
        for (auto& item : run) item = upper << 32 | row_of_item(item);
    }
}

// Fills `lists` (p, n) and `missing` (p): how many values of each column are NaN.
template <class T>
void presort(Rows<const T> X, std::span<std::uint32_t> lists, std::span<std::int64_t> missing, size_t n_threads) {
    Team team(X.n * X.p < 20'000 ? 1 : std::min(n_threads, X.p));
    std::vector<std::vector<std::uint64_t>> space(team.size());
    team.each(X.p, [&](size_t j, size_t thread) {
        leave_if_stopped();
        space[thread].resize(2 * X.n);
        const std::span<std::uint64_t> items(space[thread].data(), X.n), spare(space[thread].data() + X.n, X.n);
        sort_column(X, j, items, spare);
        std::int64_t blank = 0;
        for (size_t i = 0; i < X.n; ++i) {
            const auto row = static_cast<std::uint32_t>(items[i]);
            const bool close = i > 0 && items[i] >> 32 == items[i - 1] >> 32;
            const bool missed = items[i] >> 32 == ~std::uint32_t{0};
            const bool tie = close && (missed || X[row][j] == X[static_cast<std::uint32_t>(items[i - 1])][j]);
            lists[j * X.n + i] = row | (tie ? TIE<std::uint32_t> : 0);
            blank += missed;
        }
        missing[j] = blank;
    });
}

// Splits a list of m entries in place: rows with side 1 come first, `left` of them; both halves keep their order and their ties.
// `spare` has room for m − left + 1.
template <class Index>
void part_list(Index* __restrict list, Index* __restrict spare, size_t m, size_t left, const std::uint8_t* __restrict side) {
    Index tie_left = 0, tie_right = 0;
    size_t l = 0, r = 0;
    for (size_t i = 0; i < m; ++i) {
        const Index entry = list[i], tie = entry & TIE<Index>, row = entry & static_cast<Index>(~TIE<Index>);
        const bool goes_left = side[row];
        tie_left &= tie;  // a new value ends the runs of both halves
        tie_right &= tie;
        list[l] = row | tie_left;  // both are written, one is kept
        spare[r] = row | tie_right;
        tie_left = goes_left ? TIE<Index> : tie_left;
        tie_right = goes_left ? tie_right : TIE<Index>;
        l += goes_left;
        r += !goes_left;
    }
    std::copy_n(spare, m - left, list + left);
}

}  // namespace tenfold
