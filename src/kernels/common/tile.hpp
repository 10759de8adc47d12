// Tiles of rows, packed so that products of matrices run from registers and the nearest cache.
// Measured here on one core (AVX-512) at 101 columns: sums of outer products 70 Gflop/s, dsyrk of
// OpenBLAS 25.
#pragma once

#include "kernels/common/simd.hpp"

namespace tenfold::TENFOLD_LEVEL {

// A panel is PANEL columns of all rows of a tile, contiguous. A register tile is PANEL x (REACH panels).
#if defined(__AVX512F__)
constexpr size_t PANEL = 8, REACH = 3;
#elif defined(__AVX2__) || defined(__aarch64__)
constexpr size_t PANEL = 4, REACH = 3;
#else
constexpr size_t PANEL = 4, REACH = 1;
#endif
constexpr size_t PARTS = PANEL / L;  // vectors in one row of a panel
constexpr size_t BLOCK = PANEL * PANEL;

class Tile {
public:
    static constexpr size_t DEPTH = 96;  // four panels of so many rows fit the first-level cache

    // Room for `depth` rows (rounded up to PANEL) of `width` columns; columns and rows beyond stay zero.
    Tile(size_t width, size_t depth)
        : panels(ceil_div(width, PANEL)),
          depth(ceil_div(depth, PANEL) * PANEL),
          data_(panels * this->depth * PANEL) {}

    // Row r of panel c.
    TENFOLD_INLINE double* slot(size_t r, size_t c) const { return data_.data() + (c * depth + r) * PANEL; }
    TENFOLD_INLINE double& at(size_t r, size_t j) const { return slot(r, j / PANEL)[j % PANEL]; }

    // Rows r .. r + R - 1, columns 0 .. p - 1 = (x - center) * root;  shift += root * that. shift is padded.
    template <size_t R, class T>
    TENFOLD_INLINE void pack_centred(size_t r, const T* const* x, size_t p, const double* center,
                                     const double* root, double* shift) const {
        for_vectors(p, [&](size_t j, auto at_column) __attribute__((always_inline)) {
            V c = at_column(center), sum = load(shift + j);
            for (size_t i = 0; i < R; ++i) {
                V z = (at_column(x[i]) - c) * root[i];
                store(&at(r + i, j), z);
                sum += z * root[i];
            }
            store(shift + j, sum);
        });
    }

    // Row r, columns 0 .. p - 1 = x * root.
    template <class T>
    TENFOLD_INLINE void pack(size_t r, const T* x, size_t p, double root) const {
        for_vectors(p, [&](size_t j, auto at_column)
                           __attribute__((always_inline)) { store(&at(r, j), at_column(x) * root); });
    }

    const size_t panels, depth;

private:
    Scratch<double> data_;
};

// Rows that will be read next, brought nearer line by line while the present ones are multiplied: waiting for
// memory costs a third of the sums of 100 columns otherwise.
class Ahead {
public:
    static constexpr size_t LINE = 64;
    static constexpr size_t PACE = 2;  // rows of products to a line: as fast as one core can fetch

    // Room for `rows` rows of p values of type T.
    template <class T>
    static Ahead of(size_t rows, size_t p) {
        return Ahead(rows * ceil_div(p * sizeof(T), LINE));
    }
    void clear() { count_ = next_ = 0; }
    template <class T>
    TENFOLD_INLINE void add(const T* row, size_t p) {
        for (size_t at = 0; at < p; at += LINE / sizeof(T)) lines_[count_++] = row + at;
    }
    TENFOLD_INLINE void step() {
        if (next_ < count_) __builtin_prefetch(lines_[next_++], 0, 2);
    }

private:
    explicit Ahead(size_t lines) : lines_(lines) {}

