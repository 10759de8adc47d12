// Sparse rows as arguments of the bindings, checked.
#pragma once

#include <algorithm>

#include "arrays.hpp"
#include "kernels/linear/sparse_rows.hpp"

inline SparseRows sparse_rows(Integers begin, Column<std::int32_t> columns, Vector values, size_t n, size_t p) {
    const size_t stored = columns.size(0);
    require(begin.size(0) == n + 1, "begin must have one entry more than there are rows");
    require(values.size(0) == stored && begin.data()[0] == 0 && begin.data()[n] == static_cast<std::int64_t>(stored),
            "begin must go from 0 to the number of values, of which each has a column");
    for (size_t i = 0; i < n; ++i) require(begin.data()[i] <= begin.data()[i + 1], "begin must not fall");
    std::uint32_t largest = 0;  // of a negative number, too
    for (size_t k = 0; k < stored; ++k) largest = std::max(largest, static_cast<std::uint32_t>(columns.data()[k]));
    require(stored == 0 || largest < p, "columns must be from 0 to p - 1");
    return {begin.span(), columns.span(), values.span()};
}
