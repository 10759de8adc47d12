// Python binding of the kernels of evaluation. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "kernels/evaluate/bin_sums.hpp"
#include "kernels/evaluate/class_weights.hpp"
#include "kernels/evaluate/isotonic.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<LeaveOut> leave_out(TENFOLD_LEVELS(leave_out));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return leave_out.use(name); }

// Rows with their classes and weights: y and w one entry for each of n rows, y in 0 .. k - 1.
void check_rows(size_t n, Integers y, Vector w, size_t k) {
    require(y.size(0) == n && w.size(0) == n, "arrays differ in their number of rows");
    for (std::int64_t label : y.span()) require(static_cast<std::uint64_t>(label) < k, "a label is outside 0 .. k - 1");
}

void check_shape(Matrix table, size_t rows, size_t columns) {
    require(table.size(0) == rows && table.size(1) == columns, "a table of the model has the wrong shape");
}

void check_length(Vector values, size_t length) {
    require(values.size(0) == length, "a vector of the model has the wrong length");
}

template <class T>
Doubles residuals_left_of(Table<T> X, Matrix Y, Vector w, Vector squares, Matrix coef, Vector intercept, double share,
                          double digits) {
    const size_t n = X.size(0), targets = coef.size(0);
    require(w.size(0) == n && squares.size(0) == n, "arrays differ in their number of rows");
    check_shape(Y, n, targets), check_shape(coef, targets, X.size(1));
    check_length(intercept, targets);
    Output out = zeros(n, targets);
    unlocked([&] {
        leave_out->of<T>().residuals_left(X.rows(), Y.rows(), w.span(), squares.data(), coef.rows(), intercept.data(), share,
                                          digits, out.data);
    });
    return out.array;
}

template <class T>
Doubles naive_bayes_left_of(Table<T> X, Integers y, Vector w, Vector weight, Vector log_prior, bool given, Matrix mean,
                            Matrix inverse, Vector level, Vector whole, Vector overall, Integers order, double smoothing,
                            double epsilon, double negligible) {
    const size_t n = X.size(0), p = X.size(1), k = weight.size(0);
    check_rows(n, y, w, k);
    check_shape(mean, k, p), check_shape(inverse, k, p);
    check_length(log_prior, k), check_length(level, k), check_length(whole, p), check_length(overall, p);
    require(p > 0 && order.size(0) == p, "order must number the columns");
    for (std::int64_t column : order.span())
        require(static_cast<std::uint64_t>(column) < p, "order must number the columns");
    Output out = zeros(n, k);
    unlocked([&] {
        const NaiveBayes model{mean.rows(),     inverse.data(), level.data(), whole.data(), overall.data(),
                               order.data(), smoothing,      epsilon,      negligible};
        ClassWeights classes(weight.span(), log_prior.data(), given);
        leave_out->of<T>().naive_bayes_left(X.rows(), y.span(), w.span(), model, classes, out.data);
    });
    return out.array;
}

template <class T>
Doubles centroids_left_of(Table<T> X, Integers y, Vector w, Vector weight, Vector log_prior, bool given, Matrix mean,
                          Vector unit, bool nearest) {
    const size_t n = X.size(0), p = X.size(1), k = weight.size(0);
    check_rows(n, y, w, k);
    check_shape(mean, k, p);
    check_length(log_prior, k), check_length(unit, p);
    Output out = zeros(n, k + 1);
    unlocked([&] {
        ClassWeights classes(weight.span(), log_prior.data(), given);
        leave_out->of<T>().centroids_left(X.rows(), y.span(), w.span(), mean.rows(), unit.data(), nearest, classes, out.data);
    });
    return out.array;
}

template <class T>
Doubles linear_discriminant_left_of(Table<T> X, Integers y, Vector w, Vector weight, Vector log_prior, bool given,
                                    Vector squares, Vector center, Matrix coef, Matrix inner, double least) {
    const size_t n = X.size(0), p = X.size(1), k = weight.size(0);
    check_rows(n, y, w, k);
    check_shape(coef, k, p), check_shape(inner, k, k);
    check_length(log_prior, k), check_length(squares, n), check_length(center, p);
    Output out = zeros(n, k);
    unlocked([&] {
        const LinearClasses model{center.data(), coef.rows(), inner.data(), least};
        ClassWeights classes(weight.span(), log_prior.data(), given);
        leave_out->of<T>().linear_discriminant_left(X.rows(), y.span(), w.span(), squares.data(), model, classes, out.data);
    });
    return out.array;
}