    size_t count_ = 0, next_ = 0;
    Scratch<const void*> lines_;
};

struct Nothing {
    TENFOLD_INLINE void step() const {}
};

// block(b + v) += (first H columns of panel a of left)^T (panel b + v of right) for v = 0 .. N - 1, over the
// first `rows` rows of both.
template <size_t N, size_t H, class Block, class Meanwhile>
TENFOLD_INLINE void add_outer(const Tile& left, size_t a, const Tile& right, size_t b, size_t rows,
                              Block block, Meanwhile& meanwhile) {
    const double* x = left.slot(0, a);
    const double* z = right.slot(0, b);
    const size_t stride = right.depth * PANEL;
    V sum[H][N * PARTS] = {};
    for (size_t r = 0; r < rows; ++r, x += PANEL, z += PANEL) {
        if (r % Ahead::PACE == 0) meanwhile.step();
        V part[N * PARTS];
        for (size_t v = 0; v < N * PARTS; ++v) part[v] = load(z + v / PARTS * stride + v % PARTS * L);
        for (size_t i = 0; i < H; ++i)
            for (size_t v = 0; v < N * PARTS; ++v) sum[i][v] += splat(x[i]) * part[v];
    }
    for (size_t v = 0; v < N * PARTS; ++v) {
        double* to = block(b + v / PARTS) + v % PARTS * L;
        for (size_t i = 0; i < H; ++i, to += PANEL) store(to, load(to) + sum[i][v]);
    }
}

// The same for N known at run time, 1 .. REACH.
template <size_t H = PANEL, class Block, class Meanwhile = Nothing>
TENFOLD_INLINE void add_outer(size_t N, const Tile& left, size_t a, const Tile& right, size_t b, size_t rows,
                              Block block, Meanwhile&& meanwhile = {}) {
    if (N == REACH) return add_outer<REACH, H>(left, a, right, b, rows, block, meanwhile);
    if constexpr (REACH > 1) {
        if (N == 2) add_outer<2, H>(left, a, right, b, rows, block, meanwhile);
        else add_outer<1, H>(left, a, right, b, rows, block, meanwhile);
    }
}

// product[r][v] = rows r0 .. r0 + PANEL - 1 of X (inner columns) times panels b .. b + N - 1 of the matrix
// whose rows are the rows of `right`; handed to sink(b + offset, product of PANEL rows with that panel).
template <size_t N, class Sink>
TENFOLD_INLINE void multiply(const Tile& X, size_t r0, size_t inner, const Tile& right, size_t b,
                             Sink& sink) {
    const size_t stride = right.depth * PANEL;
    const double* z = right.slot(0, b);
    V sum[PANEL][N * PARTS] = {};
    auto step = [&](const double* x, size_t count) __attribute__((always_inline)) {
        for (size_t l = 0; l < count; ++l, z += PANEL) {
            V part[N * PARTS];
            for (size_t v = 0; v < N * PARTS; ++v) part[v] = load(z + v / PARTS * stride + v % PARTS * L);
            for (size_t r = 0; r < PANEL; ++r)
                for (size_t v = 0; v < N * PARTS; ++v) sum[r][v] += splat(x[r * PANEL + l]) * part[v];
        }
    };
    for (size_t c = 0; c < inner / PANEL; ++c) step(X.slot(r0, c), PANEL);
    if (inner % PANEL) step(X.slot(r0, inner / PANEL), inner % PANEL);
    for (size_t n = 0; n < N; ++n) {
        V product[PANEL][PARTS];
        for (size_t r = 0; r < PANEL; ++r)
            for (size_t v = 0; v < PARTS; ++v) product[r][v] = sum[r][n * PARTS + v];
        sink(r0, b + n, product);
    }
}

// sink(r0, b, product) for every PANEL x PANEL block of (first `rows` rows of X) times right.
template <class Sink>
TENFOLD_INLINE void multiply_all(const Tile& X, size_t rows, size_t inner, const Tile& right, Sink&& sink) {
    size_t b = 0;
    for (; b + REACH <= right.panels; b += REACH)
        for (size_t r = 0; r < rows; r += PANEL) multiply<REACH>(X, r, inner, right, b, sink);
    if constexpr (REACH > 1)
        for (size_t r = 0; r < rows; r += PANEL) {
            if (b + 2 == right.panels) multiply<2>(X, r, inner, right, b, sink);
            if (b + 1 == right.panels) multiply<1>(X, r, inner, right, b, sink);
        }
}

// to = from^T, both PANEL x PANEL
TENFOLD_INLINE void transpose_block(const double* from, double* to) {
    if constexpr (PANEL == L) {
        V row[L];
        for (size_t i = 0; i < L; ++i) row[i] = load(from + i * L);
        transpose(row);
        for (size_t i = 0; i < L; ++i) store(to + i * L, row[i]);
    } else {
        for (size_t i = 0; i < PANEL; ++i)
            for (size_t j = 0; j < PANEL; ++j) to[j * PANEL + i] = from[i * PANEL + j];
    }
}

// block(a, b) += (panel a)^T (panel b) for all a <= b, over the first `rows` rows of a tile. A few panels b stay in the
// first-level cache while all panels a <= b stream past them. The odd group comes first, where it meets the fewest a.
template <class Block, class Meanwhile>
TENFOLD_INLINE void add_upper(const Tile& tile, size_t rows, Block block, Meanwhile& meanwhile) {
    for (size_t b = 0, reach = (tile.panels - 1) % REACH + 1; b < tile.panels; b += reach, reach = REACH) {
        for (size_t a = 0; a <= b; ++a)
            add_outer(reach, tile, a, tile, b, rows, [&](size_t column) { return block(a, column); }, meanwhile);
        for (size_t a = b + 1; a < b + reach; ++a)
            add_outer(b + reach - a, tile, a, tile, a, rows, [&](size_t column) { return block(a, column); }, meanwhile);
    }
}

// C = sum of z z^T over rows z of p columns that are packed into `tile` and added. Only blocks a <= b are
// computed.
class Gram {
public:
    Gram(size_t p, size_t n) : tile(p, std::min(n, Tile::DEPTH)), p_(p), blocks_(size()) {}

