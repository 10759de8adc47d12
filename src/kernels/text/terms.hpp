// Different texts with numbers in order of appearance, and lists of them as one text with the places where each ends.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace tenfold::text {

using Key = std::string_view;  // UTF-8, in which the order of bytes is that of characters

inline std::uint64_t first_bytes(Key key) {  // as a number that is in the order of the texts
    std::uint64_t found = 0;
    for (size_t i = 0; i < 8; ++i) found = found << 8 | (i < key.size() ? static_cast<std::uint8_t>(key[i]) : 0);
    return found;
}

inline std::uint64_t hash_of(Key key) {
    constexpr std::uint64_t ODD = 0x9E3779B97F4A7C15;
    std::uint64_t hash = key.size() * ODD;
    const char* at = key.data();
    for (size_t left = key.size(); left > 0;) {
        std::uint64_t piece = 0;
        const size_t length = std::min<size_t>(left, 8);
        std::memcpy(&piece, at, length);
        hash = (hash ^ piece) * ODD;
        hash ^= hash >> 29;
        at += length, left -= length;
    }
    hash *= ODD;
    return hash ^ hash >> 32;
}

// Terms one after another in one text.
struct TermList {
    std::span<const std::uint8_t> letters;
    std::span<const std::int64_t> ends;

    size_t size() const { return ends.size(); }
    Key operator[](size_t i) const {
        const std::int64_t begin = i ? ends[i - 1] : 0;
        return {reinterpret_cast<const char*>(letters.data()) + begin, static_cast<size_t>(ends[i] - begin)};
    }
    bool sound() const {
        std::int64_t before = 0;
        for (const std::int64_t end : ends) {
            if (end < before || end > static_cast<std::int64_t>(letters.size())) return false;
            before = end;
        }
        return true;
    }
};

// A hash table with open addressing; the texts lie one after another.
class Terms {
public:
    static constexpr std::uint32_t NONE = ~std::uint32_t{0};

    size_t size() const { return hashes_.size(); }
    size_t bytes() const { return letters_.size(); }
    Key operator[](size_t i) const {
        const size_t begin = i ? ends_[i - 1] : 0;
        return {letters_.data() + begin, ends_[i] - begin};
    }

    std::uint32_t find(Key key) const { return slots_.empty() ? NONE : slots_[place(key, hash_of(key))].number; }

    std::uint32_t number(Key key) {
        if (2 * (size() + 1) > slots_.size()) grow();
        const std::uint64_t hash = hash_of(key);
        Slot& slot = slots_[place(key, hash)];
        if (slot.number == NONE) {
            if (size() >= 0x7FFFFFFF) throw std::length_error("there are more than 2,147,483,647 different terms");
            letters_.insert(letters_.end(), key.begin(), key.end());
            ends_.push_back(letters_.size());
            hashes_.push_back(hash);
            slot = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(size() - 1)};
        }
        return slot.number;
    }

private:
    struct Slot {
        std::uint32_t tag = 0, number = NONE;
    };

    // Where the key is, or where it belongs.
    size_t place(Key key, std::uint64_t hash) const {
        const size_t mask = slots_.size() - 1;
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        for (size_t at = hash & mask;; at = (at + 1) & mask) {
            const Slot& slot = slots_[at];
            if (slot.number == NONE || (slot.tag == tag && (*this)[slot.number] == key)) return at;
        }
    }

    void grow() {
        std::vector<Slot> larger(std::max<size_t>(64, 2 * slots_.size()));
        const size_t mask = larger.size() - 1;
        for (size_t i = 0; i < size(); ++i) {
            size_t at = hashes_[i] & mask;
            while (larger[at].number != NONE) at = (at + 1) & mask;
            larger[at] = {static_cast<std::uint32_t>(hashes_[i] >> 32), static_cast<std::uint32_t>(i)};
        }
        slots_.swap(larger);
    }

    std::vector<Slot> slots_;
    std::vector<char> letters_;
    std::vector<size_t> ends_;
    std::vector<std::uint64_t> hashes_;
};

// The numbers of the terms in the order of the texts.
inline std::vector<std::uint32_t> sorted(const Terms& terms) {
    struct Start {
        std::uint64_t bytes;
        std::uint32_t number;
    };
    std::vector<Start> starts(terms.size());
    for (size_t i = 0; i < starts.size(); ++i) starts[i] = {first_bytes(terms[i]), static_cast<std::uint32_t>(i)};
    std::sort(starts.begin(), starts.end(), [&](const Start& a, const Start& b) {
        return a.bytes != b.bytes ? a.bytes < b.bytes : terms[a.number] < terms[b.number];
    });
    std::vector<std::uint32_t> order(starts.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = starts[i].number;
    return order;
}

// Where each term is in a sorted list, −1 where it is not.
inline void find(const TermList& terms, const TermList& known, std::int64_t* places) {
    for (size_t i = 0; i < terms.size(); ++i) {
        const Key key = terms[i];
        size_t low = 0, high = known.size();
        while (low < high) {
            const size_t middle = low + (high - low) / 2;
            known[middle] < key ? low = middle + 1 : high = middle;
        }
        places[i] = low < known.size() && known[low] == key ? static_cast<std::int64_t>(low) : -1;
    }
}

// The places of the terms of two sorted lists in the sorted list of both; returns how many it has, and how long its text is.
struct Joined {
    size_t size, bytes;
};
inline Joined join(const TermList& a, const TermList& b, std::int64_t* of_a, std::int64_t* of_b) {
    size_t i = 0, j = 0, bytes = 0, n = 0;
    for (; i < a.size() || j < b.size(); ++n) {
        const int order = i == a.size() ? 1 : j == b.size() ? -1 : a[i].compare(b[j]);
        bytes += (order <= 0 ? a[i] : b[j]).size();
        if (order <= 0) of_a[i++] = static_cast<std::int64_t>(n);
        if (order >= 0) of_b[j++] = static_cast<std::int64_t>(n);
    }
    return {n, bytes};
}

// MurmurHash3 of 32 bits (Appleby 2008), seed 0.
inline std::int32_t murmur(Key key) {
    constexpr std::uint32_t C1 = 0xCC9E2D51, C2 = 0x1B873593;
    const auto byte = [&](size_t i) { return static_cast<std::uint32_t>(static_cast<std::uint8_t>(key[i])); };
    const auto mixed = [](std::uint32_t k) { return std::rotl(k * C1, 15) * C2; };
    std::uint32_t hash = 0;
    size_t i = 0;
    for (; i + 4 <= key.size(); i += 4) {
        const std::uint32_t four = byte(i) | byte(i + 1) << 8 | byte(i + 2) << 16 | byte(i + 3) << 24;
        hash = std::rotl(hash ^ mixed(four), 13) * 5 + 0xE6546B64;
    }
    std::uint32_t rest = 0;
    for (size_t j = key.size(); j > i; --j) rest = rest << 8 | byte(j - 1);
    if (i < key.size()) hash ^= mixed(rest);
    hash ^= static_cast<std::uint32_t>(key.size());
    hash = (hash ^ hash >> 16) * 0x85EBCA6B;
    hash = (hash ^ hash >> 13) * 0xC2B2AE35;
    return static_cast<std::int32_t>(hash ^ hash >> 16);
}

}  // namespace tenfold::text
