// Clusters while they are merged, with their distances: in a table of pairs, or from their centres.
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "kernels/cluster/merges.hpp"

namespace tenfold {

constexpr size_t AHEAD = 16;  // rows whose distances are fetched before they are asked for
constexpr double FAR = std::numeric_limits<double>::infinity();

// The distances of n clusters: row i has those to 0 .. i - 1. Of its own, or in memory of somebody else.
class PairTable {
public:
    explicit PairTable(size_t n) {
        constexpr size_t PAGE = 1 << 21;  // a large one, of which a table needs few
        if (n >= size_t{1} << 31) throw std::bad_alloc();
        const size_t bytes = std::max<size_t>(n * (n - 1) / 2, 1) * sizeof(double);
        own_.reset(static_cast<double*>(bytes < 2 * PAGE ? std::malloc(bytes) : std::aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE)));
        if (!own_) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
        if (bytes >= 2 * PAGE) madvise(own_.get(), bytes, MADV_HUGEPAGE);
#endif
        data = own_.get();
    }
    explicit PairTable(double* data) : data(data) {}

    double* row(size_t i) const { return data + i * (i - 1) / 2; }
    double& at(size_t i, size_t j) const { return row(i)[j]; }  // j < i

    double* data = nullptr;

private:
    struct Free {
        void operator()(double* own) const { std::free(own); }
    };
    std::unique_ptr<double[], Free> own_;
};

// What is known of clusters besides their distances.
struct Known {
    std::vector<std::int64_t> row;  // one of its rows
    std::vector<double> weight;

    size_t size() const { return row.size(); }
    // Only those that are left, in their order.
    void keep(const std::vector<size_t>& left) {
        for (size_t i = 0; i < left.size(); ++i) row[i] = row[left[i]], weight[i] = weight[left[i]];
        row.resize(left.size());
        weight.resize(left.size());
    }
};

// Clusters whose distances are in a table.
class Tabled {
public:
    Tabled(const LinkageKernels& kernels, Linkage linkage, PairTable table, Known known)
        : kernels(kernels), linkage(linkage), table(std::move(table)), known(std::move(known)) {}

    // How far all others are, also those that are gone.
    void away(size_t x, double* out) const {
        const size_t m = known.size();
        std::memcpy(out, table.row(x), x * sizeof(double));
        out[x] = FAR;
        const double* from = table.row(x + 1) + x;
        for (size_t i = x + 1; i < m; from += i++) {
            __builtin_prefetch(from + AHEAD * i + AHEAD * (AHEAD - 1) / 2);  // rows are ever longer, which no machine foresees
            out[i] = *from;
        }
    }
    // y becomes both.
    void join(size_t x, size_t y, double height) {
        const size_t m = known.size();
        first_.resize(m), second_.resize(m);
        away(x, first_.data());
        away(y, second_.data());
        kernels.join({linkage, known.weight[x], known.weight[y], height}, first_.data(), second_.data(), known.weight.data(), m, first_.data());
        std::memcpy(table.row(y), first_.data(), y * sizeof(double));
        for (size_t i = y + 1; i < m; ++i) table.at(i, y) = first_[i];
        known.weight[y] += known.weight[x];
    }
    void keep(const std::vector<size_t>& left) {
        for (size_t i = 0; i < left.size(); ++i) {
            const double* from = table.row(left[i]);
            double* to = table.row(i);
            for (size_t j = 0; j < i; ++j) to[j] = from[left[j]];
        }
        known.keep(left);
    }

    const LinkageKernels& kernels;
    Linkage linkage;
    PairTable table;
    Known known;

private:
    std::vector<double> first_, second_;
};

// Rows, also side by side.
struct Packed {
    explicit Packed(Rows<const double> rows) : n(rows.n), p(rows.p), values((rows.n + SIDE - 1) / SIDE * SIDE * rows.p) {
        for (size_t i = 0; i < n; ++i) put(i, rows[i]);
    }
    void put(size_t i, const double* row) {
        double* to = values.data() + i / SIDE * SIDE * p + i % SIDE;
        for (size_t j = 0; j < p; ++j) to[j * SIDE] = row[j];
    }
    size_t blocks() const { return (n + SIDE - 1) / SIDE; }
    Beside view() const { return {values.data(), n, p}; }

    size_t n, p;
    std::vector<double> values;
};

// Clusters by Ward's linkage, whose distances follow from their centres.
class Centred {
public:
    Centred(const LinkageKernels& kernels, std::vector<double> centres, size_t p, Known known)
        : kernels(kernels), centres(std::move(centres)), p(p), known(std::move(known)), packed(rows()) {}

    Rows<const double> rows() const { return {centres.data(), known.size(), p}; }
    void away(size_t x, double* out) {
        some_.resize(packed.blocks() * SIDE);
        kernels.away(packed.view(), centres.data() + x * p, 1, 0, packed.blocks(), {Apart::euclidean, 2.0, false}, some_.data(), 0);
        kernels.weigh(some_.data(), known.weight[x], known.weight.data(), known.size(), true);
        std::memcpy(out, some_.data(), known.size() * sizeof(double));
        out[x] = FAR;
    }
    void join(size_t x, size_t y, double) {
        merge(centres.data() + x * p, known.weight[x], centres.data() + y * p, known.weight[y], p, centres.data() + y * p);
        known.weight[y] += known.weight[x];
        packed.put(y, centres.data() + y * p);
    }
    void keep(const std::vector<size_t>& left) {
        for (size_t i = 0; i < left.size(); ++i)
            if (left[i] != i) std::memcpy(&centres[i * p], &centres[left[i] * p], p * sizeof(double));
        known.keep(left);
        centres.resize(left.size() * p);
        packed = Packed(rows());
    }
    static void merge(const double* x, double a, const double* y, double b, size_t p, double* out) {
        for (size_t j = 0; j < p; ++j) out[j] = x[j] + (y[j] - x[j]) * (b / (a + b));
    }

    const LinkageKernels& kernels;
    std::vector<double> centres;
    size_t p;
    Known known;
    Packed packed;

private:
    std::vector<double> some_;
};

}  // namespace tenfold
