// Places of new rows in an embedding that stays as it is.
#pragma once

#include <vector>

#include "kernels/manifold/embed_kernels.hpp"
#include "levels.hpp"

namespace tenfold {

// Places (n, axes) by axis, with room for vectors behind the last of them.
template <class T>
class PaddedPlaces {
public:
    PaddedPlaces(Rows<const double> x, const double* w) : n_(x.n), axes_(x.p), stride_((x.n + LANES - 1) / LANES * LANES) {
        values_.resize((axes_ + 1) * stride_);
        for (size_t i = 0; i < n_; ++i) {
            for (size_t a = 0; a < axes_; ++a) values_[a * stride_ + i] = static_cast<T>(x[i][a]);
            values_[axes_ * stride_ + i] = static_cast<T>(w[i]);
        }
    }
    Places<T> view() const { return {values_.data(), values_.data() + axes_ * stride_, n_, axes_, stride_}; }

private:
    size_t n_, axes_, stride_;
    std::vector<T> values_;
};

// f(y) = sum_j p_j log(1 / q(y, x_j)) + strength sum_j w_j q(y, x_j): what a row of vanishing weight adds to the divergence while all
// others stay. Steps down the gradient, scaled by the curvature of what pulls, halved until f falls by a share of what they promise.
struct Field {
    Places<double> x;
    Similarity as;
    double strength;
    const Levels<EmbedKernels>& kernels;
    size_t most_steps;
    double rest;  // length of a step below which a place has settled

    // f at the place that is found, which replaces y.
    double settle(const std::int64_t* near, const double* share, size_t k, double* y) const {
        const size_t axes = x.axes;
        std::vector<double> slope(axes), next(axes), steeper(axes), force(axes);
        double curve = 0, stiff = 0;
        double now = look(near, share, k, y, slope, curve, force);
        for (size_t step = 0; step < most_steps && curve > 0; ++step) {
            double square = 0;
            for (double one : slope) square += one * one;
            double length = 1 / curve, then = now;
            bool fell = false;
            for (int half = 0; half < 40 && !fell; ++half, length *= 0.5) {
                for (size_t a = 0; a < axes; ++a) next[a] = y[a] - length * slope[a];
                then = look(near, share, k, next.data(), steeper, stiff, force);
                fell = then <= now - 1e-4 * length * square;
            }
            if (!fell) break;
            double moved = 0;
            for (size_t a = 0; a < axes; ++a) moved += (next[a] - y[a]) * (next[a] - y[a]), y[a] = next[a];
            now = then, curve = stiff;
            slope.swap(steeper);
            if (moved <= rest * rest) break;
        }
        return now;
    }

private:
    double look(const std::int64_t* near, const double* share, size_t k, const double* y, std::vector<double>& slope, double& curve,
                std::vector<double>& force) const {
        const size_t axes = x.axes;
        const double power = 0.5 * static_cast<double>(as.halves), per = 2 * power * as.per_freedom;  // d log(1 / q) = per t (y - x)
        const Places<double> here{y, nullptr, 1, axes, 1}, bodies{x.at, x.weight, x.stride, axes, x.stride};
        double mass = 0, sum = 0;
        kernels->push_double(here, 0, 1, bodies, as, force.data(), &mass);
        for (size_t a = 0; a < axes; ++a) slope[a] = -strength * per * force[a];
        curve = 0;
        for (size_t j = 0; j < k; ++j) {
            const auto row = static_cast<size_t>(near[j]);
            double square = 0;
            for (size_t a = 0; a < axes; ++a) square += (y[a] - x.axis(a)[row]) * (y[a] - x.axis(a)[row]);
            const double pull = per * share[j] / (1 + square * as.per_freedom);
            sum += share[j] * power * std::log1p(square * as.per_freedom);
            curve += pull;
            for (size_t a = 0; a < axes; ++a) slope[a] += pull * (y[a] - x.axis(a)[row]);
        }
        return sum + strength * mass;
    }
};

}  // namespace tenfold
