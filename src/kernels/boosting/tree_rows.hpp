// Who has the rows while a tree of boosting grows: it sums the terms of a node's rows over bins, and parts rows by a split.
#pragma once

#include <numeric>

#include "kernels/boosting/tree_builder.hpp"

namespace tenfold {

// flag_rows: flags[i] = whether row rows[i] goes left, where the codes of the column are `apart` from row to row; returns how many
// do. Bytes, and the few codes of categories, are looked up.
template <class Code>
size_t flag_rows(const Split& split, std::int32_t missing, std::span<const std::uint32_t> rows, const Code* column, size_t apart,
                 std::uint8_t* flags) {
    const auto by = [&](const auto& goes_left) {
        size_t lefts = 0;
        for (size_t i = 0; i < rows.size(); ++i) {
            flags[i] = goes_left(column[rows[i] * apart]);
            lefts += flags[i];
        }
        return lefts;
    };
    if (sizeof(Code) > 1 && !split.by_set) {
        const std::int32_t bin = split.bin;
        const bool otherwise = split.missing_left;
        return by([=](std::int32_t code) { return code == missing ? otherwise : code <= bin; });
    }
    std::array<bool, 256> left;
    for (size_t c = 0; c < left.size(); ++c) left[c] = split.goes_left(static_cast<std::int32_t>(c), missing);
    return by([&](Code code) { return left[code & 255]; });
}

// The leaf of a row, by its codes.
template <class Code>
size_t leaf_of(const std::vector<BoostNode>& nodes, const std::uint16_t* missing, const Code* codes) {
    size_t node = 0;
    while (nodes[node].left >= 0) {
        const size_t j = static_cast<size_t>(nodes[node].split.feature);
        node = static_cast<size_t>(nodes[node].split.goes_left(codes[j], missing[j]) ? nodes[node].left : nodes[node].right);
    }
    return node;
}

class TreeRows {
public:
    TreeRows(const Codes& codes, size_t n, const Columns& columns, Team& team, const BoostKernels& kernels)
        : codes_(codes), n_(n), columns_(columns), team_(team), kernels_(kernels), terms_(n) {
        rows_[0].resize(n);
        rows_[1].resize(n);
        flags_.resize(n);
        by_column_.resize(n * columns_.p() << codes.wide);
        codes_.visit([&]<class Code>(const Code* table) {
            team_.ranges(n, 1024, [&](size_t a, size_t b) {
                for (size_t j = 0; j < columns_.p(); ++j)
                    for (size_t i = a; i < b; ++i) column<Code>(j)[i] = table[i * codes_.width + j];
            });
        });
    }

    // What each thread of the team needs for itself.
    void equip() {
        while (scratch_.size() < team_.size())
            scratch_.push_back(std::make_unique<std::uint8_t[]>((codes_.row_bytes() + sizeof(Sum)) * 2048 + 64));
        if (codes_.wide && condensers_.size() < team_.size())
            condensers_.resize(team_.size(), Condenser(*std::max_element(columns_.missing.begin(), columns_.missing.end())));
    }

    Sum* terms() { return terms_.data(); }
    size_t n() const { return n_; }
    std::span<const std::uint32_t> of(size_t node) const {
        const Range& range = ranges_[node];
        return {rows_[range.side].data() + range.begin, range.end - range.begin};
    }

    // These rows (none given: all), in ascending order, are those of node 0.
    void take(std::span<const std::uint32_t> rows) {
        all_ = rows.empty();
        if (all_) team_.ranges(n_, 1 << 16, [&](size_t a, size_t b) { std::iota(&rows_[0][a], &rows_[0][0] + b, a); });
        else std::copy(rows.begin(), rows.end(), rows_[0].begin());
        ranges_.assign(1, {0, all_ ? n_ : rows.size(), 0});
    }

    // Sums the terms of a node's rows; with several threads the others' parts are left behind. Returns how many those are.
    size_t sum(size_t node, Sum* histogram) {
        const Layout layout{columns_.offset.data(), columns_.p()};
        const size_t n = of(node).size(), bytes = columns_.total() * sizeof(Sum);
        const std::uint32_t* rows = all_ && n == n_ ? nullptr : of(node).data();
        if (n < SHARED_ROWS || team_.size() == 1) {
            std::memset(static_cast<void*>(histogram), 0, bytes);
            kernels_.build_histogram({codes_, terms_.data(), rows, n}, layout, histogram, scratch_[0].get());
            return 0;
        }
        const size_t step = 2048;
        std::atomic<size_t> next{0};
        team_.run([&](size_t t) {
            Sum* mine = t == 0 ? histogram : parts_[t - 1].get();
            std::memset(static_cast<void*>(mine), 0, bytes);
            for (size_t a = next.fetch_add(step); a < n; a = next.fetch_add(step)) {
                const size_t m = std::min(step, n - a);
                const NodeRows part = rows ? NodeRows{codes_, terms_.data(), rows + a, m}
                                           : NodeRows{codes_.from(a), terms_.data() + a, nullptr, m};
                kernels_.build_histogram(part, layout, mine, scratch_[t].get());
            }
        });
        return team_.size() - 1;
    }

