// Python binding of sums of kernels over rows. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "arrays.hpp"
#include "kernels/common/team.hpp"
#include "kernels/summation/sums_rows.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<SumsKernels> kernels(TENFOLD_LEVELS(summation));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return kernels.use(name); }

// Rows in bandwidths, with weights above 0, made ready for sums of one kernel to a relative tolerance.
class KernelSums {
public:
    KernelSums(Matrix rows, Vector weights, std::int64_t kernel, double relative, std::int64_t threads) : kernels_(&*kernels), relative_(relative) {
        require(rows.size(0) > 0 && rows.size(1) > 0 && rows.size(0) <= INT32_MAX, "there must be rows and columns, and not more than 2^31 rows");
        require(weights.size(0) == rows.size(0), "there must be a weight for each row");
        require(kernel >= 0 && kernel <= static_cast<int>(Shape::biweight), "there is no such kernel");
        require(relative > 0 && relative < 1 && threads >= 1, "the tolerance must be between 0 and 1, and there must be a thread");
        for (const double w : weights.span()) require(w > 0 && w < 1e300, "weights must be above 0");
        unlocked([&] {
            rows_ = std::make_unique<SumsRows>(rows.rows(), weights.data(), static_cast<Shape>(kernel), relative, static_cast<size_t>(threads));
            Team team(static_cast<size_t>(threads));
            rows_->add_terms(team, kernels_->expand);
        });
    }

    // Points in an order in which those that look at the same rows come together.
    nb::object order(Matrix points) const {
        require(points.size(1) == rows_->width(), "points have another number of columns than rows");
        New<std::int64_t> order(points.size(0));
        unlocked([&] { rows_->sort(points.rows(), order.data); });
        return order.array;
    }

    // Logarithms of the sums at points. `own` is empty, or names for each point the row that it is, of which the weight `taken` is left out.
    Doubles log_sums(Matrix points, Integers own, Vector taken, double absolute) const {
        const size_t q = points.size(0);
        require(points.size(1) == rows_->width(), "points have another number of columns than rows");
        require(own.size(0) == 0 || own.size(0) == q, "own must name a row for each point");
        require(taken.size(0) == own.size(0), "taken must hold a weight for each point that is a row");
        for (const std::int64_t row : own.span()) require(static_cast<std::uint64_t>(row) < rows_->size(), "own names a row that is not there");
        require(absolute >= 0, "the tolerance must not be negative");
        Output logs = zeros(q);
        unlocked([&] {
            std::vector<std::int64_t> order(q);
            rows_->sort(points.rows(), order.data());
            const SumsView rows = rows_->view();
            const bool out = own.size(0) > 0;  // what is left out makes sums smaller, by half at most
            const Asked asked{points.rows(), order.data(), out ? own.data() : nullptr, taken.data()};
            const Tolerance tolerance{out ? relative_ / 2 : relative_, absolute};
            kernels_->sum(rows, asked, 0, q, tolerance, logs.data);
        });
        return logs.array;
    }

private:
    const SumsKernels* kernels_;
    double relative_;
    std::unique_ptr<SumsRows> rows_;
};

}  // namespace

NB_MODULE(_summation, m) {
    start_module_beside_kernels();
    nb::class_<KernelSums>(m, "KernelSums")
        .def(nb::init<Matrix, Vector, std::int64_t, double, std::int64_t>(), "rows"_a.noconvert(), "weights"_a.noconvert(), "kernel"_a,
             "relative"_a, "threads"_a = 1)
        .def("log_sums", &KernelSums::log_sums, "points"_a.noconvert(), "own"_a.noconvert(), "taken"_a.noconvert(), "absolute"_a = 0.0)
        .def("order", &KernelSums::order, "points"_a.noconvert());
    m.def("use_level", &use_level, "name"_a);
}
