// What a split of a node is worth: impurities of targets, and their scans over rows that cross from right to left.
//
// Weights and weighted targets are whole numbers (fixed point), so that a sum does not depend on its order: a node,
// the same rows in another order, or split over threads, has the same bits. A criterion has
//     look(rows, m, value)   what a node is: its value, impurity and totals
//     Scan                   move(row) takes a row to the left; score() rises with gain(score), the loss of impurity
#pragma once

#include <cfloat>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/presorted.hpp"

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

// Weights as whole numbers: as they are where they are whole, else with a total of about 2^60.
inline void set_weights(Sample& sample, std::span<const double> w) {
    double total = 0;
    bool whole = true;
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
};

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

// Squared error, and Gini of two classes, which is twice the squared error of the indicator of the second.
// With d = S_L − W_L S / W the gain is d² W / (W_L W_R).
// `Coded`: the codes of two classes are the targets themselves, where every row counts 1.
template <bool Weighted, bool Coded = false>
struct Variance {
    const Sample& sample;
    const double* reciprocal;  // 1 / i
    Variance with(const Sample& other) const { return {other, reciprocal}; }

    template <class Index>
    State look(const Index* rows, size_t m, double* value) const {
        State t = sample.classes ? count_classes(sample, rows, m, value) : add_targets(sample, rows, m, value);
        if (sample.classes) {
            t.S = t.counts[1];
            t.impurity = 1 - value[0] * value[0] - value[1] * value[1];
        } else {
            double sum = 0;
            for (size_t i = 0; i < m; ++i) {
                const double off = (sample.y[row_of(rows[i])] - value[0]) / sample.unit * 0x1p-60;
                sum += static_cast<double>(sample.weight(row_of(rows[i]))) * off * off;
            }
            t.impurity = finite(sum / static_cast<double>(t.W) * (sample.unit * 0x1p60) * (sample.unit * 0x1p60));
        }
        t.mean_whole = t.S / t.W;
        t.mean_rest = static_cast<double>(t.S - t.mean_whole * t.W) / static_cast<double>(t.W);
        return t;
    }

    double gain(double score, const State& t) const {
        const double scale = sample.classes ? 2 * sample.weight_unit : sample.weight_unit;
        const double size = sample.classes ? 1.0 : sample.unit / sample.weight_unit;
        return finite(score * static_cast<double>(t.W) * size * size * scale);
    }

    struct Scan {
        const Variance& by;
        const State& t;
        std::int64_t S = 0, W = 0;

        void move(size_t row) {
            if constexpr (Coded) S += by.sample.code[row];
            else S += by.sample.s[row];
            W += Weighted ? by.sample.w[row] : 1;
        }
        double score(size_t) const {
            const double d = static_cast<double>(S - W * t.mean_whole) - static_cast<double>(W) * t.mean_rest;
            if constexpr (Weighted) return d * d / (static_cast<double>(W) * static_cast<double>(t.W - W));
            return d * d * by.reciprocal[W] * by.reciprocal[t.W - W];
        }
        double left() const { return static_cast<double>(S) / static_cast<double>(W); }
        double right() const { return static_cast<double>(t.S - S) / static_cast<double>(t.W - W); }
    };
    double weight_of(const Scan& scan) const { return static_cast<double>(scan.W) * sample.weight_unit; }
    double order_key(const Scan& group, const State&) const { return group.left(); }
    // The mean of a scan in the units of a node's value.
    double in_units(double mean, const State& t, const double* value) const {
        if (sample.classes) return mean;
        const double at = static_cast<double>(t.S) / static_cast<double>(t.W);
        return value[0] + (mean - at) * (sample.unit / sample.weight_unit);
    }
};

// Half the Poisson deviance: gain S_L log(S_L / W_L) + S_R log(S_R / W_R) − S log(S / W).
struct Poisson {
    const Sample& sample;
    Poisson with(const Sample& other) const { return {other}; }

    template <class Index>
    State look(const Index* rows, size_t m, double* value) const {
        State t = add_targets(sample, rows, m, value);
        double sum = 0;
        for (size_t i = 0; i < m; ++i) {
            const double y = sample.y[row_of(rows[i])];
            if (y > 0) sum += static_cast<double>(sample.weight(row_of(rows[i]))) * y * std::log(y / value[0]);
        }
        t.impurity = finite(std::max(0.0, sum / static_cast<double>(t.W)));
        t.pure = t.pure || t.S == 0;
        return t;
    }
    double gain(double score, const State&) const { return finite(score * sample.unit); }

