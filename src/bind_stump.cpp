// Python binding of stumps: a table is sorted once, and cut in two for any number of weights.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrays.hpp"
#include "kernels/stump.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

#if TENFOLD_X86_LEVELS
const StumpKernels& kernels = best_of(stumps_baseline, stumps_avx2, stumps_avx512);
#else
const StumpKernels& kernels = stumps_baseline;
#endif

void require(bool holds, const char* what) {
    if (!holds) throw nb::value_error(what);
}

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
    nb::gil_scoped_release release;
    Stumps sorted{std::vector<std::uint32_t>(n * p), std::vector<std::int64_t>(p), {}, {}, n, p, classes};
    sorted.code.assign(code.span().begin(), code.span().end());
    if (classes == 2) sorted.signed_weight.resize(n);
    presort<T>(X.rows(), sorted.lists, sorted.missing, n_threads);
    new (made) Stumps(std::move(sorted));
}

// Column (-1 where nothing can be cut), the two rows whose values the cut lies between (the second is -1 where all known
// values are on the left), where missing values go, and the score.
std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, double> best(Stumps& of, Integers weight, size_t n_threads) {
    require(weight.size(0) == of.n, "there must be a weight for each row");
    double total = 0;
    for (const std::int64_t w : weight.span()) {
        require(w >= 0, "weights must not be negative");
        total += static_cast<double>(w);
    }
    require(total < 9e15, "the sum of the weights must be below 2^53");
    std::vector<Cut> cuts(of.p);
    {
        nb::gil_scoped_release release;
        ClassWeights weights{weight.span(), of.signed_weight, of.code, of.classes, 0, static_cast<std::int64_t>(total)};
        for (size_t i = 0; i < of.signed_weight.size(); ++i)
            weights.signed_sum += of.signed_weight[i] = of.code[i] ? weight.data()[i] : -weight.data()[i];
        const BestCut search = of.classes == 2 ? kernels.two_classes : kernels.many_classes;
        share_out(of.p, of.n * of.p < 20'000 ? 1 : n_threads, [&](size_t j) {
            std::vector<double> space(std::max(STUMP_CHUNK, 4 * of.classes));
            const size_t known = of.n - static_cast<size_t>(of.missing[j]);
            cuts[j] = search({of.lists.data() + j * of.n, of.n, known}, weights, space.data());
        });
    }
    std::int64_t column = -1;
    Cut chosen;
    for (size_t j = 0; j < of.p; ++j)
        if (cuts[j].place > 0 && chosen.offer(cuts[j].score, cuts[j].place, cuts[j].missing_left))
            column = static_cast<std::int64_t>(j);
    if (column < 0) return {-1, -1, -1, false, 0.0};
    const std::uint32_t* list = of.lists.data() + static_cast<size_t>(column) * of.n;
    const auto known = static_cast<std::int64_t>(of.n) - of.missing[column];
    const auto row = [&](std::int64_t i) { return static_cast<std::int64_t>(list[i] & ~TIE<std::uint32_t>); };
    return {column, row(chosen.place - 1), chosen.place < known ? row(chosen.place) : -1, chosen.missing_left, chosen.score};
}

}  // namespace

NB_MODULE(_stump, m) {
    start_module_beside_kernels();
    nb::class_<Stumps> stumps(m, "Stumps");
    stumps.def("__init__", &build<double>, "X"_a.noconvert(), "code"_a.noconvert(), "classes"_a, "n_threads"_a);
    stumps.def("__init__", &build<float>, "X"_a.noconvert(), "code"_a.noconvert(), "classes"_a, "n_threads"_a);
    stumps.def("best", &best, "weight"_a.noconvert(), "n_threads"_a);
}
