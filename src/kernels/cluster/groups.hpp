// Groups of dense rows from lists of the rows that are near each, block by block.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/cluster/joined.hpp"

namespace tenfold {

class Groups {
public:
    explicit Groups(size_t n) : above_(n) {
        for (size_t i = 0; i < n; ++i) above_[i] = static_cast<Place>(i);
    }

    size_t size() const { return above_.size(); }

    // Rows first + q of a block, and those near each. Whether rows below `known` are dense is known by now; pairs with later ones
    // are seen from the other side.
    void add(size_t first, const std::int64_t* start, size_t block, const std::int64_t* row, const std::uint8_t* dense, size_t known) {
        const size_t before = border_.size();
        for (size_t q = 0; q < block; ++q) {
            if (q % 64 == 0 && stopped()) return;
            const auto me = static_cast<Place>(first + q);
            for (std::int64_t i = start[q]; i < start[q + 1]; ++i) {
                const auto other = static_cast<Place>(row[i]);
                if (static_cast<size_t>(other) >= known) continue;
                if (dense[me] && dense[other]) join(above_.data(), me, other);
                else if (dense[me]) border_.emplace_back(other, me);
                else if (dense[other]) border_.emplace_back(me, other);
            }
        }
        // Of the groups that a row borders on, each once: rows of small weight may be near many.
        for (size_t i = before; i < border_.size(); ++i) border_[i].second = root_of(above_.data(), border_[i].second);
        std::sort(border_.begin() + static_cast<std::ptrdiff_t>(before), border_.end());
        border_.erase(std::unique(border_.begin() + static_cast<std::ptrdiff_t>(before), border_.end()), border_.end());
    }

    // Groups of dense rows are numbered by their first row; a row on a border is of the first group near it, any other of none.
    void label(const std::uint8_t* dense, std::int64_t* label) {
        std::int64_t count = 0;
        for (size_t i = 0; i < size(); ++i) {
            const auto root = static_cast<size_t>(root_of(above_.data(), static_cast<Place>(i)));
            label[i] = !dense[i] ? -1 : root == i ? count++ : label[root];
        }
        for (const auto& [row, near] : border_) {
            std::int64_t& mine = label[row];
            if (mine < 0 || label[near] < mine) mine = label[near];
        }
    }

private:
    std::vector<Place> above_;
    std::vector<std::pair<Place, Place>> border_;  // a row that is not dense, and a dense one near it
};

}  // namespace tenfold
