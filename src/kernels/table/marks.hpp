// Where cells of delimited text may end: 64 characters at a time, as bits. What every machine of its kind has is fast enough.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tenfold {

// The characters that cells end with, and quotes.
struct Marks {
    char separator, quote;
};

// What `find_marks` may read behind the end of a text.
constexpr std::size_t BEYOND = 64;

// Bit i is set where text[i] is a mark, of 64 characters.
inline std::uint64_t marks_in(const char* text, Marks marks) {
    std::uint64_t found = 0;
#if defined(__SSE2__)
    for (int part = 0; part < 4; ++part) {
        const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + 16 * part));
        const auto is = [&](char mark) { return _mm_cmpeq_epi8(x, _mm_set1_epi8(mark)); };
        const __m128i any = _mm_or_si128(_mm_or_si128(is(marks.separator), is(marks.quote)), _mm_or_si128(is('\n'), is('\r')));
        found |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm_movemask_epi8(any))) << 16 * part;
    }
#else
    for (int i = 0; i < 64; ++i) {
        const char c = text[i];
        found |= static_cast<std::uint64_t>(c == marks.separator || c == marks.quote || c == '\n' || c == '\r') << i;
    }
#endif
    return found;
}

// The places of separators, quotes, '\n' and '\r', in their order; returns how many.
inline std::size_t find_marks(const char* text, std::size_t length, Marks marks, std::uint32_t* places) {
    std::uint32_t* next = places;
    for (std::size_t start = 0; start < length; start += 64) {
        std::uint64_t found = marks_in(text + start, marks);
        if (length - start < 64) found &= (std::uint64_t{1} << (length - start)) - 1;
        for (; found; found &= found - 1) *next++ = static_cast<std::uint32_t>(start) + static_cast<std::uint32_t>(__builtin_ctzll(found));
    }
    return static_cast<std::size_t>(next - places);
}

}  // namespace tenfold
