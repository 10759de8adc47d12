// What the trees of a forest share, a table of codes with its targets, and the rows that each of them draws from it.
#pragma once

#include <string>
#include <vector>

#include "arrays.hpp"
#include "kernels/forest/grower.hpp"

// A binned table with its targets, for any number of trees at once.
struct Forest {
    nb::object codes;  // whose memory the table reads too
    Binned table;
    Sample sample;
    Drawing drawing{1.0};
    std::vector<double> reciprocal;
    std::string criterion;
    bool bootstrap = true;
    std::vector<double> class_weight;                   // of all rows, where classes are balanced anew for each tree; else empty
    std::pair<std::int64_t, std::int64_t> range{0, 0};  // of the targets as whole numbers
    TargetColumns columns;                              // of several targets; else empty
    std::vector<std::uint32_t> by_target;               // rows in rising order of their targets, where medians are asked for
};

// Columns of codes side by side, one after the other: a byte a value, or two. Returns whether every code is that of a bin; others
// become missing values.
template <class Code>
bool enter_codes(Binned& table, Rows<const Code> codes) {
    bool within = true;
    const auto put = [&](auto& to, size_t j, size_t from, size_t end) {
        using Own = typename std::remove_reference_t<decltype(to)>::value_type;
        const Code most = static_cast<Code>(table.n_bins[j]);
        auto* column = &to[table.place[j] * table.n];
        Code largest = 0;
        for (size_t i = from; i < end; ++i) {
            column[i] = static_cast<Own>(std::min(codes[i][j], most));
            largest = std::max(largest, codes[i][j]);
        }
        within = within && largest <= most;
    };
    for (size_t start = 0; start < table.n; start += 512)  // a tile of rows stays in cache while its columns are written
        for (size_t j = 0; j < table.p; ++j) {
            const size_t end = std::min(table.n, start + 512);
            if (table.wide[j]) put(table.wide_codes, j, start, end);
            else put(table.codes, j, start, end);
        }
    for (size_t j = 0; j < table.p; ++j) {
        const auto has_blanks = [&](const auto& from) {
            const auto column = from.begin() + static_cast<std::ptrdiff_t>(table.place[j] * table.n);
            const auto end = column + static_cast<std::ptrdiff_t>(table.n);
            return std::find(column, end, table.n_bins[j]) != end;
        };
        table.missing[j] = table.wide[j] ? has_blanks(table.wide_codes) : has_blanks(table.codes);
    }
    return within;
}

// Columns of numbers, or of codes of so many classes each; the weights of the sample are there already.
inline TargetColumns target_columns(Matrix y, Integers classes, const Sample& weights, Vector factor, bool about_zero) {
    TargetColumns columns;
    const size_t n = columns.n = y.size(0), q = columns.q = y.size(1);
    columns.classes = classes.data()[0] > 0;
    columns.first.push_back(0);
    (columns.classes ? columns.code.resize(n * q) : columns.s.resize(n * q));
    if (!columns.classes) columns.y.assign(y.data(), y.data() + n * q);
    std::vector<double> own(n);
    for (size_t k = 0; k < q; ++k) {
        const size_t first = columns.first.back();
        columns.first.push_back(first + static_cast<size_t>(std::max<std::int64_t>(1, classes.data()[k])));
        for (size_t i = 0; i < n; ++i) own[i] = y.data()[i * q + k];
        if (columns.classes) {
            for (size_t i = 0; i < n; ++i) columns.code[i * q + k] = static_cast<std::uint32_t>(first + static_cast<size_t>(own[i]));
            continue;
        }
        Sample one;
        one.n = n, one.w = weights.w, one.weight_unit = weights.weight_unit;
        set_targets(one, own, factor.span(), about_zero, 8.0 * static_cast<double>(n + 8));
        for (size_t i = 0; i < n; ++i) columns.s[i * q + k] = one.s[i];
        columns.unit.push_back(one.unit / one.weight_unit);
        columns.centre.push_back(one.centre);
    }
    columns.values = columns.first.back();
    if (columns.classes) columns.unit.assign(columns.values, 1.0);
    return columns;
}

// The rows that one tree learns from, those it does not see, and the weight of the former.
struct Bag {
    std::vector<Pair> pairs;
    std::vector<std::uint32_t> drawn, out;
    std::int64_t weight = 0;
};

// The classes of one tree weigh what they weigh in all rows, however often each was drawn; one that was not drawn weighs nothing.
inline void balance(const Forest& forest, Bag& bag, bool sums) {
    const Sample& sample = forest.sample;
    std::vector<std::int64_t> drawn(sample.classes, 0);
    for (const auto i : bag.drawn) drawn[sample.code[i]] += bag.pairs[i].w;
    bag.weight = 0;
    for (const auto i : bag.drawn) {
        const size_t k = sample.code[i];
        const double share = static_cast<double>(bag.pairs[i].w) / static_cast<double>(drawn[k]);
        const std::int64_t w = std::max<std::int64_t>(1, std::llrint(share * forest.class_weight[k]));
        bag.pairs[i] = {sums ? w * sample.code[i] : sample.code[i], w};
        bag.weight += w;
    }
}

// The rows of one tree; drawn again where none was.
inline Bag fill_bag(const Forest& forest, std::uint64_t seed) {
    const Sample& sample = forest.sample;
    const bool sums = sample.classes == 2 && forest.criterion == "gini";  // of the second class
    Bag bag;
    bag.pairs.resize(sample.n);
    for (std::uint64_t attempt = 0; bag.drawn.empty(); ++attempt) {
        bag.drawn.resize(sample.n), bag.out.resize(sample.n);
        size_t drawn = 0, out = 0;
        const bool all = !forest.bootstrap || attempt == MOST_ATTEMPTS;
        for (size_t place = 0; place < sample.n; ++place) {
            const size_t i = forest.by_target.empty() ? place : forest.by_target[place];
            const std::int64_t times = all ? 1 : forest.drawing.times(i, seed, attempt);
            bag.drawn[drawn] = bag.out[out] = static_cast<std::uint32_t>(i);
            ++(times ? drawn : out);
            const std::int64_t w = times * sample.weight(i);
            bag.weight += w;
            if (forest.columns.q) bag.pairs[i] = {times, w};
            else if (!sample.classes) bag.pairs[i] = {times * sample.s[i], w};
            else bag.pairs[i] = {sums ? w * sample.code[i] : sample.code[i], w};
        }
        bag.drawn.resize(drawn), bag.out.resize(out);
    }
    if (!forest.class_weight.empty()) balance(forest, bag, sums);
    return bag;
}

// Weight and target of each row in one number: the weight in the bits from `shift` on.
inline std::vector<std::uint64_t> packed_cells(const Forest& forest, const Bag& bag, int shift, int target_bits, double& finer) {
    const Sample& sample = forest.sample;
    std::vector<std::uint64_t> cells(sample.n, 0);
    const auto [low, high] = sample.classes ? std::pair<std::int64_t, std::int64_t>{0, 1} : forest.range;
    const double step = std::max(1.0, static_cast<double>(high - low)) / static_cast<double>((std::uint64_t{1} << target_bits) - 1);
    for (const auto i : bag.drawn) {
        const auto w = static_cast<std::uint64_t>(bag.pairs[i].w);
        const std::uint64_t target = sample.classes ? sample.code[i]
                                                    : static_cast<std::uint64_t>(static_cast<double>(sample.s[i] - low) / step);
        cells[i] = w << shift | w * target;
    }
    finer = sample.classes ? 1.0 : step * step;
    return cells;
}
