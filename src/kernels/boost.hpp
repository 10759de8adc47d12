// One tree of boosting: leaves are split best first, on histograms of bins, by a team of threads.
#pragma once

#include <memory>
#include <numeric>
#include <vector>

#include "boost_table.hpp"
#include "split.hpp"
#include "team.hpp"

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
    std::vector<std::uint8_t> missing, categorical;
    std::vector<std::int8_t> order;                   // 1: values rise with the column, -1: they fall, 0: either
    std::vector<std::vector<std::uint8_t>> together;  // groups of columns that may meet on one path; none: all
    bool ordered = false;

    size_t p() const { return missing.size(); }
    size_t bins(size_t j) const { return missing[j]; }
    size_t total() const { return offset.back(); }
};

struct BoostNode {
    std::int32_t left = -1, right = -1;
    Split split;
    Sum sum;
    double value = 0;
    size_t begin = 0, end = 0;  // its rows, in the list of its side
    int side = 0;
};

class Grower {
public:
    Grower(const std::uint8_t* codes, size_t n, size_t width, Columns columns, size_t n_threads, const BoostKernels& kernels)
        : codes_(codes), n_(n), width_(width), columns_(std::move(columns)), kernels_(kernels), team_(n_threads), terms_(n) {
        rows_[0].resize(n);
        rows_[1].resize(n);
        flags_.resize(n);
        columns_codes_.resize(n * columns_.p());
        team_.ranges(n, 1024, [&](size_t a, size_t b) {
            for (size_t j = 0; j < columns_.p(); ++j)
                for (size_t i = a; i < b; ++i) columns_codes_[j * n_ + i] = codes_[i * width_ + j];
        });
        for (size_t t = 0; t < team_.size(); ++t)
            scratch_.push_back(std::make_unique<std::uint8_t[]>((width + sizeof(Sum)) * 2048 + 64));
        for (size_t t = 1; t < team_.size(); ++t) partial_.push_back(fresh());
    }

    Team& team() { return team_; }
    Sum* terms() { return terms_.data(); }
    size_t n() const { return n_; }
    size_t n_rows() const { return n_rows_; }
    const std::vector<BoostNode>& nodes() const { return nodes_; }
    const Columns& columns() const { return columns_; }
    std::span<const std::uint32_t> rows_of(const BoostNode& node) const {
        return {rows_[node.side].data() + node.begin, node.end - node.begin};
    }
    void set_value(size_t node, double value) { nodes_[node].value = value; }

    // Grows a tree on these rows (none given: on all), in ascending order.
    void grow(std::span<const std::uint32_t> rows, const Rule& rule, const Limits& limits) {
        rule_ = rule;
        limits_ = limits;
        all_ = rows.empty();
        n_rows_ = all_ ? n_ : rows.size();
        if (all_) team_.ranges(n_, 1 << 16, [&](size_t a, size_t b) { std::iota(&rows_[0][a], &rows_[0][0] + b, a); });
        else std::copy(rows.begin(), rows.end(), rows_[0].begin());
        nodes_.assign(1, BoostNode{});
        nodes_[0].end = n_rows_;
        leaves_.clear();
        plant();
        while (n_leaves_ < limits_.leaves && !leaves_.empty() && !stopped()) split_next();
        for (Leaf& leaf : leaves_) release(leaf.histogram);
        leaves_.clear();
    }

    // Adds the value of its leaf to each row of `raw`; rows that are not in the tree walk down.
    void update(double* raw) {
        std::vector<std::pair<size_t, size_t>> pieces;
        constexpr size_t PIECE = 1 << 14;
        for (size_t i = 0; i < nodes_.size(); ++i)
            if (nodes_[i].left < 0)
                for (size_t at = nodes_[i].begin; at < nodes_[i].end; at += PIECE) pieces.push_back({i, at});
        std::vector<std::uint64_t> inside(all_ ? 0 : n_ / 64 + 1);
        team_.each(pieces.size(), [&](size_t k) {
            const BoostNode& node = nodes_[pieces[k].first];
            const std::uint32_t* rows = rows_[node.side].data();
            const size_t end = std::min(node.end, pieces[k].second + PIECE);
            for (size_t at = pieces[k].second; at < end; ++at) raw[rows[at]] += node.value;
        });
        if (all_) return;
        for (const auto& [i, begin] : pieces) {
            const BoostNode& node = nodes_[i];
            for (size_t at = begin; at < std::min(node.end, begin + PIECE); ++at)
                inside[rows_[node.side][at] / 64] |= std::uint64_t{1} << rows_[node.side][at] % 64;
        }
        team_.ranges(n_, PIECE, [&](size_t a, size_t b) {
            for (size_t i = a; i < b; ++i)
                if (!(inside[i / 64] >> (i % 64) & 1)) raw[i] += walk(codes_ + i * width_).value;
        });
    }

