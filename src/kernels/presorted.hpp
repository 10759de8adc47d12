// Columns sorted once: for each column the numbers of its rows in rising order of value, missing values last.
//
// An entry is a row number whose highest bit says "same value as the entry before". When a list is split in two, the
// order and these bits are kept up in one pass (`part_list`), so that no node of a tree sorts anything again.
#pragma once

#include <bit>
#include <cmath>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/view.hpp"

namespace tenfold {

// Runs work(0), ..., work(count − 1), each once, on up to n_threads threads; the calling one is among them.
template <class Work>
void share_out(size_t count, size_t n_threads, Work work) {
    if (n_threads < 2 || count < 2) {
        for (size_t i = 0; i < count; ++i) work(i);
        return;
    }
    std::atomic<size_t> next{0};
    const auto loop = [&] {
        for (size_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::thread> others;
    for (size_t t = 1; t < std::min(n_threads, count); ++t) others.emplace_back(loop);
    loop();
    for (auto& other : others) other.join();
}

template <class Index>
constexpr Index TIE = static_cast<Index>(Index{1} << (8 * sizeof(Index) - 1));

// A number of the same order as the value: NaN above all, −0 equal to 0.
inline std::uint64_t order_of(double value) {
    if (std::isnan(value)) return ~std::uint64_t{0};
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
}

struct Keyed {
    std::uint64_t key;
    std::uint32_t row;
};

// Sorts by key, byte by byte from the lowest; equal keys stay in order. `spare` is as long as `items`.
inline void radix_sort(std::vector<Keyed>& items, std::vector<Keyed>& spare) {
    std::vector<size_t> counts(8 * 256, 0);
    for (const Keyed& item : items)
        for (int byte = 0; byte < 8; ++byte) ++counts[byte * 256 + (item.key >> (8 * byte) & 255)];
    for (int byte = 0; byte < 8; ++byte) {
        size_t* count = &counts[byte * 256];
        if (std::find(count, count + 256, items.size()) != count + 256) continue;  // all have the same byte
        size_t place = 0;
        for (int b = 0; b < 256; ++b) place += std::exchange(count[b], place);
        for (const Keyed& item : items) spare[count[item.key >> (8 * byte) & 255]++] = item;
        items.swap(spare);
    }
}

// Fills `lists` (p, n) and `missing` (p): how many values of each column are NaN.
template <class T>
void presort(Rows<const T> X, std::span<std::uint32_t> lists, std::span<std::int64_t> missing, size_t n_threads) {
    share_out(X.p, X.n * X.p < 20'000 ? 1 : n_threads, [&](size_t j) {
        if (stopped()) return;
        std::vector<Keyed> items(X.n), spare(X.n);
        for (size_t i = 0; i < X.n; ++i) items[i] = {order_of(X[i][j]), static_cast<std::uint32_t>(i)};
        if (X.n < 256)
            std::stable_sort(items.begin(), items.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
        else
            radix_sort(items, spare);
        std::int64_t blank = 0;
        for (size_t i = 0; i < X.n; ++i) {
            const bool tie = i > 0 && items[i].key == items[i - 1].key;
            lists[j * X.n + i] = items[i].row | (tie ? TIE<std::uint32_t> : 0);
            blank += items[i].key == ~std::uint64_t{0};
        }
        missing[j] = blank;
    });
}

// Splits a list of m entries: rows with side 1 come first, `left` of them; both halves keep their order and their ties.
template <class Index>
void part_list(const Index* __restrict from, Index* __restrict to, size_t m, size_t left, const std::uint8_t* side) {
    Index tie_left = 0, tie_right = 0;
    size_t l = 0, r = left;
    for (size_t i = 0; i < m; ++i) {
        const Index entry = from[i], tie = entry & TIE<Index>, row = entry & static_cast<Index>(~TIE<Index>);
        const bool goes_left = side[row];
        tie_left &= tie;  // a new value ends the runs of both halves
        tie_right &= tie;
        to[goes_left ? l : r] = row | (goes_left ? tie_left : tie_right);
        tie_left = goes_left ? TIE<Index> : tie_left;
        tie_right = goes_left ? tie_right : TIE<Index>;
        l += goes_left;
        r += !goes_left;
    }
}

}  // namespace tenfold
