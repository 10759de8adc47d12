// The shapes that kernels take and fill.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/common/cancel.hpp"

namespace tenfold {

using std::size_t;
using Labels = std::span<const std::int64_t>;
using Weights = std::span<const double>;

// A row-major matrix of n rows and p columns that somebody else owns.
template <class T>
struct Rows {
    T* data;
    size_t n, p;

    TENFOLD_INLINE T* operator[](size_t i) const { return data + i * p; }
};

}  // namespace tenfold
