// Weighted rows that are made ready for sums: the tree, boxes and weights of its nodes, and which of them get terms.
#pragma once

#include <cmath>
#include <memory>

#include "kernels/summation/sums_view.hpp"

namespace tenfold {

class SumsRows {
public:
    static constexpr size_t TREE_COLUMNS = 16;  // with more, every box is near every point
    static constexpr size_t EXPANDED_COLUMNS = 6;

    SumsRows(Rows<const double> rows, const double* weights, Shape shape, double relative, size_t threads) : p_(rows.p), n_(rows.n) {
        if (p_ > TREE_COLUMNS) lay_out(rows);
        else tree_ = std::make_unique<TreeNodes>(rows, threads), tree_view_ = tree_->view();
        const size_t leaves = tree_view_.inner + 1;
        weight_.assign(leaves * LEAF, 0.0);
        for (size_t i = 0; i < n_; ++i) all_ += weights[i], lightest_ = std::min(lightest_, weights[i]);
        for (size_t leaf = 0; leaf < leaves; ++leaf)
            for (size_t i = 0; i < count(leaf); ++i) weight_[leaf * LEAF + i] = weights[tree_view_.number[leaf * LEAF + i]];
        measure_nodes();
        set_order(shape, relative);
        if (shape == Shape::gaussian && relative >= FINEST) set_powers();
    }

    // Calls expand(view, node, terms) for the nodes that have terms.
    template <class Expand>
    void add_terms(Team& team, Expand&& expand) {
        if (order_ == 0 || !tree_) return;
        slot_.assign(2 * tree_view_.inner + 1, -1);
        std::vector<size_t> expanded;
        for (size_t node = 0; node < slot_.size(); ++node)
            if (worth(node)) slot_[node] = static_cast<std::int32_t>(expanded.size()), expanded.push_back(node);
        if (expanded.empty()) return slot_.clear();
        terms_.assign(expanded.size() * width_, 0.0);
        const SumsView rows = view();
        team.each(expanded.size(), [&](size_t i) {
            if (!stopped()) expand(rows, expanded[i], terms_.data() + i * width_);
        });
    }

    SumsView view() const {
        return {tree_view_, !tree_, weight_.data(), all_, boxes_.data(), total_.data(), radius_.data(),
                bundles_.data(), powers_.empty() ? nullptr : powers_.data(), lightest_, shape_, order_, width_, slot_.empty() ? nullptr : slot_.data(), terms_.data()};
    }
    void sort(Rows<const double> points, std::int64_t* order) const {
        if (tree_) return tree_->sort_queries(points, order);
        for (size_t i = 0; i < points.n; ++i) order[i] = static_cast<std::int64_t>(i);
    }
    size_t width() const { return p_; }
    size_t size() const { return n_; }

private:
    static constexpr double FINEST = 1e-11;  // finer tolerances than powers of two are computed with
    static constexpr double WIDEST = 1.2, NARROWEST = 0.15;  // bandwidths from the middle: wider nodes never pass, of narrower ones the parents do

    size_t count(size_t leaf) const { return tree_view_.start[leaf + 1] - tree_view_.start[leaf]; }

    // Leaves of rows in their order.
    void lay_out(Rows<const double> rows) {
        const size_t leaves = (n_ + LEAF - 1) / LEAF;
        values_.assign(leaves * p_ * LEAF, 0.0);
        number_.assign(leaves * LEAF, 0);
        start_.resize(leaves + 1);
        for (size_t i = 0; i < n_; ++i) {
            const size_t leaf = i / LEAF, place = i % LEAF;
            number_[i] = static_cast<std::int64_t>(i);
            start_[leaf + 1] = i + 1;
            for (size_t j = 0; j < p_; ++j) values_[(leaf * p_ + j) * LEAF + place] = rows[i][j];
        }
        tree_view_ = {p_, leaves - 1, nullptr, nullptr, values_.data(), number_.data(), start_.data(), nullptr, nullptr};
    }

