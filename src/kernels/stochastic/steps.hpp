// Steps down the gradient of a regularised risk, one for each row: w <- (1 - rate l2) w - rate s loss'(y, w.x + b) x.
//
// Weights are w = scale v, so that shrinking them costs one product, and a step costs the values of its row. The sum of all w that
// are averaged is total v + rest: a step changes `rest` where it changes v. The L1 penalty is due for all columns at once and is
// taken from a column when a row has it (Tsuruoka, Tsujii & Ananiadou 2009).
#pragma once

#include <algorithm>
#include <cmath>

#include "kernels/common/rows_view.hpp"
#include "kernels/stochastic/losses.hpp"

namespace tenfold {

constexpr double SMALLEST_SCALE = 1e-4;  // below it v takes the scale over: sums of products of v lose no more than four digits
constexpr double LARGEST_SLOPE = 1e12;
constexpr size_t LOOK_EVERY = 1024;  // rows

// In the order of RATES of solve/online.py.
enum class Rate : int { constant, optimal, falling, adaptive, passive_1, passive_2, end };

// What a step is.
struct Rule {
    Loss loss;
    double epsilon;
    double l1, l2;  // prices of sum |w| and sum w^2 / 2
    Rate rate;
    double first_rate, power;  // of passive steps: their limit
    double slowness, onset;    // optimal: rate = 1 / (slowness (onset + t - 1))
    double intercept;          // what the step of the intercept is multiplied by; 0: there is none
    double average_from;       // the step from which on weights are averaged; 0: never
    bool measure;              // whether losses are summed
};

// What a problem knows besides its weights; the fields of a record in solve/online.py, in this order.
struct Numbers {
    double scale, intercept, steps, due, total, intercept_total, averaged, rate, loss, loss_at_zero, weight, finished, diverged;
};

// One problem: numbers, or one class against the others.
struct Problem {
    double *v, *rest, *paid;  // rest: where weights are averaged; paid: what L1 has taken from a column
    size_t p;
    Numbers* at;
    std::int64_t positive;   // the class that is y = 1; -1: y are numbers
    double factors[2];       // of rows with y <= 0 and y > 0
};

template <class Rows>
class Descent {
public:
    Descent(const Rule& rule, const Problem& problem)
        : rule_(rule), on_(problem), at_(*problem.at), of_class_(loss_of(rule.loss, 1.0, 0.0, rule.epsilon)) {}

    // Steps for these rows, in this order, until one goes astray.
    void run(const Rows& rows, std::span<const double> y, std::span<const double> w, std::span<const std::uint32_t> order) {
        for (size_t i = 0; i < rows.size(); ++i) {
            if (i % LOOK_EVERY == 0 && stopped()) return;
            const size_t row = order.empty() ? i : order[i];
            const double target = on_.positive < 0 ? y[row] : y[row] == static_cast<double>(on_.positive) ? 1.0 : -1.0;
            if (!step(rows[row], target, w[row] * on_.factors[target > 0])) return;
        }
    }

private:
    template <class Row>
    TENFOLD_INLINE bool step(const Row& x, double y, double weight) {
        const double p = at_.scale * x.dot(on_.v) + at_.intercept;
        if (!std::isfinite(p)) {
            at_.diverged = 1;
            return false;
        }
        if (rule_.measure) {
            at_.loss += weight * loss_of(rule_.loss, y, p, rule_.epsilon);
            at_.loss_at_zero += weight * (on_.positive < 0 ? loss_of(rule_.loss, y, 0.0, rule_.epsilon) : of_class_);
            at_.weight += weight;
        }
        const double rate = rate_of(at_.steps + 1);
        const double change = weight * change_of(x, y, p, rate);
        if (rule_.l2 > 0) shrink(1.0 - rule_.l2 * rate);
        if (change != 0) {
            const double a = change / at_.scale;
            x.add_to(on_.v, a);
            if (at_.total > 0) x.add_to(on_.rest, -at_.total * a);
            at_.intercept += rule_.intercept * change;
        }
        if (rule_.l1 > 0) {
            at_.due += rule_.l1 * rate;
            x.each([&](size_t j) { pay(j); });
        }
        at_.steps += 1;
        if (rule_.average_from > 0 && at_.steps >= rule_.average_from) {
            at_.total += at_.scale;
            at_.intercept_total += at_.intercept;
            at_.averaged += 1;
        }
        return true;
    }

    TENFOLD_INLINE double rate_of(double t) const {
        switch (rule_.rate) {
            case Rate::optimal: return 1.0 / (rule_.slowness * (rule_.onset + t - 1.0));
            case Rate::falling: return rule_.first_rate / (rule_.power == 0.5 ? std::sqrt(t) : std::pow(t, rule_.power));
            case Rate::adaptive: return at_.rate;
            default: return rule_.first_rate;
        }
    }

    // What x is multiplied by to be added to the weights. Passive steps go as far as the loss of the row is gone.
    template <class Row>
    TENFOLD_INLINE double change_of(const Row& x, double y, double p, double rate) const {
        const double slope = slope_of(rule_.loss, y, p, rule_.epsilon);
        if (rule_.rate < Rate::passive_1) return -rate * std::clamp(slope, -LARGEST_SLOPE, LARGEST_SLOPE);
        const double squares = x.squares(), loss = loss_of(rule_.loss, y, p, rule_.epsilon);
        double size = loss / (squares + 0.5 / rule_.first_rate);
        if (rule_.rate == Rate::passive_1) size = squares > 0 ? std::min(rule_.first_rate, loss / squares) : 0.0;
        return slope > 0 ? -size : size;
    }

    // A step so large that weights would change their sign ends at zero. Where the scale is hardly there any more, v takes it over.
    void shrink(double factor) {
        at_.scale *= std::max(factor, 0.0);
        if (at_.scale >= SMALLEST_SCALE) return;
        if (at_.total > 0)
            for (size_t j = 0; j < on_.p; ++j) on_.rest[j] += at_.total * on_.v[j];
        for (size_t j = 0; j < on_.p; ++j) on_.v[j] *= at_.scale;
        at_.total = 0;
        at_.scale = 1;
    }

    // The weight of a column moves towards zero, not beyond, by what is due and not yet paid.
    TENFOLD_INLINE void pay(size_t j) {
        const double w = at_.scale * on_.v[j];
        if (w == 0) return;
        const double left = w > 0 ? std::max(0.0, w - (at_.due + on_.paid[j])) : std::min(0.0, w + (at_.due - on_.paid[j]));
        on_.paid[j] += left - w;
        const double before = on_.v[j];
        on_.v[j] = left / at_.scale;
        if (at_.total > 0) on_.rest[j] -= at_.total * (on_.v[j] - before);
    }

    const Rule& rule_;
    const Problem& on_;
    Numbers& at_;
    const double of_class_;  // the loss of a class where p is 0
};

// 0, ..., n - 1 in an order drawn from a seed: Fisher & Yates 1938, with numbers by SplitMix64 (Steele, Lea & Flood 2014).
inline void draw_order(std::uint64_t seed, std::span<std::uint32_t> order) {
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    for (size_t i = order.size(); i > 1; --i) {
        std::uint64_t z = (seed += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        std::swap(order[i - 1], order[((z >> 32) * i) >> 32]);
    }
}

}  // namespace tenfold
