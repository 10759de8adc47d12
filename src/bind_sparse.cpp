// Python binding of logistic regression over sparse rows. Arguments are checked here, and only here.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "kernels/linear/sparse_logistic.hpp"
#include "sparse_arguments.hpp"

using namespace nb::literals;

namespace {

// f(rows) with the number of scores K of a row, which is known to the compiler where it is 1.
template <class F>
void with_rows(Integers begin, Column<std::int32_t> columns, Vector values, Integers y, Vector w, Matrix theta, F&& f) {
    require(theta.size(0) > 0 && theta.size(1) > 0, "theta must be (p + 1, K)");
    const size_t p = theta.size(0) - 1, K = theta.size(1);
    const SparseRows X = sparse_rows(begin, columns, values, y.size(0), p);
    require(w.size(0) == y.size(0), "y and w must be of one length");
    const auto classes = static_cast<std::int64_t>(std::max<size_t>(K, 2));
    for (const std::int64_t one : y.span()) require(one >= 0 && one < classes, "y must be from 0 to K - 1");
    unlocked([&] {
        if (K == 1) f(ClassRows<Two>{X, y.span(), w.span(), p, {}});
        else f(ClassRows<size_t>{X, y.span(), w.span(), p, K});
    });
}

// The gradient at theta, the diagonal of the curvature, and the loss (2 (p + 1) K + 1); and what rows bend (n, K).
std::tuple<Doubles, Doubles> slopes(Integers begin, Column<std::int32_t> columns, Vector values, Integers y, Vector w, Matrix theta,
                                    size_t threads) {
    Output out = zeros(2 * theta.size(0) * theta.size(1) + 1), kept = zeros(y.size(0), theta.size(1));
    with_rows(begin, columns, values, y, w, theta, [&](const auto& of) { logistic_slopes(of, theta.data(), threads, out.data, kept.data); });
    return {out.array, kept.array};
}

// The curvature times v, where rows bend so.
Doubles product(Integers begin, Column<std::int32_t> columns, Vector values, Integers y, Vector w, Matrix kept, Matrix v, size_t threads) {
    require(kept.size(0) == y.size(0) && kept.size(1) == v.size(1), "kept must be (n, K)");
    Output out = zeros(v.size(0), v.size(1));
    with_rows(begin, columns, values, y, w, v, [&](const auto& of) { logistic_product(of, kept.data(), v.data(), threads, out.data); });
    return out.array;
}

}  // namespace

NB_MODULE(_sparse, m) {
    start_module_beside_kernels();
    m.def("logistic_slopes", &slopes, "begin"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "y"_a.noconvert(),
          "w"_a.noconvert(), "theta"_a.noconvert(), "threads"_a);
    m.def("logistic_product", &product, "begin"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(),
          "y"_a.noconvert(), "w"_a.noconvert(), "kept"_a.noconvert(), "v"_a.noconvert(), "threads"_a);
}
