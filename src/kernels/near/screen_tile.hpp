// Rows in float32, and which of them may be near a query: see all_rows.hpp for the bounds.
#pragma once

#include "kernels/common/simd.hpp"
#include "kernels/near/found.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr size_t FLOATS = TENFOLD_VECTOR_BYTES / sizeof(float);
using F = Simd<float, FLOATS>::Vector;

// A register tile is ABREAST rows times SPAN queries, two vectors of them.
constexpr size_t SPAN = 2 * FLOATS;
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr size_t ABREAST = 12;
#elif defined(__AVX2__)
constexpr size_t ABREAST = 6;
#else
constexpr size_t ABREAST = 4;
#endif
constexpr size_t SPANS = 8;                    // of queries, that go through the rows together,
constexpr size_t TOGETHER = SPANS * SPAN;
constexpr size_t CHUNK = (size_t{1} << 17) / sizeof(float);  // through so many values at a time, which stay in the cache
constexpr float FAR = std::numeric_limits<float>::infinity();

TENFOLD_INLINE F splat_float(float value) { return Simd<float, FLOATS>::splat(value); }

// A bit for each lane where a <= b.
TENFOLD_INLINE std::uint32_t at_most(F a, F b) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LE_OQ);
#elif defined(__AVX2__)
    return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps((__m256)a, (__m256)b, _CMP_LE_OQ)));
#else
    std::uint32_t found = 0;
    for (size_t l = 0; l < FLOATS; ++l) found |= static_cast<std::uint32_t>(a[l] <= b[l]) << l;
    return found;
#endif
}

// The rows as the screening wants them.
class Screened {
public:
    explicit Screened(Rows<const double> rows)
        : p_(rows.p),
          groups_(ceil_div(rows.n, ABREAST)),
          middle_(rows.p),
          packed_(groups_ * rows.p * ABREAST),
          start_(groups_ * ABREAST),
          slack_(groups_ * ABREAST) {
        double largest = 0;
        for (size_t i = 0; i < rows.n; ++i)
            for (size_t j = 0; j < p_; ++j) middle_[j] += rows[i][j] / static_cast<double>(rows.n);
        for (size_t i = 0; i < rows.n; ++i)
            for (size_t j = 0; j < p_; ++j) largest = std::max(largest, std::fabs(rows[i][j] - middle_[j]));
        int exponent = 0;
        std::frexp(largest, &exponent);
        scale_ = std::ldexp(1.0, -exponent);
        error_ = static_cast<double>(p_ + 8) * 0x1p-24;
        error_ *= 1.001 + 4 * error_;  // terms of second order
        // Squares in float64 that underflow or overflow are ties, which the screening would not see.
        usable_ = largest > 1e-140 && largest < 1e140 && error_ < 0.01 && rows.n > 4 * ABREAST;
        underflow_ = static_cast<double>(p_ + 8) * 1e-37;
        // What fills the last group is never near.
        std::fill_n(start_.data(), groups_ * ABREAST, FAR);
        for (size_t i = 0; i < rows.n && usable_; ++i) {
            double norm2 = 0;
            for (size_t j = 0; j < p_; ++j) {
                const double value = (rows[i][j] - middle_[j]) * scale_;
                norm2 += value * value;
                packed_[(i / ABREAST * p_ + j) * ABREAST + i % ABREAST] = static_cast<float>(value);
            }
            start_[i] = static_cast<float>((0.5 - error_) * norm2);
            slack_[i] = static_cast<float>(2.01 * error_ * norm2 + underflow_);
        }
    }

    bool usable() const { return usable_; }

private:
    friend class Candidates;
    size_t p_, groups_;
    double scale_ = 1, error_ = 0, underflow_ = 0;
    bool usable_ = false;
    Scratch<double> middle_;
    Scratch<float> packed_, start_, slack_;
};

// The rows that may be among the k nearest of some queries, or within a radius where k is zero.
class Candidates {
public:
    Candidates(const Screened& of, size_t k, double radius)
        : of_(of),
          k_(k),
          radius2_(radius * of.scale_ * of.scale_),  // the radius is a squared one
          room_(std::min(k ? 4 * k + 96 : MOST, of.groups_ * ABREAST + ABREAST * SPAN) + ABREAST),
          turned_(SPANS * of.p_ * SPAN),
          reach_(TOGETHER),
          slack_(TOGETHER),
          value_(TOGETHER * room_),
          upper_(room_),
          row_(TOGETHER * room_),
          count_(TOGETHER),
          full_(TOGETHER) {}

    size_t size(size_t q) const { return count_[q]; }
    size_t row(size_t q, size_t i) const { return static_cast<size_t>(row_[q * room_ + i]); }
    bool overflowed(size_t q) const { return full_[q] != 0; }

    // Of `count` <= TOGETHER queries from queries[first] on.
    void find(Rows<const double> queries, size_t first, size_t count) {
        turn(queries, first, count);
        const size_t spans = ceil_div(count, SPAN), step = std::max<size_t>(CHUNK / (of_.p_ * ABREAST), 1);
        for (size_t begin = 0; begin < of_.groups_ && !stopped(); begin += step)
            for (size_t s = 0; s < spans; ++s) screen(s, begin, std::min(of_.groups_, begin + step));
        if (!k_) return;
        for (size_t q = 0; q < count; ++q)
            if (!full_[q] && count_[q] > k_) compact(q);
    }

private:
    static constexpr size_t MOST = size_t{1} << 14;  // candidates of a radius; with more all rows are looked at

