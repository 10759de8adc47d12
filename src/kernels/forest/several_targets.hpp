// Several targets at once in the trees of a forest: the criterion of a node is the mean of theirs, and their values stand side by
// side (binned_table.hpp).
#pragma once

#include "kernels/forest/binned_table.hpp"

namespace tenfold {

// The columns of targets of a table: numbers, or codes of classes. A column of numbers has one value at a node, one of classes a
// value for each class; `values` counts all of them.
struct TargetColumns {
    size_t n = 0, q = 0, values = 0;
    bool classes = false;
    std::vector<std::uint32_t> code;    // (n, q) of classes: which of the values a row adds to
    std::vector<double> y;              // (n, q) of numbers
    std::vector<std::int64_t> s;        // (n, q) of numbers: weight times target, whole
    std::vector<size_t> first;          // (q + 1) where the values of a column begin
    std::vector<double> unit, centre;   // by value: size of a whole number, by weight in whole numbers; what is added to it

    bool alike(size_t a, size_t b) const {
        return classes ? std::equal(&code[a * q], &code[a * q] + q, &code[b * q]) : std::equal(&y[a * q], &y[a * q] + q, &y[b * q]);
    }
};

struct RowCell {
    std::uint32_t row, times;  // number in the table; how often it was drawn
    std::int64_t w;
};

// What splits win, as whole weight times impurity. A node: its sums, and its total weight.
struct NodeSums {
    std::span<const std::int64_t> all;
    std::int64_t total = 0;
    std::vector<std::int64_t> mean;  // by value; together with `rest` exact
    std::vector<double> rest;
};

struct SeveralSquared {  // of classes: Gini, as the indicators of the classes are numbers
    static double gain(const TargetColumns& by, const NodeSums& node, const std::int64_t* left, std::int64_t w_left) {
        const double w = static_cast<double>(w_left), other = static_cast<double>(node.total - w_left);
        double sum = 0;
        for (size_t c = 0; c < by.values; ++c) {
            const double d = static_cast<double>(left[c] - w_left * node.mean[c]) - w * node.rest[c];
            sum += d * by.unit[c] * (d * by.unit[c]);
        }
        return sum * static_cast<double>(node.total) / (w * other);
    }
    static double curve(double y, double unit) { return y * unit * (y * unit); }
    static double impure(double share) { return share * (1 - share); }
};

struct SeveralEntropy {
    static double term(std::int64_t c) { return c > 0 ? static_cast<double>(c) * std::log2(static_cast<double>(c)) : 0.0; }
    static double gain(const TargetColumns& by, const NodeSums& node, const std::int64_t* left, std::int64_t w_left) {
        double sum = static_cast<double>(by.q) * (term(node.total) - term(w_left) - term(node.total - w_left));
        for (size_t c = 0; c < by.values; ++c)
            if (node.all[c]) sum += term(left[c]) + term(node.all[c] - left[c]) - term(node.all[c]);
        return sum;
    }
    static double curve(double, double) { return 0; }
    static double impure(double share) { return share > 0 ? -share * std::log2(share) : 0.0; }
};

struct SeveralPoisson {
    static double gain(const TargetColumns& by, const NodeSums& node, const std::int64_t* left, std::int64_t w_left) {
        double sum = 0;
        for (size_t c = 0; c < by.values; ++c) {
            if (node.all[c] <= 0) continue;
            if (left[c] <= 0 || left[c] >= node.all[c]) return -DBL_MAX;  // forbidden for one target, and so for all
            const double l = static_cast<double>(left[c]), r = static_cast<double>(node.all[c] - left[c]);
            const double ratio = static_cast<double>(node.total) / static_cast<double>(node.all[c]);
            sum += by.unit[c] * (l * std::log(l / static_cast<double>(w_left) * ratio) +
                                 r * std::log(r / static_cast<double>(node.total - w_left) * ratio));
        }
        return sum;
    }
    static double curve(double y, double unit) { return y > 0 ? unit * y * std::log(y) : 0.0; }
    static double impure(double) { return 0; }
};

template <class Score>
struct SeveralTargets {
    using Cell = RowCell;
    static constexpr bool counted = true, ranked = false, bounded = false, several = true;
    const TargetColumns& by;
    std::vector<std::int64_t> bins, weight;
    mutable std::vector<std::int64_t> room;  // for the left side of a scan
    NodeSums node;
    size_t leading = 0;  // the value that orders categories: of the first target, its most frequent class

