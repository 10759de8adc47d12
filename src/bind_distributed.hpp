// Binding of boosting on rows that are elsewhere: sums that blocks and threads may share, and trees that never see their rows.
#pragma once

#include "boost_arguments.hpp"

// --- functions of some rows ---------------------------------------------------------------------------------------------

// (gradient, curvature): the largest of the rows.
inline nb::tuple extent_of(std::int64_t loss, Vector y, Vector raw, Vector w, double parameter) {
    const LossAt at = loss_at(loss, y, raw, w, parameter);
    Extent found;
    unlocked([&] {
        Team team(1);
        found = extent(team, *boost_kernels, at);
    });
    return nb::make_tuple(found.gradient, found.curvature);
}

// (n, 2): gradients, and curvatures with counts, in the units of sums over `n_rows` rows with this extent.
inline nb::object fixed_gradients(std::int64_t loss, Vector y, Vector raw, Vector w, double parameter, double gradient,
                           double curvature, std::int64_t n_rows) {
    const LossAt at = loss_at(loss, y, raw, w, parameter);
    require(n_rows >= static_cast<std::int64_t>(at.n) && n_rows < std::int64_t{1} << 27, "there must be less than 2^27 rows");
    New<std::int64_t> terms(at.n, size_t{2});
    unlocked([&] {
        Team team(1);
        std::vector<Sum> sums(at.n);
        fix_gradients(team, *boost_kernels, at, units({gradient, curvature}, static_cast<size_t>(n_rows)), sums.data());
        std::memcpy(terms.data, sums.data(), at.n * sizeof(Sum));
    });
    return terms.array;
}

inline size_t as_groups(const Input<std::int32_t, 1>& group, std::int64_t n_groups, size_t n) {
    require(n_groups >= 1 && group.size(0) == n, "each row must have a group");
    for (const std::int32_t one : group.span()) require(one >= 0 && one < n_groups, "there is no such group");
    return static_cast<size_t>(n_groups);
}

// (groups, words): the losses of each group of rows.
inline nb::object losses_of(std::int64_t loss, Vector y, Vector raw, Vector w, double parameter, const Input<std::int32_t, 1>& group,
                     std::int64_t n_groups, std::int64_t n_threads) {
    const LossAt at = loss_at(loss, y, raw, w, parameter);
    const size_t groups = as_groups(group, n_groups, at.n), threads = as_threads(n_threads);
    New<std::int64_t> words(groups, EXACT_WORDS);
    unlocked([&] {
        Team team(threads);
        loss_sums(team, *boost_kernels, at, group.data(), groups, words.data);
    });
    return words.array;
}

inline nb::object exact_sums(Vector values, const Input<std::int32_t, 1>& group, std::int64_t n_groups) {
    const size_t groups = as_groups(group, n_groups, values.size(0));
    New<std::int64_t> words(groups, EXACT_WORDS);
    unlocked([&] { add_groups(values.data(), group.data(), values.size(0), words.data); });
    return words.array;
}

inline nb::object exact_values(const Input<std::int64_t, 2>& words) {
    require(words.size(1) == EXACT_WORDS, "an exact sum has 67 words");
    Output made = zeros(words.size(0));
    for (size_t i = 0; i < words.size(0); ++i) made.data[i] = exact_value(words.data() + i * EXACT_WORDS);
    return made.array;
}

inline nb::object softmax(Matrix raw, std::int64_t n_threads) {
    const size_t k = raw.size(0), n = raw.size(1), threads = as_threads(n_threads);
    require(k >= 1, "there must be a class");
    Output made = unfilled(k, n);
    unlocked([&] {
        Team team(threads);
        team.ranges(n, 4096, [&](size_t a, size_t b) { boost_kernels->softmax_rows(raw.data(), k, n, a, b, made.data); });
    });
    return made.array;
}

// --- trees whose rows are elsewhere ---------------------------------------------------------------------------------------