    void turn(Rows<const double> queries, size_t first, size_t count) {
        for (size_t q = 0; q < TOGETHER; ++q) {
            count_[q] = full_[q] = 0;
            reach_[q] = -FAR;  // beyond the last query nothing is wanted
            float* to = turned_.data() + q / SPAN * of_.p_ * SPAN + q % SPAN;
            if (q >= count) {
                for (size_t j = 0; j < of_.p_; ++j) to[j * SPAN] = 0;
                continue;
            }
            double norm2 = 0;
            for (size_t j = 0; j < of_.p_; ++j) {
                const double value = (queries[first + q][j] - of_.middle_[j]) * of_.scale_;
                norm2 += value * value;
                to[j * SPAN] = static_cast<float>(value);
            }
            if (!(norm2 < 1e30)) {  // too far away for float32
                full_[q] = 1;
                for (size_t j = 0; j < of_.p_; ++j) to[j * SPAN] = 0;
                continue;
            }
            const double slack = (1.01 + 2 * of_.error_) * of_.error_ * norm2 + of_.underflow_;
            slack_[q] = static_cast<float>(slack);
            const double reach = 0.5 * (radius2_ - norm2) + slack + 2 * of_.error_ * radius2_;
            reach_[q] = k_ ? FAR : static_cast<float>(reach + 1e-6 * std::fabs(reach));
        }
    }

    void screen(size_t s, size_t begin, size_t end) {
        using S = Simd<float, FLOATS>;
        const float* turned = turned_.data() + s * of_.p_ * SPAN;
        F reach[2] = {S::load(reach_.data() + s * SPAN), S::load(reach_.data() + s * SPAN + FLOATS)};
        for (size_t g = begin; g < end; ++g) {
            F a[ABREAST][2];
            for (size_t c = 0; c < ABREAST; ++c) a[c][0] = a[c][1] = splat_float(of_.start_[g * ABREAST + c]);
            const float* row = of_.packed_.data() + g * of_.p_ * ABREAST;
            for (size_t j = 0; j < of_.p_; ++j, row += ABREAST) {
                const F x[2] = {S::load(turned + j * SPAN), S::load(turned + j * SPAN + FLOATS)};
                for (size_t c = 0; c < ABREAST; ++c)
                    for (size_t v = 0; v < 2; ++v) a[c][v] -= splat_float(row[c]) * x[v];
            }
            F least[2] = {a[0][0], a[0][1]};
            for (size_t c = 1; c < ABREAST; ++c)
                for (size_t v = 0; v < 2; ++v) least[v] = a[c][v] < least[v] ? a[c][v] : least[v];
            for (size_t v = 0; v < 2; ++v) {
                if (!at_most(least[v], reach[v])) continue;
                for (size_t c = 0; c < ABREAST; ++c)
                    for (std::uint32_t lanes = at_most(a[c][v], reach[v]); lanes; lanes &= lanes - 1) {
                        const auto lane = static_cast<size_t>(__builtin_ctz(lanes));
                        take(s * SPAN + v * FLOATS + lane, a[c][v][lane], g * ABREAST + c);
                    }
                reach[v] = S::load(reach_.data() + s * SPAN + v * FLOATS);
            }
        }
    }

    // A row that may be near; where there is no room the list becomes shorter first.
    TENFOLD_INLINE void take(size_t q, float value, size_t row) {
        if (!(value <= reach_[q])) return;
        if (count_[q] == room_) {
            if (k_) compact(q);
            if (count_[q] > room_ - room_ / 4) {
                full_[q] = 1;
                reach_[q] = -FAR;
                return;
            }
            if (!(value <= reach_[q])) return;
        }
        value_[q * room_ + count_[q]] = value;
        row_[q * room_ + count_[q]++] = static_cast<std::int32_t>(row);
    }

    // Only what is still near enough stays, by the k-th smallest upper bound.
    void compact(size_t q) {
        float* value = value_.data() + q * room_;
        std::int32_t* row = row_.data() + q * room_;
        const size_t n = count_[q];
        if (n < k_) return;
        for (size_t i = 0; i < n; ++i) upper_[i] = value[i] + of_.slack_[static_cast<size_t>(row[i])];
        const float bound = smallest(upper_.data(), n, k_ - 1) + slack_[q];
        reach_[q] = bound + 4e-7f * std::fabs(bound);  // sums in float32 are rounded
        size_t kept = 0;
        for (size_t i = 0; i < n; ++i)
            if (value[i] <= reach_[q]) {
                value[kept] = value[i];
                row[kept++] = row[i];
            }
        count_[q] = kept;
    }

    // The value that would be at place k if they were sorted; they are moved.
    static float smallest(float* x, size_t n, size_t k) {
        size_t low = 0, high = n - 1;
        while (low < high) {
            const float middle = x[low + (high - low) / 2];
            size_t i = low, j = high;
            for (;;) {
                while (x[i] < middle) ++i;
                while (middle < x[j]) --j;
                if (i >= j) break;
                std::swap(x[i++], x[j--]);
            }
            // x[low .. j] <= middle <= x[j + 1 .. high]
            if (k <= j) high = j;
            else low = j + 1;
        }
        return x[k];
    }

    const Screened& of_;
    size_t k_;
    double radius2_;
    size_t room_;
    Scratch<float> turned_, reach_, slack_, value_, upper_;
    Scratch<std::int32_t> row_;
    Scratch<size_t> count_, full_;
};

}  // namespace tenfold::TENFOLD_LEVEL
