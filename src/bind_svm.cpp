// Python binding of kernels of rows and of the steps of support vector machines. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "kernels/common/team.hpp"
#include "kernels/machines/svm_kernels.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<Svm> svm(TENFOLD_LEVELS(svm));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return svm.use(name); }

template <class T>
const SvmKernels<T>& kernels() {
    if constexpr (std::is_same_v<T, float>) return svm->floats;
    else return svm->doubles;
}

KernelForm checked_form(std::int64_t form, double constant, std::int64_t degree) {
    require(form >= 0 && form <= static_cast<int>(Form::sigmoid), "there is no such kernel");
    require(degree >= 0, "the degree must not be negative");
    return {static_cast<Form>(form), constant, degree};
}

template <class T>
PackedRows<T> packed_rows(const Input<T, 3>& rows, Column<T> halves) {
    require(rows.size(2) == PACKED, "rows must be packed by 32");
    require(halves.size(0) == rows.size(0) * PACKED, "there must be half a squared norm for each packed row");
    return {rows.data(), halves.data(), rows.size(0), rows.size(1)};
}

template <class T>
void check_columns(Table<T> columns, Column<T> halves, size_t p) {
    require(columns.size(1) == p, "rows and columns differ in their number of values");
    require(halves.size(0) == columns.size(0), "there must be half a squared norm for each column");
}

// Columns in groups, value after value.
template <class T>
class Grouped {
public:
    Grouped(Table<T> columns, Column<T> halves, size_t size)
        : size_(size), n_(columns.size(0)), p_(columns.size(1)), groups_(n_ / size + (n_ % size != 0)), values_(groups_ * size * p_),
          halves_(groups_ * size) {
        for (size_t j = 0; j < n_; ++j) {
            T* to = values_.data() + j / size_ * size_ * p_ + j % size_;
            for (size_t k = 0; k < p_; ++k) to[k * size_] = columns.data()[j * p_ + k];
            halves_[j] = halves.data()[j];
        }
    }
    PackedColumns<T> view() const { return {values_.data(), halves_.data(), n_, groups_}; }
    size_t width() const { return groups_ * size_; }

private:
    size_t size_, n_, p_, groups_;
    std::vector<T> values_, halves_;
};

constexpr size_t SHARE = 8;  // groups of rows that a thread takes at a time

size_t checked_threads(std::int64_t threads) {
    require(threads > 0 && threads <= 4096, "threads must be between 1 and 4096");
    return static_cast<size_t>(threads);
}

// (r, packed rows): sums of kernels with the columns; weights (r, columns).
template <class T>
Doubles kernel_sums(const Input<T, 3>& rows, Column<T> halves, Table<T> columns, Column<T> column_halves, Matrix weights, std::int64_t form,
                    double constant, std::int64_t degree, std::int64_t threads) {
    const PackedRows<T> packed = packed_rows<T>(rows, halves);
    check_columns<T>(columns, column_halves, packed.p);
    const size_t r = weights.size(0), m = columns.size(0);
    require(weights.size(1) == m, "there must be a weight for each column");
    const KernelForm kernel = checked_form(form, constant, degree);
    const size_t many = checked_threads(threads);
    Output sums = zeros(r, packed.count * PACKED);
    unlocked([&] {
        const SvmKernels<T>& known = kernels<T>();
        const Grouped<T> grouped(columns, column_halves, known.columns);
        std::vector<T> own(r * grouped.width());
        for (size_t s = 0; s < r; ++s)
            std::transform(weights.data() + s * m, weights.data() + (s + 1) * m, own.data() + s * grouped.width(),
                           [](double one) { return static_cast<T>(one); });
        Team team(many);
        team.ranges(packed.count, SHARE, [&](size_t begin, size_t end) {
            known.sums(packed, grouped.view(), own.data(), r, kernel, {begin, end}, sums.data);
        });
    });
    return sums.array;
}

