// Sequential minimal optimisation on a working set: two variables at a time, the pair of the largest second-order decrease.
#pragma once

#include <limits>

#include "kernels/common/simd.hpp"
#include "kernels/machines/svm_kernels.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr double NEVER = -std::numeric_limits<double>::infinity();
constexpr double FLAT = 1e-12;  // curvature of a pair that has none

struct Best {
    double value = NEVER;
    size_t at = 0;
};

// The largest of vectors of values, and of equal ones the first.
class Largest {
public:
    TENFOLD_INLINE void look(V value, size_t at) {
        auto better = value > values_;
        values_ = better ? value : values_;
        places_ = better ? I{} + static_cast<std::int64_t>(at) : places_;
    }
    TENFOLD_INLINE Best best() const {
        Best found;
        for (size_t l = 0; l < L; ++l) {
            const size_t at = static_cast<size_t>(places_[l]) + l;
            if (values_[l] > found.value || (values_[l] == found.value && at < found.at)) found = {values_[l], at};
        }
        return found;
    }

private:
    V values_ = splat(NEVER);
    I places_{};
};

template <class T>
class Pairs {
public:
    Pairs(const WorkingSet<T>& on, double* b, double* g)
        : on_(on), b_(b), width_(padded(on.q)), g_(width_), diagonal_(width_), up_(on.groups * width_), down_(on.groups * width_),
          row_(width_) {
        for (size_t at = 0; at < on.groups * width_; ++at) up_[at] = down_[at] = NEVER;
        for (size_t i = 0; i < on.q; ++i) {
            g_[i] = g[i];
            diagonal_[i] = static_cast<double>(on.K[i * on.wide + i]);
            mark(i);
        }
    }

    std::int64_t solve() {
        std::int64_t steps = 0;
        for (; steps < on_.most; ++steps) {
            if (steps % 256 == 0 && stopped()) break;
            if (!step()) break;
        }
        return steps;
    }

    void gradient(double* g) const { std::copy(g_.data(), g_.data() + on_.q, g); }

private:
    // Which directions are open to variable i.
    void mark(size_t i) {
        const size_t at = static_cast<size_t>(on_.group[i]) * width_ + i;
        up_[at] = b_[i] < on_.high[i] ? 0.0 : NEVER;
        down_[at] = b_[i] > on_.low[i] ? 0.0 : NEVER;
    }

    // The values of row i of K as doubles.
    const double* row(size_t i) {
        const T* from = on_.K + i * on_.wide;
        for (size_t j = 0; j < on_.q; ++j) row_[j] = static_cast<double>(from[j]);
        return row_.data();
    }

    bool step() {
        Best pair;
        size_t first = 0;
        double rise = 0, largest_gap = NEVER;
        for (size_t group = 0; group < on_.groups; ++group) {
            const double *up = up_.data() + group * width_, *down = down_.data() + group * width_;
            Largest highest;
            for (size_t j = 0; j < width_; j += L) highest.look(load(up + j) - load(g_.data() + j), j);
            const Best top = highest.best();
            if (top.value == NEVER) continue;
            // Of all that may go down, how much the objective falls: (m + g)^2 / (2 curvature).
            const double* k = row(top.at);
            const double own = diagonal_[top.at];
            Largest gains, lowest;
            for (size_t j = 0; j < width_; j += L) {
                const V difference = load(down + j) + load(g_.data() + j) + top.value;
                V curvature = load(diagonal_.data() + j) + own - 2.0 * load(k + j);
                curvature = curvature > FLAT ? curvature : splat(FLAT);
                lowest.look(difference, j);
                gains.look(difference > 0.0 ? difference * difference / curvature : splat(NEVER), j);
            }
            largest_gap = std::max(largest_gap, lowest.best().value);
            const Best found = gains.best();
            if (found.value > pair.value) pair = found, first = top.at, rise = top.value + g_[found.at];
        }
        if (!(largest_gap > on_.tol) || pair.value == NEVER) return false;
        return move(first, pair.at, rise);
    }

    // b[i] rises and b[j] falls by as much, to the minimum along the line or to the first bound.
    bool move(size_t i, size_t j, double rise) {
        const T *ki = on_.K + i * on_.wide, *kj = on_.K + j * on_.wide;
        const double curvature = std::max(diagonal_[i] + diagonal_[j] - 2.0 * static_cast<double>(ki[j]), FLAT);
        const double room_i = on_.high[i] - b_[i], room_j = b_[j] - on_.low[j];
        const double step = std::min({rise / curvature, room_i, room_j});
        const double before = b_[i] - b_[j];
        b_[i] = step == room_i ? on_.high[i] : b_[i] + step;
        b_[j] = step == room_j ? on_.low[j] : b_[j] - step;
        if (b_[i] - b_[j] == before) return false;  // below rounding
        mark(i);
        mark(j);
        double* g = g_.data();
        for (size_t l = 0; l < on_.q; ++l) g[l] += step * (static_cast<double>(ki[l]) - static_cast<double>(kj[l]));
        return true;
    }

    const WorkingSet<T>& on_;
    double* b_;
    size_t width_;
    Scratch<double> g_, diagonal_, up_, down_, row_;
};

template <class T>
std::int64_t solve_working_set(const WorkingSet<T>& on, double* b, double* g) {
    Pairs<T> pairs(on, b, g);
    const std::int64_t steps = pairs.solve();
    pairs.gradient(g);
    return steps;
}

}  // namespace tenfold::TENFOLD_LEVEL
