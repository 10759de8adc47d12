// Who decides how a tree of boosting grows: its nodes, their sums, and the best split of each. It sees histograms, never rows.
#pragma once

#include <memory>
#include <vector>

#include "kernels/boosting/condenser.hpp"
#include "kernels/boosting/constrained_split.hpp"
#include "kernels/boosting/kernels.hpp"
#include "kernels/common/team.hpp"

namespace tenfold {

// What a tree may be. No limit on leaves or depth is a large number.
struct Limits {
    size_t leaves, depth, columns;  // columns: how many are looked at in each node
    std::int64_t split_rows;        // that a node needs to be split
    std::uint64_t seed;
    double rate;  // values of nodes are multiplied by it
    bool whole;   // every leaf is split while it can be: the order does not matter, and few histograms are alive
};

// The columns of a table of codes.
struct Columns {
    std::vector<std::uint32_t> offset;  // of their bins in a histogram; the last bin is that of missing values
    std::vector<std::uint16_t> missing;  // the code of missing values
    std::vector<std::uint8_t> categorical;
    std::vector<std::int8_t> order;                   // 1: values rise with the column, -1: they fall, 0: either
    std::vector<std::vector<std::uint8_t>> together;  // groups of columns that may meet on one path; none: all
    bool ordered = false;

    size_t p() const { return missing.size(); }
    size_t bins(size_t j) const { return missing[j]; }
    size_t total() const { return offset.back(); }
};

struct BoostNode {
    std::int32_t left = -1, right = -1;
    Split split;  // the best one, whether it is made or not; none where its feature is below zero
    Sum sum;
    double value = 0;
};

using Histogram = std::unique_ptr<Sum, void (*)(Sum*)>;

// A node that may still be split.
struct Leaf {
    size_t node = 0, depth = 0;
    std::uint64_t key = 0;  // of its place in the tree, for draws
    Histogram histogram{nullptr, nullptr};
    Bounds bounds;
    std::vector<std::uint8_t> groups;  // of columns that may meet: which are still open on this path
};

class TreeBuilder {
public:
    TreeBuilder(Columns columns, size_t n_threads, const BoostKernels& kernels)
        : columns_(std::move(columns)), kernels_(kernels), team_(n_threads) {}

    Team& team() { return team_; }
    const Columns& columns() const { return columns_; }
    const Limits& limits() const { return limits_; }
    const std::vector<BoostNode>& nodes() const { return nodes_; }
    void set_value(size_t node, double value) { nodes_[node].value = value; }
    std::int64_t count(const Leaf& leaf) const { return rule_.count(nodes_[leaf.node].sum); }
    bool has_split(const Leaf& leaf) const { return nodes_[leaf.node].split.feature >= 0; }

    Histogram fresh() {
        if (!pool_.empty()) {
            Histogram one = std::move(pool_.back());
            pool_.pop_back();
            return one;
        }
        ++made_;
        const auto free = [](Sum* data) { ::operator delete(data, std::align_val_t{64}); };
        return {static_cast<Sum*>(::operator new(columns_.total() * sizeof(Sum), std::align_val_t{64})), free};
    }
    void release(Histogram& one) {
        if (one) pool_.push_back(std::move(one));
    }
    // Whether histograms take so much memory that leaves are rather summed again when they are split.
    bool crowded() const { return made_ > most_histograms(); }
    size_t most_histograms() const { return MOST_BYTES / (columns_.total() * sizeof(Sum)); }

    void begin(const Rule& rule, const Limits& limits) {
        rule_ = rule;
        limits_ = limits;
        nodes_.assign(1, BoostNode{});
    }

    // The first leaf, from the histogram of all rows.
    Leaf root(Histogram histogram) {
        Leaf root;
        root.key = limits_.seed;
        root.groups.assign(columns_.together.size(), 1);
        Sum& sum = nodes_[0].sum;
        for (size_t b = columns_.offset[0]; b < columns_.offset[1]; ++b) sum = sum + histogram.get()[b];
        nodes_[0].value = rule_.value(sum) * limits_.rate;
        root.histogram = std::move(histogram);
        Leaf* only[1] = {&root};
        if (may_split(root)) search(only);
        return root;
    }

