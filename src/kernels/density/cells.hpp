// Density trees: boxes that are cut in two, again and again, where the rows are most unevenly spread.
//
// A cell with the share q of the weight of its node and the share t of its volume has the density q / t, in units of that of the
// node. The squared error ∫ (p − p̂)² falls most by the cut with the largest
//
//     q²/t + (1 − q)²/(1 − t) − 1  =  (q − t)² / (t (1 − t)),
//
// and the likelihood rises most by the one with the largest q log(q/t) + (1 − q) log((1 − q)/(1 − t)). Between two neighbouring
// values q is fixed and both are convex in t: the best cut lies at an end of the gap between them.
#pragma once

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/tree/presorted.hpp"

namespace tenfold {

struct CellLimits {
    bool likelihood;            // the criterion
    std::int64_t max_depth;     // -1: no limit
    double min_leaf;            // weight of a cell
    double log_max_density;     // relative to one row spread over the support: denser nodes are not cut
    double min_gain;            // of the criterion, for the whole table
    double gap;                 // how far a cut lies from a value, as a share of the gap to the next; at most 1/2
    std::int64_t max_features;  // columns that a node looks at; 0: all
    std::uint64_t seed;
};

struct Cell {
    double threshold, weight, log_volume;  // of its support: 0
    std::int32_t feature, left, right;     // -1: none
};

// All columns of a table in rising order.
struct SortedColumns {
    size_t n = 0, p = 0;
    std::vector<double> values;        // (p, n)
    std::vector<std::uint32_t> order;  // (p, n): their rows
};

inline SortedColumns sorted_columns(Rows<const double> X, size_t n_threads) {
    SortedColumns made{X.n, X.p, std::vector<double>(X.n * X.p), std::vector<std::uint32_t>(X.n * X.p)};
    std::vector<std::int64_t> missing(X.p);
    presort<double>(X, made.order, missing, n_threads);
    for (size_t j = 0; j < X.p; ++j) {
        leave_if_stopped();
        for (size_t i = j * X.n; i < (j + 1) * X.n; ++i) {
            made.order[i] &= ~TIE<std::uint32_t>;
            made.values[i] = X[made.order[i]][j];
        }
    }
    return made;
}

inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

class CellGrower {
public:
    // Rows without weight are absent. The support has a width in every column.
    CellGrower(const SortedColumns& table, Weights w, const double* low, const double* high, const CellLimits& by)
        : by_(by), w_(w), p_(table.p), low_(low, low + table.p), high_(high, high + table.p), side_(table.n) {
        for (size_t i = 0; i < table.n; ++i) m_ += w[i] > 0;
        values_.resize(m_ * p_);
        rows_.resize(m_ * p_);
        for (size_t j = 0; j < p_; ++j) {
            leave_if_stopped();
            size_t to = j * m_;
            for (size_t i = j * table.n; i < (j + 1) * table.n; ++i)
                if (w[table.order[i]] > 0) values_[to] = table.values[i], rows_[to++] = table.order[i];
        }
        for (size_t i = 0; i < m_; ++i) total_ += w[rows_[i]], unit_ &= w[rows_[i]] == 1.0;
        spare_values_.resize(m_);
        spare_rows_.resize(m_);
    }

    // Nodes in preorder, the root first.
    std::vector<Cell> grow() {
        std::vector<Cell> cells;
        std::vector<Step> steps{{Step::visit, 0, m_, total_, 0.0, 0, mixed(by_.seed), -1, false, 0, 0.0}};
        while (!steps.empty()) {
            const Step now = steps.back();
            steps.pop_back();
            if (now.what != Step::visit) {
                (now.what == Step::lower ? low_ : high_)[now.column] = now.bound;
                continue;
            }
            leave_if_stopped();
            const auto number = static_cast<std::int32_t>(cells.size());
            if (now.parent >= 0) (now.is_left ? cells[now.parent].left : cells[now.parent].right) = number;
            cells.push_back({0.0, now.weight, now.log_volume, -1, -1, -1});
            if (!may_be_cut(now)) continue;
            const Cut cut = best_cut(now);
            if (cut.column < 0) continue;
            cells.back().feature = static_cast<std::int32_t>(cut.column);
            cells.back().threshold = cut.at;
            const auto j = static_cast<size_t>(cut.column);
            const size_t middle = now.begin + cut.rows;
            const double low = low_[j], high = high_[j], share = (cut.at - low) / (high - low);
            const Step left{Step::visit, now.begin, middle, cut.weight, now.log_volume + std::log(share), now.depth + 1,
                            mixed(2 * now.key + 1), number, true, 0, 0.0};
            const Step right{Step::visit, middle, now.end, now.weight - cut.weight, now.log_volume + std::log1p(-share), now.depth + 1,
                             mixed(2 * now.key + 2), number, false, 0, 0.0};
            if (may_be_cut(left) || may_be_cut(right)) part(now, j, cut.rows);
            const auto bound = [&](typename Step::What what, double value) {
                return Step{what, 0, 0, 0.0, 0.0, 0, 0, -1, false, j, value};
            };
            // The last is done first.
            for (const Step& step : {bound(Step::lower, low), right, bound(Step::lower, cut.at), bound(Step::upper, high), left,
                                     bound(Step::upper, cut.at)})
                steps.push_back(step);
        }
        return cells;
    }

private:
    struct Step {  // to be done: a node to look at, or a bound of the box to be set
        enum What { visit, lower, upper } what;
        size_t begin, end;
        double weight, log_volume;
        std::int64_t depth;
        std::uint64_t key;  // of what the node draws
        std::int32_t parent;
        bool is_left;
        size_t column;
        double bound;
    };

