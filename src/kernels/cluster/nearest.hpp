// The nearest of k centres, and one Lloyd step.
//
// The label of a row is the k of the smallest ||x - c_k||^2 as float64 arithmetic gives it, summed in one
// fixed order (ties: the smallest k). Most rows are decided in float32, where the margin exceeds a bound on
// all rounding errors; the others are decided by those float64 distances. With u = 2^-24, x and c about the
// middle of the centres, and scaled so that |c| <= 1 in every column:
//
//   t_k = |c_k|^2 / 2 - x.c_k            orders centres as the distance does; in float32 it is off by
//   (p + 4) u (|c_k|^2 / 2 + |x||c_k|)   at most, so by e (|c_k|^2 + |x|^2 / 2) with e = (p + 8) u;
//   a_k = t_k - e |c_k|^2                is computed; the smallest, a_b, wins for certain if the next one is
//                                        larger by more than 2 e |c_b|^2 + e |x|^2.
#pragma once

#include <limits>

#include "kernels/common/simd.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr size_t FLOATS = TENFOLD_VECTOR_BYTES / sizeof(float);
using F = Simd<float, FLOATS>::Vector;
using J = Simd<std::int32_t, FLOATS>::Vector;

// A register tile is ABREAST centres times SPAN rows, two vectors of them.
constexpr size_t SPAN = 2 * FLOATS;
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr size_t ABREAST = 12;
#elif defined(__AVX2__)
constexpr size_t ABREAST = 6;
#else
constexpr size_t ABREAST = 4;
#endif

TENFOLD_INLINE F splat_float(float value) { return Simd<float, FLOATS>::splat(value); }

// {||row[l] - center[l]||^2}: the only float64 distance there is.
template <class T>
TENFOLD_INLINE V distances2(const T* const* row, const double* const* center, size_t p) {
    V sum[L] = {};
    for_vectors(p, [&](size_t, auto at) __attribute__((always_inline)) {
        for (size_t l = 0; l < L; ++l) {
            V d = at(row[l]) - at(center[l]);
            sum[l] += d * d;
        }
    });
    return sum_each(sum);
}

// The label of one row by float64 distances to all centres.
template <class T>
size_t nearest_exact(const T* x, Rows<const double> C) {
    const T* row[L];
    std::fill_n(row, L, x);
    double best = std::numeric_limits<double>::infinity();
    size_t label = 0;
    for (size_t first = 0; first < C.n; first += L) {
        const double* center[L];
        for (size_t l = 0; l < L; ++l) center[l] = C[std::min(first + l, C.n - 1)];
        V d = distances2(row, center, C.p);
        for (size_t l = 0; l < L && first + l < C.n; ++l)
            if (d[l] < best) best = d[l], label = first + l;
    }
    return label;
}

// The centres as the float32 screening wants them.
class Screen {
public:
    explicit Screen(Rows<const double> C)
        : C_(C),
          groups_(ceil_div(C.n, ABREAST)),
          middle_(C.p),
          packed_(groups_ * C.p * ABREAST),
          start_(groups_ * ABREAST),
          slack_(C.n),
          turned_(C.p * SPAN) {
        double largest = 0;
        for (size_t c = 0; c < C.n; ++c)
            for (size_t j = 0; j < C.p; ++j) middle_[j] += C[c][j] / static_cast<double>(C.n);
        for (size_t c = 0; c < C.n; ++c)
            for (size_t j = 0; j < C.p; ++j) largest = std::max(largest, std::fabs(C[c][j] - middle_[j]));
        int exponent = 0;
        std::frexp(largest, &exponent);
        scale_ = std::ldexp(1.0, -exponent);
        error_ = static_cast<double>(C.p + 8) * 0x1p-24;
        error_ *= 1.001 + 4 * error_;  // terms of second order
        usable_ = largest > 0 && largest <= std::numeric_limits<double>::max() && scale_ > 0 &&
                  scale_ <= std::numeric_limits<double>::max() && error_ < 0.01;
        const double underflow = static_cast<double>(C.p + 8) * 1e-37;
        // Centres that fill the last group never win.
        std::fill_n(start_.data(), groups_ * ABREAST, std::numeric_limits<float>::infinity());
        for (size_t c = 0; c < C.n && usable_; ++c) {
            double norm2 = 0;
            for (size_t j = 0; j < C.p; ++j) {
                const double value = (C[c][j] - middle_[j]) * scale_;
                norm2 += value * value;
                packed_[(c / ABREAST * C.p + j) * ABREAST + c % ABREAST] = static_cast<float>(value);
            }
            start_[c] = static_cast<float>((0.5 - error_) * norm2);
            slack_[c] = static_cast<float>(2.01 * error_ * norm2 + underflow);
        }
    }

