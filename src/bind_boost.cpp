// Python binding of bins and boosting. Every index is checked here, before native loops see it.
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "arrays.hpp"
#include "code_table.hpp"
#include "kernels/boosting/distributed_tree.hpp"
#include "kernels/boosting/gradients.hpp"
#include "kernels/boosting/leaf_values.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<BoostKernels> kernels(TENFOLD_LEVELS(boost));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return kernels.use(name); }

nb::object edges_of(Vector sorted, Vector weight, std::int64_t most) {
    require(weight.size(0) == 0 || weight.size(0) == sorted.size(0), "weights must be as many as values");
    require(most >= 2 && most <= 65535, "there can be 2 to 65535 bins");
    std::vector<double> edges;
    unlocked([&] { bin_edges(sorted.span(), weight.span(), static_cast<size_t>(most), edges); });
    New<double> made(edges.size());
    std::copy(edges.begin(), edges.end(), made.data);
    return made.array;
}

template <class Code, class T>
nb::object coded_as(Table<T> X, const ColumnEdges& by, size_t width, CodeRows<T, Code>* code_rows) {
    New<Code> codes(X.size(0), width);
    unlocked([&] { code_rows(X.rows(), by, codes.data, width); });
    return codes.array;
}

// Codes of bytes, or (wide) of two bytes.
template <class T>
nb::object coded(Table<T> X, Vector edges, Integers start, const Input<std::int32_t, 1>& halvings, Integers n_bins,
                 std::int64_t width, bool wide) {
    const size_t p = X.size(1);
    require(start.size(0) == p && halvings.size(0) == p && n_bins.size(0) == p, "start, halvings and n_bins must be (p)");
    require(width >= static_cast<std::int64_t>(p), "a row of codes must hold all columns");
    const std::int64_t most = wide ? 65535 : 255, n_edges = static_cast<std::int64_t>(edges.size(0));
    for (size_t j = 0; j < p; ++j) {
        const std::int32_t halved = halvings.data()[j];
        require(halved >= 0 && halved <= (wide ? 16 : SHORT), "a column has at most " + std::to_string(most) + " edges");
        const std::int64_t length = std::int64_t{1} << std::max(halved, SHORT);
        require(start.data()[j] >= 0 && start.data()[j] <= n_edges - length, "the edges of a column are 256 or more");
        require(n_bins.data()[j] >= 0 && n_bins.data()[j] <= most, "a column has at most " + std::to_string(most) + " bins");
    }
    const ColumnEdges by{edges.data(), start.data(), halvings.data(), n_bins.data(), p};
    const auto w = static_cast<size_t>(width);
    if constexpr (std::is_same_v<T, float>)
        return wide ? coded_as(X, by, w, kernels->code_floats_wide) : coded_as(X, by, w, kernels->code_floats);
    else return wide ? coded_as(X, by, w, kernels->code_doubles_wide) : coded_as(X, by, w, kernels->code_doubles);
}

Loss as_loss(std::int64_t number) {
    require(number >= 0 && number < N_LOSSES, "there is no such loss");
    return static_cast<Loss>(number);
}

// Every code must be that of a bin of its column, or of missing values.
void check_codes(const CodeTable& codes, Integers n_bins) {
    const size_t n = codes.size(0), width = codes.size(1), p = n_bins.size(0);
    require(codes.in_words() && width >= p && p > 0, "rows of codes must be whole words of 8 bytes that hold all columns");
    require(n > 0 && n < size_t{1} << 27, "a table of codes must have 1 to 2^27 - 1 rows");
    codes.codes().visit([&]<class Code>(const Code* table) {
        std::vector<Code> top(width, 0);
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < width; ++j) top[j] = std::max(top[j], table[i * width + j]);
        for (size_t j = 0; j < p; ++j)
            require(top[j] <= n_bins.data()[j], "column " + std::to_string(j) + " has a code beyond its bins");
    });
}

// Columns with these bins, in a histogram one after the other.
Columns plain_columns(Integers n_bins) {
    Columns columns;
    columns.offset.push_back(0);
    for (const std::int64_t bins : n_bins.span()) {
        require(bins >= 0 && bins <= 65535, "a column has at most 65535 bins");
        columns.missing.push_back(static_cast<std::uint16_t>(bins));
        const std::uint64_t end = std::uint64_t{columns.offset.back()} + static_cast<std::uint64_t>(bins) + 1;
        require(end < std::uint64_t{1} << 32, "all columns have less than 2^32 bins");
        columns.offset.push_back(static_cast<std::uint32_t>(end));
    }
    return columns;
}

