// Python binding of sums in packed triangles. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "kernels/reduce/packed_kernels.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<Packed> packed(TENFOLD_LEVELS(packed));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return packed.use(name); }

// An array of doubles that is written to.
double* written(const Doubles& array, size_t least) {
    Input<double, 1> checked;
    require(checked.acquire(array.ptr()), "what is written to must be a contiguous array of float64");
    require(checked.size(0) >= least, "what is written to is too short");
    return static_cast<double*>(buffer_of(array));
}

size_t room(std::int64_t p) {
    require(p > 0 && p < 1 << 24, "there must be 1 to 2^24 columns");
    return packed->room(static_cast<size_t>(p));
}

// Weight, centre and offset of the rows of X with these numbers; none: of all. The upper triangle goes into an array of
// room(p) zeros, row by row.
template <class T>
nb::tuple packed_moments(Table<T> X, Integers rows, Vector w, const Doubles& into) {
    const size_t n = X.size(0), p = X.size(1);
    require(w.size(0) == (rows.size(0) ? rows.size(0) : n), "there must be a weight for each row");
    double* triangle = written(into, room(static_cast<std::int64_t>(p)));
    for (std::int64_t row : rows.span()) require(static_cast<std::uint64_t>(row) < n, "rows names a row that is not there");
    Output center = zeros(p), offset = zeros(p);
    double weight = 0;
    unlocked([&] {
        if constexpr (std::is_same_v<T, float>)
            packed->moments_float(X.rows(), rows.span(), w.span(), weight, center.data, offset.data, triangle);
        else packed->moments_double(X.rows(), rows.span(), w.span(), weight, center.data, offset.data, triangle);
    });
    return nb::make_tuple(weight, center.array, offset.array);
}

// A += B + d d^T.
void merge_packed(const Doubles& A, Vector B, Vector d) {
    const size_t p = d.size(0), size = p * (p + 1) / 2;
    double* into = written(A, size);
    require(B.size(0) >= size, "B must be a triangle of as many columns as d has");
    unlocked([&] { packed->merge(into, B.data(), d.span()); });
}

}  // namespace

NB_MODULE(_packed, m) {
    start_module_beside_kernels();
    m.def("packed_moments", &packed_moments<double>, "X"_a.noconvert(), "rows"_a.noconvert(), "w"_a.noconvert(), "into"_a);
    m.def("packed_moments", &packed_moments<float>, "X"_a.noconvert(), "rows"_a.noconvert(), "w"_a.noconvert(), "into"_a);
    m.def("room", &room, "p"_a);
    m.def("merge_packed", &merge_packed, "A"_a, "B"_a.noconvert(), "d"_a.noconvert());
    m.def("use_level", &use_level, "name"_a);
}
