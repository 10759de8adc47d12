// A screen by codes of bits: rows whose codes differ in the fewest bits from that of a query, then their float64 distances.
#pragma once

#include "kernels/near/all_rows.hpp"
#include "kernels/near/codes_view.hpp"

namespace tenfold::TENFOLD_LEVEL {

// In how many bits two codes differ.
TENFOLD_INLINE size_t bits_apart(const std::uint64_t* a, const std::uint64_t* b, size_t words) {
    size_t bits = 0;
    for (size_t w = 0; w < words; ++w) bits += static_cast<size_t>(__builtin_popcountll(a[w] ^ b[w]));
    return bits;
}

inline void codes_nearest(const CodesView& codes, Rows<const double> rows, Rows<const double> queries, const std::uint64_t* query_codes,
                          size_t k, size_t width, const std::int64_t* skip, double* distance, std::int64_t* row) {
    const Measure<Apart::euclidean> measure{};
    const size_t words = codes.words, levels = 64 * words + 1;
    Scratch<Neighbor> heap(k);
    Scratch<std::uint16_t> bits(rows.n);
    Scratch<size_t> count(levels);
    Scratch<std::int32_t> near(width);
    for (size_t q = 0; q < queries.n && !stopped(); ++q) {
        const std::uint64_t* code = query_codes + q * words;
        std::fill_n(count.data(), levels, 0);
        for (size_t i = 0; i < rows.n; ++i) {
            const size_t apart = bits_apart(code, codes.word + i * words, words);
            bits[i] = static_cast<std::uint16_t>(apart);
            ++count[apart];
        }
        // All rows of fewer bits than `last`, and the first `spare` of those that differ in so many.
        size_t last = 0, spare = width;
        while (last + 1 < levels && count[last] < spare) spare -= count[last++];
        size_t found = 0;
        for (size_t i = 0; i < rows.n && found < width; ++i) {
            if (bits[i] > last || (bits[i] == last && spare == 0)) continue;
            if (bits[i] == last) --spare;
            near[found++] = static_cast<std::int32_t>(i);
        }
        Nearest nearest(heap.data(), k);
        offer_rows(measure, rows, queries[q], found, [&](size_t i) { return static_cast<size_t>(near[i]); }, skip ? skip[q] : -1, nearest);
        nearest.sort();
        for (size_t i = 0; i < k; ++i) distance[q * k + i] = heap[i].distance, row[q * k + i] = heap[i].row;
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
