// Pruning of trees whose nodes are numbered in preorder: children come after their node.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "kernels/common/rows_view.hpp"

namespace tenfold {

using Children = std::span<const std::int32_t>;  // (nodes, 2); -1: a leaf

inline bool is_leaf(Children children, size_t i) { return children[2 * i] < 0; }

// Values of leaves become sums of all leaves below each node.
inline void sum_upwards(Children children, double* values) {
    for (size_t i = children.size() / 2; i-- > 0;)
        if (!is_leaf(children, i)) values[i] = values[children[2 * i]] + values[children[2 * i + 1]];
}

// The nodes that are left when those below the cut ones are taken away.
inline void left_of(Children children, const std::uint8_t* cut, std::uint8_t* left) {
    left[0] = 1;
    for (size_t i = 0; i < children.size() / 2; ++i)
        if (left[i] && !cut[i] && !is_leaf(children, i)) left[children[2 * i]] = left[children[2 * i + 1]] = 1;
}

// Weakest links: what each node is worth as a leaf (`worth`) falls, with the price of a leaf, by that price; `price[i]` is where
// node i becomes a leaf, if nothing above it has. A node keeps the events below it, of which the dearest is found first, in a
// leftist heap; those dearer than its own end never come to pass. `change[i]` is what the tree's `held` changes by then.
inline void weakest_links(Children children, const double* worth, const double* held, double* price, double* change,
                          std::uint8_t* happens) {
    constexpr std::int32_t NONE = -1;
    const size_t n = children.size() / 2;
    struct Event {
        double worth, held;   // what the tree gains by it
        std::int64_t leaves;  // and how many leaves more it has: fewer
        std::int32_t left = NONE, right = NONE, rank = 1;
    };
    std::vector<Event> events(n);
    const auto rank = [&](std::int32_t i) { return i == NONE ? 0 : events[i].rank; };
    std::vector<std::int32_t> spine;
    const auto merged = [&](std::int32_t a, std::int32_t b) {
        spine.clear();
        while (a != NONE && b != NONE) {
            if (price[a] < price[b]) std::swap(a, b);
            spine.push_back(a);
            a = events[a].right;
        }
        std::int32_t top = a == NONE ? b : a;
        for (size_t k = spine.size(); k-- > 0;) {
            Event& one = events[spine[k]];
            one.right = top;
            if (rank(one.left) < rank(one.right)) std::swap(one.left, one.right);
            one.rank = rank(one.right) + 1;
            top = spine[k];
        }
        return top;
    };
    std::vector<std::int32_t> heap(n, NONE);
    for (size_t i = n; i-- > 0;) {
        price[i] = -std::numeric_limits<double>::infinity();
        change[i] = 0.0, happens[i] = 0;
        if (is_leaf(children, i)) continue;
        const auto l = static_cast<size_t>(children[2 * i]), r = static_cast<size_t>(children[2 * i + 1]);
        std::int32_t top = merged(heap[l], heap[r]);
        double value = worth[l] + worth[r], held_value = held[l] + held[r];
        std::int64_t leaves = 2;
        for (;;) {
            price[i] = (value - worth[i]) / static_cast<double>(leaves - 1);
            if (top == NONE || price[top] < price[i]) break;
            const Event& undone = events[top];  // dearer: this node is a leaf before
            happens[top] = 0;
            value -= undone.worth, held_value -= undone.held, leaves -= undone.leaves;
            top = merged(undone.left, undone.right);
        }
        events[i] = {worth[i] - value, held[i] - held_value, 1 - leaves};
        change[i] = events[i].held, happens[i] = 1;
        heap[i] = merged(top, static_cast<std::int32_t>(i));
    }
}

}  // namespace tenfold
