// Non-negative least squares of many rows with one matrix: min over w >= 0 of w C w / 2 - b w, to the optimum, by an active set.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/common/rows_view.hpp"

namespace tenfold {

// Lawson and Hanson's steps from where a few sweeps of coordinate descent end: these find most of the positive entries.
class NonNegativeRow {
public:
    NonNegativeRow(const double* C, size_t k) : C_(C), k_(k), positive_(k), barred_(k), factor_(k * k), target_(k), slope_(k) {}

    void solve(const double* b, double* w) {
        double size = 0;
        for (size_t a = 0; a < k_; ++a) {
            w[a] = 0;
            if (C_[a * k_ + a] > 0) size = std::max(size, std::abs(b[a]) / std::sqrt(C_[a * k_ + a]));
        }
        for (int round = 0; round < SWEEPS; ++round) sweep(b, w);
        for (size_t a = 0; a < k_; ++a) positive_[a] = w[a] > 0, barred_[a] = 0;
        for (size_t step = 0; step < 4 * k_ + 8; ++step) {
            descend(b, w);
            if (!enter(b, w, 1e-14 * static_cast<double>(k_) * size)) return;
        }
    }

private:
    static constexpr int SWEEPS = 6;

    double slope(size_t a, const double* b, const double* w) const {
        double sum = -b[a];
        for (size_t c = 0; c < k_; ++c) sum += C_[a * k_ + c] * w[c];
        return sum;
    }

    void sweep(const double* b, double* w) const {
        for (size_t a = 0; a < k_; ++a)
            if (C_[a * k_ + a] > 0) w[a] = std::max(0.0, w[a] - slope(a, b, w) / C_[a * k_ + a]);
    }

    // To the minimum over the positive entries; those that it would make negative become zero.
    void descend(const double* b, double* w) {
        for (;;) {
            minimum(b, w);
            double step = 1;
            for (const size_t a : set_)
                if (target_[a] <= 0) step = std::min(step, w[a] / (w[a] - target_[a]));
            bool whole = true;
            for (const size_t a : set_) {
                const bool ends = target_[a] <= 0 && w[a] <= step * (w[a] - target_[a]) * (1 + 1e-15);
                w[a] = ends ? 0.0 : w[a] + step * (target_[a] - w[a]);
                if (w[a] <= 0) {
                    w[a] = 0;
                    if (entered_ == static_cast<std::int64_t>(a)) barred_[a] = 1;  // rounding let it in
                    positive_[a] = 0;
                    whole = false;
                }
            }
            entered_ = -1;
            if (whole) return;
        }
    }

    // target = the solution of C w = b in the positive entries, by Cholesky; an entry that depends on those before becomes zero.
    void minimum(const double* b, double* w) {
        set_.clear();
        for (size_t a = 0; a < k_; ++a) {
            if (!positive_[a]) continue;
            const size_t m = set_.size();
            double* row = &factor_[m * k_];
            double left = C_[a * k_ + a];
            for (size_t i = 0; i < m; ++i) {
                double sum = C_[a * k_ + set_[i]];
                for (size_t l = 0; l < i; ++l) sum -= row[l] * factor_[i * k_ + l];
                row[i] = sum / factor_[i * k_ + i];
                left -= row[i] * row[i];
            }
            if (left <= 1e-13 * C_[a * k_ + a]) {
                positive_[a] = 0, barred_[a] = 1, w[a] = 0;
                continue;
            }
            row[m] = std::sqrt(left);
            set_.push_back(a);
        }
        const size_t m = set_.size();
        for (size_t i = 0; i < m; ++i) {
            double sum = b[set_[i]];
            for (size_t l = 0; l < i; ++l) sum -= factor_[i * k_ + l] * slope_[l];
            slope_[i] = sum / factor_[i * k_ + i];
        }
        for (size_t i = m; i-- > 0;) {
            double sum = slope_[i];
            for (size_t l = i + 1; l < m; ++l) sum -= factor_[l * k_ + i] * target_[set_[l]];
            target_[set_[i]] = sum / factor_[i * k_ + i];
        }
    }

    // The entry along which the objective falls most becomes positive; false where none does.
    bool enter(const double* b, const double* w, double least) {
        double steepest = -least;
        for (size_t a = 0; a < k_; ++a) {
            if (positive_[a] || barred_[a] || !(C_[a * k_ + a] > 0)) continue;
            const double fall = slope(a, b, w) / std::sqrt(C_[a * k_ + a]);
            if (fall < steepest) steepest = fall, entered_ = static_cast<std::int64_t>(a);
        }
        if (entered_ < 0) return false;
        positive_[static_cast<size_t>(entered_)] = 1;
        return true;
    }

    const double* C_;
    size_t k_;
    std::vector<char> positive_, barred_;
    std::vector<double> factor_, target_, slope_;
    std::vector<size_t> set_;
    std::int64_t entered_ = -1;
};

}  // namespace tenfold
