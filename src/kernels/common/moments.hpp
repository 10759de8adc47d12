// Weighted means and centred cross-products.
#pragma once

#include "kernels/common/tile.hpp"

namespace tenfold::TENFOLD_LEVEL {

TENFOLD_INLINE double root_of(double w) { return w == 1.0 ? 1.0 : std::sqrt(w); }

// center += the weighted mean of the rows row(0) .. row(count - 1), to working precision; exact where they are
// all equal. center is padded, and zero at first.
template <class T, class Row>
TENFOLD_INLINE void find_center(size_t count, size_t p, Row row, const double* w, double* center) {
    const T* first = row(0);
    double weight = 0;
    for (size_t i = 0; i < count; ++i) {
        const T* x = row(i);
        weight += w[i];
        for_vectors(p, [&](size_t j, auto at) __attribute__((always_inline)) {
            store(center + j, load(center + j) + w[i] * (at(x) - at(first)));
        });
    }
    for (size_t j = 0; j < p; ++j) center[j] = first[j] + center[j] / weight;
}

// Packs the rows row(0) .. row(count - 1) of weights w(.), centred, four at a time.
template <class T, class Row, class Weight>
TENFOLD_INLINE void pack_rows(const Tile& tile, size_t count, size_t p, const double* center, double* shift,
                              Row row, Weight w) {
    size_t r = 0;
    for (; r + 4 <= count; r += 4) {
        const T* x[] = {row(r), row(r + 1), row(r + 2), row(r + 3)};
        const double root[] = {root_of(w(r)), root_of(w(r + 1)), root_of(w(r + 2)), root_of(w(r + 3))};
        tile.pack_centred<4>(r, x, p, center, root, shift);
    }
    for (; r < count; ++r) {
        const T* x[] = {row(r)};
        const double root[] = {root_of(w(r))};
        tile.pack_centred<1>(r, x, p, center, root, shift);
    }
}

// How many of the first rows give a centre for all: a few, if they carry their share of the weight. Then
// sum w (z - center)^2 is at most 1 + 64 times sum w (z - mean)^2, and 2 digits are lost at the very worst.
inline size_t rows_for_center(Weights w, double weight, size_t few) {
    double carried = 0;
    for (size_t i = 0; i < std::min(few, w.size()); ++i) carried += w[i];
    return 64 * carried >= weight ? std::min(few, w.size()) : w.size();
}

// moments: of the rows z = [x y] of one block, one pass over it
//   weight = sum w;  center ~ mean;  offset = sum w (z - center) / weight;  scatter = sum w (z - mean)(z -
//   mean)^T
// center + offset is the mean to full accuracy. All outputs are zero when the weight is.
template <class T, class Row>
TENFOLD_INLINE void moments_of(size_t p, Row row, Rows<const double> Y, Weights w, double& weight,
                               double* center, double* offset, double* scatter) {
    const size_t n = w.size(), q = Y.p;
    Scratch<double> mean_x(padded(p)), mean_y(padded(q)), shift(padded(p + q) + PANEL), shift_y(q);
    weight = 0;
    for (double mass : w) weight += mass;
    if (!(weight > 0)) {
        std::fill_n(scatter, (p + q) * (p + q), 0.0);
        return;
    }
    Gram gram(p + q, n);
    const size_t depth = gram.depth(), few = rows_for_center(w, weight, depth);
    find_center<T>(few, p, row, w.data(), mean_x.data());
    find_center<double>(few, q, [&](size_t r) { return Y[r]; }, w.data(), mean_y.data());
    std::copy_n(mean_x.data(), p, center);
    std::copy_n(mean_y.data(), q, center + p);

    Ahead ahead = Ahead::of<T>(depth, p);
    for (size_t start = 0; start < n && !stopped(); start += depth) {
        const size_t rows = std::min(depth, n - start);
        pack_rows<T>(
            gram.tile, rows, p, mean_x.data(), shift.data(), [&](size_t r) { return row(start + r); },
            [&](size_t r) { return w[start + r]; });
        // After the columns of X, whose last vector reaches into those of Y.
        for (size_t r = 0; r < rows && q > 0; ++r) {
            const double root = root_of(w[start + r]);
            for (size_t j = 0; j < q; ++j) {
                const double z = (Y[start + r][j] - mean_y[j]) * root;
                gram.tile.at(r, p + j) = z;
                shift_y[j] += root * z;
            }
        }
        ahead.clear();
        for (size_t r = start + rows; r < std::min(n, start + rows + depth); ++r) ahead.add(row(r), p);
        gram.add(rows, ahead);
    }
    std::copy_n(shift_y.data(), q, shift.data() + p);
    for (size_t j = 0; j < p + q; ++j) offset[j] = shift[j] = shift[j] / weight;
    gram.unpack(weight, shift.data(), scatter);
}

template <class T>
void moments(Rows<const T> X, Rows<const double> Y, Weights w, double& weight, double* center, double* offset,
             double* scatter) {
    moments_of<T>(
        X.p, [&](size_t r) { return X[r]; }, Y, w, weight, center, offset, scatter);
}

// moments_at: `moments` of the rows of X with these numbers, where they lie; y and w hold those rows only.
template <class T>
void moments_at(Rows<const T> X, Labels rows, Rows<const double> Y, Weights w, double& weight, double* center,
                double* offset, double* scatter) {
    moments_of<T>(
        X.p, [&](size_t r) { return X[static_cast<size_t>(rows[r])]; }, Y, w, weight, center, offset, scatter);
}

// merge_scatter: out = A + B + d d^T, all p x p; out may be A.
inline void merge_scatter(Rows<const double> A, const double* B, const double* d, double* out) {
    const size_t p = A.p;
    for (size_t i = 0; i < p; ++i)
        for_vectors(p, [&](size_t j, auto at) __attribute__((always_inline)) {
            const V sum = at(A[i]) + at(B + i * p) + d[i] * at(d);
            if (j + L <= p) store(out + i * p + j, sum);
            else
                for (size_t l = 0; j + l < p; ++l) out[i * p + j + l] = sum[l];
        });
}

// weighted_gram: sum d z z^T over the rows z = [x 1]; d is not negative.
template <class T>
void weighted_gram(Rows<const T> X, Weights d, double* gram) {
    Gram sum(X.p + 1, X.n);
    Scratch<double> zero(padded(X.p + 1) + PANEL);
    for (size_t start = 0; start < X.n && !stopped(); start += sum.depth()) {
        const size_t rows = std::min(sum.depth(), X.n - start);
        for (size_t r = 0; r < rows; ++r) {
            const double root = root_of(d[start + r]);
            sum.tile.pack(r, X[start + r], X.p, root);
            sum.tile.at(r, X.p) = root;
        }
        sum.add(rows);
    }
    sum.unpack(0.0, zero.data(), gram);
}

}  // namespace tenfold::TENFOLD_LEVEL