    struct Scan {
        const Poisson& by;
        const State& t;
        std::int64_t S = 0, W = 0;

        void move(size_t row) { S += by.sample.s[row], W += by.sample.weight(row); }
        double score(size_t) const {
            if (S <= 0 || S >= t.S) return -DBL_MAX;
            const double ratio = static_cast<double>(t.W) / static_cast<double>(t.S);
            return static_cast<double>(S) * std::log(left() * ratio) +
                   static_cast<double>(t.S - S) * std::log(right() * ratio);
        }
        double left() const { return static_cast<double>(S) / static_cast<double>(W); }
        double right() const { return static_cast<double>(t.S - S) / static_cast<double>(t.W - W); }
    };
    double weight_of(const Scan& scan) const { return static_cast<double>(scan.W) * sample.weight_unit; }
    double order_key(const Scan& group, const State&) const { return group.left(); }
    double in_units(double mean, const State&, const double*) const {
        return mean * (sample.unit / sample.weight_unit);
    }
};

// Gini and entropy of any number of classes: gain = Σ_k f(left_k) + Σ_k f(right_k) − ..., where moving a row changes
// one term of each sum. Gini: f(c) = c², divided by the weight of the side. Entropy: f(c) = c log2 c − of the side.
template <bool Entropy>
struct Classes {
    const Sample& sample;
    const double* table;  // c log2 c for whole counts; null where weights are too many
    Classes with(const Sample& other) const { return {other, table}; }

    double f(std::int64_t c) const {
        const double x = static_cast<double>(c);
        if constexpr (!Entropy) return x * x;
        if (table) return table[c];
        return c > 0 ? x * std::log2(x) : 0.0;
    }
    double of(double sum, std::int64_t W) const {
        if constexpr (!Entropy) return sum / static_cast<double>(W);
        return sum - f(W);
    }

    template <class Index>
    State look(const Index* rows, size_t m, double* value) const {
        State t = count_classes(sample, rows, m, value);
        double sum = 0;
        for (const auto c : t.counts) sum += f(c);
        t.mean_rest = of(sum, t.W);  // what the sides are compared with
        t.impurity = std::max(0.0, (Entropy ? 0.0 : 1.0) - t.mean_rest / static_cast<double>(t.W));
        return t;
    }
    double gain(double score, const State&) const { return score * sample.weight_unit; }

    struct Scan {
        const Classes& by;
        const State& t;
        std::vector<std::int64_t> counts;
        std::int64_t W = 0;
        double sum_left = 0, sum_right = 0;

        Scan(const Classes& by, const State& t) : by(by), t(t), counts(t.counts.size(), 0) {
            for (const auto c : t.counts) sum_right += by.f(c);
        }
        void move(size_t row) {
            const size_t k = by.sample.code[row];
            const std::int64_t w = by.sample.weight(row), l = counts[k], r = t.counts[k] - l;
            if constexpr (Entropy) {
                counts[k] = l + w;  // summed afresh in `score`: logarithms do not add up exactly
            } else {
                const double v = static_cast<double>(w);
                sum_left += v * (2 * static_cast<double>(l) + v);
                sum_right -= v * (2 * static_cast<double>(r) - v);
                counts[k] = l + w;
            }
            W += w;
        }
        double score(size_t) const {
            double l = sum_left, r = sum_right;
            if constexpr (Entropy) {
                l = r = 0;
                for (size_t k = 0; k < counts.size(); ++k) l += by.f(counts[k]), r += by.f(t.counts[k] - counts[k]);
            }
            return by.of(l, W) + by.of(r, t.W - W) - t.mean_rest;
        }
        double left() const { return static_cast<double>(counts[1]) / static_cast<double>(W); }
        double right() const { return static_cast<double>(t.counts[1] - counts[1]) / static_cast<double>(t.W - W); }
    };
    double weight_of(const Scan& scan) const { return static_cast<double>(scan.W) * sample.weight_unit; }
    // Categories are ordered by the share of the second class; of many classes, by that of the most frequent in the node.
    double order_key(const Scan& group, const State& t) const {
        const auto largest = std::max_element(t.counts.begin(), t.counts.end());
        const size_t k = t.counts.size() == 2 ? 1 : static_cast<size_t>(largest - t.counts.begin());
        return static_cast<double>(group.counts[k]) / static_cast<double>(group.W);
    }
    double in_units(double mean, const State&, const double*) const { return mean; }
};