Doubles quadratic_discriminant_left_of(Matrix squares, std::int64_t p, Integers y, Vector w, Vector weight,
                                       Vector log_prior, bool given, Vector level, Vector least) {
    const size_t n = squares.size(0), k = weight.size(0);
    check_rows(n, y, w, k);
    check_shape(squares, n, k);
    check_length(log_prior, k), check_length(level, k), check_length(least, k);
    require(p >= 0, "p must not be negative");
    Output out = zeros(n, k);
    unlocked([&] {
        ClassWeights classes(weight.span(), log_prior.data(), given);
        leave_out->quadratic_discriminant_left(squares.rows(), static_cast<size_t>(p), y.span(), w.span(), level.data(),
                                               least.data(), classes, out.data);
    });
    return out.array;
}

template <class T>
Doubles whitened_squares_of(Table<T> X, Matrix mean, const Input<double, 3>& W) {
    const size_t p = X.size(1), k = mean.size(0);
    check_shape(mean, k, p);
    require(W.size(0) == k && W.size(1) == p && W.size(2) == p, "W must be (k, p, p)");
    Output out = zeros(X.size(0), k);
    unlocked([&] { leave_out->of<T>().whitened_squares(X.rows(), mean.rows(), W.data(), out.data); });
    return out.array;
}

Doubles pool_neighbours_of(Vector y, Vector w) {
    const bool weighted = w.size(0) > 0;
    require(!weighted || y.size(0) == w.size(0), "y and w must have the same length");
    Output out = zeros(y.size(0));
    unlocked([&] {
        if (weighted) pool_neighbours<true>(y.span(), w.span(), out.data);
        else pool_neighbours<false>(y.span(), w.span(), out.data);
    });
    return out.array;
}

Doubles bin_sums_of(Vector x, Integers truth, Vector w, Vector edges) {
    require(truth.size(0) == x.size(0), "x and truth must have the same length");
    require(w.size(0) == 0 || w.size(0) == x.size(0), "x and w must have the same length");
    Output sums = zeros(edges.size(0) + 1, size_t{4});
    unlocked([&] { bin_sums(x.span(), truth.span(), w.span(), edges.span(), sums.data); });
    return sums.array;
}

nb::object largest_columns_of(Matrix rows) {
    require(rows.size(1) > 0, "there must be a column");
    New<std::int64_t> out(rows.size(0));
    unlocked([&] { largest_columns(rows.rows(), out.data); });
    return out.array;
}

template <class T>
void add_tables(nb::module_& m) {
    m.def("whitened_squares", &whitened_squares_of<T>, "X"_a.noconvert(), "mean"_a.noconvert(), "W"_a.noconvert());
    m.def("residuals_left", &residuals_left_of<T>, "X"_a.noconvert(), "Y"_a.noconvert(), "w"_a.noconvert(),
          "squares"_a.noconvert(), "coef"_a.noconvert(), "intercept"_a.noconvert(), "share"_a, "digits"_a);
    m.def("naive_bayes_left", &naive_bayes_left_of<T>, "X"_a.noconvert(), "y"_a.noconvert(), "w"_a.noconvert(),
          "weight"_a.noconvert(), "log_prior"_a.noconvert(), "given"_a, "mean"_a.noconvert(), "inverse"_a.noconvert(),
          "level"_a.noconvert(), "whole"_a.noconvert(), "overall"_a.noconvert(), "order"_a.noconvert(), "smoothing"_a,
          "epsilon"_a, "negligible"_a);
    m.def("centroids_left", &centroids_left_of<T>, "X"_a.noconvert(), "y"_a.noconvert(), "w"_a.noconvert(),
          "weight"_a.noconvert(), "log_prior"_a.noconvert(), "given"_a, "mean"_a.noconvert(), "unit"_a.noconvert(), "nearest"_a);
    m.def("linear_discriminant_left", &linear_discriminant_left_of<T>, "X"_a.noconvert(), "y"_a.noconvert(),
          "w"_a.noconvert(), "weight"_a.noconvert(), "log_prior"_a.noconvert(), "given"_a, "squares"_a.noconvert(),
          "center"_a.noconvert(), "coef"_a.noconvert(), "inner"_a.noconvert(), "least"_a);
}

}  // namespace

NB_MODULE(_evaluate, m) {
    start_module_beside_kernels();
    add_tables<double>(m);
    add_tables<float>(m);
    m.def("quadratic_discriminant_left", &quadratic_discriminant_left_of, "squares"_a.noconvert(), "p"_a, "y"_a.noconvert(),
          "w"_a.noconvert(), "weight"_a.noconvert(), "log_prior"_a.noconvert(), "given"_a, "level"_a.noconvert(),
          "least"_a.noconvert());
    m.def("use_level", &use_level, "name"_a);
    m.def("bin_sums", &bin_sums_of, "x"_a.noconvert(), "truth"_a.noconvert(), "w"_a.noconvert(), "edges"_a.noconvert());
    m.def("largest_columns", &largest_columns_of, "rows"_a.noconvert());
    m.def("pool_neighbours", &pool_neighbours_of, "y"_a.noconvert(), "w"_a.noconvert());
}
