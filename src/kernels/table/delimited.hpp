// Rows of delimited text as columns of numbers, moments and numbered levels, in one pass.
//
// Only what is certain is read: a text in which rows, quotes or line ends are not plain is refused as a whole, and a column with a
// cell that is not of its kind by itself. Whoever calls has another reader for those.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "kernels/common/cancel.hpp"
#include "kernels/table/levels_seen.hpp"
#include "kernels/table/marks.hpp"
#include "kernels/table/numbers.hpp"

namespace tenfold {

enum class CellKind : char { skipped, number, moment, level };
constexpr std::int64_t NO_MOMENT = std::numeric_limits<std::int64_t>::min();

// A column: what is to be read, where to, and what was found.
struct CellColumn {
    CellKind kind = CellKind::skipped;
    DateForm form{};
    double* numbers = nullptr;  // NaN for missing
    std::int64_t* moments = nullptr;  // NO_MOMENT for missing
    std::uint32_t* codes = nullptr;  // LevelsSeen::NONE for missing
    std::optional<LevelsSeen> levels;
    std::size_t gaps = 0;
    bool clock = false, failed = false;
};

class DelimitedReader {
public:
    // `words` in lower case: what stands for a missing number or moment, besides nothing.
    DelimitedReader(Marks marks, std::vector<CellColumn>& columns, const std::vector<std::string>& words)
        : marks_(marks), columns_(columns), words_(words) {}

    // The number of rows; none where the text is refused.
    std::optional<std::size_t> read(std::string_view text) {
        std::size_t window = std::max<std::size_t>(WINDOW, 64 * columns_.size()), at = 0;
        rows_ = 0;
        while (at < text.size()) {
            leave_if_stopped();
            const std::size_t length = std::min(window, text.size() - at);
            room_for(length);
            std::memcpy(buffer_.get(), text.data() + at, length);
            const bool last = at + length == text.size(), added = last && text.back() != '\n';
            if (added) buffer_[length] = '\n';  // so that the last row ends as the others do
            std::memset(buffer_.get() + length + added, 0, BEYOND);
            const std::size_t used = split(length + added);
            if (refused_ || (last && used < length + added)) return {};
            source_ = text.data() + at;
            for (std::size_t j = 0; j < columns_.size(); ++j) read_column(j);
            rows_ += cells_.size() / columns_.size();
            at += used;
            if (used == 0) window *= 2;  // a row longer than that
        }
        return rows_;
    }

private:
    static constexpr std::size_t WINDOW = std::size_t{1} << 14;
    enum class State { plain, inside, closed };
    struct Cell {
        std::uint32_t begin, end;
    };

    void room_for(std::size_t length) {
        if (length <= room_) return;
        buffer_ = std::make_unique_for_overwrite<char[]>(length + 1 + BEYOND);
        places_ = std::make_unique_for_overwrite<std::uint32_t[]>(length + 1);
        room_ = length;
    }

    // The cells of the whole rows among the first `length` characters; returns where these end.
    std::size_t split(std::size_t length) {
        const char* text = buffer_.get();
        const std::size_t found = find_marks(text, length, marks_, places_.get()), width = columns_.size();
        cells_.resize(found);
        std::size_t used = 0, n = 0, whole = 0, j = 0;
        std::uint32_t begin = 0;
        State state = State::plain;
        for (std::size_t k = 0; k < found; ++k) {
            const std::uint32_t place = places_[k];
            const char c = text[place];
            if (c == marks_.separator && state == State::plain && j + 1 < width) {  // nearly always
                cells_[n++] = {begin, place};
                begin = place + 1;
                ++j;
                continue;
            }
            if (state != State::plain) {
                if (state == State::inside) {
                    if (c == marks_.quote) state = State::closed;
                    continue;
                }
                if (places_[k - 1] + 1 != place) return refuse();  // something follows the closing quote
                state = c == marks_.quote ? State::inside : State::plain;  // a doubled quote stands for one
                if (state == State::inside) continue;
            }
            std::uint32_t end = place;
            if (c == marks_.quote) {
                if (place != begin) return refuse();
                state = State::inside;
                continue;
            }
            if (c == '\r') {
                if (text[place + 1] != '\n') return refuse();
                ++k;
            }
            const bool ends_row = c != marks_.separator;
            if (ends_row != (j + 1 == width)) return refuse();  // more or fewer cells than columns
            if (ends_row && width > 1 && end == begin && j == 0) return refuse();
            cells_[n++] = {begin, end};
            begin = (c == '\r' ? place + 1 : place) + 1;
            j = ends_row ? 0 : j + 1;
            if (ends_row) whole = n, used = begin;
        }
        cells_.resize(whole);
        return used;
    }
    std::size_t refuse() {
        refused_ = true;
        cells_.clear();
        return 0;
    }

