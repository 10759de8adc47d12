// Weighted means and the upper triangle of centred cross-products, in the memory of the result alone.
#pragma once

#include "kernels/common/moments.hpp"
#include "kernels/reduce/packed_kernels.hpp"

namespace tenfold::TENFOLD_LEVEL {

// Sums of z z^T over rows z of p columns, by blocks a <= b, rows of blocks one after the other, in memory that somebody
// else owns: packed_room(p) doubles, zero at first.
class PackedGram {
public:
    PackedGram(size_t p, size_t n, double* data) : tile(p, std::min(n, Tile::DEPTH)), p_(p), data_(data) {}

    template <class Meanwhile>
    void add(size_t rows, Meanwhile&& meanwhile) {
        add_upper(tile, rows, [&](size_t a, size_t b) { return block(a, b); }, meanwhile);
    }

    // In place: row after row the entries i <= j of the sum - weight offset offset^T; offset is padded to whole panels.
    // What is written never reaches what is still to be read, as a row of blocks is no shorter than its PANEL rows.
    void pack(double weight, const double* offset) const {
        Scratch<double> rows(tile.panels * BLOCK);
        double* to = data_;
        for (size_t a = 0; a < tile.panels; ++a) {
            std::copy_n(block(a, a), (tile.panels - a) * BLOCK, rows.data());
            for (size_t i = a * PANEL; i < std::min(p_, (a + 1) * PANEL); ++i)
                for (size_t j = i; j < p_; ++j) {
                    const size_t b = j / PANEL - a;
                    const double value = rows[b * BLOCK + i % PANEL * PANEL + j % PANEL] - weight * (offset[i] * offset[j]);
                    *to++ = i == j ? std::max(value, 0.0) : value;  // no square is negative
                }
        }
    }

    Tile tile;

private:
    double* block(size_t a, size_t b) const { return data_ + (a * tile.panels - a * (a + 1) / 2 + b) * BLOCK; }

    size_t p_;
    double* data_;
};

inline size_t packed_room(size_t p) {
    const size_t panels = ceil_div(p, PANEL);
    return panels * (panels + 1) / 2 * BLOCK;
}

// packed_moments: `moments` of the rows of X, or of those with these numbers, with the upper triangle of the scatter
// row by row. packed is zero at first and has packed_room(p) doubles.
template <class T, class Row>
TENFOLD_INLINE void packed_moments_of(size_t p, Row row, Weights w, double& weight, double* center, double* offset,
                                      double* packed) {
    const size_t n = w.size();
    weight = 0;
    for (double mass : w) weight += mass;
    if (!(weight > 0)) return;
    Scratch<double> mean(padded(p)), shift(padded(p) + PANEL);
    PackedGram gram(p, n, packed);
    const size_t depth = gram.tile.depth;
    find_center<T>(rows_for_center(w, weight, depth), p, row, w.data(), mean.data());
    std::copy_n(mean.data(), p, center);
    Ahead ahead = Ahead::of<T>(depth, p);
    for (size_t start = 0; start < n && !stopped(); start += depth) {
        const size_t rows = std::min(depth, n - start);
        pack_rows<T>(
            gram.tile, rows, p, mean.data(), shift.data(), [&](size_t r) { return row(start + r); },
            [&](size_t r) { return w[start + r]; });
        ahead.clear();
        for (size_t r = start + rows; r < std::min(n, start + rows + depth); ++r) ahead.add(row(r), p);
        gram.add(rows, ahead);
    }
    for (size_t j = 0; j < p; ++j) offset[j] = shift[j] = shift[j] / weight;
    gram.pack(weight, shift.data());
}

template <class T>
void packed_moments(Rows<const T> X, Labels rows, Weights w, double& weight, double* center, double* offset, double* packed) {
    if (rows.empty())
        packed_moments_of<T>(
            X.p, [&](size_t r) { return X[r]; }, w, weight, center, offset, packed);
    else
        packed_moments_of<T>(
            X.p, [&](size_t r) { return X[static_cast<size_t>(rows[r])]; }, w, weight, center, offset, packed);
}

// merge_packed: A += B + d d^T, upper triangles row by row.
inline void merge_packed(double* A, const double* B, std::span<const double> d) {
    const size_t p = d.size();
    for (size_t i = 0; i < p; A += p - i, B += p - i, ++i)
        for_vectors(p - i, [&](size_t j, auto at) __attribute__((always_inline)) {
            const V sum = at(A) + at(B) + d[i] * at(d.data() + i);
            if (j + L <= p - i) store(A + j, sum);
            else
                for (size_t l = 0; j + l < p - i; ++l) A[j + l] = sum[l];
        });
}

}  // namespace tenfold::TENFOLD_LEVEL
