// Weighted means and centred cross-products.
#pragma once

#include "tile.hpp"

namespace tenfold::TENFOLD_LEVEL {

TENFOLD_INLINE double root_of(double w) { return w == 1.0 ? 1.0 : std::sqrt(w); }

// sum += w x over n rows of p columns; sum is padded. Four rows at a time, so that sum is read and written
// less often.
template <class T>
TENFOLD_INLINE void add_rows(Rows<const T> X, const double* w, double* sum) {
    size_t i = 0;
    for (; i + 4 <= X.n; i += 4)
        for_vectors(X.p, [&](size_t j, auto at) __attribute__((always_inline)) {
            V pair = w[i] * at(X[i]) + w[i + 1] * at(X[i + 1]);
            V other = w[i + 2] * at(X[i + 2]) + w[i + 3] * at(X[i + 3]);
            store(sum + j, load(sum + j) + (pair + other));
        });
    for (; i < X.n; ++i)
        for_vectors(X.p, [&](size_t j, auto at) __attribute__((always_inline)) {
            store(sum + j, load(sum + j) + w[i] * at(X[i]));
        });
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

// moments: of the rows z = [x y] of one block, two passes over it
//   weight = sum w;  center ~ mean;  offset = sum w (z - center) / weight;  scatter = sum w (z - mean)(z -
//   mean)^T
// center + offset is the mean to full accuracy. All outputs are zero when the weight is.
template <class T>
void moments(Rows<const T> X, Rows<const double> Y, Weights w, double& weight, double* center, double* offset,
             double* scatter) {
    const size_t p = X.p, q = Y.p;
    Scratch<double> mean_x(padded(p)), mean_y(padded(q)), shift(padded(p + q) + PANEL), shift_y(q);
    weight = 0;
    for (double mass : w) weight += mass;
    if (!(weight > 0)) {
        std::fill_n(scatter, (p + q) * (p + q), 0.0);
        return;
    }
    add_rows(X, w.data(), mean_x.data());
    add_rows(Y, w.data(), mean_y.data());
    for (size_t j = 0; j < p; ++j) center[j] = mean_x[j] = mean_x[j] / weight;
    for (size_t j = 0; j < q; ++j) center[p + j] = mean_y[j] = mean_y[j] / weight;

    Gram gram(p + q, X.n);
    for (size_t start = 0; start < X.n && !stopped(); start += gram.depth()) {
        const size_t rows = std::min(gram.depth(), X.n - start);
        pack_rows<T>(
            gram.tile, rows, p, mean_x.data(), shift.data(), [&](size_t r) { return X[start + r]; },
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
        gram.add(rows);
    }
    std::copy_n(shift_y.data(), q, shift.data() + p);
    for (size_t j = 0; j < p + q; ++j) offset[j] = shift[j] = shift[j] / weight;
    gram.unpack(weight, shift.data(), scatter);
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
