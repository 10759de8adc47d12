// Targets of a node summed by the bins of a column, and what a split between bins is worth.
#pragma once

#include "kernels/forest/binned_table.hpp"

namespace tenfold {

// Squared error, and Gini of two classes.
struct SquaredScore {
    const double* reciprocal;  // 1 / i for whole weights; null: divide

    struct Whole {
        Totals all;
        std::int64_t mean;
        double rest;
    };
    Whole whole(Totals all) const {
        const std::int64_t mean = all.s / all.w;
        return {all, mean, static_cast<double>(all.s - mean * all.w) / static_cast<double>(all.w)};
    }
    double operator()(const Whole& t, Totals left) const {
        const double w = static_cast<double>(left.w);
        const double d = static_cast<double>(left.s - left.w * t.mean) - w * t.rest;
        if (reciprocal) return d * d * reciprocal[left.w] * reciprocal[t.all.w - left.w];
        return d * d / (w * static_cast<double>(t.all.w - left.w));
    }
    double gain(double score, const Whole& t) const { return score * static_cast<double>(t.all.w); }
    double curve(double y) const { return y * y; }  // impurity is the mean of curve(y) less curve of the mean
    double scale(double unit) const { return unit * unit; }
};

struct PoissonScore {
    struct Whole {
        Totals all;
        double ratio;
    };
    Whole whole(Totals all) const {
        return {all, all.s > 0 ? static_cast<double>(all.w) / static_cast<double>(all.s) : 0.0};
    }
    double operator()(const Whole& t, Totals left) const {
        if (left.s <= 0 || left.s >= t.all.s) return -DBL_MAX;
        const double l = static_cast<double>(left.s), r = static_cast<double>(t.all.s - left.s);
        return l * std::log(l / static_cast<double>(left.w) * t.ratio) +
               r * std::log(r / static_cast<double>(t.all.w - left.w) * t.ratio);
    }
    double gain(double score, const Whole&) const { return score; }
    double curve(double y) const { return y > 0 ? y * std::log(y) : 0.0; }
    double scale(double unit) const { return unit; }
};

// Histograms of one column for targets that are summed: numbers, counts, the second of two classes.
template <class Score>
struct SummedTargets {
    using Cell = Pair;
    static constexpr bool counted = false, ranked = false, bounded = true, several = false;
    Score score;
    std::array<Pair, 256> bins{};
    typename Score::Whole whole{};

    static Totals open(const Pair& cell) { return {cell.s, cell.w}; }
    void begin(Totals all) { whole = score.whole(all); }
    void add(size_t bin, const Pair& cell) {
        bins[bin].s += cell.s;
        bins[bin].w += cell.w;
    }
    void clear(size_t bin) { bins[bin] = {0, 0}; }

    struct Scan {
        const SummedTargets& by;
        Totals left{};
        void move(size_t bin) {
            left.s += by.bins[bin].s;
            left.w += by.bins[bin].w;
        }
        double score() const { return by.score(by.whole, left); }
        Totals totals() const { return left; }
        double left_value() const { return static_cast<double>(left.s) / static_cast<double>(left.w); }
        double right_value() const {
            return static_cast<double>(by.whole.all.s - left.s) / static_cast<double>(by.whole.all.w - left.w);
        }
    };
    double order_key(size_t bin) const { return static_cast<double>(bins[bin].s) / static_cast<double>(bins[bin].w); }
    double gain(double value) const { return score.gain(value, whole); }
    double curve(double y) const { return score.curve(y); }
    double scale(double unit) const { return score.scale(unit); }
    double impure(double share) const { return share * (1 - share); }
};

// The same for squared error where weights are counts: weight above, target below in one number, so that a row is one
// addition. Targets are coarser here (at least 22 bits); the values of leaves are not taken from them.
struct PackedTargets {
    using Cell = std::uint64_t;
    static constexpr bool counted = false, ranked = false, bounded = false, several = false;
    const double* reciprocal;  // 1 / i
    unsigned shift;            // bits of the target
    double finer;              // gains in these units, in those of the whole numbers of the sample
    std::array<std::uint64_t, 256> bins{};
    double mean = 0, weight = 0;

    Totals open(std::uint64_t cell) const {
        return {static_cast<std::int64_t>(cell & ((std::uint64_t{1} << shift) - 1)), static_cast<std::int64_t>(cell >> shift)};
    }
    void begin(Totals all) {
        weight = static_cast<double>(all.w);
        mean = static_cast<double>(all.s) / weight;
    }
    void add(size_t bin, std::uint64_t cell) { bins[bin] += cell; }
    void clear(size_t bin) { bins[bin] = 0; }

