// The sums of local_kernels.hpp, a vector of rows at a time.
#pragma once

#include <limits>

#include "kernels/common/explog.hpp"
#include "kernels/nonlinear/local_kernels.hpp"

namespace tenfold::TENFOLD_LEVEL {

constexpr double FARTHEST = 1e300;  // squared distances beyond are all the same

TENFOLD_INLINE V kernel_at(Around kernel, V d, double near) {
    if (kernel == Around::gaussian) {
        V below = -0.5 * (d - near);
        return exp_negative(below < 0.0 ? below : V{});
    }
    if (near >= 1.0) return d <= near * (1 + 1e-12) ? splat(1.0) : V{};
    V u = 1.0 - d;
    if (kernel == Around::tricube) {
        V root{};
        for (size_t l = 0; l < L; ++l) root[l] = std::sqrt(d[l]);
        u = 1.0 - d * root;
        u = u > 0.0 ? u : V{};
        return u * u * u;
    }
    return u > 0.0 ? u : V{};
}

// Squared distances of all rows from x; the number of the nearest row that has weight.
inline size_t distances(const LocalRows& rows, const double* w, const double* x, double* distance) {
    for (size_t i = 0; i < rows.n; i += L) {
        V d{};
        for (size_t j = 0; j < rows.p; ++j) {
            V z = (load(rows.columns + j * rows.n + i) - x[j]) * rows.inverse[j];
            d += z * z;
        }
        store(distance + i, d < FARTHEST ? d : splat(FARTHEST));
    }
    size_t nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < rows.n; ++i)
        if (distance[i] < least && w[i] > 0) least = distance[i], nearest = i;
    return nearest;
}

TENFOLD_INLINE void add_to(double* sum, V value) { store(sum, load(sum) + value); }

// Adds a vector of rows, each with its weight k, to the sums (each sum is a vector of L); z has room for p vectors.
TENFOLD_INLINE void add_rows(const LocalRows& rows, size_t i, V k, size_t nearest, bool lines, double* z, double* sum) {
    add_to(sum, k);
    double* next = sum + L;
    if (lines) {
        double* products = next + rows.p * L;
        for (size_t j = 0; j < rows.p; ++j) {
            const double* column = rows.columns + j * rows.n;
            V here = (load(column + i) - column[nearest]) * rows.inverse[j], kz = k * here;
            store(z + j * L, here);
            add_to(next + j * L, kz);
            for (size_t r = 0; r <= j; ++r, products += L) add_to(products, kz * load(z + r * L));
        }
        next = products;
    }
    for (size_t t = 0; t < rows.t; ++t, next += L) add_to(next, k * load(rows.targets + t * rows.n + i));
    if (!lines) return;
    for (size_t j = 0; j < rows.p; ++j) {
        V kz = k * load(z + j * L);
        for (size_t t = 0; t < rows.t; ++t, next += L) add_to(next, kz * load(rows.targets + t * rows.n + i));
    }
}

inline void around_point(const LocalRows& rows, const double* w, const double* x, Around kernel, bool lines,
                         double* scratch, double* out) {
    const size_t width = rows.sums(lines), sums = width - (lines ? rows.p : 0);
    double *distance = scratch, *sum = scratch + rows.n, *z = sum + 8 * width;
    std::fill_n(sum, L * sums, 0.0);
    const size_t nearest = distances(rows, w, x, distance);
    const double near = distance[nearest];
    for (size_t i = 0; i < rows.n; i += L) {
        V k = kernel_at(kernel, load(distance + i), near) * load(w + i);
        bool some = false;
        for (size_t l = 0; l < L; ++l) some |= k[l] != 0;
        if (some) add_rows(rows, i, k, nearest, lines, z, sum);
    }
    for (size_t s = 0; s < sums; ++s) {
        out[s] = 0;
        for (size_t l = 0; l < L; ++l) out[s] += sum[s * L + l];
    }
    for (size_t j = 0; lines && j < rows.p; ++j)
        out[sums + j] = (x[j] - rows.columns[j * rows.n + nearest]) * rows.inverse[j];
}

// `skip` names for each point a row of which one copy is taken away; w is as before when this returns.
inline void local_sums(const LocalRows& rows, double* w, Rows<const double> points, const std::int64_t* skip, Around kernel,
                       bool lines, double* scratch, double* sums) {
    for (size_t q = 0; q < points.n && !stopped(); ++q) {
        double* out = sums + q * rows.sums(lines);
        if (!skip) {
            around_point(rows, w, points[q], kernel, lines, scratch, out);
            continue;
        }
        const double before = w[skip[q]];
        w[skip[q]] = before > 1 ? before - 1 : 0;
        around_point(rows, w, points[q], kernel, lines, scratch, out);
        w[skip[q]] = before;
    }
}

}  // namespace tenfold::TENFOLD_LEVEL
