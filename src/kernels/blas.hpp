// The BLAS that SciPy already carries: its function pointers, and row-major wrappers of the few calls used here.
#pragma once

#include "view.hpp"

namespace tenfold {

struct Blas {
    using Gemm = void (*)(char*, char*, int*, int*, int*, double*, double*, int*, double*, int*, double*, double*, int*);
    using Syrk = void (*)(char*, char*, int*, int*, double*, double*, int*, double*, double*, int*);
    Gemm dgemm = nullptr;
    Syrk dsyrk = nullptr;
};

// Filled once, when the module is imported, before any kernel can be called.
inline Blas blas;

// C[p, p] += Z[n, p]^T Z in the upper triangle (row-major) of C.
inline void add_gram(const double* Z, size_t n, size_t p, double* C) {
    if (n == 0 || p == 0) return;
    char uplo = 'L', trans = 'N';
    double one = 1.0;
    int order = static_cast<int>(p), depth = static_cast<int>(n);
    blas.dsyrk(&uplo, &trans, &order, &depth, &one, const_cast<double*>(Z), &order, &one, C, &order);
}

// C[m, n] = alpha op(A) op(B) + beta C, all row-major, op(A) of shape (m, depth).
struct Operand {
    const double* data;
    size_t stride;
    bool transposed;
};

inline void multiply(Operand A, Operand B, size_t m, size_t n, size_t depth, double beta, double* C, size_t stride) {
    if (m == 0 || n == 0) return;
    char left = B.transposed ? 'T' : 'N', right = A.transposed ? 'T' : 'N';
    double one = 1.0;
    int rows = static_cast<int>(n), columns = static_cast<int>(m), inner = static_cast<int>(depth);
    int ldb = static_cast<int>(std::max<size_t>(B.stride, 1)), lda = static_cast<int>(std::max<size_t>(A.stride, 1));
    int ldc = static_cast<int>(stride);
    blas.dgemm(&left, &right, &rows, &columns, &inner, &one, const_cast<double*>(B.data), &ldb,
               const_cast<double*>(A.data), &lda, &beta, C, &ldc);
}

// Copies the upper triangle of a square matrix onto its lower one.
inline void mirror(double* C, size_t p) {
    for (size_t i = 0; i < p; ++i)
        for (size_t j = 0; j < i; ++j) C[i * p + j] = C[j * p + i];
}

}  // namespace tenfold
