// Python binding of embeddings: steps of metric scaling and of stochastic neighbour embedding. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <string>
#include <vector>

#include "arrays.hpp"
#include "kernels/common/team.hpp"
#include "kernels/manifold/descent.hpp"
#include "kernels/manifold/new_places.hpp"
#include "kernels/manifold/perplexity.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<EmbedKernels> kernels(TENFOLD_LEVELS(embed));

constexpr size_t ROWS = 64;  // handled at a time

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return kernels.use(name); }

size_t at_least_one(std::int64_t threads) { return static_cast<size_t>(std::max<std::int64_t>(threads, 1)); }

// (next, stress, size) of places (n, k) with weights whose distances should be those of D (n, n): the Guttman transform, sum w_i w_j
// (D - d)^2 and sum w_i w_j d^2, both over pairs once.
nb::tuple guttman(Matrix D, Matrix places, Vector w, std::int64_t threads) {
    const size_t n = places.size(0), k = places.size(1);
    require(n > 0 && k > 0, "there must be rows and axes");
    require(D.size(0) == n && D.size(1) == n && w.size(0) == n, "arrays differ in their number of rows");
    Output next = zeros(n, k);
    double stress = 0, size = 0, whole = 0;
    for (double one : w.span()) whole += one;
    require(whole > 0, "the weights must have a sum above 0");
    unlocked([&] {
        const PaddedPlaces<double> x(places.rows(), w.data());
        std::vector<double> far(n), wide(n);
        Team team(at_least_one(threads));
        team.ranges(n, ROWS, [&](size_t begin, size_t end) {
            kernels->guttman(D.data(), x.view(), begin, end, next.data + begin * k, far.data() + begin, wide.data() + begin);
        });
        for (size_t i = 0; i < n; ++i) stress += 0.5 * w.data()[i] * far[i], size += 0.5 * w.data()[i] * wide[i];
        for (size_t c = 0; c < n * k; ++c) next.data[c] /= whole;
    });
    return nb::make_tuple(next.array, stress, size);
}

void require_pairs(Column<std::int32_t> first, Column<std::int32_t> second, size_t n) {
    require(first.size(0) == second.size(0), "a pair has two rows");
    for (size_t e = 0; e < first.size(0); ++e)
        require(static_cast<std::uint32_t>(first.data()[e]) < n && static_cast<std::uint32_t>(second.data()[e]) < n,
                "a pair names a row that is not there");
}

// The distances of some pairs of places.
Doubles pair_distances(Matrix places, Column<std::int32_t> first, Column<std::int32_t> second, std::int64_t threads) {
    const size_t k = places.size(1), pairs = first.size(0);
    require_pairs(first, second, places.size(0));
    Output away = unfilled(pairs);
    unlocked([&] {
        Team team(at_least_one(threads));
        team.ranges(pairs, 1 << 14, [&](size_t begin, size_t end) {
            if (stopped()) return;
            for (size_t e = begin; e < end; ++e) {
                const double *one = places.data() + static_cast<size_t>(first.data()[e]) * k;
                const double* other = places.data() + static_cast<size_t>(second.data()[e]) * k;
                double square = 0;
                for (size_t a = 0; a < k; ++a) square += (one[a] - other[a]) * (one[a] - other[a]);
                away.data[e] = std::sqrt(square);
            }
        });
    });
    return away.array;
}

// (n, n): the values of pairs, on both sides of the diagonal; all others are 0.
Doubles table_of_pairs(Vector values, Column<std::int32_t> first, Column<std::int32_t> second, std::int64_t n) {
    require(n >= 0 && values.size(0) == first.size(0), "there must be a value for each pair");
    const auto rows = static_cast<size_t>(n);
    require_pairs(first, second, rows);
    Output table = zeros(rows, rows);
    unlocked([&] {
        for (size_t e = 0; e < values.size(0); ++e) {
            if (e % 65536 == 0 && stopped()) return;
            const auto i = static_cast<size_t>(first.data()[e]), j = static_cast<size_t>(second.data()[e]);
            table.data[i * rows + j] = table.data[j * rows + i] = values.data()[e];
        }
    });
    return table.array;
}

