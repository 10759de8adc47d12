// Python binding of rows changed column by column. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <deque>
#include <string>

#include "arrays.hpp"
#include "kernels/prepare/away.hpp"
#include "kernels/prepare/coded_rows.hpp"
#include "kernels/prepare/column_kernels.hpp"
#include "kernels/prepare/waves.hpp"
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

// Σ (x − center) and Σ (x − center)², with the bits of NumPy's sums.
nb::tuple sums_of_away(Vector x, double center) {
    const Away sums = unlocked([&] { return sums_away(x.data(), x.size(0), center); });
    return nb::make_tuple(sums.first, sums.second);
}

// Sine and cosine of where dates lie in a cycle.
nb::tuple waves_of(Vector days, Vector at, double first, double turn) {
    const Output sine = unfilled(days.size(0)), cosine = unfilled(days.size(0));
    require(unlocked([&] { return waves(days.span(), at.span(), first, turn, sine.data, cosine.data); }), "each day must be in the calendar");
    return nb::make_tuple(sine.array, cosine.array);
}

// How often each code occurs, and a row that has it; codes are below n.
nb::tuple counted(Column<std::uint32_t> codes, std::size_t n) {
    auto counts = New<std::int64_t>(n), rows = New<std::int64_t>(n);
    const bool known = unlocked([&] {
        for (std::size_t i = 0; i < codes.size(0); ++i) {
            const std::uint32_t code = codes.data()[i];
            if (code >= n) return false;
            ++counts.data[code];
            rows.data[code] = static_cast<std::int64_t>(i);
        }
        return true;
    });
    require(known, "codes must be below n");
    return nb::make_tuple(nb::borrow<Int64s>(counts.array), nb::borrow<Int64s>(rows.array));
}

// Fills columns of `out` from (start, width, numbers) and (start, width, codes, places); returns None, or the place (column, row) of a
// number that is beyond floats when scaled.
nb::object code_rows(const nb::list& parts, Vector mean, Vector scale, Vector low, Vector high, const Doubles& out) {
    Input<double, 2> shape;
    require(shape.acquire(out.ptr()), "out must be a contiguous matrix");
    const size_t n = shape.size(0), p = shape.size(1);
    require(mean.size(0) == p && scale.size(0) == p && low.size(0) == p && high.size(0) == p, "there must be a value for each column");
    std::deque<Input<double, 1>> numbers;
    std::deque<Input<std::uint32_t, 1>> codes;
    std::deque<Input<std::int64_t, 1>> places;
    std::vector<CodedColumn> made;
    for (nb::handle part : parts) {
        const nb::tuple one = nb::cast<nb::tuple>(part);
        require(one.size() == 3 || one.size() == 4, "a column is (start, width, numbers) or (start, width, codes, places)");
        CodedColumn column{.start = nb::cast<size_t>(one[0]), .width = nb::cast<size_t>(one[1])};
        require(column.start <= p && column.width <= p - column.start, "columns must lie within out");
        if (one.size() == 3) {
            require(numbers.emplace_back().acquire(one[2].ptr()) && numbers.back().size(0) == n, "numbers must be float64, one for each row");
            require(column.width == 1 || column.width == 2, "a number has one column or two");
            column.numbers = numbers.back().data();
        } else {
            require(codes.emplace_back().acquire(one[2].ptr()) && codes.back().size(0) == n, "codes must be uint32, one for each row");
            require(places.emplace_back().acquire(one[3].ptr()), "places must be int64");
            column.codes = codes.back().data();
            column.places = places.back().data();
            for (std::uint32_t code : codes.back().span()) require(code < places.back().size(0), "each code must have a place");
            for (std::int64_t place : places.back().span())
                require(place < static_cast<std::int64_t>(column.width), "places must be among the columns");
        }
        made.push_back(column);
    }
    double* into = static_cast<double*>(buffer_of(out));
    const Scaling scaling{mean.data(), scale.data(), low.data(), high.data()};
    const std::optional<Cell> bad = unlocked([&] { return CodedRows(made, scaling, {into, n, p}).fill(); });
    if (!bad) return nb::none();
    return nb::make_tuple(bad->column, bad->row);
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
    m.def("sums_away", &sums_of_away, "x"_a.noconvert(), "center"_a);
    m.def("waves", &waves_of, "days"_a.noconvert(), "at"_a.noconvert(), "first"_a, "turn"_a);
    m.def("counted", &counted, "codes"_a.noconvert(), "n"_a);
    m.def("code_rows", &code_rows, "columns"_a, "mean"_a.noconvert(), "scale"_a.noconvert(), "low"_a.noconvert(), "high"_a.noconvert(),
          "out"_a);
    m.def("use_level", &use_level, "name"_a);
}
