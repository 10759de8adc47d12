// Tiles of rows for non-negative factorisation: products with H and sums of outer products, while the rows are in the nearest caches.
#pragma once

#include "kernels/common/explog.hpp"
#include "kernels/reduce/nmf_kernels.hpp"

namespace tenfold::TENFOLD_LEVEL {

// Rows of a register tile, rows of a tile, components that are padded together, vectors side by side, columns of a block.
#if defined(__AVX512F__)
constexpr size_t NMF_HIGH = 8, NMF_WIDE = 3;
#else
constexpr size_t NMF_HIGH = 4, NMF_WIDE = 2;
#endif
constexpr size_t NMF_ROWS = 16, NMF_FOUR = 4, NMF_BLOCK = 30 * 8;
static_assert(NMF_BLOCK % NMF_COLUMNS == 0 && NMF_COLUMNS % (NMF_WIDE * L) == 0 && NMF_ROWS % NMF_HIGH == 0);

// log of positive normal numbers.
TENFOLD_INLINE V log_of(V x) {
    constexpr std::int64_t HALF = 0x3fe6a09e667f3bcd;  // the bits of sqrt(1/2): what is left is from there to sqrt(2)
    const I exponent = (std::bit_cast<I>(x) - HALF) >> 52;
    const V m = std::bit_cast<V>(std::bit_cast<I>(x) - (exponent << 52)), n = __builtin_convertvector(exponent, V);
    const V g = m - 1.0, s = g / (2.0 + g), z = s * s;
    V series = splat(1.0 / 21);
    for (double odd : {19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0}) series = series * z + 1.0 / odd;
    return n * 0x1.62e42fefa39efp-1 + 2.0 * (s + s * z * series);
}

// What one thread has for a tile of NMF_ROWS rows.
template <class T>
class RowTile {
public:
    RowTile(Rows<const T> X, const NmfStep& step)
        : wide(ceil_div(step.k, NMF_FOUR) * NMF_FOUR), W(NMF_ROWS * wide), X_(X), H_(step.H), k_(step.k), length_(step.length),
          nothing_(X.p), block_(NMF_ROWS * NMF_BLOCK), sums_(NMF_ROWS * wide * L) {}

    // The rows from `start` on, at most NMF_ROWS and before `end`, and those of W.
    void begin(size_t start, size_t end, const double* from) {
        count = std::min(NMF_ROWS, end - start);
        for (size_t r = 0; r < NMF_ROWS; ++r) {
            x_[r] = r < count ? X_[start + r] : nothing_.data();
            for (size_t a = 0; a < k_; ++a) W[r * wide + a] = r < count ? from[(start + r) * k_ + a] : 0.0;
        }
    }

    // f(j, width) for every block of columns; width is whole register tiles.
    template <class F>
    TENFOLD_INLINE void blocks(F&& f) {
        for (size_t j = 0; j < length_; j += NMF_BLOCK) f(j, std::min(NMF_BLOCK, length_ - j));
    }

    // The block becomes each(x, W H, r).
    template <class Each>
    TENFOLD_INLINE void fill_from_product(size_t j, size_t width, Each&& each) {
        for (size_t r = 0; r < count; r += NMF_HIGH)
            for (size_t c = 0; c < width; c += NMF_WIDE * L) {
                V sum[NMF_HIGH][NMF_WIDE] = {};
                const double *h = H_ + j + c, *w = W.data() + r * wide;
                for (size_t a = 0; a < k_; ++a, h += length_) {
                    V part[NMF_WIDE];
                    for (size_t v = 0; v < NMF_WIDE; ++v) part[v] = load(h + v * L);
                    for (size_t i = 0; i < NMF_HIGH; ++i)
                        for (size_t v = 0; v < NMF_WIDE; ++v) sum[i][v] += splat(w[i * wide + a]) * part[v];
                }
                for (size_t i = 0; i < NMF_HIGH; ++i)
                    for (size_t v = 0; v < NMF_WIDE; ++v)
                        store(at(r + i, c + v * L), each(values(r + i, j + c + v * L), sum[i][v], r + i));
            }
    }

