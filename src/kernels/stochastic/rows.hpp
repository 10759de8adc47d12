// A row as steps see it: dense, or the values that are not zero.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

template <class T>
struct DenseRow {
    const T* x;
    size_t p;

    // Eight sums side by side, so that additions need not wait for one another.
    TENFOLD_INLINE double dot(const double* v) const {
        double sums[8] = {};
        size_t j = 0;
        for (; j + 8 <= p; j += 8)
            for (size_t l = 0; l < 8; ++l) sums[l] += static_cast<double>(x[j + l]) * v[j + l];
        for (; j < p; ++j) sums[j % 8] += static_cast<double>(x[j]) * v[j];
        return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
    }
    TENFOLD_INLINE double squares() const {
        double sum = 0;
        for (size_t j = 0; j < p; ++j) sum += static_cast<double>(x[j]) * static_cast<double>(x[j]);
        return sum;
    }
    // v += a x
    TENFOLD_INLINE void add_to(double* v, double a) const {
        for (size_t j = 0; j < p; ++j) v[j] += a * static_cast<double>(x[j]);
    }
    template <class Visit>
    TENFOLD_INLINE void each(Visit&& visit) const {
        for (size_t j = 0; j < p; ++j) visit(j);
    }
};

template <class T>
struct DenseRows {
    Rows<const T> X;

    size_t size() const { return X.n; }
    TENFOLD_INLINE DenseRow<T> operator[](size_t i) const { return {X[i], X.p}; }
};

template <class T, class Index>
struct SparseRow {
    const T* x;
    const Index* column;
    size_t count;

    TENFOLD_INLINE double dot(const double* v) const {
        double sums[4] = {};
        size_t k = 0;
        for (; k + 4 <= count; k += 4)
            for (size_t l = 0; l < 4; ++l) sums[l] += static_cast<double>(x[k + l]) * v[column[k + l]];
        for (; k < count; ++k) sums[k % 4] += static_cast<double>(x[k]) * v[column[k]];
        return (sums[0] + sums[2]) + (sums[1] + sums[3]);
    }
    TENFOLD_INLINE double squares() const { return DenseRow<T>{x, count}.squares(); }
    TENFOLD_INLINE void add_to(double* v, double a) const {
        for (size_t k = 0; k < count; ++k) v[column[k]] += a * static_cast<double>(x[k]);
    }
    template <class Visit>
    TENFOLD_INLINE void each(Visit&& visit) const {
        for (size_t k = 0; k < count; ++k) visit(static_cast<size_t>(column[k]));
    }
};

template <class T, class Index>
struct SparseRows {
    const T* data;
    const Index* column;
    std::span<const Index> first;

    size_t size() const { return first.size() - 1; }
    TENFOLD_INLINE SparseRow<T, Index> operator[](size_t i) const {
        const auto begin = static_cast<size_t>(first[i]);
        return {data + begin, column + begin, static_cast<size_t>(first[i + 1]) - begin};
    }
};

}  // namespace tenfold