    struct Scan {
        const PackedTargets& by;
        std::uint64_t left = 0;
        void move(size_t bin) { left += by.bins[bin]; }
        double score() const {
            const Totals t = by.open(left);
            const double d = static_cast<double>(t.s) - static_cast<double>(t.w) * by.mean;
            return d * d * by.reciprocal[t.w] * by.reciprocal[static_cast<std::int64_t>(by.weight) - t.w];
        }
        Totals totals() const { return by.open(left); }
    };
    double order_key(size_t bin) const {
        const Totals t = open(bins[bin]);
        return static_cast<double>(t.s) / static_cast<double>(t.w);
    }
    double gain(double value) const { return value * weight * finer; }
    double curve(double y) const { return y * y; }
    double scale(double unit) const { return unit * unit; }
    double impure(double share) const { return share * (1 - share); }
};

// The same for any number of classes: Gini, or entropy. Only the classes of the node are gone through.
template <bool Entropy>
struct ClassCounts {
    using Cell = Pair;
    static constexpr bool counted = true, ranked = false, bounded = true, several = false;
    size_t classes;
    std::vector<std::int64_t> bins, weight, all;  // all: by class of the node
    std::vector<std::uint32_t> present;           // the classes of the node
    mutable std::vector<std::int64_t> room;       // for the left side of a scan
    size_t largest = 0;
    double base = 0;
    std::int64_t total = 0;

    explicit ClassCounts(size_t classes) : classes(classes), bins(256 * classes), weight(256), room(classes) {}

    static double term(std::int64_t c) {
        const double x = static_cast<double>(c);
        if constexpr (!Entropy) return x * x;
        return c > 0 ? x * std::log2(x) : 0.0;
    }
    static double side(double sum, std::int64_t w) {
        if constexpr (!Entropy) return sum / static_cast<double>(w);
        return sum - term(w);
    }
    void begin(std::span<const std::int64_t> counts) {
        all.clear();
        present.clear();
        total = 0;
        double sum = 0;
        for (size_t k = 0; k < classes; ++k) {
            if (counts[k] == 0) continue;
            all.push_back(counts[k]);
            present.push_back(static_cast<std::uint32_t>(k));
            total += counts[k];
            sum += term(counts[k]);
        }
        base = side(sum, total);
        largest = static_cast<size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
    }
    void add(size_t bin, const Pair& pair) {
        bins[bin * classes + static_cast<size_t>(pair.s)] += pair.w;
        weight[bin] += pair.w;
    }
    static Totals open(const Pair& cell) { return {0, cell.w}; }
    void clear(size_t bin) {
        for (const auto k : present) bins[bin * classes + k] = 0;
        weight[bin] = 0;
    }
    std::span<std::int64_t> cleared_room() const {
        std::fill_n(room.begin(), present.size(), 0);
        return {room.data(), present.size()};
    }

    struct Scan {
        const ClassCounts& by;
        Totals left{};
        std::span<std::int64_t> counts = by.cleared_room();
        void move(size_t bin) {
            left.w += by.weight[bin];
            for (size_t i = 0; i < counts.size(); ++i) counts[i] += by.bins[bin * by.classes + by.present[i]];
        }
        double score() const {
            double l = 0, r = 0;
            for (size_t i = 0; i < counts.size(); ++i) l += term(counts[i]), r += term(by.all[i] - counts[i]);
            return side(l, left.w) + side(r, by.total - left.w) - by.base;
        }
        Totals totals() const { return left; }
        // Of two classes: the share of the second.
        double left_value() const { return static_cast<double>(counts[1]) / static_cast<double>(left.w); }
        double right_value() const {
            return static_cast<double>(by.all[1] - counts[1]) / static_cast<double>(by.total - left.w);
        }
    };
    double order_key(size_t bin) const {
        return static_cast<double>(bins[bin * classes + largest]) / static_cast<double>(weight[bin]);
    }
    double gain(double value) const { return value; }
    double curve(double) const { return 0; }
    double scale(double) const { return 1; }
    double impure(double share) const {
        if constexpr (!Entropy) return share * (1 - share);
        return share > 0 ? -share * std::log2(share) : 0.0;
    }
};

}  // namespace tenfold
