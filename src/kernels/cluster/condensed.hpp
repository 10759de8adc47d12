// The tree of merges of single linkage without its small branches: clusters that lose rows one after another until they split in two
// that are large enough (Campello, Moulavi & Sander 2013).
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/cluster/joined.hpp"

namespace tenfold {

// Who left whom: a row (below n) or a cluster (from n on, the root is n), at 1 / height, with its weight.
struct Left {
    std::int64_t parent, child;
    double at, weight;
};

class MergeTree {
public:
    // Edges of a spanning tree by rising height. `first` and `second` are ends; merge i is node n + i.
    MergeTree(size_t n, const std::int64_t* first, const std::int64_t* second, const double* height, const double* weight)
        : n_(n), height_(height), weight_(2 * n - 1), child_(2 * n - 2) {
        std::vector<Place> above(2 * n - 1);
        for (size_t i = 0; i < above.size(); ++i) above[i] = static_cast<Place>(i);
        const auto top = [&](Place node) {
            while (above[node] != node) node = above[node] = above[above[node]];
            return node;
        };
        for (size_t i = 0; i < n; ++i) weight_[i] = weight ? weight[i] : 1.0;
        for (size_t i = 0; i + 1 < n; ++i) {
            const Place a = top(static_cast<Place>(first[i])), b = top(static_cast<Place>(second[i]));
            child_[2 * i] = a, child_[2 * i + 1] = b;
            above[a] = above[b] = static_cast<Place>(n + i);
            weight_[n + i] = weight_[a] + weight_[b];
        }
    }

    // `core`: where copies of a row merge, which are a cluster of their own where they weigh `least`.
    std::vector<Left> condensed(double least, const double* core) const {
        std::vector<Left> found;
        std::vector<std::int64_t> named(2 * n_ - 1, -1);  // the cluster of each node that is in one
        std::vector<Place> now{static_cast<Place>(2 * n_ - 2)}, next, parts;
        std::int64_t name = static_cast<std::int64_t>(n_);
        named[2 * n_ - 2] = name++;
        for (; !now.empty(); now.swap(next), next.clear()) {
            leave_if_stopped();
            for (const Place node : now) {
                const std::int64_t cluster = named[node];
                if (static_cast<size_t>(node) < n_) {  // copies of one row
                    found.push_back({cluster, node, inverse(core[node]), weight_[node]});
                    continue;
                }
                const double at = inverse(height_[static_cast<size_t>(node) - n_]);
                gather(node, parts);
                const auto large = std::count_if(parts.begin(), parts.end(), [&](Place part) { return weight_[part] >= least; });
                for (const Place part : parts) {
                    if (weight_[part] < least) {
                        leave(part, cluster, at, found);
                        continue;
                    }
                    if (large > 1) found.push_back({cluster, name, at, weight_[part]});
                    named[part] = large > 1 ? name++ : cluster;
                    next.push_back(part);
                }
            }
        }
        return found;
    }

private:
    static double inverse(double height) { return height > 0 ? 1 / height : std::numeric_limits<double>::infinity(); }

    // What merges at the height of a node, two or more at once: in which order they are written down does not matter.
    void gather(Place node, std::vector<Place>& parts) const {
        const double height = height_[static_cast<size_t>(node) - n_];
        std::vector<Place> open{node};
        parts.clear();
        while (!open.empty()) {
            const Place here = open.back();
            open.pop_back();
            if (static_cast<size_t>(here) < n_ || height_[static_cast<size_t>(here) - n_] < height) {
                parts.push_back(here);
            } else {
                const size_t merge = static_cast<size_t>(here) - n_;
                open.push_back(child_[2 * merge + 1]);
                open.push_back(child_[2 * merge]);
            }
        }
    }

    // All rows of a node leave a cluster.
    void leave(Place node, std::int64_t cluster, double at, std::vector<Left>& found) const {
        std::vector<Place> now{node};
        while (!now.empty()) {
            const Place here = now.back();
            now.pop_back();
            if (static_cast<size_t>(here) < n_) {
                found.push_back({cluster, here, at, weight_[here]});
            } else {
                const size_t merge = static_cast<size_t>(here) - n_;
                now.push_back(child_[2 * merge + 1]);
                now.push_back(child_[2 * merge]);
            }
        }
    }

    size_t n_;
    const double* height_;
    std::vector<double> weight_;
    std::vector<Place> child_;
};

}  // namespace tenfold
