// Columns of categories by their numbers: written into a table, and counted. Some rows at a time, so that each is at hand until all
// of its columns are done.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/common/cancel.hpp"
#include "kernels/common/rows_view.hpp"

namespace tenfold {

// A value of a column is numbers[places[i]]; a place below zero stands for the last of the numbers.
struct PlacedColumn {
    const std::int32_t* narrow = nullptr;  // the places: these,
    const std::int64_t* wide = nullptr;    // or these
    const double* numbers = nullptr;
    size_t count = 0;  // of the numbers
};

// Writes columns first, first + 1, ... of `out`. False where a place is beyond the numbers of its column.
template <class T>
bool write_placed(const std::vector<PlacedColumn>& columns, size_t n, T* out, size_t width, size_t first) {
    constexpr size_t TILE = 1024;
    bool inside = true;
    const auto write = [&](const auto* places, const double* numbers, size_t count, T* into, size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) {
            const size_t place = places[i] < 0 ? count - 1 : static_cast<size_t>(places[i]);
            inside &= place < count;
            into[i * width] = static_cast<T>(numbers[place < count ? place : 0]);
        }
    };
    for (size_t begin = 0; begin < n; begin += TILE) {
        leave_if_stopped();
        const size_t end = std::min(n, begin + TILE);
        for (size_t j = 0; j < columns.size(); ++j) {
            const PlacedColumn& column = columns[j];
            if (column.narrow) write(column.narrow, column.numbers, column.count, out + first + j, begin, end);
            else write(column.wide, column.numbers, column.count, out + first + j, begin, end);
        }
    }
    return inside;
}

// The weight of each code 0, ..., sizes[j] − 1 of each column and, behind them, of its missing values; codes below zero count nowhere,
// nor do columns with a size below zero. False where a code is none of these. Without weights every row counts 1.
template <class T>
bool tally(Rows<const T> X, const double* w, const std::int64_t* sizes, double* counts) {
    bool inside = true;
    std::vector<double*> begins(X.p);
    for (size_t j = 0; j < X.p; ++j) {
        begins[j] = counts;
        counts += sizes[j] + 1;
    }
    for (size_t i = 0; i < X.n; ++i) {
        const T* row = X[i];
        const double weight = w ? w[i] : 1.0;
        for (size_t j = 0; j < X.p; ++j) {
            if (sizes[j] < 0) continue;
            const T code = row[j];
            if (code >= 0 && code < static_cast<T>(sizes[j])) begins[j][static_cast<size_t>(code)] += weight;
            else if (std::isnan(code)) begins[j][sizes[j]] += weight;
            else inside &= code < 0;
        }
    }
    return inside;
}

// Numbers rows of bytes, equal ones alike, in order of appearance: the first row of each number.
inline std::vector<size_t> number_bytes(const std::uint8_t* values, size_t n, size_t width, std::int32_t* numbers) {
    const auto hash_of = [width](const std::uint8_t* row) {
        std::uint64_t hash = 0;
        for (size_t at = 0; at < width; at += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, row + at, std::min<size_t>(8, width - at));
            hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 32;
        }
        return hash;
    };
    std::vector<size_t> firsts;
    std::vector<std::uint64_t> hashes;       // of each number
    std::vector<std::int32_t> slots(64, -1);  // numbers by hash, at most half of them taken
    for (size_t i = 0; i < n; ++i) {
        if (i % 4096 == 0) leave_if_stopped();
        const std::uint8_t* row = values + i * width;
        const std::uint64_t hash = hash_of(row);
        size_t at = hash & (slots.size() - 1);
        for (; slots[at] >= 0; at = (at + 1) & (slots.size() - 1)) {
            const auto known = static_cast<size_t>(slots[at]);
            if (hashes[known] == hash && std::memcmp(values + firsts[known] * width, row, width) == 0) break;
        }
        if (slots[at] < 0) {
            slots[at] = static_cast<std::int32_t>(firsts.size());
            firsts.push_back(i);
            hashes.push_back(hash);
        }
        numbers[i] = slots[at];
        if (2 * firsts.size() >= slots.size()) {
            slots.assign(2 * slots.size(), -1);
            for (size_t known = 0; known < hashes.size(); ++known) {
                size_t place = hashes[known] & (slots.size() - 1);
                while (slots[place] >= 0) place = (place + 1) & (slots.size() - 1);
                slots[place] = static_cast<std::int32_t>(known);
            }
        }
    }
    return firsts;
}

}  // namespace tenfold
