// Python binding of bins and boosting. Every index is checked here, before native loops see it.
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "bind_distributed.hpp"
#include "boost_arguments.hpp"
#include "kernels/boosting/leaf_values.hpp"

using namespace nb::literals;

namespace {

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return boost_kernels.use(name); }

nb::object edges_of(Vector sorted, Vector weight, std::int64_t most) {
    require(weight.size(0) == 0 || weight.size(0) == sorted.size(0), "weights must be as many as values");
    require(most >= 2 && most <= 65535, "there can be 2 to 65535 bins");
    std::vector<double> edges;
    unlocked([&] { bin_edges(sorted.span(), weight.span(), static_cast<size_t>(most), edges); });
    New<double> made(edges.size());
    std::copy(edges.begin(), edges.end(), made.data);
    return made.array;
}

template <class Code, class T>
nb::object coded_as(Table<T> X, const ColumnEdges& by, size_t width, CodeRows<T, Code>* code_rows) {
    New<Code> codes(X.size(0), width);
    unlocked([&] { code_rows(X.rows(), by, codes.data, width); });
    return codes.array;
}

// Codes of bytes, or (wide) of two bytes.
template <class T>
nb::object coded(Table<T> X, Vector edges, Integers start, const Input<std::int32_t, 1>& halvings, Integers n_bins,
                 std::int64_t width, bool wide) {
    const size_t p = X.size(1);
    require(start.size(0) == p && halvings.size(0) == p && n_bins.size(0) == p, "start, halvings and n_bins must be (p)");
    require(width >= static_cast<std::int64_t>(p), "a row of codes must hold all columns");
    const std::int64_t most = wide ? 65535 : 255, n_edges = static_cast<std::int64_t>(edges.size(0));
    for (size_t j = 0; j < p; ++j) {
        const std::int32_t halved = halvings.data()[j];
        require(halved >= 0 && halved <= (wide ? 16 : SHORT), "a column has at most " + std::to_string(most) + " edges");
        const std::int64_t length = std::int64_t{1} << std::max(halved, SHORT);
        require(start.data()[j] >= 0 && start.data()[j] <= n_edges - length, "the edges of a column are 256 or more");
        require(n_bins.data()[j] >= 0 && n_bins.data()[j] <= most, "a column has at most " + std::to_string(most) + " bins");
    }
    const ColumnEdges by{edges.data(), start.data(), halvings.data(), n_bins.data(), p};
    const auto w = static_cast<size_t>(width);
    if constexpr (std::is_same_v<T, float>)
        return wide ? coded_as(X, by, w, boost_kernels->code_floats_wide) : coded_as(X, by, w, boost_kernels->code_floats);
    else return wide ? coded_as(X, by, w, boost_kernels->code_doubles_wide) : coded_as(X, by, w, boost_kernels->code_doubles);
}

// A table of codes on which tree after tree is grown.
class Boosting {
public:
    Boosting(nb::object codes, Integers n_bins, const Input<std::uint8_t, 1>& categorical, Integers order,
             const Input<std::uint8_t, 2>& together, std::int64_t n_threads)
        : codes_(std::move(codes)) {
        CodeTable table;
        require(table.acquire(codes_.ptr()), "codes must be a C-contiguous array of uint8 or uint16 with two axes");
        Columns columns = columns_of(n_bins, categorical, order, together);
        check_codes(table, n_bins);
        const size_t threads = as_threads(n_threads);
        unlocked([&] { grower_.emplace(table.codes(), table.size(0), std::move(columns), threads, *boost_kernels); });
    }

    // From now on.
    void use_threads(std::int64_t n) {
        const size_t threads = as_threads(n);
        unlocked([&] { grower_->use_threads(threads); });
    }

    void gradients(std::int64_t loss, Vector y, Vector raw, Vector w, double parameter) {
        check(y, raw, w);
        const LossAt at = loss_at(loss, y, raw, w, parameter);
        unlocked([&] {
            rule_ = units(extent(grower_->team(), *boost_kernels, at), at.n);
            fix_gradients(grower_->team(), *boost_kernels, at, rule_, grower_->rows().terms());
        });
    }

