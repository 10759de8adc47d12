// Kernels by the squared distance s, a vector of them at a time.
#pragma once

#include "kernels/common/explog.hpp"
#include "kernels/summation/sums_view.hpp"

namespace tenfold::TENFOLD_LEVEL {

TENFOLD_INLINE V root(V s) {
#if defined(__AVX512F__)
    return (V)_mm512_maskz_sqrt_pd(0xff, (__m512d)s);  // the plain one warns of a value that it never reads
#elif defined(__AVX2__)
    return (V)_mm256_sqrt_pd((__m256d)s);
#else
    V r{};
    for (size_t l = 0; l < L; ++l) r[l] = __builtin_sqrt(s[l]);
    return r;
#endif
}

TENFOLD_INLINE V at_least_zero(V x) { return x > 0.0 ? x : V{}; }
TENFOLD_INLINE V at_most_zero(V x) { return x < 0.0 ? x : V{}; }

// cos(π r / 2) and sin(π r / 2) / r as series in s = r² <= 1; what is left out is below 1e-17.
TENFOLD_INLINE V cosine_series(V s, int odd) {
    V z = -(2.4674011002723397 * s), series = splat(1.0);  // (π / 2)²
    for (int k = 11; k > 0; --k) series = 1.0 + series * z * (1.0 / ((2 * k - 1 + odd) * (2 * k + odd)));
    return odd ? series * 1.5707963267948966 : series;
}

// A kernel that decays is taken relative to its value at the distance of the nearest row, where all others would vanish.
constexpr double VANISHED = 708;    // e^-708 is nearly the least normal number
constexpr double WIDER = 1 + 1e-12;  // so that no rounding leaves out the nearest row

struct GaussianKernel {
    static constexpr bool decays = true;
    double near = 0;  // squared distance
    TENFOLD_INLINE V at(V s) const { return exp_negative(at_most_zero(-0.5 * (s - near))); }
    TENFOLD_INLINE double reach(double rate) const { return near * WIDER + 2 * (rate > 0 ? std::min(-std::log(rate), VANISHED) : VANISHED); }
    TENFOLD_INLINE double lost() const { return 0.5 * near; }
};
struct ExponentialKernel {
    static constexpr bool decays = true;
    double near = 0;  // distance
    TENFOLD_INLINE V at(V s) const { return exp_negative(at_most_zero(near - root(s))); }
    TENFOLD_INLINE double reach(double rate) const {
        const double far = near * WIDER + (rate > 0 ? std::max(std::min(-std::log(rate), VANISHED), 0.0) : VANISHED);
        return far * far;
    }
    TENFOLD_INLINE double lost() const { return near; }
};
struct CompactKernel {
    static constexpr bool decays = false;
    TENFOLD_INLINE double reach(double) const { return 1; }
    TENFOLD_INLINE double lost() const { return 0; }
};
struct TophatKernel : CompactKernel {
    TENFOLD_INLINE V at(V s) const { return s < 1.0 ? splat(1.0) : V{}; }
};
struct EpanechnikovKernel : CompactKernel {
    TENFOLD_INLINE V at(V s) const { return at_least_zero(1.0 - s); }
};
struct LinearKernel : CompactKernel {
    TENFOLD_INLINE V at(V s) const { return at_least_zero(1.0 - root(s)); }
};
struct CosineKernel : CompactKernel {
    TENFOLD_INLINE V at(V s) const { return s < 1.0 ? cosine_series(s < 1.0 ? s : V{}, 0) : V{}; }
};
struct BiweightKernel : CompactKernel {
    TENFOLD_INLINE V at(V s) const {
        const V u = at_least_zero(1.0 - s);
        return u * u;
    }
};

template <class Work>
TENFOLD_INLINE void with_kernel(Shape shape, Work&& work) {
    switch (shape) {
        case Shape::gaussian: return work(GaussianKernel{});
        case Shape::tophat: return work(TophatKernel{});
        case Shape::epanechnikov: return work(EpanechnikovKernel{});
        case Shape::exponential: return work(ExponentialKernel{});
        case Shape::linear: return work(LinearKernel{});
        case Shape::cosine: return work(CosineKernel{});
        case Shape::biweight: return work(BiweightKernel{});
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
