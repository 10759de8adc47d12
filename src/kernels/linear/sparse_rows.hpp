// Sparse rows that lie in memory, and sums over them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/common/team.hpp"

namespace tenfold {

struct SparseRows {
    std::span<const std::int64_t> begin;  // n + 1
    std::span<const std::int32_t> column;
    std::span<const double> value;

    size_t size() const { return begin.size() - 1; }
    size_t stored() const { return column.size(); }

    double dot(size_t i, const double* v) const {
        double sum = 0;
        for (std::int64_t k = begin[i]; k < begin[i + 1]; ++k) sum += value[k] * v[column[k]];
        return sum;
    }
    void add(size_t i, double share, double* v) const {
        for (std::int64_t k = begin[i]; k < begin[i + 1]; ++k) v[column[k]] += share * value[k];
    }
};

// Rows are shared among threads by pieces, each with sums of its own: the same pieces for any number of threads.
constexpr size_t PIECES = 8, PIECE_LEAST = 1 << 14;

inline size_t pieces_of(const SparseRows& X, size_t least = PIECE_LEAST) { return std::clamp<size_t>(X.stored() / least, 1, PIECES); }

// out = Σ over pieces of what each(first row, last row, sums) adds to its own sums of this width.
template <class Each>
void add_pieces(const SparseRows& X, size_t pieces, size_t width, size_t threads, double* out, Each&& each) {
    std::vector<double> sums((pieces - 1) * width, 0.0);  // the first piece has `out`, which is zero
    std::vector<size_t> cuts{0};
    for (size_t k = 1; k < pieces; ++k) {
        const auto share = static_cast<std::int64_t>(X.stored() / pieces * k);
        cuts.push_back(static_cast<size_t>(std::lower_bound(X.begin.begin(), X.begin.end() - 1, share) - X.begin.begin()));
    }
    cuts.push_back(X.size());
    Team team(std::min(threads, pieces));
    team.each(pieces, [&](size_t k) {
        if (!stopped()) each(cuts[k], cuts[k + 1], k == 0 ? out : sums.data() + (k - 1) * width);
    });
    team.ranges(width, 1 << 13, [&](size_t from, size_t to) {
        for (size_t k = 0; k + 1 < pieces; ++k)
            for (size_t j = from; j < to; ++j) out[j] += sums[k * width + j];
    });
}

}  // namespace tenfold
