// Exact Shapley values of the columns for what trees say of a row.
//
// A leaf counts with its value times the product, over the columns on the way to it, of o (1 if the row takes that way, else 0)
// where the column is known and of r where it is not: the share of the training rows that take it, or whether a row of the
// background does. The Shapley value of column i is then
//     (o_i - r_i) times the integral over u from 0 to 1 of the product over the other columns j of  (1 - u) r_j + u o_j,
// a polynomial of u that Gauss-Legendre points integrate exactly. Sums over leaves are taken once per node, on the way up.
#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include "kernels/tree/packed_trees.hpp"

namespace tenfold {

// Points and weights that integrate polynomials up to degree 2 count - 1 over (0, 1), by Newton on Legendre's recurrence.
inline void gauss_legendre(size_t count, std::vector<double>& u, std::vector<double>& w) {
    u.resize(count);
    w.resize(count);
    const double n = static_cast<double>(count);
    for (size_t i = 0; i < count; ++i) {
        double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5)), slope = 1;
        for (int step = 0; step < 20; ++step) {
            double before = 1, here = x;
            for (size_t k = 2; k <= count; ++k) {
                const double j = static_cast<double>(k), next = ((2 * j - 1) * x * here - (j - 1) * before) / j;
                before = here;
                here = next;
            }
            slope = n * (x * here - before) / (x * x - 1);
            const double change = here / slope;
            x -= change;
            if (std::abs(change) < 1e-16) break;
        }
        u[i] = (1 + x) / 2;
        w[i] = 1 / ((1 - x * x) * slope * slope);
    }
}

// What a row, and the rows it is compared with, do at the columns on the way to a node.
struct OnTheWay {
    double o = 1, r = 1;
};

template <class T>
class Attribution {
public:
    Attribution(const PackedTrees& trees, std::span<const double> covers, size_t depth)
        : trees(trees), covers(covers), path(trees.width) {
        gauss_legendre(std::max<size_t>((std::min(depth, trees.used.size()) + 1) / 2, 1), u, w);
        space.resize((depth + 2) * (1 + trees.outputs) * u.size());
    }

    // phi (columns, outputs) += scale * the Shapley values of row x; z is a row of the background, or null.
    void add(const T* x, const T* z, double scale, double* phi) {
        this->x = x;
        this->z = z;
        this->scale = scale;
        this->phi = phi;
        const size_t Q = u.size();
        std::fill_n(space.data(), Q, 1.0);
        for (size_t t = 0; t + 1 < trees.first.size(); ++t) {
            root = trees.first[t];
            visit(root, space.data(), space.data() + Q);
        }
    }

private:
    // product (Q): of the factors on the way to the node. sums (outputs, Q): of the leaves below it; there is room behind.
    void visit(size_t at, const double* product, double* sums) {
        const size_t Q = u.size(), K = trees.outputs;
        const TreeNode& node = trees.nodes[at];
        if (node.left < 0) {
            for (size_t k = 0; k < K; ++k)
                for (size_t q = 0; q < Q; ++q) sums[k * Q + q] = trees.values[at * K + k] * product[q];
            return;
        }
        std::fill_n(sums, K * Q, 0.0);
        const auto column = static_cast<size_t>(node.feature);
        const bool left = goes_left(trees, at, x[column]);
        const bool other = z && goes_left(trees, at, z[column]);
        const OnTheWay before = path[column];
        for (const bool is_left : {true, false}) {
            const size_t child = root + static_cast<size_t>(is_left ? node.left : node.right);
            const double share = z ? (other == is_left ? 1.0 : 0.0) : covers[at] > 0 ? covers[child] / covers[at] : 0.5;
            const OnTheWay now{left == is_left ? before.o : 0.0, before.r * share};
            if (now.o == 0 && now.r == 0) continue;
            double *below = sums + K * Q, *its = below + Q;
            for (size_t q = 0; q < Q; ++q) below[q] = product[q] / factor(before, q) * factor(now, q);
            path[column] = now;
            visit(child, below, its);
            for (size_t k = 0; k < K; ++k) {
                double won = 0;
                for (size_t q = 0; q < Q; ++q) {
                    const double sum = its[k * Q + q];
                    won += w[q] * sum * ((now.o - now.r) / factor(now, q) - (before.o - before.r) / factor(before, q));
                    sums[k * Q + q] += sum;
                }
                phi[column * K + k] += scale * won;
            }
        }
        path[column] = before;
    }

    double factor(OnTheWay at, size_t q) const { return (1 - u[q]) * at.r + u[q] * at.o; }

    const PackedTrees& trees;
    std::span<const double> covers;
    std::vector<OnTheWay> path;
    std::vector<double> u, w, space;
    const T *x = nullptr, *z = nullptr;
    double scale = 1, *phi = nullptr;
    size_t root = 0;  // of the tree that is visited
};

// phi (rows, columns, outputs), zero before: against the training rows by the covers of the nodes, or against the rows of Z.
template <class T>
void attribute(const PackedTrees& trees, std::span<const double> covers, size_t depth, Rows<const T> X,
               Rows<const T> Z, double* phi) {
    Attribution<T> one(trees, covers, depth);
    const size_t size = X.p * trees.outputs;
    for (size_t i = 0; i < X.n && !stopped(); ++i) {
        if (Z.n == 0) one.add(X[i], nullptr, 1, phi + i * size);
        for (size_t j = 0; j < Z.n; ++j) one.add(X[i], Z[j], 1 / static_cast<double>(Z.n), phi + i * size);
    }
}

}  // namespace tenfold
