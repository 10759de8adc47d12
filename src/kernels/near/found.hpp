// What a search finds: the nearest rows of each query, or all within a radius.
#pragma once

#include <limits>

#include "kernels/common/rows_view.hpp"

namespace tenfold {

// How far rows are apart, as the searches sum it up: squared for euclidean, the p-th power for minkowski, the share of columns
// that differ times p for hamming.
enum class Apart : int { euclidean, manhattan, chebyshev, minkowski, hamming };

struct Neighbor {
    double distance;
    std::int64_t row;
};

// Ties are in the order of rows, so that every search finds the same rows.
TENFOLD_INLINE bool nearer(const Neighbor& a, const Neighbor& b) {
    return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
}

// The k nearest so far, the farthest on top of a heap in memory that somebody else owns.
class Nearest {
public:
    TENFOLD_INLINE Nearest(Neighbor* heap, size_t k) : heap_(heap), k_(k) {}

    // Beyond this distance nothing is wanted; at it, rows of a smaller number than the farthest.
    TENFOLD_INLINE double reach() const { return n_ < k_ ? std::numeric_limits<double>::infinity() : heap_[0].distance; }
    TENFOLD_INLINE void offer(Neighbor one) {
        if (n_ < k_) {
            rise(one);
        } else if (nearer(one, heap_[0])) {
            sink(one, n_);
        }
    }
    // Nearest first.
    TENFOLD_INLINE void sort() {
        for (size_t end = n_; end > 1; --end) {
            const Neighbor farthest = heap_[0], last = heap_[end - 1];
            sink(last, end - 1);
            heap_[end - 1] = farthest;
        }
    }
    TENFOLD_INLINE size_t size() const { return n_; }

private:
    TENFOLD_INLINE void rise(Neighbor one) {
        size_t at = n_++;
        while (at > 0 && nearer(heap_[(at - 1) / 2], one)) {
            heap_[at] = heap_[(at - 1) / 2];
            at = (at - 1) / 2;
        }
        heap_[at] = one;
    }
    // Puts `one` in the place of the top of a heap of n.
    TENFOLD_INLINE void sink(Neighbor one, size_t n) {
        size_t at = 0;
        for (size_t below = 1; below < n; below = 2 * at + 1) {
            if (below + 1 < n && nearer(heap_[below], heap_[below + 1])) ++below;
            if (!nearer(one, heap_[below])) break;
            heap_[at] = heap_[below];
            at = below;
        }
        heap_[at] = one;
    }

    Neighbor* heap_;
    size_t k_, n_ = 0;
};

// The rows within a radius, of one query after another. The memory is somebody else's, who can give more.
struct Within {
    Neighbor* rows;
    size_t count, room;
    void (*grow)(Within&);  // makes room for one more at least

    TENFOLD_INLINE void add(Neighbor one) {
        if (count == room) grow(*this);
        rows[count++] = one;
    }
};

}  // namespace tenfold