    // Labels of `count` <= SPAN rows from X[first] on.
    template <class T>
    void label(Rows<const T> X, size_t first, size_t count, size_t* labels) {
        if (!usable_) {
            for (size_t r = 0; r < count; ++r) labels[r] = C_.n == 1 ? 0 : nearest_exact(X[first + r], C_);
            return;
        }
        float best[SPAN], second[SPAN], norm2[SPAN];
        std::int32_t index[SPAN];
        turn(X, first, count);
        screen(best, second, norm2, index);
        for (size_t r = 0; r < count; ++r) {
            labels[r] = static_cast<size_t>(index[r]);
            const bool certain =
                second[r] - best[r] >
                slack_[labels[r]] + static_cast<float>((1.01 + 2 * error_) * error_) * norm2[r];
            if (!certain) labels[r] = nearest_exact(X[first + r], C_);
        }
    }

private:
    // turned[j][r] = column j of row r, about the middle, scaled, in float32; beyond count old values stay.
    template <class T>
    TENFOLD_INLINE void turn(Rows<const T> X, size_t first, size_t count) {
        for (size_t r = 0; r < count; ++r)
            for (size_t j = 0; j < X.p; ++j)
                turned_[j * SPAN + r] = static_cast<float>((X[first + r][j] - middle_[j]) * scale_);
    }

    TENFOLD_INLINE void screen(float* best, float* second, float* norm2, std::int32_t* index) const {
        using S = Simd<float, FLOATS>;
        F least[2], next[2], norm[2] = {};
        J which[2] = {};
        for (F& v : least) v = splat_float(std::numeric_limits<float>::infinity());
        for (F& v : next) v = splat_float(std::numeric_limits<float>::infinity());
        for (size_t g = 0; g < groups_; ++g) {
            F a[ABREAST][2];
            for (size_t c = 0; c < ABREAST; ++c) a[c][0] = a[c][1] = splat_float(start_[g * ABREAST + c]);
            const float* center = packed_.data() + g * C_.p * ABREAST;
            for (size_t j = 0; j < C_.p; ++j, center += ABREAST) {
                const F x[2] = {S::load(turned_.data() + j * SPAN),
                                S::load(turned_.data() + j * SPAN + FLOATS)};
                for (size_t c = 0; c < ABREAST; ++c)
                    for (size_t v = 0; v < 2; ++v) a[c][v] -= splat_float(center[c]) * x[v];
            }
            for (size_t c = 0; c < ABREAST; ++c)
                for (size_t v = 0; v < 2; ++v) {
                    auto less = a[c][v] < least[v];
                    F worse = less ? least[v] : a[c][v];
                    next[v] = worse < next[v] ? worse : next[v];
                    least[v] = less ? a[c][v] : least[v];
                    which[v] = less ? static_cast<std::int32_t>(g * ABREAST + c) - J{} : which[v];
                }
        }
        for (size_t j = 0; j < C_.p; ++j)
            for (size_t v = 0; v < 2; ++v) {
                F x = S::load(turned_.data() + j * SPAN + v * FLOATS);
                norm[v] += x * x;
            }
        std::memcpy(best, least, sizeof least);
        std::memcpy(second, next, sizeof next);
        std::memcpy(norm2, norm, sizeof norm);
        std::memcpy(index, which, sizeof which);
    }

