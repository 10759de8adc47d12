// Python binding of packed trees. Every index is checked here, once, before rows walk down.
#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "kernels/attribution.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

#if TENFOLD_X86_LEVELS
const Walks* walks = &best_of(walks_baseline, walks_avx2, walks_avx512);
#else
const Walks* walks = &walks_baseline;
#endif

void require(bool holds, const std::string& what) {
    if (!holds) throw nb::value_error(what.c_str());
}

template <class T>
using Nodes = const Input<T, 1>&;

// Chooses the instruction set by name, for tests; false where this machine does not have it.
bool use_level(const std::string& name) {
    const InstructionSet best = instruction_set();
    if (name == "baseline") walks = &walks_baseline;
#if TENFOLD_X86_LEVELS
    else if (name == "avx2" && best >= InstructionSet::avx2) walks = &walks_avx2;
    else if (name == "avx512" && best >= InstructionSet::avx512) walks = &walks_avx512;
#endif
    else return false;
    return true;
}

void check_mask(std::span<const std::uint64_t> bits, std::int64_t at, size_t node) {
    const std::string where = "node " + std::to_string(node);
    require(at >= 0 && static_cast<size_t>(at) < bits.size() && at < INT32_MAX, where + ": its subset is not in bits");
    require(bits[at] < bits.size() - static_cast<size_t>(at), where + ": its subset is longer than bits");
}

// Nodes of tree t are first[t] .. first[t + 1] - 1; children are numbered within their tree and come after their parent.
void build(PackedTrees* made, Nodes<std::int64_t> first, Nodes<std::int32_t> left, Nodes<std::int32_t> right,
           Nodes<std::int32_t> feature, Nodes<double> threshold, Nodes<std::uint8_t> missing_left,
           Nodes<std::int64_t> subset, Nodes<std::uint64_t> bits, Matrix value) {
    const size_t n = left.size(0), trees = first.size(0) - 1;
    require(first.size(0) >= 1 && n < UINT32_MAX, "there must be fewer than 2^32 nodes");
    for (size_t size : {right.size(0), feature.size(0), threshold.size(0), missing_left.size(0), subset.size(0), value.size(0)})
        require(size == n, "the arrays of the nodes differ in length");
    PackedTrees packed;
    packed.bits.assign(bits.span().begin(), bits.span().end());
    packed.values.assign(value.data(), value.data() + n * value.size(1));
    packed.outputs = value.size(1);
    packed.nodes.resize(n);
    require(packed.outputs >= 1 && first.data()[0] == 0 && first.data()[trees] == static_cast<std::int64_t>(n),
            "first must run from 0 to the number of nodes");
    std::vector<std::int32_t> slot;
    for (size_t t = 0; t < trees; ++t) {
        const std::int64_t start = first.data()[t], stop = first.data()[t + 1];
        require(0 <= start && start < stop && stop <= static_cast<std::int64_t>(n), "first must increase");
        packed.first.push_back(static_cast<size_t>(start));
        for (std::int64_t i = start; i < stop; ++i) {
            TreeNode& node = packed.nodes[i];
            node = {0, 0, -1, 0, 0, -1, missing_left.data()[i] != 0};
            const std::int64_t l = left.data()[i], r = right.data()[i], f = feature.data()[i];
            if (l < 0) continue;
            const auto demand = [&](bool holds, const char* what) {  // words are made only where they are needed
                if (!holds) require(false, "node " + std::to_string(i) + what);
            };
            demand(l > i - start && r > i - start && l < stop - start && r < stop - start,
                   ": its children are not later nodes of the same tree");
            demand(f >= 0 && f < INT32_MAX, ": its feature is not a column");
            demand(!std::isnan(threshold.data()[i]), ": its threshold is NaN");
            if (static_cast<size_t>(f) >= slot.size()) slot.resize(f + 1, -1);
            if (slot[f] < 0) {
                slot[f] = static_cast<std::int32_t>(packed.used.size());
                packed.used.push_back(static_cast<std::int32_t>(f));
            }
            node.threshold = threshold.data()[i];
            node.threshold32 = float_below(node.threshold);
            node.slot = slot[f];
            node.left = static_cast<std::uint32_t>(start + l);
            node.right = static_cast<std::uint32_t>(start + r);
            if (subset.data()[i] >= 0) {
                check_mask(bits.span(), subset.data()[i], static_cast<size_t>(i));
                node.subset = static_cast<std::int32_t>(subset.data()[i]);
            }
        }
    }
    packed.first.push_back(n);
    packed.width = slot.size();
    new (made) PackedTrees(std::move(packed));
}

