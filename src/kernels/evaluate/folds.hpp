// Rows dealt to folds, and put in the order of their folds.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

constexpr size_t LOOK_EVERY = 1 << 16;  // rows between two looks at the flag

// The i-th draw of a stream that is keyed by its seed (SplitMix64).
inline std::uint64_t draw(std::uint64_t seed, std::uint64_t i) {
    std::uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

// Of a random number the share of `below` that it is of 2^64: a whole number below it.
inline size_t scaled(std::uint64_t random, size_t below) {
#ifdef __SIZEOF_INT128__
    return static_cast<size_t>((static_cast<unsigned __int128>(random) * below) >> 64);
#else
    return static_cast<size_t>(((random >> 32) * below) >> 32);
#endif
}

// deal_lots: to the rows of a class, in their order, the lots of its class, drawn without putting back. `lots` has those of
// class c at first[c] .. first[c + 1] - 1, as many as the class has rows; lots and next are used up.
inline void deal_lots(Labels codes, size_t n, std::span<std::int32_t> lots, std::span<const size_t> first, std::span<size_t> next,
                 std::uint64_t seed, std::int64_t* fold) {
    for (size_t i = 0; i < n; ++i) {
        if (i % LOOK_EVERY == 0 && stopped()) return;
        const size_t c = codes.empty() ? 0 : static_cast<size_t>(codes[i]);
        const size_t from = next[c]++, drawn = from + scaled(draw(seed, i), first[c + 1] - from);
        fold[i] = lots[drawn];
        lots[drawn] = lots[from];
    }
}

// order_by_code: the numbers of the rows, code after code, in their order within a code; next[c] is where code c begins.
inline void order_by_code(Labels codes, std::span<size_t> next, std::int64_t* order) {
    for (size_t i = 0; i < codes.size(); ++i) {
        if (i % LOOK_EVERY == 0 && stopped()) return;
        order[next[static_cast<size_t>(codes[i])]++] = static_cast<std::int64_t>(i);
    }
}

}  // namespace tenfold
