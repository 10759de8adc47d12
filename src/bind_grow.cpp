// Python binding of the growers of single trees. Every index is checked here, before native loops see it.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <numeric>
#include <string>
#include <tuple>

#include "arrays.hpp"
#include "kernels/tree/exact_tree.hpp"
#include "kernels/tree/several_targets.hpp"
#include "tree_arrays.hpp"

using namespace nb::literals;

namespace {

// A table sorted by each of its columns, for any number of trees.
struct Presorted {
    std::vector<std::uint32_t> lists;
    std::vector<std::int64_t> missing;
    size_t n, p;
};

template <class T>
void build(Presorted* made, Table<T> X, size_t n_threads) {
    const size_t n = X.size(0), p = X.size(1);
    require(n > 0 && n < (size_t{1} << 31), "there must be 1 to 2^31 - 1 rows");
    new (made) Presorted(unlocked([&] {
        Presorted sorted{std::vector<std::uint32_t>(n * p), std::vector<std::int64_t>(p), n, p};
        presort<T>(X.rows(), sorted.lists, sorted.missing, n_threads);
        return sorted;
    }));
}

// c log2 c for all weights c there may be; empty where these are too many.
std::vector<double> logarithms(const Sample& sample) {
    const std::int64_t total = sample.w.empty() ? static_cast<std::int64_t>(sample.n)
                                                : std::accumulate(sample.w.begin(), sample.w.end(), std::int64_t{0});
    std::vector<double> table;
    if (total >= 20'000'000 || total >= 20 * static_cast<std::int64_t>(sample.n)) return table;
    table.assign(static_cast<size_t>(total) + 1, 0.0);
    for (size_t c = 1; c < table.size(); ++c) table[c] = static_cast<double>(c) * std::log2(static_cast<double>(c));
    return table;
}

Grafted grow_by(const std::string& criterion, const Settings& by, const Values& X, Sample& sample, size_t outputs,
                std::vector<std::uint32_t> sorted) {
    std::vector<std::uint32_t> rows(sample.n);
    std::iota(rows.begin(), rows.end(), 0u);
    std::vector<double> table;
    if (criterion == "entropy" || by.ratio) {
        table = logarithms(sample);
        return grow_tree(by, X, Classes<true>{sample, table.empty() ? nullptr : table.data()}, outputs, std::move(sorted), std::move(rows));
    }
    if (criterion == "gini" && sample.classes > 2)
        return grow_tree(by, X, Classes<false>{sample, nullptr}, outputs, std::move(sorted), std::move(rows));
    if (criterion == "poisson") return grow_tree(by, X, Poisson{sample}, outputs, std::move(sorted), std::move(rows));
    if (criterion == "absolute_error") {
        rows = rows_by_target(sample.y);
        return grow_tree(by, X, Absolute(sample), outputs, std::move(sorted), std::move(rows));
    }
    if (!sample.w.empty()) return grow_tree(by, X, Variance<true>{sample, nullptr}, outputs, std::move(sorted), std::move(rows));
    table.assign(sample.n + 1, 0.0);
    for (size_t i = 1; i <= sample.n; ++i) table[i] = 1.0 / static_cast<double>(i);
    if (sample.classes)
        return grow_tree(by, X, Variance<false, true>{sample, table.data()}, outputs, std::move(sorted), std::move(rows));
    return grow_tree(by, X, Variance<false>{sample, table.data()}, outputs, std::move(sorted), std::move(rows));
}

// The same for several targets, whose samples all have weights.
Grafted grow_several(const std::string& criterion, const Settings& by, const Values& X, const Samples& samples,
                     size_t outputs, std::vector<std::uint32_t> sorted) {
    std::vector<std::uint32_t> rows(samples.each[0].n);
    std::iota(rows.begin(), rows.end(), 0u);
    const auto grow = [&](const auto& criteria) {
        return grow_tree(by, X, criteria, outputs, std::move(sorted), std::move(rows));
    };
    const double* none = nullptr;
    if (criterion == "entropy") {
        const std::vector<double> table = logarithms(samples.each[0]);
        return grow(several<Classes<true>>(samples, table.empty() ? none : table.data()));
    }
    if (criterion == "gini") return grow(several<Classes<false>>(samples, none));
    if (criterion == "poisson") return grow(several<Poisson>(samples));
    if (criterion == "absolute_error") return grow(several<Absolute>(samples));
    return grow(several<Variance<true>>(samples, none));
}

// A column of (n, q) targets: numbers, or codes of `classes` classes.
Sample sample_of(Matrix Y, size_t k, std::span<const double> w, size_t classes, bool about_zero) {
    const size_t n = Y.size(0), q = Y.size(1);
    Sample sample;
    sample.n = n;
    sample.classes = classes;
    set_weights(sample, w);
    std::vector<double> y(n);
    for (size_t i = 0; i < n; ++i) y[i] = Y.data()[i * q + k];
    if (!classes) {
        set_targets(sample, y, w, about_zero);
        return sample;
    }
    sample.code.resize(n);
    for (size_t i = 0; i < n; ++i) {
        require(y[i] >= 0 && y[i] < static_cast<double>(classes), "a code is not that of a class");
        sample.code[i] = static_cast<std::uint32_t>(y[i]);
    }
    return sample;
}

// The codes of classes, where they are numbers of this type.
template <class T>
bool enter_codes(Sample& sample, const nb::object& y) {
    Input<T, 1> codes;
    if (!codes.acquire(y.ptr())) return false;
    require(codes.size(0) == sample.n, "y and w must have n values");
    sample.code.resize(sample.n);
    for (size_t i = 0; i < sample.n; ++i) {
        require(codes.data()[i] >= 0 && codes.data()[i] < static_cast<T>(sample.classes), "a code is not that of a class");
        sample.code[i] = static_cast<std::uint32_t>(codes.data()[i]);
    }
    return true;
}

// How a tree grows, as Python says it.
struct TreeLimits {
    std::string criterion;
    bool random;
    std::int64_t max_depth, min_split, min_leaf;
    double min_weight_leaf;
    std::int64_t max_features, max_leaves;
    double min_gain;
    std::vector<std::int8_t> monotonic;     // by column, or empty
    std::vector<std::uint8_t> categorical;  // by column, or empty
    std::uint64_t seed;

