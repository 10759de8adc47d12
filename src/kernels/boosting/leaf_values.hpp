// Values of leaves that are not Newton steps: quantiles of what is left of the target.
#pragma once

#include "kernels/boosting/grower.hpp"

namespace tenfold {

// The smallest value up to which there is the share q of the weight; where exactly that is reached, the middle to the next.
inline double weighted_quantile(std::vector<std::pair<double, double>>& values, double q) {
    std::sort(values.begin(), values.end());
    double total = 0, reached = 0;
    for (const auto& [value, weight] : values) total += weight;
    const double wanted = q * total, slack = 1e-12 * total;
    for (size_t i = 0; i < values.size(); ++i) {
        reached += values[i].second;
        if (reached < wanted - slack) continue;
        if (reached > wanted + slack || i + 1 == values.size()) return values[i].first;
        return values[i].first / 2 + values[i + 1].first / 2;
    }
    return values.back().first;
}

// The value that suits the residuals of a leaf: their quantile, or Huber's mean about their median.
inline double suited(Loss loss, std::vector<std::pair<double, double>>& residuals, double parameter) {
    if (loss == Loss::quantile) return weighted_quantile(residuals, parameter);
    const double median = weighted_quantile(residuals, 0.5);
    if (loss == Loss::absolute) return median;
    double sum = 0, weight = 0;
    for (const auto& [value, w] : residuals) {
        sum += w * std::clamp(value - median, -parameter, parameter);
        weight += w;
    }
    return median + sum / weight;
}

// Gives each leaf of the tree just grown the value that suits its rows, times `rate`.
inline void renew_leaves(Grower& grower, Loss loss, const double* y, const double* raw, const double* w, double parameter,
                         double rate) {
    std::vector<size_t> leaves;
    for (size_t i = 0; i < grower.nodes().size(); ++i)
        if (grower.nodes()[i].left < 0) leaves.push_back(i);
    grower.team().each(leaves.size(), [&](size_t k) {
        std::vector<std::pair<double, double>> residuals;
        for (const std::uint32_t row : grower.rows().of(leaves[k]))
            residuals.push_back({y[row] - raw[row], w ? w[row] : 1.0});
        grower.set_value(leaves[k], rate * suited(loss, residuals, parameter));
    });
}

}  // namespace tenfold
