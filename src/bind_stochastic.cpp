// Python binding of steps for one row at a time. Arguments are checked here, and only here.
#include <vector>

#include "arrays.hpp"
#include "kernels/common/team.hpp"
#include "kernels/stochastic/rows.hpp"
#include "kernels/stochastic/steps.hpp"

using namespace nb::literals;

namespace {

constexpr size_t FIELDS = sizeof(Numbers) / sizeof(double);

// A table of doubles that is written to; one without columns where there is none.
struct Written {
    Input<double, 2> checked;
    double* data;

    Written(const Doubles& array, size_t n) {
        require(checked.acquire(array.ptr()), "what is written to must be a contiguous table of float64");
        require(checked.size(0) == n, "what is written to must have a row for each problem");
        data = static_cast<double*>(buffer_of(array));
    }
    size_t columns() const { return checked.size(1); }
    double* row(size_t i) const { return columns() ? data + i * columns() : nullptr; }
};

// The state of all problems: v, rest and paid (K, p) or (K, 0), numbers (K, fields); written to.
struct State {
    const Doubles &v, &rest, &paid, &numbers;
};

template <class Rows>
void run_steps(const Rows& rows, size_t p, Vector y, Vector w, const State& state, Integers positive, Matrix factors,
               const Rule& rule, nb::object seed, std::int64_t threads) {
    const size_t n = rows.size(), K = positive.size(0);
    const Written v(state.v, K), rest(state.rest, K), paid(state.paid, K), numbers(state.numbers, K);
    require(y.size(0) == n && w.size(0) == n, "there must be a target and a weight for each row");
    require(n <= UINT32_MAX, "there are too many rows for one call");
    require(v.columns() == p && numbers.columns() == FIELDS, "v must have the columns of X, numbers all fields");
    require(rest.columns() == (rule.average_from > 0 ? p : 0), "rest must have the columns of X where weights are averaged, else none");
    require(paid.columns() == (rule.l1 > 0 ? p : 0), "paid must have the columns of X where there is an L1 penalty, else none");
    require(factors.size(0) == K && factors.size(1) == 2, "factors must be (problems, 2)");
    require(rule.loss >= Loss::logistic && rule.loss < Loss::end, "there is no such loss");
    require(rule.rate >= Rate::constant && rule.rate < Rate::end, "there is no such rate");
    require(threads >= 1, "threads must be at least 1");
    std::vector<std::uint32_t> order(seed.is_none() ? 0 : n);
    const auto drawn = seed.is_none() ? 0 : nb::cast<std::uint64_t>(seed);
    unlocked([&] {
        draw_order(drawn, order);
        Team team(std::min(static_cast<size_t>(threads), K));
        team.each(K, [&](size_t k) {
            const double* pair = factors.data() + 2 * k;
            Problem problem{v.row(k), rest.row(k), paid.row(k), p, reinterpret_cast<Numbers*>(numbers.row(k)),
                            positive.data()[k], {pair[0], pair[1]}};
            if (problem.at->finished == 0 && problem.at->diverged == 0)
                Descent<Rows>(rule, problem).run(rows, y.span(), w.span(), order);
        });
    });
}

template <class T>
void steps(Table<T> X, Vector y, Vector w, const Doubles& v, const Doubles& rest, const Doubles& paid, const Doubles& numbers,
           Integers positive, Matrix factors, const Rule& rule, nb::object seed, std::int64_t threads) {
    run_steps(DenseRows<T>{X.rows()}, X.size(1), y, w, {v, rest, paid, numbers}, positive, factors, rule, seed, threads);
}

template <class T, class Index>
void sparse_steps(Column<T> data, Column<Index> indices, Column<Index> indptr, std::int64_t p, Vector y, Vector w, const Doubles& v,
                  const Doubles& rest, const Doubles& paid, const Doubles& numbers, Integers positive, Matrix factors,
                  const Rule& rule, nb::object seed, std::int64_t threads) {
    require(p >= 0 && indptr.size(0) > 0 && indices.size(0) == data.size(0), "these are not the parts of a CSR matrix");
    Index before = 0;
    for (const Index one : indptr.span()) {
        require(one >= before && static_cast<size_t>(one) <= data.size(0), "indptr must rise from 0 to at most the number of values");
        before = one;
    }
    bool inside = true;
    for (const Index one : indices.span()) inside &= one >= 0 && one < p;
    require(inside, "indices names a column that is not there");
    run_steps(SparseRows<T, Index>{data.data(), indices.data(), indptr.span()}, static_cast<size_t>(p), y, w, {v, rest, paid, numbers},
              positive, factors, rule, seed, threads);
}

template <class T>
void define(nb::module_& m) {
    m.def("steps", &steps<T>, "X"_a.noconvert(), "y"_a.noconvert(), "w"_a.noconvert(), "v"_a, "rest"_a, "paid"_a, "numbers"_a,
          "positive"_a.noconvert(), "factors"_a.noconvert(), "rule"_a, "seed"_a.none(), "threads"_a);
}

template <class T, class Index>
void define_sparse(nb::module_& m) {
    m.def("sparse_steps", &sparse_steps<T, Index>, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "p"_a,
          "y"_a.noconvert(), "w"_a.noconvert(), "v"_a, "rest"_a, "paid"_a, "numbers"_a, "positive"_a.noconvert(),
          "factors"_a.noconvert(), "rule"_a, "seed"_a.none(), "threads"_a);
}

}  // namespace

NB_MODULE(_stochastic, m) {
    start_module_beside_kernels();
    nb::class_<Rule>(m, "Rule").def(
        "__init__",
        [](Rule* self, int loss, double epsilon, double l1, double l2, int rate, double first_rate, double power, double slowness,
           double onset, double intercept, double average_from, bool measure) {
            new (self) Rule{static_cast<Loss>(loss), epsilon, l1, l2, static_cast<Rate>(rate), first_rate, power, slowness, onset, intercept,
                            average_from, measure};
        },
        nb::kw_only(), "loss"_a, "epsilon"_a, "l1"_a, "l2"_a, "rate"_a, "first_rate"_a, "power"_a, "slowness"_a, "onset"_a, "intercept"_a,
        "average_from"_a, "measure"_a);
    define<double>(m);
    define<float>(m);
    define_sparse<double, std::int32_t>(m);
    define_sparse<double, std::int64_t>(m);
    define_sparse<float, std::int32_t>(m);
    define_sparse<float, std::int64_t>(m);
}