// Sums of weights and weighted targets by rank of the target, of which any prefix is known in log m steps.
struct Ranked {
    std::vector<std::int64_t> w, s;
    std::int64_t W = 0, S = 0;

    explicit Ranked(size_t m) : w(m + 1, 0), s(m + 1, 0) {}
    void add(size_t rank, std::int64_t weight, std::int64_t target) {
        W += weight;
        S += target;
        for (size_t i = rank + 1; i < w.size(); i += i & (~i + 1)) w[i] += weight, s[i] += target;
    }
    // The rank of the lower median; `below` and `sum` are the totals of the ranks before it.
    size_t median(std::int64_t& below, std::int64_t& sum) const {
        size_t at = 0;
        below = sum = 0;
        for (size_t step = std::bit_floor(w.size() - 1); step; step >>= 1)
            if (at + step < w.size() && 2 * (below + w[at + step]) < W) at += step, below += w[at], sum += s[at];
        return at;
    }
};

// Absolute error about the median. The rows of a node come in rising order of their targets.
struct Absolute {
    const Sample& sample;
    mutable std::vector<std::uint32_t> place;  // of the rows of the node looked at last: the rank of their targets

    explicit Absolute(const Sample& sample) : sample(sample), place(sample.n) {}
    Absolute with(const Sample& other) const { return Absolute(other); }

    template <class Index>
    State look(const Index* rows, size_t m, double* value) const {
        State t = add_targets(sample, rows, m, value);
        std::int64_t below = 0;
        size_t at = 0;
        for (; 2 * (below + sample.weight(row_of(rows[at]))) < t.W; ++at) below += sample.weight(row_of(rows[at]));
        value[0] = sample.y[row_of(rows[at])];
        if (2 * (below + sample.weight(row_of(rows[at]))) == t.W)
            value[0] = value[0] / 2 + sample.y[row_of(rows[at + 1])] / 2;
        double sum = 0;
        for (size_t i = 0; i < m; ++i) {
            const size_t row = row_of(rows[i]);
            sum += static_cast<double>(sample.weight(row)) * std::abs(sample.y[row] - value[0]);
            place[row] = static_cast<std::uint32_t>(i);
            t.sorted_w.push_back(sample.weight(row));
            t.sorted_s.push_back(sample.s[row]);
        }
        t.impurity = finite(sum / static_cast<double>(t.W));
        t.mean_rest = t.impurity / sample.unit * static_cast<double>(t.W) * sample.weight_unit;
        return t;
    }
    double gain(double score, const State&) const { return finite(std::max(0.0, score) * sample.unit); }

    struct Scan {
        const Absolute& by;
        const State& t;
        Ranked here, there;
        std::int64_t W = 0;

        Scan(const Absolute& by, const State& t) : by(by), t(t), here(t.m), there(t.m) {
            for (size_t i = 0; i < t.m; ++i) there.add(i, t.sorted_w[i], t.sorted_s[i]);
        }
        void move(size_t row) {
            const size_t rank = by.place[row];
            here.add(rank, t.sorted_w[rank], t.sorted_s[rank]);
            there.add(rank, -t.sorted_w[rank], -t.sorted_s[rank]);
            W = here.W;
        }
        double target(size_t rank) const {
            return static_cast<double>(t.sorted_s[rank]) / static_cast<double>(t.sorted_w[rank]);
        }
        double spread(const Ranked& side) const {
            std::int64_t below, sum;
            const double middle = target(side.median(below, sum));
            return static_cast<double>(side.S - 2 * sum) + middle * static_cast<double>(2 * below - side.W);
        }
        double score(size_t) const { return t.mean_rest - spread(here) - spread(there); }
        double left() const { return middle_of(here); }
        double right() const { return middle_of(there); }
        double middle_of(const Ranked& side) const {
            std::int64_t below, sum;
            return target(side.median(below, sum));
        }
    };
    double weight_of(const Scan& scan) const { return static_cast<double>(scan.W) * sample.weight_unit; }
    double order_key(const Scan& group, const State&) const { return group.left(); }
    double in_units(double middle, const State& t, const double* value) const {
        std::int64_t below = 0;
        size_t at = 0;
        for (; 2 * (below + t.sorted_w[at]) < t.W; ++at) below += t.sorted_w[at];
        const double here = static_cast<double>(t.sorted_s[at]) / static_cast<double>(t.sorted_w[at]);
        return value[0] + (middle - here) * (sample.unit / sample.weight_unit);
    }
};

}  // namespace tenfold
