// The kernels of one instruction set, as function pointers; bind_kernels.cpp calls them through the best table for
// this machine.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

template <class T>
struct KernelsOf {
    bool (*all_finite)(std::span<const T>);
    void (*hash_rows)(Rows<const T>, std::uint64_t seed, std::uint64_t* hash);
    void (*moments)(Rows<const T>, Rows<const double> Y, Weights, double& weight, double* center,
                    double* offset, double* scatter);
    void (*moments_at)(Rows<const T>, Labels rows, Rows<const double> Y, Weights, double& weight,
                       double* center, double* offset, double* scatter);
    void (*take_rows)(Rows<const T>, Labels rows, T* out);
    void (*group_moments)(Rows<const T>, Labels, Weights, size_t k, double* weight, double* center,
                          double* offset, double* scatter);
    void (*group_spreads)(Rows<const T>, Labels, Weights, size_t k, double* weight, double* center,
                          double* offset, double* spread);
    void (*weighted_gram)(Rows<const T>, Weights d, double* gram);
    void (*logistic_terms)(Rows<const T>, Labels, Weights, const double* beta, double& loss, double* grad);
    void (*logistic_curvature)(Rows<const T>, Weights, const double* beta, double* hess);
    void (*softmax_terms)(Rows<const T>, Labels, Weights, Rows<const double> B, double& loss, double* grad);
    void (*nearest)(Rows<const T>, Rows<const double> C, std::int64_t* label, double* distance2);
    void (*assign_sums)(Rows<const T>, Weights, Rows<const double> C, double* weight, double* sum,
                        double& inertia);
    size_t (*lloyd)(Rows<const T>, Weights, Rows<double> C, double tol, size_t most, double& inertia,
                    double& shift);
    void (*linear_scores)(Rows<const T>, Rows<const double> B, const double* b, double* out);
    void (*spread_scores)(Rows<const T>, Rows<const double> mean, const double* inverse,
                          const double* constant, double* out);
    void (*rank_pairs)(std::span<const T> s, Labels, Weights, double* out);
    void (*quadratic_scores)(Rows<const T>, Rows<const double> mean, const double* W, const double* constant,
                             double* out);
};

struct Kernels {
    KernelsOf<float> of_float;
    KernelsOf<double> of_double;
    void (*merge_scatter)(Rows<const double> A, const double* B, const double* d, double* out);
    void (*extended_gradient)(Rows<const double>, Rows<const double> Y, Weights, const double* Bhi,
                              const double* Blo, double* hi, double* lo, double* rss);
    void (*extended_gram)(Rows<const double>, Rows<const double> Y, Weights, const double* R, double* hi,
                          double* lo);

    template <class T>
    const KernelsOf<T>& of() const {
        if constexpr (sizeof(T) == sizeof(float)) return of_float;
        else return of_double;
    }
};

extern const Kernels kernels_baseline;
#if TENFOLD_X86_LEVELS
extern const Kernels kernels_avx2, kernels_avx512;
#endif

}  // namespace tenfold
