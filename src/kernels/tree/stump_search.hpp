// The best cut of a table in two, for classes with weights that change from call to call and columns that were sorted once.
//
// A cut wins  Σₖ Lₖ²/L + Σₖ Rₖ²/R  (Gini), where Lₖ and Rₖ are the weights of class k on its two sides. Weights are whole numbers
// whose sum is below 2^53: sums are exact, so neither the order of rows nor the number of threads matters.
#pragma once

#include <utility>

#include "kernels/common/simd.hpp"
#include "kernels/tree/tie.hpp"

namespace tenfold {

constexpr size_t STUMP_CHUNK = 256;  // entries whose sums are known before their cuts are looked at
constexpr double STUMP_TIE = 1e-9;   // relative

// A cut before entry `place` of the sorted list of a column; missing values go left or right.
struct Cut {
    double score = -1;
    std::int64_t place = -1;
    bool missing_left = false;

    // Scores closer than STUMP_TIE are equal: then the earlier one stays.
    TENFOLD_INLINE bool offer(double other, std::int64_t at, bool left) {
        if (!(other > score * (1 + STUMP_TIE)) || other < 0) return false;
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

// For two classes: sums of signed and plain weights over each chunk of the list of a column.
struct ChunkSums {
    std::int64_t *D, *A;
};

struct StumpKernels {
    void (*chunk_sums)(Sorted, const ClassWeights&, ChunkSums);
    Cut (*two_classes)(Sorted, const ClassWeights&, ChunkSums, double, double*);
    Cut (*many_classes)(Sorted, const ClassWeights&, double*);
};

extern const StumpKernels stumps_baseline, stumps_avx2, stumps_avx512;

// With D = second less first class and A their sum,  Σₖ Lₖ²/L = (A + D²/A) / 2: the first term adds up to a constant.
TENFOLD_INLINE double two_sided(double D, double A, double D_all, double A_all) {
    const double R = D_all - D, B = A_all - A;
    return (A > 0 ? D * D / A : 0.0) + (B > 0 ? R * R / B : 0.0);
}

// The best score at the ends of chunks, where those are cuts: what any better cut must reach.
inline double best_at_ends(Sorted column, const ClassWeights& of, ChunkSums sums) {
    std::int64_t D = 0, A = 0;
    double most = -1;
    for (size_t c = 0, end = STUMP_CHUNK; end < column.known; ++c, end += STUMP_CHUNK) {
        D += sums.D[c];
        A += sums.A[c];
        if (A > 0 && A < of.sum && !(column.list[end] & TIE<std::uint32_t>))
            most = std::max(most, two_sided(static_cast<double>(D), static_cast<double>(A), static_cast<double>(of.signed_sum),
                                            static_cast<double>(of.sum)));
    }
    return most;
}

// No cut in a chunk can score more: the score is convex, and (D, A) stays in a parallelogram with these corners.
inline double chunk_bound(double D, double A, double dD, double dA, double D_all, double A_all) {
    const double up = (dA + dD) / 2, down = (dA - dD) / 2;
    return std::max(std::max(two_sided(D, A, D_all, A_all), two_sided(D + dD, A + dA, D_all, A_all)),
                    std::max(two_sided(D + up, A + up, D_all, A_all), two_sided(D - down, A + down, D_all, A_all)));
}

namespace TENFOLD_LEVEL {

constexpr std::uint32_t ROW = ~TIE<std::uint32_t>;

inline void sum_chunks(Sorted column, const ClassWeights& of, ChunkSums sums) {
    const std::int64_t* v = of.signed_weight.data();
    for (size_t begin = 0, c = 0; begin < column.known && !stopped(); begin += STUMP_CHUNK, ++c) {
        const size_t count = std::min(STUMP_CHUNK, column.known - begin);
        const std::uint32_t* list = column.list + begin;
        std::int64_t D = 0, A = 0;
        for (size_t i = 0; i < count; ++i) {
            const std::int64_t one = v[static_cast<std::int32_t>(list[i] & ROW)];
            D += one;
            A += one < 0 ? -one : one;
        }
        sums.D[c] = D;
        sums.A[c] = A;
    }
}

// The best cut within one chunk, before which the sums are D and A; entries before `skip` are no cuts.
inline void search_chunk(Sorted column, const ClassWeights& of, size_t begin, std::int64_t D, std::int64_t A, double D_blank,
                         double A_blank, bool left, double* score, Cut& best) {
    const size_t count = std::min(STUMP_CHUNK, column.known - begin), skip = begin == 0;
    const std::uint32_t* list = column.list + begin;
    const auto D_all = static_cast<double>(of.signed_sum), A_all = static_cast<double>(of.sum);
    std::int64_t Ds[STUMP_CHUNK], As[STUMP_CHUNK];
    for (size_t i = 0; i < count; ++i) {
        const std::int64_t v = of.signed_weight[list[i] & ROW];
        Ds[i] = D;
        As[i] = A;
        D += v;
        A += v < 0 ? -v : v;
    }
    double most = -1;
    for (size_t i = skip; i < count; ++i) {
        const double d = static_cast<double>(Ds[i]) + D_blank, a = static_cast<double>(As[i]) + A_blank;
        const bool open = !(list[i] & TIE<std::uint32_t>) && a > 0 && a < A_all;
        score[i] = open ? d * d / a + (D_all - d) * (D_all - d) / (A_all - a) : -1;
        most = score[i] > most ? score[i] : most;
    }
    if (most >= 0) best.offer(most, static_cast<std::int64_t>(begin + (std::find(score + skip, score + count, most) - score)), left);
}

// `least`: a score that some cut of the table has; chunks that cannot reach it are passed over.
inline Cut best_of_two(Sorted column, const ClassWeights& of, ChunkSums sums, double least, double* space) {
    std::int64_t d_blank = 0, a_blank = 0, d = 0, a = 0;
    for (size_t i = column.known; i < column.n; ++i) {
        const std::int64_t v = of.signed_weight[column.list[i] & ROW];
        d_blank += v;
        a_blank += v < 0 ? -v : v;
    }
    const auto D_all = static_cast<double>(of.signed_sum), A_all = static_cast<double>(of.sum);
    const auto D_blank = static_cast<double>(d_blank), A_blank = static_cast<double>(a_blank);
    Cut best;
    for (size_t begin = 0, c = 0; begin < column.known && !stopped(); begin += STUMP_CHUNK, ++c) {
        const auto D = static_cast<double>(d), A = static_cast<double>(a), dD = static_cast<double>(sums.D[c]),
                   dA = static_cast<double>(sums.A[c]);
        const double reach = std::max(least, best.score) * (1 - 2 * STUMP_TIE);
        if (chunk_bound(D, A, dD, dA, D_all, A_all) >= reach) search_chunk(column, of, begin, d, a, 0, 0, false, space, best);
        if (a_blank > 0 && chunk_bound(D + D_blank, A + A_blank, dD, dA, D_all, A_all) >= reach)
            search_chunk(column, of, begin, d, a, D_blank, A_blank, true, space, best);
        d += sums.D[c];
        a += sums.A[c];
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
