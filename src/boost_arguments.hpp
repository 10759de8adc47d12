// What the bindings of boosting have in common: arguments that are checked, limits, losses, and trees as arrays.
#pragma once

#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "code_table.hpp"
#include "kernels/boosting/distributed_tree.hpp"
#include "kernels/boosting/gradients.hpp"
#include "levels.hpp"

inline Levels<BoostKernels> boost_kernels(TENFOLD_LEVELS(boost));

inline Loss as_loss(std::int64_t number) {
    require(number >= 0 && number < N_LOSSES, "there is no such loss");
    return static_cast<Loss>(number);
}

// Every code must be that of a bin of its column, or of missing values.
inline void check_codes(const CodeTable& codes, Integers n_bins) {
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
inline Columns plain_columns(Integers n_bins) {
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

inline Columns columns_of(Integers n_bins, const Input<std::uint8_t, 1>& categorical, Integers order,
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

inline size_t as_threads(std::int64_t n) {
    require(n >= 1 && n <= 1024, "there must be 1 to 1024 threads");
    return static_cast<size_t>(n);
}

inline LossAt loss_at(std::int64_t loss, Vector y, Vector raw, Vector w, double parameter) {
    const size_t n = y.size(0);
    require(raw.size(0) == n && (w.size(0) == 0 || w.size(0) == n), "y, raw and w must have a number for each row");
    return {as_loss(loss), y.data(), raw.data(), w.size(0) ? w.data() : nullptr, parameter, n};
}

// What a tree may be: `Rule` and `Limits` as Python gives them.
struct TreeLimits {
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
inline nb::tuple as_arrays(const std::vector<BoostNode>& nodes, const Rule& rule) {
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

inline void bind_limits(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<TreeLimits>(m, "TreeLimits")
        .def("__init__",
             [](TreeLimits* made, double l1, double l2, double least_curvature, double least_gain, std::int64_t least_rows,
                std::int64_t split_rows, std::int64_t leaves, std::int64_t depth, std::int64_t columns, std::int64_t seed,
                double rate, double longest, bool whole) {
                 new (made) TreeLimits{.l1 = l1, .l2 = l2, .least_curvature = least_curvature, .least_gain = least_gain,
                                       .least_rows = least_rows, .split_rows = split_rows, .leaves = leaves, .depth = depth,
                                       .columns = columns, .seed = seed, .rate = rate, .longest = longest, .whole = whole};
             },
             nb::kw_only(), "l1"_a, "l2"_a, "least_curvature"_a, "least_gain"_a, "least_rows"_a, "split_rows"_a, "leaves"_a,
             "depth"_a, "columns"_a, "seed"_a, "rate"_a, "longest"_a, "whole"_a);
}

// LOSSES: the number of each loss by its name, which is all that Python knows of it.
inline void bind_losses(nb::module_& m) {
    nb::dict numbers;
    for (int i = 0; i < N_LOSSES; ++i) numbers[LOSS_NAMES[i]] = i;
    m.attr("LOSSES") = numbers;
}
