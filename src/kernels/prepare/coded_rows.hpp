// A table coded as a matrix: numbers scaled, categories as columns 0/1 that are scaled too. Some rows at a time, so that each is
// written while it is at hand.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/common/rows_view.hpp"

namespace tenfold {

// Either numbers, NaN where one is missing, or the places of levels among the columns of a category, below zero for none of them.
struct CodedColumn {
    const double* numbers = nullptr;
    const std::uint32_t* codes = nullptr;
    const std::int64_t* places = nullptr;  // by code
    size_t start = 0, width = 1;  // its columns of the matrix: a number may have a second one for "is missing"
};

struct Scaling {
    const double *mean, *scale;
    const double *low, *high;  // 0 and 1, scaled
};

struct Cell {
    size_t column, row;
};

class CodedRows {
public:
    CodedRows(const std::vector<CodedColumn>& columns, Scaling scaling, Rows<double> out) : columns_(columns), scaling_(scaling), out_(out) {}

    // The first cell whose scaled number is not finite, if there is one.
    std::optional<Cell> fill() {
        for (size_t begin = 0; begin < out_.n; begin += TILE) {
            leave_if_stopped();
            const size_t end = std::min(out_.n, begin + TILE);
            for (size_t c = 0; c < columns_.size(); ++c) {
                if (!columns_[c].numbers) write_levels(columns_[c], begin, end);
                else if (const size_t bad = write_numbers(columns_[c], begin, end); bad < end) return Cell{c, bad};
            }
        }
        return {};
    }

private:
    static constexpr size_t TILE = 256;  // rows

    // Where a number is not finite; `end` where all are.
    size_t write_numbers(const CodedColumn& column, size_t begin, size_t end) {
        const double mean = scaling_.mean[column.start], scale = scaling_.scale[column.start];
        const double* x = column.numbers + begin;
        double scaled[TILE];
        bool odd = false;  // a gap, or not finite
        for (size_t i = 0; i < end - begin; ++i) {
            scaled[i] = (x[i] - mean) / scale;
            odd |= !(std::abs(scaled[i]) <= std::numeric_limits<double>::max());
        }
        double* z = out_[begin] + column.start;
        if (!odd) {
            for (size_t i = 0; i < end - begin; ++i) z[i * out_.p] = scaled[i];
        } else {
            for (size_t i = 0; i < end - begin; ++i) {
                const bool gap = std::isnan(x[i]);
                if (!gap && !std::isfinite(scaled[i])) return begin + i;
                z[i * out_.p] = gap ? 0.0 : scaled[i];
            }
        }
        if (column.width > 1)
            for (size_t i = 0; i < end - begin; ++i)
                z[i * out_.p + 1] = std::isnan(x[i]) ? scaling_.high[column.start + 1] : scaling_.low[column.start + 1];
        return end;
    }

    void write_levels(const CodedColumn& column, size_t begin, size_t end) {
        const double *low = scaling_.low + column.start, *high = scaling_.high + column.start;
        double* z = out_[begin] + column.start;
        for (size_t i = begin; i < end; ++i, z += out_.p) {
            for (size_t k = 0; k < column.width; ++k) z[k] = low[k];
            const std::int64_t place = column.places[column.codes[i]];
            if (place >= 0) z[place] = high[place];
        }
    }

    const std::vector<CodedColumn>& columns_;
    Scaling scaling_;
    Rows<double> out_;
};

}  // namespace tenfold
