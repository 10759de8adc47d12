// Python binding of density trees. Arguments are checked here, and only here.
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "kernels/density/cells.hpp"
#include "kernels/density/prune_cells.hpp"

using namespace nb::literals;

namespace {

void build(SortedColumns* made, Matrix X, size_t n_threads) {
    require(X.size(0) > 0 && X.size(0) < (size_t{1} << 31) && X.size(1) > 0, "there must be 1 to 2^31 - 1 rows, and columns");
    new (made) SortedColumns(unlocked([&] { return sorted_columns(X.rows(), n_threads); }));
}

nb::tuple arrays_of(const std::vector<Cell>& cells) {
    const size_t n = cells.size();
    New<std::int32_t> feature(n), children(n, 2);
    New<double> threshold(n), weight(n), log_volume(n);
    for (size_t i = 0; i < n; ++i) {
        feature.data[i] = cells[i].feature, threshold.data[i] = cells[i].threshold;
        children.data[2 * i] = cells[i].left, children.data[2 * i + 1] = cells[i].right;
        weight.data[i] = cells[i].weight, log_volume.data[i] = cells[i].log_volume;
    }
    return nb::make_tuple(feature.array, threshold.array, children.array, weight.array, log_volume.array);
}

// One tree for each row of weights W (trees, n), drawn by its own seed: (feature, threshold, children, weight, log_volume) each.
nb::list grow(const SortedColumns& table, Matrix W, const Input<std::uint64_t, 1>& seeds, Vector low, Vector high, bool likelihood,
              std::int64_t max_depth, double min_leaf, double log_max_density, double min_gain, double gap, std::int64_t max_features,
              size_t n_threads) {
    const size_t trees = W.size(0);
    require(W.size(1) == table.n && seeds.size(0) == trees, "there must be a weight of each row and a seed for each tree");
    require(low.size(0) == table.p && high.size(0) == table.p, "the support must have p bounds");
    for (size_t j = 0; j < table.p; ++j) require(low.data()[j] < high.data()[j], "the support must have a width in every column");
    for (const double one : W.span()) require(std::isfinite(one) && one >= 0, "weights must be finite, and at least 0");
    require(gap > 0 && gap <= 0.5 && min_leaf > 0 && max_features >= 0, "gap must be in (0, 1/2], min_leaf above 0");
    std::vector<std::vector<Cell>> grown(trees);
    unlocked([&] {
        Team team(std::min(n_threads, trees));
        team.each(trees, [&](size_t k) {
            const CellLimits by{likelihood, max_depth, min_leaf, log_max_density, min_gain, gap, max_features, seeds.data()[k]};
            grown[k] = CellGrower(table, W.span().subspan(k * table.n, table.n), low.data(), high.data(), by).grow();
        });
    });
    nb::list found;
    for (const auto& cells : grown) found.append(arrays_of(cells));
    return found;
}

using Pairs = const Input<std::int32_t, 2>&;

// Both children of a node come after it, or there are none.
size_t check_children(Pairs children) {
    const size_t n = children.size(0);
    require(n > 0 && n < (size_t{1} << 31) && children.size(1) == 2, "there must be two children of each node");
    for (size_t i = 0; i < n; ++i) {
        const std::int64_t l = children.data()[2 * i], r = children.data()[2 * i + 1], own = static_cast<std::int64_t>(i);
        require((l == -1 && r == -1) || (std::min(l, r) > own && std::max(l, r) < static_cast<std::int64_t>(n)),
                "the children of a node come after it");
    }
    return n;
}

// The leaf of each row.
template <class T>
nb::object leaves(Table<T> X, Column<std::int32_t> feature, Vector threshold, Pairs children) {
    const size_t n = check_children(children);
    require(feature.size(0) == n && threshold.size(0) == n, "the arrays of nodes differ in length");
    for (size_t i = 0; i < n; ++i)
        require(is_leaf(children.span(), i) || static_cast<std::uint32_t>(feature.data()[i]) < X.size(1),
                "a node asks for a column that is not there");
    New<std::int32_t> found(X.size(0));
    unlocked([&] { find_cells<T>(X.rows(), feature.data(), threshold.data(), children.data(), found.data); });
    return found.array;
}

// Of values of leaves: the sums below each node.
Doubles sums(Pairs children, Vector values) {
    const size_t n = check_children(children);
    require(values.size(0) == n, "there must be a value of each node");
    Output found = zeros(n);
    std::copy_n(values.data(), n, found.data);
    unlocked([&] { sum_upwards(children.span(), found.data); });
    return found.array;
}

// The nodes that are left when those below the cut ones are taken away.
nb::object left(Pairs children, Column<std::uint8_t> cut) {
    const size_t n = check_children(children);
    require(cut.size(0) == n, "there must be a mark of each node");
    New<std::uint8_t> found(n);
    unlocked([&] { left_of(children.span(), cut.data(), found.data); });
    return found.array;
}

// (price, change, happens) of each node
nb::tuple links(Pairs children, Vector worth, Vector held) {
    const size_t n = check_children(children);
    require(worth.size(0) == n && held.size(0) == n, "there must be two values of each node");
    Output price = zeros(n), change = zeros(n);
    New<std::uint8_t> happens(n);
    unlocked([&] { weakest_links(children.span(), worth.data(), held.data(), price.data, change.data, happens.data); });
    return nb::make_tuple(price.array, change.array, happens.array);
}

}  // namespace

NB_MODULE(_cells, m) {
    start_module_beside_kernels();
    nb::class_<SortedColumns>(m, "SortedColumns")
        .def("__init__", &build, "X"_a.noconvert(), "n_threads"_a)
        .def("grow", &grow, "W"_a.noconvert(), "seeds"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(), nb::kw_only(),
             "likelihood"_a, "max_depth"_a, "min_leaf"_a, "log_max_density"_a, "min_gain"_a, "gap"_a, "max_features"_a, "n_threads"_a);
    m.def("sums", &sums, "children"_a.noconvert(), "values"_a.noconvert());
    m.def("left", &left, "children"_a.noconvert(), "cut"_a.noconvert());
    m.def("links", &links, "children"_a.noconvert(), "worth"_a.noconvert(), "held"_a.noconvert());
    m.def("leaves", &leaves<double>, "X"_a.noconvert(), "feature"_a.noconvert(), "threshold"_a.noconvert(), "children"_a.noconvert());
    m.def("leaves", &leaves<float>, "X"_a.noconvert(), "feature"_a.noconvert(), "threshold"_a.noconvert(), "children"_a.noconvert());
}