    bool may_split(const Leaf& leaf) const {
        const Sum& sum = nodes_[leaf.node].sum;
        return leaf.depth < limits_.depth && rule_.count(sum) >= std::max<std::int64_t>({2, 2 * rule_.least_rows, limits_.split_rows}) &&
               rule_.curvature(sum) >= 2 * rule_.least_curvature;
    }

    // Makes the children of a leaf by its best split; the right one follows the left one.
    std::pair<Leaf, Leaf> split(const Leaf& leaf) {
        const size_t first = nodes_.size();
        nodes_.resize(first + 2);
        BoostNode& node = nodes_[leaf.node];
        node.left = static_cast<std::int32_t>(first);
        node.right = node.left + 1;
        nodes_[first].sum = node.split.left;
        nodes_[first + 1].sum = node.sum - node.split.left;
        std::pair<Leaf, Leaf> children{child(leaf, first), child(leaf, first + 1)};
        order_bounds(leaf, children.first, children.second);
        for (const Leaf* one : {&children.first, &children.second})
            nodes_[one->node].value = one->bounds.value(nodes_[one->node].sum, rule_) * limits_.rate;
        return children;
    }

    // Where the histogram of a leaf has column j.
    ColumnSums part_of(const Leaf& leaf, size_t j) const { return {leaf.histogram.get() + columns_.offset[j], columns_.bins(j)}; }

    // Finds the best split of each leaf, by their histograms.
    void search(std::span<Leaf* const> leaves) {
        search(leaves, [](size_t, size_t) {}, [&](const Leaf& leaf, size_t j, size_t) { return part_of(leaf, j); });
    }

    // The same; thread t calls prepare(j, t) before column j is looked at, and look(leaf, j, t) for the histogram of that column.
    template <class Prepare, class Look>
    void search(std::span<Leaf* const> leaves, Prepare&& prepare, Look&& look) {
        const size_t p = columns_.p(), step = 4;
        std::vector<std::vector<std::uint8_t>> open;
        for (Leaf* leaf : leaves) open.push_back(open_columns(*leaf));
        std::vector<Split> found(leaves.size() * p);
        const auto some = [&](size_t t, size_t begin, size_t end) {
            for (size_t j = begin; j < end; ++j) {
                prepare(j, t);
                for (size_t k = 0; k < leaves.size(); ++k)
                    if (open[k][j]) found[k * p + j] = best_split(*leaves[k], j, look(*leaves[k], j, t));
            }
        };
        std::atomic<size_t> next{0};
        if (p <= step || columns_.total() * leaves.size() < 4096) some(0, 0, p);
        else
            team_.run([&](size_t t) {
                for (size_t a = next.fetch_add(step); a < p; a = next.fetch_add(step)) some(t, a, std::min(p, a + step));
            });
        for (size_t k = 0; k < leaves.size(); ++k) {
            const Split* mine = &found[k * p];
            BoostNode& node = nodes_[leaves[k]->node];
            double top = 0;
            for (size_t j = 0; j < p; ++j) top = std::max(top, mine[j].gain);
            const double noise = 1e-12 * rule_.score(node.sum);
            if (!(top > std::max(rule_.least_gain, noise))) continue;
            for (size_t j = 0; j < p; ++j)
                if (!exceeds(top, mine[j].gain)) {
                    node.split = mine[j];
                    break;
                }
        }
    }

    // Which of n leaves is split next: the last one, or the one with the largest gain; of equal ones that with the smaller
    // number. place(i) tells the node of leaf i and its number.
    template <class Place>
    size_t next(size_t n, Place&& place) const {
        if (limits_.whole) return n - 1;
        size_t best = 0;
        for (size_t i = 1; i < n; ++i) {
            const auto [node, number] = place(i);
            const auto [best_node, best_number] = place(best);
            const double gain = nodes_[node].split.gain, top = nodes_[best_node].split.gain;
            if (exceeds(gain, top) || (!exceeds(top, gain) && number < best_number)) best = i;
        }
        return best;
    }

private:
    static constexpr size_t MOST_BYTES = 1 << 28;

