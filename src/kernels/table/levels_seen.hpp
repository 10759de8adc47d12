// The different texts of a column, numbered in the order in which they come.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace tenfold {

class LevelsSeen {
public:
    static constexpr std::uint32_t NONE = 0;  // the number of no text at all; texts have those from 1

    explicit LevelsSeen(std::size_t most) : most_(most), slots_(64) {}

    // The number of a text that stays where it is, NONE where there would be too many; `head` is that of the text.
    std::uint32_t number(std::string_view text, std::uint64_t head) {
        const std::uint64_t hash = hash_of(text, head);
        std::size_t place = hash & (slots_.size() - 1);
        for (; slots_[place].number != NONE; place = (place + 1) & (slots_.size() - 1)) {
            const Slot& slot = slots_[place];
            if (slot.head == head && slot.text.size() == text.size() &&
                (text.size() <= 8 || std::memcmp(slot.text.data(), text.data(), text.size()) == 0))
                return slot.number;
        }
        if (texts_.size() == most_) return NONE;
        texts_.push_back(text);
        const auto number = static_cast<std::uint32_t>(texts_.size());
        slots_[place] = {head, text, number};
        if (2 * texts_.size() > slots_.size()) grow();
        return number;
    }
    const std::vector<std::string_view>& texts() const { return texts_; }

    // Its first eight bytes, or all of them and zeros; eight can be read.
    static std::uint64_t head_of_padded(const char* text, std::size_t length) {
        std::uint64_t head;
        std::memcpy(&head, text, 8);
        return length >= 8 ? head : head & ((std::uint64_t{1} << 8 * length) - 1);
    }

private:
    struct Slot {
        std::uint64_t head = 0;
        std::string_view text;
        std::uint32_t number = NONE;
    };

    static std::uint64_t head_of(std::string_view text) {
        std::uint64_t head = 0;
        std::memcpy(&head, text.data(), text.size() < 8 ? text.size() : 8);
        return head;
    }
    static std::uint64_t hash_of(std::string_view text, std::uint64_t head) {
        constexpr std::uint64_t MIX = 0x9E3779B97F4A7C15;
        std::uint64_t hash = (head ^ text.size()) * MIX;
        for (std::size_t at = 8; at < text.size(); at += 8) {
            const std::size_t left = text.size() - at;
            hash = ((hash ^ hash >> 32) + head_of(text.substr(at, left < 8 ? left : 8))) * MIX;
        }
        return hash ^ hash >> 29;
    }
    void grow() {
        std::vector<Slot> larger(2 * slots_.size());
        for (const Slot& slot : slots_) {
            if (slot.number == NONE) continue;
            std::size_t place = hash_of(slot.text, slot.head) & (larger.size() - 1);
            while (larger[place].number != NONE) place = (place + 1) & (larger.size() - 1);
            larger[place] = slot;
        }
        slots_.swap(larger);
    }

    std::size_t most_;
    std::vector<Slot> slots_;
    std::vector<std::string_view> texts_;
};

}  // namespace tenfold