Columns columns_of(Integers n_bins, const Input<std::uint8_t, 1>& categorical, Integers order,
                   const Input<std::uint8_t, 2>& together) {
    const size_t p = n_bins.size(0);
    require(p > 0 && categorical.size(0) == p && order.size(0) == p && together.size(1) == p, "one entry for each column");
    Columns columns = plain_columns(n_bins);
    for (size_t j = 0; j < p; ++j) {
        require(!categorical.data()[j] || n_bins.data()[j] <= 255, "a column of categories has at most 255 bins");
        columns.categorical.push_back(categorical.data()[j]);
        columns.order.push_back(static_cast<std::int8_t>(std::clamp<std::int64_t>(order.data()[j], -1, 1)));
        columns.ordered |= columns.order.back() != 0;
    }
    for (size_t g = 0; g < together.size(0); ++g)
        columns.together.emplace_back(together.data() + g * p, together.data() + (g + 1) * p);
    return columns;
}

size_t as_threads(std::int64_t n) {
    require(n >= 1 && n <= 1024, "there must be 1 to 1024 threads");
    return static_cast<size_t>(n);
}

LossAt loss_at(std::int64_t loss, Vector y, Vector raw, Vector w, double parameter) {
    const size_t n = y.size(0);
    require(raw.size(0) == n && (w.size(0) == 0 || w.size(0) == n), "y, raw and w must have a number for each row");
    return {as_loss(loss), y.data(), raw.data(), w.size(0) ? w.data() : nullptr, parameter, n};
}

// What a tree may be, in the order of the arguments of `grow`.
struct Wanted {
    double l1, l2, least_curvature, least_gain;
    std::int64_t least_rows, split_rows, leaves, depth, columns, seed;
    double rate, longest;
    bool whole;

    Rule rule(Rule units) const {
        require(l1 >= 0 && l2 >= 0 && longest >= 0, "limits must be positive");
        units.l1 = l1;
        units.l2 = l2;
        units.least_curvature = least_curvature;
        units.least_gain = least_gain;
        units.longest = longest;
        units.least_rows = std::max<std::int64_t>(least_rows, 1);
        return units;
    }
    Limits limits() const {
        require(leaves >= 1 && depth >= 0 && columns >= 1, "limits must be positive");
        return {static_cast<size_t>(leaves), static_cast<size_t>(depth), static_cast<size_t>(columns), split_rows,
                static_cast<std::uint64_t>(seed), rate, whole};
    }
};

// left, right, feature, bin, missing left, by a set, the sets, value, gain, rows
nb::tuple as_arrays(const std::vector<BoostNode>& nodes, const Rule& rule) {
    const size_t n = nodes.size();
    New<std::int32_t> left(n), right(n), feature(n), bin(n);
    New<std::uint8_t> missing_left(n), by_set(n);
    New<std::uint64_t> sets(n, size_t{4});
    New<double> value(n), gain(n);
    New<std::int64_t> rows(n);
    for (size_t i = 0; i < n; ++i) {
        const BoostNode& node = nodes[i];
        const bool leaf = node.left < 0;
        left.data[i] = node.left;
        right.data[i] = node.right;
        feature.data[i] = leaf ? -2 : node.split.feature;
        bin.data[i] = leaf ? 0 : node.split.bin;
        missing_left.data[i] = !leaf && node.split.missing_left;
        by_set.data[i] = !leaf && node.split.by_set;
        if (by_set.data[i]) std::copy(node.split.set.begin(), node.split.set.end(), sets.data + 4 * i);
        value.data[i] = node.value;
        gain.data[i] = leaf ? 0 : node.split.gain;
        rows.data[i] = rule.count(node.sum);
    }
    return nb::make_tuple(left.array, right.array, feature.array, bin.array, missing_left.array, by_set.array, sets.array,
                          value.array, gain.array, rows.array);
}

#include "bind_spread.hpp"

// A table of codes on which tree after tree is grown.
class Boosting {
public:
    Boosting(nb::object codes, Integers n_bins, const Input<std::uint8_t, 1>& categorical, Integers order,
             const Input<std::uint8_t, 2>& together, std::int64_t n_threads)
        : codes_(std::move(codes)) {
        CodeTable table;
        require(table.acquire(codes_.ptr()), "codes must be a C-contiguous array of uint8 or uint16 with two axes");
        Columns columns = columns_of(n_bins, categorical, order, together);
        check_codes(table, n_bins);
        const size_t threads = as_threads(n_threads);
        unlocked([&] { grower_.emplace(table.codes(), table.size(0), std::move(columns), threads, *kernels); });
    }

    // From now on.
    void use_threads(std::int64_t n) {
        const size_t threads = as_threads(n);
        unlocked([&] { grower_->use_threads(threads); });
    }

    void gradients(std::int64_t loss, Vector y, Vector raw, Vector w, double parameter) {
        check(y, raw, w);
        const LossAt at = loss_at(loss, y, raw, w, parameter);
        unlocked([&] {
            rule_ = units(extent(grower_->team(), *kernels, at), at.n);
            fix_gradients(grower_->team(), *kernels, at, rule_, grower_->rows().terms());
        });
    }

