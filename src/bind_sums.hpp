// Binding of the kernels that sum blocks of rows: moments, groups, cross-products. Arguments are checked here.
#pragma once

#include <nanobind/stl/tuple.h>

#include <climits>
#include <string>

#include "arrays.hpp"
#include "kernels/common/block_kernels.hpp"
#include "levels.hpp"

inline Levels<Kernels> kernels(TENFOLD_LEVELS(kernels));

inline void check_rows(size_t n, size_t other) { require(n == other, "arrays differ in their number of rows"); }

// BLAS counts in int.
inline void check_width(size_t p) { require(p < INT_MAX, "too many columns for the native kernels"); }

inline void check_labels(Labels labels, size_t k) {
    bool bad = false;
    for (std::int64_t label : labels) bad |= static_cast<std::uint64_t>(label) >= k;
    if (!bad) return;
    for (size_t i = 0; i < labels.size(); ++i)
        if (static_cast<std::uint64_t>(labels[i]) >= k)
            throw nb::value_error(("row " + std::to_string(i) + " has label " + std::to_string(labels[i]) +
                                   ", outside 0.." + std::to_string(k) + "-1")
                                      .c_str());
}

template <class T>
UInt64s hash_rows_of(Table<T> X, std::uint64_t seed) {
    auto hash = nb::borrow<UInt64s>(nb::borrow(numpy_zeros)(X.size(0), nb::str("uint64")));
    auto* data = static_cast<std::uint64_t*>(buffer_of(hash));
    unlocked([&] { kernels->of<T>().hash_rows(X.rows(), seed, data); });
    return hash;
}

template <class T>
std::tuple<double, Doubles, Doubles, Doubles> moments_of(Table<T> X, Matrix Y, Vector w) {
    size_t p = X.size(1) + Y.size(1);
    check_rows(X.size(0), Y.size(0));
    check_rows(X.size(0), w.size(0));
    check_width(p);
    double weight = 0;
    Output center = zeros(p), offset = zeros(p), scatter = unfilled(p, p);
    unlocked([&] {
        kernels->of<T>().moments(X.rows(), Y.rows(), w.span(), weight, center.data, offset.data,
                                 scatter.data);
    });
    return {weight, center.array, offset.array, scatter.array};
}

inline void check_numbers(Labels rows, size_t n) {
    bool bad = false;
    for (std::int64_t row : rows) bad |= static_cast<std::uint64_t>(row) >= n;
    require(!bad, "a row number is outside the table");
}

template <class T>
std::tuple<double, Doubles, Doubles, Doubles> moments_at_of(Table<T> X, Integers rows, Matrix Y, Vector w) {
    size_t p = X.size(1) + Y.size(1);
    check_rows(rows.size(0), Y.size(0));
    check_rows(rows.size(0), w.size(0));
    check_width(p);
    check_numbers(rows.span(), X.size(0));
    double weight = 0;
    Output center = zeros(p), offset = zeros(p), scatter = unfilled(p, p);
    unlocked([&] {
        kernels->of<T>().moments_at(X.rows(), rows.span(), Y.rows(), w.span(), weight, center.data,
                                    offset.data, scatter.data);
    });
    return {weight, center.array, offset.array, scatter.array};
}

template <class T>
nb::object take_rows_of(Table<T> X, Integers rows) {
    check_numbers(rows.span(), X.size(0));
    auto taken = nb::borrow(numpy_empty)(nb::make_tuple(rows.size(0), X.size(1)), numpy_name<T>().text);
    auto* data = static_cast<T*>(buffer_of(taken));
    unlocked([&] { kernels->of<T>().take_rows(X.rows(), rows.span(), data); });
    return taken;
}

// The result is A itself where `into` is true, changed in place.
inline nb::object merge_scatter_of(nb::object A, Matrix B, Vector d, bool into) {
    Input<double, 2> held;
    require(held.acquire(A.ptr()), "A must be a matrix of float64");
    const size_t p = held.size(0);
    require(held.size(1) == p && B.size(0) == p && B.size(1) == p && d.size(0) == p,
            "A and B must be (p, p) and d (p,)");
    nb::object out = into ? A : nb::object(unfilled(p, p).array);
    auto* data = static_cast<double*>(buffer_of(out));
    unlocked([&] { kernels->merge_scatter(held.rows(), B.data(), d.data(), data); });
    return out;
}

