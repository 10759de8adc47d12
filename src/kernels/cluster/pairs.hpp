// Distances of all pairs of rows, and the change of the loss by a swap of medoids.
#pragma once

#include "kernels/cluster/pairs_kernels.hpp"
#include "kernels/near/apart.hpp"

namespace tenfold::TENFOLD_LEVEL {

// Rows stand side by side in packs of WIDE, so that a query meets WIDE of them in the registers.
constexpr size_t PACKED_VECTORS = 4, WIDE = PACKED_VECTORS * L;

inline void sums(Rows<const double> queries, Rows<const double> rows, Apart apart, double power, double* to) {
    const size_t p = rows.p;
    Scratch<double> pack(p * WIDE);
    with_measure(apart, power, [&]<Apart A>(const Measure<A>& measure) {
        for (size_t first = 0; first < rows.n && !stopped(); first += WIDE) {
            const size_t count = std::min(WIDE, rows.n - first);
            for (size_t r = 0; r < count; ++r)
                for (size_t j = 0; j < p; ++j) pack[j * WIDE + r] = rows[first + r][j];
            for (size_t q = 0; q < queries.n; ++q) {
                V sum[PACKED_VECTORS] = {};
                const double* x = queries[q];
                for (size_t j = 0; j < p; ++j)
                    for (size_t v = 0; v < PACKED_VECTORS; ++v)
                        sum[v] = measure.add(sum[v], measure.apart(splat(x[j]), load(pack.data() + j * WIDE + v * L)));
                double found[WIDE];
                std::memcpy(found, sum, sizeof found);
                std::copy_n(found, count, to + q * rows.n + first);
            }
        }
    });
}

// The rows that a new medoid is nearer to than their second: to no others does it matter. Returns how many there are.
template <class T>
TENFOLD_INLINE size_t hits(const T* away, const T* second, size_t n, std::int32_t* hit) {
    size_t found = 0, o = 0;
#if defined(__AVX512F__)
    constexpr size_t AT_ONCE = 64 / sizeof(T);
    __m512i number = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i step = _mm512_set1_epi32(static_cast<int>(AT_ONCE));
    for (; o + AT_ONCE <= n; o += AT_ONCE) {
        unsigned mask;
        if constexpr (sizeof(T) == 4) mask = _mm512_cmp_ps_mask(_mm512_loadu_ps(away + o), _mm512_loadu_ps(second + o), _CMP_LT_OQ);
        else mask = _mm512_cmp_pd_mask(_mm512_loadu_pd(away + o), _mm512_loadu_pd(second + o), _CMP_LT_OQ);
        _mm512_storeu_si512(hit + found, _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), number));
        found += static_cast<size_t>(__builtin_popcount(mask));
        number = _mm512_add_epi32(number, step);
    }
#endif
    for (; o < n; ++o) {
        hit[found] = static_cast<std::int32_t>(o);
        found += away[o] < second[o];
    }
    return found;
}

// A row at distance d of the new medoid, m and s of its nearest and second, then has
//     min(d, m) - m            whoever is given up (returned, over all rows)
//     max(d, m) - s            besides, if that is its nearest (added to its loss), for d < s
template <class T>
double change(const T* away, const Nearby<T>& nearby, double* loss, std::int32_t* hit) {
    const size_t count = hits(away, nearby.second, nearby.n, hit);
    double gain[4] = {};
    for (size_t h = 0; h < count; ++h) {
        const auto o = static_cast<size_t>(hit[h]);
        const double d = away[o], m = nearby.near[o], s = nearby.second[o], w = nearby.w[o];
        gain[h % 4] += w * (std::min(d, m) - m);
        loss[4 * static_cast<size_t>(nearby.label[o]) + h % 4] += w * (std::max(d, m) - s);
    }
    return (gain[0] + gain[1]) + (gain[2] + gain[3]);
}

}  // namespace tenfold::TENFOLD_LEVEL
