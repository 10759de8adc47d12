// Python bindings of the kernels on blocks of rows. Arguments are checked here, and only here, before native loops see them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <vector>

#include "bind_sums.hpp"
#include "budget.hpp"

using namespace nb::literals;

namespace {

// Chooses the instruction set of all later calls by name ("best": the best of this machine); returns the one
// before.
std::string use_level(const std::string& name) {
    const std::string before(kernels.name());
    require(kernels.use(name), "this machine or build has no instruction set named " + name);
    return before;
}

template <class T>
bool all_finite_of(const Input<T, ANY>& X) {
    return unlocked([&] { return kernels->of<T>().all_finite(X.span()); });
}

template <class T>
std::tuple<double, Doubles> logistic_terms_of(Table<T> X, Integers y, Vector w, Vector beta) {
    check_rows(X.size(0), y.size(0));
    check_rows(X.size(0), w.size(0));
    check_labels(y.span(), 2);
    require(beta.size(0) == X.size(1) + 1, "beta must have one value per column and one for the intercept");
    double loss = 0;
    Output grad = zeros(beta.size(0));
    unlocked(
        [&] { kernels->of<T>().logistic_terms(X.rows(), y.span(), w.span(), beta.data(), loss, grad.data); });
    return {loss, grad.array};
}

template <class T>
Doubles logistic_curvature_of(Table<T> X, Vector w, Vector beta) {
    size_t p = X.size(1) + 1;
    check_rows(X.size(0), w.size(0));
    check_width(p);
    require(beta.size(0) == p, "beta must have one value per column and one for the intercept");
    Output hess = unfilled(p, p);
    unlocked([&] { kernels->of<T>().logistic_curvature(X.rows(), w.span(), beta.data(), hess.data); });
    return hess.array;
}

template <class T>
std::tuple<double, Doubles> softmax_terms_of(Table<T> X, Integers y, Vector w, Matrix B) {
    check_rows(X.size(0), y.size(0));
    check_rows(X.size(0), w.size(0));
    check_width(X.size(1) + 1);
    check_width(B.size(0));
    check_labels(y.span(), B.size(0));
    require(B.size(1) == X.size(1) + 1, "B must have one column per column of X and one for the intercept");
    double loss = 0;
    Output grad = zeros(B.size(0), B.size(1));
    unlocked(
        [&] { kernels->of<T>().softmax_terms(X.rows(), y.span(), w.span(), B.rows(), loss, grad.data); });
    return {loss, grad.array};
}

template <class T>
void check_centers(Table<T> X, Matrix C) {
    require(C.size(0) > 0, "at least one centre is needed");
    require(C.size(1) == X.size(1), "centres and rows differ in their number of columns");
    check_width(C.size(0));
    check_width(C.size(1));
}

template <class T>
std::tuple<Int64s, Doubles> nearest_of(Table<T> X, Matrix C) {
    check_centers<T>(X, C);
    auto label = nb::borrow<Int64s>(nb::borrow(numpy_zeros)(X.size(0), nb::str("int64")));
    auto* labels = static_cast<std::int64_t*>(buffer_of(label));
    Output distance2 = zeros(X.size(0));
    unlocked([&] { kernels->of<T>().nearest(X.rows(), C.rows(), labels, distance2.data); });
    return {label, distance2.array};
}

template <class T>
std::tuple<Doubles, Doubles, double> assign_sums_of(Table<T> X, Vector w, Matrix C) {
    check_rows(X.size(0), w.size(0));
    check_centers<T>(X, C);
    double inertia = 0;
    Output weight = zeros(C.size(0)), sum = zeros(C.size(0), C.size(1));
    unlocked(
        [&] { kernels->of<T>().assign_sums(X.rows(), w.span(), C.rows(), weight.data, sum.data, inertia); });
    return {weight.array, sum.array, inertia};
}

template <class T>
std::tuple<Doubles, double, double, size_t> lloyd_of(Table<T> X, Vector w, Matrix C, double tol, size_t most) {
    check_rows(X.size(0), w.size(0));
    check_centers<T>(X, C);
    double inertia = 0, shift = 0;
    Output centers = unfilled(C.size(0), C.size(1));
    std::copy_n(C.data(), C.size(0) * C.size(1), centers.data);
    const size_t steps = unlocked([&] {
        const Rows<double> moving{centers.data, C.size(0), C.size(1)};
        return kernels->of<T>().lloyd(X.rows(), w.span(), moving, tol, most, inertia, shift);
    });
    return {centers.array, inertia, shift, steps};
}

template <class T>
Doubles linear_scores_of(Table<T> X, Matrix B, Vector b) {
    require(B.size(1) == X.size(1) && b.size(0) == B.size(0), "B must be (k, p) and b (k,)");
    check_width(X.size(1));
    check_width(B.size(0));
    Output scores = zeros(X.size(0), B.size(0));
    unlocked([&] { kernels->of<T>().linear_scores(X.rows(), B.rows(), b.data(), scores.data); });
    return scores.array;
}

template <class T>
Doubles spread_scores_of(Table<T> X, Matrix mean, Matrix inverse, Vector constant) {
    size_t k = mean.size(0), p = X.size(1);
    require(mean.size(1) == p && inverse.size(0) == k && inverse.size(1) == p && constant.size(0) == k,
            "mean and inverse must be (k, p) and constant (k,)");
    Output scores = zeros(X.size(0), k);
    unlocked([&] {
        kernels->of<T>().spread_scores(X.rows(), mean.rows(), inverse.data(), constant.data(), scores.data);
    });
    return scores.array;
}

template <class T>
Doubles quadratic_scores_of(Table<T> X, Matrix mean, const Input<double, 3>& W, Vector constant) {
    size_t k = mean.size(0), p = X.size(1);
    require(mean.size(1) == p && W.size(0) == k && W.size(1) == p && W.size(2) == p && constant.size(0) == k,
            "mean must be (k, p), W (k, p, p) and constant (k,)");
    check_width(p);
    Output scores = zeros(X.size(0), k);
    unlocked([&] {
        kernels->of<T>().quadratic_scores(X.rows(), mean.rows(), W.data(), constant.data(), scores.data);
    });
    return scores.array;
}

template <class T>
std::tuple<double, double, double> rank_pairs_of(const Input<T, 1>& s, Integers y, Vector w) {
    check_rows(s.size(0), y.size(0));
    if (w.size(0)) check_rows(s.size(0), w.size(0));
    require(kernels->of<T>().all_finite(s.span()), "scores must be finite");
    double out[3] = {};
    unlocked([&] { kernels->of<T>().rank_pairs(s.span(), y.span(), w.span(), out); });
    return {out[0], out[1], out[2]};
}

template <class T>
void define(nb::module_& m) {
    auto X = "X"_a.noconvert(), y = "y"_a.noconvert(), w = "w"_a.noconvert();
    auto beta = "beta"_a.noconvert(), C = "C"_a.noconvert();
    auto mean = "mean"_a.noconvert(), constant = "constant"_a.noconvert(), B = "B"_a.noconvert();
    m.def("all_finite", &all_finite_of<T>, X);
    m.def("logistic_terms", &logistic_terms_of<T>, X, y, w, beta);
    m.def("logistic_curvature", &logistic_curvature_of<T>, X, w, beta);
    m.def("softmax_terms", &softmax_terms_of<T>, X, y, w, B);
    m.def("nearest", &nearest_of<T>, X, C);
    m.def("assign_sums", &assign_sums_of<T>, X, w, C);
    m.def("lloyd", &lloyd_of<T>, X, w, C, "tol"_a, "most"_a.noconvert());
    m.def("linear_scores", &linear_scores_of<T>, X, B, "b"_a.noconvert());
    m.def("spread_scores", &spread_scores_of<T>, X, mean, "inverse"_a.noconvert(), constant);
    m.def("rank_pairs", &rank_pairs_of<T>, "s"_a.noconvert(), y, w);
    m.def("quadratic_scores", &quadratic_scores_of<T>, X, mean, "W"_a.noconvert(), constant);
}

}  // namespace

NB_MODULE(_kernels, m) {
    start_module();

    define<double>(m);
    define<float>(m);
    bind_sums(m);
    m.def("use_level", &use_level, "name"_a.noconvert());
    nb::class_<Run>(m, "Run")
        .def(nb::init<const nb::object&>(), "outer"_a.none())
        .def("cancel", [](Run& run) { run.cancelled.store(true); })
        .def_prop_ro("cancelled", [](const Run& run) { return run.stopped(); });
    bind_budget(m);
    m.attr("_run") = start_runs(m.attr("Run"));
    m.attr("_works_for_key") = works_for_key;
    // nanobind's table of all instances grows where no exception can pass: it has room before a fit needs it.
    std::vector<nb::object> instances;
    for (int i = 0; i < 1024; ++i) instances.push_back(nb::cast(Budget(1)));
}
