// Python binding of planes with a margin over sparse rows. Arguments are checked here, and only here.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrays.hpp"
#include "kernels/linear/margins.hpp"
#include "patience.hpp"
#include "sparse_arguments.hpp"

using namespace nb::literals;

namespace {

MarginRows rows_of(Integers begin, Column<std::int32_t> columns, Vector values, Vector y, Vector cost, double epsilon, bool sided, size_t p) {
    const SparseRows X = sparse_rows(begin, columns, values, y.size(0), p);
    require(cost.size(0) == y.size(0), "y and cost must be of one length");
    return {X, y.span(), cost.span(), epsilon, sided, p};
}

// Σ α z, the diagonal of the curvature, and the loss: (2 (p + 1) + 1).
Doubles squares(Integers begin, Column<std::int32_t> columns, Vector values, Vector y, Vector cost, double epsilon, bool sided,
                Vector theta, bool intercept, size_t threads) {
    require(theta.size(0) > 0, "theta must be (p + 1)");
    const MarginRows of = rows_of(begin, columns, values, y, cost, epsilon, sided, theta.size(0) - 1);
    Output out = zeros(2 * theta.size(0) + 1);
    unlocked([&] { margin_squares(of, theta.data(), intercept, threads, out.data); });
    return out.array;
}

// The curvature at theta times v.
Doubles product(Integers begin, Column<std::int32_t> columns, Vector values, Vector y, Vector cost, double epsilon, bool sided,
                Vector theta, Vector v, bool intercept, size_t threads) {
    require(theta.size(0) > 0 && v.size(0) == theta.size(0), "theta and v must be (p + 1)");
    const MarginRows of = rows_of(begin, columns, values, y, cost, epsilon, sided, theta.size(0) - 1);
    Output out = zeros(theta.size(0));
    unlocked([&] { margin_product(of, theta.data(), v.data(), intercept, threads, out.data); });
    return out.array;
}

// theta, its duality gap relative to the objective, and the number of sweeps.
std::tuple<Doubles, double, std::int64_t> descend(Integers begin, Column<std::int32_t> columns, Vector values, Vector y, Vector cost,
                                                  double epsilon, bool sided, size_t p, double bias, double tol, std::int64_t most) {
    const MarginRows of = rows_of(begin, columns, values, y, cost, epsilon, sided, p);
    Output theta = zeros(p + 1);
    double gap = 0;
    std::int64_t sweeps = 0;
    Patience patience;
    unlocked([&] {
        DualDescent descent(of, bias);
        sweeps = descent.solve(tol, most, patience);
        std::copy(descent.best.begin(), descent.best.end(), theta.data);
        gap = descent.gap;
    });
    patience.end();
    return {theta.array, gap, sweeps};
}

}  // namespace

NB_MODULE(_margin, m) {
    start_module_beside_kernels();
    m.def("squares", &squares, "begin"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "y"_a.noconvert(),
          "cost"_a.noconvert(), "epsilon"_a, "sided"_a, "theta"_a.noconvert(), "intercept"_a, "threads"_a);
    m.def("product", &product, "begin"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "y"_a.noconvert(),
          "cost"_a.noconvert(), "epsilon"_a, "sided"_a, "theta"_a.noconvert(), "v"_a.noconvert(), "intercept"_a, "threads"_a);
    m.def("descend", &descend, "begin"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "y"_a.noconvert(),
          "cost"_a.noconvert(), "epsilon"_a, "sided"_a, "p"_a, "bias"_a, "tol"_a, "most"_a);
}
