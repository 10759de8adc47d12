// Rows changed column by column, or each by its length: one look at each value. Compiled without fused multiplication, so that the
// results are those of the same formula in NumPy, to the last bit, at every instruction set.
#pragma once

#include <cmath>

#include "kernels/common/simd.hpp"
#include "kernels/prepare/column_kernels.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr size_t LOOK_EVERY = 1 << 12;  // rows between two looks at the flag

// change(x, z) of every row.
template <class T, class Change>
TENFOLD_INLINE void each_row(Rows<const T> X, T* out, Change change) {
    for (size_t i = 0; i < X.n; ++i) {
        if (i % LOOK_EVERY == 0 && stopped()) return;
        change(X[i], out + i * X.p);
    }
}

inline void standardize(Rows<const double> X, const double* shift, const double* scale, double* out) {
    each_row(X, out, [=](const double* x, double* z) {
        for (size_t j = 0; j < X.p; ++j) z[j] = (x[j] - shift[j]) / scale[j];
    });
}

inline void spread_out(Rows<const double> X, const double* shift, const double* scale, const double* plus, double* out) {
    each_row(X, out, [=](const double* x, double* z) {
        for (size_t j = 0; j < X.p; ++j) z[j] = (x[j] - shift[j]) * scale[j] + plus[j];
    });
}

inline void fill(Rows<const double> X, const double* value, double* out) {
    each_row(X, out, [=](const double* x, double* z) {
        for (size_t j = 0; j < X.p; ++j) z[j] = x[j] == x[j] ? x[j] : value[j];
    });
}

// LANES sums side by side, which are taken at once: their order is part of the result, and the same at every instruction set.
template <Length kind, class T>
TENFOLD_INLINE double length_of(const T* x, size_t p) {
    constexpr size_t LANES = 8;
    double part[LANES] = {};
    const auto take = [&](size_t lane, double value) {
        const double size = value < 0 ? -value : value;
        if constexpr (kind == Length::root) part[lane] += value * value;
        else if constexpr (kind == Length::sum) part[lane] += size;
        else part[lane] = size > part[lane] ? size : part[lane];
    };
    size_t j = 0;
    for (; j + LANES <= p; j += LANES)
        for (size_t lane = 0; lane < LANES; ++lane) take(lane, static_cast<double>(x[j + lane]));
    for (size_t lane = 0; j < p; ++j, ++lane) take(lane, static_cast<double>(x[j]));
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t lane = 0; lane < half; ++lane) {
            const double other = part[lane + half];
            if constexpr (kind == Length::largest) part[lane] = other > part[lane] ? other : part[lane];
            else part[lane] += other;
        }
    return kind == Length::root ? std::sqrt(part[0]) : part[0];
}

template <Length kind, class T>
TENFOLD_INLINE void unit_rows_by(Rows<const T> X, T* out) {
    each_row(X, out, [=](const T* x, T* z) {
        const double length = length_of<kind>(x, X.p);
        const double by = length == 0 ? 1.0 : length;
        for (size_t j = 0; j < X.p; ++j) z[j] = static_cast<T>(static_cast<double>(x[j]) / by);
    });
}

template <class T>
void unit_rows(Rows<const T> X, Length kind, T* out) {
    if (kind == Length::sum) unit_rows_by<Length::sum>(X, out);
    else if (kind == Length::root) unit_rows_by<Length::root>(X, out);
    else unit_rows_by<Length::largest>(X, out);
}

template <class T>
bool within(std::span<const T> values, double largest) {
    constexpr size_t STEP = 4096;  // values between two looks at what was found
    const T* x = values.data();
    for (size_t start = 0, n = values.size(); start < n; start += STEP) {
        const size_t stop = start + STEP < n ? start + STEP : n;
        unsigned char beyond = 0;
        for (size_t i = start; i < stop; ++i) beyond |= static_cast<double>(x[i]) > largest || static_cast<double>(x[i]) < -largest;
        if (beyond) return false;
    }
    return true;
}

}  // namespace tenfold::TENFOLD_LEVEL
