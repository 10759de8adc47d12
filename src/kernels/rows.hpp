// Kernels that look at each value once.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "view.hpp"

namespace tenfold {

// all_finite: true when no value is NaN or infinite.
template <class T>
bool all_finite(std::span<const T> values) {
    for (T v : values)
        if (!std::isfinite(v)) return false;
    return true;
}

constexpr std::uint64_t GOLDEN = 0x9E3779B97F4A7C15ull;

inline std::uint64_t mix_bits(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

// hash_rows: a content hash of each row.
//   hash_i = mix(seed + GOLDEN p + sum_j mix(bits(float32(x_ij)) + GOLDEN (j + 1)))      modulo 2^64
// Values are rounded to float32 first, so that float32 and float64 copies of a table agree; -0 counts as 0, every NaN as one.
template <class T>
void hash_rows(Rows<const T> X, std::uint64_t seed, std::span<std::uint64_t> hash) {
    for (size_t i = 0; i < X.n; ++i) {
        std::uint64_t sum = seed + GOLDEN * X.p;
        for (size_t j = 0; j < X.p; ++j) {
            float value = static_cast<float>(X[i][j]) + 0.0f;
            if (value != value) value = std::numeric_limits<float>::quiet_NaN();
            sum += mix_bits(std::bit_cast<std::uint32_t>(value) + GOLDEN * (j + 1));
        }
        hash[i] = mix_bits(sum);
    }
}

}  // namespace tenfold