using Bytes = const Input<std::uint8_t, 1>&;
using Words = const Input<std::int32_t, 1>&;
using Sets = const Input<std::uint64_t, 2>&;
using Groups = const Input<std::uint8_t, 2>&;

// How nodes part their rows, from arrays.
inline std::vector<Split> as_splits(Words feature, Words bin, Bytes missing_left, Bytes by_set, Sets sets, size_t p) {
    const size_t n = feature.size(0);
    require(bin.size(0) == n && missing_left.size(0) == n && by_set.size(0) == n && sets.size(0) == n && sets.size(1) == 4,
            "one entry for each split");
    std::vector<Split> splits(n);
    for (size_t i = 0; i < n; ++i) {
        require(feature.data()[i] < static_cast<std::int64_t>(p), "there is no such column");
        splits[i].feature = feature.data()[i];
        splits[i].bin = bin.data()[i];
        splits[i].missing_left = missing_left.data()[i];
        splits[i].by_set = by_set.data()[i];
        std::copy_n(sets.data() + 4 * i, 4, splits[i].set.begin());
    }
    return splits;
}

// Columns of a table of codes, of which nothing else need be known.
inline Columns coded_columns(Integers n_bins, const CodeTable& codes) {
    require(codes.in_words() && codes.size(1) >= n_bins.size(0), "rows of codes must be whole words of 8 bytes");
    return plain_columns(n_bins);
}

inline const Sum* as_terms(const Input<std::int64_t, 2>& terms, const CodeTable& codes, const Input<std::uint32_t, 1>& rows) {
    require(terms.size(0) == codes.size(0) && terms.size(1) == 2, "terms must be (n, 2)");
    require(reinterpret_cast<std::uintptr_t>(terms.data()) % alignof(Sum) == 0, "terms must begin at a multiple of 16 bytes");
    for (const std::uint32_t row : rows.span()) require(row < codes.size(0), "there is no such row");
    return reinterpret_cast<const Sum*>(terms.data());
}

// (bins, 2): the histogram of some rows.
inline nb::object sum_rows(const CodeTable& codes, Integers n_bins, const Input<std::int64_t, 2>& terms, const Input<std::uint32_t, 1>& rows) {
    const Columns columns = coded_columns(n_bins, codes);
    const Sum* sums = as_terms(terms, codes, rows);
    New<std::int64_t> histogram(columns.total(), size_t{2});
    unlocked([&] {
        Turn now(codes.codes(), sums, columns, *boost_kernels);
        const std::span<const Sum> found = now.sum(rows.span());
        std::memcpy(histogram.data, found.data(), found.size_bytes());
    });
    return histogram.array;
}

// Parts the rows of some nodes, whose rows are rows[begin[i] .. end[i] - 1], and sums children. Returns the new list, how many rows
// of each node went left, and the histograms that were asked for (1: left, 2: right, 3: both).
inline nb::tuple part_and_sum(const CodeTable& codes, Integers n_bins, const Input<std::int64_t, 2>& terms, const Input<std::uint32_t, 1>& rows,
                       Integers begin, Integers end, Words feature, Words bin, Bytes missing_left, Bytes by_set, Sets sets,
                       Bytes ask) {
    const Columns columns = coded_columns(n_bins, codes);
    const Sum* sums = as_terms(terms, codes, rows);
    const size_t n = rows.size(0), k = begin.size(0);
    const std::vector<Split> splits = as_splits(feature, bin, missing_left, by_set, sets, columns.p());
    require(end.size(0) == k && splits.size() == k && ask.size(0) == k, "one entry for each node");
    size_t n_asked = 0;
    for (size_t i = 0; i < k; ++i) {
        const std::int64_t a = begin.data()[i], b = end.data()[i];
        require(a >= 0 && a <= b && b <= static_cast<std::int64_t>(n) && splits[i].feature >= 0, "a node has no such rows");
        n_asked += (ask.data()[i] & 1) + (ask.data()[i] >> 1 & 1);
    }
    New<std::uint32_t> moved(n);
    New<std::int64_t> lefts(k), histograms(n_asked, columns.total(), size_t{2});
    unlocked([&] {
        std::copy_n(rows.data(), n, moved.data);
        Turn now(codes.codes(), sums, columns, *boost_kernels);
        std::int64_t* out = histograms.data;
        for (size_t i = 0; i < k && !stopped(); ++i) {
            const size_t a = static_cast<size_t>(begin.data()[i]), m = static_cast<size_t>(end.data()[i]) - a;
            const size_t left = now.part({rows.data() + a, m}, splits[i], moved.data + a);
            lefts.data[i] = static_cast<std::int64_t>(left);
            const std::span<const std::uint32_t> children[2] = {{moved.data + a, left}, {moved.data + a + left, m - left}};
            for (const int side : {0, 1}) {
                if (!(ask.data()[i] >> side & 1)) continue;
                const std::span<const Sum> found = now.sum(children[side]);
                std::memcpy(out, found.data(), found.size_bytes());
                out += 2 * found.size();
            }
        }
    });
    return nb::make_tuple(moved.array, lefts.array, histograms.array);
}

