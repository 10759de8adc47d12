// Ward's linkage from centres: no table of distances, unless few clusters are left.
#pragma once

#include "kernels/cluster/rounds.hpp"

namespace tenfold {

constexpr size_t FEW_ENOUGH = 4096;  // clusters whose distances are put in a table: 64 MB

inline void merge_by_ward(const LinkageKernels& kernels, Rows<const double> rows, Known known, std::vector<Merge>& merges, Team& team) {
    const size_t p = rows.p;
    const Distance squares{Apart::euclidean, 2.0, false};
    Centred clusters(kernels, std::vector<double>(rows.data, rows.data + rows.n * p), p, std::move(known));
    while (clusters.known.size() > FEW) {
        const size_t m = clusters.known.size();
        const Rows<const double> centres = clusters.rows();
        const double* weights = clusters.known.weight.data();
        const Pairing pairing = nearest_to_one_another(kernels, m, team, [&](size_t first, size_t count, size_t begin, size_t end, double* scratch) {
            kernels.away(clusters.packed.view(), centres[first], count, begin / SIDE, (end + SIDE - 1) / SIDE, squares, scratch, TILE);
            for (size_t i = 0; i < count; ++i) kernels.weigh(scratch + i * TILE, weights[first + i], weights + begin, end - begin, false);
            return DistanceBlock{scratch, TILE, first, count, begin, end};
        });
        if (!pairing.pays()) {
            if (m <= FEW_ENOUGH) break;
            chain(clusters, m / 2, merges);
            continue;
        }
        std::vector<size_t> left;
        for (const auto& pair : pairing.pairs) {
            left.push_back(pair.second);
            if (pair.two)
                Centred::merge(centres[pair.first], weights[pair.first], centres[pair.second], weights[pair.second], p,
                               clusters.centres.data() + pair.second * p);
        }
        Known after = clusters.known;
        note(pairing, after, merges, true);
        clusters.keep(left);
        clusters.known = std::move(after);
    }
    const size_t m = clusters.known.size();
    PairTable table(m);
    std::vector<double> away(clusters.packed.blocks() * SIDE);
    for (size_t i = 1; i < m; ++i) {
        if (i % ROWS == 0) leave_if_stopped();
        clusters.away(i, away.data());
        std::memcpy(table.row(i), away.data(), i * sizeof(double));
    }
    Tabled few(kernels, Linkage::ward, std::move(table), std::move(clusters.known));
    merge_all(few, merges, team);
}

}  // namespace tenfold
