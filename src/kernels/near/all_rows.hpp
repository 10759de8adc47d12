// The search through all rows.
//
// Euclidean: with u = 2^-24, x and r about the middle of the rows, scaled so that |r| <= 1 in every column,
//
//   t_r = |r|^2 / 2 - x.r              orders rows as the distance does; in float32 it is off by at most
//   e (|r|^2 + |x|^2 / 2)              with e = (p + 8) u;
//   a_r = t_r - e |r|^2                is computed, many rows times many queries at once. A row is a candidate if a_r is at most
//                                      the k-th smallest t_r + e |r|^2 found so far, e |x|^2 added for the query.
//
// The float64 distances of the candidates, which are few, decide. Other measures are summed up in float64 at once.
#pragma once

#include "kernels/near/apart.hpp"
#include "kernels/near/screen_tile.hpp"

namespace tenfold::TENFOLD_LEVEL {

// {apart(query, row[l])}: in the order of columns, as trees sum it up.
template <Apart A>
TENFOLD_INLINE V sums_apart(const Measure<A>& measure, const double* query, const double* const* row, size_t p) {
    V sum{};
    for (size_t j = 0; j < p; ++j) {
        V r{};
        for (size_t l = 0; l < L; ++l) r[l] = row[l][j];
        sum = measure.add(sum, measure.apart(splat(query[j]), r));
    }
    return sum;
}

// Offers rows `which(0), which(1), ...` to a taker by their float64 distances.
template <Apart A, class Which, class Taker>
TENFOLD_INLINE void offer_rows(const Measure<A>& measure, Rows<const double> rows, const double* query, size_t count, Which which,
                               std::int64_t skip, Taker& taker) {
    for (size_t first = 0; first < count; first += L) {
        const double* row[L];
        const size_t few = std::min(L, count - first);
        for (size_t l = 0; l < L; ++l) row[l] = rows[which(first + std::min(l, few - 1))];
        const V away = sums_apart(measure, query, row, rows.p);
        for (size_t l = 0; l < few; ++l) {
            const auto number = static_cast<std::int64_t>(which(first + l));
            if (away[l] <= taker.reach() && number != skip) taker.offer({away[l], number});
        }
    }
}

// Calls decide(q, which, count) for each query with the rows that may be near: `count` of them, which(i) the i-th.
template <class Decide>
void candidates_of(const Screened* screened, Rows<const double> rows, Rows<const double> queries, size_t k, double radius,
                   Decide&& decide) {
    const auto everything = [](size_t i) { return i; };
    if (!screened || !screened->usable()) {
        for (size_t q = 0; q < queries.n && !stopped(); ++q) decide(q, everything, rows.n);
        return;
    }
    Candidates candidates(*screened, k, radius);
    for (size_t first = 0; first < queries.n && !stopped(); first += TOGETHER) {
        const size_t count = std::min(TOGETHER, queries.n - first);
        candidates.find(queries, first, count);
        for (size_t r = 0; r < count; ++r) {
            if (candidates.overflowed(r)) decide(first + r, everything, rows.n);
            else
                decide(first + r, [&](size_t i) { return candidates.row(r, i); }, candidates.size(r));
        }
    }
}

inline void* pack(Rows<const double> rows, Apart apart) { return apart == Apart::euclidean ? new Screened(rows) : nullptr; }
inline void drop(void* packed) { delete static_cast<Screened*>(packed); }

inline void all_nearest(const void* packed, Rows<const double> rows, Rows<const double> queries, size_t k,
                        const std::int64_t* skip, Apart apart, double power, double* distance, std::int64_t* row) {
    with_measure(apart, power, [&]<Apart A>(const Measure<A>& measure) {
        Scratch<Neighbor> heap(k);
        const size_t wanted = k + (skip ? 1 : 0);  // the row that is not looked at is a candidate, too
        candidates_of(static_cast<const Screened*>(packed), rows, queries, wanted, 0, [&](size_t q, auto which, size_t count) {
            Nearest nearest(heap.data(), k);
            offer_rows(measure, rows, queries[q], count, which, skip ? skip[q] : -1, nearest);
            nearest.sort();
            for (size_t i = 0; i < k; ++i) distance[q * k + i] = heap[i].distance, row[q * k + i] = heap[i].row;
        });
    });
}

inline void all_within(const void* packed, Rows<const double> rows, Rows<const double> queries, double radius,
                       const std::int64_t* skip, Apart apart, double power, Within& found, size_t* ends) {
    with_measure(apart, power, [&]<Apart A>(const Measure<A>& measure) {
        candidates_of(static_cast<const Screened*>(packed), rows, queries, 0, radius, [&](size_t q, auto which, size_t count) {
            Collected all{found, radius};
            offer_rows(measure, rows, queries[q], count, which, skip ? skip[q] : -1, all);
            ends[q] = found.count;
        });
    });
}

}  // namespace tenfold::TENFOLD_LEVEL
