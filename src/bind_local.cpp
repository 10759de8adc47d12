// Python binding of the sums of rows around points. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "kernels/nonlinear/local_kernels.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<Local> local(TENFOLD_LEVELS(local));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return local.use(name); }

// (points, sums): see LocalRows. `skip` is empty, or names a row for each point.
Doubles local_sums(Matrix points, Matrix columns, Matrix targets, Vector w, Vector inverse, std::int64_t kernel, bool lines,
                   Integers skip) {
    const size_t n = columns.size(1), p = columns.size(0), q = points.size(0);
    require(n > 0 && n % 8 == 0, "rows must be a multiple of 8");
    require(targets.size(1) == n && w.size(0) == n, "arrays differ in their number of rows");
    require(points.size(1) == p && inverse.size(0) == p, "arrays differ in their number of columns");
    require(kernel >= 0 && kernel <= static_cast<int>(Around::tricube), "there is no such kernel");
    require(skip.size(0) == 0 || skip.size(0) == q, "skip must name a row for each point");
    for (std::int64_t row : skip.span()) require(static_cast<std::uint64_t>(row) < n, "skip names a row that is not there");
    const LocalRows rows{columns.data(), targets.data(), inverse.data(), n, p, targets.size(0)};
    Output sums = zeros(q, rows.sums(lines));
    unlocked([&] {
        std::vector<double> own(w.span().begin(), w.span().end()), scratch(rows.scratch(lines));
        local->local_sums(rows, own.data(), points.rows(), skip.size(0) ? skip.data() : nullptr, static_cast<Around>(kernel),
                          lines, scratch.data(), sums.data);
    });
    return sums.array;
}

}  // namespace

NB_MODULE(_local, m) {
    start_module_beside_kernels();
    m.def("local_sums", &local_sums, "points"_a.noconvert(), "columns"_a.noconvert(), "targets"_a.noconvert(),
          "w"_a.noconvert(), "inverse"_a.noconvert(), "kernel"_a, "lines"_a, "skip"_a.noconvert());
    m.def("use_level", &use_level, "name"_a);
}
