// Python binding of the steps of non-negative factorisation. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>
#include <tuple>
#include <vector>

#include "kernels/common/team.hpp"
#include "kernels/reduce/nmf_kernels.hpp"
#include "kernels/reduce/nonnegative_rows.hpp"
#include "levels.hpp"
#include "sparse_arguments.hpp"

using namespace nb::literals;

namespace {

Levels<Nmf> nmf(TENFOLD_LEVELS(nmf));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return nmf.use(name); }

constexpr size_t TILE = 16, PIECES = 16, PIECE_BYTES = size_t{1} << 26;

size_t padded_to(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }

// A step with H (or, of sparse rows, its transpose) padded with zeros, and the sums of pieces of rows.
class Work {
public:
    Work(const double* H, size_t k, size_t p, bool turned, size_t n, size_t stored, double l1, double l2, double floor)
        : step{nullptr, k, p, padded_to(k, NMF_COMPONENTS), turned ? p : padded_to(p, NMF_COLUMNS), l1, l2, floor, nullptr},
          size(step.wide * step.length), pieces_(pieces(n, stored)), turned_(turned), H_(size, 0.0), below_(k, l1) {
        const size_t rows = turned ? p : k, columns = turned ? k : p, stride = turned ? step.wide : step.length;
        for (size_t i = 0; i < rows; ++i)
            for (size_t j = 0; j < columns; ++j) {
                H_[i * stride + j] = H[i * columns + j];
                below_[turned ? j : i] += H[i * columns + j];
            }
        step.H = H_.data();
        step.below = below_.data();
    }

    // each(from, to, sums) of every piece of n rows, added up in the order of pieces.
    template <class Each>
    double over(size_t n, Team& team, bool summed, Each&& each) {
        if (summed) sums_.assign(pieces_ * size, 0.0);
        std::vector<double> found(pieces_, 0.0);
        const size_t tiles = (n + TILE - 1) / TILE;
        team.each(pieces_, [&](size_t i) {
            const size_t from = tiles * i / pieces_ * TILE, to = std::min(n, tiles * (i + 1) / pieces_ * TILE);
            if (!stopped()) found[i] = each(from, to, summed ? sums_.data() + i * size : nullptr);
        });
        double total = 0;
        for (double one : found) total += one;
        return total;
    }

    // The sums of all pieces, in the shape of what was given as H.
    void gather(Team& team, double* G) const {
        const size_t rows = turned_ ? step.p : step.k, columns = turned_ ? step.k : step.p, stride = turned_ ? step.wide : step.length;
        team.ranges(rows, std::max<size_t>(1, (1 << 13) / columns), [&](size_t from, size_t to) {
            for (size_t r = from; r < to; ++r)
                for (size_t i = 0; i < pieces_; ++i) {
                    const double* sum = sums_.data() + i * size + r * stride;
                    for (size_t j = 0; j < columns; ++j) G[r * columns + j] += sum[j];
                }
        });
    }

    NmfStep step;
    size_t size;

private:
    // The sums of a piece are less work than its rows.
    size_t pieces(size_t n, size_t stored) const {
        const size_t most = std::clamp<size_t>(PIECE_BYTES / (size * sizeof(double) + 1), 2, PIECES);
        return std::clamp<size_t>(std::min(n / (4 * TILE), stored / (4 * step.p)), 1, most);
    }

    size_t pieces_;
    bool turned_;
    std::vector<double> H_, below_, sums_;
};

void check_shapes(size_t n, size_t p, Vector w, Matrix W, size_t k, size_t columns) {
    require(k > 0 && p > 0, "there must be columns and components");
    require(columns == p, "arrays differ in their number of columns");
    require(w.size(0) == n && W.size(0) == n, "there must be a weight and a row of W for each row");
    require(W.size(1) == k, "arrays differ in their number of components");
}

NmfDescent descent_of(Matrix C, Integers order, std::int64_t sweeps, size_t k) {
    require(C.size(0) == k && C.size(1) == k, "the curvature must be (k, k)");
    require(sweeps >= 0, "there can be no fewer than no sweeps");
    for (const std::int64_t t : order.span()) require(t >= 0 && t < static_cast<std::int64_t>(k), "there is no such component");
    return {C.data(), order.span(), static_cast<size_t>(sweeps)};
}

Output copy_of(Matrix W) {
    Output made = unfilled(W.size(0), W.size(1));
    std::copy_n(W.data(), W.size(0) * W.size(1), made.data);
    return made;
}

// Dense and sparse rows alike: what they are multiplied with, and the kernels for them.
template <class T>
struct Dense {
    Rows<const T> X;
    static constexpr bool turned = false;
    size_t size() const { return X.n; }
    size_t stored() const { return X.n * X.p; }
    auto kl() const { if constexpr (std::is_same_v<T, float>) return nmf->kl_float; else return nmf->kl_double; }
    auto log() const { if constexpr (std::is_same_v<T, float>) return nmf->log_float; else return nmf->log_double; }
    auto descent() const { if constexpr (std::is_same_v<T, float>) return nmf->descent_float; else return nmf->descent_double; }
};
struct Sparse {
    SparseRows X;
    static constexpr bool turned = true;
    size_t size() const { return X.size(); }
    size_t stored() const { return X.stored(); }
    auto kl() const { return nmf->kl_sparse; }
    auto log() const { return nmf->log_sparse; }
    auto descent() const { return nmf->descent_sparse; }
};