// (m, k): how rows share their attention among their neighbours, by distances and weights of these.
Doubles affinities(Matrix away, Matrix w, double perplexity, std::int64_t threads) {
    const size_t m = away.size(0), k = away.size(1);
    require(k > 0 && w.size(0) == m && w.size(1) == k, "there must be a weight for each distance");
    require(perplexity > 0, "perplexity must be above 0");
    Output shares = zeros(m, k);
    unlocked([&] {
        Team team(at_least_one(threads));
        team.ranges(m, ROWS, [&](size_t begin, size_t end) {
            if (stopped()) return;
            for (size_t i = begin; i < end; ++i)
                share_among_neighbours(away.data() + i * k, w.data() + i * k, k, perplexity, shares.data + i * k);
        });
    });
    return shares.array;
}

Attraction attraction(Integers start, Column<std::int32_t> to, Vector p, Vector w, size_t n) {
    require(start.size(0) == n + 1 && w.size(0) == n, "arrays differ in their number of rows");
    require(to.size(0) == p.size(0), "there must be a probability for each pair");
    require(start.data()[0] == 0 && static_cast<size_t>(start.data()[n]) == p.size(0), "start does not cover the pairs");
    for (size_t i = 0; i < n; ++i) require(start.data()[i] <= start.data()[i + 1], "start must not fall");
    for (std::int32_t j : to.span()) require(static_cast<size_t>(static_cast<std::uint32_t>(j)) < n, "a pair names a row that is not there");
    for (double one : w.span()) require(one > 0, "weights must be above 0");
    return {start.data(), to.data(), p.data(), w.data(), n};
}

// Calls work(forces) with all pairs in double precision (angle 0), or with cells.
template <class Work>
void with_forces(const Attraction& pairs, size_t axes, std::int64_t freedom, double angle, std::int64_t threads, Work&& work) {
    require(axes > 0 && freedom > 0, "there must be axes and degrees of freedom");
    require(angle == 0 || (angle > 0 && axes <= 3), "cells are there for up to three axes, and an angle is not negative");
    require(pairs.n < (size_t{1} << 31), "too many rows");
    unlocked([&] {
        Team team(at_least_one(threads));
        if (angle == 0) {
            Forces<double> forces(pairs, axes, static_cast<size_t>(freedom), angle, kernels, team);
            work(forces);
        } else {
            Forces<float> forces(pairs, axes, static_cast<size_t>(freedom), angle, kernels, team);
            work(forces);
        }
    });
}

// (places, moves, gains, norm of the gradient, sum P log(1 / q), Z) after some steps; the last two are those of the places after them.
nb::tuple descended(Matrix places, Matrix moves, Matrix gains, Integers start, Column<std::int32_t> to, Vector p, Vector w,
                    std::int64_t freedom, double angle, nb::tuple how, std::int64_t steps, std::int64_t threads) {
    const size_t n = places.size(0), k = places.size(1);
    require(moves.size(0) == n && gains.size(0) == n && moves.size(1) == k && gains.size(1) == k, "arrays differ in their shape");
    require(nb::len(how) == 3, "how: exaggeration, momentum and rate");
    require(steps >= 0, "steps must not be negative");
    const Attraction pairs = attraction(start, to, p, w, n);
    const Step by{nb::cast<double>(how[0]), nb::cast<double>(how[1]), nb::cast<double>(how[2])};
    Output x = unfilled(n, k), move = unfilled(n, k), gain = unfilled(n, k);
    std::copy_n(places.data(), n * k, x.data);
    std::copy_n(moves.data(), n * k, move.data);
    std::copy_n(gains.data(), n * k, gain.data);
    double norm = 0, spread = 0, total = 0;
    with_forces(pairs, k, freedom, angle, threads, [&](auto& forces) {
        norm = descend(forces, n * k, by, static_cast<size_t>(freedom), static_cast<size_t>(steps), x.data, move.data, gain.data);
        total = forces.at(x.data);
        spread = forces.spread(x.data);
    });
    return nb::make_tuple(x.array, move.array, gain.array, norm, spread, total);
}

