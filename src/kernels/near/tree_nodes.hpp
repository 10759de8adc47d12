// A k-d tree: rows are halved at the median of their widest column until few are left.
//
// The tree is complete: node i has children 2 i + 1 and 2 i + 2, and the leaves are all on the last level. Rows of a leaf lie
// side by side, column by column, LEAF of them, so that a search measures many at once.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/common/team.hpp"
#include "kernels/near/found.hpp"

namespace tenfold {

constexpr size_t LEAF = 16;  // rows of a leaf at most, and its room

// The tree as a search sees it.
struct TreeView {
    size_t p, inner;
    const std::int32_t* column;  // by inner node
    const double* cut;
    const double* values;        // (leaves, p, LEAF)
    const std::int64_t* number;  // (leaves, LEAF): of the rows
    const size_t* start;         // rows before each leaf
    const double *low, *high;    // of all rows, by column
};

class TreeNodes {
public:
    explicit TreeNodes(Rows<const double> rows, size_t threads = 1) : p(rows.p), n(rows.n) {
        while ((n + (size_t{1} << depth) - 1) >> depth > LEAF) ++depth;
        inner = (size_t{1} << depth) - 1;
        column.resize(inner);
        cut.resize(inner);
        const size_t leaves = inner + 1;
        start.resize(leaves + 1);
        values.assign(leaves * p * LEAF, 0.0);
        number.assign(leaves * LEAF, 0);
        order.resize(n);
        for (size_t i = 0; i < n; ++i) order[i] = static_cast<std::int64_t>(i);
        low.assign(p, std::numeric_limits<double>::infinity());
        high.assign(p, -std::numeric_limits<double>::infinity());
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < p; ++j) low[j] = std::min(low[j], rows[i][j]), high[j] = std::max(high[j], rows[i][j]);
        line.resize(n);
        grow(rows, n < MANY ? 1 : threads);
        std::vector<std::int64_t>().swap(order);
        std::vector<Neighbor>().swap(line);
    }

    // Where a query lies: queries of one leaf, or of leaves side by side, look at the same rows.
    size_t leaf_of(const double* query) const {
        size_t at = 0;
        while (at < inner) at = 2 * at + (query[static_cast<size_t>(column[at])] < cut[at] ? 1 : 2);
        return at - inner;
    }

    // The queries in the order of their leaves, those of one leaf in their own.
    void sort_queries(Rows<const double> queries, std::int64_t* sorted) const {
        std::vector<size_t> leaf(queries.n), end(inner + 2);
        for (size_t q = 0; q < queries.n; ++q) ++end[(leaf[q] = leaf_of(queries[q])) + 1];
        for (size_t l = 0; l <= inner; ++l) end[l + 1] += end[l];
        for (size_t q = 0; q < queries.n; ++q) sorted[end[leaf[q]]++] = static_cast<std::int64_t>(q);
    }

    TreeView view() const {
        return {p, inner, column.data(), cut.data(), values.data(), number.data(), start.data(), low.data(), high.data()};
    }
    size_t width() const { return p; }
    size_t size() const { return n; }

private:
    static constexpr size_t MANY = size_t{1} << 14;  // rows, from which on threads share the work
    static constexpr size_t SHARED = 4;              // levels that are halved one after the other; what is below is shared out

    struct Branch {
        size_t at, begin, end;  // rows order[begin .. end) become node `at` and those below
    };

    void grow(Rows<const double> rows, size_t threads) {
        Team team(threads);
        std::vector<Branch> branches{{0, 0, n}}, next;
        for (size_t level = 0; level < std::min(depth, team.size() > 1 ? SHARED : 0); ++level) {
            next.resize(2 * branches.size());
            team.each(branches.size(), [&](size_t b) {
                std::vector<double> span(2 * p);
                const auto [at, begin, end] = branches[b];
                const size_t middle = halve(rows, span.data(), branches[b]);
                next[2 * b] = {2 * at + 1, begin, middle};
                next[2 * b + 1] = {2 * at + 2, middle, end};
            });
            branches.swap(next);
        }
        team.each(branches.size(), [&](size_t b) {
            std::vector<double> span(2 * p);
            split(rows, span.data(), branches[b]);
        });
    }

    void split(Rows<const double> rows, double* span, Branch branch) {
        const auto [at, begin, end] = branch;
        if (at >= inner) return fill(rows, branch);
        if ((end - begin) > (size_t{1} << 15) && stopped()) return;
        const size_t middle = halve(rows, span, branch);
        split(rows, span, {2 * at + 1, begin, middle});
        split(rows, span, {2 * at + 2, middle, end});
    }

    void fill(Rows<const double> rows, Branch branch) {
        const size_t leaf = branch.at - inner, begin = branch.begin, end = branch.end;
        std::sort(order.data() + begin, order.data() + end);
        start[leaf + 1] = end;
        for (size_t i = begin; i < end; ++i) {
            number[leaf * LEAF + i - begin] = order[i];
            for (size_t j = 0; j < p; ++j) values[(leaf * p + j) * LEAF + i - begin] = rows[static_cast<size_t>(order[i])][j];
        }
    }

    // Cuts a node at the median of its widest column; span: room for the least and the largest value of each. Where the second half begins.
    size_t halve(Rows<const double> rows, double* span, Branch branch) {
        const auto [at, begin, end] = branch;
        double *least = span, *most = span + p;
        std::fill_n(least, p, std::numeric_limits<double>::infinity());
        std::fill_n(most, p, -std::numeric_limits<double>::infinity());
        for (size_t i = begin; i < end; ++i) {
            const double* row = rows[static_cast<size_t>(order[i])];
            for (size_t j = 0; j < p; ++j) least[j] = std::min(least[j], row[j]), most[j] = std::max(most[j], row[j]);
        }
        size_t widest = 0;
        for (size_t j = 1; j < p; ++j)
            if (most[j] - least[j] > most[widest] - least[widest]) widest = j;
        // Rows of equal value are halved by their number, so that the tree depends on nothing else.
        const size_t middle = begin + (end - begin + 1) / 2;
        double here = begin < end ? most[widest] : 0.0;
        if (middle < end) {
            for (size_t i = begin; i < end; ++i) line[i] = {rows[static_cast<size_t>(order[i])][widest], order[i]};
            std::nth_element(line.data() + begin, line.data() + middle, line.data() + end, nearer);
            for (size_t i = begin; i < end; ++i) order[i] = line[i].row;
            here = line[middle].distance;
        }
        column[at] = static_cast<std::int32_t>(widest);
        cut[at] = here;  // rows of the first child are at most here, those of the second at least
        return middle;
    }

    size_t p, n, depth = 0, inner = 0;
    std::vector<std::int32_t> column;
    std::vector<double> cut, values, low, high;
    std::vector<std::int64_t> number, order;  // order, line: while the tree grows
    std::vector<Neighbor> line;
    std::vector<size_t> start;
};

}  // namespace tenfold
