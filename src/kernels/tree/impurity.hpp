// What a split of a node is worth: impurities of targets, and their scans over rows that cross from right to left.
//
// A criterion has
//     look(rows, m, value)   what a node is: its value, impurity and totals
//     Scan                   move(row) takes a row to the left; score() rises with gain(score), the loss of impurity
#pragma once

#include "kernels/tree/targets.hpp"

namespace tenfold {

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

}  // namespace tenfold
