// The shapes that kernels take and fill, and the flag that stops a long kernel.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

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
};

// Set by another thread: every long kernel looks at it now and then, and returns early with useless outputs.
// One flag stops all modules: those that are not `_kernels` point to its flag from their import on (src/arrays.hpp).
inline std::atomic<bool> own_flag{false};
inline std::atomic<bool>* interrupted = &own_flag;

inline bool stopped() { return interrupted->load(std::memory_order_relaxed); }

}  // namespace tenfold
