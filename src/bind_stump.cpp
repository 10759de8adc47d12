// Python binding of stumps: a table is sorted once, and cut in two for any number of weights.
#include <nanobind/stl/tuple.h>

#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "kernels/tree/presorted.hpp"
#include "kernels/tree/stump_search.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

const Levels<StumpKernels> kernels(TENFOLD_LEVELS(stumps));

// The sorted columns of a table and the classes of its rows.
struct Stumps {
    std::vector<std::uint32_t> lists;
    std::vector<std::int64_t> missing, signed_weight;
    std::vector<std::int32_t> code;
    size_t n, p, classes;
};

template <class T>
void build(Stumps* made, Table<T> X, Integers code, size_t classes, size_t n_threads) {
    const size_t n = X.size(0), p = X.size(1);
    require(n > 0 && n < (size_t{1} << 31) && p > 0, "there must be 1 to 2^31 - 1 rows, and a column");
    require(code.size(0) == n && classes >= 1, "there must be a class for each row");
    for (const std::int64_t one : code.span())
        require(one >= 0 && one < static_cast<std::int64_t>(classes), "a code is not that of a class");
    new (made) Stumps(unlocked([&] {
        Stumps sorted{std::vector<std::uint32_t>(n * p), std::vector<std::int64_t>(p), {}, {}, n, p, classes};
        sorted.code.assign(code.span().begin(), code.span().end());
        if (classes == 2) sorted.signed_weight.resize(n);
        presort<T>(X.rows(), sorted.lists, sorted.missing, n_threads);
        return sorted;
    }));
}

// The cut of each column, from which the best one is chosen: the first of equals.
std::pair<std::int64_t, Cut> search(Stumps& of, std::span<const std::int64_t> weight, std::int64_t total, size_t n_threads) {
    ClassWeights weights{weight, of.signed_weight, of.code, of.classes, 0, total};
    for (size_t i = 0; i < of.signed_weight.size(); ++i)
        weights.signed_sum += of.signed_weight[i] = of.code[i] ? weight[i] : -weight[i];
    const bool two = of.classes == 2;
    const size_t threads = of.n * of.p < 20'000 ? 1 : n_threads, chunks = (of.n + STUMP_CHUNK - 1) / STUMP_CHUNK;
    std::vector<Cut> cuts(of.p);
    std::vector<std::int64_t> sums(two ? 2 * of.p * chunks : 0);
    std::vector<double> ends(of.p, -1.0);
    const auto column_of = [&](size_t j) {
        return Sorted{of.lists.data() + j * of.n, of.n, of.n - static_cast<size_t>(of.missing[j])};
    };
    const auto sums_of = [&](size_t j) { return ChunkSums{&sums[2 * j * chunks], &sums[(2 * j + 1) * chunks]}; };
    Team team(std::min(threads, of.p));
    if (two)
        team.each(of.p, [&](size_t j) {
            kernels->chunk_sums(column_of(j), weights, sums_of(j));
            ends[j] = best_at_ends(column_of(j), weights, sums_of(j));
        });
    const double least = *std::max_element(ends.begin(), ends.end());
    const auto search = [&](size_t j) {
        std::vector<double> space(std::max(STUMP_CHUNK, 4 * of.classes));
        cuts[j] = two ? kernels->two_classes(column_of(j), weights, sums_of(j), least, space.data())
                      : kernels->many_classes(column_of(j), weights, space.data());
    };
    if (!two) team.each(of.p, search);
    else  // after chunks were passed over, little is left
        for (size_t j = 0; j < of.p; ++j) search(j);
    std::int64_t column = -1;
    Cut chosen;
    for (size_t j = 0; j < of.p; ++j)
        if (cuts[j].place > 0 && chosen.offer(cuts[j].score, cuts[j].place, cuts[j].missing_left))
            column = static_cast<std::int64_t>(j);
    return {column, chosen};
}

// Column (-1 where nothing can be cut), the two rows whose values the cut lies between (the second is -1 where all known
// values are on the left), where missing values go; the side of each row, and the weights of classes on both sides.
std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, nb::object, Doubles> best(Stumps& of, Integers weight,
                                                                                     size_t n_threads) {
    require(weight.size(0) == of.n, "there must be a weight for each row");
    double total = 0;
    for (const std::int64_t w : weight.span()) {
        require(w >= 0, "weights must not be negative");
        total += static_cast<double>(w);
    }
    require(total < 9e15, "the sum of the weights must be below 2^53");
    New<std::uint8_t> side(of.n);
    Output counts = zeros(size_t{2}, of.classes);
    std::int64_t column = -1, low = -1, high = -1;
    bool missing_left = false;
    unlocked([&] {
        const auto [found, cut] = search(of, weight.span(), static_cast<std::int64_t>(total), n_threads);
        const size_t j = static_cast<size_t>(std::max<std::int64_t>(found, 0));
        const std::uint32_t* list = of.lists.data() + j * of.n;
        const auto row = [&](std::int64_t i) { return static_cast<std::int64_t>(list[i] & ~TIE<std::uint32_t>); };
        const auto n = static_cast<std::int64_t>(of.n), known = n - of.missing[j];
        for (std::int64_t i = 0; i < n; ++i) {
            const bool left = found < 0 || i < cut.place || (i >= known && cut.missing_left);
            side.data[row(i)] = !left;
            counts.data[(left ? 0 : of.classes) + static_cast<size_t>(of.code[row(i)])] += static_cast<double>(weight.data()[row(i)]);
        }
        column = found;
        if (found >= 0) low = row(cut.place - 1);
        if (found >= 0 && cut.place < known) high = row(cut.place);
        missing_left = cut.missing_left;
    });
    return {column, low, high, missing_left, side.array, counts.array};
}

}  // namespace

NB_MODULE(_stump, m) {
    start_module_beside_kernels();
    nb::class_<Stumps> stumps(m, "Stumps");
    stumps.def("__init__", &build<double>, "X"_a.noconvert(), "code"_a.noconvert(), "classes"_a, "n_threads"_a);
    stumps.def("__init__", &build<float>, "X"_a.noconvert(), "code"_a.noconvert(), "classes"_a, "n_threads"_a);
    stumps.def("best", &best, "weight"_a.noconvert(), "n_threads"_a);
}
