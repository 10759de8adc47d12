// Coordinate descent for the lasso and the elastic net on cross-products, along a path of penalties.
//
//     min over w of  ½ ‖y − X w‖² + l1 ‖w‖₁ + ½ l2 ‖w‖²       (w ≥ 0 where asked for)
//
// known by G = XᵀX, q = Xᵀy and yy = yᵀy. Columns enter a working set when they violate optimality and stay
// there; their products are copied side by side, so that a sweep reads a small matrix in order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define TENFOLD_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TENFOLD_CLONES
#endif

namespace tenfold {

// y −= d x
TENFOLD_CLONES inline void subtract_scaled(double* __restrict y, const double* __restrict x, double d, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] -= d * x[i];
}

struct Penalty {
    double l1, l2;
    bool positive;

    // The best value of one coordinate, where z is its correlation with what the others leave over.
    double shrink(double z, double curvature) const {
        if (z > l1) return (z - l1) / (curvature + l2);
        return z < -l1 && !positive ? (z + l1) / (curvature + l2) : 0.0;
    }
};

// An upper bound of what the objective is above its minimum: the gap to a dual point, the residual scaled to be
// feasible. r = q − G w.
inline double duality_gap(const double* q, const double* w, const double* r, std::size_t n, double yy, Penalty by) {
    double qw = 0, wr = 0, ww = 0, size = 0, largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        qw += q[i] * w[i];
        wr += w[i] * r[i];
        ww += w[i] * w[i];
        size += std::abs(w[i]);
        const double c = r[i] - by.l2 * w[i];
        largest = std::max(largest, by.positive ? c : std::abs(c));
    }
    const double rest = std::max(0.0, yy - qw - wr) + by.l2 * ww;  // ‖y − X w‖² + l2 ‖w‖²
    const double scale = largest > by.l1 ? by.l1 / largest : 1.0;
    return std::max(0.0, 0.5 * rest + by.l1 * size - scale * (yy - qw) + 0.5 * scale * scale * rest);
}

class GramDescent {
public:
    GramDescent(const double* G, const double* q, double yy, std::size_t p, std::size_t stride)
        : G(G), q(q), yy(yy), p(p), stride(stride), w(p, 0.0), r(q, q + p), place(p, -1) {}

    // Start from these coefficients.
    void start(const double* from) {
        for (std::size_t j = 0; j < p; ++j)
            if (from[j] != 0.0) {
                w[j] = from[j];
                subtract_scaled(r.data(), G + j * stride, from[j], p);
                enter(j);
            }
    }

    // Sweeps until the gap is at most `tol`; returns how many there were. `leave` is asked before each one.
    template <class Leave>
    std::int64_t solve(Penalty by, double tol, std::int64_t most, double& gap, Leave&& leave) {
        std::int64_t sweeps = 0;
        stuck = false;
        for (;;) {
            gap = duality_gap(q, w.data(), r.data(), p, yy, by);
            if (gap <= tol || sweeps >= most || stuck || leave()) return sweeps;
            const std::size_t before = work.size();
            for (std::size_t j = 0; j < p; ++j)
                if (place[j] < 0 && (by.positive ? r[j] : std::abs(r[j])) > by.l1) enter(j);
            // The gap over the working set must fall well below `tol`, lest the same set be swept again and again.
            sweeps += sweep_until(by, work.size() == before ? 0.1 * tol : 0.3 * tol, most - sweeps, leave);
        }
    }

    const std::vector<double>& coefficients() const { return w; }

private:
    void enter(std::size_t j) {
        const std::size_t a = work.size();
        if ((a + 1) > room) grow();
        place[j] = static_cast<std::int64_t>(a);
        work.push_back(j);
        for (std::size_t i = 0; i <= a; ++i) {
            const double product = G[j * stride + work[i]];
            H[a * room + i] = product;
            H[i * room + a] = product;
        }
        inner_q.push_back(q[j]);
    }

    void grow() {
        const std::size_t wider = std::min(p, std::max<std::size_t>(64, 2 * room)), a = work.size();
        std::vector<double> larger(wider * wider);
        for (std::size_t i = 0; i < a; ++i) std::copy_n(&H[i * room], a, &larger[i * wider]);
        H = std::move(larger);
        room = wider;
    }

    template <class Leave>
    std::int64_t sweep_until(Penalty by, double tol, std::int64_t most, Leave&& leave) {
        const std::size_t a = work.size();
        inner_w.resize(a);
        inner_r.resize(a);
        for (std::size_t i = 0; i < a; ++i) inner_w[i] = w[work[i]], inner_r[i] = r[work[i]];
        std::int64_t sweeps = 0;
        double largest = 0;
        do {
            largest = 0;
            for (std::size_t i = 0; i < a; ++i) {
                const double curvature = H[i * room + i], old = inner_w[i];
                if (curvature <= 0.0) continue;
                const double change = by.shrink(inner_r[i] + curvature * old, curvature) - old;
                if (change == 0.0) continue;
                inner_w[i] += change;
                subtract_scaled(inner_r.data(), &H[i * room], change, a);
                largest = std::max(largest, change * change * curvature);
            }
            ++sweeps;
        } while (sweeps < most && largest > 0.0 && !leave() &&
                 duality_gap(inner_q.data(), inner_w.data(), inner_r.data(), a, yy, by) > tol);
        for (std::size_t i = 0; i < a; ++i) {
            const std::size_t j = work[i];
            if (a < p && inner_w[i] != w[j]) subtract_scaled(r.data(), G + j * stride, inner_w[i] - w[j], p);
            w[j] = inner_w[i];
        }
        for (std::size_t i = 0; i < a; ++i) r[work[i]] = inner_r[i];
        stuck = largest == 0.0;
        return sweeps;
    }

    const double *G, *q;
    double yy;
    std::size_t p, stride, room = 0;
    bool stuck = false;  // nothing moved in the last sweep: another one will not help
    std::vector<double> w, r, H, inner_q, inner_w, inner_r;
    std::vector<std::size_t> work;
    std::vector<std::int64_t> place;
};

}  // namespace tenfold
