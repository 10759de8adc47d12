// Walks in a navigable small-world graph: to the rows that are near a query, and to those that a new row is linked to.
#pragma once

#include "kernels/near/all_rows.hpp"
#include "kernels/near/graph_view.hpp"

namespace tenfold::TENFOLD_LEVEL {

// The sum of the lanes, halves added to halves.
template <size_t Lanes>
TENFOLD_INLINE float sum_floats(typename Simd<float, Lanes>::Vector v) {
    if constexpr (Lanes == 1) return v[0];
    else {
        typename Simd<float, Lanes / 2>::Vector half[2];
        std::memcpy(half, &v, sizeof v);
        return sum_floats<Lanes / 2>(half[0] + half[1]);
    }
}

TENFOLD_INLINE std::uint64_t key_of(float distance, std::int32_t row) {
    std::uint32_t bits;
    std::memcpy(&bits, &distance, sizeof bits);
    return static_cast<std::uint64_t>(bits) << 32 | static_cast<std::uint32_t>(row) << 1;
}
TENFOLD_INLINE std::int32_t row_of(std::uint64_t key) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(key) >> 1); }
TENFOLD_INLINE float distance_of(std::uint64_t key) {
    const auto bits = static_cast<std::uint32_t>(key >> 32);
    float distance;
    std::memcpy(&distance, &bits, sizeof distance);
    return distance;
}

// Squared distances of four rows to x.
TENFOLD_INLINE void four_apart(const float* x, const float* const* row, size_t stride, float* away) {
    using S = Simd<float, FLOATS>;
    F sum[4] = {};
    for (size_t j = 0; j < stride; j += FLOATS) {
        const F at = S::load(x + j);
        for (size_t r = 0; r < 4; ++r) {
            const F d = S::load(row[r] + j) - at;
            sum[r] += d * d;
        }
    }
    for (size_t r = 0; r < 4; ++r) away[r] = sum_floats<FLOATS>(sum[r]);
}

TENFOLD_INLINE void fetch(const float* row, size_t stride) {
    for (size_t j = 0; j < stride; j += 16) __builtin_prefetch(row + j);
}

// Squared distances of rows to x.
template <class Which>
TENFOLD_INLINE void rows_apart(const GraphView& graph, const float* x, size_t count, Which which, float* away) {
    const auto at = [&](size_t i) __attribute__((always_inline)) { return graph.values + static_cast<size_t>(which(i)) * graph.stride; };
    for (size_t first = 0; first < count; first += 4) {
        const float* row[4];
        float four[4];
        for (size_t r = 0; r < 4; ++r) row[r] = at(std::min(first + r, count - 1));
        four_apart(x, row, graph.stride, four);
        for (size_t r = 0; r < 4 && first + r < count; ++r) away[first + r] = four[r];
    }
}

// Puts a key into its place among `count` sorted ones, of which the first `width` stay. Its place.
TENFOLD_INLINE size_t put(std::uint64_t* pool, size_t& count, size_t width, std::uint64_t key) {
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (pool[middle] < key) low = middle + 1;
        else high = middle;
    }
    const size_t moved = std::min(count, width - 1) - low;
    std::memmove(pool + low + 1, pool + low, moved * sizeof *pool);
    pool[low] = key;
    count = std::min(count + 1, width);
    return low;
}

