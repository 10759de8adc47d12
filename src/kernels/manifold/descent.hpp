// Stochastic neighbour embedding: forces on places, and steps along them.
#pragma once

#include <vector>

#include "kernels/common/team.hpp"
#include "kernels/manifold/cell_tree.hpp"
#include "levels.hpp"

namespace tenfold {

// What pulls and what pushes: joint probabilities of pairs as rows of edges, and the weights of rows.
struct Attraction {
    const std::int64_t* start;  // (n + 1)
    const std::int32_t* to;
    const double* p;
    const double* weight;
    size_t n;
};

struct Step {
    double exaggeration, momentum, rate;
};

// Forces on all places: of all pairs in double precision, or by cells in single precision.
template <class T>
class Forces {
public:
    Forces(const Attraction& pairs, size_t axes, size_t freedom, double angle, const Levels<EmbedKernels>& kernels, Team& team)
        : pairs_(pairs), axes_(axes), as_(freedom), angle_(static_cast<float>(angle)), kernels_(kernels), team_(team),
          stride_((pairs.n + LANES - 1) / LANES * LANES), places_((axes + 1) * stride_), start_(pairs.n + 1), push_(pairs.n * axes),
          mass_(pairs.n), pull_(pairs.n * axes) {
        for (size_t i = 0; i < pairs.n; ++i) {
            const auto count = static_cast<size_t>(pairs.start[i + 1] - pairs.start[i]);
            start_[i + 1] = start_[i] + (count + LANES - 1) / LANES * LANES;
            places_[axes * stride_ + i] = static_cast<T>(pairs.weight[i]);
        }
        to_.resize(start_.back()), strength_.resize(start_.back());
        for (size_t i = 0; i < pairs.n; ++i) {
            size_t e = start_[i];
            for (auto f = pairs.start[i]; f < pairs.start[i + 1]; ++f, ++e)
                to_[e] = pairs.to[f], strength_[e] = static_cast<T>(pairs.p[f] / pairs.weight[i]);
            for (; e < start_[i + 1]; ++e) to_[e] = static_cast<std::int32_t>(i);
        }
    }

    // pull() and push() at these places (n, axes); returns Z = sum over pairs of w_i w_j q.
    double at(const double* x) {
        const size_t n = pairs_.n;
        if constexpr (std::is_same_v<T, float>) {
            if (axes_ == 1) by_cells<1>(x);
            else if (axes_ == 2) by_cells<2>(x);
            else by_cells<3>(x);
        }
        fill(x);
        const Places<T> places{places_.data(), places_.data() + axes_ * stride_, n, axes_, stride_};
        const Edges<T> edges{start_.data(), to_.data(), strength_.data()};
        team_.ranges(n, ROWS, [&](size_t begin, size_t end) {
            if (stopped()) return;
            if constexpr (std::is_same_v<T, float>) kernels_->pull_float(places, begin, end, edges, as_, pull_.data() + begin * axes_);
            else {
                const Places<double> bodies{places.at, places.weight, stride_, axes_, stride_};
                kernels_->push_double(places, begin, end, bodies, as_, push_.data() + begin * axes_, mass_.data() + begin);
                kernels_->pull_double(places, begin, end, edges, as_, pull_.data() + begin * axes_);
            }
        });
        leave_if_stopped();
        double total = 0;
        for (size_t i = 0; i < n; ++i) total += pairs_.weight[i] * std::max(mass_[i] - pairs_.weight[i], 0.0);  // none is its own pair
        return total;
    }

    const std::vector<double>& pull() const { return pull_; }
    const std::vector<double>& push() const { return push_; }

    // sum P log(1 / q), the part of the divergence that the places of pairs decide.
    double spread(const double* x) {
        std::vector<double> part((pairs_.n + ROWS - 1) / ROWS);
        team_.each(part.size(), [&](size_t r) {
            for (size_t i = r * ROWS; i < std::min(pairs_.n, (r + 1) * ROWS); ++i)
                for (auto e = pairs_.start[i]; e < pairs_.start[i + 1]; ++e) {
                    const double *one = x + i * axes_, *other = x + static_cast<size_t>(pairs_.to[e]) * axes_;
                    double square = 0;
                    for (size_t a = 0; a < axes_; ++a) square += (one[a] - other[a]) * (one[a] - other[a]);
                    part[r] += pairs_.p[e] * std::log1p(square * as_.per_freedom);
                }
        });
        double sum = 0;
        for (double one : part) sum += one;
        return 0.5 * static_cast<double>(as_.halves) * sum;
    }

private:
    static constexpr size_t ROWS = 64;

    void fill(const double* x) {
        for (size_t a = 0; a < axes_; ++a) {
            double middle = 0;  // single precision is relative to the middle of all
            if constexpr (std::is_same_v<T, float>) {
                for (size_t i = 0; i < pairs_.n; ++i) middle += x[i * axes_ + a];
                middle /= static_cast<double>(pairs_.n);
            }
            for (size_t i = 0; i < pairs_.n; ++i) places_[a * stride_ + i] = static_cast<T>(x[i * axes_ + a] - middle);
        }
    }

    template <size_t Axes>
    void by_cells(const double* x) {
        CellTree<Axes> tree(pairs_.n);
        tree.build(x, pairs_.weight);
        std::vector<typename CellTree<Axes>::List> lists(team_.size());
        const auto places = tree.sorted();
        team_.each(tree.groups().size(), [&](size_t g, size_t t) {
            if (stopped()) return;
            const auto& group = tree.groups()[g];
            tree.list_bodies(group, angle_, lists[t]);
            double force[Axes * CellTree<Axes>::GROUP], mass[CellTree<Axes>::GROUP];
            kernels_->push_float(places, group.begin, group.end, lists[t].places(), as_, force, mass);
            for (size_t s = group.begin; s < group.end; ++s) {
                const size_t i = tree.order()[s];
                for (size_t a = 0; a < Axes; ++a) push_[i * Axes + a] = force[(s - group.begin) * Axes + a];
                mass_[i] = mass[s - group.begin];
            }
        });
    }

    const Attraction& pairs_;
    const size_t axes_;
    const Similarity as_;
    const float angle_;
    const Levels<EmbedKernels>& kernels_;
    Team& team_;
    const size_t stride_;
    std::vector<T> places_;
    std::vector<size_t> start_;
    std::vector<std::int32_t> to_;
    std::vector<T> strength_;
    std::vector<double> push_, mass_, pull_;
};

// Gradient steps with momentum, and a gain for each coordinate that grows while its direction is kept (Jacobs 1988). Returns the norm
// of the last gradient, times the gains. Places, moves and gains are changed.
template <class T>
double descend(Forces<T>& forces, size_t size, const Step& by, size_t freedom, size_t steps, double* x, double* move, double* gain) {
    const double scale = 2.0 * static_cast<double>(freedom + 1) / static_cast<double>(freedom);
    double norm = 0;
    for (size_t step = 0; step < steps; ++step) {
        const double total = forces.at(x), share = total > 0 ? 1 / total : 0.0;
        norm = 0;
        for (size_t c = 0; c < size; ++c) {
            const double slope = scale * (by.exaggeration * forces.pull()[c] - share * forces.push()[c]);
            gain[c] = std::max(move[c] * slope < 0 ? gain[c] + 0.2 : gain[c] * 0.8, 0.01);
            const double change = gain[c] * slope;
            move[c] = by.momentum * move[c] - by.rate * change;
            x[c] += move[c];
            norm += change * change;
        }
        if (!std::isfinite(norm)) break;  // steps so long that they lead nowhere
    }
    return std::sqrt(norm);
}

}  // namespace tenfold
