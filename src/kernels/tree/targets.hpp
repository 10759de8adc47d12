// Targets and weights of rows as whole numbers, and what a node of a tree is.
//
// Weights and weighted targets are whole numbers (fixed point), so that a sum does not depend on its order: a node,
// the same rows in another order, or split over threads, has the same bits.
#pragma once

#include <cfloat>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/tree/presorted.hpp"

namespace tenfold {

// The targets and weights of some rows. `s` is weight times target in units of `unit`, about `centre`; `w` is empty
// where all weights are 1, and else in units of `weight_unit`.
struct Sample {
    std::vector<std::int64_t> s, w;
    std::vector<std::uint32_t> code;
    std::vector<double> y;
    size_t n = 0, classes = 0;
    double unit = 1, weight_unit = 1, centre = 0;

    std::int64_t weight(size_t row) const { return w.empty() ? 1 : w[row]; }

    template <class Index>
    Sample of(const Index* rows, size_t m) const {
        Sample part{{}, {}, {}, {}, m, classes, unit, weight_unit, centre};
        const auto take = [&](const auto& from, auto& to) {
            if (from.empty()) return;
            to.resize(m);
            for (size_t i = 0; i < m; ++i) to[i] = from[rows[i] & static_cast<Index>(~TIE<Index>)];
        };
        take(s, part.s);
        take(w, part.w);
        take(code, part.code);
        take(y, part.y);
        return part;
    }
};

inline double finite(double x) { return std::min(x, DBL_MAX / 4); }

// Weights as whole numbers: as they are where they are whole, else (or where they will be multiplied) with a total of about 2^60.
inline void set_weights(Sample& sample, std::span<const double> w, bool multiplied = false) {
    double total = 0;
    bool whole = !multiplied;
    for (const double v : w) total += v, whole = whole && v == std::floor(v);
    const int shift = whole && total < 0x1p53 ? 0 : 59 - std::ilogb(total);
    sample.w.resize(w.size());
    for (size_t i = 0; i < w.size(); ++i)
        sample.w[i] = std::max<std::int64_t>(1, std::llrint(std::ldexp(w[i], shift)));
    sample.weight_unit = std::ldexp(1.0, -shift);
}

// Targets as whole numbers about the middle of their range (about 0 where they are counts), with a sum below 2^61, also
// where rows are counted `times` times in all.
inline void set_targets(Sample& sample, std::span<const double> y, std::span<const double> w, bool about_zero,
                        double times = 1) {
    const auto [low, high] = std::minmax_element(y.begin(), y.end());
    const double middle = about_zero ? 0.0 : *low / 2 + *high / 2;
    double total = 0, reach = std::max(*high - middle, middle - *low);
    for (size_t i = 0; i < y.size(); ++i) total += w.empty() ? 1.0 : w[i];
    total *= std::max(1.0, times / static_cast<double>(y.size()));
    const int shift = reach > 0 ? std::clamp(58 - std::ilogb(reach) - std::ilogb(total), -2000, 2000) : 0;
    sample.s.resize(y.size());
    sample.y.assign(y.begin(), y.end());
    const bool whole = sample.weight_unit == 1.0;
    for (size_t i = 0; i < y.size(); ++i) {
        const double v = y[i] - middle;
        sample.s[i] = w.empty() || whole ? sample.weight(i) * std::llrint(std::ldexp(v, shift))
                                         : std::llrint(std::ldexp(w[i] * v, shift));
    }
    sample.unit = std::ldexp(1.0, -shift);
    sample.centre = middle;
}

// A node: totals in whole numbers, and what is told about it.
struct State {
    size_t m = 0;
    std::int64_t W = 0, S = 0, mean_whole = 0;
    double mean_rest = 0, impurity = 0, weight = 0;
    bool pure = false;
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> sorted_s, sorted_w;  // absolute error: by rank of the target
    std::vector<State> each;                       // of several targets
};

// Rows in rising order of their targets; of equal targets by `key` where there is one, so that the order of the rows does not matter.
inline std::vector<std::uint32_t> rows_by_target(std::span<const double> y, std::span<const std::uint64_t> key = {}) {
    std::vector<std::uint32_t> rows(y.size());
    std::iota(rows.begin(), rows.end(), 0u);
    std::stable_sort(rows.begin(), rows.end(), [&](auto a, auto b) {
        return y[a] != y[b] || key.empty() ? y[a] < y[b] : key[a] < key[b];
    });
    return rows;
}

template <class Index>
size_t row_of(Index entry) {
    return entry & static_cast<Index>(~TIE<Index>);
}

// Class counts, the shares of classes as value, whether there is one class only.
template <class Index>
State count_classes(const Sample& sample, const Index* rows, size_t m, double* value) {
    State t;
    t.m = m;
    t.counts.assign(sample.classes, 0);
    for (size_t i = 0; i < m; ++i) t.counts[sample.code[row_of(rows[i])]] += sample.weight(row_of(rows[i]));
    for (const auto c : t.counts) t.W += c;
    t.pure = std::find(t.counts.begin(), t.counts.end(), t.W) != t.counts.end();
    for (size_t k = 0; k < sample.classes; ++k) value[k] = static_cast<double>(t.counts[k]) / static_cast<double>(t.W);
    t.weight = static_cast<double>(t.W) * sample.weight_unit;
    return t;
}

// The weighted mean as value, W and S. The mean comes from whole numbers, so that the order of the rows does not matter.
template <class Index>
State add_targets(const Sample& sample, const Index* rows, size_t m, double* value) {
    State t;
    t.m = m;
    double low = sample.y[row_of(rows[0])], high = low;
    for (size_t i = 0; i < m; ++i) {
        const size_t row = row_of(rows[i]);
        t.W += sample.weight(row);
        t.S += sample.s[row];
        low = std::min(low, sample.y[row]);
        high = std::max(high, sample.y[row]);
    }
    const double mean = static_cast<double>(t.S) / static_cast<double>(t.W) * (sample.unit / sample.weight_unit);
    value[0] = std::clamp(sample.centre + mean, low, high);
    t.pure = low == high;
    t.weight = static_cast<double>(t.W) * sample.weight_unit;
    return t;
}

}  // namespace tenfold