    nb::tuple grow(const Input<std::uint32_t, 1>& rows, const TreeLimits& wanted) {
        for (const std::uint32_t row : rows.span()) require(row < grower_->n(), "there is no such row");
        require(rows.size(0) <= grower_->n(), "there are more rows than the table has");
        rule_ = wanted.rule(rule_);
        const Limits limits = wanted.limits();
        unlocked([&] { grower_->grow(rows.span(), rule_, limits); });
        return as_arrays(grower_->nodes(), rule_);
    }

    void renew(std::int64_t loss, Vector y, Vector raw, Vector w, double parameter, double rate) {
        check(y, raw, w);
        const Loss kind = as_loss(loss);
        unlocked([&] { renew_leaves(*grower_, kind, y.data(), raw.data(), weights(w), parameter, rate); });
    }

    nb::object values() const {
        New<double> made(grower_->nodes().size());
        for (size_t i = 0; i < grower_->nodes().size(); ++i) made.data[i] = grower_->nodes()[i].value;
        return made.array;
    }

    // Σ w of the rows of each node.
    nb::object weight(Vector w) const {
        const auto& nodes = grower_->nodes();
        require(w.size(0) == grower_->n(), "there must be a weight for each row");
        New<double> made(nodes.size());
        for (size_t i = nodes.size(); i-- > 0;) {
            if (nodes[i].left >= 0) made.data[i] = made.data[nodes[i].left] + made.data[nodes[i].right];
            else {
                std::array<std::int64_t, EXACT_WORDS> words{};
                for (const std::uint32_t row : grower_->rows().of(i)) add_exactly(w.data()[row], words.data());
                made.data[i] = exact_value(words.data());
            }
        }
        return made.array;
    }

    void update(nb::object raw) {
        Input<double, 1> table;
        require(table.acquire(raw.ptr()) && table.size(0) == grower_->n(), "raw must have a float64 for each row");
        double* data = static_cast<double*>(buffer_of(raw));
        unlocked([&] { grower_->update(data); });
    }

private:
    void check(Vector y, Vector raw, Vector w) const {
        require(y.size(0) == grower_->n() && raw.size(0) == grower_->n(), "y and raw must have a number for each row");
        require(w.size(0) == 0 || w.size(0) == grower_->n(), "there must be a weight for each row, or none");
    }
    static const double* weights(Vector w) { return w.size(0) ? w.data() : nullptr; }

    nb::object codes_;
    std::optional<Grower> grower_;
    Rule rule_{};
};

}  // namespace

NB_MODULE(_boost, m) {
    start_module_beside_kernels();
    m.def("use_level", &use_level, "name"_a);
    m.def("bin_edges", &edges_of, "sorted"_a.noconvert(), "weight"_a.noconvert(), "most"_a);
    m.def("code_rows", &coded<double>, "X"_a.noconvert(), "edges"_a.noconvert(), "start"_a.noconvert(), "halvings"_a.noconvert(),
          "n_bins"_a.noconvert(), "width"_a, "wide"_a);
    m.def("code_rows", &coded<float>, "X"_a.noconvert(), "edges"_a.noconvert(), "start"_a.noconvert(), "halvings"_a.noconvert(),
          "n_bins"_a.noconvert(), "width"_a, "wide"_a);
    nb::class_<Boosting>(m, "Boosting")
        .def(nb::init<nb::object, Integers, const Input<std::uint8_t, 1>&, Integers, const Input<std::uint8_t, 2>&, std::int64_t>(),
             "codes"_a, "n_bins"_a.noconvert(), "categorical"_a.noconvert(), "order"_a.noconvert(),
             "together"_a.noconvert(), "n_threads"_a)
        .def("use_threads", &Boosting::use_threads, "n"_a)
        .def("gradients", &Boosting::gradients, "loss"_a, "y"_a.noconvert(), "raw"_a.noconvert(), "w"_a.noconvert(),
             "parameter"_a)
        .def("grow", &Boosting::grow, "rows"_a.noconvert(), "limits"_a)
        .def("renew", &Boosting::renew, "loss"_a, "y"_a.noconvert(), "raw"_a.noconvert(), "w"_a.noconvert(),
             "parameter"_a, "rate"_a)
        .def("values", &Boosting::values)
        .def("weight", &Boosting::weight, "w"_a.noconvert())
        .def("update", &Boosting::update, "raw"_a);
    bind_limits(m);
    bind_losses(m);
    bind_distributed(m);
}
