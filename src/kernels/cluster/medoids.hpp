// k medoids: the rows of least sum of distances to their nearest, found by swaps (FasterPAM, Schubert & Rousseeuw 2021).
//
// Each row in turn is offered as a medoid in the place of each that there is, all of them by one look at its distances; the best swap
// is made at once if the loss falls. It ends when every row was offered in vain. In one thread: the distances take longer.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "kernels/cluster/pairs_kernels.hpp"

namespace tenfold {

template <class T>
class Medoids {
public:
    Medoids(Rows<const T> D, Weights w, const PairsKernels& kernels, std::int64_t* medoids, size_t k)
        : D_(D),
          w_(w),
          kernels_(kernels),
          medoids_(medoids),
          k_(k),
          near_(D.n),
          second_(D.n),
          label_(D.n),
          runner_up_(D.n),
          is_medoid_(D.n),
          removal_(k),
          loss_(4 * k),
          hit_(D.n + 16) {
        for (size_t i = 0; i < k_; ++i) is_medoid_[at(i)] = 1;
        for (size_t o = 0; o < D_.n; ++o) look_again(o);
        sum_up();
    }

    // Swaps until nothing helps, or every row was offered `most` times. Returns the rounds through all rows, and whether there may be
    // more to gain.
    std::pair<size_t, bool> improve(size_t most) {
        if (k_ == 1) return {1, best_alone()};
        size_t next = 0, in_vain = 0, offered = 0;
        for (; in_vain < D_.n; ++offered, next = (next + 1) % D_.n) {
            if (offered >= most * D_.n) return {most, true};
            leave_if_stopped();
            const Offer best = offer(next);
            if (best.helps) swap(best.place, next), in_vain = 0;
            else ++in_vain;
        }
        return {(offered + D_.n - 1) / D_.n, false};
    }

    double loss() const { return total_; }

private:
    struct Offer {
        bool helps;
        size_t place;
    };

    size_t at(size_t i) const { return static_cast<size_t>(medoids_[i]); }

    // The best place for row c among the medoids, and whether the loss falls by more than rounding errors.
    Offer offer(size_t c) {
        if (is_medoid_[c]) return {false, 0};
        std::fill(loss_.begin(), loss_.end(), 0.0);
        const Nearby<T> nearby{near_.data(), second_.data(), label_.data(), w_.data(), D_.n, k_};
        double common;
        if constexpr (sizeof(T) == 4) common = kernels_.change(D_[c], nearby, loss_.data(), hit_.data());
        else common = kernels_.change64(D_[c], nearby, loss_.data(), hit_.data());
        size_t place = 0;
        double least = std::numeric_limits<double>::infinity();
        for (size_t i = 0; i < k_; ++i) {
            const double* own = loss_.data() + 4 * i;
            const double sum = removal_[i] + ((own[0] + own[1]) + (own[2] + own[3]));
            if (sum < least) least = sum, place = i;
        }
        return {least + common < -1e-12 * total_, place};
    }

    void swap(size_t place, size_t row) {
        is_medoid_[at(place)] = 0;
        is_medoid_[row] = 1;
        medoids_[place] = static_cast<std::int64_t>(row);
        const auto now = static_cast<std::int32_t>(place);
        for (size_t o = 0; o < D_.n; ++o) {
            const T d = D_[row][o];
            if (label_[o] == now || runner_up_[o] == now) look_again(o);
            else if (d < near_[o]) second_[o] = near_[o], runner_up_[o] = label_[o], near_[o] = d, label_[o] = now;
            else if (d < second_[o]) second_[o] = d, runner_up_[o] = now;
        }
        sum_up();
    }

    // The two nearest medoids of a row.
    void look_again(size_t o) {
        T near = std::numeric_limits<T>::infinity(), second = near;
        std::int32_t label = 0, runner_up = 0;
        const T* away = D_[o];  // distances are symmetric: one row of them stays in the cache
        for (size_t i = 0; i < k_; ++i) {
            const T d = away[at(i)];
            const auto now = static_cast<std::int32_t>(i);
            if (d < near) second = near, runner_up = label, near = d, label = now;
            else if (d < second) second = d, runner_up = now;
        }
        near_[o] = near, second_[o] = second, label_[o] = label, runner_up_[o] = runner_up;
    }

    void sum_up() {
        std::fill(removal_.begin(), removal_.end(), 0.0);
        total_ = 0;
        for (size_t o = 0; o < D_.n; ++o) {
            const double near = near_[o], w = w_[o];
            total_ += w * near;
            if (k_ > 1) removal_[static_cast<size_t>(label_[o])] += w * (static_cast<double>(second_[o]) - near);
        }
    }

    // Of one medoid: the row of least sum.
    bool best_alone() {
        size_t best = at(0);
        double least = std::numeric_limits<double>::infinity();
        for (size_t c = 0; c < D_.n; ++c) {
            leave_if_stopped();
            double sum[4] = {};
            for (size_t o = 0; o < D_.n; ++o) sum[o % 4] += w_[o] * static_cast<double>(D_[c][o]);
            const double whole = (sum[0] + sum[1]) + (sum[2] + sum[3]);
            if (whole < least) least = whole, best = c;
        }
        swap(0, best);
        return false;
    }

    Rows<const T> D_;
    Weights w_;
    const PairsKernels& kernels_;
    std::int64_t* medoids_;
    size_t k_;
    std::vector<T> near_, second_;
    std::vector<std::int32_t> label_, runner_up_;
    std::vector<char> is_medoid_;
    std::vector<double> removal_;
    double total_ = 0;
    std::vector<double> loss_;
    std::vector<std::int32_t> hit_;
};

}  // namespace tenfold
