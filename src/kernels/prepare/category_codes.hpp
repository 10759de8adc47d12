// Columns of categories by their numbers: written into a table, and counted. Some rows at a time, so that each is at hand until all
// of its columns are done.
#pragma once

#include <cmath>
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

}  // namespace tenfold
