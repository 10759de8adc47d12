// Distances of many rows at once, and what hierarchical clustering makes of them.
//
// Compiled without contraction to a * b + c: sums are rounded as elsewhere, so that rows that are equally far stay so.
#pragma once

#include "kernels/cluster/linkage_kernels.hpp"
#include "kernels/common/simd.hpp"
#include "kernels/near/apart.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr size_t SIDE_VECTORS = SIDE / L;
constexpr size_t COLUMNS_AT_ONCE = 512;
constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double NEARLY_EQUAL = 1e-12;

TENFOLD_INLINE V root_of(V x) {
#if defined(__AVX512F__)
    return (V)_mm512_maskz_sqrt_pd(0xff, (__m512d)x);  // the plain one makes GCC warn
#elif defined(__AVX2__)
    return (V)_mm256_sqrt_pd((__m256d)x);
#else
    for (size_t l = 0; l < L; ++l) x[l] = std::sqrt(x[l]);
    return x;
#endif
}
TENFOLD_INLINE V smaller(V a, V b) { return a < b ? a : b; }
TENFOLD_INLINE bool any(I mask) {
    std::int64_t found = 0;
    for (size_t l = 0; l < L; ++l) found |= mask[l];
    return found != 0;
}
TENFOLD_INLINE V lanes() {
    V v;
    for (size_t l = 0; l < L; ++l) v[l] = static_cast<double>(l);
    return v;
}

// Q queries to one block of rows, columns from j to end.
template <size_t Q, Apart A>
TENFOLD_INLINE void away_from_block(const Measure<A>& measure, const double* block, const double* queries, size_t p, size_t j, size_t end,
                                    bool root, double* out, size_t stride) {
    V sum[Q][SIDE_VECTORS] = {};
    if (j > 0)
        for (size_t q = 0; q < Q; ++q)
            for (size_t v = 0; v < SIDE_VECTORS; ++v) sum[q][v] = load(out + q * stride + v * L);
    for (; j < end; ++j) {
        V x[SIDE_VECTORS];
        for (size_t v = 0; v < SIDE_VECTORS; ++v) x[v] = load(block + j * SIDE + v * L);
        for (size_t q = 0; q < Q; ++q) {
            const V y = splat(queries[q * p + j]);
            for (size_t v = 0; v < SIDE_VECTORS; ++v) sum[q][v] = measure.add(sum[q][v], measure.apart(x[v], y));
        }
    }
    for (size_t q = 0; q < Q; ++q)
        for (size_t v = 0; v < SIDE_VECTORS; ++v) store(out + q * stride + v * L, root ? root_of(sum[q][v]) : sum[q][v]);
}

inline void away(const Beside& rows, const double* queries, size_t count, size_t begin, size_t end, const Distance& distance, double* out,
                 size_t stride) {
    with_measure(distance.apart, distance.power, [&]<Apart A>(const Measure<A>& measure) {
        constexpr size_t Q = L >= 8 ? 4 : L >= 4 ? 2 : 1;
        const size_t p = rows.p;
        for (size_t j = 0; j < p; j += COLUMNS_AT_ONCE) {
            const size_t last = std::min(p, j + COLUMNS_AT_ONCE);
            const bool root = distance.root && last == p;
            for (size_t b = begin; b < end; ++b) {
                const double* block = rows.values + b * p * SIDE;
                double* to = out + (b - begin) * SIDE;
                size_t q = 0;
                for (; q + Q <= count; q += Q) away_from_block<Q>(measure, block, queries + q * p, p, j, last, root, to + q * stride, stride);
                for (; q < count; ++q) away_from_block<1>(measure, block, queries + q * p, p, j, last, root, to + q * stride, stride);
            }
        }
    });
}

inline void meet(const DistanceBlock& block, NearestSoFar& seen) {
    I tied{};
    bool tie = false;
    const auto note = [&](double d, size_t i, double number) __attribute__((always_inline)) {
        tie |= std::fabs(d - seen.distance[i]) <= NEARLY_EQUAL * d;
        if (d < seen.distance[i]) seen.distance[i] = d, seen.number[i] = number;
    };
    for (size_t k = 0; k < block.count; ++k) {
        const size_t i = block.first + k, end = std::min(block.end, i);
        if (end <= block.begin) continue;
        const double* row = block.stride ? block.values + k * block.stride : block.values + i * (i - 1) / 2 + block.begin;
        const double own = static_cast<double>(i);
        V best = splat(INFINITE), number{};
        size_t j = block.begin;
        for (; j + L <= end; j += L) {
            const V d = load(row + (j - block.begin)), before = load(seen.distance + j), near = splat(NEARLY_EQUAL) * d;
            tied |= (size_of(d - before) <= near) | (size_of(d - best) <= near);
            store(seen.distance + j, smaller(d, before));
            store(seen.number + j, d < before ? splat(own) : load(seen.number + j));
            number = d < best ? splat(static_cast<double>(j)) + lanes() : number;
            best = smaller(d, best);
        }
        for (size_t l = 0; l < L; ++l)
            if (best[l] < INFINITE) note(best[l], i, number[l]);
        for (; j < end; ++j) {
            const double d = row[j - block.begin];
            note(d, j, own);
            note(d, i, static_cast<double>(j));
        }
    }
    seen.tied = seen.tied || tie || any(tied);
}

