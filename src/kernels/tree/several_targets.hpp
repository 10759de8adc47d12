// Several targets at once: a criterion (impurity.hpp, medians.hpp) of each, and their mean as that of the tree. The values of
// the targets stand side by side.
#pragma once

#include "kernels/tree/impurity.hpp"
#include "kernels/tree/medians.hpp"

namespace tenfold {

struct Samples {
    std::vector<Sample> each;

    template <class Index>
    Samples of(const Index* rows, size_t m) const {
        Samples part;
        for (const Sample& sample : each) part.each.push_back(sample.of(rows, m));
        return part;
    }
};

template <class One>
struct Several {
    const Samples& sample;
    std::vector<One> each;
    Several with(const Samples& other) const {
        Several made{other, {}};
        for (size_t k = 0; k < each.size(); ++k) made.each.push_back(each[k].with(other.each[k]));
        return made;
    }

    template <class Index>
    State look(const Index* rows, size_t m, double* value) const {
        State t;
        t.m = m;
        t.pure = true;
        std::vector<Index> ranked;
        for (const One& one : each) {
            const Index* here = rows;
            if constexpr (std::is_same_v<One, Absolute>) {  // its rows come in rising order of this target
                ranked.assign(rows, rows + m);
                const auto& y = one.sample.y;
                std::sort(ranked.begin(), ranked.end(), [&](Index a, Index b) {
                    const size_t i = row_of(a), j = row_of(b);
                    return y[i] != y[j] ? y[i] < y[j] : i < j;
                });
                here = ranked.data();
            }
            t.each.push_back(one.look(here, m, value));
            const State& found = t.each.back();
            t.pure = t.pure && found.pure;
            t.impurity += found.impurity / static_cast<double>(each.size());
            t.weight = found.weight;
            value += std::max<size_t>(one.sample.classes, 1);
        }
        return t;
    }
    double gain(double score, const State&) const { return score; }

    struct Scan {
        const Several& by;
        std::vector<typename One::Scan> scans;
        const State& t;

        Scan(const Several& by, const State& t) : by(by), t(t) {
            scans.reserve(by.each.size());
            for (size_t k = 0; k < by.each.size(); ++k) scans.push_back(typename One::Scan{by.each[k], t.each[k]});
        }
        void move(size_t row) {
            for (auto& scan : scans) scan.move(row);
        }
        double score(size_t at) const {
            double sum = 0;
            for (size_t k = 0; k < scans.size(); ++k) {
                const double score = scans[k].score(at);
                if (score <= -DBL_MAX) return score;  // forbidden for one target, and so for all
                sum += by.each[k].gain(score, t.each[k]) / static_cast<double>(scans.size());
            }
            return sum;
        }
        double left() const { return scans[0].left(); }
        double right() const { return scans[0].right(); }
    };
    double weight_of(const Scan& scan) const { return each[0].weight_of(scan.scans[0]); }
    // Categories are ordered by the first target.
    double order_key(const Scan& group, const State& t) const { return each[0].order_key(group.scans[0], t.each[0]); }
    double in_units(double mean, const State& t, const double* value) const { return each[0].in_units(mean, t.each[0], value); }
};

// One criterion for each of the targets.
template <class One, class... More>
Several<One> several(const Samples& samples, const More&... more) {
    Several<One> made{samples, {}};
    for (const Sample& sample : samples.each) made.each.push_back(One{sample, more...});
    return made;
}

}  // namespace tenfold