// (n,): the leaf of each row.
inline nb::object leaves_of(const CodeTable& codes, Integers n_bins, Words left, Words right, Words feature, Words bin, Bytes missing_left,
                     Bytes by_set, Sets sets) {
    const Columns columns = coded_columns(n_bins, codes);
    const size_t k = left.size(0), n = codes.size(0);
    const std::vector<Split> splits = as_splits(feature, bin, missing_left, by_set, sets, columns.p());
    require(k >= 1 && right.size(0) == k && splits.size() == k, "one entry for each node");
    std::vector<BoostNode> nodes(k);
    for (size_t i = 0; i < k; ++i) {
        const std::int64_t l = left.data()[i], r = right.data()[i], m = static_cast<std::int64_t>(k), at = static_cast<std::int64_t>(i);
        require(l < 0 || (l > at && l < m && r > at && r < m && splits[i].feature >= 0), "children must follow their parent");
        nodes[i] = {left.data()[i], right.data()[i], splits[i], {}, 0.0};
    }
    New<std::int32_t> leaf(n);
    unlocked([&] {
        codes.codes().visit([&](const auto* table) {
            for (size_t i = 0; i < n; ++i)
                leaf.data[i] = static_cast<std::int32_t>(leaf_of(nodes, columns.missing.data(), table + i * codes.size(1)));
        });
    });
    return leaf.array;
}

// Decides how a tree grows on rows that it never sees.
class BoundTree {
public:
    BoundTree(Integers n_bins, Bytes categorical, Integers order, Groups together, std::int64_t n_threads)
        : tree_(columns_of(n_bins, categorical, order, together), as_threads(n_threads), *boost_kernels) {}

    // With the histogram of all rows, in the units of `n_rows` rows with this extent.
    void begin(const Input<std::int64_t, 2>& histogram, double gradient, double curvature, std::int64_t n_rows,
               const TreeLimits& wanted) {
        require(n_rows >= 1 && n_rows < std::int64_t{1} << 27, "there must be less than 2^27 rows");
        require(histogram.size(0) == tree_.columns().total() && histogram.size(1) == 2, "a histogram has two numbers for each bin");
        rule_ = wanted.rule(units({gradient, curvature}, static_cast<size_t>(n_rows)));
        const Limits limits = wanted.limits();
        unlocked([&] { tree_.begin(rule_, limits, as_sums(histogram.span()).data()); });
    }