    const BoostNode& walk(const std::uint8_t* codes) const {
        const BoostNode* node = &nodes_[0];
        while (node->left >= 0) {
            const size_t j = static_cast<size_t>(node->split.feature);
            node = &nodes_[node->split.goes_left(codes[j], columns_.missing[j]) ? node->left : node->right];
        }
        return *node;
    }

private:
    using Histogram = std::unique_ptr<Sum, void (*)(Sum*)>;

    // A node that may still be split, with the best way to do it.
    struct Leaf {
        size_t node = 0, depth = 0;
        Histogram histogram{nullptr, nullptr};
        Split split;
        Bounds bounds;
        std::vector<std::uint8_t> groups;  // of columns that may meet: which are still open on this path
    };

    static constexpr size_t SHARED_ROWS = 4096;         // nodes of fewer rows are summed by one thread
    static constexpr size_t MOST_HISTOGRAMS = 1 << 28;  // bytes: beyond, leaves are summed again when they are split

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

    void plant() {
        Leaf root;
        root.groups.assign(columns_.together.size(), 1);
        n_leaves_ = 1;
        root.histogram = fresh();
        const size_t parts = sum_rows(nodes_[0], root.histogram.get());
        add_parts(root.histogram.get(), parts, 0, columns_.total());
        Sum& sum = nodes_[0].sum;
        for (size_t b = columns_.offset[0]; b < columns_.offset[1]; ++b) sum = sum + root.histogram.get()[b];
        nodes_[0].value = rule_.value(sum) * limits_.rate;
        Leaf* only[1] = {&root};
        search(only, [](size_t) {});
        if (may_split(root) && root.split.feature >= 0) leaves_.push_back(std::move(root));
        else release(root.histogram);
    }

    bool may_split(const Leaf& leaf) const {
        const Sum& sum = nodes_[leaf.node].sum;
        return leaf.depth < limits_.depth && rule_.count(sum) >= std::max<std::int64_t>({2, 2 * rule_.least_rows, limits_.split_rows}) &&
               rule_.curvature(sum) >= 2 * rule_.least_curvature;
    }

    // Sums the terms of a node's rows; with several threads the others' parts are left in `partial_`. Returns how many those are.
    size_t sum_rows(const BoostNode& node, Sum* histogram) {
        const Layout layout{columns_.offset.data(), columns_.p()};
        const size_t n = node.end - node.begin, bytes = columns_.total() * sizeof(Sum);
        const std::uint32_t* rows = all_ && n == n_ ? nullptr : rows_[node.side].data() + node.begin;
        if (n < SHARED_ROWS || team_.size() == 1) {
            std::memset(static_cast<void*>(histogram), 0, bytes);
            kernels_.build_histogram({codes_, width_, terms_.data(), rows, n}, layout, histogram, scratch_[0].get());
            return 0;
        }
        const size_t step = 2048;
        std::atomic<size_t> next{0};
        team_.run([&](size_t t) {
            Sum* mine = t == 0 ? histogram : partial_[t - 1].get();
            std::memset(static_cast<void*>(mine), 0, bytes);
            for (size_t a = next.fetch_add(step); a < n; a = next.fetch_add(step)) {
                const size_t m = std::min(step, n - a);
                const NodeRows part = rows ? NodeRows{codes_, width_, terms_.data(), rows + a, m}
                                           : NodeRows{codes_ + a * width_, width_, terms_.data() + a, nullptr, m};
                kernels_.build_histogram(part, layout, mine, scratch_[t].get());
            }
        });
        return team_.size() - 1;
    }

    void add_parts(Sum* histogram, size_t parts, size_t begin, size_t end) const {
        for (size_t t = 0; t < parts; ++t) {
            const Sum* part = partial_[t].get();
            for (size_t b = begin; b < end; ++b) histogram[b] = histogram[b] + part[b];
        }
    }