    size_t depth() const { return tile.depth; }

    template <class Meanwhile = Nothing>
    void add(size_t rows, Meanwhile&& meanwhile = {}) {
        add_upper(tile, rows, [&](size_t a, size_t b) { return block(a, b); }, meanwhile);
    }

    // C[p, p] = the sum - weight offset offset^T, both triangles; offset is padded to whole panels.
    void unpack(double weight, const double* offset, double* C) const {
        for (size_t a = 0; a < p_; a += PANEL)
            for (size_t b = a; b < p_; b += PANEL) {
                const double* sum = block(a / PANEL, b / PANEL);
                const size_t height = std::min(PANEL, p_ - a), width = std::min(PANEL, p_ - b);
                alignas(64) double value[BLOCK], mirrored[BLOCK];
                for (size_t at = 0; at < BLOCK; at += L) {
                    V product = offset[a + at / PANEL] * load(offset + b + at % PANEL);
                    store(value + at, load(sum + at) - weight * product);
                }
                for (size_t i = 0; a == b && i < PANEL; ++i)  // no square is negative
                    value[i * PANEL + i] = std::max(value[i * PANEL + i], 0.0);
                transpose_block(value, mirrored);
                copy_block(value, height, width, C + a * p_ + b);
                copy_block(mirrored, width, height, C + b * p_ + a);
            }
    }

    void clear() { std::memset(blocks_.data(), 0, size() * sizeof(double)); }

    Tile tile;

private:
    TENFOLD_INLINE void copy_block(const double* block, size_t height, size_t width, double* to) const {
        if (height == PANEL && width == PANEL)
            for (size_t at = 0; at < BLOCK; at += L)
                store(to + at / PANEL * p_ + at % PANEL, load(block + at));
        else
            for (size_t i = 0; i < height; ++i)
                for (size_t j = 0; j < width; ++j) to[i * p_ + j] = block[i * PANEL + j];
    }
    double* block(size_t a, size_t b) const { return blocks_.data() + (b * (b + 1) / 2 + a) * BLOCK; }
    size_t size() const { return tile.panels * (tile.panels + 1) / 2 * BLOCK; }

    size_t p_;
    Scratch<double> blocks_;
};

}  // namespace tenfold::TENFOLD_LEVEL