template <class T>
std::tuple<Doubles, Doubles, Doubles, Doubles> group_moments_of(Table<T> X, Integers g, Vector w, size_t k) {
    size_t p = X.size(1);
    check_rows(X.size(0), g.size(0));
    check_rows(X.size(0), w.size(0));
    check_width(p);
    check_labels(g.span(), k);
    Output weight = zeros(k), center = zeros(k, p), offset = zeros(k, p), scatter = zeros(k, p, p);
    unlocked([&] {
        kernels->of<T>().group_moments(X.rows(), g.span(), w.span(), k, weight.data, center.data, offset.data,
                                       scatter.data);
    });
    return {weight.array, center.array, offset.array, scatter.array};
}

template <class T>
std::tuple<Doubles, Doubles, Doubles, Doubles> group_spreads_of(Table<T> X, Integers g, Vector w, size_t k) {
    size_t p = X.size(1);
    check_rows(X.size(0), g.size(0));
    check_rows(X.size(0), w.size(0));
    check_labels(g.span(), k);
    Output weight = zeros(k), center = zeros(k, p), offset = zeros(k, p), spread = zeros(k, p);
    unlocked([&] {
        kernels->of<T>().group_spreads(X.rows(), g.span(), w.span(), k, weight.data, center.data, offset.data,
                                       spread.data);
    });
    return {weight.array, center.array, offset.array, spread.array};
}

template <class T>
Doubles weighted_gram_of(Table<T> X, Vector d) {
    check_rows(X.size(0), d.size(0));
    check_width(X.size(1) + 1);
    Output gram = unfilled(X.size(1) + 1, X.size(1) + 1);
    unlocked([&] { kernels->of<T>().weighted_gram(X.rows(), d.span(), gram.data); });
    return gram.array;
}

inline std::tuple<Doubles, Doubles, Doubles> extended_gradient_of(Matrix X, Matrix Y, Vector w, Matrix Bhi,
                                                           Matrix Blo) {
    size_t p = X.size(1), q = Y.size(1);
    check_rows(X.size(0), Y.size(0));
    check_rows(X.size(0), w.size(0));
    require(Bhi.size(0) == p && Bhi.size(1) == q && Blo.size(0) == p && Blo.size(1) == q,
            "Bhi and Blo must be (p, q)");
    Output hi = zeros(p, q), lo = zeros(p, q), rss = zeros(q);
    unlocked([&] {
        kernels->extended_gradient(X.rows(), Y.rows(), w.span(), Bhi.data(), Blo.data(), hi.data, lo.data,
                                   rss.data);
    });
    return {hi.array, lo.array, rss.array};
}

inline std::tuple<Doubles, Doubles> extended_gram_of(Matrix X, Matrix Y, Vector w, Matrix R) {
    size_t p = X.size(1), m = p + Y.size(1);
    check_rows(X.size(0), Y.size(0));
    check_rows(X.size(0), w.size(0));
    require(R.size(0) == p && R.size(1) == p, "R must be (p, p)");
    Output hi = zeros(m, m), lo = zeros(m, m);
    unlocked([&] { kernels->extended_gram(X.rows(), Y.rows(), w.span(), R.data(), hi.data, lo.data); });
    return {hi.array, lo.array};
}

template <class T>
void define_sums(nb::module_& m) {
    using namespace nb::literals;
    auto X = "X"_a.noconvert(), Y = "Y"_a.noconvert(), w = "w"_a.noconvert(), g = "g"_a.noconvert(), k = "k"_a.noconvert();
    m.def("hash_rows", &hash_rows_of<T>, X, "seed"_a.noconvert());
    m.def("moments", &moments_of<T>, X, Y, w);
    m.def("moments_at", &moments_at_of<T>, X, "rows"_a.noconvert(), Y, w);
    m.def("take_rows", &take_rows_of<T>, X, "rows"_a.noconvert());
    m.def("group_moments", &group_moments_of<T>, X, g, w, k);
    m.def("group_spreads", &group_spreads_of<T>, X, g, w, k);
    m.def("weighted_gram", &weighted_gram_of<T>, X, "d"_a.noconvert());
}

inline void bind_sums(nb::module_& m) {
    using namespace nb::literals;
    define_sums<double>(m);
    define_sums<float>(m);
    m.def("merge_scatter", &merge_scatter_of, "A"_a.noconvert(), "B"_a.noconvert(), "d"_a.noconvert(),
          "into"_a.noconvert());
    m.def("extended_gradient", &extended_gradient_of, "X"_a.noconvert(), "Y"_a.noconvert(), "w"_a.noconvert(),
          "Bhi"_a.noconvert(), "Blo"_a.noconvert());
    m.def("extended_gram", &extended_gram_of, "X"_a.noconvert(), "Y"_a.noconvert(), "w"_a.noconvert(),
          "R"_a.noconvert());
}