    void split_next() {
        const size_t at = limits_.whole ? leaves_.size() - 1 : best_leaf();
        Leaf leaf = std::move(leaves_[at]);
        leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(at));
        const size_t first = part_rows(leaf);
        ++n_leaves_;
        Leaf left = child(leaf, first), right = child(leaf, first + 1);
        order_bounds(leaf, left, right);
        for (Leaf* one : {&left, &right})
            nodes_[one->node].value = one->bounds.value(nodes_[one->node].sum, rule_) * limits_.rate;
        const bool any_room = n_leaves_ < limits_.leaves;
        std::vector<Leaf*> open;
        for (Leaf* one : {&left, &right})
            if (any_room && may_split(*one)) open.push_back(one);
        if (!open.empty()) look_for_splits(leaf, left, right, open);
        release(leaf.histogram);
        for (Leaf* one : {&right, &left}) {
            if (one->split.feature < 0 || made_ * columns_.total() * sizeof(Sum) > MOST_HISTOGRAMS) release(one->histogram);
            if (one->split.feature >= 0) leaves_.push_back(std::move(*one));
        }
    }

    size_t best_leaf() const {
        size_t best = 0;
        for (size_t i = 1; i < leaves_.size(); ++i) {
            const bool ahead = exceeds(leaves_[i].split.gain, leaves_[best].split.gain);
            const bool tied = !ahead && !exceeds(leaves_[best].split.gain, leaves_[i].split.gain);
            if (ahead || (tied && leaves_[i].node < leaves_[best].node)) best = i;
        }
        return best;
    }

    // The smaller child is summed, the larger one is what it leaves of the parent.
    void look_for_splits(Leaf& parent, Leaf& left, Leaf& right, std::span<Leaf* const> open) {
        const auto size = [&](const Leaf& leaf) { return nodes_[leaf.node].end - nodes_[leaf.node].begin; };
        Leaf& small = size(left) <= size(right) ? left : right;
        Leaf& large = &small == &left ? right : left;
        if (!parent.histogram) {
            for (Leaf* one : open) {
                one->histogram = fresh();
                add_parts(one->histogram.get(), sum_rows(nodes_[one->node], one->histogram.get()), 0, columns_.total());
            }
            return search(open, [](size_t) {});
        }
        small.histogram = fresh();
        const size_t parts = sum_rows(nodes_[small.node], small.histogram.get());
        large.histogram = std::move(parent.histogram);
        Sum *a = small.histogram.get(), *b = large.histogram.get();
        search(open, [&](size_t j) {
            add_parts(a, parts, columns_.offset[j], columns_.offset[j + 1]);
            for (size_t i = columns_.offset[j]; i < columns_.offset[j + 1]; ++i) b[i] = b[i] - a[i];
        });
    }

    // The best split of each leaf; prepare(j) is called before column j is looked at.
    template <class Prepare>
    void search(std::span<Leaf* const> leaves, Prepare&& prepare) {
        const size_t p = columns_.p(), step = 4;
        std::vector<std::vector<std::uint8_t>> open;
        for (Leaf* leaf : leaves) open.push_back(open_columns(*leaf));
        std::vector<Split> found(leaves.size() * p);
        const auto some = [&](size_t begin, size_t end) {
            for (size_t j = begin; j < end; ++j) {
                prepare(j);
                for (size_t k = 0; k < leaves.size(); ++k)
                    if (open[k][j]) found[k * p + j] = best_split(*leaves[k], j);
            }
        };
        if (columns_.total() * leaves.size() < 4096) some(0, p);
        else team_.ranges(p, step, some);
        for (size_t k = 0; k < leaves.size(); ++k) {
            const Split* mine = &found[k * p];
            double top = 0;
            for (size_t j = 0; j < p; ++j) top = std::max(top, mine[j].gain);
            const double noise = 1e-12 * rule_.score(nodes_[leaves[k]->node].sum);
            leaves[k]->split = Split{};
            if (!(top > std::max(rule_.least_gain, noise))) continue;
            for (size_t j = 0; j < p; ++j)
                if (!exceeds(top, mine[j].gain)) {
                    leaves[k]->split = mine[j];
                    break;
                }
        }
    }

    Split best_split(const Leaf& leaf, size_t j) const {
        const Sum* histogram = leaf.histogram.get() + columns_.offset[j];
        const Sum& total = nodes_[leaf.node].sum;
        Split split;
        if (columns_.categorical[j]) split = best_subset(histogram, columns_.bins(j), total, rule_, leaf.bounds);
        else {
            const Cut cut = columns_.ordered
                                ? best_ordered_cut(histogram, columns_.bins(j), total, rule_, leaf.bounds, columns_.order[j])
                                : kernels_.best_cut(histogram, columns_.bins(j), total, rule_);
            split.gain = cut.bin < 0 ? 0 : cut.gain;
            split.bin = cut.bin;
            split.missing_left = cut.missing_left;
            split.left = cut.left;
        }
        if (split.bin >= 0) split.feature = static_cast<std::int32_t>(j);
        // Nothing was missing here: new missing values go where most rows go.
        if (split.bin >= 0 && !split.by_set && rule_.count(histogram[columns_.bins(j)]) == 0)
            split.missing_left = 2 * rule_.count(split.left) > rule_.count(total);
        return split;
    }

    // Which columns may be split on: those of the groups that are open, and of them the ones drawn for this node.
    std::vector<std::uint8_t> open_columns(const Leaf& leaf) const {
        const size_t p = columns_.p();
        std::vector<std::uint8_t> open(p, leaf.groups.empty());
        for (size_t g = 0; g < leaf.groups.size(); ++g)
            for (size_t j = 0; leaf.groups[g] && j < p; ++j) open[j] |= columns_.together[g][j];
        if (limits_.columns >= p) return open;
        std::vector<std::pair<std::uint64_t, size_t>> draws;
        for (size_t j = 0; j < p; ++j)
            if (open[j]) draws.push_back({mixed(mixed(limits_.seed + leaf.node) + j), j});
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
        Leaf one;
        one.node = node;
        one.depth = parent.depth + 1;
        one.bounds = parent.bounds;
        one.groups = parent.groups;
        const size_t feature = static_cast<size_t>(parent.split.feature);
        for (size_t g = 0; g < one.groups.size(); ++g) one.groups[g] &= columns_.together[g][feature];
        return one;
    }

    void order_bounds(const Leaf& parent, Leaf& left, Leaf& right) const {
        const int order = columns_.order[static_cast<size_t>(parent.split.feature)];
        if (order == 0) return;
        const double l = parent.bounds.value(nodes_[left.node].sum, rule_), r = parent.bounds.value(nodes_[right.node].sum, rule_);
        const double middle = l / 2 + r / 2;
        (order > 0 ? left.bounds.high : left.bounds.low) = middle;
        (order > 0 ? right.bounds.low : right.bounds.high) = middle;
    }

    // Rows of the leaf go to the other list, those that go left first, in their order. Returns the left node; the right one follows.
    size_t part_rows(const Leaf& leaf) {
        const size_t first = nodes_.size();
        nodes_.resize(first + 2);
        BoostNode& node = nodes_[leaf.node];
        node.split = leaf.split;
        node.left = static_cast<std::int32_t>(first);
        node.right = node.left + 1;
        const size_t n_left = move_rows(node);
        BoostNode &l = nodes_[first], &r = nodes_[first + 1];
        l.sum = node.split.left;
        r.sum = node.sum - l.sum;
        l.side = r.side = 1 - node.side;
        l.begin = node.begin;
        l.end = r.begin = node.begin + n_left;
        r.end = node.end;
        return first;
    }

    size_t move_rows(const BoostNode& node) {
        const size_t n = node.end - node.begin, step = 1 << 13, pieces = (n + step - 1) / step;
        const std::uint32_t* from = rows_[node.side].data() + node.begin;
        std::uint32_t* to = rows_[1 - node.side].data() + node.begin;
        const size_t j = static_cast<size_t>(node.split.feature);
        bool left_codes[256];
        for (size_t c = 0; c < 256; ++c)
            left_codes[c] = node.split.goes_left(static_cast<std::uint8_t>(c), columns_.missing[j]);
        std::vector<size_t> count(pieces + 1, 0);
        std::uint8_t* flags = flags_.data();
        const std::uint8_t* column = columns_codes_.data() + j * n_;
        const auto look = [&](size_t k) {
            const size_t end = std::min(n, (k + 1) * step);
            size_t lefts = 0;
            for (size_t i = k * step; i < end; ++i) {
                flags[i] = left_codes[column[from[i]]];
                lefts += flags[i];
            }
            count[k + 1] = lefts;
        };
        const auto move = [&](size_t k) {
            const size_t start = k * step, end = std::min(n, start + step);
            kernels_.part_rows(from + start, flags + start, end - start, to + count[k],
                               to + count[pieces] + (start - count[k]));
        };
        team_.each(pieces, look);
        for (size_t k = 0; k < pieces; ++k) count[k + 1] += count[k];
        team_.each(pieces, move);
        return count[pieces];
    }

    const std::uint8_t* codes_;
    size_t n_, width_;
    Columns columns_;
    const BoostKernels& kernels_;
    Team team_;
    std::vector<Sum> terms_;
    std::vector<std::uint32_t> rows_[2];
    std::vector<std::uint8_t> flags_, columns_codes_;  // the codes once more, column by column: for moving rows
    std::vector<std::unique_ptr<std::uint8_t[]>> scratch_;
    std::vector<Histogram> partial_, pool_;
    size_t made_ = 0, n_rows_ = 0, n_leaves_ = 0;
    bool all_ = true;
    Rule rule_{};
    Limits limits_{};
    std::vector<BoostNode> nodes_;
    std::vector<Leaf> leaves_;
};

}  // namespace tenfold
