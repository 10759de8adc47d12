// Many merges at once: all pairs of clusters that are nearest to one another, found in one pass through all distances.
//
// By a reducible linkage such pairs are merged sooner or later, whatever else is merged before; so a round merges all of them. Few rounds are needed while each merges many pairs; where one would merge few,
// chains of nearest neighbours go on. Where clusters are equally near the order of merges matters: then chains decide, too.
#pragma once

#include "kernels/cluster/chain.hpp"
#include "kernels/common/team.hpp"

namespace tenfold {

constexpr size_t FEW = 1024;              // clusters that chains merge anyway
constexpr size_t ROWS = 32, TILE = 1024;  // distances that are looked at together: rows, and others
constexpr size_t SHARE = 32;              // a round merges one cluster of so many at least

// The clusters of a round: `second`, and where it merges two, `first` < second before it.
struct Pairing {
    struct Pair {
        size_t first, second;
        double height;
        bool two;
    };
    std::vector<Pair> pairs;  // in the order of `second`
    size_t merged = 0;
    bool tied = false;

    bool pays() const { return !tied && merged * SHARE >= pairs.size() + merged; }
};

// `block(first, count, begin, end, scratch)`: the distances of these rows to these others, of which those before each row are looked at.
template <class Block>
Pairing nearest_to_one_another(const LinkageKernels& kernels, size_t m, Team& team, Block&& block) {
    struct One {
        std::vector<double> distance, number, scratch;
        bool tied = false;
    };
    std::vector<One> each(team.size());
    for (One& one : each) one.distance.assign(m, FAR), one.number.assign(m, -1.0), one.scratch.resize(ROWS * TILE);
    team.each((m + ROWS - 1) / ROWS, [&](size_t k, size_t t) {
        leave_if_stopped();
        One& one = each[t];
        const size_t first = k * ROWS, count = std::min(ROWS, m - first);
        NearestSoFar seen{one.distance.data(), one.number.data(), one.tied};
        for (size_t begin = 0; begin < first + count; begin += TILE)
            kernels.meet(block(first, count, begin, std::min(first + count, begin + TILE), one.scratch.data()), seen);
        one.tied = seen.tied;
    });
    One& found = each[0];
    for (size_t t = 1; t < each.size(); ++t) {
        found.tied = found.tied || each[t].tied;
        for (size_t i = 0; i < m; ++i) {
            const double d = each[t].distance[i], before = found.distance[i];
            if (std::fabs(d - before) <= 1e-12 * std::min(d, before)) found.tied = true;
            if (d < before || (d == before && each[t].number[i] < found.number[i])) found.distance[i] = d, found.number[i] = each[t].number[i];
        }
    }
    Pairing pairing;
    pairing.tied = found.tied;
    for (size_t i = 0; i < m; ++i) {
        if (found.number[i] < 0) throw std::overflow_error("a distance is not finite");
        const auto j = static_cast<size_t>(found.number[i]);
        const bool two = static_cast<size_t>(found.number[j]) == i;
        if (two && j > i) continue;
        pairing.merged += two;
        pairing.pairs.push_back({two ? j : i, i, found.distance[i], two});
    }
    return pairing;
}

inline void note(const Pairing& pairing, Known& known, std::vector<Merge>& merges, bool root = false) {
    Known next;
    for (const auto& pair : pairing.pairs) {
        next.row.push_back(known.row[pair.second]);
        next.weight.push_back(known.weight[pair.second] + (pair.two ? known.weight[pair.first] : 0.0));
        if (pair.two) merges.push_back({known.row[pair.first], known.row[pair.second], root ? std::sqrt(pair.height) : pair.height});
    }
    known = std::move(next);
}

// All merges of clusters by a reducible linkage, from a table of distances, which is used up.
inline void merge_all(Tabled& clusters, std::vector<Merge>& merges, Team& team) {
    const auto& known = clusters.known;
    while (known.size() > 1) {
        const size_t m = known.size();
        if (m <= FEW) {
            chain(clusters, 1, merges);
            break;
        }
        const Pairing pairing = nearest_to_one_another(clusters.kernels, m, team, [&](size_t first, size_t count, size_t begin, size_t end, double*) {
            return DistanceBlock{clusters.table.data, 0, first, count, begin, end};
        });
        if (!pairing.pays()) {
            chain(clusters, m / 2, merges);
            continue;
        }
        std::vector<size_t> left;
        for (const auto& pair : pairing.pairs) {
            left.push_back(pair.second);
            if (!pair.two) continue;
            leave_if_stopped();
            merges.push_back({known.row[pair.first], known.row[pair.second], pair.height});
            clusters.join(pair.first, pair.second, pair.height);
        }
        clusters.keep(left);
    }
}

// The distances of clusters of one or two rows, from the rows.
inline PairTable table_of_pairs(const LinkageKernels& kernels, Linkage linkage, Rows<const double> rows, const Packed& packed,
                                const Distance& distance, const Pairing& pairing, const Known& known, Team& team) {
    constexpr size_t STEP = 4;  // clusters at a time
    const auto& pairs = pairing.pairs;
    const size_t left = pairs.size(), p = rows.p, stride = packed.blocks() * SIDE;
    PairTable table(left);
    std::vector<std::uint32_t> place, twos;  // of the second row of each; clusters of two
    for (size_t j = 0; j < left; ++j) {
        place.push_back(static_cast<std::uint32_t>(pairs[j].second));
        if (pairs[j].two) twos.push_back(static_cast<std::uint32_t>(j));
    }
    struct Scratch {
        std::vector<double> queries, away, joined;
    };
    std::vector<Scratch> scratch(team.size());
    for (Scratch& one : scratch) one.queries.resize(2 * STEP * p), one.away.resize(2 * STEP * stride), one.joined.resize(stride);
    team.each((left + STEP - 1) / STEP, [&](size_t k, size_t t) {
        leave_if_stopped();
        Scratch& at = scratch[t];
        const size_t begin = k * STEP, end = std::min(left, begin + STEP);
        size_t count = 0;
        for (size_t i = begin; i < end; ++i)
            for (size_t side = 0; side <= pairs[i].two; ++side)  // the second, then the first
                std::memcpy(&at.queries[count++ * p], rows[side ? pairs[i].first : pairs[i].second], p * sizeof(double));
        kernels.away(packed.view(), at.queries.data(), count, 0, (pairs[end - 1].second + SIDE - 1) / SIDE, distance, at.away.data(), stride);
        const double* from = at.away.data();
        for (size_t i = begin; i < end; ++i, from += stride) {
            const double* of = from;
            if (pairs[i].two) {
                const Joined joined{linkage, known.weight[pairs[i].first], known.weight[pairs[i].second], pairs[i].height};
                kernels.join(joined, from + stride, from, known.weight.data(), pairs[i].second, at.joined.data());
                of = at.joined.data(), from += stride;
            }
            double* to = table.row(i);
            for (size_t j = 0; j < i; ++j) to[j] = of[place[j]];
            for (const std::uint32_t j : twos) {
                if (j >= i) break;
                const size_t c = pairs[j].first, d = pairs[j].second;
                if (linkage == Linkage::complete) to[j] = std::max(of[c], of[d]);
                else if (linkage == Linkage::weighted) to[j] = 0.5 * (of[c] + of[d]);
                else to[j] = (known.weight[c] * of[c] + known.weight[d] * of[d]) / (known.weight[c] + known.weight[d]);
            }
        }
    });
    return table;
}

// The same from rows whose distances are in no table yet: the first round needs none, and leaves fewer clusters to it.
inline void merge_rows(const LinkageKernels& kernels, Linkage linkage, Rows<const double> rows, Known known, const Distance& distance,
                       std::vector<Merge>& merges, Team& team) {
    const Packed packed(rows);
    const size_t n = rows.n;
    Pairing pairing;
    for (size_t i = 0; i < n; ++i) pairing.pairs.push_back({i, i, 0.0, false});
    if (n > FEW && reducible(linkage)) {
        Pairing found = nearest_to_one_another(kernels, n, team, [&](size_t first, size_t count, size_t begin, size_t end, double* scratch) {
            kernels.away(packed.view(), rows[first], count, begin / SIDE, (end + SIDE - 1) / SIDE, distance, scratch, TILE);
            return DistanceBlock{scratch, TILE, first, count, begin, end};
        });
        if (found.pays()) pairing = std::move(found);
    }
    PairTable table = table_of_pairs(kernels, linkage, rows, packed, distance, pairing, known, team);
    note(pairing, known, merges);
    Tabled clusters(kernels, linkage, std::move(table), std::move(known));
    if (reducible(linkage)) merge_all(clusters, merges, team);
    else nearest_pairs(clusters, merges);
}

}  // namespace tenfold
