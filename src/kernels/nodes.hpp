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

constexpr std::int32_t GRAFTED = -2;  // as the left child: another tree grows in this place, and `right` is its number

struct Node {
    double threshold = 0, impurity = 0, gain = 0, weight = 0;
    std::int32_t left = -1, right = -1, feature = -2, samples = 0;
    std::int32_t subset = -1;
    std::uint8_t missing_left = 0;
};

struct Grown {
    std::vector<Node> nodes;
    std::vector<double> values;  // (nodes, outputs)
    std::vector<std::uint64_t> bits;
    size_t outputs = 1;

    std::int32_t add(size_t samples) {
        nodes.emplace_back().samples = static_cast<std::int32_t>(samples);
        values.resize(values.size() + outputs);
        return static_cast<std::int32_t>(nodes.size() - 1);
    }
    double* value(std::int32_t node) { return &values[static_cast<size_t>(node) * outputs]; }
    const double* value(std::int32_t node) const { return &values[static_cast<size_t>(node) * outputs]; }
};

// A tree, and trees that grow in the place of some of its nodes, in the order of these.
struct Grafted {
    Grown trunk;
    std::vector<Grown> grafts;

    size_t size() const {
        size_t n = trunk.nodes.size();
        for (const Grown& graft : grafts) n += graft.nodes.size() - 1;
        return n;
    }
};

// Calls place(number, parent, left, node, value, tree) for all nodes, numbered from the root, left before right. Grafts that
// are done with are given back.
template <class Place>
void in_order(Grafted& whole, Place place) {
    struct Task {
        const Grown* tree;
        std::int32_t node, parent;
        bool left;
    };
    std::vector<Task> tasks;
    if (!whole.trunk.nodes.empty()) tasks.push_back({&whole.trunk, 0, -1, false});
    for (std::int32_t number = 0; !tasks.empty(); ++number) {
        Task task = tasks.back();
        tasks.pop_back();
        if (const Node& node = task.tree->nodes[static_cast<size_t>(task.node)]; node.left == GRAFTED) {
            const auto graft = static_cast<size_t>(node.right);
            if (graft > 0) whole.grafts[graft - 1] = Grown{};
            task.tree = &whole.grafts[graft], task.node = 0;
        }
        const Node& node = task.tree->nodes[static_cast<size_t>(task.node)];
        place(number, task.parent, task.left, node, task.tree->value(task.node), *task.tree);
        if (node.left < 0) continue;
        tasks.push_back({task.tree, node.right, number, false});
        tasks.push_back({task.tree, node.left, number, true});
    }
}

}  // namespace tenfold