inline Neighbor least(const double* values, const double* added, size_t n) {
    V best = splat(INFINITE), number = splat(-1.0), at = lanes();
    size_t i = 0;
    for (; i + L <= n; i += L, at += splat(static_cast<double>(L))) {
        const V d = load(values + i) + load(added + i);
        number = d < best ? at : number;
        best = smaller(d, best);
    }
    Neighbor found{INFINITE, -1};
    for (size_t l = 0; l < L; ++l) {
        const Neighbor one{best[l], static_cast<std::int64_t>(number[l])};
        if (one.row >= 0 && nearer(one, found)) found = one;
    }
    for (; i < n; ++i)
        if (values[i] + added[i] < found.distance) found = {values[i] + added[i], static_cast<std::int64_t>(i)};
    return found;
}

// f(i, load, store) for vectors, then for what is left.
template <class F>
TENFOLD_INLINE void each_vector(size_t n, F&& f) {
    size_t i = 0;
    for (; i + L <= n; i += L)
        f([=](const double* from) __attribute__((always_inline)) { return load(from + i); },
          [=](double* to, V v) __attribute__((always_inline)) { store(to + i, v); });
    const size_t left = n - i;
    if (left)
        f([=](const double* from) __attribute__((always_inline)) { return load_part(from + i, left); },
          [=](double* to, V v) __attribute__((always_inline)) {
              for (size_t l = 0; l < left; ++l) to[i + l] = v[l];
          });
}

inline void join(const Joined& joined, const double* first, const double* second, const double* weight, size_t n, double* out) {
    const V a = splat(joined.first), b = splat(joined.second), both = a + b, d = splat(joined.apart);
    const V zero{};
    each_vector(n, [&](auto at, auto put) __attribute__((always_inline)) {
        const V x = at(first), y = at(second);
        switch (joined.linkage) {
            case Linkage::single: return put(out, smaller(x, y));
            case Linkage::complete: return put(out, larger(x, y));
            case Linkage::average: return put(out, (a * x + b * y) / both);
            case Linkage::weighted: return put(out, splat(0.5) * (x + y));
            case Linkage::ward: {
                const V w = at(weight), t = splat(1.0) / (both + w);
                return put(out, root_of(larger((w + a) * t * x * x + (w + b) * t * y * y - w * t * d * d, zero)));
            }
            case Linkage::centroid:
                return put(out, root_of(larger((((a * x * x) + (b * y * y)) - (a * b * d * d) / both) / both, zero)));
            case Linkage::median:
                return put(out, root_of(larger(splat(0.5) * (x * x + y * y) - splat(0.25) * d * d, zero)));
        }
    });
}

inline void weigh(double* squares, double weight, const double* weights, size_t n, bool root) {
    const V a = splat(weight), twice = a + a;
    each_vector(n, [&](auto at, auto put) __attribute__((always_inline)) {
        const V b = at(weights), d = at(squares) * ((twice * b) / (a + b));
        put(squares, root ? root_of(d) : d);
    });
}

inline Neighbor reach(const double* away, double core, const double* cores, const double* gone, size_t n, double* nearest) {
    V best = splat(INFINITE), number = splat(-1.0), at = lanes();
    size_t i = 0;
    for (; i + L <= n; i += L, at += splat(static_cast<double>(L))) {
        V d = load(away + i);
        if (cores) d = larger(larger(d, splat(core)), load(cores + i));
        d = smaller(d, load(nearest + i));
        store(nearest + i, d);
        const V here = d + load(gone + i);
        number = here < best ? at : number;
        best = smaller(here, best);
    }
    Neighbor found{INFINITE, -1};
    for (size_t l = 0; l < L; ++l) {
        const Neighbor one{best[l], static_cast<std::int64_t>(number[l])};
        if (one.row >= 0 && nearer(one, found)) found = one;
    }
    for (; i < n; ++i) {
        double d = away[i];
        if (cores) d = larger_of(larger_of(d, core), cores[i]);
        nearest[i] = d < nearest[i] ? d : nearest[i];
        if (nearest[i] + gone[i] < found.distance) found = {nearest[i] + gone[i], static_cast<std::int64_t>(i)};
    }
    return found;
}

}  // namespace tenfold::TENFOLD_LEVEL
