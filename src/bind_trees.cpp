// Python binding of packed trees. Every index is checked here, once, before rows walk down.
#include <nanobind/stl/string.h>

#include <string>

#include "arrays.hpp"
#include "kernels/tree/attribution.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<Walks> walks(TENFOLD_LEVELS(walks));

template <class T>
using Nodes = const Input<T, 1>&;

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return walks.use(name); }

void check_mask(std::span<const std::uint64_t> bits, std::int64_t at, size_t node) {
    const std::string where = "node " + std::to_string(node);
    require(at >= 0 && static_cast<size_t>(at) < bits.size() && at < INT32_MAX, where + ": its subset is not in bits");
    require(bits[at] < bits.size() - static_cast<size_t>(at), where + ": its subset is longer than bits");
}

// Trees, and the arrays in which they lie.
struct HeldTrees : PackedTrees {
    Input<std::uint8_t, 1> held_nodes;
    Input<double, 2> held_values;
};

// The columns and masks of one inner node, checked and entered.
void enter_node(PackedTrees& packed, const TreeNode& node, size_t number, std::int64_t size, std::vector<bool>& seen,
                Nodes<std::int64_t> subset) {
    const auto demand = [&](bool holds, const char* what) {  // words are made only where they are needed
        if (!holds) require(false, "node " + std::to_string(number) + what);
    };
    const auto at = static_cast<std::int64_t>(number - packed.first.back());
    demand(node.left > at && node.right > at && node.left < size && node.right < size,
           ": its children are not later nodes of the same tree");
    demand(node.feature >= 0 && node.feature < INT32_MAX, ": its feature is not a column");
    demand(!std::isnan(node.threshold), ": its threshold is NaN");
    const auto column = static_cast<size_t>(node.feature);
    if (column >= seen.size()) seen.resize(column + 1);
    if (!seen[column]) packed.used.push_back(node.feature);
    seen[column] = true;
    if (!node.by_set) return;
    demand(subset.size(0) > 0, ": it has no subset");
    check_mask(packed.bits, subset.data()[number], number);
    packed.subset[number] = static_cast<std::int32_t>(subset.data()[number]);
}