// From the `count` rows in the pool, none of which is followed yet, along the links of a layer: always on from the nearest whose
// links have not been followed, until all of the `width` nearest have been. Rows from `limit` on are not looked at. How many were found.
inline size_t walk(const GraphView& graph, size_t l, const float* query, size_t count, size_t width, size_t limit, GraphDesk& desk) {
    const GraphLayer& layer = graph.layer[l];
    std::uint64_t* pool = desk.pool;
    ++desk.turn;
    for (size_t i = 0; i < count; ++i) desk.seen[row_of(pool[i])] = desk.turn;
    std::int32_t fresh[2 * LINKS];
    float away[2 * LINKS];
    for (size_t at = 0; at < count;) {
        if (pool[at] & 1) {
            ++at;
            continue;
        }
        pool[at] |= 1;
        const std::int32_t* link = layer.link + static_cast<size_t>(row_of(pool[at])) * layer.room;
        size_t few = 0;
        for (size_t i = 0; i < layer.room && link[i] >= 0; ++i) {
            const auto row = static_cast<size_t>(link[i]);
            if (row >= limit || desk.seen[row] == desk.turn) continue;
            desk.seen[row] = desk.turn;
            fresh[few++] = link[i];
            fetch(graph.values + row * graph.stride, graph.stride);
        }
        if (at + 1 < count) __builtin_prefetch(layer.link + static_cast<size_t>(row_of(pool[at + 1])) * layer.room);
        rows_apart(graph, query, few, [&](size_t i) { return fresh[i]; }, away);
        size_t first = at + 1;
        for (size_t i = 0; i < few; ++i) {
            const std::uint64_t key = key_of(away[i], fresh[i]);
            if (count < width || key < pool[count - 1]) first = std::min(first, put(pool, count, width, key));
        }
        at = first;
    }
    return count;
}

// Begins at row 0 and goes down to layer `low` (not walked itself), one row at a time. How many rows are in the pool: one.
TENFOLD_INLINE size_t descend(const GraphView& graph, const float* query, size_t low, size_t limit, GraphDesk& desk) {
    float away;
    rows_apart(graph, query, 1, [](size_t) { return 0; }, &away);
    desk.pool[0] = key_of(away, 0);
    for (size_t l = graph.layers; l-- > low + 1;) {
        walk(graph, l, query, 1, 1, limit, desk);
        desk.pool[0] &= ~std::uint64_t{1};
    }
    return 1;
}

// Chooses at most `room` of sorted candidates for links: each is nearer to the row than to any chosen before it, so that links lead
// into all directions; what is left over fills `filled` places. How many.
TENFOLD_INLINE size_t choose(const GraphView& graph, const std::uint64_t* candidate, size_t count, size_t room, size_t filled,
                             std::int32_t* link) {
    size_t chosen = 0, left = 0;
    std::int32_t rest[CANDIDATES + MATES];
    for (size_t c = 0; c < count && chosen < room; ++c) {
        const std::int32_t row = row_of(candidate[c]);
        const float here = distance_of(candidate[c]);
        const float* x = graph.values + static_cast<size_t>(row) * graph.stride;
        bool good = true;
        for (size_t first = 0; first < chosen && good; first += 4) {
            const float* other[4];
            float four[4];
            for (size_t r = 0; r < 4; ++r)
                other[r] = graph.values + static_cast<size_t>(link[std::min(first + r, chosen - 1)]) * graph.stride;
            four_apart(x, other, graph.stride, four);
            for (size_t r = 0; r < 4; ++r) good = good && here < four[r];
        }
        if (good) link[chosen++] = row;
        else if (left < filled) rest[left++] = row;
    }
    for (size_t i = 0; i < left && chosen < filled; ++i) link[chosen++] = rest[i];
    for (size_t i = chosen; i < room; ++i) link[i] = -1;
    return chosen;
}

