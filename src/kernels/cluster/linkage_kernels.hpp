// What hierarchical clustering asks of each instruction set.
#pragma once

#include "kernels/near/found.hpp"

namespace tenfold {

enum class Linkage : int { single, complete, average, weighted, ward, centroid, median };

// Linkages by which a merged cluster is never nearer to a third than the nearer of its parts was: pairs that are nearest to one
// another can be merged in any order.
TENFOLD_INLINE bool reducible(Linkage linkage) { return linkage != Linkage::centroid && linkage != Linkage::median; }

// Rows side by side: blocks of SIDE of them, column by column, so that many distances are computed at once.
constexpr size_t SIDE = 16;
struct Beside {
    const double* values;  // (blocks, p, SIDE)
    size_t n, p;
};

// How far rows are apart, and whether the root of the sum is told.
struct Distance {
    Apart apart;
    double power;
    bool root;
};

// A block of distances: of rows first .. first + count - 1 to begin .. end - 1, each row of them `stride` after the one before; or,
// with stride 0, within a table of pairs.
struct DistanceBlock {
    const double* values;
    size_t stride, first, count, begin, end;
};

// The nearest that each cluster has seen so far: how far, and its number (as a double, which goes with it in one vector).
struct NearestSoFar {
    double *distance, *number;
    bool tied;  // two were equally near, but for rounding
};

// Two clusters that become one, as others see it.
struct Joined {
    Linkage linkage;
    double first, second, apart;  // their weights, and how far they were apart
};

struct LinkageKernels {
    // Of `count` rows to all of the blocks from begin to end - 1: out[q * stride + i - begin * SIDE].
    void (*away)(const Beside& rows, const double* queries, size_t count, size_t begin, size_t end, const Distance& distance, double* out,
                 size_t stride);
    // Every pair of the block, as both of its ends see it; only numbers below their own are in a row.
    void (*meet)(const DistanceBlock& block, NearestSoFar& seen);
    // Where values + added is least, the first of equals.
    Neighbor (*least)(const double* values, const double* added, size_t n);
    // Distances to the union of two from those to both; `weight` of those that are looked at.
    void (*join)(const Joined& joined, const double* first, const double* second, const double* weight, size_t n, double* out);
    // Distances of Ward's linkage from squared Euclidean ones: 2 a b / (a + b) times as much, where a and b are weights; its root if told.
    void (*weigh)(double* squares, double weight, const double* weights, size_t n, bool root);
    // A step of a spanning tree: what the new row is nearer to than any before; then the nearest of all.
    Neighbor (*reach)(const double* away, double core, const double* cores, const double* gone, size_t n, double* nearest);
};

extern const LinkageKernels linkage_baseline;
#if TENFOLD_X86_LEVELS
extern const LinkageKernels linkage_avx2, linkage_avx512;
#endif

}  // namespace tenfold