// (W, G): a multiplicative step for the Kullback-Leibler divergence; G is empty unless it is asked for.
template <class Of>
nb::tuple kl_step_of(const Of& rows, size_t p, Vector w, Matrix W, Matrix H, double l1, double l2, double floor, bool summed, std::int64_t threads) {
    const size_t k = H.size(Of::turned);
    check_shapes(rows.size(), p, w, W, k, H.size(!Of::turned));
    Output next = copy_of(W), G = summed ? zeros(H.size(0), H.size(1)) : zeros(size_t{0}, size_t{0});
    unlocked([&] {
        Team team(static_cast<size_t>(std::max<std::int64_t>(threads, 1)));
        Work work(H.data(), k, p, Of::turned, rows.size(), rows.stored(), l1, l2, floor);
        work.over(rows.size(), team, summed, [&](size_t from, size_t to, double* sums) {
            rows.kl()(rows.X, w.span(), work.step, from, to, next.data, sums);
            return 0.0;
        });
        if (summed) work.gather(team, G.data);
    });
    return nb::make_tuple(next.array, G.array);
}

// Σ w x log(x / W H)
template <class Of>
double kl_log_of(const Of& rows, size_t p, Vector w, Matrix W, Matrix H, double floor, std::int64_t threads) {
    const size_t k = H.size(Of::turned);
    check_shapes(rows.size(), p, w, W, k, H.size(!Of::turned));
    return unlocked([&] {
        Team team(static_cast<size_t>(std::max<std::int64_t>(threads, 1)));
        Work work(H.data(), k, p, Of::turned, rows.size(), rows.stored(), 0.0, 0.0, floor);
        return work.over(rows.size(), team, false, [&](size_t from, size_t to, double*) {
            return rows.log()(rows.X, w.span(), work.step, from, to, W.data());
        });
    });
}

// (W, G, violation): sweeps of coordinate descent.
template <class Of>
nb::tuple descent_of_rows(const Of& rows, size_t p, Vector w, Matrix W, Matrix H, double l1, Matrix C, Integers order, std::int64_t sweeps,
                          std::int64_t threads) {
    const size_t k = H.size(Of::turned);
    check_shapes(rows.size(), p, w, W, k, H.size(!Of::turned));
    const NmfDescent by = descent_of(C, order, sweeps, k);
    Output next = copy_of(W), G = zeros(H.size(0), H.size(1));
    const double violation = unlocked([&] {
        Team team(static_cast<size_t>(std::max<std::int64_t>(threads, 1)));
        Work work(H.data(), k, p, Of::turned, rows.size(), rows.stored(), l1, 0.0, 0.0);
        const double found = work.over(rows.size(), team, true, [&](size_t from, size_t to, double* sums) {
            return rows.descent()(rows.X, w.span(), work.step, by, from, to, next.data, sums);
        });
        work.gather(team, G.data);
        return found;
    });
    return nb::make_tuple(next.array, G.array, violation);
}

template <class T>
nb::tuple kl_step(Table<T> X, Vector w, Matrix W, Matrix H, double l1, double l2, double floor, bool summed, std::int64_t threads) {
    return kl_step_of(Dense<T>{X.rows()}, X.size(1), w, W, H, l1, l2, floor, summed, threads);
}
template <class T>
double kl_log(Table<T> X, Vector w, Matrix W, Matrix H, double floor, std::int64_t threads) {
    return kl_log_of(Dense<T>{X.rows()}, X.size(1), w, W, H, floor, threads);
}
template <class T>
nb::tuple descent(Table<T> X, Vector w, Matrix W, Matrix H, double l1, Matrix C, Integers order, std::int64_t sweeps, std::int64_t threads) {
    return descent_of_rows(Dense<T>{X.rows()}, X.size(1), w, W, H, l1, C, order, sweeps, threads);
}
nb::tuple kl_step_sparse(Integers begin, Column<std::int32_t> columns, Vector values, Vector w, Matrix W, Matrix Ht, double l1, double l2,
                         double floor, bool summed, std::int64_t threads) {
    const size_t p = Ht.size(0);
    return kl_step_of(Sparse{sparse_rows(begin, columns, values, w.size(0), p)}, p, w, W, Ht, l1, l2, floor, summed, threads);
}
double kl_log_sparse(Integers begin, Column<std::int32_t> columns, Vector values, Vector w, Matrix W, Matrix Ht, double floor,
                     std::int64_t threads) {
    const size_t p = Ht.size(0);
    return kl_log_of(Sparse{sparse_rows(begin, columns, values, w.size(0), p)}, p, w, W, Ht, floor, threads);
}
nb::tuple descent_sparse(Integers begin, Column<std::int32_t> columns, Vector values, Vector w, Matrix W, Matrix Ht, double l1, Matrix C,
                         Integers order, std::int64_t sweeps, std::int64_t threads) {
    const size_t p = Ht.size(0);
    return descent_of_rows(Sparse{sparse_rows(begin, columns, values, w.size(0), p)}, p, w, W, Ht, l1, C, order, sweeps, threads);
}

