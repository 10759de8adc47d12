// A navigable small-world graph of rows (Malkov & Yashunin 2018), as searches see it.
//
// Rows are numbered in an order drawn by chance. Layer l holds the first n / LINKS^l of them, which is as good as drawing the height
// of each row, and needs no table of who is where: row 0 is in all layers, and every search begins there.
#pragma once

#include "kernels/near/found.hpp"

namespace tenfold {

constexpr size_t LINKS = 16;        // of a row in the upper layers at most; twice as many in the lowest
constexpr size_t MOST_LAYERS = 8;   // for 2^31 rows
constexpr size_t MATES = 256;       // rows that join the graph together at most
constexpr size_t CANDIDATES = 48;   // near rows among which those to be linked are chosen
constexpr size_t FILLED = 8;        // links that a row has if there are so many candidates, whatever their directions

struct GraphLayer {
    size_t n, room;
    std::int32_t* link;  // (n, room): -1 beyond the last
};

struct GraphView {
    size_t n, p, stride;  // stride: floats from one row to the next
    size_t layers;
    const float* values;
    GraphLayer layer[MOST_LAYERS];
};

// What one thread searches with. A key is the bits of a distance, which order as the distance does, then twice the number of the row,
// then whether its links have been followed: sorted keys are sorted distances, ties in the order of numbers.
struct GraphDesk {
    std::uint32_t* seen;  // (n): the turn in which a row was seen last
    std::uint32_t turn;
    std::uint64_t* pool;  // (width + 1): the nearest so far, sorted
    float* query;         // (stride)
    float* mate;          // (MATES): distances to those that join together with a row
};

// How queries are answered.
struct GraphQueries {
    size_t k, width, limit;      // rows from `limit` on are not looked at
    const std::int64_t* skip;    // the row that each query is itself, or null
    const std::int64_t* number;  // of a row of the graph among the rows that were given
    const double* middle;        // what the graph holds is (row - middle) * scale, in float32
    double scale;
};

}  // namespace tenfold