void check_call(const PackedTrees& trees, size_t from, size_t to, size_t p) {
    require(from <= to && to < trees.first.size(), "there are not so many trees");
    require(p >= trees.width, "the table has fewer columns than the trees ask for");
}

template <class T>
const WalksOf<T>& walks_for() {
    if constexpr (std::is_same_v<T, float>) return walks->of_float;
    else return walks->of_double;
}

template <class T>
Doubles sums_of(const PackedTrees& trees, Table<T> X, size_t from, size_t to, Matrix start) {
    check_call(trees, from, to, X.size(1));
    require(start.size(0) == X.size(0) && start.size(1) == trees.outputs, "start must be (rows, outputs)");
    Output out = unfilled(X.size(0), trees.outputs);
    {
        nb::gil_scoped_release release;
        std::copy_n(start.data(), X.size(0) * trees.outputs, out.data);
        walks_for<T>().tree_sums(trees, from, to, X.rows(), out.data);
    }
    return out.array;
}

template <class T>
nb::object leaves_of(const PackedTrees& trees, Table<T> X, size_t from, size_t to) {
    check_call(trees, from, to, X.size(1));
    New<std::int64_t> out(X.size(0), to - from);
    {
        nb::gil_scoped_release release;
        walks_for<T>().tree_leaves(trees, from, to, X.rows(), out.data);
    }
    return out.array;
}

// The depth of the deepest node.
size_t depth_of(const PackedTrees& trees) {
    std::vector<size_t> depth(trees.nodes.size());
    size_t deepest = 0;
    for (size_t i = 0; i < depth.size(); ++i) {  // parents come before their children
        deepest = std::max(deepest, depth[i]);
        if (trees.nodes[i].slot >= 0) depth[trees.nodes[i].left] = depth[trees.nodes[i].right] = depth[i] + 1;
    }
    return deepest;
}

template <class T>
Doubles attributions_of(const PackedTrees& trees, Table<T> X, Table<T> Z, Vector covers) {
    check_call(trees, 0, 0, X.size(1));
    require(covers.size(0) == trees.nodes.size() && Z.size(1) == X.size(1), "covers and background must fit trees and rows");
    const size_t depth = depth_of(trees);
    require(depth < 5000, "the trees are too deep for exact attributions: limit max_depth");
    Output out = zeros(X.size(0), X.size(1), trees.outputs);
    {
        nb::gil_scoped_release release;
        attribute<T>(trees, covers.span(), depth, X.rows(), Z.rows(), out.data);
    }
    return out.array;
}

template <class T>
void define(nb::class_<PackedTrees>& packed) {
    packed.def("sums", &sums_of<T>, "X"_a.noconvert(), "start"_a, "stop"_a, "onto"_a.noconvert());
    packed.def("attributions", &attributions_of<T>, "X"_a.noconvert(), "background"_a.noconvert(), "covers"_a.noconvert());
    packed.def("leaves", &leaves_of<T>, "X"_a.noconvert(), "start"_a, "stop"_a);
}

}  // namespace

NB_MODULE(_trees, m) {
    start_module_beside_kernels();
    nb::class_<PackedTrees> packed(m, "PackedTrees");
    packed.def("__init__", &build, "first"_a.noconvert(), "children_left"_a.noconvert(), "children_right"_a.noconvert(),
               "feature"_a.noconvert(), "threshold"_a.noconvert(), "missing_go_to_left"_a.noconvert(),
               "subset"_a.noconvert(), "bits"_a.noconvert(), "value"_a.noconvert());
    packed.def_ro("width", &PackedTrees::width);
    define<double>(packed);
    define<float>(packed);
    m.def("use_level", &use_level, "name"_a);
}
