// Gradients and losses of many rows: as whole numbers, and summed without rounding.
#pragma once

#include <vector>

#include "kernels/boosting/kernels.hpp"
#include "kernels/common/exact_sum.hpp"
#include "kernels/common/team.hpp"

namespace tenfold {

// A loss at the raw predictions of n rows; no weights: each row counts once.
struct LossAt {
    Loss loss;
    const double *y, *raw, *w;
    double parameter;
    size_t n;
};

// The largest gradient, by its size, and the largest curvature.
struct Extent {
    double gradient = 0, curvature = 0;

    Extent with(const Extent& o) const {
        return {std::max(gradient, o.gradient), std::max(curvature, o.curvature)};
    }
};

constexpr size_t GRADIENT_STEP = 16 * LOSS_CHUNK;  // rows that a thread takes at once
inline size_t n_pieces(size_t n) { return (n + GRADIENT_STEP - 1) / GRADIENT_STEP; }

// Calls f(first row, rows, gradients, curvatures) for chunks of the rows, on whichever thread is free.
template <class F>
void each_gradient(Team& team, const BoostKernels& kernels, const LossAt& at, F&& f) {
    team.each(n_pieces(at.n), [&](size_t piece) {
        double g[LOSS_CHUNK], h[LOSS_CHUNK];
        const size_t end = std::min(at.n, (piece + 1) * GRADIENT_STEP);
        for (size_t a = piece * GRADIENT_STEP; a < end; a += LOSS_CHUNK) {
            const size_t m = std::min(LOSS_CHUNK, end - a);
            kernels.loss_terms(at.loss, at.y + a, at.raw + a, at.parameter, m, g, h);
            for (size_t i = 0; at.w && i < m; ++i) {
                g[i] *= at.w[a + i];
                h[i] *= at.w[a + i];
            }
            f(a, m, g, h);
        }
    });
}

inline Extent extent(Team& team, const BoostKernels& kernels, const LossAt& at) {
    const Loss loss = at.loss;
    if (!at.w && (loss == Loss::logistic || loss == Loss::probability || loss == Loss::absolute || loss == Loss::quantile))
        return {1, std::max(1.0, at.parameter)};  // they are bounded
    std::vector<Extent> found(n_pieces(at.n));
    each_gradient(team, kernels, at, [&](size_t a, size_t m, const double* g, const double* h) {
        Extent here = found[a / GRADIENT_STEP];
        for (size_t i = 0; i < m; ++i) here = here.with({std::abs(g[i]), h[i]});
        found[a / GRADIENT_STEP] = here;
    });
    Extent all;
    for (const Extent& one : found) all = all.with(one);
    return all;
}

// Units of the sums over n rows: powers of two, so small that little is lost and so large that no sum overflows.
inline Rule units(const Extent& extent, size_t n) {
    const auto unit = [](double top, int bits) {
        return top > 0 ? std::ldexp(1.0, std::max(std::ilogb(top) + 1 - bits, -1000)) : 1.0;
    };
    Rule rule{};
    rule.bits = std::bit_width(n);
    rule.gradient_unit = unit(extent.gradient, std::min(50, 62 - rule.bits));
    rule.curvature_unit = unit(extent.curvature, std::min(50, 62 - 2 * rule.bits));
    return rule;
}

// Gradients of all rows as whole numbers of units.
inline void fix_gradients(Team& team, const BoostKernels& kernels, const LossAt& at, const Rule& rule, Sum* terms) {
    each_gradient(team, kernels, at, [&](size_t a, size_t m, const double* g, const double* h) {
        kernels.fix_terms(g, h, m, rule, terms + a);
    });
}

// Adds numbers to the exact sums of their groups.
inline void add_groups(const double* values, const std::int32_t* group, size_t n, std::int64_t* words) {
    for (size_t i = 0; i < n; ++i) add_exactly(values[i], words + static_cast<size_t>(group[i]) * EXACT_WORDS);
}

// The losses of the rows of each group, summed exactly: `words` has EXACT_WORDS for each.
inline void loss_sums(Team& team, const BoostKernels& kernels, const LossAt& at, const std::int32_t* group, size_t n_groups,
                      std::int64_t* words) {
    const size_t length = n_groups * EXACT_WORDS;
    std::vector<std::int64_t> parts(team.size() * length);
    std::atomic<size_t> next{0};
    team.run([&](size_t t) {
        double losses[LOSS_CHUNK];
        for (size_t piece = next++; piece < n_pieces(at.n); piece = next++)
            for (size_t a = piece * GRADIENT_STEP; a < std::min(at.n, (piece + 1) * GRADIENT_STEP); a += LOSS_CHUNK) {
                const size_t m = std::min(LOSS_CHUNK, at.n - a);
                kernels.loss_rows(at.loss, at.y + a, at.raw + a, at.w ? at.w + a : nullptr, at.parameter, m, losses);
                add_groups(losses, group + a, m, &parts[t * length]);
            }
    });
    for (size_t i = 0; i < parts.size(); ++i) words[i % length] += parts[i];
}

}  // namespace tenfold
