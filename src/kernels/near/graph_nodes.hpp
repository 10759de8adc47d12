// A navigable small-world graph: its memory, and how it grows.
//
// Rows join in batches. Each row of a batch walks through the graph as it was before the batch and looks at all that join with it, so
// that neither depends on the others' links: the graph is the same whatever the number of threads.
#pragma once

#include <cmath>
#include <memory>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "kernels/common/team.hpp"
#include "kernels/near/near_kernels.hpp"

namespace tenfold {

// Memory for walks that jump about: in large pages where the system has them, whose places are found sooner.
template <class T>
class Large {
public:
    void resize(size_t n) {
        if (n > (SIZE_MAX - PAGE) / sizeof(T)) throw std::bad_alloc();
        const size_t bytes = (n * sizeof(T) / PAGE + 1) * PAGE;
        data_.reset(static_cast<T*>(::operator new(bytes, std::align_val_t{PAGE})));
#if defined(__linux__)
        madvise(data_.get(), bytes, MADV_HUGEPAGE);
#endif
    }
    T* get() const { return data_.get(); }

private:
    static constexpr size_t PAGE = size_t{1} << 21;
    struct Free {
        void operator()(T* data) const { ::operator delete(data, std::align_val_t{PAGE}); }
    };
    std::unique_ptr<T, Free> data_;
};

// What a thread searches with, and its memory.
struct OwnDesk : GraphDesk {
    OwnDesk(const GraphView& graph, size_t width)
        : seen_(graph.n), pool_(std::max(width, CANDIDATES) + 1), floats_(graph.stride + MATES) {
        seen = seen_.data(), turn = 0, pool = pool_.data(), query = floats_.data(), mate = query + graph.stride;
    }

private:
    std::vector<std::uint32_t> seen_;
    std::vector<std::uint64_t> pool_;
    std::vector<float> floats_;
};

class GraphNodes {
public:
    // Row i of the graph is rows[order[i]].
    GraphNodes(const NearKernels& kernels, Rows<const double> rows, const std::int64_t* order, size_t threads)
        : number_(order, order + rows.n), middle_(rows.p) {
        view_.n = rows.n, view_.p = rows.p, view_.stride = (rows.p + 15) / 16 * 16;
        pack(rows);
        // A layer that is not filled to the last page costs up to 2 MB of addresses, not of memory.
        for (size_t n = rows.n; n > 0 && view_.layers < MOST_LAYERS; n /= LINKS) {
            const size_t room = view_.layers ? LINKS : 2 * LINKS;
            links_[view_.layers].resize(n * room);
            view_.layer[view_.layers] = {n, room, links_[view_.layers].get()};
            ++view_.layers;
        }
        grow(kernels, threads);
    }

    const GraphView& view() const { return view_; }
    const std::int64_t* number() const { return number_.data(); }
    const double* middle() const { return middle_.data(); }
    double scale() const { return scale_; }

private:
    // About the medians of some rows, which one that is far from all does not move.
    void pack(Rows<const double> rows) {
        const size_t some = std::min<size_t>(rows.n, 255);
        std::vector<double> column(some);
        for (size_t j = 0; j < rows.p; ++j) {
            for (size_t i = 0; i < some; ++i) column[i] = rows[static_cast<size_t>(number_[i])][j];
            std::nth_element(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(some / 2), column.end());
            middle_[j] = column[some / 2];
        }
        double largest = 0;
        for (size_t i = 0; i < rows.n; ++i)
            for (size_t j = 0; j < rows.p; ++j) largest = std::max(largest, std::fabs(rows[i][j] - middle_[j]));
        int exponent = 0;
        std::frexp(largest, &exponent);
        scale_ = std::ldexp(1.0, -exponent);
        values_.resize(rows.n * view_.stride);
        for (size_t i = 0; i < rows.n; ++i) {
            const double* row = rows[static_cast<size_t>(number_[i])];
            float* to = values_.get() + i * view_.stride;
            for (size_t j = 0; j < rows.p; ++j) to[j] = static_cast<float>((row[j] - middle_[j]) * scale_);
            std::fill(to + rows.p, to + view_.stride, 0.0f);
        }
        view_.values = values_.get();
    }

    void grow(const NearKernels& kernels, size_t threads) {
        Team team(threads);
        std::vector<std::unique_ptr<OwnDesk>> desk(team.size());
        for (auto& one : desk) one = std::make_unique<OwnDesk>(view_, CANDIDATES);
        std::vector<std::uint64_t> edge;
        std::vector<size_t> start;
        for (size_t begin = 0, end; begin < view_.n; begin = end) {
            end = std::min(view_.n, begin + std::min(MATES, std::max<size_t>(begin, LINKS)));
            team.each((end - begin + STEP - 1) / STEP, [&](size_t s, size_t t) {
                kernels.graph_join(view_, begin, end, begin + s * STEP, std::min(end, begin + (s + 1) * STEP), *desk[t]);
            });
            leave_if_stopped();
            for (size_t l = 0; l < view_.layers && begin < view_.layer[l].n; ++l) {
                edges(l, begin, std::min(end, view_.layer[l].n), edge, start);
                team.each(start.size() - 1, [&](size_t s) {
                    kernels.graph_answer(view_, l, edge.data() + start[s], start[s + 1] - start[s]);
                });
            }
        }
    }

    // Who was chosen by rows begin .. end, sorted, and pieces of it that can be answered side by side.
    void edges(size_t l, size_t begin, size_t end, std::vector<std::uint64_t>& edge, std::vector<size_t>& start) const {
        const GraphLayer& layer = view_.layer[l];
        edge.clear();
        for (size_t i = begin; i < end; ++i)
            for (size_t c = 0; c < layer.room && layer.link[i * layer.room + c] >= 0; ++c)
                edge.push_back(static_cast<std::uint64_t>(layer.link[i * layer.room + c]) << 32 | i);
        std::sort(edge.begin(), edge.end());
        start.assign(1, 0);
        for (size_t e = 1; e < edge.size(); ++e)
            if (e - start.back() >= PIECE && edge[e] >> 32 != edge[e - 1] >> 32) start.push_back(e);
        start.push_back(edge.size());
    }

    static constexpr size_t STEP = 8, PIECE = 128;  // rows, and edges, that a thread takes at a time
    GraphView view_{};
    std::vector<std::int64_t> number_;
    std::vector<double> middle_;
    double scale_ = 1;
    Large<float> values_;
    Large<std::int32_t> links_[MOST_LAYERS];
};

}  // namespace tenfold
