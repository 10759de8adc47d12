// Absolute error about the median, as a criterion of a split (impurity.hpp).
#pragma once

#include "kernels/tree/targets.hpp"

namespace tenfold {

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
    // The rank of the upper median: another than the lower one where that ends at half of the weight.
    size_t upper_median() const {
        size_t at = 0;
        std::int64_t below = 0;
        for (size_t step = std::bit_floor(w.size() - 1); step; step >>= 1)
            if (at + step < w.size() && 2 * (below + w[at + step]) <= W) at += step, below += w[at];
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
            return target(side.median(below, sum)) / 2 + target(side.upper_median()) / 2;
        }
    };
    double weight_of(const Scan& scan) const { return static_cast<double>(scan.W) * sample.weight_unit; }
    double order_key(const Scan& group, const State&) const { return group.left(); }
    double in_units(double middle, const State& t, const double* value) const {
        std::int64_t below = 0;
        size_t at = 0;
        for (; 2 * (below + t.sorted_w[at]) < t.W; ++at) below += t.sorted_w[at];
        const auto target = [&](size_t rank) { return static_cast<double>(t.sorted_s[rank]) / static_cast<double>(t.sorted_w[rank]); };
        const bool even = 2 * (below + t.sorted_w[at]) == t.W;
        const double here = even ? target(at) / 2 + target(at + 1) / 2 : target(at);
        return value[0] + (middle - here) * (sample.unit / sample.weight_unit);
    }
};

}  // namespace tenfold