// Rows first .. last, of those begin .. end that join together, choose their links among the rows before and among themselves.
inline void graph_join(const GraphView& graph, size_t begin, size_t end, size_t first, size_t last, GraphDesk& desk) {
    std::uint64_t candidate[CANDIDATES + 1];
    for (size_t i = first; i < last && !stopped(); ++i) {
        const float* x = graph.values + i * graph.stride;
        rows_apart(graph, x, end - begin, [&](size_t m) { return begin + m; }, desk.mate);
        size_t top = 0;
        while (top + 1 < graph.layers && i < graph.layer[top + 1].n) ++top;
        size_t found = begin ? descend(graph, x, top, begin, desk) : 0;
        for (size_t l = top + 1; l-- > 0;) {
            const GraphLayer& layer = graph.layer[l];
            found = walk(graph, l, x, found, CANDIDATES, std::min(begin, layer.n), desk);
            for (size_t c = 0; c < found; ++c) candidate[c] = desk.pool[c] &= ~std::uint64_t{1};
            size_t count = found;
            for (size_t m = begin; m < std::min(end, layer.n); ++m) {
                const std::uint64_t key = key_of(desk.mate[m - begin], static_cast<std::int32_t>(m));
                if (m != i && (count < CANDIDATES || key < candidate[count - 1])) put(candidate, count, CANDIDATES, key);
            }
            std::int32_t* link = layer.link + i * layer.room;
            const size_t room = l ? LINKS : LINKS + LINKS / 2;
            choose(graph, candidate, count, room, FILLED, link);
            std::fill(link + room, link + layer.room, -1);
        }
    }
}

// The links of a layer back: `edge` are pairs of the row that is linked to and the one that chose it (32 bits each), sorted.
inline void graph_answer(const GraphView& graph, size_t l, const std::uint64_t* edge, size_t count) {
    const GraphLayer& layer = graph.layer[l];
    std::uint64_t candidate[2 * LINKS + MATES + 1];
    for (size_t begin = 0, end; begin < count; begin = end) {
        const auto row = static_cast<std::int32_t>(edge[begin] >> 32);
        for (end = begin; end < count && static_cast<std::int32_t>(edge[end] >> 32) == row;) ++end;
        std::int32_t* link = layer.link + static_cast<size_t>(row) * layer.room;
        size_t has = 0;
        while (has < layer.room && link[has] >= 0) ++has;
        std::int32_t all[2 * LINKS + MATES];
        std::copy(link, link + has, all);
        size_t size = has;
        for (size_t e = begin; e < end; ++e) {
            const auto from = static_cast<std::int32_t>(edge[e] & 0xffffffffu);
            if (std::find(link, link + has, from) == link + has) all[size++] = from;
        }
        if (size <= layer.room) {
            std::copy(all, all + size, link);
            continue;
        }
        float away[2 * LINKS + MATES];
        rows_apart(graph, graph.values + static_cast<size_t>(row) * graph.stride, size, [&](size_t i) { return all[i]; }, away);
        size_t sorted = 0;
        for (size_t i = 0; i < size; ++i) put(candidate, sorted, size, key_of(away[i], all[i]));
        choose(graph, candidate, size, layer.room, FILLED, link);
    }
}

// The k nearest of each query, as far as a walk of that width finds them: of the rows before `limit`, which are at `number` in `rows`.
inline void graph_nearest(const GraphView& graph, Rows<const double> rows, Rows<const double> queries, const GraphQueries& how,
                          GraphDesk& desk, double* distance, std::int64_t* row) {
    const Measure<Apart::euclidean> measure{};
    Scratch<Neighbor> heap(how.k);
    for (size_t q = 0; q < queries.n && !stopped(); ++q) {
        for (size_t j = 0; j < graph.p; ++j) desk.query[j] = static_cast<float>((queries[q][j] - how.middle[j]) * how.scale);
        size_t found = descend(graph, desk.query, 0, how.limit, desk);
        found = walk(graph, 0, desk.query, found, how.width, how.limit, desk);
        // float64 distances decide among the first
        Nearest nearest(heap.data(), how.k);
        const std::int64_t skip = how.skip ? how.skip[q] : -1;
        offer_rows(measure, rows, queries[q], std::min(found, 2 * how.k + 16),
                   [&](size_t i) { return static_cast<size_t>(how.number[row_of(desk.pool[i])]); }, skip, nearest);
        const size_t enough = nearest.size();
        nearest.sort();
        for (size_t i = 0; i < how.k; ++i) {
            distance[q * how.k + i] = i < enough ? heap[i].distance : std::numeric_limits<double>::infinity();
            row[q * how.k + i] = i < enough ? heap[i].row : -1;
        }
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
