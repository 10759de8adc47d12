// Leaves row by row: Gaussian kernels as powers of two of scalar products, others by squared distances.
#pragma once

#include "kernels/summation/shapes.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr double TIGHT = 32;  // radius of a leaf up to which products are as good as distances: the error is about 1e-16 TIGHT²

TENFOLD_INLINE bool any_above(V x, double least) {
#if defined(__AVX512F__)
    return _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(least), _CMP_GT_OQ) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)x, _mm256_set1_pd(least), _CMP_GT_OQ)) != 0;
#else
    bool any = false;
    for (size_t l = 0; l < L; ++l) any |= x[l] > least;
    return any;
#endif
}

// 2^x for x < 1000, to 1e-12: the whole part becomes the exponent, the rest goes through the polynomial that is right at the Chebyshev
// points of degree 8. Powers below the least number are the least number.
TENFOLD_INLINE V power2(V x) {
    constexpr double SHIFT = 0x1.8p52, LEAST = -1020;
    x = x > LEAST ? x : splat(LEAST);
    const V shifted = x + SHIFT, f = x - (shifted - SHIFT);
    V series = splat(1.3255224878668817e-06);
    for (double c : {1.5310079402249296e-05, 0.00015403455852453838, 0.0013333450568000645, 0.009618129159402558, 0.05550410941205933,
                     0.2402265069581299, 0.6931471805459335, 1.0})
        series = series * f + c;
    return std::bit_cast<V>(std::bit_cast<I>(series) + (std::bit_cast<I>(shifted) << 52));
}

}  // namespace tenfold::TENFOLD_LEVEL
