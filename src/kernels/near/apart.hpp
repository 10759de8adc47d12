// How far rows are apart, column by column: `part` of a difference, and parts added up in the order of columns.
#pragma once

#include "kernels/common/simd.hpp"
#include "kernels/near/found.hpp"

namespace tenfold::TENFOLD_LEVEL {

TENFOLD_INLINE V size_of(V x) { return x < 0 ? -x : x; }
TENFOLD_INLINE double size_of(double x) { return std::fabs(x); }
TENFOLD_INLINE double larger_of(double a, double b) { return a > b ? a : b; }
TENFOLD_INLINE V larger_of(V a, V b) { return larger(a, b); }

template <Apart A>
struct Measure {
    double power = 2;

    // Of a difference that is not negative.
    TENFOLD_INLINE double part(double x) const {
        if constexpr (A == Apart::euclidean) return x * x;
        else if constexpr (A == Apart::minkowski) return std::pow(x, power);
        else if constexpr (A == Apart::hamming) return x > 0 ? 1.0 : 0.0;
        else return x;
    }
    TENFOLD_INLINE V part(V x) const {
        if constexpr (A == Apart::minkowski) {
            V found{};
            for (size_t l = 0; l < L; ++l) found[l] = std::pow(x[l], power);
            return found;
        } else if constexpr (A == Apart::euclidean) return x * x;
        else if constexpr (A == Apart::hamming) return x > 0 ? splat(1.0) : V{};
        else return x;
    }
    template <class T>
    TENFOLD_INLINE T apart(T x, T y) const {
        if constexpr (A == Apart::euclidean) return (x - y) * (x - y);
        else return part(size_of(x - y));
    }
    template <class T>
    TENFOLD_INLINE T add(T sum, T one) const {
        if constexpr (A == Apart::chebyshev) return larger_of(sum, one);
        else return sum + one;
    }
    // The sum with one part in the place of another that is not larger.
    TENFOLD_INLINE double exchanged(double sum, double before, double now) const {
        if constexpr (A == Apart::chebyshev) return larger_of(sum, now);
        else return sum - before + now;
    }
};

template <class Work>
void with_measure(Apart apart, double power, Work&& work) {
    switch (apart) {
        case Apart::euclidean: return work(Measure<Apart::euclidean>{});
        case Apart::manhattan: return work(Measure<Apart::manhattan>{});
        case Apart::chebyshev: return work(Measure<Apart::chebyshev>{});
        case Apart::minkowski: return work(Measure<Apart::minkowski>{power});
        case Apart::hamming: return work(Measure<Apart::hamming>{});
    }
}

// Takes all within a radius.
struct Collected {
    Within& found;
    double radius;

    TENFOLD_INLINE double reach() const { return radius; }
    TENFOLD_INLINE void offer(Neighbor one) { found.add(one); }
};

// Counts them only.
struct Counted {
    double radius;
    std::int64_t count = 0;

    TENFOLD_INLINE double reach() const { return radius; }
    TENFOLD_INLINE void offer(Neighbor) { ++count; }
};

}  // namespace tenfold::TENFOLD_LEVEL
