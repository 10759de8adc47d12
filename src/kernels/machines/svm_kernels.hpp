// Kernels of rows with rows, their sums, and the steps of a support vector machine on a working set.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

constexpr size_t PACKED = 32;  // rows side by side

enum class Form : int { linear, polynomial, gaussian, sigmoid };  // of t = z.z': t, (t + c)^d, exp(t - |z|^2/2 - |z'|^2/2), tanh(t + c)

struct KernelForm {
    Form form;
    double constant;
    std::int64_t degree;
};

// `count` groups of PACKED rows: value k of row i of group g is data[(g p + k) PACKED + i]; half the squared norm of each row, for `gaussian`.
template <class T>
struct PackedRows {
    const T *data, *halves;
    size_t count, p;
};

// `groups` of `SvmKernels::columns` rows: value k of row j of group g is values[(g p + k) columns + j]; those beyond the last are zero.
template <class T>
struct PackedColumns {
    const T *values, *halves;
    size_t n, groups;
};

// A problem on a working set of q variables: min 1/2 b'K b + c'b with sums fixed within each group and low <= b <= high.
template <class T>
struct WorkingSet {
    const T* K;                       // (q, wide): the first q columns are symmetric
    size_t wide;
    const double *low, *high;         // q
    const std::int64_t* group;        // q: 0 .. groups - 1
    size_t q, groups;
    double tol;                       // ends where m - M is at most that
    std::int64_t most;                // steps
};

// Groups begin .. end - 1 of the rows.
struct Range {
    size_t begin, end;
};

template <class T>
struct SvmKernels {
    size_t columns;  // of a group
    // sums (r, count PACKED) += sum over j of weights (r, groups columns) k(row, column j)
    void (*sums)(const PackedRows<T>& rows, const PackedColumns<T>& columns, const T* weights, size_t r, const KernelForm& form, Range range,
                 double* sums);
    // out (n, count PACKED) = k(column j, row i); with `half` those of j <= i are enough
    void (*block)(const PackedRows<T>& rows, const PackedColumns<T>& columns, const KernelForm& form, Range range, bool half, T* out);
    // b and the gradient g (q) at the end, from those given; the number of steps
    std::int64_t (*solve)(const WorkingSet<T>& on, double* b, double* g);
};

struct Svm {
    SvmKernels<double> doubles;
    SvmKernels<float> floats;
};

extern const Svm svm_baseline;
#if TENFOLD_X86_LEVELS
extern const Svm svm_avx2, svm_avx512;
#endif

}  // namespace tenfold
