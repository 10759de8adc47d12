// Splits that are not plain thresholds: under a constraint on the order of the two values, and by sets of categories.
#pragma once

#include <array>
#include <cmath>

#include "kernels/boosting/histogram.hpp"

namespace tenfold {

using BinSet = std::array<std::uint64_t, 4>;  // of the bins of a column of categories, at most 256

inline bool has(const BinSet& set, size_t bin) { return bin < 256 && (set[bin >> 6] >> (bin & 63) & 1); }
inline void put(BinSet& set, size_t bin) { set[bin >> 6] |= std::uint64_t{1} << (bin & 63); }

// How rows of a node part: below a threshold, or by a set of bins.
struct Split {
    double gain = 0;
    std::int32_t feature = -1, bin = -1;
    bool missing_left = false, by_set = false;
    BinSet set{};
    Sum left;

    bool goes_left(std::int32_t code, std::int32_t missing) const {
        if (code == missing) return missing_left;
        return by_set ? has(set, static_cast<size_t>(code)) : code <= bin;
    }
};

// The values that a node may take, where columns have an order to keep.
struct Bounds {
    double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

    double value(const Sum& s, const Rule& rule) const { return std::clamp(rule.value(s), low, high); }
};

inline bool large_enough(const Sum& s, const Rule& rule) {
    return rule.count(s) >= rule.least_rows && rule.curvature(s) >= rule.least_curvature;
}

// What a value takes off twice the loss of some rows.
inline double score_at(const Sum& s, double value, const Rule& rule) {
    return -(2 * rule.gradient(s) * value + (rule.curvature(s) + rule.l2) * value * value + 2 * rule.l1 * std::abs(value));
}

// As best_cut, with values within bounds, and the right value not below the left one (order 1) or not above it (-1).
inline Cut best_ordered_cut(const Sum* histogram, size_t bins, const Sum& total, const Rule& rule, const Bounds& bounds,
                            int order) {
    Cut best;
    const Sum missing = histogram[bins];
    const bool some_missing = rule.count(missing) > 0;
    const double whole = score_at(total, bounds.value(total, rule), rule);
    for (int side = 0; side < (some_missing ? 2 : 1); ++side) {
        Sum left = side ? missing : Sum{};
        for (size_t b = 0; b + (some_missing ? 0 : 1) < bins; ++b) {
            left = left + histogram[b];
            const Sum right = total - left;
            if (!large_enough(left, rule) || !large_enough(right, rule)) continue;
            const double l = bounds.value(left, rule), r = bounds.value(right, rule);
            if ((r - l) * order < 0) continue;
            const double gain = score_at(left, l, rule) + score_at(right, r, rule) - whole;
            if (exceeds(gain, best.gain)) best = {gain, static_cast<std::int32_t>(b), side == 1, left};
        }
    }
    return best;
}

// Categories with fewer rows than this go where missing values go; the mean gradient of a category is drawn to zero as by this
// much curvature more.
constexpr std::int64_t LEAST_OF_CATEGORY = 10;
constexpr double CATEGORY_SMOOTHING = 10;

// Categories in the order of their mean gradients, and the best cut of that order.
inline Split best_subset(const Sum* histogram, size_t bins, const Sum& total, const Rule& rule, const Bounds& bounds) {
    std::array<std::uint8_t, 256> order;
    std::array<double, 256> mean;
    size_t m = 0;
    Sum rest = histogram[bins];
    BinSet rare{};
    for (size_t b = 0; b < bins; ++b) {
        if (rule.count(histogram[b]) < LEAST_OF_CATEGORY) {
            rest = rest + histogram[b];
            put(rare, b);
            continue;
        }
        mean[b] = rule.gradient(histogram[b]) / (rule.curvature(histogram[b]) + CATEGORY_SMOOTHING);
        order[m++] = static_cast<std::uint8_t>(b);
    }
    std::sort(order.begin(), order.begin() + m,
              [&](std::uint8_t a, std::uint8_t b) { return mean[a] != mean[b] ? mean[a] < mean[b] : a < b; });
    Split best;
    const double whole = score_at(total, bounds.value(total, rule), rule);
    const bool some_rest = rule.count(rest) > 0;
    size_t length = 0;
    for (int side = 0; side < (some_rest ? 2 : 1); ++side) {
        Sum left = side ? rest : Sum{};
        for (size_t k = 0; k + (some_rest ? 0 : 1) < m; ++k) {
            left = left + histogram[order[k]];
            const Sum right = total - left;
            if (!large_enough(left, rule) || !large_enough(right, rule)) continue;
            const double gain = score_at(left, bounds.value(left, rule), rule) +
                                score_at(right, bounds.value(right, rule), rule) - whole;
            if (!exceeds(gain, best.gain)) continue;
            best.gain = gain;
            best.bin = 0;
            best.left = left;
            best.missing_left = some_rest ? side == 1 : 2 * rule.count(left) > rule.count(total);
            length = k + 1;
        }
    }
    best.by_set = true;
    for (size_t k = 0; k < length; ++k) put(best.set, order[k]);
    if (best.missing_left)
        for (size_t w = 0; w < 4; ++w) best.set[w] |= rare[w];
    return best;
}

}  // namespace tenfold