    explicit SeveralTargets(const TargetColumns& by)
        : by(by), bins(256 * by.values), weight(256), room(by.values), node{{}, 0, std::vector<std::int64_t>(by.values), std::vector<double>(by.values)} {}

    static Totals open(const RowCell& cell) { return {0, cell.w}; }
    void add_to(std::int64_t* sums, const RowCell& cell) const {
        const size_t at = cell.row * by.q;
        if (by.classes)
            for (size_t k = 0; k < by.q; ++k) sums[by.code[at + k]] += cell.w;
        else
            for (size_t k = 0; k < by.q; ++k) sums[k] += by.s[at + k] * static_cast<std::int64_t>(cell.times);
    }
    void begin(std::span<const std::int64_t> sums, std::int64_t total) {
        node.all = sums;
        node.total = total;
        for (size_t c = 0; c < by.values; ++c) {
            node.mean[c] = sums[c] / total;
            node.rest[c] = static_cast<double>(sums[c] - node.mean[c] * total) / static_cast<double>(total);
        }
        leading = static_cast<size_t>(std::max_element(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(by.first[1])) - sums.begin());
    }
    void add(size_t bin, const RowCell& cell) {
        add_to(&bins[bin * by.values], cell);
        weight[bin] += cell.w;
    }
    void clear(size_t bin) {
        std::fill_n(&bins[bin * by.values], by.values, 0);
        weight[bin] = 0;
    }
    std::int64_t* cleared_room() const {
        std::fill(room.begin(), room.end(), 0);
        return room.data();
    }

    struct Scan {
        const SeveralTargets& of;
        Totals left{};
        std::int64_t* sums = of.cleared_room();
        void move(size_t bin) {
            left.w += of.weight[bin];
            for (size_t c = 0; c < of.by.values; ++c) sums[c] += of.bins[bin * of.by.values + c];
        }
        double score() const { return Score::gain(of.by, of.node, sums, left.w) / static_cast<double>(of.by.q); }
        Totals totals() const { return left; }
    };
    double order_key(size_t bin) const {
        return static_cast<double>(bins[bin * by.values + leading]) / static_cast<double>(weight[bin]);
    }
    double gain(double score) const { return score; }

    // Σ w f(y) of a row, from which the impurity of numbers follows.
    double curve(const RowCell& cell) const {
        double sum = 0;
        for (size_t k = 0; !by.classes && k < by.q; ++k) {
            const double s = static_cast<double>(by.s[cell.row * by.q + k]) * cell.times, w = static_cast<double>(cell.w);
            sum += Score::curve(s / w, by.unit[k]) * w;
        }
        return sum;
    }
    // The values of a node into `value`; returns its impurity.
    double describe(const std::int64_t* sums, std::int64_t total, double curves, double* value) const {
        const double w = static_cast<double>(total);
        double impurity = by.classes ? 0.0 : curves / w;
        for (size_t c = 0; c < by.values; ++c) {
            const double mean = static_cast<double>(sums[c]) / w;
            value[c] = by.classes ? mean : by.centre[c] + mean * by.unit[c];
            impurity += by.classes ? Score::impure(mean) : -Score::curve(mean, by.unit[c]);
        }
        return finite(std::max(0.0, impurity / static_cast<double>(by.q)));
    }
};

}  // namespace tenfold
