// One tree of boosting on rows that are elsewhere: in each turn it asks for the histograms of all nodes that may be needed next.
#pragma once

#include <tuple>

#include "kernels/boosting/tree_rows.hpp"

namespace tenfold {

// Grows the tree of Grower, to the bit. Leaves are split in thought as soon as their histogram is here; which of those splits the
// tree has, and the numbers of its nodes, come from taking them one after the other in Grower's order.
class DistributedTree {
public:
    // A node whose children are to be told apart, and which of them are to be summed.
    struct Asked {
        size_t node;
        bool left, right;
    };

    DistributedTree(Columns columns, size_t n_threads, const BoostKernels& kernels)
        : builder_(std::move(columns), n_threads, kernels) {}

    const Columns& columns() const { return builder_.columns(); }
    const std::vector<BoostNode>& thought() const { return builder_.nodes(); }
    const std::vector<Asked>& asked() const { return asked_; }

    void begin(const Rule& rule, const Limits& limits, const Sum* histogram) {
        for (Place& place : places_) builder_.release(place.leaf.histogram);
        places_.clear();
        places_.emplace_back();
        order_.assign(1, 0);
        frontier_.clear();
        n_leaves_ = 1;
        builder_.begin(rule, limits);
        places_[0].leaf = builder_.root(copied(histogram));
        if (imagine(0)) frontier_.push_back({0, 0});
        look_ahead();
    }

    size_t n_histograms() const {
        size_t n = 0;
        for (const Asked& one : asked_) n += one.left + one.right;
        return n;
    }

    // Takes the histograms that were asked for, in their order, left before right.
    void answer(const Sum* histograms) {
        for (const Asked& one : asked_) {
            if (stopped()) return;
            take_children(one, histograms);
            histograms += (one.left + one.right) * columns().total();
        }
        look_ahead();
    }

    // The tree, when nothing more is asked for.
    std::vector<BoostNode> nodes() const {
        std::vector<BoostNode> made;
        for (const size_t node : order_) {
            made.push_back(thought()[node]);
            made.back().left = places_[node].left;
            made.back().right = places_[node].left < 0 ? -1 : places_[node].left + 1;
        }
        return made;
    }

private:
    struct Place {
        Leaf leaf;
        bool known = false;      // what the children's best splits are
        std::int32_t left = -1;  // the number of the left child in the tree, where this split was made
    };
    struct Next {
        size_t node, number;
    };

    Histogram copied(const Sum* from) {
        Histogram to = builder_.fresh();
        std::copy_n(from, columns().total(), to.get());
        return to;
    }

    // Makes the children of a node that has a split; false where it has none. Children that cannot be split need no histogram.
    bool imagine(size_t node) {
        if (!builder_.has_split(places_[node].leaf)) {
            builder_.release(places_[node].leaf.histogram);
            return false;
        }
        Place left, right;
        std::tie(left.leaf, right.leaf) = builder_.split(places_[node].leaf);
        places_[node].known = !builder_.may_split(left.leaf) && !builder_.may_split(right.leaf);
        if (places_[node].known || builder_.crowded()) builder_.release(places_[node].leaf.histogram);
        places_.push_back(std::move(left));
        places_.push_back(std::move(right));
        return true;
    }

    void take_children(const Asked& one, const Sum* histograms) {
        const size_t first = static_cast<size_t>(thought()[one.node].left);
        Leaf &left = places_[first].leaf, &right = places_[first + 1].leaf;
        Histogram& parent = places_[one.node].leaf.histogram;
        if (one.left) left.histogram = copied(histograms);
        if (one.right) right.histogram = copied(histograms + one.left * columns().total());
        if (parent) {  // one of them was summed: the other is what it leaves
            Leaf &small = one.left ? left : right, &large = one.left ? right : left;
            large.histogram = std::move(parent);
            Sum *a = small.histogram.get(), *b = large.histogram.get();
            for (size_t i = 0; i < columns().total(); ++i) b[i] = b[i] - a[i];
        }
        std::vector<Leaf*> open;
        for (Leaf* child : {&left, &right})
            if (builder_.may_split(*child)) open.push_back(child);
        builder_.search(open);
        places_[one.node].known = true;
        imagine(first);
        imagine(first + 1);
    }

    size_t next(const std::vector<Next>& frontier) const {
        return builder_.next(frontier.size(), [&](size_t i) { return std::pair{frontier[i].node, frontier[i].number}; });
    }