    // Where a thread but the first sums.
    void lend_part(Histogram part) { parts_.push_back(std::move(part)); }
    size_t n_parts() const { return parts_.size(); }

    void add_parts(Sum* histogram, size_t parts, size_t begin, size_t end) const {
        for (size_t t = 0; t < parts; ++t) {
            const Sum* part = parts_[t].get();
            for (size_t b = begin; b < end; ++b) histogram[b] = histogram[b] + part[b];
        }
    }

    // Whether a node has fewer rows than columns have bins, in the mean: it takes no histogram, columns are summed when looked at.
    bool few(std::int64_t rows) const { return codes_.wide && static_cast<size_t>(rows) * columns_.p() < columns_.total(); }
    // Column j of such a node; valid until thread t asks again.
    ColumnSums condensed(size_t node, size_t j, size_t t) {
        ColumnSums found;
        codes_.visit([&]<class Code>(const Code*) {
            found = condensers_[t](column<Code>(j), of(node), terms_.data(), columns_.missing[j]);
        });
        return found;
    }

    // Rows of a node go to the other list, those that go left first, in their order. Its children are the next two nodes.
    void part(size_t node, const Split& split) {
        const Range range = ranges_[node];
        const size_t n = range.end - range.begin, step = 1 << 13, pieces = (n + step - 1) / step;
        const std::uint32_t* from = rows_[range.side].data() + range.begin;
        std::uint32_t* to = rows_[1 - range.side].data() + range.begin;
        const size_t j = static_cast<size_t>(split.feature);
        std::vector<size_t> count(pieces + 1, 0);
        std::uint8_t* flags = flags_.data();
        codes_.visit([&]<class Code>(const Code*) {
            team_.each(pieces, [&](size_t k) {
                const size_t start = k * step, m = std::min(step, n - start);
                count[k + 1] = flag_rows(split, columns_.missing[j], {from + start, m}, column<Code>(j), 1, flags + start);
            });
        });
        for (size_t k = 0; k < pieces; ++k) count[k + 1] += count[k];
        team_.each(pieces, [&](size_t k) {
            const size_t start = k * step, end = std::min(n, start + step);
            kernels_.part_rows(from + start, flags + start, end - start, to + count[k],
                               to + count[pieces] + (start - count[k]));
        });
        const size_t middle = range.begin + count[pieces];
        ranges_.push_back({range.begin, middle, 1 - range.side});
        ranges_.push_back({middle, range.end, 1 - range.side});
    }

    // Adds the value of its leaf to each row of `raw`; rows that are not in the tree walk down.
    void update(const std::vector<BoostNode>& nodes, double* raw) {
        std::vector<std::pair<size_t, size_t>> pieces;
        constexpr size_t PIECE = 1 << 14;
        for (size_t i = 0; i < nodes.size(); ++i)
            if (nodes[i].left < 0)
                for (size_t at = 0; at < of(i).size(); at += PIECE) pieces.push_back({i, at});
        const auto piece = [&](size_t k) {
            const auto rows = of(pieces[k].first).subspan(pieces[k].second);
            return rows.first(std::min(rows.size(), PIECE));
        };
        team_.each(pieces.size(), [&](size_t k) {
            const double value = nodes[pieces[k].first].value;
            for (const std::uint32_t row : piece(k)) raw[row] += value;
        });
        if (all_) return;
        std::vector<std::uint64_t> inside(n_ / 64 + 1);
        for (size_t k = 0; k < pieces.size(); ++k)
            for (const std::uint32_t row : piece(k)) inside[row / 64] |= std::uint64_t{1} << row % 64;
        codes_.visit([&](const auto* table) {
            team_.ranges(n_, PIECE, [&](size_t a, size_t b) {
                for (size_t i = a; i < b; ++i)
                    if (!(inside[i / 64] >> (i % 64) & 1))
                        raw[i] += nodes[leaf_of(nodes, columns_.missing.data(), table + i * codes_.width)].value;
            });
        });
    }

private:
    static constexpr size_t SHARED_ROWS = 4096;  // nodes of fewer rows are summed by one thread

    struct Range {
        size_t begin, end;  // in the list of its side
        int side;
    };

    // The codes of column j, one after the other.
    template <class Code>
    Code* column(size_t j) {
        return reinterpret_cast<Code*>(by_column_.data()) + j * n_;
    }

    Codes codes_;
    size_t n_;
    const Columns& columns_;
    Team& team_;
    const BoostKernels& kernels_;
    std::vector<Sum> terms_;
    std::vector<std::uint32_t> rows_[2];
    std::vector<std::uint8_t> flags_, by_column_;  // the codes once more, column by column: for moving rows
    std::vector<std::unique_ptr<std::uint8_t[]>> scratch_;
    std::vector<Condenser> condensers_;  // of the threads, where columns may have many bins
    std::vector<Histogram> parts_;
    std::vector<Range> ranges_;  // of the nodes
    bool all_ = true;
};

}  // namespace tenfold
