// One tree of boosting on rows that are here: leaves are split best first, by a team of threads.
#pragma once

#include "kernels/boosting/tree_rows.hpp"

namespace tenfold {

class Grower {
public:
    Grower(const Codes& codes, size_t n, Columns columns, size_t n_threads, const BoostKernels& kernels)
        : builder_(std::move(columns), n_threads, kernels), rows_(codes, n, builder_.columns(), builder_.team(), kernels) {
        equip();
    }

    void use_threads(size_t n) {
        team().resize(n);
        equip();
    }

    Team& team() { return builder_.team(); }
    TreeRows& rows() { return rows_; }
    const TreeRows& rows() const { return rows_; }
    size_t n() const { return rows_.n(); }
    const std::vector<BoostNode>& nodes() const { return builder_.nodes(); }
    void set_value(size_t node, double value) { builder_.set_value(node, value); }

    // Grows a tree on these rows (none given: on all), in ascending order.
    void grow(std::span<const std::uint32_t> rows, const Rule& rule, const Limits& limits) {
        rows_.take(rows);
        builder_.begin(rule, limits);
        leaves_.clear();
        n_leaves_ = 1;
        Leaf root = builder_.root(summed(0));
        if (builder_.has_split(root)) leaves_.push_back(std::move(root));
        else builder_.release(root.histogram);
        while (n_leaves_ < limits.leaves && !leaves_.empty() && !stopped()) split_next();
        for (Leaf& leaf : leaves_) builder_.release(leaf.histogram);
        leaves_.clear();
    }

    // Adds the value of its leaf to each row of `raw`.
    void update(double* raw) { rows_.update(nodes(), raw); }

private:
    // Each thread but the first has a histogram to sum in.
    void equip() {
        rows_.equip();
        while (rows_.n_parts() + 1 < team().size()) rows_.lend_part(builder_.fresh());
    }

    Histogram summed(size_t node) {
        Histogram histogram = builder_.fresh();
        rows_.add_parts(histogram.get(), rows_.sum(node, histogram.get()), 0, builder_.columns().total());
        return histogram;
    }

    void split_next() {
        const auto place = [&](size_t i) { return std::pair{leaves_[i].node, leaves_[i].node}; };
        const size_t at = builder_.next(leaves_.size(), place);
        Leaf leaf = std::move(leaves_[at]);
        leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(at));
        rows_.part(leaf.node, nodes()[leaf.node].split);
        auto [left, right] = builder_.split(leaf);
        ++n_leaves_;
        const bool any_room = n_leaves_ < builder_.limits().leaves;
        std::vector<Leaf*> open;
        for (Leaf* one : {&left, &right})
            if (any_room && builder_.may_split(*one)) open.push_back(one);
        if (!open.empty()) look_for_splits(leaf, left, right, open);
        builder_.release(leaf.histogram);
        for (Leaf* one : {&right, &left}) {
            if (!builder_.has_split(*one) || builder_.crowded()) builder_.release(one->histogram);
            if (builder_.has_split(*one)) leaves_.push_back(std::move(*one));
        }
    }

    bool few(const Leaf& leaf) const { return rows_.few(builder_.count(leaf)); }

    // The smaller child is summed, the larger one is what it leaves of the parent. Of few rows no histogram is kept.
    void look_for_splits(Leaf& parent, Leaf& left, Leaf& right, std::span<Leaf* const> open) {
        const auto look = [&](const Leaf& leaf, size_t j, size_t t) {
            return leaf.histogram ? builder_.part_of(leaf, j) : rows_.condensed(leaf.node, j, t);
        };
        Leaf& small = builder_.count(left) <= builder_.count(right) ? left : right;
        Leaf& large = &small == &left ? right : left;
        if (!parent.histogram || few(large)) {
            for (Leaf* one : open)
                if (!few(*one)) one->histogram = summed(one->node);
            return builder_.search(open, [](size_t, size_t) {}, look);
        }
        large.histogram = std::move(parent.histogram);
        Sum* b = large.histogram.get();
        const auto& offset = builder_.columns().offset;
        if (few(small)) {
            const auto take_off = [&](size_t j, size_t t) {
                const ColumnSums column = rows_.condensed(small.node, j, t);
                const auto less = [&](size_t bin, const Sum& sum) { b[offset[j] + bin] = b[offset[j] + bin] - sum; };
                for (size_t i = 0; i < column.bins; ++i) less(static_cast<size_t>(column.number(i)), column.sums[i]);
                less(builder_.columns().bins(j), column.sums[column.bins]);
            };
            return builder_.search(open, take_off, look);
        }
        small.histogram = builder_.fresh();
        Sum* a = small.histogram.get();
        const size_t parts = rows_.sum(small.node, a);
        const auto take_off = [&](size_t j, size_t) {
            rows_.add_parts(a, parts, offset[j], offset[j + 1]);
            for (size_t i = offset[j]; i < offset[j + 1]; ++i) b[i] = b[i] - a[i];
        };
        builder_.search(open, take_off, look);
    }

    TreeBuilder builder_;
    TreeRows rows_;
    size_t n_leaves_ = 0;
    std::vector<Leaf> leaves_;
};

}  // namespace tenfold
