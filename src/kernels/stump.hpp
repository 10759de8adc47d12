// The best cut of a table in two, for classes with weights that change from call to call and columns that were sorted once.
//
// A cut wins  Σₖ Lₖ²/L + Σₖ Rₖ²/R  (Gini), where Lₖ and Rₖ are the weights of class k on its two sides. Weights are whole numbers
// whose sum is below 2^53: sums are exact, so neither the order of rows nor the number of threads matters.
#pragma once

#include <utility>

#include "kernels/presorted.hpp"
#include "kernels/simd.hpp"

namespace tenfold {

// A cut before entry `place` of the sorted list of a column; missing values go left or right.
struct Cut {
    double score = -1;
    std::int64_t place = -1;
    bool missing_left = false;

    // Scores closer than a part in a billion are equal: then the earlier one stays.
    bool offer(double other, std::int64_t at, bool left) {
        if (!(other > score * (1 + 1e-9)) || other < 0) return false;
        *this = {other, at, left};
        return true;
    }
};

// One column of a table: its sorted list, of which `known` entries come before the missing ones.
struct Sorted {
    const std::uint32_t* list;
    size_t n, known;
};

// Weight for each class, by rows; for two classes also as signed numbers: w for the second class, -w for the first.
struct ClassWeights {
    std::span<const std::int64_t> weight, signed_weight;
    std::span<const std::int32_t> code;
    size_t classes;
    std::int64_t signed_sum, sum;
};

using BestCut = Cut (*)(Sorted, const ClassWeights&, double*);

struct StumpKernels {
    BestCut two_classes, many_classes;
};

extern const StumpKernels stumps_baseline, stumps_avx2, stumps_avx512;

constexpr size_t STUMP_CHUNK = 512;

namespace TENFOLD_LEVEL {

constexpr std::uint32_t ROW = ~TIE<std::uint32_t>;

// With D = second less first class and A their sum,  Σₖ Lₖ²/L = (A + D²/A) / 2: the first term adds up to a constant.
inline double two_sided(double D, double A, double D_all, double A_all) {
    const double R = D_all - D, B = A_all - A;
    return D * D / A + R * R / B;
}

// Scores of the cuts before entries begin, ..., begin + count - 1, from sums over the entries before each; -1 where there is no cut.
inline double score_chunk(const std::int64_t* D, const std::int64_t* A, const std::uint32_t* list, size_t count, double D_all,
                          double A_all, double D_extra, double A_extra, double* score) {
    double most = -1;
    for (size_t i = 0; i < count; ++i) {
        const double d = static_cast<double>(D[i]) + D_extra, a = static_cast<double>(A[i]) + A_extra;
        const bool open = !(list[i] & TIE<std::uint32_t>) && a > 0 && a < A_all;
        const double found = two_sided(d, a, D_all, A_all);
        score[i] = open ? found : -1;
        most = score[i] > most ? score[i] : most;
    }
    return most;
}

inline Cut best_of_two(Sorted column, const ClassWeights& of, double* space) {
    std::int64_t D[STUMP_CHUNK], A[STUMP_CHUNK], d = 0, a = 0, d_blank = 0, a_blank = 0;
    for (size_t i = column.known; i < column.n; ++i) {
        const std::int64_t v = of.signed_weight[column.list[i] & ROW];
        d_blank += v;
        a_blank += v < 0 ? -v : v;
    }
    const auto D_all = static_cast<double>(of.signed_sum), A_all = static_cast<double>(of.sum);
    Cut best;
    for (size_t begin = 0; begin < column.known && !stopped(); begin += STUMP_CHUNK) {
        const size_t count = std::min(STUMP_CHUNK, column.known - begin);
        const std::uint32_t* list = column.list + begin;
        for (size_t i = 0; i < count; ++i) {
            const std::int64_t v = of.signed_weight[list[i] & ROW];
            D[i] = d;
            A[i] = a;
            d += v;
            a += v < 0 ? -v : v;
        }
        for (const bool left : {false, true}) {  // where missing values go
            if (left && column.known == column.n) break;
            const size_t skip = begin == 0;  // before the first entry there is no cut
            const double most = score_chunk(D + skip, A + skip, list + skip, count - skip, D_all, A_all,
                                            left ? static_cast<double>(d_blank) : 0, left ? static_cast<double>(a_blank) : 0, space);
            if (most > best.score * (1 + 1e-9) && most >= 0)
                best.offer(most, static_cast<std::int64_t>(begin + skip + (std::find(space, space + count, most) - space)), left);
        }
    }
    if (a > 0 && a_blank > 0)  // known values against missing ones
        best.offer(two_sided(static_cast<double>(d), static_cast<double>(a), D_all, A_all),
                   static_cast<std::int64_t>(column.known), false);
    return best;
}

// Score of a cut with these class weights on the left; -1 where one side is empty.
inline double many_sided(const double* left, const double* all, size_t classes) {
    double L = 0, R = 0, l = 0, r = 0;
    for (size_t k = 0; k < classes; ++k) {
        const double rest = all[k] - left[k];
        L += left[k];
        R += rest;
        l += left[k] * left[k];
        r += rest * rest;
    }
    return L > 0 && R > 0 ? l / L + r / R : -1;
}

// `space` has room for 4 numbers a class.
inline Cut best_of_many(Sorted column, const ClassWeights& of, double* space) {
    const size_t K = of.classes;
    double *left = space, *all = space + K, *blank = space + 2 * K, *both = space + 3 * K;
    std::fill_n(space, 4 * K, 0.0);
    for (size_t i = 0; i < column.n; ++i) {
        const std::uint32_t row = column.list[i] & ROW;
        const auto w = static_cast<double>(of.weight[row]);
        all[of.code[row]] += w;
        if (i >= column.known) blank[of.code[row]] += w;
    }
    Cut best;
    for (size_t i = 0; i < column.known; ++i) {
        const std::uint32_t entry = column.list[i], row = entry & ROW;
        if (i % STUMP_CHUNK == 0 && stopped()) break;
        if (i && !(entry & TIE<std::uint32_t>)) {
            best.offer(many_sided(left, all, K), static_cast<std::int64_t>(i), false);
            if (column.known < column.n) {
                for (size_t k = 0; k < K; ++k) both[k] = left[k] + blank[k];
                best.offer(many_sided(both, all, K), static_cast<std::int64_t>(i), true);
            }
        }
        left[of.code[row]] += static_cast<double>(of.weight[row]);
    }
    if (column.known < column.n) best.offer(many_sided(left, all, K), static_cast<std::int64_t>(column.known), false);
    return best;
}

}  // namespace TENFOLD_LEVEL
}  // namespace tenfold
