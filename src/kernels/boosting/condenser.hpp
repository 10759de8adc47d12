// A column of a node with few rows: a histogram of the bins that have some, and the first, in time that depends on the rows.
#pragma once

#include <bit>
#include <utility>
#include <vector>

#include "kernels/boosting/histogram.hpp"

namespace tenfold {

// The histogram of a column in a node: sums of its bins, then of missing values.
struct ColumnSums {
    const Sum* sums = nullptr;
    size_t bins = 0;
    const std::uint16_t* numbers = nullptr;  // of the bins that are there; all are: none

    std::int32_t number(size_t b) const { return static_cast<std::int32_t>(numbers ? numbers[b] : b); }
};

// Memory in which columns are summed, one after the other. All sums are zero between them but those last given out.
class Condenser {
public:
    explicit Condenser(size_t missing) : sums_(missing + 2), seen_(missing / 64 + 1), numbers_(missing + 1) {}

    // Valid until the next call. `missing`, the code of missing values, is the largest.
    template <class Code>
    ColumnSums operator()(const Code* column, std::span<const std::uint32_t> rows, const Sum* terms, size_t missing) {
        std::fill_n(sums_.begin(), used_, Sum{});
        if (missing < FEW_BINS) {
            for (const std::uint32_t row : rows) sums_[column[row]] = sums_[column[row]] + terms[row];
            used_ = missing + 1;
            return {sums_.data(), missing};
        }
        seen_[0] = 1;  // the first bin is always there: missing values may go left of all others
        for (const std::uint32_t row : rows) {
            const size_t code = column[row];
            sums_[code] = sums_[code] + terms[row];
            seen_[code / 64] |= std::uint64_t{1} << code % 64;
        }
        size_t n = 0;
        for (size_t word = 0; word <= missing / 64; ++word)
            for (std::uint64_t bits = std::exchange(seen_[word], 0); bits != 0; bits &= bits - 1) {
                const size_t bin = 64 * word + static_cast<size_t>(std::countr_zero(bits));
                const Sum sum = std::exchange(sums_[bin], Sum{});
                sums_[n] = sum;  // n is at most bin
                numbers_[n++] = static_cast<std::uint16_t>(bin);
            }
        if (numbers_[n - 1] == missing) --n;
        used_ = n + 1;
        return {sums_.data(), n, numbers_.data()};
    }

private:
    static constexpr size_t FEW_BINS = 256;  // of which none is left out

    std::vector<Sum> sums_;
    std::vector<std::uint64_t> seen_;  // which bins have rows
    std::vector<std::uint16_t> numbers_;
    size_t used_ = 0;
};

}  // namespace tenfold
