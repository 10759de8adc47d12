// Documents as terms: words or characters, and those of them that follow one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/common/cancel.hpp"
#include "kernels/text/terms.hpp"

namespace tenfold::text {

// A text of the interpreter, as it lies in memory: characters of one size, which is that of the largest of them.
struct Document {
    const void* data;
    size_t length;
    int width;  // bytes of a character: 1, 2 or 4
};

// Which characters words are made of, and which part words: as the interpreter's own regular expressions see them.
struct Characters {
    bool word[256], space[256];
    bool (*is_word)(std::uint32_t);
    bool (*is_space)(std::uint32_t);

    template <class Char>
    bool in_word(Char c) const {
        return c < 256 ? word[c] : is_word(c);
    }
    template <class Char>
    bool parts(Char c) const {
        return c < 256 ? space[c] : is_space(c);
    }
};

enum class Unit { words, pieces, characters, characters_in_words };  // pieces: what is written between spaces

struct Analysis {
    Unit unit;
    size_t least;         // characters of a word
    bool lower;           // letters A to Z in lower case; all others are so already where it matters
    size_t shortest, longest;  // how many words or characters follow one another in a term
    const Terms* left_out;
    const Characters* characters;
};

// The terms of one document after the other. What lies in the buffer is written so that every term is a piece of it.
class Analyzer {
public:
    explicit Analyzer(const Analysis& how) : how_(how) {}

    // Calls take(term) for each term, in the order of the document; gives up where it returns false.
    template <class Take>
    bool analyze(const Document& document, Take&& take) {
        if (document.width == 1) return each(static_cast<const std::uint8_t*>(document.data), document.length, take);
        if (document.width == 2) return each(static_cast<const std::uint16_t*>(document.data), document.length, take);
        return each(static_cast<const std::uint32_t*>(document.data), document.length, take);
    }

private:
    template <class Char, class Take>
    bool each(const Char* text, size_t n, Take& take) {
        const Characters& known = *how_.characters;
        switch (how_.unit) {
            case Unit::words: return words(text, n, [&](Char c) { return known.in_word(c); }, take);
            case Unit::pieces: return words(text, n, [&](Char c) { return !known.parts(c); }, take);
            case Unit::characters: return characters(text, n, take);
            default: return characters_in_words(text, n, take);
        }
    }

    template <class Char, class Inside, class Take>
    bool words(const Char* text, size_t n, Inside&& inside, Take& take) {
        buffer_.clear(), begins_.clear(), ends_.clear();
        const bool single = how_.longest == 1;
        for (size_t i = 0; i < n;) {
            while (i < n && !inside(text[i])) ++i;
            const size_t first = i;
            while (i < n && inside(text[i])) ++i;
            if (i - first < how_.least || i == first) continue;
            const size_t before = buffer_.size();
            if (before) buffer_.push_back(' ');
            const size_t begin = buffer_.size();
            append(text + first, text + i);
            const Key word{buffer_.data() + begin, buffer_.size() - begin};
            if (how_.left_out && how_.left_out->find(word) != Terms::NONE) {
                buffer_.resize(before);
            } else if (single) {
                if (!take(word)) return false;
                buffer_.clear();
            } else {
                begins_.push_back(begin), ends_.push_back(buffer_.size());
                listen();
            }
        }
        for (size_t k = how_.shortest; !single && k <= how_.longest && k <= begins_.size(); ++k)
            for (size_t i = 0; i + k <= begins_.size(); ++i)
                if (!take(Key{buffer_.data() + begins_[i], ends_[i + k - 1] - begins_[i]})) return false;
        return true;
    }

    // Of several spaces that follow one another there is one.
    template <class Char, class Take>
    bool characters(const Char* text, size_t n, Take& take) {
        buffer_.clear(), begins_.clear();
        const Characters& known = *how_.characters;
        for (size_t i = 0; i < n;) {
            const size_t first = i;
            while (i < n && known.parts(text[i])) ++i;
            if (i - first > 1) put(' ');
            else put(text[i = first]), ++i;
            listen();
        }
        for (size_t k = how_.shortest; k <= how_.longest && k <= begins_.size(); ++k)
            for (size_t i = 0; i + k <= begins_.size(); ++i)
                if (!take(piece(i, k))) return false;
        return true;
    }

    // Of each word with a space before and behind it; a word that is too short counts once.
    template <class Char, class Take>
    bool characters_in_words(const Char* text, size_t n, Take& take) {
        const Characters& known = *how_.characters;
        for (size_t i = 0; i < n;) {
            while (i < n && known.parts(text[i])) ++i;
            if (i == n) break;
            buffer_.clear(), begins_.clear();
            put(' ');
            while (i < n && !known.parts(text[i])) put(text[i++]);
            put(' ');
            for (size_t k = how_.shortest; k <= how_.longest; ++k) {
                if (k >= begins_.size()) {
                    if (!take(piece(0, begins_.size()))) return false;
                    break;
                }
                for (size_t at = 0; at + k <= begins_.size(); ++at)
                    if (!take(piece(at, k))) return false;
            }
        }
        return true;
    }

    // A document may be long: now and then, whether anybody still wants it.
    void listen() {
        if (++steps_ % 8192 == 0) leave_if_stopped();
    }

    Key piece(size_t first, size_t k) const {
        const size_t begin = begins_[first], end = first + k < begins_.size() ? begins_[first + k] : buffer_.size();
        return {buffer_.data() + begin, end - begin};
    }

    template <class Char>
    void put(Char c) {
        begins_.push_back(buffer_.size());
        append(&c, &c + 1);
    }

    template <class Char>
    void append(const Char* from, const Char* to) {
        for (; from < to; ++from) {
            const std::uint32_t c = *from;
            if (c < 0x80) {
                buffer_.push_back(static_cast<char>(how_.lower && c - 'A' < 26 ? c + 32 : c));
            } else if (c < 0x800) {
                more(0xC0 | c >> 6), more(0x80 | (c & 0x3F));
            } else if (c < 0x10000) {
                more(0xE0 | c >> 12), more(0x80 | (c >> 6 & 0x3F)), more(0x80 | (c & 0x3F));
            } else {
                more(0xF0 | c >> 18), more(0x80 | (c >> 12 & 0x3F)), more(0x80 | (c >> 6 & 0x3F)), more(0x80 | (c & 0x3F));
            }
        }
    }
    void more(std::uint32_t byte) { buffer_.push_back(static_cast<char>(byte)); }

    Analysis how_;
    std::vector<char> buffer_;
    std::vector<size_t> begins_, ends_;
    size_t steps_ = 0;
};

}  // namespace tenfold::text