    // The same for one table, checked.
    Settings settings(const Presorted& sorted, size_t n, size_t p, size_t n_threads) const {
        require(sorted.n == n && sorted.p == p, "X is not the table that was sorted");
        require(sorted.lists.size() == n * p, "the lists went into the last tree");
        require(monotonic.empty() || monotonic.size() == p, "monotonic must have p values");
        require(categorical.empty() || categorical.size() == p, "categorical must have p values");
        require(min_leaf >= 1 && max_features >= 0, "min_leaf must be at least 1");
        return {random, max_depth, min_split, min_leaf, max_features, max_leaves, min_weight_leaf, min_gain, monotonic,
                categorical, sorted.missing, seed, n_threads, criterion == "gain_ratio"};
    }
};

// grow(lists) with the lists of a sorted table. The `last` tree of a table takes them: they are not in memory twice.
template <class Grow>
nb::tuple grown(Presorted& sorted, bool last, Grow&& grow) {
    std::vector<std::uint32_t> lists;
    if (last) lists.swap(sorted.lists);
    Grafted tree;
    unlocked([&] {
        if (!last) lists = sorted.lists;
        tree = grow(std::move(lists));
    });
    return arrays_of(tree);
}

// One exact tree. `y` are targets, or codes of `classes` classes as numbers; `w` is empty where all weights are 1.
template <class T>
nb::tuple exact_tree(Presorted& sorted, Table<T> X, nb::object y, Vector w, std::int64_t classes, const TreeLimits& limits,
                     bool last, size_t n_threads) {
    const size_t n = X.size(0), p = X.size(1);
    const Settings by = limits.settings(sorted, n, p, n_threads);
    require(w.size(0) == 0 || w.size(0) == n, "y and w must have n values");
    Sample sample;
    sample.n = n;
    sample.classes = static_cast<size_t>(classes);
    if (w.size(0)) set_weights(sample, w.span());
    const size_t outputs = classes ? sample.classes : 1;
    if (classes) {
        if (!enter_codes<std::int64_t>(sample, y) && !enter_codes<double>(sample, y))
            throw nb::type_error("y must be float64, or int64 where it holds codes");
        if (classes == 2 && !sample.w.empty()) {
            sample.s.resize(n);
            for (size_t i = 0; i < n; ++i) sample.s[i] = sample.code[i] * sample.w[i];
        }
    } else {
        Input<double, 1> targets;
        if (!targets.acquire(y.ptr())) throw nb::type_error("y must be float64, or int64 where it holds codes");
        require(targets.size(0) == n, "y and w must have n values");
        set_targets(sample, targets.span(), w.span(), limits.criterion == "poisson");
    }
    const Values values{X.data(), p, std::is_same_v<T, float>};
    return grown(sorted, last, [&](std::vector<std::uint32_t> lists) {
        Grafted tree = grow_by(limits.criterion, by, values, sample, outputs, std::move(lists));
        sample = {};
        return tree;
    });
}

// One exact tree for the columns of Y (n, q): numbers, or codes of so many classes each.
template <class T>
nb::tuple exact_tree_of_several(Presorted& sorted, Table<T> X, Matrix Y, Vector w, Integers classes, const TreeLimits& limits,
                                bool last, size_t n_threads) {
    const size_t n = X.size(0), p = X.size(1), q = Y.size(1);
    const Settings by = limits.settings(sorted, n, p, n_threads);
    require(Y.size(0) == n && w.size(0) == n && q >= 1, "Y and w must have n rows");
    require(classes.size(0) == 0 || classes.size(0) == q, "classes must have q values");
    require(!by.ratio && by.monotonic.empty(), "gain_ratio and monotonic are for one target");
    Samples samples;
    size_t outputs = classes.size(0) ? 0 : q;
    for (size_t k = 0; k < q; ++k) {
        const std::int64_t count = classes.size(0) ? classes.data()[k] : 0;
        require(count >= (classes.size(0) ? 1 : 0), "classes must be at least 1");
        outputs += static_cast<size_t>(count);
        samples.each.push_back(sample_of(Y, k, w.span(), static_cast<size_t>(count), limits.criterion == "poisson"));
    }
    const Values values{X.data(), p, std::is_same_v<T, float>};
    return grown(sorted, last, [&](std::vector<std::uint32_t> lists) {
        return grow_several(limits.criterion, by, values, samples, outputs, std::move(lists));
    });
}

template <class T>
void define(nb::class_<Presorted>& presorted) {
    presorted.def("__init__", &build<T>, "X"_a.noconvert(), "n_threads"_a);
    const auto grow = [&](const char* name, auto tree, auto y, auto classes) {
        presorted.def(name, tree, "X"_a.noconvert(), y, "w"_a.noconvert(), classes, "limits"_a, "last"_a, "n_threads"_a);
    };
    grow("grow", &exact_tree<T>, "y"_a, "classes"_a);
    grow("grow_several", &exact_tree_of_several<T>, "Y"_a.noconvert(), "classes"_a.noconvert());
}

void define_limits(nb::module_& m) {
    nb::class_<TreeLimits>(m, "TreeLimits")
        .def("__init__",
             [](TreeLimits* made, std::string criterion, bool random, std::int64_t max_depth, std::int64_t min_split,
                std::int64_t min_leaf, double min_weight_leaf, std::int64_t max_features, std::int64_t max_leaves, double min_gain,
                Integers monotonic, Column<std::uint8_t> categorical, std::uint64_t seed) {
                 new (made) TreeLimits{std::move(criterion), random, max_depth, min_split, min_leaf, min_weight_leaf, max_features,
                                       max_leaves, min_gain, {monotonic.span().begin(), monotonic.span().end()},
                                       {categorical.span().begin(), categorical.span().end()}, seed};
             },
             nb::kw_only(), "criterion"_a, "random"_a, "max_depth"_a, "min_split"_a, "min_leaf"_a, "min_weight_leaf"_a,
             "max_features"_a, "max_leaves"_a, "min_gain"_a, "monotonic"_a.noconvert(), "categorical"_a.noconvert(), "seed"_a);
}

}  // namespace

NB_MODULE(_grow, m) {
    start_module_beside_kernels();
    define_limits(m);
    nb::class_<Presorted> presorted(m, "Presorted");
    define<double>(presorted);
    define<float>(presorted);
}