    // What to ask of the rows: node, left child, which children to sum; feature, bin, missing left, by a set, the sets.
    nb::tuple asked() const {
        const auto& asked = tree_.asked();
        const size_t n = asked.size();
        New<std::int64_t> node(n), first(n);
        New<std::int32_t> feature(n), bin(n);
        New<std::uint8_t> missing_left(n), by_set(n), ask(n);
        New<std::uint64_t> sets(n, size_t{4});
        for (size_t i = 0; i < n; ++i) {
            const BoostNode& one = tree_.thought()[asked[i].node];
            node.data[i] = static_cast<std::int64_t>(asked[i].node);
            first.data[i] = one.left;
            feature.data[i] = one.split.feature;
            bin.data[i] = one.split.bin;
            missing_left.data[i] = one.split.missing_left;
            by_set.data[i] = one.split.by_set;
            std::copy(one.split.set.begin(), one.split.set.end(), sets.data + 4 * i);
            ask.data[i] = static_cast<std::uint8_t>(asked[i].left + 2 * asked[i].right);
        }
        return nb::make_tuple(node.array, first.array, feature.array, bin.array, missing_left.array, by_set.array, sets.array,
                              ask.array);
    }

    void answer(const Input<std::int64_t, 3>& histograms) {
        require(histograms.size(0) == tree_.n_histograms() && histograms.size(1) == tree_.columns().total() && histograms.size(2) == 2,
                "there must be as many histograms as were asked for");
        unlocked([&] { tree_.answer(as_sums(histograms.span()).data()); });
    }

    nb::tuple nodes() const { return as_arrays(tree_.nodes(), rule_); }

private:
    static std::vector<Sum> as_sums(std::span<const std::int64_t> numbers) {
        std::vector<Sum> sums(numbers.size() / 2);
        std::memcpy(static_cast<void*>(sums.data()), numbers.data(), sums.size() * sizeof(Sum));
        return sums;
    }

    DistributedTree tree_;
    Rule rule_{};
};

inline void bind_distributed(nb::module_& m) {
    using namespace nb::literals;
    const auto loss = [&](const char* name, auto f, auto... more) {
        m.def(name, f, "loss"_a, "y"_a.noconvert(), "raw"_a.noconvert(), "w"_a.noconvert(), "parameter"_a, more...);
    };
    loss("extent", &extent_of);
    loss("fixed_gradients", &fixed_gradients, "gradient"_a, "curvature"_a, "n_rows"_a);
    loss("loss_sums", &losses_of, "group"_a.noconvert(), "n_groups"_a, "n_threads"_a);
    m.def("exact_sums", &exact_sums, "values"_a.noconvert(), "group"_a.noconvert(), "n_groups"_a);
    m.def("exact_values", &exact_values, "words"_a.noconvert());
    m.def("softmax", &softmax, "raw"_a.noconvert(), "n_threads"_a);
    m.def("sum_rows", &sum_rows, "codes"_a.noconvert(), "n_bins"_a.noconvert(), "terms"_a.noconvert(), "rows"_a.noconvert());
    m.def("part_and_sum", &part_and_sum, "codes"_a.noconvert(), "n_bins"_a.noconvert(), "terms"_a.noconvert(),
          "rows"_a.noconvert(), "begin"_a.noconvert(), "end"_a.noconvert(), "feature"_a.noconvert(), "bin"_a.noconvert(),
          "missing_left"_a.noconvert(), "by_set"_a.noconvert(), "sets"_a.noconvert(), "ask"_a.noconvert());
    m.def("leaves_of", &leaves_of, "codes"_a.noconvert(), "n_bins"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(),
          "feature"_a.noconvert(), "bin"_a.noconvert(), "missing_left"_a.noconvert(), "by_set"_a.noconvert(), "sets"_a.noconvert());
    nb::class_<BoundTree>(m, "DistributedTree")
        .def(nb::init<Integers, Bytes, Integers, Groups, std::int64_t>(), "n_bins"_a.noconvert(), "categorical"_a.noconvert(),
             "order"_a.noconvert(), "together"_a.noconvert(), "n_threads"_a)
        .def("begin", &BoundTree::begin, "histogram"_a.noconvert(), "gradient"_a, "curvature"_a, "n_rows"_a, "limits"_a)
        .def("asked", &BoundTree::asked)
        .def("answer", &BoundTree::answer, "histograms"_a.noconvert())
        .def("nodes", &BoundTree::nodes);
}
