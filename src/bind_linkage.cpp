// Python binding of hierarchical clustering. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "kernels/cluster/connected.hpp"
#include "kernels/cluster/spanning.hpp"
#include "kernels/cluster/ward.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<LinkageKernels> kernels(TENFOLD_LEVELS(linkage));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return kernels.use(name); }

Distance distance_of(std::int64_t apart, double power, bool root) {
    require(apart >= 0 && apart <= static_cast<int>(Apart::hamming), "there is no such measure");
    return {static_cast<Apart>(apart), power, root};
}

Linkage linkage_of(std::int64_t linkage) {
    require(linkage >= 0 && linkage <= static_cast<int>(Linkage::median), "there is no such linkage");
    return static_cast<Linkage>(linkage);
}

Known known_of(Vector weights) {
    Known known;
    for (const double w : weights.span()) {
        require(w > 0 && w < FAR, "weights must be above 0");
        known.row.push_back(static_cast<std::int64_t>(known.row.size()));
        known.weight.push_back(w);
    }
    return known;
}

// The distances of all pairs: row i has those to rows 0 .. i - 1.
Doubles pairs(Matrix rows, std::int64_t apart, double power, bool root, size_t threads) {
    const Distance distance = distance_of(apart, power, root);
    const size_t n = rows.size(0), p = rows.size(1);
    require(n > 0 && p > 0, "there must be rows and columns");
    Output table = unfilled(n * (n - 1) / 2);
    unlocked([&] {
        const Packed packed(rows.rows());
        const PairTable to(table.data);
        Team team(n > FEW ? threads : 1);
        std::vector<std::vector<double>> scratch(team.size());
        for (auto& one : scratch) one.resize(ROWS * TILE);
        team.each((n + ROWS - 1) / ROWS, [&](size_t k, size_t t) {
            const size_t first = k * ROWS, count = std::min(ROWS, n - first);
            for (size_t begin = 0; begin < first + count && !stopped(); begin += TILE) {
                const size_t end = std::min(first + count, begin + TILE);
                kernels->away(packed.view(), rows.rows()[first], count, begin / SIDE, (end + SIDE - 1) / SIDE, distance, scratch[t].data(), TILE);
                for (size_t i = 0; i < count; ++i)
                    if (const size_t last = std::min(end, first + i); last > begin)
                        std::memcpy(to.row(first + i) + begin, scratch[t].data() + i * TILE, (last - begin) * sizeof(double));
            }
        });
    });
    return table.array;
}

// The tree of clusters whose distances are in a table as `pairs` makes it, which is used up.
Doubles tree_of_pairs(const nb::object& table, std::int64_t linkage, Vector weights, size_t threads) {
    const Linkage by = linkage_of(linkage);
    const size_t n = weights.size(0);
    {
        Input<double, 1> given;
        require(n > 0 && given.acquire(table.ptr()) && given.size(0) == n * (n - 1) / 2, "there must be a distance for each pair");
    }
    double* const data = static_cast<double*>(buffer_of(table));
    Known known = known_of(weights);
    Output tree = unfilled(n - 1, size_t{4});
    unlocked([&] {
        std::vector<Merge> merges;
        merges.reserve(n);
        if (by == Linkage::single) {
            spanning_table(*kernels, PairTable(data), n, merges);
        } else {
            Tabled clusters(*kernels, by, PairTable(data), std::move(known));
            Team team(n > FEW ? threads : 1);
            if (reducible(by)) merge_all(clusters, merges, team);
            else nearest_pairs(clusters, merges);
        }
        tell_tree(merges, reducible(by), tree.data);
    });
    return tree.array;
}

// The same of rows; a table is made of what is left after the first merges, and for some linkages never.
Doubles tree_of_rows(Matrix rows, std::int64_t linkage, Vector weights, std::int64_t apart, double power, bool root, size_t threads) {
    const Linkage by = linkage_of(linkage);
    const Distance distance = distance_of(apart, power, root);
    const size_t n = rows.size(0);
    require(n > 0 && rows.size(1) > 0 && weights.size(0) == n, "there must be rows, columns, and a weight for each row");
    Known known = known_of(weights);
    Output tree = unfilled(n - 1, size_t{4});
    unlocked([&] {
        std::vector<Merge> merges;
        merges.reserve(n);
        if (by == Linkage::single) {
            spanning_rows(*kernels, rows.rows(), distance, nullptr, merges);
        } else {
            Team team(n > FEW ? threads : 1);
            if (by == Linkage::ward) merge_by_ward(*kernels, rows.rows(), std::move(known), merges, team);
            else merge_rows(*kernels, by, rows.rows(), std::move(known), distance, merges, team);
        }
        tell_tree(merges, reducible(by), tree.data);
    });
    return tree.array;
}