    Split best_split(const Leaf& leaf, size_t j, const ColumnSums& column) const {
        const Sum* histogram = column.sums;
        const Sum& total = nodes_[leaf.node].sum;
        Split split;
        if (columns_.categorical[j]) split = best_subset(histogram, column.bins, total, rule_, leaf.bounds);
        else {
            const Cut cut = columns_.ordered
                                ? best_ordered_cut(histogram, column.bins, total, rule_, leaf.bounds, columns_.order[j])
                                : kernels_.best_cut(histogram, column.bins, total, rule_);
            split.gain = cut.bin < 0 ? 0 : cut.gain;
            split.bin = cut.bin < 0 ? -1 : column.number(static_cast<size_t>(cut.bin));
            split.missing_left = cut.missing_left;
            split.left = cut.left;
        }
        if (split.bin >= 0) split.feature = static_cast<std::int32_t>(j);
        // Nothing was missing here: new missing values go where most rows go.
        if (split.bin >= 0 && !split.by_set && rule_.count(histogram[column.bins]) == 0)
            split.missing_left = 2 * rule_.count(split.left) > rule_.count(total);
        return split;
    }

    // Which columns may be split on: those of the groups that are open, and of them the ones drawn for this place in the tree.
    std::vector<std::uint8_t> open_columns(const Leaf& leaf) const {
        const size_t p = columns_.p();
        std::vector<std::uint8_t> open(p, leaf.groups.empty());
        for (size_t g = 0; g < leaf.groups.size(); ++g)
            for (size_t j = 0; leaf.groups[g] && j < p; ++j) open[j] |= columns_.together[g][j];
        if (limits_.columns >= p) return open;
        std::vector<std::pair<std::uint64_t, size_t>> draws;
        for (size_t j = 0; j < p; ++j)
            if (open[j]) draws.push_back({mixed(mixed(leaf.key) + j), j});
        if (draws.size() <= limits_.columns) return open;
        std::sort(draws.begin(), draws.end());
        std::fill(open.begin(), open.end(), 0);
        for (size_t k = 0; k < limits_.columns; ++k) open[draws[k].second] = 1;
        return open;
    }

    static std::uint64_t mixed(std::uint64_t z) {
        z += 0x9E3779B97F4A7C15u;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    }

    Leaf child(const Leaf& parent, size_t node) const {
        const BoostNode& above = nodes_[parent.node];
        Leaf one;
        one.node = node;
        one.depth = parent.depth + 1;
        one.key = mixed(parent.key + (static_cast<std::int32_t>(node) == above.left ? 1 : 2));
        one.bounds = parent.bounds;
        one.groups = parent.groups;
        const size_t feature = static_cast<size_t>(above.split.feature);
        for (size_t g = 0; g < one.groups.size(); ++g) one.groups[g] &= columns_.together[g][feature];
        return one;
    }

    void order_bounds(const Leaf& parent, Leaf& left, Leaf& right) const {
        const int order = columns_.order[static_cast<size_t>(nodes_[parent.node].split.feature)];
        if (order == 0) return;
        const double l = parent.bounds.value(nodes_[left.node].sum, rule_), r = parent.bounds.value(nodes_[right.node].sum, rule_);
        const double middle = l / 2 + r / 2;
        (order > 0 ? left.bounds.high : left.bounds.low) = middle;
        (order > 0 ? right.bounds.low : right.bounds.high) = middle;
    }

    Columns columns_;
    const BoostKernels& kernels_;
    Team team_;
    std::vector<Histogram> pool_;
    size_t made_ = 0;
    Rule rule_{};
    Limits limits_{};
    std::vector<BoostNode> nodes_;
};

}  // namespace tenfold
