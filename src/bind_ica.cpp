// Python binding of the steps of independent component analysis. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "kernels/reduce/ica_kernels.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<Ica> ica(TENFOLD_LEVELS(ica));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return ica.use(name); }

// (products, slopes): see Ica.
template <class T>
nb::tuple ica_sums(Table<T> X, Vector w, Vector center, Matrix axes, std::int64_t contrast, double a) {
    const size_t p = X.size(1), k = axes.size(0);
    require(p > 0 && k > 0, "there must be columns and axes");
    require(w.size(0) == X.size(0), "there must be a weight for each row");
    require(center.size(0) == p && axes.size(1) == p, "arrays differ in their number of columns");
    require(contrast >= 0 && contrast <= static_cast<int>(Contrast::cube), "there is no such function");
    const Projections on{center.data(), axes.rows(), static_cast<Contrast>(contrast), a};
    Output products = zeros(k, p), slopes = zeros(k);
    unlocked([&] {
        if constexpr (std::is_same_v<T, float>) ica->sums_float(X.rows(), w.span(), on, products.data, slopes.data);
        else ica->sums_double(X.rows(), w.span(), on, products.data, slopes.data);
    });
    return nb::make_tuple(products.array, slopes.array);
}

}  // namespace

NB_MODULE(_ica, m) {
    start_module_beside_kernels();
    m.def("ica_sums", &ica_sums<double>, "X"_a.noconvert(), "w"_a.noconvert(), "center"_a.noconvert(), "axes"_a.noconvert(),
          "contrast"_a, "a"_a);
    m.def("ica_sums", &ica_sums<float>, "X"_a.noconvert(), "w"_a.noconvert(), "center"_a.noconvert(), "axes"_a.noconvert(),
          "contrast"_a, "a"_a);
    m.def("use_level", &use_level, "name"_a);
}
