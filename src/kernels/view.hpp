// The shapes that kernels take and fill, and the flag that stops a long kernel.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenfold {

using std::size_t;
using Labels = std::span<const std::int64_t>;
using Weights = std::span<const double>;

// A row-major matrix of n rows and p columns that somebody else owns.
template <class T>
struct Rows {
    T* data;
    size_t n, p;

    T* operator[](size_t i) const { return data + i * p; }
    std::span<T> row(size_t i) const { return {data + i * p, p}; }
};

// Set by another thread; every long kernel looks at it once per tile and returns early, with meaningless outputs.
inline std::atomic<bool> interrupted{false};

inline bool stopped() { return interrupted.load(std::memory_order_relaxed); }

}  // namespace tenfold
