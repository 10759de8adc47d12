// What the nodes of one tree of a forest are: sums while it grows, then values and impurities in the targets' units.
#pragma once

#include "kernels/forest/binned_table.hpp"

namespace tenfold {

struct NodeValues {
    Grown grown;
    std::vector<Totals> totals;                     // by node
    std::vector<std::int64_t> counts;               // by node and class
    std::vector<double> curves;                     // by node: Σ w f(y); about medians the spread
    std::vector<std::pair<double, double>> bounds;  // by node, where columns are monotone
    std::vector<std::pair<size_t, size_t>> middles;  // by node, of medians: the one or two rows in the middle

    void reserve(size_t most, bool counted) {  // pages that are not written take no memory
        grown.nodes.reserve(most);
        grown.values.reserve(most * grown.outputs);
        totals.reserve(most);
        curves.reserve(most);
        if (counted) counts.reserve(most * grown.outputs);
    }

    // Values, impurities and weights of the nodes, in the units of the targets.
    template <class Targets>
    void describe(const Sample& sample, const Targets& targets, size_t classes) {
        curves.resize(grown.nodes.size());
        for (size_t i = grown.nodes.size(); i-- > 0;) {  // children come after their parents
            grown.nodes[i].weight = static_cast<double>(totals[i].w) * sample.weight_unit;
            if constexpr (Targets::several)
                describe_several(i, sample, targets);
            else if constexpr (Targets::ranked)
                describe_median(i, sample);
            else if (classes)
                describe_classes(i, sample, targets, classes);
            else
                describe_mean(i, sample, targets);
        }
    }

private:
    template <class Targets>
    void describe_classes(size_t i, const Sample& sample, const Targets& targets, size_t classes) {
        const double w = static_cast<double>(totals[i].w), mean = static_cast<double>(totals[i].s) / w;
        double* value = grown.value(static_cast<std::int32_t>(i));
        double sum = 0;
        for (size_t k = 0; k < classes; ++k) {
            if (Targets::counted && counts[i * classes + k] == 0) continue;
            value[k] = !Targets::counted ? (k ? mean : 1 - mean) : static_cast<double>(counts[i * classes + k]) / w;
            sum += targets.impure(value[k]);
        }
        grown.nodes[i].impurity = std::max(0.0, sum);
        grown.nodes[i].gain *= sample.weight_unit * (Targets::counted ? 1.0 : 2.0);
        if (bounds.empty()) return;
        value[1] = std::clamp(value[1], std::max(0.0, bounds[i].first), std::min(1.0, bounds[i].second));
        value[0] = 1 - value[1];
    }

    template <class Targets>
    void describe_several(size_t i, const Sample& sample, const Targets& targets) {
        Node& node = grown.nodes[i];
        if constexpr (Targets::ranked) {
            node.impurity = finite(std::max(0.0, curves[i]) / static_cast<double>(totals[i].w));
        } else {
            if (node.left >= 0 && node.right >= 0)
                curves[i] = curves[static_cast<size_t>(node.left)] + curves[static_cast<size_t>(node.right)];
            node.impurity = targets.describe(&counts[i * grown.outputs], totals[i].w, curves[i], grown.value(static_cast<std::int32_t>(i)));
        }
        node.gain = finite(node.gain * sample.weight_unit);
    }

    template <class Targets>
    void describe_mean(size_t i, const Sample& sample, const Targets& targets) {
        Node& node = grown.nodes[i];
        if (node.left >= 0 && node.right >= 0) {  // a tree that was stopped may have one child only
            const auto l = static_cast<size_t>(node.left), r = static_cast<size_t>(node.right);
            curves[i] = curves[l] + curves[r];
            totals[i] = {totals[l].s + totals[r].s, totals[l].w + totals[r].w};
        }
        const double w = static_cast<double>(totals[i].w), mean = static_cast<double>(totals[i].s) / w;
        const double size = sample.unit / sample.weight_unit;
        node.weight = w * sample.weight_unit;
        grown.values[i] = within(i, sample.centre + mean * size, sample);
        node.impurity = finite(std::max(0.0, curves[i] / w - targets.curve(mean)) * targets.scale(size));
        node.gain = finite(node.gain * targets.scale(size) * sample.weight_unit);
    }

    void describe_median(size_t i, const Sample& sample) {
        Node& node = grown.nodes[i];
        const auto [one, other] = middles[i];
        grown.values[i] = within(i, one == other ? sample.y[one] : sample.y[one] / 2 + sample.y[other] / 2, sample);
        const double size = sample.unit / sample.weight_unit;
        node.impurity = finite(std::max(0.0, curves[i]) / static_cast<double>(totals[i].w) * size);
        node.gain = finite(node.gain * sample.unit);
    }

    // Between the bounds of a node, which are in the units of the sums.
    double within(size_t i, double value, const Sample& sample) const {
        if (bounds.empty()) return value;
        const double size = sample.unit / sample.weight_unit;
        return std::clamp(value, sample.centre + bounds[i].first * size, sample.centre + bounds[i].second * size);
    }
};

}  // namespace tenfold
