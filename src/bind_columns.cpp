// Python binding of rows changed column by column. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "kernels/prepare/column_kernels.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<Columns> columns(TENFOLD_LEVELS(columns));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return columns.use(name); }

// An array of the shape of X that is written to.
template <class T>
T* written(const nb::object& array, Table<T> X) {
    Input<T, 2> checked;
    require(checked.acquire(array.ptr()), "out must be a contiguous array of the type of X");
    require(checked.size(0) == X.size(0) && checked.size(1) == X.size(1), "out must have the shape of X");
    return static_cast<T*>(buffer_of(array));
}

void require_columns(Matrix X, Vector values) {
    require(values.size(0) == X.size(1), "there must be a value for each column");
}

void standardize(Matrix X, Vector shift, Vector scale, const Doubles& out) {
    require_columns(X, shift);
    require_columns(X, scale);
    double* into = written<double>(out, X);
    unlocked([&] { columns->standardize(X.rows(), shift.data(), scale.data(), into); });
}

void spread_out(Matrix X, Vector shift, Vector scale, Vector plus, const Doubles& out) {
    require_columns(X, shift);
    require_columns(X, scale);
    require_columns(X, plus);
    double* into = written<double>(out, X);
    unlocked([&] { columns->spread_out(X.rows(), shift.data(), scale.data(), plus.data(), into); });
}

void fill(Matrix X, Vector values, const Doubles& out) {
    require_columns(X, values);
    double* into = written<double>(out, X);
    unlocked([&] { columns->fill(X.rows(), values.data(), into); });
}

template <class T>
void unit_rows(Table<T> X, const std::string& norm, const nb::object& out) {
    require(norm == "l1" || norm == "l2" || norm == "max", "norm must be l1, l2 or max");
    T* into = written<T>(out, X);
    const Length kind = norm == "l1" ? Length::sum : norm == "l2" ? Length::root : Length::largest;
    unlocked([&] {
        if constexpr (std::is_same_v<T, float>) columns->unit_rows_float(X.rows(), kind, into);
        else columns->unit_rows_double(X.rows(), kind, into);
    });
}

template <class T>
bool within(Table<T> X, double largest) {
    return unlocked([&] {
        if constexpr (std::is_same_v<T, float>) return columns->within_float(X.span(), largest);
        else return columns->within_double(X.span(), largest);
    });
}

}  // namespace

NB_MODULE(_columns, m) {
    start_module_beside_kernels();
    m.def("standardize", &standardize, "X"_a.noconvert(), "shift"_a.noconvert(), "scale"_a.noconvert(), "out"_a);
    m.def("spread_out", &spread_out, "X"_a.noconvert(), "shift"_a.noconvert(), "scale"_a.noconvert(), "plus"_a.noconvert(), "out"_a);
    m.def("fill", &fill, "X"_a.noconvert(), "values"_a.noconvert(), "out"_a);
    m.def("unit_rows", &unit_rows<double>, "X"_a.noconvert(), "norm"_a, "out"_a);
    m.def("unit_rows", &unit_rows<float>, "X"_a.noconvert(), "norm"_a, "out"_a);
    m.def("within", &within<double>, "X"_a.noconvert(), "largest"_a);
    m.def("within", &within<float>, "X"_a.noconvert(), "largest"_a);
    m.def("use_level", &use_level, "name"_a);
}