    // The block becomes each(x, r).
    template <class Each>
    TENFOLD_INLINE void fill(size_t j, size_t width, Each&& each) {
        for (size_t r = 0; r < ceil_div(count, NMF_HIGH) * NMF_HIGH; ++r)
            for (size_t c = 0; c < width; c += L) store(at(r, c), each(values(r, j + c), r));
    }

    void clear_dots() { std::memset(sums_.data(), 0, NMF_ROWS * wide * L * sizeof(double)); }

    // dots += block H^T
    TENFOLD_INLINE void add_dots(size_t j, size_t width) {
        for (size_t r = 0; r < count; r += NMF_FOUR)
            for (size_t a = 0; a < wide; a += NMF_FOUR) {
                double* to = sums_.data() + (r * wide + a) * L;
                V sum[NMF_FOUR][NMF_FOUR];
                for (size_t i = 0; i < NMF_FOUR; ++i)
                    for (size_t b = 0; b < NMF_FOUR; ++b) sum[i][b] = load(to + (i * wide + b) * L);
                for (size_t c = 0; c < width; c += L) {
                    V h[NMF_FOUR];
                    for (size_t b = 0; b < NMF_FOUR; ++b) h[b] = load(H_ + (a + b) * length_ + j + c);
                    for (size_t i = 0; i < NMF_FOUR; ++i) {
                        const V q = load(at(r + i, c));
                        for (size_t b = 0; b < NMF_FOUR; ++b) sum[i][b] += q * h[b];
                    }
                }
                for (size_t i = 0; i < NMF_FOUR; ++i)
                    for (size_t b = 0; b < NMF_FOUR; ++b) store(to + (i * wide + b) * L, sum[i][b]);
            }
    }
    double dot(size_t r, size_t a) const { return sum_lanes(load(sums_.data() + (r * wide + a) * L)); }

    // G (wide, length) += W^T block
    TENFOLD_INLINE void add_outer_products(size_t j, size_t width, double* G) {
        for (size_t a = 0; a < wide; a += NMF_FOUR)
            for (size_t c = 0; c < width; c += NMF_WIDE * L) {
                double* to = G + a * length_ + j + c;
                V sum[NMF_FOUR][NMF_WIDE];
                for (size_t b = 0; b < NMF_FOUR; ++b)
                    for (size_t v = 0; v < NMF_WIDE; ++v) sum[b][v] = load(to + b * length_ + v * L);
                for (size_t r = 0; r < count; ++r) {
                    const double* w = W.data() + r * wide + a;
                    V q[NMF_WIDE];
                    for (size_t v = 0; v < NMF_WIDE; ++v) q[v] = load(at(r, c + v * L));
                    for (size_t b = 0; b < NMF_FOUR; ++b)
                        for (size_t v = 0; v < NMF_WIDE; ++v) sum[b][v] += splat(w[b]) * q[v];
                }
                for (size_t b = 0; b < NMF_FOUR; ++b)
                    for (size_t v = 0; v < NMF_WIDE; ++v) store(to + b * length_ + v * L, sum[b][v]);
            }
    }

    const size_t wide;  // k, padded
    size_t count = 0;
    Scratch<double> W;  // (NMF_ROWS, wide)

private:
    TENFOLD_INLINE double* at(size_t r, size_t c) const { return block_.data() + r * NMF_BLOCK + c; }
    TENFOLD_INLINE V values(size_t r, size_t j) const {
        if (j + L <= X_.p) return load(x_[r] + j);
        return j < X_.p ? load_part(x_[r] + j, X_.p - j) : V{};
    }

    Rows<const T> X_;
    const double* H_;
    size_t k_, length_;
    const T* x_[NMF_ROWS] = {};
    Scratch<T> nothing_;
    Scratch<double> block_, sums_;
};

}  // namespace tenfold::TENFOLD_LEVEL