    Rows<const double> C_;
    size_t groups_;
    double scale_ = 1, error_ = 0;
    bool usable_ = false;
    Scratch<double> middle_;
    Scratch<float> packed_, start_, slack_, turned_;
};

// Calls visit(first, count, labels, distances2) for each run of at most L rows.
template <class T, class Visit>
TENFOLD_INLINE void visit_nearest(Rows<const T> X, Rows<const double> C, Visit&& visit) {
    Screen screen(C);
    size_t labels[SPAN];
    for (size_t start = 0; start < X.n && !stopped(); start += SPAN) {
        const size_t count = std::min(SPAN, X.n - start);
        screen.label(X, start, count, labels);
        for (size_t r = 0; r < count; r += L) {
            const size_t few = std::min(L, count - r);
            const T* row[L];
            const double* center[L];
            for (size_t l = 0; l < L; ++l) {
                const size_t there = r + std::min(l, few - 1);
                row[l] = X[start + there];
                center[l] = C[labels[there]];
            }
            visit(start + r, few, labels + r, distances2(row, center, X.p));
        }
    }
}

// nearest: label and squared distance of the nearest centre of each row
template <class T>
void nearest(Rows<const T> X, Rows<const double> C, std::int64_t* label, double* distance2) {
    visit_nearest(X, C,
                  [&](size_t first, size_t count, const size_t* labels, V d2) __attribute__((always_inline)) {
                      for (size_t l = 0; l < count; ++l) {
                          label[first + l] = static_cast<std::int64_t>(labels[l]);
                          distance2[first + l] = d2[l];
                      }
                  });
}

// assign_sums: weight_k = sum of w, sum_k = sum of w x, over the rows nearest to centre k;  inertia = sum w
// ||x - c||^2
template <class T>
void assign_sums(Rows<const T> X, Weights w, Rows<const double> C, double* weight, double* sum,
                 double& inertia) {
    const size_t p = X.p, width = padded(p);
    Scratch<double> sums(C.n * width);
    inertia = 0;
    visit_nearest(X, C,
                  [&](size_t first, size_t count, const size_t* labels, V d2) __attribute__((always_inline)) {
                      for (size_t l = 0; l < count; ++l) {
                          const size_t i = first + l;
                          double* to = sums.data() + labels[l] * width;
                          weight[labels[l]] += w[i];
                          inertia += w[i] * d2[l];
                          for_vectors(p, [&](size_t j, auto at) __attribute__((always_inline)) {
                              store(to + j, load(to + j) + w[i] * at(X[i]));
                          });
                      }
                  });
    for (size_t c = 0; c < C.n; ++c) std::copy_n(sums.data() + c * width, p, sum + c * p);
}

// lloyd: centres move to the means of their rows until they move by at most `tol` (sum of squares), for at
// most `most` steps, and not beyond a step that leaves a centre without rows. Returns the steps made; inertia
// is that of the centres before the last one, shift how far they moved then.
template <class T>
size_t lloyd(Rows<const T> X, Weights w, Rows<double> C, double tol, size_t most, double& inertia, double& shift) {
    const size_t k = C.n, p = C.p;
    Scratch<double> weight(k), sum(k * p);
    inertia = shift = std::numeric_limits<double>::infinity();
    size_t steps = 0;
    while (steps < most && shift > tol && !stopped()) {
        double before = 0, moved = 0;
        std::fill_n(weight.data(), k, 0.0);
        assign_sums(X, w, {C.data, k, p}, weight.data(), sum.data(), before);
        for (size_t c = 0; c < k; ++c)
            if (!(weight[c] > 0)) return steps;
        for (size_t c = 0; c < k; ++c)
            for (size_t j = 0; j < p; ++j) {
                const double mean = sum[c * p + j] / weight[c], away = mean - C[c][j];
                C[c][j] = mean;
                moved += away * away;
            }
        inertia = before;
        shift = moved;
        ++steps;
    }
    return steps;
}

}  // namespace tenfold::TENFOLD_LEVEL