// Nodes of tree t are first[t] .. first[t + 1] - 1; children are numbered within their tree and come after their parent.
// `nodes` are the bytes of TreeNodes, and nobody changes them any more; `subset` is empty where no node has a mask.
void build(HeldTrees* made, Nodes<std::int64_t> first, nb::object nodes, Nodes<std::int64_t> subset,
           Nodes<std::uint64_t> bits, nb::object value) {
    Input<std::uint8_t, 1> bytes;
    Input<double, 2> values;
    if (!bytes.acquire(nodes.ptr()) || !values.acquire(value.ptr()))
        throw nb::type_error("nodes must be bytes, value (nodes, outputs) of float64");
    require(first.size(0) >= 1 && bytes.size(0) % sizeof(TreeNode) == 0, "nodes or first have no such size");
    const size_t n = bytes.size(0) / sizeof(TreeNode), trees = first.size(0) - 1;
    require(n < UINT32_MAX, "there must be fewer than 2^32 nodes");
    require(values.size(0) == n && (subset.size(0) == 0 || subset.size(0) == n), "the arrays of the nodes differ in length");
    PackedTrees packed;
    packed.nodes = reinterpret_cast<const TreeNode*>(bytes.data());
    packed.values = values.data();
    packed.bits.assign(bits.span().begin(), bits.span().end());
    packed.subset.resize(subset.size(0), -1);
    packed.outputs = values.size(1);
    require(packed.outputs >= 1 && first.data()[0] == 0 && first.data()[trees] == static_cast<std::int64_t>(n),
            "first must run from 0 to the number of nodes");
    std::vector<bool> seen;
    for (size_t t = 0; t < trees; ++t) {
        const std::int64_t start = first.data()[t], stop = first.data()[t + 1];
        require(0 <= start && start < stop && stop <= static_cast<std::int64_t>(n), "first must increase");
        require(stop - start < INT32_MAX, "a tree must have fewer than 2^31 nodes");
        packed.first.push_back(static_cast<size_t>(start));
        for (auto i = static_cast<size_t>(start); i < static_cast<size_t>(stop); ++i)
            if (packed.nodes[i].left >= 0) enter_node(packed, packed.nodes[i], i, stop - start, seen, subset);
    }
    packed.first.push_back(n);
    packed.width = seen.size();
    new (made) HeldTrees{std::move(packed), {}, {}};
    made->held_nodes.acquire(nodes.ptr());
    made->held_values.acquire(value.ptr());
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
Doubles sums_of(const HeldTrees& trees, Table<T> X, size_t from, size_t to, Matrix start) {
    check_call(trees, from, to, X.size(1));
    require(start.size(0) == X.size(0) && start.size(1) == trees.outputs, "start must be (rows, outputs)");
    Output out = unfilled(X.size(0), trees.outputs);
    unlocked([&] {
        std::copy_n(start.data(), X.size(0) * trees.outputs, out.data);
        walks_for<T>().tree_sums(trees, from, to, X.rows(), out.data);
    });
    return out.array;
}

template <class T>
nb::object leaves_of(const HeldTrees& trees, Table<T> X, size_t from, size_t to) {
    check_call(trees, from, to, X.size(1));
    New<std::int64_t> out(X.size(0), to - from);
    unlocked([&] { walks_for<T>().tree_leaves(trees, from, to, X.rows(), out.data); });
    return out.array;
}

// The depth of the deepest node.
size_t depth_of(const PackedTrees& trees) {
    std::vector<size_t> depth(trees.first.back());
    size_t deepest = 0;
    for (size_t t = 0; t + 1 < trees.first.size(); ++t)
        for (size_t root = trees.first[t], i = root; i < trees.first[t + 1]; ++i) {  // parents come before their children
            const TreeNode& node = trees.nodes[i];
            deepest = std::max(deepest, depth[i]);
            for (const std::int32_t child : {node.left, node.right})
                if (node.left >= 0) depth[root + static_cast<size_t>(child)] = depth[i] + 1;
        }
    return deepest;
}

template <class T>
Doubles attributions_of(const HeldTrees& trees, Table<T> X, Table<T> Z, Vector covers) {
    check_call(trees, 0, 0, X.size(1));
    require(covers.size(0) == trees.first.back() && Z.size(1) == X.size(1), "covers and background must fit trees and rows");
    const size_t depth = depth_of(trees);
    require(depth < 5000, "the trees are too deep for exact attributions: limit max_depth");
    Output out = zeros(X.size(0), X.size(1), trees.outputs);
    unlocked([&] { attribute<T>(trees, covers.span(), depth, X.rows(), Z.rows(), out.data); });
    return out.array;
}

template <class T>
void define(nb::class_<HeldTrees>& packed) {
    packed.def("sums", &sums_of<T>, "X"_a.noconvert(), "start"_a, "stop"_a, "onto"_a.noconvert());
    packed.def("attributions", &attributions_of<T>, "X"_a.noconvert(), "background"_a.noconvert(), "covers"_a.noconvert());
    packed.def("leaves", &leaves_of<T>, "X"_a.noconvert(), "start"_a, "stop"_a);
}

}  // namespace

NB_MODULE(_trees, m) {
    start_module_beside_kernels();
    nb::class_<HeldTrees> packed(m, "PackedTrees");
    packed.def("__init__", &build, "first"_a.noconvert(), "nodes"_a, "subset"_a.noconvert(), "bits"_a.noconvert(), "value"_a);
    packed.def_prop_ro("width", [](const HeldTrees& trees) { return trees.width; });
    define<double>(packed);
    define<float>(packed);
    m.def("use_level", &use_level, "name"_a);
}
