// Python binding of forests, on tables of codes. Every index is checked here, before native loops see it.

#include <nanobind/stl/string.h>

#include <string>

#include "forest_rows.hpp"
#include "kernels/forest/grower.hpp"
#include "levels.hpp"
#include "tree_arrays.hpp"

using namespace nb::literals;

namespace {

const Levels<ForestKernels> forest_kernels(TENFOLD_LEVELS(forest));

// `codes` (n, width) as Bins make them; `y` (n, q) targets, or codes of `classes` (q) classes (0: numbers); `factor` weights, or
// empty where all are alike; `balanced`: in every tree classes have the weight that they have in all rows.
void build_forest(Forest* made, nb::object given, Integers n_bins, Vector edges, Integers start,
                  Table<std::int64_t> category_codes, Column<std::uint8_t> categorical, Matrix y, Integers classes, Vector factor, Column<std::uint64_t> key,
                  Integers first, double rate, const std::string& criterion, bool balanced) {
    const size_t n = y.size(0), q = y.size(1), p = n_bins.size(0);
    Input<std::uint8_t, 2> codes;
    Input<std::uint16_t, 2> wide_codes;
    const bool wide = !codes.acquire(given.ptr());
    if (wide && !wide_codes.acquire(given.ptr())) throw nb::type_error("codes must be uint8 or uint16");
    require(p > 0 && n > 0 && n < (size_t{1} << 31), "there must be columns, and 1 to 2^31 - 1 rows");
    require((wide ? wide_codes.size(0) : codes.size(0)) == n && (wide ? wide_codes.size(1) : codes.size(1)) >= p,
            "codes must be (n, at least p)");
    require(start.size(0) == p, "start must have p values");
    require(category_codes.size(0) == p && category_codes.size(1) == 256 && categorical.size(0) == p,
            "category_codes must be (p, 256), categorical (p)");
    require(factor.size(0) == 0 || factor.size(0) == n, "y and factor must have n values");
    require(key.size(0) == n && first.size(0) == n, "key and first must have n values");
    for (size_t j = 0; j < p; ++j) {
        const std::int64_t bins = n_bins.data()[j], first = start.data()[j];
        require(bins >= 0 && bins <= (wide && !categorical.data()[j] ? 65'535 : 255), "a column has too many bins");
        require(first >= 0 && first + bins < static_cast<std::int64_t>(edges.size(0)), "a column begins beyond the edges");
        for (size_t b = 0; b < 256; ++b)
            require(category_codes.data()[j * 256 + b] >= 0 && category_codes.data()[j * 256 + b] < (1 << 30),
                    "a category is not a number from 0 on");
    }
    require(!balanced || (factor.size(0) == n && q == 1 && classes.size(0) == 1 && classes.data()[0] > 0), "balanced is for weighted rows of one target of classes");
    require(q >= 1 && classes.size(0) == q, "classes must have as many values as y has columns");
    for (size_t k = 0; k < q; ++k) {
        const std::int64_t most = classes.data()[k];
        require(most >= 0 && most < (1 << 30) && (most > 0) == (classes.data()[0] > 0), "targets must be numbers or codes of classes, all of them");
        for (size_t i = 0; most && i < n; ++i)
            require(y.data()[i * q + k] >= 0 && y.data()[i * q + k] < static_cast<double>(most), "a code is not that of a class");
    }
    new (made) Forest(unlocked([&] {
        Forest forest;
        Binned& table = forest.table;
        table.n = n, table.p = p;
        table.n_bins.assign(n_bins.span().begin(), n_bins.span().end());
        size_t count[2] = {0, 0};
        for (const auto bins : table.n_bins) {
            table.wide.push_back(bins > 255);
            table.place.push_back(static_cast<std::uint32_t>(count[bins > 255]++));
        }
        table.codes.resize(n * count[0]);
        table.wide_codes.resize(n * count[1]);
        table.missing.resize(p);
        const bool within = wide ? enter_codes(table, wide_codes.rows()) : enter_codes(table, codes.rows());
        if (!wide && within) table.rows = codes.data(), table.width = codes.size(1);
        table.edges.assign(edges.span().begin(), edges.span().end());
        table.start.assign(start.span().begin(), start.span().end());
        table.category_codes.assign(category_codes.span().begin(), category_codes.span().end());
        table.categorical.assign(categorical.span().begin(), categorical.span().end());
        Sample& sample = forest.sample;
        sample.n = n;
        if (factor.size(0)) set_weights(sample, factor.span(), balanced);
        if (q > 1) {
            forest.columns = target_columns(y, classes, sample, factor, criterion == "poisson");
        } else if (classes.data()[0]) {
            sample.classes = static_cast<size_t>(classes.data()[0]);
            sample.code.assign(y.data(), y.data() + n);
            if (balanced) forest.class_weight.assign(sample.classes, 0.0);
            for (size_t i = 0; balanced && i < n; ++i) forest.class_weight[sample.code[i]] += static_cast<double>(sample.weight(i));
        } else {
            set_targets(sample, {y.data(), n}, factor.span(), criterion == "poisson", 8.0 * static_cast<double>(n + 8));
            const auto [low, high] = std::minmax_element(sample.s.begin(), sample.s.end());
            forest.range = {*low, *high};
        }
        forest.drawing = Drawing(rate);
        forest.drawing.key.assign(key.span().begin(), key.span().end());
        forest.drawing.first.assign(first.span().begin(), first.span().end());
        if (criterion == "absolute_error" && q == 1) forest.by_target = rows_by_target(sample.y, key.span());
        forest.bootstrap = rate > 0;
        forest.criterion = criterion;
        if (factor.size(0) == 0) {
            forest.reciprocal.resize(std::min<size_t>(4 * n + 64, 1 << 24));
            for (size_t i = 1; i < forest.reciprocal.size(); ++i) forest.reciprocal[i] = 1.0 / static_cast<double>(i);
        }
        return forest;
    }));
    made->codes = std::move(given);
}

template <class Targets>
nb::tuple run_tree(const Forest& forest, const ForestSettings& by, const Bag& bag, Targets targets,
                   const typename Targets::Cell* cells) {
    Grown grown;
    std::vector<std::int32_t> leaf_of;
    unlocked([&] {
        const size_t classes = Targets::several ? forest.columns.values : forest.sample.classes;
        ForestGrower<Targets> grower(forest.table, by, std::move(targets), classes, bag.pairs, cells, bag.drawn,
                                     bag.out);
        grower.grow();
        leave_if_stopped();  // what is not finished cannot be described
        grower.describe(forest.sample);
        grown = std::move(grower.values.grown);
        leaf_of = std::move(grower.leaf_of);
    });
    New<std::int32_t> leaf(leaf_of.size());
    std::copy(leaf_of.begin(), leaf_of.end(), leaf.data);
    return nb::make_tuple(arrays_of(grown), leaf.array);
}

template <class Targets>
nb::tuple run_several(const Forest& forest, const ForestSettings& by, const Bag& bag) {
    std::vector<RowCell> cells(forest.columns.n);
    for (const auto i : bag.drawn) cells[i] = {i, static_cast<std::uint32_t>(bag.pairs[i].s), bag.pairs[i].w};
    return run_tree(forest, by, bag, Targets(forest.columns), cells.data());
}

// One tree: its arrays, and the leaf of each row that was not drawn (else -1).
nb::tuple forest_tree(const Forest& forest, std::uint64_t seed, bool random, std::int64_t max_depth, std::int64_t min_split,
                      std::int64_t min_leaf, double min_weight_share, std::int64_t max_features, std::int64_t max_leaves,
                      double min_decrease, Integers monotonic) {
    require(min_leaf >= 1 && max_features >= 1, "min_leaf and max_features must be at least 1");
    require(monotonic.size(0) == 0 || monotonic.size(0) == forest.table.p, "monotonic must have p values");
    require(monotonic.size(0) == 0 || (forest.sample.classes <= 2 && !forest.columns.q), "monotone columns are for numbers and for two classes");
    std::vector<std::int8_t> directions(monotonic.span().begin(), monotonic.span().end());
    if (forest.sample.classes == 1) directions.clear();
    const Sample& sample = forest.sample;
    Bag bag;
    unlocked([&] { bag = fill_bag(forest, seed); });
    const double weight = static_cast<double>(bag.weight);
    const bool whole = static_cast<size_t>(bag.weight) < forest.reciprocal.size();
    const double* reciprocal = whole && sample.w.empty() ? forest.reciprocal.data() : nullptr;
    // The gains that the grower compares are in its own whole numbers.
    double unit = sample.classes == 2 && forest.criterion == "gini" ? 2.0 : 1.0;
    if (!sample.classes && !forest.columns.q)
        unit = forest.criterion == "squared_error" ? sample.unit / sample.weight_unit * (sample.unit / sample.weight_unit)
                                                   : sample.unit / sample.weight_unit;
    const double min_gain = min_decrease > 0 ? std::max(min_decrease * weight / unit, DBL_MIN) : 0.0;
    const ForestSettings by{random, max_depth, min_split, min_leaf, max_features, max_leaves, min_weight_share * weight,
                            min_gain, directions, seed, &*forest_kernels};
    if (forest.columns.q)
        return forest.criterion == "poisson"          ? run_several<SeveralTargets<SeveralPoisson>>(forest, by, bag)
               : forest.criterion == "entropy"        ? run_several<SeveralTargets<SeveralEntropy>>(forest, by, bag)
               : forest.criterion == "absolute_error" ? run_several<SeveralMedians>(forest, by, bag)
                                                      : run_several<SeveralTargets<SeveralSquared>>(forest, by, bag);
    const Pair* cells = bag.pairs.data();
    if (forest.criterion == "poisson") return run_tree(forest, by, bag, SummedTargets<PoissonScore>{{}}, cells);
    if (forest.criterion == "absolute_error") return run_tree(forest, by, bag, RankedTargets{}, cells);
    if (forest.criterion == "entropy") return run_tree(forest, by, bag, ClassCounts<true>(sample.classes), cells);
    if (sample.classes && sample.classes != 2) return run_tree(forest, by, bag, ClassCounts<false>(sample.classes), cells);
    const int weight_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bag.weight)));
    const int target_bits = sample.classes ? 1 : std::min(40, 64 - 2 * weight_bits);
    if (!reciprocal || target_bits < (sample.classes ? 1 : 22) || weight_bits > 30 || !directions.empty())
        return run_tree(forest, by, bag, SummedTargets<SquaredScore>{{reciprocal}}, cells);
    double finer;
    const std::vector<std::uint64_t> packed = packed_cells(forest, bag, 64 - weight_bits, target_bits, finer);
    return run_tree(forest, by, bag, PackedTargets{reciprocal, static_cast<unsigned>(64 - weight_bits), finer}, packed.data());
}

