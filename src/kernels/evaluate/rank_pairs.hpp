// Pairs of a positive and a negative row, and which of the two has the larger score: what the area under a
// ROC curve counts.
//
// Nothing is sorted to the end. Rows are scattered into buckets of neighbouring scores, by class; each bucket
// into smaller ones by the range of its own scores; and the few rows of the smallest are compared one by one.
// Pairs of rows in different buckets need only the weight of each class in each bucket.
#pragma once

#include <array>
#include <bit>
#include <memory>
#include <vector>

#include "kernels/common/simd.hpp"

namespace tenfold::TENFOLD_LEVEL {

// A score as a whole number in the same order; -0 is 0.
template <class T>
TENFOLD_INLINE std::int64_t rank_key(T score) {
    const auto bits = std::bit_cast<std::int64_t>(static_cast<double>(score) + 0.0);
    return bits ^ (bits >> 63 & INT64_MAX);
}

TENFOLD_INLINE double score_of(std::int64_t key) {
    return std::bit_cast<double>(key ^ (key >> 63 & INT64_MAX));
}

struct Ranked {
    std::int64_t key;
    static constexpr std::int64_t w = 1;
    Ranked() {}
    Ranked(std::int64_t key, double) : key(key) {}
};

struct WeightedRanked {
    std::int64_t key;
    double w;
    WeightedRanked() {}
    WeightedRanked(std::int64_t key, double w) : key(key), w(w) {}
};

// Twice the weight of the pairs won, so that whole numbers stay whole.
template <class Item, class Number>
struct PairCount {
    using Items = std::span<Item>;
    static constexpr size_t FEW_PAIRS = 256;
    static constexpr int MOST_BITS = 12;

    Number negative{}, positive{}, twice_won{};

    // Adds rows whose scores are above all those added before; the spare rows are as many as both together.
    void add(Items below, Items above, Item* spare) {
        Number weight[2] = {weight_of(below), weight_of(above)};
        twice_won += 2 * negative * weight[1] + won(below, above, spare, weight);
        negative += weight[0];
        positive += weight[1];
    }

private:
    static Number weight_of(Items items) {
        if constexpr (std::is_same_v<Item, Ranked>) return static_cast<Number>(items.size());
        Number sum{};
        for (const Item& item : items) sum += static_cast<Number>(item.w);
        return sum;
    }

    static Number won(Items below, Items above, Item* spare, const Number* weight) {
        if (below.empty() || above.empty()) return 0;
        if (below.size() * above.size() <= FEW_PAIRS) return won_by_comparing(below, above);
        std::int64_t low = INT64_MAX, high = INT64_MIN;
        for (Items items : {below, above})
            for (const Item& item : items) {
                low = std::min(low, item.key);
                high = std::max(high, item.key);
            }
        if (low == high) return weight[0] * weight[1];
        const size_t n = below.size() + above.size();
        const auto span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
        const int shift = std::max(0, static_cast<int>(std::bit_width(span)) -
                                          std::min(MOST_BITS, static_cast<int>(std::bit_width(n / 8))));
        const auto bucket = [=](const Item& item) {
            return (static_cast<std::uint64_t>(item.key) - static_cast<std::uint64_t>(low)) >> shift;
        };
        const size_t buckets = (span >> shift) + 1;
        std::array<size_t, 2 << MOST_BITS> end;
        std::fill_n(end.begin(), 2 * buckets, 0);
        for (const Item& item : below) ++end[2 * bucket(item)];
        for (const Item& item : above) ++end[2 * bucket(item) + 1];
        size_t start = 0;
        for (size_t b = 0; b < 2 * buckets; ++b) start += std::exchange(end[b], start);
        for (const Item& item : below) spare[end[2 * bucket(item)]++] = item;
        for (const Item& item : above) spare[end[2 * bucket(item) + 1]++] = item;
        // What was given is now free; its two parts are neighbours, so that it can be the spare of the parts.
        PairCount parts;
        start = 0;
        for (size_t b = 0; b < 2 * buckets; b += 2) {
            parts.add({spare + start, spare + end[b]}, {spare + end[b], spare + end[b + 1]},
                      below.data() + start);
            start = end[b + 1];
        }
        return parts.twice_won;
    }

    static Number won_by_comparing(Items below, Items above) {
        Number sum{};
        for (const Item& one : above) {
            Number beaten{};
            for (const Item& other : below)
                beaten += static_cast<Number>((one.key > other.key) + (one.key >= other.key)) *
                          static_cast<Number>(other.w);
            sum += beaten * static_cast<Number>(one.w);
        }
        return sum;
    }
};

template <class Item, class Number, class T>
void rank_pairs_as(std::span<const T> s, Labels y, Weights w, double* out) {
    constexpr size_t MOST = 512;  // more of them are too many places to write to
    const size_t n = s.size();
    std::int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (T score : s) {
        least = std::min(least, rank_key(score));
        greatest = std::max(greatest, rank_key(score));
    }
    const double low = score_of(least), width = score_of(greatest) - low;
    const size_t buckets = std::isfinite(width) ? std::clamp<size_t>(n / 8, 1, MOST) : 1;
    const double scale = std::min(static_cast<double>(buckets) / width, 1e300), last = static_cast<double>(buckets - 1);
    // Buckets of equal width are in order, as rounding keeps the order. It must be the same at every call, or rows would be
    // written beyond their bucket: a difference times a number cannot become one fused instruction.
    const auto place = [=](T score, std::int64_t label) {
        const double b = std::min(last, (static_cast<double>(score) - low) * scale);
        return 2 * static_cast<size_t>(static_cast<std::int64_t>(b)) + (label != 0);
    };
    std::vector<size_t> end(2 * buckets);
    for (size_t i = 0; i < n; ++i) ++end[place(s[i], y[i])];
    size_t start = 0, largest = 0;
    for (size_t b = 0; b < 2 * buckets; b += 2) largest = std::max(largest, end[b] + end[b + 1]);
    for (size_t& size : end) start += std::exchange(size, start);
    std::unique_ptr<Item[]> items(new Item[n]), spare(new Item[largest]);
    for (size_t i = 0; i < n; ++i)
        items[end[place(s[i], y[i])]++] = Item(rank_key(s[i]), w.empty() ? 1.0 : w[i]);
    PairCount<Item, Number> pairs;
    Item* first = items.get();
    for (size_t b = 0; b < 2 * buckets && !stopped(); b += 2) {
        Item *const middle = items.get() + end[b], *const next = items.get() + end[b + 1];
        pairs.add({first, middle}, {middle, next}, spare.get());
        first = next;
    }
    out[0] = static_cast<double>(pairs.positive);
    out[1] = static_cast<double>(pairs.negative);
    out[2] = static_cast<double>(pairs.twice_won) / 2;
}

// rank_pairs: the weight of the positives (y != 0), of the negatives, and of the pairs in which the positive
// has the larger score, ties counted half. Scores are finite. No weights stand for ones, whose sums are
// exact.
template <class T>
void rank_pairs(std::span<const T> s, Labels y, Weights w, double* out) {
    if (s.empty() || stopped()) return;
    if (w.empty()) rank_pairs_as<Ranked, std::int64_t>(s, y, w, out);
    else rank_pairs_as<WeightedRanked, double>(s, y, w, out);
}

}  // namespace tenfold::TENFOLD_LEVEL