    // A leaf is replaced by its children, whose numbers are `first` and first + 1, where those can be split.
    void replace(std::vector<Next>& frontier, size_t at, size_t first) const {
        const size_t left = static_cast<size_t>(thought()[frontier[at].node].left);
        frontier.erase(frontier.begin() + static_cast<std::ptrdiff_t>(at));
        for (const size_t right : {size_t{1}, size_t{0}})
            if (builder_.has_split(places_[left + right].leaf)) frontier.push_back({left + right, first + right});
    }

    // Makes all splits whose turn has come, then asks for what the next ones may need.
    void look_ahead() {
        const size_t leaves = builder_.limits().leaves;
        for (; n_leaves_ < leaves && !frontier_.empty(); ++n_leaves_) {
            const size_t at = next(frontier_), node = frontier_[at].node, first = order_.size();
            if (!places_[node].known && n_leaves_ + 1 < leaves) break;  // below the last split nothing is needed
            places_[node].left = static_cast<std::int32_t>(first);
            const size_t left = static_cast<size_t>(thought()[node].left);
            order_.insert(order_.end(), {left, left + 1});
            replace(frontier_, at, first);
        }
        asked_.clear();
        std::vector<Next> ahead = frontier_;
        const size_t most = std::max<size_t>(builder_.most_histograms() / 2, 1);
        for (size_t n = n_leaves_ + 1; n < leaves && !ahead.empty() && asked_.size() < most; ++n) {
            const size_t at = next(ahead), node = ahead[at].node;
            if (places_[node].known) replace(ahead, at, order_.size() + 2 * n);
            else {
                ask(node);
                ahead.erase(ahead.begin() + static_cast<std::ptrdiff_t>(at));
            }
        }
    }

    // With its own histogram here the smaller child is enough.
    void ask(size_t node) {
        const size_t first = static_cast<size_t>(thought()[node].left);
        const Leaf &left = places_[first].leaf, &right = places_[first + 1].leaf;
        const bool left_is_small = builder_.count(left) <= builder_.count(right);
        if (places_[node].leaf.histogram) asked_.push_back({node, left_is_small, !left_is_small});
        else asked_.push_back({node, builder_.may_split(left), builder_.may_split(right)});
    }

    TreeBuilder builder_;
    std::vector<Place> places_;   // of all nodes thought of
    std::vector<size_t> order_;   // nodes thought of, by their number in the tree
    std::vector<Next> frontier_;  // nodes of the tree that may be split next
    std::vector<Asked> asked_;
    size_t n_leaves_ = 0;
};

// What a holder of rows does in a turn: parts the rows of some nodes, and sums those of some of their children.
class Turn {
public:
    Turn(const Codes& codes, const Sum* terms, const Columns& columns, const BoostKernels& kernels)
        : codes_(codes), terms_(terms), columns_(columns), kernels_(kernels),
          scratch_((codes.row_bytes() + sizeof(Sum)) * 2048 + 64), histogram_(columns.total() + codes.most()) {}

    // Rows that go left come first, in their order; returns how many those are.
    size_t part(std::span<const std::uint32_t> from, const Split& split, std::uint32_t* to) {
        const size_t j = static_cast<size_t>(split.feature);
        flags_.resize(from.size());
        size_t lefts = 0;
        codes_.visit([&](const auto* table) {
            lefts = flag_rows(split, columns_.missing[j], from, table + j, codes_.width, flags_.data());
        });
        kernels_.part_rows(from.data(), flags_.data(), from.size(), to, to + lefts);
        return lefts;
    }

    // No code can lead beyond the histogram: there is room for one of each behind the last column.
    std::span<const Sum> sum(std::span<const std::uint32_t> rows) {
        std::fill_n(histogram_.begin(), columns_.total(), Sum{});
        kernels_.build_histogram({codes_, terms_, rows.data(), rows.size()}, {columns_.offset.data(), columns_.p()},
                                 histogram_.data(), scratch_.data());
        return {histogram_.data(), columns_.total()};
    }

private:
    Codes codes_;
    const Sum* terms_;
    const Columns& columns_;
    const BoostKernels& kernels_;
    std::vector<std::uint8_t> scratch_, flags_;
    std::vector<Sum> histogram_;
};

}  // namespace tenfold
