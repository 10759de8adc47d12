// Sums of doubles without any rounding on the way: whatever the order, the threads or the blocks, the same bits.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/common/rows_view.hpp"

namespace tenfold {

// A sum is a number in words of 32 bits, the lowest first, in units of 2^-1074. Each word is kept in 64 bits: 2^31 numbers may be
// added before a carry is lost. The last word counts the numbers that are not finite.
constexpr size_t EXACT_WORDS = 67;

inline void add_exactly(double x, std::int64_t* words) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const unsigned exponent = bits >> 52 & 2047;
    if (exponent == 2047) {
        ++words[EXACT_WORDS - 1];
        return;
    }
    const unsigned place = exponent ? exponent - 1 : 0, shift = place & 31;
    const std::uint64_t digits = (bits & 0xFFFFFFFFFFFFF) | std::uint64_t{exponent != 0} << 52;
    const std::uint64_t low = digits << shift, high = shift ? digits >> (64 - shift) : 0;
    const std::int64_t sign = static_cast<std::int64_t>(bits) >> 63;  // 0 or -1
    std::int64_t* at = words + (place >> 5);
    at[0] += (static_cast<std::int64_t>(low & 0xFFFFFFFF) ^ sign) - sign;
    at[1] += (static_cast<std::int64_t>(low >> 32) ^ sign) - sign;
    at[2] += (static_cast<std::int64_t>(high) ^ sign) - sign;
}

// The double nearest to a sum; infinity where something was not finite.
inline double exact_value(const std::int64_t* words) {
    if (words[EXACT_WORDS - 1] != 0) return std::numeric_limits<double>::infinity();
    std::array<std::uint32_t, EXACT_WORDS> carried;
    const auto carry_all = [&](int sign) {
        std::int64_t carry = 0;
        for (size_t i = 0; i + 1 < EXACT_WORDS; ++i) {
            const std::int64_t word = sign * words[i] + carry;
            carried[i] = static_cast<std::uint32_t>(word);
            carry = word >> 32;
        }
        carried[EXACT_WORDS - 1] = static_cast<std::uint32_t>(carry);
        return carry;
    };
    const int sign = carry_all(1) < 0 ? -1 : 1;
    if (sign < 0) carry_all(-1);
    size_t top = EXACT_WORDS;
    while (top > 0 && carried[top - 1] == 0) --top;
    if (top == 0) return 0.0;
    // Three words hold at least 65 digits; of those below only matters whether there are any.
    unsigned __int128 digits = 0;
    for (size_t k = 1; k <= 3; ++k) digits = digits << 32 | (top >= k ? carried[top - k] : 0);
    for (size_t i = 0; i + 3 < top; ++i)
        if (carried[i]) {
            digits |= 1;
            break;
        }
    return sign * std::ldexp(static_cast<double>(digits), 32 * (static_cast<int>(top) - 3) - 1074);
}

}  // namespace tenfold