    // Boxes and weights of all nodes; of rows without a tree those of the leaves alone are right, and used.
    void measure_nodes() {
        const size_t inner = tree_view_.inner, nodes = 2 * inner + 1;
        std::vector<double> low(nodes * p_, INFINITY), high(nodes * p_, -INFINITY);
        total_.assign(nodes, 0.0);
        radius_.assign(nodes, 0.0);
        boxes_.assign(nodes * 2 * p_, 0.0);
        for (size_t node = nodes; node-- > 0;) {
            double *least = low.data() + node * p_, *most = high.data() + node * p_;
            if (node >= inner) {
                const size_t leaf = node - inner;
                for (size_t i = 0; i < count(leaf); ++i) total_[node] += weight_[leaf * LEAF + i];
                for (size_t j = 0; j < p_; ++j)
                    for (size_t i = 0; i < count(leaf); ++i) {
                        const double value = tree_view_.values[(leaf * p_ + j) * LEAF + i];
                        least[j] = std::min(least[j], value), most[j] = std::max(most[j], value);
                    }
            } else if (tree_) {
                for (size_t child = 2 * node + 1; child <= 2 * node + 2; ++child) {
                    total_[node] += total_[child];
                    for (size_t j = 0; j < p_; ++j) {
                        least[j] = std::min(least[j], low[child * p_ + j]);
                        most[j] = std::max(most[j], high[child * p_ + j]);
                    }
                }
            }
            if (!(least[0] <= most[0])) continue;  // no rows
            double *middle = boxes_.data() + node * 2 * p_, *half = middle + p_, square = 0;
            for (size_t j = 0; j < p_; ++j) {
                middle[j] = 0.5 * least[j] + 0.5 * most[j];
                half[j] = std::max(most[j] - middle[j], middle[j] - least[j]);
                if (half[j] > 0) half[j] += 4e-16 * (half[j] + std::abs(middle[j]));  // whatever is rounded: all rows are inside
                square += half[j] * half[j];
            }
            radius_[node] = std::sqrt(square);
        }
        const size_t leaves = inner + 1;
        bundles_.assign((leaves + BUNDLE - 1) / BUNDLE * 2 * p_ * BUNDLE, INFINITY);  // a leaf that is not there is far from all
        for (size_t leaf = 0; leaf < leaves; ++leaf)
            for (size_t j = 0; j < 2 * p_; ++j)
                bundles_[(leaf / BUNDLE * 2 * p_ + j) * BUNDLE + leaf % BUNDLE] = boxes_[(inner + leaf) * 2 * p_ + j];
        for (size_t leaf = leaves; leaf % BUNDLE; ++leaf)
            for (size_t j = p_; j < 2 * p_; ++j) bundles_[(leaf / BUNDLE * 2 * p_ + j) * BUNDLE + leaf % BUNDLE] = 0;
    }

    // log₂(w e^(−|x − y|²/2)) = Σ u t + (log₂ w − |t|²/2) − |u|²/2, with t = √(log₂ e) (y − c) about the middle c of the leaf, and u so too.
    void set_powers() {
        const size_t leaves = tree_view_.inner + 1;
        powers_.assign(leaves * (p_ + 1) * LEAF, 0.0);
        for (size_t leaf = 0; leaf < leaves; ++leaf) {
            double *t = powers_.data() + leaf * (p_ + 1) * LEAF, *rest = t + p_ * LEAF;
            const double* middle = boxes_.data() + (tree_view_.inner + leaf) * 2 * p_;
            for (size_t i = 0; i < LEAF; ++i) rest[i] = i < count(leaf) ? std::log2(weight_[leaf * LEAF + i]) : -INFINITY;
            for (size_t j = 0; j < p_; ++j)
                for (size_t i = 0; i < count(leaf); ++i) {
                    const double away = std::sqrt(LOG2_E) * (tree_view_.values[(leaf * p_ + j) * LEAF + i] - middle[j]);
                    t[j * LEAF + i] = away;
                    rest[i] -= 0.5 * away * away;
                }
        }
    }

    // How many terms: for the Gaussian enough for the tolerance in nodes of middling size, for others those of their closed forms.
    void set_order(Shape shape, double relative) {
        shape_ = shape;
        if (shape == Shape::gaussian && p_ <= EXPANDED_COLUMNS) {
            constexpr size_t most[] = {18, 15, 11, 8, 6, 5};
            const auto digits = static_cast<size_t>(std::clamp(-std::log10(relative), 2.0, 14.0));
            order_ = std::min(most[p_ - 1], 4 + digits);
            width_ = 1;
            for (size_t j = 1; j <= p_; ++j) width_ = width_ * (order_ - 1 + j) / j;  // binomial(order − 1 + p, p)
        } else if (shape == Shape::epanechnikov) {
            order_ = 2, width_ = 1 + p_;
        } else if (p_ == 1 && shape != Shape::tophat && shape != Shape::gaussian) {
            order_ = width_ = 4;
        }
    }

    bool worth(size_t node) const {
        const bool leaf = node >= tree_view_.inner;
        if (leaf && shape_ != Shape::gaussian) return false;
        if (shape_ == Shape::exponential) return radius_[node] < 300;
        if (shape_ != Shape::gaussian) return radius_[node] <= 1;
        if (radius_[node] > WIDEST || LEAF << (depth() - level(node)) < width_ / 4) return false;
        return radius_[node] >= NARROWEST || node == 0 || slot_[(node - 1) / 2] < 0;
    }
    static size_t level(size_t node) {
        size_t found = 0;
        for (++node; node > 1; node >>= 1) ++found;
        return found;
    }
    size_t depth() const { return level(tree_view_.inner); }

    size_t p_, n_, order_ = 0, width_ = 0;
    double all_ = 0, lightest_ = INFINITY;
    Shape shape_ = Shape::gaussian;
    TreeView tree_view_{};
    std::unique_ptr<TreeNodes> tree_;
    std::vector<double> weight_, boxes_, total_, radius_, bundles_, powers_, terms_, values_;
    std::vector<std::int64_t> number_;
    std::vector<size_t> start_;
    std::vector<std::int32_t> slot_;
};

}  // namespace tenfold