// The same where only neighbours in a connected graph are merged, in the order of merges; `rows` are those of Ward's linkage, else empty.
Doubles tree_of_graph(Integers first, Integers second, Vector length, std::int64_t linkage, Vector weights, Matrix rows) {
    const Linkage by = linkage_of(linkage);
    const size_t n = weights.size(0), edges = first.size(0);
    require(reducible(by), "there is no such linkage of neighbours");
    require(n > 0 && second.size(0) == edges && length.size(0) == edges, "there must be two rows and a length for each edge");
    require(rows.size(0) == (by == Linkage::ward ? n : 0), "there must be rows for Ward's linkage, and for no other");
    for (size_t e = 0; e < edges; ++e) {
        const std::int64_t a = first.data()[e], b = second.data()[e];
        require(a >= 0 && b >= 0 && a != b && static_cast<size_t>(std::max(a, b)) < n, "an edge must be between two rows");
    }
    const Known known = known_of(weights);
    Output tree = unfilled(n - 1, size_t{4});
    unlocked([&] {
        std::vector<Merge> merges;
        const auto given = rows.rows();
        merge_connected(n, first.span(), second.span(), length.span(), by, known.weight, {given.data, given.data + given.n * given.p},
                        given.n ? given.p : 0, merges);
        tell_tree(merges, false, tree.data);
    });
    return tree.array;
}

// The tree of single linkage from the edges of a shortest tree that connects all rows, in any order.
Doubles tree_of_edges(Integers first, Integers second, Vector length) {
    const size_t edges = first.size(0);
    require(second.size(0) == edges && length.size(0) == edges, "there must be two rows and a length for each edge");
    std::vector<Merge> merges;
    for (size_t e = 0; e < edges; ++e) {
        const std::int64_t a = first.data()[e], b = second.data()[e];
        require(a >= 0 && b >= 0 && a != b && static_cast<size_t>(std::max(a, b)) <= edges, "an edge must be between two rows");
        merges.push_back({a, b, length.data()[e]});
    }
    Output tree = unfilled(edges, size_t{4});
    unlocked([&] { tell_tree(merges, true, tree.data); });
    return tree.array;
}

// (queries, rows): their distances.
Doubles between(Matrix queries, Matrix rows, std::int64_t apart, double power, bool root) {
    const Distance distance = distance_of(apart, power, root);
    const size_t n = rows.size(0), p = rows.size(1), m = queries.size(0);
    require(n > 0 && p > 0 && queries.size(1) == p, "rows and queries must have the same columns");
    Output found = unfilled(m, n);
    unlocked([&] {
        const Packed packed(rows.rows());
        std::vector<double> scratch(ROWS * TILE);
        for (size_t first = 0; first < m && !stopped(); first += ROWS)
            for (size_t begin = 0; begin < n; begin += TILE) {
                const size_t count = std::min(ROWS, m - first), end = std::min(n, begin + TILE);
                kernels->away(packed.view(), queries.rows()[first], count, begin / SIDE, (end + SIDE - 1) / SIDE, distance, scratch.data(), TILE);
                for (size_t i = 0; i < count; ++i)
                    std::memcpy(found.data + (first + i) * n + begin, scratch.data() + i * TILE, (end - begin) * sizeof(double));
            }
    });
    return found.array;
}

}  // namespace

NB_MODULE(_linkage, m) {
    start_module_beside_kernels();
    m.def("pairs", &pairs, "rows"_a.noconvert(), "apart"_a, "power"_a, "root"_a, "threads"_a);
    m.def("tree_of_pairs", &tree_of_pairs, "pairs"_a, "linkage"_a, "weights"_a.noconvert(), "threads"_a);
    m.def("tree_of_rows", &tree_of_rows, "rows"_a.noconvert(), "linkage"_a, "weights"_a.noconvert(), "apart"_a, "power"_a, "root"_a, "threads"_a);
    m.def("tree_of_graph", &tree_of_graph, "first"_a.noconvert(), "second"_a.noconvert(), "length"_a.noconvert(), "linkage"_a,
          "weights"_a.noconvert(), "rows"_a.noconvert());
    m.def("tree_of_edges", &tree_of_edges, "first"_a.noconvert(), "second"_a.noconvert(), "length"_a.noconvert());
    m.def("between", &between, "queries"_a.noconvert(), "rows"_a.noconvert(), "apart"_a, "power"_a, "root"_a);
    m.def("use_level", &use_level, "name"_a);
}
