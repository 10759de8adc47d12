// What an exact tree is grown from (exact_grower.hpp): settings, the table, splits, and pieces of the lists.
#pragma once

#include "kernels/tree/grown_tree.hpp"
#include "kernels/tree/targets.hpp"

namespace tenfold {

struct Settings {
    bool random = false;  // thresholds drawn at random
    std::int64_t max_depth = -1, min_split = 2, min_leaf = 1, max_features = 0, max_leaves = -1;  // −1: no limit
    double min_weight_leaf = 0, min_gain = 0;
    std::span<const std::int8_t> monotonic;      // by column, or empty
    std::span<const std::uint8_t> categorical;   // by column, or empty
    std::span<const std::int64_t> missing;       // how many values of a column are NaN
    std::uint64_t seed = 0;
    size_t n_threads = 1;
    bool ratio = false;  // columns are compared by gain ratio
};

// The table itself, for thresholds.
struct Values {
    const void* data;
    size_t p;
    bool single;

    double at(size_t row, size_t j) const {
        return single ? static_cast<double>(static_cast<const float*>(data)[row * p + j])
                      : static_cast<const double*>(data)[row * p + j];
    }
};

struct Split {
    double score = 0, bar = -DBL_MAX / 2;  // a better one is above the bar: the first of equals wins, whatever the rounding
    double threshold = 0, middle = 0;      // middle: between the values of the two sides
    double weight = 0;                     // of the left side
    size_t column = 0, at = 0, blank = 0;  // at: how many present values go left; blank: how many are missing
    bool found = false, missing_left = false, constant = false;
    std::vector<std::uint32_t> runs;  // categories that go left: where their runs begin in the list

    void take(double better, double slack, size_t where, bool blanks_left) {
        score = better;
        bar = better + 1e-9 * std::abs(better) + slack;
        at = where;
        missing_left = blanks_left;
        found = true;
    }
    size_t left() const { return at + (missing_left ? blank : 0); }
};

struct Piece {
    size_t start = 0, m = 0, live = 0;
    std::int32_t node = 0;
    std::int64_t depth = 0;
    std::uint64_t key = 0;
    double low = -DBL_MAX, high = DBL_MAX;  // where values must lie, by monotone columns
    bool leaf = false;
};

// A leaf that can be split, and what that gains.
struct Open {
    double gain;
    Piece piece;
    State state;
    Split split;

    bool operator<(const Open& o) const { return gain != o.gain ? gain < o.gain : piece.node > o.piece.node; }
};

// Of the columns whose best split gains at least the mean, the one with the largest gain for each bit that its two sides
// take to tell (Quinlan 1993): without the mean a split that cuts off one row would win.
inline Split* best_by_ratio(std::vector<Split>& splits, double weight) {
    double total = 0;
    size_t count = 0;
    for (const Split& split : splits)
        if (split.found) total += split.score, ++count;
    Split* best = nullptr;
    double highest = -DBL_MAX;
    for (Split& split : splits) {
        if (!split.found || split.score < total / static_cast<double>(count) * (1 - 1e-9)) continue;
        const double l = split.weight / weight, r = 1 - l, ratio = -split.score / (l * std::log2(l) + r * std::log2(r));
        if (best && ratio <= highest + 1e-9 * std::abs(highest)) continue;
        best = &split;
        highest = ratio;
    }
    return best;
}

}  // namespace tenfold
