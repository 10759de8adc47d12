// Short vectors, sized by the instruction set that the including file is compiled for.
//
// src/level_NAME.cpp is compiled once per instruction set, and all kernels live in a namespace named after it.
// (target_clones would choose among clones of plain functions, but not of templates, and could not fit
// register tiles to the registers.)
#pragma once

#include <cmath>
#include <cstring>
#include <new>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "kernels/common/rows_view.hpp"

#if defined(__AVX512F__)
#define TENFOLD_LEVEL avx512
#define TENFOLD_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define TENFOLD_LEVEL avx2
#define TENFOLD_VECTOR_BYTES 32
#else
#define TENFOLD_LEVEL baseline
#define TENFOLD_VECTOR_BYTES 16
#endif

namespace tenfold::TENFOLD_LEVEL {

template <class T, size_t Lanes>
struct Simd {
    typedef T Vector __attribute__((vector_size(sizeof(T) * Lanes)));

    TENFOLD_INLINE static Vector load(const T* from) {
        Vector v;
        std::memcpy(&v, from, sizeof v);
        return v;
    }
    TENFOLD_INLINE static void store(T* to, Vector v) { std::memcpy(to, &v, sizeof v); }
    TENFOLD_INLINE static Vector splat(T value) { return value - Vector{}; }
};

// L doubles make one vector V, the unit of nearly every loop; I is its twin of 64-bit integers.
constexpr size_t L = TENFOLD_VECTOR_BYTES / sizeof(double);
using V = Simd<double, L>::Vector;
using I = Simd<std::int64_t, L>::Vector;

TENFOLD_INLINE V splat(double value) { return Simd<double, L>::splat(value); }
TENFOLD_INLINE void store(double* to, V v) { Simd<double, L>::store(to, v); }

// L values of type T as doubles.
template <class T>
TENFOLD_INLINE V load(const T* from) {
    return __builtin_convertvector((Simd<T, L>::load(from)), V);
}

// The first `count` < L values, then zeros; nothing beyond them is read.
template <class T>
TENFOLD_INLINE V load_part(const T* from, size_t count) {
#if defined(__AVX512F__)
    __mmask8 mask = static_cast<__mmask8>((1u << count) - 1);
    if constexpr (sizeof(T) == 8) return (V)_mm512_maskz_loadu_pd(mask, from);
    else return __builtin_convertvector((Simd<float, L>::Vector)_mm256_maskz_loadu_ps(mask, from), V);
#else
    V v{};
    for (size_t l = 0; l < L - 1; ++l)
        if (l < count) v[l] = from[l];
    return v;
#endif
}

// Calls f(j, at) for j = 0, L, 2L .. < p, where at(row) gives the values of `row` in columns j .. j + L - 1,
// zero from p on.
template <class F>
TENFOLD_INLINE void for_vectors(size_t p, F&& f) {
    size_t j = 0;
    for (; j + L <= p; j += L)
        f(j, [=](const auto* row) __attribute__((always_inline)) { return load(row + j); });
    if (j < p)
        f(j, [=](const auto* row) __attribute__((always_inline)) { return load_part(row + j, p - j); });
}

template <size_t Step, class Fold, size_t... Lane>
TENFOLD_INLINE V fold_neighbours(V a, V b, Fold fold, std::index_sequence<Lane...>) {
    // Blocks of 2 Step lanes: the first half of each comes from a, the second from b.
    constexpr auto from = [](size_t lane, size_t half) {
        size_t block = lane / (2 * Step) * (2 * Step), place = lane % (2 * Step);
        return (place < Step ? block + place : L + block + place - Step) + half * Step;
    };
    return fold(__builtin_shufflevector(a, b, from(Lane, 0)...),
                __builtin_shufflevector(a, b, from(Lane, 1)...));
}

// {fold of the lanes of v[0], fold of the lanes of v[1], ...}
template <size_t Step = 1, class Fold>
TENFOLD_INLINE V fold_each(const V* v, Fold fold) {
    if constexpr (Step == L) return v[0];
    else {
        V half[L / (2 * Step)];
        for (size_t i = 0; i < L / (2 * Step); ++i)
            half[i] = fold_neighbours<Step>(v[2 * i], v[2 * i + 1], fold, std::make_index_sequence<L>{});
        return fold_each<2 * Step>(half, fold);
    }
}

TENFOLD_INLINE V larger(V a, V b) { return a > b ? a : b; }

TENFOLD_INLINE V sum_each(const V* v) {
    return fold_each(v, [](V a, V b) __attribute__((always_inline)) { return a + b; });
}
TENFOLD_INLINE V largest_each(const V* v) {
    return fold_each(v, [](V a, V b) __attribute__((always_inline)) { return larger(a, b); });
}

template <size_t Step, size_t... Lane>
TENFOLD_INLINE void exchange(V& a, V& b, std::index_sequence<Lane...>) {
    V first = __builtin_shufflevector(a, b, (Lane & Step ? L + Lane - Step : Lane)...);
    b = __builtin_shufflevector(a, b, (Lane & Step ? L + Lane : Lane + Step)...);
    a = first;
}

// The L x L matrix of rows v[0], v[1], .. becomes its transpose.
template <size_t Step = 1>
TENFOLD_INLINE void transpose(V* v) {
    if constexpr (Step < L) {
        for (size_t i = 0; i < L; ++i)
            if (!(i & Step)) exchange<Step>(v[i], v[i + Step], std::make_index_sequence<L>{});
        transpose<2 * Step>(v);
    }
}

TENFOLD_INLINE double sum_lanes(V v) {
    double sum = 0;
    for (size_t l = 0; l < L; ++l) sum += v[l];
    return sum;
}

// Scratch memory on cache-line boundaries, filled with zeros.
template <class T>
class Scratch {
public:
    explicit Scratch(size_t size) : data_(static_cast<T*>(::operator new((size + 1) * sizeof(T), LINE))) {
        std::memset(static_cast<void*>(data_), 0, size * sizeof(T));
    }
    Scratch(const Scratch&) = delete;
    ~Scratch() { ::operator delete(data_, LINE); }

    T* data() const { return data_; }
    T& operator[](size_t i) const { return data_[i]; }

private:
    static constexpr std::align_val_t LINE{64};
    T* data_;
};

constexpr size_t ceil_div(size_t a, size_t b) { return a / b + (a % b != 0); }
constexpr size_t padded(size_t p) { return ceil_div(p, L) * L; }

}  // namespace tenfold::TENFOLD_LEVEL