// out (m, n) becomes symmetric: what is below the diagonal follows from what is above.
template <class T>
void mirror(T* out, size_t m, size_t n, Team& team) {
    team.ranges(m, PACKED, [&](size_t begin, size_t end) {
        for (size_t left = 0; left < end; left += PACKED)
            for (size_t j = begin; j < end; ++j)
                for (size_t i = left; i < std::min(left + PACKED, j); ++i) out[j * n + i] = out[i * n + j];
    });
}

// (columns, packed rows): the kernels. With `same`, columns and rows are the same: half of them is made.
template <class T>
nb::object kernel_block(const Input<T, 3>& rows, Column<T> halves, Table<T> columns, Column<T> column_halves, std::int64_t form,
                        double constant, std::int64_t degree, bool same, std::int64_t threads) {
    const PackedRows<T> packed = packed_rows<T>(rows, halves);
    check_columns<T>(columns, column_halves, packed.p);
    require(!same || columns.size(0) <= packed.count * PACKED, "there are more columns than rows");
    const KernelForm kernel = checked_form(form, constant, degree);
    const size_t many = checked_threads(threads);
    New<T> out(columns.size(0), packed.count * PACKED);
    unlocked([&] {
        const SvmKernels<T>& known = kernels<T>();
        const Grouped<T> grouped(columns, column_halves, known.columns);
        Team team(many);
        team.ranges(packed.count, SHARE, [&](size_t begin, size_t end) {
            known.block(packed, grouped.view(), kernel, {begin, end}, same, out.data);
        });
        if (same) mirror(out.data, columns.size(0), packed.count * PACKED, team);
    });
    return out.array;
}

// (b, gradient, steps): the problem on a working set, from b and its gradient on.
template <class T>
nb::tuple solve_working_set(Table<T> K, Vector gradient, Vector b, Vector low, Vector high, Integers group, double tol, std::int64_t most) {
    const size_t q = K.size(0);
    require(q > 0 && K.size(1) >= q, "the kernels must be square, or wider");
    require(gradient.size(0) == q && b.size(0) == q && low.size(0) == q && high.size(0) == q && group.size(0) == q,
            "there must be a value for each variable");
    std::int64_t groups = 1;
    for (std::int64_t one : group.span()) {
        require(one >= 0 && one < 16, "groups must be between 0 and 15");
        groups = std::max(groups, one + 1);
    }
    require(tol >= 0 && most >= 0, "the tolerance and the number of steps must not be negative");
    Output end = zeros(q), slope = zeros(q);
    std::copy(b.data(), b.data() + q, end.data);
    std::copy(gradient.data(), gradient.data() + q, slope.data);
    const WorkingSet<T> on{K.data(), K.size(1), low.data(), high.data(), group.data(), q, static_cast<size_t>(groups), tol, most};
    const std::int64_t steps = unlocked([&] { return kernels<T>().solve(on, end.data, slope.data); });
    return nb::make_tuple(end.array, slope.array, steps);
}

template <class T>
void define(nb::module_& m) {
    m.def("kernel_sums", &kernel_sums<T>, "rows"_a.noconvert(), "halves"_a.noconvert(), "columns"_a.noconvert(),
          "column_halves"_a.noconvert(), "weights"_a.noconvert(), "form"_a, "constant"_a, "degree"_a, "threads"_a);
    m.def("kernel_block", &kernel_block<T>, "rows"_a.noconvert(), "halves"_a.noconvert(), "columns"_a.noconvert(),
          "column_halves"_a.noconvert(), "form"_a, "constant"_a, "degree"_a, "same"_a, "threads"_a);
    m.def("solve_working_set", &solve_working_set<T>, "K"_a.noconvert(), "gradient"_a.noconvert(), "b"_a.noconvert(), "low"_a.noconvert(),
          "high"_a.noconvert(), "group"_a.noconvert(), "tol"_a, "most"_a);
}

}  // namespace

NB_MODULE(_svm, m) {
    start_module_beside_kernels();
    define<double>(m);
    define<float>(m);
    m.def("use_level", &use_level, "name"_a);
}