    struct Cut {
        double gain = 0, at = 0, weight = 0;  // weight and number of the rows on its left
        size_t rows = 0;
        std::int64_t column = -1;
    };

    bool may_be_cut(const Step& node) const {
        return node.end - node.begin > 1 && (by_.max_depth < 0 || node.depth < by_.max_depth) && node.weight >= 2 * by_.min_leaf * (1 - 1e-12) &&
               std::log(node.weight / total_) - node.log_volume < by_.log_max_density;
    }

    Cut best_cut(const Step& node) {
        columns_.resize(p_);
        std::iota(columns_.begin(), columns_.end(), 0u);
        const bool draws = by_.max_features > 0 && static_cast<size_t>(by_.max_features) < p_;
        size_t left = draws ? static_cast<size_t>(by_.max_features) : p_;
        std::uint64_t drawn = node.key;
        Cut best;
        for (size_t k = 0; k < p_ && left; ++k) {
            if (draws) {
                drawn = mixed(drawn);
                std::swap(columns_[k], columns_[k + drawn % (p_ - k)]);
            }
            const size_t j = columns_[k];
            if (values_[j * m_ + node.begin] == values_[j * m_ + node.end - 1]) continue;
            --left;
            if (by_.likelihood) search<true>(node, j, best);
            else search<false>(node, j, best);
        }
        // What the cut gains for the whole table: p²V of the node times the gain, or its share of the weight times it.
        const double log_share = std::log(node.weight / total_);
        const double whole = best.gain > 0 ? std::log(best.gain) + (by_.likelihood ? log_share : 2 * log_share - node.log_volume) : -INFINITY;
        if (!(whole > std::log(by_.min_gain))) best.column = -1;
        return best;
    }

    template <bool likelihood>
    void search(const Step& node, size_t j, Cut& best) const {
        const double* v = values_.data() + j * m_;
        const std::uint32_t* rows = rows_.data() + j * m_;
        const double low = low_[j], width = high_[j] - low, least = by_.min_leaf * (1 - 1e-12);
        double below = 0;
        for (size_t i = node.begin; i + 1 < node.end; ++i) {
            below = unit_ ? static_cast<double>(i + 1 - node.begin) : below + w_[rows[i]];
            if (v[i] == v[i + 1] || below < least) continue;
            if (node.weight - below < least) break;
            const double q = below / node.weight, gap = by_.gap * (v[i + 1] - v[i]);
            for (const double cut : {v[i] + gap, v[i + 1] - gap}) {
                const double at = cut >= v[i + 1] || cut < v[i] ? v[i] : cut;  // rounding: x <= at is the left side
                const double t = (at - low) / width;
                if (!(t > 0 && t < 1)) continue;
                const double gain = likelihood ? q * std::log(q / t) + (1 - q) * std::log((1 - q) / (1 - t)) : (q - t) * (q - t) / (t * (1 - t));
                if (gain > best.gain && std::isfinite(gain))
                    best = {gain, at, below, i + 1 - node.begin, static_cast<std::int64_t>(j)};
            }
        }
    }

    // Sorted lists of a node become those of its two cells.
    void part(const Step& node, size_t column, size_t n_left) {
        const std::uint32_t* rows = rows_.data() + column * m_;
        for (size_t i = node.begin; i < node.end; ++i) side_[rows[i]] = i < node.begin + n_left;
        for (size_t j = 0; j < p_; ++j) {
            if (j == column) continue;
            double* v = values_.data() + j * m_;
            std::uint32_t* r = rows_.data() + j * m_;
            size_t l = node.begin, s = 0;
            for (size_t i = node.begin; i < node.end; ++i) {
                const double value = v[i];
                const std::uint32_t row = r[i];
                const bool goes_left = side_[row];
                v[l] = value, r[l] = row;  // both are written, one is kept
                spare_values_[s] = value, spare_rows_[s] = row;
                l += goes_left, s += !goes_left;
            }
            std::copy_n(spare_values_.data(), s, v + l);
            std::copy_n(spare_rows_.data(), s, r + l);
        }
    }

    const CellLimits& by_;
    Weights w_;
    size_t p_, m_ = 0;
    double total_ = 0;
    bool unit_ = true;
    std::vector<double> low_, high_, values_, spare_values_;  // the box of the present node; values (p, m)
    std::vector<std::uint32_t> rows_, spare_rows_, columns_;
    std::vector<std::uint8_t> side_;
};

// The number of the leaf of each row; children (nodes, 2) are -1 where there are none.
template <class T>
void find_cells(Rows<const T> X, const std::int32_t* feature, const double* threshold, const std::int32_t* children,
                std::int32_t* leaf) {
    for (size_t i = 0; i < X.n; ++i) {
        std::int32_t node = 0;
        while (children[2 * node] >= 0) node = children[2 * node + !(static_cast<double>(X[i][feature[node]]) <= threshold[node])];
        leaf[i] = node;
    }
}

}  // namespace tenfold
