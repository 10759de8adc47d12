// exp and log1p of vectors, for the arguments that logistic losses have; errors of about one unit in the last
// place.
#pragma once

#include <bit>

#include "kernels/common/simd.hpp"

namespace tenfold::TENFOLD_LEVEL {

// 2^n for whole n in -1022 .. 1023: n + SHIFT has n in its low bits, which are moved to the exponent.
TENFOLD_INLINE V power_of_two(V n) {
    constexpr double SHIFT = 0x1.8p52;
    return std::bit_cast<V>((std::bit_cast<I>(n + SHIFT) << 52) + (std::int64_t{1023} << 52));
}

// Adding and subtracting SHIFT rounds to the nearest whole number.
TENFOLD_INLINE V round_whole(V x) {
    constexpr double SHIFT = 0x1.8p52;
    return (x + SHIFT) - SHIFT;
}

// e^x for x <= 0: x = n log 2 + r with |r| <= log(2) / 2, and the Taylor series of e^r. Results below the
// normal range of doubles are 0 (a gradual underflow would be slow, and nothing here could feel it). NaN
// gives NaN.
TENFOLD_INLINE V exp_negative(V x) {
    constexpr double LOG2_HI = 0x1.62e42fefa3800p-1, LOG2_LO = 0x1.ef35793c76730p-45;  // LOG2_HI n is exact
    auto vanishes = x < -708.0;
    x = vanishes ? V{} : x;
    V n = round_whole(x * 0x1.71547652b82fep0);
    V r = (x - n * LOG2_HI) - n * LOG2_LO;
    V series = splat(1.0 / 6227020800.0);
    for (double factorial : {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0,
                             24.0, 6.0, 2.0, 1.0, 1.0})
        series = series * r + 1.0 / factorial;
    return vanishes ? V{} : series * power_of_two(n);
}

// log(1 + e) for 0 <= e <= 1, from 2 atanh(s) = 2 (s + s^3 / 3 + ..) with s = g / (2 + g). Large e is halved
// first: log(1 + e) = log 2 + log(1 + (e - 1) / 2), which keeps |s| below 0.172.
TENFOLD_INLINE V log1p_unit(V e) {
    auto large = e > 0.4142135623730950;
    V g = large ? 0.5 * (e - 1.0) : e;
    V s = g / (2.0 + g), z = s * s;
    V series = splat(1.0 / 21);
    for (double odd : {19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0}) series = series * z + 1.0 / odd;
    return (large ? splat(0x1.62e42fefa39efp-1) : V{}) + 2.0 * (s + s * z * series);
}

}  // namespace tenfold::TENFOLD_LEVEL
