// Steps of non-negative factorisation X ~ W H over some of the rows: what is there for each instruction set.
#pragma once

#include "kernels/linear/sparse_rows.hpp"

namespace tenfold {

// Columns and components are padded with zeros to whole vectors of every instruction set.
constexpr size_t NMF_COLUMNS = 24, NMF_COMPONENTS = 8;

// What rows are multiplied with, and how rows of W (n, k) change. H is (wide, long), for sparse rows (long, wide): wide is k padded,
// long is p padded; of sparse rows, p.
struct NmfStep {
    const double* H;
    size_t k, p, wide, length;
    double l1, l2;        // penalties of W
    double floor;         // of W H, where it is divided by
    const double* below;  // (k): the sums of H and l1
};

// Coordinate descent with the curvature C = H H^T + l2 I; coordinates come in this order, `sweeps` times.
struct NmfDescent {
    const double* C;  // (k, k)
    Labels order;
    size_t sweeps;
};

// Functions of rows from .. to - 1.
struct Nmf {
    // W after a multiplicative step for the Kullback-Leibler divergence, in place; with sums (of the shape of H): they grow by
    // W^T diag(w) (X / W H) of the new W.
    void (*kl_double)(Rows<const double> X, Weights w, const NmfStep&, size_t from, size_t to, double* W, double* sums);
    void (*kl_float)(Rows<const float> X, Weights w, const NmfStep&, size_t from, size_t to, double* W, double* sums);
    void (*kl_sparse)(const SparseRows& X, Weights w, const NmfStep&, size_t from, size_t to, double* W, double* sums);
    // sum w x log(x / W H)
    double (*log_double)(Rows<const double> X, Weights w, const NmfStep&, size_t from, size_t to, const double* W);
    double (*log_float)(Rows<const float> X, Weights w, const NmfStep&, size_t from, size_t to, const double* W);
    double (*log_sparse)(const SparseRows& X, Weights w, const NmfStep&, size_t from, size_t to, const double* W);
    // W after sweeps of coordinate descent, in place; the sums grow by W^T diag(w) X of the new W. Returns the sum of
    // w |projected gradient| in the first sweep.
    double (*descent_double)(Rows<const double> X, Weights w, const NmfStep&, const NmfDescent&, size_t from, size_t to, double* W, double* sums);
    double (*descent_float)(Rows<const float> X, Weights w, const NmfStep&, const NmfDescent&, size_t from, size_t to, double* W, double* sums);
    double (*descent_sparse)(const SparseRows& X, Weights w, const NmfStep&, const NmfDescent&, size_t from, size_t to, double* W, double* sums);
    // Columns from .. to - 1 of H (k, p) after sweeps with B (k, p), in place: min over H >= 0 of tr(H^T C H) / 2 - tr(B^T H). Returns
    // as above, without weights.
    double (*columns)(const NmfDescent&, size_t k, size_t p, size_t from, size_t to, const double* B, double* H);
};

extern const Nmf nmf_baseline;
#if TENFOLD_X86_LEVELS
extern const Nmf nmf_avx2, nmf_avx512;
#endif

}  // namespace tenfold
