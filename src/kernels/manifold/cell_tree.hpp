// Places sorted into cells of cells: far cells stand for all that is in them (Barnes & Hut 1986).
//
// Places that are near one another share their list of bodies: cells that are far from all of them as one body each, the places of
// near cells one by one. One walk through the tree then serves up to GROUP places, whose sums over the list run in vectors.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/manifold/embed_kernels.hpp"

namespace tenfold {

template <size_t Axes>
class CellTree {
public:
    static constexpr size_t LEAF = 8, GROUP = 64;
    using Point = std::array<float, Axes>;

    struct Group {
        size_t begin, end, cell;
    };
    // The bodies that a group feels, by axis; one of them for each thread.
    struct List {
        std::vector<float> values;  // coordinates, then masses, `room` each
        size_t n = 0, room = 0;

        Places<float> places() const { return {values.data(), values.data() + Axes * room, n, Axes, room}; }
        void add(const float* at, size_t step, float mass) {
            if (n == room) grow();
            for (size_t a = 0; a < Axes; ++a) values[a * room + n] = at[a * step];
            values[Axes * room + n++] = mass;
        }
        void pad() {
            constexpr float none[Axes]{};
            while (n % LANES) add(none, 1, 0.0f);
        }

    private:
        void grow() {
            const size_t wide = std::max<size_t>(2 * room, 1024);
            std::vector<float> larger((Axes + 1) * wide);
            for (size_t a = 0; a <= Axes; ++a) std::copy_n(values.data() + a * room, n, larger.data() + a * wide);
            values.swap(larger), room = wide;
        }
    };

    explicit CellTree(size_t n) : n_(n), stride_((n + LANES - 1) / LANES * LANES), sorted_((Axes + 1) * stride_), order_(n), key_(n) {}

    // Of places (n, Axes); the order of places in one cell is theirs.
    void build(const double* x, const double* weight) {
        sort(x);
        for (size_t s = 0; s < n_; ++s) {
            for (size_t a = 0; a < Axes; ++a) sorted_[a * stride_ + s] = static_cast<float>(x[order_[s] * Axes + a] - middle_[a]);
            sorted_[Axes * stride_ + s] = static_cast<float>(weight[order_[s]]);
        }
        cells_.clear(), groups_.clear();
        add_cell(0, n_, 0, true);
    }

    Places<float> sorted() const { return {sorted_.data(), sorted_.data() + Axes * stride_, n_, Axes, stride_}; }
    const std::vector<std::uint32_t>& order() const { return order_; }
    const std::vector<Group>& groups() const { return groups_; }

    // A cell is far from a group where its width is at most `angle` times the distance of its centre from the group's box.
    void list_bodies(const Group& group, float angle, List& list) const {
        const Cell& box = cells_[group.cell];
        const Places<float> x = sorted();
        const float square = angle * angle;
        list.n = 0;
        for (size_t c = 0; c < cells_.size();) {
            const Cell& cell = cells_[c];
            float away = 0, wide = 0;
            for (size_t a = 0; a < Axes; ++a) {
                const float aside = std::max({box.low[a] - cell.center[a], cell.center[a] - box.high[a], 0.0f});
                away += aside * aside, wide = std::max(wide, cell.high[a] - cell.low[a]);
            }
            const bool far = wide * wide <= square * away;
            if (far) list.add(cell.center.data(), 1, cell.mass);
            else if (cell.leaf)
                for (size_t s = cell.begin; s < cell.end; ++s) list.add(x.at + s, stride_, x.weight[s]);
            c = far || cell.leaf ? cell.skip : c + 1;
        }
        list.pad();
    }

private:
    static constexpr int BITS = Axes == 3 ? 10 : Axes == 2 ? 16 : 32;  // of an axis; cells of the last level are leaves

    struct Cell {
        Point center, low, high;
        float mass;
        bool leaf;
        std::uint32_t begin, end, skip;  // places, and the cell that comes after all within this one
    };

    static std::uint64_t spread(std::uint64_t v) {
        if constexpr (Axes == 1) return v;
        std::uint64_t spaced = 0;
        for (int b = 0; b < BITS; ++b) spaced |= (v >> b & 1) << (b * static_cast<int>(Axes));
        return spaced;
    }

