// Grown trees as NumPy arrays.
#pragma once

#include "arrays.hpp"
#include "kernels/tree/grown_tree.hpp"
#include "kernels/tree/packed_trees.hpp"

// The arrays of one tree: bytes of its nodes as rows walk down them, subset (empty: no node has one), bits, value, impurity,
// gain, samples, weight.
struct TreeArrays {
    TreeArrays(size_t n, size_t outputs, bool sets)
        : outputs(outputs), sets(sets), nodes(n * sizeof(TreeNode)), subset(sets ? n : 0), value(n, outputs), impurity(n), gain(n),
          weight(n), samples(n) {}

    TreeNode& walked(std::int32_t i) { return reinterpret_cast<TreeNode*>(nodes.data)[i]; }

    void put(std::int32_t i, const Node& node, const double* values, std::int32_t at) {
        walked(i) = {node.threshold, node.left, node.right, node.feature, node.missing_left, node.subset >= 0};
        if (sets) subset.data[i] = at;
        std::copy_n(values, outputs, value.data + static_cast<size_t>(i) * outputs);
        impurity.data[i] = node.impurity, gain.data[i] = node.gain;
        samples.data[i] = node.samples, weight.data[i] = node.weight;
    }

    nb::tuple tuple(const std::vector<std::uint64_t>& words) const {
        New<std::uint64_t> bits(words.size());
        std::copy(words.begin(), words.end(), bits.data);
        return nb::make_tuple(nodes.array, subset.array, bits.array, value.array, impurity.array, gain.array,
                              samples.array, weight.array);
    }

    size_t outputs;
    bool sets;
    New<std::uint8_t> nodes;
    New<std::int64_t> subset;
    New<double> value, impurity, gain, weight;
    New<std::int32_t> samples;
};

// A tree whose nodes are numbered as they are to be.
inline nb::tuple arrays_of(const Grown& tree) {
    TreeArrays to(tree.nodes.size(), tree.outputs, !tree.bits.empty());
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
        const auto number = static_cast<std::int32_t>(i);
        to.put(number, tree.nodes[i], tree.value(number), tree.nodes[i].subset);
    }
    return to.tuple(tree.bits);
}

// A tree in parts.
inline nb::tuple arrays_of(const Grafted& tree) {
    TreeArrays to(tree.size(), tree.trunk.outputs, tree.has_sets());
    std::vector<std::uint64_t> bits;
    in_order(tree, [&](std::int32_t number, std::int32_t parent, bool left, const Node& node, const double* value,
                       const std::uint64_t* from) {
        std::int32_t at = -1;
        if (node.subset >= 0) {
            const std::uint64_t* words = from + node.subset;
            at = static_cast<std::int32_t>(bits.size());
            bits.insert(bits.end(), words, words + 1 + words[0]);
        }
        to.put(number, node, value, at);
        if (parent < 0) return;
        if (left) to.walked(parent).left = number;
        else to.walked(parent).right = number;
    });
    return to.tuple(bits);
}
