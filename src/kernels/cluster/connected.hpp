// Clusters of which only neighbours are merged: edges of a graph, the nearest first.
#pragma once

#include <queue>
#include <tuple>
#include <unordered_map>

#include "kernels/cluster/clusters.hpp"

namespace tenfold {

// Edges of a connected graph of n rows, each once, and how long they are. With `centres` (rows, p) distances are those of Ward's linkage;
// else a cluster is as far from a third as the linkage says of those of its parts that have an edge to it.
inline void merge_connected(size_t n, std::span<const std::int64_t> first, std::span<const std::int64_t> second, std::span<const double> length,
                            Linkage linkage, const std::vector<double>& weights, std::vector<double> centres, size_t p,
                            std::vector<Merge>& merges) {
    using Edge = std::tuple<double, std::int64_t, std::int64_t>;
    std::priority_queue<Edge, std::vector<Edge>, std::greater<>> edges;
    std::vector<std::unordered_map<std::int64_t, double>> near(2 * n - 1);
    std::vector<double> weight(weights);
    std::vector<std::int64_t> row(n);
    std::vector<char> gone(2 * n - 1, 0);
    for (size_t i = 0; i < n; ++i) row[i] = static_cast<std::int64_t>(i);
    weight.resize(2 * n - 1), row.resize(2 * n - 1), centres.resize(p ? (2 * n - 1) * p : 0);
    const auto at = [](std::int64_t i) { return static_cast<size_t>(i); };
    const auto by_ward = [&](std::int64_t a, std::int64_t b) {
        double sum = 0;
        for (size_t j = 0; j < p; ++j) {
            const double d = centres[at(a) * p + j] - centres[at(b) * p + j];
            sum += d * d;
        }
        return std::sqrt(sum * (2 * weight[at(a)] * weight[at(b)] / (weight[at(a)] + weight[at(b)])));
    };
    const auto connect = [&](std::int64_t a, std::int64_t b, double d) {
        near[at(a)][b] = near[at(b)][a] = d;
        edges.emplace(d, std::max(a, b), std::min(a, b));
    };
    for (size_t e = 0; e < first.size(); ++e) connect(first[e], second[e], p ? by_ward(first[e], second[e]) : length[e]);
    for (size_t made = n; made < 2 * n - 1; ++made) {
        if (made % 64 == 0) leave_if_stopped();
        while (!edges.empty() && (gone[at(std::get<1>(edges.top()))] || gone[at(std::get<2>(edges.top()))])) edges.pop();
        if (edges.empty()) throw std::overflow_error("the graph is not connected");
        const auto [height, b, a] = edges.top();
        edges.pop();
        merges.push_back({row[at(a)], row[at(b)], height});
        gone[at(a)] = gone[at(b)] = 1;
        const double v = weight[at(a)], w = weight[at(b)];
        weight[made] = v + w;
        row[made] = row[at(a)];
        if (p) Centred::merge(&centres[at(a) * p], v, &centres[at(b) * p], w, p, &centres[made * p]);
        std::unordered_map<std::int64_t, double> others = std::move(near[at(a)]);
        for (const auto& [x, d] : near[at(b)]) {
            const auto [found, is_new] = others.try_emplace(x, d);
            if (is_new) continue;
            double& both = found->second;
            if (linkage == Linkage::complete) both = std::max(both, d);
            else if (linkage == Linkage::single) both = std::min(both, d);
            else if (linkage == Linkage::weighted) both = 0.5 * (both + d);
            else both = (v * both + w * d) / (v + w);
        }
        near[at(b)].clear();
        for (const auto& [x, d] : others) {
            if (gone[at(x)]) continue;
            near[at(x)].erase(a), near[at(x)].erase(b);
            connect(static_cast<std::int64_t>(made), x, p ? by_ward(static_cast<std::int64_t>(made), x) : d);
        }
    }
}

}  // namespace tenfold