// How often the tree of a seed has drawn each row, as `fill_bag` draws them.
Int64s drawn_times(Column<std::uint64_t> key, Integers first, double rate, std::uint64_t seed) {
    const size_t n = key.size(0);
    require(n > 0 && first.size(0) == n && rate > 0, "key and first must have n values, and rate be above 0");
    New<std::int64_t> times(n);
    unlocked([&] {
        Drawing drawing(rate);
        drawing.key.assign(key.span().begin(), key.span().end());
        drawing.first.assign(first.span().begin(), first.span().end());
        bool some = false;
        for (std::uint64_t attempt = 0; !some; ++attempt)
            for (size_t i = 0; i < n; ++i) {
                times.data[i] = attempt == MOST_ATTEMPTS ? 1 : drawing.times(i, seed, attempt);
                some = some || times.data[i] > 0;
            }
    });
    return nb::borrow<Int64s>(times.array);
}

}  // namespace

NB_MODULE(_forest, m) {
    start_module_beside_kernels();
    nb::class_<Forest> forest(m, "Forest");
    forest.def("__init__", &build_forest, "codes"_a, "n_bins"_a.noconvert(), "edges"_a.noconvert(), "start"_a.noconvert(),
               "category_codes"_a.noconvert(), "categorical"_a.noconvert(), "y"_a.noconvert(), "classes"_a.noconvert(),
               "factor"_a.noconvert(), "key"_a.noconvert(), "first"_a.noconvert(), "rate"_a,
               "criterion"_a, "balanced"_a = false);
    forest.def("tree", &forest_tree, "seed"_a, "random"_a, "max_depth"_a, "min_split"_a, "min_leaf"_a,
               "min_weight_share"_a, "max_features"_a, "max_leaves"_a, "min_decrease"_a, "monotonic"_a.noconvert());
    m.def("drawn_times", &drawn_times, "key"_a.noconvert(), "first"_a.noconvert(), "rate"_a, "seed"_a);
}