    nb::tuple grow(const Input<std::uint32_t, 1>& rows, double l1, double l2, double least_curvature, double least_gain,
                   std::int64_t least_rows, std::int64_t split_rows, std::int64_t leaves, std::int64_t depth,
                   std::int64_t columns, std::int64_t seed, double rate, double longest, bool whole) {
        const Wanted wanted{l1,   l2,      least_curvature, least_gain, least_rows, split_rows, leaves, depth, columns, seed,
                            rate, longest, whole};
        for (const std::uint32_t row : rows.span()) require(row < grower_->n(), "there is no such row");
        require(rows.size(0) <= grower_->n(), "there are more rows than the table has");
        rule_ = wanted.rule(rule_);
        const Limits limits = wanted.limits();
        unlocked([&] { grower_->grow(rows.span(), rule_, limits); });
        return as_arrays(grower_->nodes(), rule_);
    }

    void renew(std::int64_t loss, Vector y, Vector raw, Vector w, double parameter, double rate) {
        check(y, raw, w);
        const Loss kind = as_loss(loss);
        unlocked([&] { renew_leaves(*grower_, kind, y.data(), raw.data(), weights(w), parameter, rate); });
    }

    nb::object values() const {
        New<double> made(grower_->nodes().size());
        for (size_t i = 0; i < grower_->nodes().size(); ++i) made.data[i] = grower_->nodes()[i].value;
        return made.array;
    }

    // Σ w of the rows of each node.
    nb::object weight(Vector w) const {
        const auto& nodes = grower_->nodes();
        require(w.size(0) == grower_->n(), "there must be a weight for each row");
        New<double> made(nodes.size());
        for (size_t i = nodes.size(); i-- > 0;) {
            if (nodes[i].left >= 0) made.data[i] = made.data[nodes[i].left] + made.data[nodes[i].right];
            else {
                std::array<std::int64_t, EXACT_WORDS> words{};
                for (const std::uint32_t row : grower_->rows().of(i)) add_exactly(w.data()[row], words.data());
                made.data[i] = exact_value(words.data());
            }
        }
        return made.array;
    }

    void update(nb::object raw) {
        Input<double, 1> table;
        require(table.acquire(raw.ptr()) && table.size(0) == grower_->n(), "raw must have a float64 for each row");
        double* data = static_cast<double*>(buffer_of(raw));
        unlocked([&] { grower_->update(data); });
    }

private:
    void check(Vector y, Vector raw, Vector w) const {
        require(y.size(0) == grower_->n() && raw.size(0) == grower_->n(), "y and raw must have a number for each row");
        require(w.size(0) == 0 || w.size(0) == grower_->n(), "there must be a weight for each row, or none");
    }
    static const double* weights(Vector w) { return w.size(0) ? w.data() : nullptr; }

    nb::object codes_;
    std::optional<Grower> grower_;
    Rule rule_{};
};

}  // namespace

NB_MODULE(_boost, m) {
    start_module_beside_kernels();
    m.def("use_level", &use_level, "name"_a);
    m.def("bin_edges", &edges_of, "sorted"_a.noconvert(), "weight"_a.noconvert(), "most"_a);
    m.def("code_rows", &coded<double>, "X"_a.noconvert(), "edges"_a.noconvert(), "start"_a.noconvert(), "halvings"_a.noconvert(),
          "n_bins"_a.noconvert(), "width"_a, "wide"_a);
    m.def("code_rows", &coded<float>, "X"_a.noconvert(), "edges"_a.noconvert(), "start"_a.noconvert(), "halvings"_a.noconvert(),
          "n_bins"_a.noconvert(), "width"_a, "wide"_a);
    nb::class_<Boosting>(m, "Boosting")
        .def(nb::init<nb::object, Integers, const Input<std::uint8_t, 1>&, Integers, const Input<std::uint8_t, 2>&, std::int64_t>(),
             "codes"_a, "n_bins"_a.noconvert(), "categorical"_a.noconvert(), "order"_a.noconvert(),
             "together"_a.noconvert(), "n_threads"_a)
        .def("use_threads", &Boosting::use_threads, "n"_a)
        .def("gradients", &Boosting::gradients, "loss"_a, "y"_a.noconvert(), "raw"_a.noconvert(), "w"_a.noconvert(),
             "parameter"_a)
        .def("grow", &Boosting::grow, "rows"_a.noconvert(), "l1"_a, "l2"_a, "least_curvature"_a, "least_gain"_a,
             "least_rows"_a, "split_rows"_a, "leaves"_a, "depth"_a, "columns"_a, "seed"_a, "rate"_a, "longest"_a, "whole"_a)
        .def("renew", &Boosting::renew, "loss"_a, "y"_a.noconvert(), "raw"_a.noconvert(), "w"_a.noconvert(),
             "parameter"_a, "rate"_a)
        .def("values", &Boosting::values)
        .def("weight", &Boosting::weight, "w"_a.noconvert())
        .def("update", &Boosting::update, "raw"_a);
    bind_spread(m);
}