    void sort(const double* x) {
        double low[Axes], wide = 0;
        for (size_t a = 0; a < Axes; ++a) {
            double least = std::numeric_limits<double>::infinity(), most = -least, sum = 0;
            for (size_t i = 0; i < n_; ++i) {
                const double at = x[i * Axes + a];
                least = std::min(least, at), most = std::max(most, at), sum += at;
            }
            low[a] = least, wide = std::max(wide, most - least);
            middle_[a] = sum / static_cast<double>(n_);  // single precision is relative to where most places are
        }
        const double top = std::ldexp(1.0, BITS) - 1, scale = wide > 0 ? top / wide : 0.0;
        static const std::vector<std::uint32_t> spaced = [] {
            std::vector<std::uint32_t> table(Axes == 1 ? 0 : size_t{1} << BITS);
            for (size_t v = 0; v < table.size(); ++v) table[v] = static_cast<std::uint32_t>(spread(v));
            return table;
        }();
        for (size_t i = 0; i < n_; ++i) {
            std::uint32_t key = 0;
            for (size_t a = 0; a < Axes; ++a) {
                const double from = (x[i * Axes + a] - low[a]) * scale;  // NaN, of places that have left all bounds, counts as 0
                const auto step = static_cast<std::uint32_t>(from > 0 ? std::min(from, top) : 0.0);
                key |= (Axes == 1 ? step : spaced[step]) << a;
            }
            key_[i] = key, order_[i] = static_cast<std::uint32_t>(i);
        }
        by_radix();
    }

    void by_radix() {
        std::vector<std::uint32_t> keys(n_), order(n_);
        for (int shift = 0; shift < 32; shift += 8) {
            std::array<size_t, 257> start{};
            for (std::uint32_t key : key_) ++start[(key >> shift & 255) + 1];
            for (size_t b = 0; b < 256; ++b) start[b + 1] += start[b];
            for (size_t i = 0; i < n_; ++i) {
                const size_t to = start[key_[i] >> shift & 255]++;
                keys[to] = key_[i], order[to] = order_[i];
            }
            key_.swap(keys), order_.swap(order);
        }
    }

    // Cells of one place or more, each followed by those within it. `ungrouped`: no cell around it is a group.
    void add_cell(size_t begin, size_t end, int level, bool ungrouped) {
        const size_t here = cells_.size();
        cells_.push_back({});
        const bool group = ungrouped && (end - begin <= GROUP);
        const std::uint32_t differ = key_[begin] ^ key_[end - 1];
        while (level < BITS && !(differ >> shift_of(level))) ++level;  // cells with one cell in them are passed over
        const bool leaf = end - begin <= LEAF || level >= BITS;
        if (ungrouped && (group || leaf))
            for (size_t first = begin; first < end; first += GROUP) groups_.push_back({first, std::min(end, first + GROUP), here});
        if (!leaf) {
            const int shift = shift_of(level);
            for (size_t first = begin; first < end;) {
                size_t last = first + 1;
                while (last < end && key_[last] >> shift == key_[first] >> shift) ++last;
                add_cell(first, last, level + 1, ungrouped && !group);
                first = last;
            }
        }
        Cell& cell = cells_[here];
        cell.begin = static_cast<std::uint32_t>(begin), cell.end = static_cast<std::uint32_t>(end);
        cell.leaf = leaf, cell.skip = static_cast<std::uint32_t>(cells_.size());
        measure(cell, here);
    }

    // The digit of the key that tells the cells of a level apart has `Axes` bits.
    static int shift_of(int level) { return (BITS - 1 - level) * static_cast<int>(Axes); }

    void measure(Cell& cell, size_t here) const {
        std::array<double, Axes> sum{};
        double mass = 0;
        cell.low.fill(std::numeric_limits<float>::infinity());
        cell.high.fill(-std::numeric_limits<float>::infinity());
        const auto take = [&](const float* low, const float* high, const float* at, size_t step, double m) {
            for (size_t a = 0; a < Axes; ++a) {
                cell.low[a] = std::min(cell.low[a], low[a * step]), cell.high[a] = std::max(cell.high[a], high[a * step]);
                sum[a] += m * static_cast<double>(at[a * step]);
            }
            mass += m;
        };
        if (cell.leaf)
            for (size_t s = cell.begin; s < cell.end; ++s) {
                const float* at = sorted_.data() + s;
                take(at, at, at, stride_, static_cast<double>(at[Axes * stride_]));
            }
        else
            for (size_t c = here + 1; c < cell.skip; c = cells_[c].skip) {
                const Cell& inner = cells_[c];
                take(inner.low.data(), inner.high.data(), inner.center.data(), 1, static_cast<double>(inner.mass));
            }
        for (size_t a = 0; a < Axes; ++a)  // without any mass they stand for nothing, wherever they are
            cell.center[a] = mass > 0 ? static_cast<float>(sum[a] / mass) : cell.low[a];
        cell.mass = static_cast<float>(mass);
    }

    size_t n_, stride_;
    std::array<double, Axes> middle_{};
    std::vector<float> sorted_;  // by axis, then the weights
    std::vector<std::uint32_t> order_, key_;
    std::vector<Cell> cells_;
    std::vector<Group> groups_;
};

}  // namespace tenfold
