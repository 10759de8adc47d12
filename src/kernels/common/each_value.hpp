// Kernels that look at each value once.
#pragma once

#include <bit>
#include <limits>

#include "kernels/common/simd.hpp"

namespace tenfold::TENFOLD_LEVEL {

// all_finite: true when no value is NaN or infinite (x - x is then 0, and only then).
template <class T>
bool all_finite(std::span<const T> values) {
    constexpr size_t LANES = TENFOLD_VECTOR_BYTES / sizeof(T), SUMS = 4, STEP = 64 * LANES;
    using S = Simd<T, LANES>;
    const T* x = values.data();
    size_t i = 0;
    for (; i + STEP <= values.size(); i += STEP) {
        typename S::Vector sum[SUMS] = {};
        for (size_t j = 0; j < STEP; j += LANES) {
            typename S::Vector part = S::load(x + i + j);
            sum[j / LANES % SUMS] += part - part;
        }
        T total = 0;
        for (size_t l = 0; l < LANES; ++l) total += (sum[0] + sum[1] + (sum[2] + sum[3]))[l];
        if (total != 0) return false;
    }
    for (; i < values.size(); ++i)
        if (x[i] - x[i] != 0) return false;
    return true;
}

// take_rows: the rows of X with these numbers, one after the other. Rows far apart are asked for early.
template <class T>
void take_rows(Rows<const T> X, Labels rows, T* out) {
    constexpr size_t EARLY = 8, LINE = 64 / sizeof(T);
    for (size_t i = 0; i < rows.size(); ++i, out += X.p) {
        if (i % 1024 == 0 && stopped()) {
            std::fill_n(out, (rows.size() - i) * X.p, T{});
            return;
        }
        if (i + EARLY < rows.size()) {
            const T* later = X[static_cast<size_t>(rows[i + EARLY])];
            for (size_t j = 0; j < X.p; j += LINE) __builtin_prefetch(later + j, 0, 2);
        }
        std::copy_n(X[static_cast<size_t>(rows[i])], X.p, out);
    }
}

constexpr std::uint64_t GOLDEN = 0x9E3779B97F4A7C15u;

TENFOLD_INLINE std::uint64_t mix_bits(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// hash_rows: a content hash of each row, modulo 2^64
//   hash_i = mix(seed + GOLDEN p + sum_j mix(bits(float32(x_ij)) + GOLDEN (j + 1)))
// Values are rounded to float32 first, so that float32 and float64 copies of a table agree; -0 counts as 0,
// every NaN as one.
template <class T>
void hash_rows(Rows<const T> X, std::uint64_t seed, std::uint64_t* hash) {
    for (size_t i = 0; i < X.n; ++i) {
        if (i % 1024 == 0 && stopped()) return;
        const T* x = X[i];
        std::uint64_t sum = seed + GOLDEN * X.p;
        for (size_t j = 0; j < X.p; ++j) {
            float value = static_cast<float>(x[j]) + 0.0f;
            value = value == value ? value : std::numeric_limits<float>::quiet_NaN();
            sum += mix_bits(std::bit_cast<std::uint32_t>(value) + GOLDEN * (j + 1));
        }
        hash[i] = mix_bits(sum);
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