    void read_column(std::size_t j) {
        CellColumn& column = columns_[j];
        if (column.failed) return;
        switch (column.kind) {
            case CellKind::skipped: return;
            case CellKind::number: return each(j, column.numbers, std::numeric_limits<double>::quiet_NaN(), [](auto text, auto length, double& out) {
                return read_number(text, length, out);
            });
            case CellKind::moment: return each(j, column.moments, NO_MOMENT, [&](auto text, auto length, std::int64_t& out) {
                return read_moment(text, length, column.form, out, column.clock);
            });
            case CellKind::level: return read_levels(j);
        }
    }

    // Reads every cell of column j; one that cannot be read is missing, or the column fails.
    template <class T, class Read>
    void each(std::size_t j, T* out, T missing, Read read) {
        CellColumn& column = columns_[j];
        const std::size_t width = columns_.size();
        T* next = out + rows_;
        for (std::size_t i = j; i < cells_.size(); i += width, ++next) {
            const char* text = buffer_.get() + cells_[i].begin;
            std::size_t length = cells_[i].end - cells_[i].begin;
            if (read(text, length, *next)) continue;
            trim(text, length);
            if (length == 0 || says_missing({text, length})) {
                *next = missing;
                ++column.gaps;
            } else if (!read(text, length, *next)) {
                column.failed = true;
                return;
            }
        }
    }

    void read_levels(std::size_t j) {
        CellColumn& column = columns_[j];
        const std::size_t width = columns_.size();
        std::uint32_t* next = column.codes + rows_;
        for (std::size_t i = j; i < cells_.size(); i += width, ++next) {
            std::size_t begin = cells_[i].begin, length = cells_[i].end - begin;
            if (length == 0) {
                *next = LevelsSeen::NONE;
                ++column.gaps;
                continue;
            }
            if (buffer_[begin] == marks_.quote) {
                ++begin;
                length -= 2;
                if (std::memchr(buffer_.get() + begin, marks_.quote, length)) {  // quotes within quotes
                    column.failed = true;
                    return;
                }
            }
            *next = column.levels->number({source_ + begin, length}, LevelsSeen::head_of_padded(buffer_.get() + begin, length));
            if (*next == LevelsSeen::NONE) {
                column.failed = true;
                return;
            }
        }
    }

    // Without quotes and blanks around it.
    void trim(const char*& text, std::size_t& length) const {
        if (length > 1 && *text == marks_.quote) {
            ++text;
            length -= 2;
        }
        const auto blank = [](char c) { return c == ' ' || c == '\t'; };
        for (; length && blank(*text); ++text) --length;
        while (length && blank(text[length - 1])) --length;
    }

    bool says_missing(std::string_view text) {
        if (text == word_) return true;
        std::string lower(text.substr(0, LONGEST_WORD + 1));
        for (char& c : lower)
            if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        if (std::find(words_.begin(), words_.end(), lower) == words_.end()) return false;
        word_ = text;
        return true;
    }

    static constexpr std::size_t LONGEST_WORD = 32;

    Marks marks_;
    std::vector<CellColumn>& columns_;
    const std::vector<std::string>& words_;
    std::unique_ptr<char[]> buffer_;  // some of the text, and what may be read behind it
    std::unique_ptr<std::uint32_t[]> places_;
    std::size_t room_ = 0, rows_ = 0;
    std::vector<Cell> cells_;  // of whole rows, row by row
    const char* source_ = nullptr;  // what the buffer is a copy of
    std::string word_;  // the last word for a missing value
    bool refused_ = false;
};

}  // namespace tenfold
