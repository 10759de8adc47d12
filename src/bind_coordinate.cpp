// Python binding of coordinate descent. Arguments are checked here, and only here.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "arrays.hpp"
#include "kernels/linear/coordinate.hpp"
#include "patience.hpp"

using namespace nb::literals;

namespace {

// Coefficients (k, p), duality gaps (k) and sweeps (k) for k pairs of penalties, each started from the one before.
std::tuple<Doubles, Doubles, Doubles> gram_path(Matrix G, Vector q, double yy, Vector l1, Vector l2, Vector start,
                                                bool positive, double tol, std::int64_t most) {
    const size_t p = G.size(0), k = l1.size(0);
    require(G.size(1) == p && q.size(0) == p && start.size(0) == p, "G must be (p, p), q and start (p)");
    require(l2.size(0) == k, "l1 and l2 must have the same length");
    Output W = zeros(k, p), gaps = zeros(k), sweeps = zeros(k);
    Patience patience;
    unlocked([&] {
        GramDescent descent(G.data(), q.data(), yy, p, p);
        descent.start(start.data());
        for (size_t i = 0; i < k && !patience(); ++i) {
            const Penalty by{l1.data()[i], l2.data()[i], positive};
            sweeps.data[i] = static_cast<double>(descent.solve(by, tol, most, gaps.data[i], patience));
            std::copy_n(descent.coefficients().data(), p, W.data + i * p);
        }
    });
    patience.end();
    return {W.array, gaps.array, sweeps.array};
}

}  // namespace

NB_MODULE(_coordinate, m) {
    start_module_beside_kernels();
    m.def("gram_path", &gram_path, "G"_a.noconvert(), "q"_a.noconvert(), "yy"_a, "l1"_a.noconvert(),
          "l2"_a.noconvert(), "start"_a.noconvert(), "positive"_a, "tol"_a, "most"_a);
}
