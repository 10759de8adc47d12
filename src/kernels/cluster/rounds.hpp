// Many merges at once: all pairs of clusters that are nearest to one another, found in one pass through all distances.
//
// By a reducible linkage such pairs are merged sooner or later, whatever else is merged before; so a round merges all of them, and
// makes a new table of the clusters that are left. Few rounds are needed while each merges many pairs; where one would merge few,
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

// The table of clusters after a round, in memory that is free where it has room. `rows(begin, end, scratch, to)` lets to[2 i] and to[2 i + 1] be the distances of the first and the
// second of pair begin + i to all clusters before its second.
template <class RowsOf>
PairTable merged_table(const LinkageKernels& kernels, Linkage linkage, const Pairing& pairing, const Known& known, Team& team, PairTable free,
                       RowsOf&& rows) {
    constexpr size_t STEP = 4;
    const size_t m = known.size(), left = pairing.pairs.size();
    const auto& pairs = pairing.pairs;
    PairTable table = free.has_room(left) ? std::move(free) : PairTable(left);
    std::vector<std::uint32_t> place;  // of each second one
    std::vector<std::uint32_t> twos;   // clusters of two
    for (size_t j = 0; j < left; ++j) {
        place.push_back(static_cast<std::uint32_t>(pairs[j].second));
        if (pairs[j].two) twos.push_back(static_cast<std::uint32_t>(j));
    }
    std::vector<std::vector<double>> scratch(team.size());
    for (auto& one : scratch) one.resize(2 * STEP * (m + SIDE) + m + SIDE);
    team.each((left + STEP - 1) / STEP, [&](size_t k, size_t t) {
        leave_if_stopped();
        const size_t begin = k * STEP, end = std::min(left, begin + STEP);
        const double* of[2 * STEP];
        rows(begin, end, scratch[t].data(), of);
        double* seen = scratch[t].data() + 2 * STEP * (m + SIDE);
        for (size_t i = begin; i < end; ++i) {
            const auto& pair = pairs[i];
            const double* from = of[2 * (i - begin) + 1];
            if (pair.two) {
                const Joined joined{linkage, known.weight[pair.first], known.weight[pair.second], pair.height};
                kernels.join(joined, of[2 * (i - begin)], from, known.weight.data(), pair.second, seen);
                from = seen;
            }
            double* to = table.row(i);
            for (size_t j = 0; j < i; ++j) to[j] = from[place[j]];
            for (const std::uint32_t j : twos) {
                if (j >= i) break;
                const size_t c = pairs[j].first, d = pairs[j].second;
                if (linkage == Linkage::complete) to[j] = std::max(from[c], from[d]);
                else if (linkage == Linkage::weighted) to[j] = 0.5 * (from[c] + from[d]);
                else to[j] = (known.weight[c] * from[c] + known.weight[d] * from[d]) / (known.weight[c] + known.weight[d]);
            }
        }
    });
    return table;
}

// All merges of clusters whose distances are in a table, which is used up.
inline void merge_all(Tabled& clusters, std::vector<Merge>& merges, Team& team) {
    const auto& known = clusters.known;
    const bool rounds = clusters.linkage == Linkage::complete || clusters.linkage == Linkage::average || clusters.linkage == Linkage::weighted;
    PairTable free;
    while (known.size() > 1) {
        const size_t m = known.size();
        if (m <= FEW || !rounds) {
            chain(clusters, m <= FEW ? 1 : m / 2, merges);
            continue;
        }
        const Pairing pairing = nearest_to_one_another(clusters.kernels, m, team, [&](size_t first, size_t count, size_t begin, size_t end, double*) {
            return DistanceBlock{clusters.table.data, 0, first, count, begin, end};
        });
        if (!pairing.pays()) {
            chain(clusters, m / 2, merges);
            continue;
        }
        const PairTable& table = clusters.table;
        PairTable next = merged_table(clusters.kernels, clusters.linkage, pairing, known, team, std::move(free),
                                      [&](size_t begin, size_t end, double* scratch, const double** of) {
            for (size_t i = begin; i < end; ++i) {
                const auto& pair = pairing.pairs[i];
                double* first = scratch + (i - begin) * m;
                of[2 * (i - begin)] = first;
                of[2 * (i - begin) + 1] = table.row(pair.second);
                if (!pair.two) continue;
                std::memcpy(first, table.row(pair.first), pair.first * sizeof(double));
                first[pair.first] = 0.0;
                for (size_t x = pair.first + 1; x < pair.second; ++x) first[x] = table.at(x, pair.first);
            }
        });
        free = std::exchange(clusters.table, std::move(next));
        note(pairing, clusters.known, merges);
    }
}

// The same from rows whose distances are in no table yet: the first round needs none, and leaves fewer clusters to it.
inline void merge_rows(const LinkageKernels& kernels, Linkage linkage, Rows<const double> rows, Known known, const Distance& distance,
                       std::vector<Merge>& merges, Team& team) {
    const Packed packed(rows);
    const size_t n = rows.n, p = rows.p;
    Pairing pairing;
    for (size_t i = 0; i < n; ++i) pairing.pairs.push_back({i, i, 0.0, false});
    if (n > FEW && reducible(linkage)) {
        Pairing found = nearest_to_one_another(kernels, n, team, [&](size_t first, size_t count, size_t begin, size_t end, double* scratch) {
            kernels.away(packed.view(), rows[first], count, begin / SIDE, (end + SIDE - 1) / SIDE, distance, scratch, TILE);
            return DistanceBlock{scratch, TILE, first, count, begin, end};
        });
        if (found.pays()) pairing = std::move(found);
    }
    PairTable table = merged_table(kernels, linkage, pairing, known, team, PairTable(), [&](size_t begin, size_t end, double* scratch, const double** of) {
        const size_t stride = packed.blocks() * SIDE;
        std::vector<double> queries(2 * (end - begin) * p);
        size_t count = 0;
        for (size_t i = begin; i < end; ++i)
            for (size_t side = 0; side < 2; ++side) {
                const auto& pair = pairing.pairs[i];
                of[2 * (i - begin) + side] = scratch + count * stride;
                if (side == 0 && !pair.two) continue;
                std::memcpy(queries.data() + count++ * p, rows[side ? pair.second : pair.first], p * sizeof(double));
            }
        const size_t blocks = (pairing.pairs[end - 1].second + SIDE - 1) / SIDE;
        kernels.away(packed.view(), queries.data(), count, 0, blocks, distance, scratch, stride);
    });
    note(pairing, known, merges);
    Tabled clusters(kernels, linkage, std::move(table), std::move(known));
    if (reducible(linkage)) merge_all(clusters, merges, team);
    else nearest_pairs(clusters, merges);
}

}  // namespace tenfold
