// What embeddings sum over pairs of places: the steps of metric scaling, and the forces of stochastic neighbour embedding.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

// Coordinates by axis: those of axis a begin at `at + a * stride`; from n on up to the stride they are zero, and so are the weights.
template <class T>
struct Places {
    const T *at, *weight;
    size_t n, axes, stride;

    TENFOLD_INLINE const T* axis(size_t a) const { return at + a * stride; }
};

constexpr size_t LANES = 16;  // by which strides and lists of edges are padded

// A Student's t of v = `freedom` degrees: with t = 1 / (1 + d^2 / v) two places have similarity q = t^((v + 1) / 2).
struct Similarity {
    double per_freedom;  // 1 / v
    size_t halves;       // v + 1

    explicit Similarity(size_t freedom) : per_freedom(1.0 / static_cast<double>(freedom)), halves(freedom + 1) {}
};

// Of each row its edges, padded with edges of strength 0 to itself.
template <class T>
struct Edges {
    const size_t* start;
    const std::int32_t* to;
    const T* strength;
};

struct EmbedKernels {
    // Of rows begin .. end - 1 with targets D (n, n): next (rows, axes) = sum_j w_j D_ij / d_ij (x_i - x_j), stress = sum_j w_j
    // (D_ij - d_ij)^2 and size = sum_j w_j d_ij^2; all from `begin` on.
    void (*guttman)(const double* D, const Places<double>&, size_t begin, size_t end, double* next, double* stress, double* size);
    // Of places begin .. end - 1: force (rows, axes) = sum_j w_j q t (x_i - x_j) over bodies j, and mass = sum_j w_j q.
    void (*push_double)(const Places<double>&, size_t begin, size_t end, const Places<double>& bodies, const Similarity&,
                        double* force, double* mass);
    void (*push_float)(const Places<float>&, size_t begin, size_t end, const Places<float>& bodies, const Similarity&,
                       double* force, double* mass);
    // The same of edges: force = sum_j strength_ij t (x_i - x_j).
    void (*pull_double)(const Places<double>&, size_t begin, size_t end, const Edges<double>&, const Similarity&, double* force);
    void (*pull_float)(const Places<float>&, size_t begin, size_t end, const Edges<float>&, const Similarity&, double* force);
};

extern const EmbedKernels embed_baseline;
#if TENFOLD_X86_LEVELS
extern const EmbedKernels embed_avx2, embed_avx512;
#endif

}  // namespace tenfold
