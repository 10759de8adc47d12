// Python binding of bins and boosting. Every index is checked here, before native loops see it.
#include <string>

#include "arrays.hpp"
#include "kernels/boost_table.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

#if TENFOLD_X86_LEVELS
const BoostKernels* kernels = &best_of(boost_baseline, boost_avx2, boost_avx512);
#else
const BoostKernels* kernels = &boost_baseline;
#endif

void require(bool holds, const std::string& what) {
    if (!holds) throw nb::value_error(what.c_str());
}

// Chooses the instruction set by name, for tests; false where this machine does not have it.
bool use_level(const std::string& name) {
    const InstructionSet best = instruction_set();
    if (name == "baseline") kernels = &boost_baseline;
#if TENFOLD_X86_LEVELS
    else if (name == "avx2" && best >= InstructionSet::avx2) kernels = &boost_avx2;
    else if (name == "avx512" && best >= InstructionSet::avx512) kernels = &boost_avx512;
#endif
    else return false;
    return true;
}

nb::object edges_of(Vector sorted, Vector weight, std::int64_t most) {
    require(weight.size(0) == 0 || weight.size(0) == sorted.size(0), "weights must be as many as values");
    require(most >= 2 && most <= 255, "there can be 2 to 255 bins");
    std::vector<double> edges;
    {
        nb::gil_scoped_release release;
        bin_edges(sorted.span(), weight.span(), static_cast<size_t>(most), edges);
    }
    New<double> made(edges.size());
    std::copy(edges.begin(), edges.end(), made.data);
    return made.array;
}

template <class T>
nb::object coded(Table<T> X, Matrix edges, const Input<std::int32_t, 1>& halvings, Integers n_bins, std::int64_t width) {
    const size_t p = X.size(1);
    require(edges.size(0) == p && edges.size(1) == 256 && halvings.size(0) == p && n_bins.size(0) == p,
            "edges must be (p, 256), halvings and n_bins (p)");
    require(width >= static_cast<std::int64_t>(p), "a row of codes must hold all columns");
    std::vector<std::uint8_t> missing(p);
    for (size_t j = 0; j < p; ++j) {
        require(halvings.data()[j] >= 0 && halvings.data()[j] <= 8, "a column has at most 255 edges");
        require(n_bins.data()[j] >= 0 && n_bins.data()[j] <= 255, "a column has at most 255 bins");
        missing[j] = static_cast<std::uint8_t>(n_bins.data()[j]);
    }
    New<std::uint8_t> codes(X.size(0), static_cast<size_t>(width));
    {
        nb::gil_scoped_release release;
        const ColumnEdges by{edges.data(), halvings.data(), missing.data(), p};
        if constexpr (std::is_same_v<T, float>) kernels->code_floats(X.rows(), by, codes.data, width);
        else kernels->code_doubles(X.rows(), by, codes.data, width);
    }
    return codes.array;
}

}  // namespace

NB_MODULE(_boost, m) {
    start_module_beside_kernels();
    m.def("use_level", [](nb::str name) { return use_level(name.c_str()); });
    m.def("bin_edges", &edges_of, "sorted"_a.noconvert(), "weight"_a.noconvert(), "most"_a);
    m.def("code_rows", &coded<double>, "X"_a.noconvert(), "edges"_a.noconvert(), "halvings"_a.noconvert(),
          "n_bins"_a.noconvert(), "width"_a);
    m.def("code_rows", &coded<float>, "X"_a.noconvert(), "edges"_a.noconvert(), "halvings"_a.noconvert(),
          "n_bins"_a.noconvert(), "width"_a);
}
