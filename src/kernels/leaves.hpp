// Values of leaves that are not Newton steps: quantiles of what is left of the target.
#pragma once

#include "boost.hpp"

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
        for (const std::uint32_t row : grower.rows_of(grower.nodes()[leaves[k]]))
            residuals.push_back({y[row] - raw[row], w ? w[row] : 1.0});
        grower.set_value(leaves[k], rate * suited(loss, residuals, parameter));
    });
}

// Gradients of all rows as whole numbers; returns the rule with their units.
inline Rule fix_gradients(Grower& grower, const BoostKernels& kernels, Loss loss, const double* y, const double* raw,
                          const double* w, double parameter) {
    const size_t n = grower.n(), step = 16 * LOSS_CHUNK, pieces = (n + step - 1) / step;
    std::vector<double> top_g(pieces, 0), top_h(pieces, 0);
    Rule rule{};
    const auto pass = [&](size_t piece, bool measure) {
        double g[LOSS_CHUNK], h[LOSS_CHUNK];
        for (size_t a = piece * step; a < std::min(n, (piece + 1) * step); a += LOSS_CHUNK) {
            const size_t m = std::min(LOSS_CHUNK, n - a);
            kernels.loss_terms(loss, y + a, raw + a, parameter, m, g, h);
            for (size_t i = 0; w && i < m; ++i) {
                g[i] *= w[a + i];
                h[i] *= w[a + i];
            }
            if (!measure) kernels.fix_terms(g, h, m, rule, grower.terms() + a);
            for (size_t i = 0; measure && i < m; ++i) {
                top_g[piece] = std::max(top_g[piece], std::abs(g[i]));
                top_h[piece] = std::max(top_h[piece], h[i]);
            }
        }
    };
    const bool bounded = !w && (loss == Loss::logistic || loss == Loss::probability || loss == Loss::absolute ||
                                loss == Loss::quantile);  // by one
    if (!bounded) grower.team().each(pieces, [&](size_t k) { pass(k, true); });
    double g = bounded, h = bounded ? std::max(1.0, parameter) : 0.0;
    for (size_t k = 0; k < pieces; ++k) {
        g = std::max(g, top_g[k]);
        h = std::max(h, top_h[k]);
    }
    rule.bits = std::bit_width(n);
    const auto unit = [](double top, int bits) {
        return top > 0 ? std::ldexp(1.0, std::max(std::ilogb(top) + 1 - bits, -1000)) : 1.0;
    };
    rule.gradient_unit = unit(g, std::min(50, 62 - rule.bits));
    rule.curvature_unit = unit(h, std::min(50, 62 - 2 * rule.bits));
    grower.team().each(pieces, [&](size_t k) { pass(k, false); });
    return rule;
}

// The sum of the losses; pieces are added in their order, so that threads do not matter.
inline double total_loss(Team& team, const BoostKernels& kernels, Loss loss, const double* y, const double* raw,
                         const double* w, double parameter, size_t n) {
    constexpr size_t STEP = 1 << 13;
    std::vector<double> sums((n + STEP - 1) / STEP, 0.0);
    team.ranges(n, STEP, [&](size_t a, size_t b) {
        sums[a / STEP] = kernels.loss_value(loss, y + a, raw + a, w ? w + a : nullptr, parameter, b - a);
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace tenfold
