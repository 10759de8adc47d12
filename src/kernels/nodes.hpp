// Trees while they grow, and keyed random numbers: what a node draws depends on its place in the tree alone.
#pragma once

#include <vector>

#include "kernels/view.hpp"

namespace tenfold {

inline std::uint64_t mix(std::uint64_t x) {  // splitmix64
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

struct Draws {
    std::uint64_t key, count = 0;

    std::uint64_t next() { return mix(key + 0xD1B54A32D192ED03u * ++count); }
    size_t below(size_t n) { return static_cast<size_t>((static_cast<unsigned __int128>(next()) * n) >> 64); }
    double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // in [0, 1)
};

struct Node {
    double threshold = 0, impurity = 0, gain = 0, weight = 0;
    std::int64_t samples = 0, subset = -1;
    std::int32_t left = -1, right = -1, feature = -2;
    std::int32_t graft = -1;  // the number of a tree that grows in this place
    std::uint8_t missing_left = 0;
};

struct Grown {
    std::vector<Node> nodes;
    std::vector<double> values;  // (nodes, outputs)
    std::vector<std::uint64_t> bits;
    size_t outputs = 1;

    std::int32_t add(size_t samples) {
        nodes.emplace_back().samples = static_cast<std::int64_t>(samples);
        values.resize(values.size() + outputs);
        return static_cast<std::int32_t>(nodes.size() - 1);
    }
    double* value(std::int32_t node) { return &values[static_cast<size_t>(node) * outputs]; }
    const double* value(std::int32_t node) const { return &values[static_cast<size_t>(node) * outputs]; }
};

// The same tree with its grafts in place, numbered from the root, left before right.
inline Grown in_order(const Grown& trunk, const std::vector<Grown>& grafts) {
    struct Task {
        const Grown* tree;
        std::int32_t node, parent;
        bool left;
    };
    Grown out;
    out.outputs = trunk.outputs;
    std::vector<Task> tasks{{&trunk, 0, -1, false}};
    while (!tasks.empty()) {
        Task task = tasks.back();
        tasks.pop_back();
        if (const auto graft = task.tree->nodes[static_cast<size_t>(task.node)].graft; graft >= 0)
            task.tree = &grafts[static_cast<size_t>(graft)], task.node = 0;
        const Node& node = task.tree->nodes[static_cast<size_t>(task.node)];
        const std::int32_t number = out.add(0);
        out.nodes.back() = node;
        std::copy_n(task.tree->value(task.node), out.outputs, out.value(number));
        if (task.parent >= 0) {
            Node& parent = out.nodes[static_cast<size_t>(task.parent)];
            (task.left ? parent.left : parent.right) = number;
        }
        if (node.subset >= 0) {
            const std::uint64_t* words = &task.tree->bits[static_cast<size_t>(node.subset)];
            out.nodes.back().subset = static_cast<std::int64_t>(out.bits.size());
            out.bits.insert(out.bits.end(), words, words + 1 + words[0]);
        }
        if (node.left < 0) continue;
        tasks.push_back({task.tree, node.right, number, false});
        tasks.push_back({task.tree, node.left, number, true});
    }
    return out;
}

}  // namespace tenfold
