// Python binding of distances of all pairs of rows, and of medoids. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "kernels/cluster/medoids.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<PairsKernels> kernels(TENFOLD_LEVELS(pairs));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return kernels.use(name); }

// (queries, rows): parts of all pairs, added up.
Doubles sums(Matrix queries, Matrix rows, std::int64_t apart, double power) {
    require(apart >= 0 && apart <= static_cast<int>(Apart::hamming), "there is no such measure");
    require(queries.size(1) == rows.size(1), "queries have another number of columns than rows");
    Output found = zeros(queries.size(0), rows.size(0));
    unlocked([&] { kernels->sums(queries.rows(), rows.rows(), static_cast<Apart>(apart), power, found.data); });
    return found.array;
}

// (medoids, loss, rounds, unfinished)
template <class T>
nb::tuple improve(Table<T> D, Vector w, Integers medoids, std::int64_t most) {
    const size_t n = D.size(0), k = medoids.size(0);
    require(n > 0 && D.size(1) == n && n < INT32_MAX, "distances must be a square table");
    require(w.size(0) == n, "there must be a weight for each row");
    require(k > 0 && k <= n && most > 0, "there must be medoids, not more than rows, and rounds");
    std::vector<char> seen(n);
    for (const std::int64_t one : medoids.span()) {
        require(static_cast<std::uint64_t>(one) < n && !seen[static_cast<size_t>(one)], "medoids must be different rows");
        seen[static_cast<size_t>(one)] = 1;
    }
    New<std::int64_t> found(k);
    std::copy_n(medoids.data(), k, found.data);
    double loss = 0;
    const auto [rounds, unfinished] = unlocked([&] {
        Medoids<T> search(D.rows(), w.span(), *kernels, found.data, k);
        const auto ended = search.improve(static_cast<size_t>(most));
        loss = search.loss();
        return ended;
    });
    return nb::make_tuple(found.array, loss, rounds, unfinished);
}

}  // namespace

NB_MODULE(_pairs, m) {
    start_module_beside_kernels();
    m.def("sums", &sums, "queries"_a.noconvert(), "rows"_a.noconvert(), "apart"_a, "power"_a);
    m.def("improve", &improve<float>, "D"_a.noconvert(), "w"_a.noconvert(), "medoids"_a.noconvert(), "most"_a);
    m.def("improve", &improve<double>, "D"_a.noconvert(), "w"_a.noconvert(), "medoids"_a.noconvert(), "most"_a);
    m.def("use_level", &use_level, "name"_a);
}
