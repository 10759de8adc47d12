// A k-d tree: rows are halved at the median of their widest column until few are left.
//
// The tree is complete: node i has children 2 i + 1 and 2 i + 2, and the leaves are all on the last level. Rows of a leaf lie
// side by side, column by column, LEAF of them, so that a search measures many at once.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

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

    explicit TreeNodes(Rows<const double> rows) : p(rows.p), n(rows.n) {
        while ((n + (size_t{1} << depth) - 1) >> depth > LEAF) ++depth;
        inner = (size_t{1} << depth) - 1;
        column.resize(inner);
        cut.resize(inner);
        const size_t leaves = inner + 1;
        start.resize(leaves + 1);
        values.assign(leaves * p * LEAF, 0.0);
        number.assign(leaves * LEAF, 0);
        std::vector<std::int64_t> order(n);
        for (size_t i = 0; i < n; ++i) order[i] = static_cast<std::int64_t>(i);
        low.assign(p, std::numeric_limits<double>::infinity());
        high.assign(p, -std::numeric_limits<double>::infinity());
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < p; ++j) low[j] = std::min(low[j], rows[i][j]), high[j] = std::max(high[j], rows[i][j]);
        std::vector<Neighbor> line(n);
        std::vector<double> least(p), most(p);
        split(rows, order.data(), line.data(), least.data(), most.data(), 0, 0, n);
    }

    TreeView view() const {
        return {p, inner, column.data(), cut.data(), values.data(), number.data(), start.data(), low.data(), high.data()};
    }
    size_t width() const { return p; }
    size_t size() const { return n; }

private:
    // Rows order[begin .. end) become node `at`.
    void split(Rows<const double> rows, std::int64_t* order, Neighbor* line, double* least, double* most, size_t at, size_t begin,
               size_t end) {
        if (at >= inner) {
            const size_t leaf = at - inner;
            std::sort(order + begin, order + end);
            start[leaf + 1] = end;
            for (size_t i = begin; i < end; ++i) {
                number[leaf * LEAF + i - begin] = order[i];
                for (size_t j = 0; j < p; ++j) values[(leaf * p + j) * LEAF + i - begin] = rows[static_cast<size_t>(order[i])][j];
            }
            return;
        }
        if ((end - begin) > (size_t{1} << 15) && stopped()) return;
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
            std::nth_element(line + begin, line + middle, line + end, nearer);
            for (size_t i = begin; i < end; ++i) order[i] = line[i].row;
            here = line[middle].distance;
        }
        column[at] = static_cast<std::int32_t>(widest);
        cut[at] = here;  // rows of the first child are at most here, those of the second at least
        split(rows, order, line, least, most, 2 * at + 1, begin, middle);
        split(rows, order, line, least, most, 2 * at + 2, middle, end);
    }

    size_t p, n, depth = 0, inner = 0;
    std::vector<std::int32_t> column;
    std::vector<double> cut, values, low, high;
    std::vector<std::int64_t> number;
    std::vector<size_t> start;
};

}  // namespace tenfold