// (H, violation): sweeps over the columns of H with the linear terms B.
nb::tuple columns_descent(Matrix H, Matrix B, Matrix C, Integers order, std::int64_t sweeps, std::int64_t threads) {
    const size_t k = H.size(0), p = H.size(1);
    require(k > 0 && p > 0, "there must be columns and components");
    require(B.size(0) == k && B.size(1) == p, "B must have the shape of H");
    const NmfDescent by = descent_of(C, order, sweeps, k);
    Output next = copy_of(H);
    const double violation = unlocked([&] {
        constexpr size_t SHARE = 16 * TILE;
        std::vector<double> found((p + SHARE - 1) / SHARE, 0.0);
        Team team(static_cast<size_t>(std::max<std::int64_t>(threads, 1)));
        team.ranges(p, SHARE, [&](size_t from, size_t to) {
            if (!stopped()) found[from / SHARE] = nmf->columns(by, k, p, from, to, B.data(), next.data);
        });
        double total = 0;
        for (double one : found) total += one;
        return total;
    });
    return nb::make_tuple(next.array, violation);
}

// Each row of W: min over w >= 0 of w C w / 2 − b w, for the rows b of B.
Doubles nonnegative_rows(Matrix C, Matrix B, std::int64_t threads) {
    const size_t n = B.size(0), k = B.size(1);
    require(C.size(0) == k && C.size(1) == k, "the curvature must be (k, k)");
    Output W = zeros(n, k);
    unlocked([&] {
        Team team(static_cast<size_t>(std::max<std::int64_t>(threads, 1)));
        team.ranges(n, 64, [&](size_t from, size_t to) {
            NonNegativeRow row(C.data(), k);
            for (size_t i = from; i < to && !stopped(); ++i) row.solve(B.data() + i * k, W.data + i * k);
        });
    });
    return W.array;
}

}  // namespace

NB_MODULE(_nmf, m) {
    start_module_beside_kernels();
    m.def("kl_step", &kl_step<double>, "X"_a.noconvert(), "w"_a.noconvert(), "W"_a.noconvert(), "H"_a.noconvert(), "l1"_a, "l2"_a,
          "floor"_a, "summed"_a, "threads"_a);
    m.def("kl_step", &kl_step<float>, "X"_a.noconvert(), "w"_a.noconvert(), "W"_a.noconvert(), "H"_a.noconvert(), "l1"_a, "l2"_a,
          "floor"_a, "summed"_a, "threads"_a);
    m.def("kl_step_sparse", &kl_step_sparse, "begin"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "w"_a.noconvert(),
          "W"_a.noconvert(), "Ht"_a.noconvert(), "l1"_a, "l2"_a, "floor"_a, "summed"_a, "threads"_a);
    m.def("kl_log", &kl_log<double>, "X"_a.noconvert(), "w"_a.noconvert(), "W"_a.noconvert(), "H"_a.noconvert(), "floor"_a, "threads"_a);
    m.def("kl_log", &kl_log<float>, "X"_a.noconvert(), "w"_a.noconvert(), "W"_a.noconvert(), "H"_a.noconvert(), "floor"_a, "threads"_a);
    m.def("kl_log_sparse", &kl_log_sparse, "begin"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "w"_a.noconvert(),
          "W"_a.noconvert(), "Ht"_a.noconvert(), "floor"_a, "threads"_a);
    m.def("descent", &descent<double>, "X"_a.noconvert(), "w"_a.noconvert(), "W"_a.noconvert(), "H"_a.noconvert(), "l1"_a,
          "C"_a.noconvert(), "order"_a.noconvert(), "sweeps"_a, "threads"_a);
    m.def("descent", &descent<float>, "X"_a.noconvert(), "w"_a.noconvert(), "W"_a.noconvert(), "H"_a.noconvert(), "l1"_a,
          "C"_a.noconvert(), "order"_a.noconvert(), "sweeps"_a, "threads"_a);
    m.def("descent_sparse", &descent_sparse, "begin"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert(), "w"_a.noconvert(),
          "W"_a.noconvert(), "Ht"_a.noconvert(), "l1"_a, "C"_a.noconvert(), "order"_a.noconvert(), "sweeps"_a, "threads"_a);
    m.def("columns_descent", &columns_descent, "H"_a.noconvert(), "B"_a.noconvert(), "C"_a.noconvert(), "order"_a.noconvert(),
          "sweeps"_a, "threads"_a);
    m.def("nonnegative_rows", &nonnegative_rows, "C"_a.noconvert(), "B"_a.noconvert(), "threads"_a);
    m.def("use_level", &use_level, "name"_a);
}
