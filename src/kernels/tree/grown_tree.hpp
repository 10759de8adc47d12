// Trees while they grow, and keyed random numbers: what a node draws depends on its place in the tree alone.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "kernels/common/rows_view.hpp"

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
    void clear(size_t width) {
        nodes.clear();
        values.clear();
        bits.clear();
        outputs = width;
    }
    double* value(std::int32_t node) { return &values[static_cast<size_t>(node) * outputs]; }
    const double* value(std::int32_t node) const { return &values[static_cast<size_t>(node) * outputs]; }
};

// Where a tree lies.
struct Place {
    const Node* nodes;
    const double* values;
    const std::uint64_t* bits;
};

// A tree, and trees that grow in the place of some of its nodes. Their nodes share one piece of memory: what many small ones
// leave behind could not be used again.
struct Grafted {
    struct Free {
        void operator()(Node* nodes) const { ::operator delete(nodes); }
    };
    struct Graft {
        size_t first = 0, size = 0;
        std::vector<std::uint64_t> bits;
    };
    Grown trunk;
    std::vector<Graft> grafts;
    std::unique_ptr<Node[], Free> nodes;
    std::unique_ptr<double[]> values;

    // Room for `count` trees of `room` nodes together; pages that are not written take no memory.
    void reserve(size_t count, size_t room) {
        grafts.resize(count);
        nodes.reset(static_cast<Node*>(::operator new(room * sizeof(Node))));
        values = std::make_unique_for_overwrite<double[]>(room * trunk.outputs);
    }
    void put(size_t graft, size_t first, const Grown& tree) {
        std::uninitialized_copy(tree.nodes.begin(), tree.nodes.end(), nodes.get() + first);
        std::copy(tree.values.begin(), tree.values.end(), values.get() + first * trunk.outputs);
        grafts[graft] = {first, tree.nodes.size(), tree.bits};
    }
    size_t size() const {
        size_t n = trunk.nodes.size();
        for (const Graft& graft : grafts) n += graft.size - 1;
        return n;
    }
    bool has_sets() const {
        const auto has = [](const auto& one) { return !one.bits.empty(); };
        return has(trunk) || std::any_of(grafts.begin(), grafts.end(), has);
    }
    Place whole() const { return {trunk.nodes.data(), trunk.values.data(), trunk.bits.data()}; }
    Place of(const Graft& graft) const {
        return {nodes.get() + graft.first, values.get() + graft.first * trunk.outputs, graft.bits.data()};
    }
};

// Calls put(number, parent, left, node, value, bits) for all nodes, numbered from the root, left before right.
template <class Put>
void in_order(const Grafted& tree, Put put) {
    struct Task {
        Place in;
        std::int32_t node, parent;
        bool left;
    };
    std::vector<Task> tasks;
    if (!tree.trunk.nodes.empty()) tasks.push_back({tree.whole(), 0, -1, false});
    for (std::int32_t number = 0; !tasks.empty(); ++number) {
        Task task = tasks.back();
        tasks.pop_back();
        if (const Node& node = task.in.nodes[task.node]; node.left == GRAFTED)
            task.in = tree.of(tree.grafts[static_cast<size_t>(node.right)]), task.node = 0;
        const Node& node = task.in.nodes[task.node];
        put(number, task.parent, task.left, node, task.in.values + static_cast<size_t>(task.node) * tree.trunk.outputs,
            task.in.bits);
        if (node.left < 0) continue;
        tasks.push_back({task.in, node.right, number, false});
        tasks.push_back({task.in, node.left, number, true});
    }
}

}  // namespace tenfold
