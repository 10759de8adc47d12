// Kernels of many rows with many rows from products in registers; sums of them without a table.
#pragma once

#include "kernels/common/explog.hpp"
#include "kernels/machines/svm_kernels.hpp"

namespace tenfold::TENFOLD_LEVEL {

#if defined(__AVX512F__)
constexpr size_t COLUMNS = 12;  // times 2 vectors: the registers of sums
#elif defined(__aarch64__)
constexpr size_t COLUMNS = 10;
#else
constexpr size_t COLUMNS = 6;
#endif

template <class T>
struct Wide {
    static constexpr size_t LANES = TENFOLD_VECTOR_BYTES / sizeof(T), ROWS = 2 * LANES;
    using S = Simd<T, LANES>;
    using Vec = typename S::Vector;
};

using F = Wide<float>::Vec;
using J = Simd<std::int32_t, Wide<float>::LANES>::Vector;

// e^x for x <= 0 in single precision: about one unit in the last place.
TENFOLD_INLINE F exp_below(F x) {
    constexpr float SHIFT = 0x1.8p23f;
    auto vanishes = x < -87.0f;
    x = vanishes ? F{} : x;
    F shifted = x * 0x1.715476p0f + SHIFT;
    F n = shifted - SHIFT;
    F r = (x - n * 0x1.62e400p-1f) - n * 0x1.7f7d1cp-20f;
    F series = (F{} + 1.0f / 720.0f);
    for (float factorial : {120.0f, 24.0f, 6.0f, 2.0f, 1.0f, 1.0f}) series = series * r + 1.0f / factorial;
    F power = std::bit_cast<F>((std::bit_cast<J>(shifted) << 23) + (127 << 23));
    return vanishes ? F{} : series * power;
}
TENFOLD_INLINE V exp_below(V x) { return exp_negative(x); }

template <class Vec>
TENFOLD_INLINE Vec tanh_of(Vec x) {
    Vec size = x < 0 ? -x : x, e = exp_below(-2 * size), t = (1 - e) / (1 + e);
    return x < 0 ? -t : t;
}

template <class Vec>
TENFOLD_INLINE Vec power_of(Vec base, std::int64_t degree) {
    Vec product = Vec{} + 1;
    for (; degree > 0; degree >>= 1, base *= base)
        if (degree & 1) product *= base;
    return product;
}

// The kernel from products t; `halves` is the sum of half the squared norms.
template <class Vec, class T>
TENFOLD_INLINE Vec kernel_of(Vec t, const KernelForm& form, Vec halves, T constant) {
    switch (form.form) {
        case Form::gaussian: {
            Vec exponent = t - halves;
            return exp_below(exponent > 0 ? Vec{} : exponent);  // NaN stays
        }
        case Form::polynomial: return power_of(t + constant, form.degree);
        case Form::sigmoid: return tanh_of(t + constant);
        default: return t;
    }
}

// found[j][v]: the kernels of COLUMNS columns with Wide<T>::ROWS rows, which are `rows` (value after value, PACKED apart).
template <class T>
TENFOLD_INLINE void kernels_of(const T* rows, const T* halves, const T* columns, const T* column_halves, size_t p, const KernelForm& form,
                               typename Wide<T>::Vec (&found)[COLUMNS][2]) {
    using S = typename Wide<T>::S;
    constexpr size_t LANES = Wide<T>::LANES;
    typename Wide<T>::Vec sum[COLUMNS][2] = {};
    for (size_t k = 0; k < p; ++k, rows += PACKED, columns += COLUMNS) {
        const auto first = S::load(rows), second = S::load(rows + LANES);
        for (size_t j = 0; j < COLUMNS; ++j) {
            const auto one = S::splat(columns[j]);
            sum[j][0] += one * first;
            sum[j][1] += one * second;
        }
    }
    const auto first = S::load(halves), second = S::load(halves + LANES);
    const T constant = static_cast<T>(form.constant);
    for (size_t j = 0; j < COLUMNS; ++j) {
        found[j][0] = kernel_of(sum[j][0], form, first + column_halves[j], constant);
        found[j][1] = kernel_of(sum[j][1], form, second + column_halves[j], constant);
    }
}

template <class T>
void kernel_sums(const PackedRows<T>& rows, const PackedColumns<T>& columns, const T* weights, size_t r, const KernelForm& form, Range range,
                 double* sums) {
    using W = Wide<T>;
    const size_t wide = columns.groups * COLUMNS, n = rows.count * PACKED;
    for (size_t g = range.begin; g < range.end && !stopped(); ++g)
        for (size_t part = 0; part < PACKED; part += W::ROWS)
            for (size_t c = 0; c < columns.groups; ++c) {
                typename W::Vec found[COLUMNS][2];
                kernels_of<T>(rows.data + g * rows.p * PACKED + part, rows.halves + g * PACKED + part, columns.values + c * COLUMNS * rows.p,
                              columns.halves + c * COLUMNS, rows.p, form, found);
                for (size_t s = 0; s < r; ++s) {
                    const T* weight = weights + s * wide + c * COLUMNS;
                    typename W::Vec sum[2] = {};
                    for (size_t j = 0; j < COLUMNS; ++j) {
                        sum[0] += weight[j] * found[j][0];
                        sum[1] += weight[j] * found[j][1];
                    }
                    double* to = sums + s * n + g * PACKED + part;
                    for (size_t v = 0; v < 2; ++v)
                        for (size_t l = 0; l < W::LANES; ++l) to[v * W::LANES + l] += sum[v][l];
                }
            }
}

template <class T>
void kernel_block(const PackedRows<T>& rows, const PackedColumns<T>& columns, const KernelForm& form, Range range, bool half, T* out) {
    using W = Wide<T>;
    const size_t n = rows.count * PACKED;
    for (size_t g = range.begin; g < range.end && !stopped(); ++g) {
        const size_t groups = half ? std::min(columns.groups, ceil_div((g + 1) * PACKED, COLUMNS)) : columns.groups;
        for (size_t part = 0; part < PACKED; part += W::ROWS)
            for (size_t c = 0; c < groups; ++c) {
                typename W::Vec found[COLUMNS][2];
                kernels_of<T>(rows.data + g * rows.p * PACKED + part, rows.halves + g * PACKED + part, columns.values + c * COLUMNS * rows.p,
                              columns.halves + c * COLUMNS, rows.p, form, found);
                const size_t here = std::min(COLUMNS, columns.n - c * COLUMNS);
                for (size_t j = 0; j < COLUMNS; ++j) {
                    if (j >= here) break;
                    T* to = out + (c * COLUMNS + j) * n + g * PACKED + part;
                    W::S::store(to, found[j][0]);
                    W::S::store(to + W::LANES, found[j][1]);
                }
            }
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