// (pull, push, Z): forces of pairs of P, and of all pairs; for tests.
nb::tuple forces(Matrix places, Integers start, Column<std::int32_t> to, Vector p, Vector w, std::int64_t freedom, double angle,
                 std::int64_t threads) {
    const size_t n = places.size(0), k = places.size(1);
    const Attraction pairs = attraction(start, to, p, w, n);
    Output pull = zeros(n, k), push = zeros(n, k);
    double total = 0;
    with_forces(pairs, k, freedom, angle, threads, [&](auto& found) {
        total = found.at(places.data());
        std::copy_n(found.pull().data(), n * k, pull.data);
        std::copy_n(found.push().data(), n * k, push.data);
    });
    return nb::make_tuple(pull.array, push.array, total);
}

// (places, objective): of new rows, from where they start, see new_places.hpp.
nb::tuple placed(Matrix starts, Matrix places, Vector w, Table<std::int64_t> near, Matrix shares, double strength, std::int64_t freedom,
                 std::int64_t most_steps, double rest, std::int64_t threads) {
    const size_t m = starts.size(0), n = places.size(0), k = places.size(1);
    require(n > 0 && k > 0 && freedom > 0, "there must be rows, axes and degrees of freedom");
    require(starts.size(1) == k && w.size(0) == n, "arrays differ in their shape");
    require(near.size(0) == m && shares.size(0) == m && near.size(1) == shares.size(1), "there must be a share for each neighbour");
    require(most_steps >= 0 && rest >= 0, "steps and rest must not be negative");
    for (std::int64_t j : near.span()) require(static_cast<std::uint64_t>(j) < n, "a neighbour is not there");
    Output found = unfilled(m, k), objective = zeros(m);
    std::copy_n(starts.data(), m * k, found.data);
    unlocked([&] {
        const PaddedPlaces<double> x(places.rows(), w.data());
        const Field field{x.view(), Similarity(static_cast<size_t>(freedom)), strength, kernels, static_cast<size_t>(most_steps), rest};
        Team team(at_least_one(threads));
        team.ranges(m, 4, [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end && !stopped(); ++i)
                objective.data[i] = field.settle(near.rows()[i], shares.rows()[i], near.size(1), found.data + i * k);
        });
    });
    return nb::make_tuple(found.array, objective.array);
}

}  // namespace

NB_MODULE(_embed, m) {
    start_module_beside_kernels();
    m.def("guttman", &guttman, "D"_a.noconvert(), "places"_a.noconvert(), "w"_a.noconvert(), "threads"_a);
    m.def("pair_distances", &pair_distances, "places"_a.noconvert(), "first"_a.noconvert(), "second"_a.noconvert(), "threads"_a);
    m.def("table_of_pairs", &table_of_pairs, "values"_a.noconvert(), "first"_a.noconvert(), "second"_a.noconvert(), "n"_a);
    m.def("affinities", &affinities, "away"_a.noconvert(), "w"_a.noconvert(), "perplexity"_a, "threads"_a);
    m.def("descended", &descended, "places"_a.noconvert(), "moves"_a.noconvert(), "gains"_a.noconvert(), "start"_a.noconvert(),
          "to"_a.noconvert(), "p"_a.noconvert(), "w"_a.noconvert(), "freedom"_a, "angle"_a, "how"_a, "steps"_a, "threads"_a);
    m.def("forces", &forces, "places"_a.noconvert(), "start"_a.noconvert(), "to"_a.noconvert(), "p"_a.noconvert(), "w"_a.noconvert(),
          "freedom"_a, "angle"_a, "threads"_a);
    m.def("placed", &placed, "starts"_a.noconvert(), "places"_a.noconvert(), "w"_a.noconvert(), "near"_a.noconvert(),
          "shares"_a.noconvert(), "strength"_a, "freedom"_a, "most_steps"_a, "rest"_a, "threads"_a);
    m.def("use_level", &use_level, "name"_a);
}
