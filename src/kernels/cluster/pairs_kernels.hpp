// Distances of all pairs of rows, and what medoids make of them, compiled once per instruction set.
#pragma once

#include "kernels/near/found.hpp"

namespace tenfold {

// Of each row, how far its nearest and its second medoid are, which the nearest is, and the weight.
template <class T>
struct Nearby {
    const T *near, *second;
    const std::int32_t* label;
    const double* w;
    size_t n, k;
};

struct PairsKernels {
    // sums[q][r]: parts of the differences of two rows added up, by a measure of the searches.
    void (*sums)(Rows<const double> queries, Rows<const double> rows, Apart apart, double power, double* sums);
    // loss[4 i] + .. + loss[4 i + 3]: what the loss changes by, beside what is returned and what it costs to give up medoid i, if a
    // row becomes medoid in its place; `away` are the distances of that row. `hit` is room for n + 16 numbers.
    double (*change)(const float* away, const Nearby<float>& nearby, double* loss, std::int32_t* hit);
    double (*change64)(const double* away, const Nearby<double>& nearby, double* loss, std::int32_t* hit);
};

extern const PairsKernels pairs_baseline;
#if TENFOLD_X86_LEVELS
extern const PairsKernels pairs_avx2, pairs_avx512;
#endif

}  // namespace tenfold
