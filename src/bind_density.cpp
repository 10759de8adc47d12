// Python binding of clusters of dense rows. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "arrays.hpp"
#include "kernels/cluster/condensed.hpp"
#include "kernels/cluster/density_kernels.hpp"
#include "kernels/cluster/groups.hpp"
#include "levels.hpp"
#include "spanning_tree.hpp"

using namespace nb::literals;

namespace {

Levels<DensityKernels> kernels(TENFOLD_LEVELS(density));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return kernels.use(name); }

TreeNodes tree_of(Matrix rows) {
    require(rows.size(0) > 0 && rows.size(1) > 0, "there must be rows and columns");
    require(rows.size(0) <= INT32_MAX, "there must not be more than 2^31 rows");
    return TreeNodes(rows.rows());
}

Near near_of(std::int64_t apart, double power, double radius) {
    require(apart >= 0 && apart < static_cast<int>(Apart::hamming), "a tree has no boxes by this measure");
    require(radius >= 0, "the radius must not be negative");
    return {static_cast<Apart>(apart), power, radius};
}

// Of each node one dense row where it has no other, else what `density_kernels.hpp` says.
std::vector<Place> known_of_nodes(const TreeView& tree, const std::uint8_t* dense) {
    std::vector<Place> one(tree.inner + leaves_of(tree), NO_ROW);
    for (size_t leaf = 0; leaf < leaves_of(tree); ++leaf)
        for (size_t i = tree.start[leaf]; i < tree.start[leaf + 1]; ++i)
            if (dense[i]) one[tree.inner + leaf] = one[tree.inner + leaf] == NO_ROW ? static_cast<Place>(i) : MANY_GROUPS;
    for (size_t node = tree.inner; node-- > 0;) {
        const Place a = one[2 * node + 1], b = one[2 * node + 2];
        one[node] = a == NO_ROW ? b : b == NO_ROW ? a : MANY_GROUPS;
    }
    return one;
}

// (dense, label): whether the rows within the radius of each weigh enough, and the number of its group, in the order of their
// first dense rows; -1: none.
nb::tuple dense_groups(Matrix rows, Vector weight, double radius, double least, std::int64_t apart, double power, std::int64_t threads) {
    const size_t n = rows.size(0);
    require(weight.size(0) == 0 || weight.size(0) == n, "there must be a weight for each row, or none");
    const Near near = near_of(apart, power, radius);
    New<std::uint8_t> dense_row(n);
    New<std::int64_t> label_row(n);
    unlocked([&] {
        const TreeNodes nodes = tree_of(rows);
        leave_if_stopped();
        const TreeView tree = nodes.view();
        Team team(static_cast<size_t>(std::max<std::int64_t>(threads, 1)));
        const std::vector<std::int64_t> number = numbers_of(tree);
        std::vector<double> weights(weight.size(0));
        for (size_t i = 0; i < weights.size(); ++i) weights[i] = weight.data()[number[i]];
        std::vector<std::uint8_t> dense(n);
        each_leaves(team, tree, [&](Leaves leaves) {
            kernels->find_dense(tree, leaves, weights.empty() ? nullptr : weights.data(), near, least, dense.data());
        });
        std::vector<Place> above(n), one = known_of_nodes(tree, dense.data());
        for (size_t i = 0; i < n; ++i) above[i] = static_cast<Place>(i);
        each_leaves(team, tree, [&](Leaves leaves) {
            kernels->join_dense(tree, leaves, near, dense.data(), above.data(), one.data());
        });
        std::vector<Place> place(n);
        for (size_t i = 0; i < n; ++i) place[static_cast<size_t>(number[i])] = static_cast<Place>(i);
        std::vector<std::int64_t> label(n, -1);  // by place; of a root once its group has a number
        std::int64_t count = 0;
        for (size_t row = 0; row < n; ++row) {
            if (!dense[static_cast<size_t>(place[row])]) continue;
            const auto root = static_cast<size_t>(root_of(above.data(), place[row]));
            if (label[root] < 0) label[root] = count++;
            label[static_cast<size_t>(place[row])] = label[root];
        }
        each_leaves(team, tree, [&](Leaves leaves) {
            kernels->label_border(tree, leaves, near, dense.data(), one.data(), label.data());
        });
        for (size_t i = 0; i < n; ++i) {
            dense_row.data[number[i]] = dense[i];
            label_row.data[number[i]] = label[i];
        }
    });
    return nb::make_tuple(dense_row.array, label_row.array);
}

// What `mean_shift` wants to know of each node.
struct Sums {
    std::vector<double> box, sums, weight;

    Sums(const TreeView& tree, const double* weights) {
        const size_t p = tree.p, nodes = tree.inner + leaves_of(tree);
        box.resize(nodes * 2 * p);
        sums.assign(nodes * (p + 1), 0.0);
        weight.resize(tree.start[leaves_of(tree)]);
        for (size_t node = 0; node < nodes; ++node) {
            std::fill_n(&box[node * 2 * p], p, std::numeric_limits<double>::infinity());
            std::fill_n(&box[node * 2 * p + p], p, -std::numeric_limits<double>::infinity());
        }
        for (size_t leaf = 0; leaf < leaves_of(tree); ++leaf)
            for (size_t i = tree.start[leaf]; i < tree.start[leaf + 1]; ++i) {
                const size_t slot = i - tree.start[leaf];
                weight[i] = weights ? weights[tree.number[leaf * LEAF + slot]] : 1.0;
                double *mine = &box[(tree.inner + leaf) * 2 * p], *sum = &sums[(tree.inner + leaf) * (p + 1)];
                for (size_t j = 0; j < p; ++j) {
                    const double x = tree.values[(leaf * p + j) * LEAF + slot];
                    mine[j] = std::min(mine[j], x), mine[p + j] = std::max(mine[p + j], x);
                    sum[j] += weight[i] * x;
                }
                sum[p] += weight[i];
            }
        for (size_t node = tree.inner; node-- > 0;)
            for (const size_t child : {2 * node + 1, 2 * node + 2}) {
                double *mine = &box[node * 2 * p], *sum = &sums[node * (p + 1)];
                const double *its = &box[child * 2 * p], *more = &sums[child * (p + 1)];
                for (size_t j = 0; j < p; ++j) mine[j] = std::min(mine[j], its[j]), mine[p + j] = std::max(mine[p + j], its[p + j]);
                for (size_t j = 0; j <= p; ++j) sum[j] += more[j];
            }
    }
};

constexpr size_t POINTS = 32;  // that a thread takes at a time

// (points, weight, steps): where the points come to rest, the weight of the rows around them there, and how many steps it took.
nb::tuple mean_shift(Matrix rows, Vector weight, Matrix points, double radius, double scale, double rest, std::int64_t most_steps,
                     std::int64_t threads) {
    const size_t n = points.size(0), p = rows.size(1);
    require(points.size(1) == p, "points have another number of columns than rows");
    require(weight.size(0) == 0 || weight.size(0) == rows.size(0), "there must be a weight for each row, or none");
    require(radius >= 0 && scale >= 0 && rest >= 0 && most_steps >= 0, "radius, scale, rest and steps must not be negative");
    Output moved = zeros(n, p), around = zeros(n);
    New<std::int64_t> steps(n);
    unlocked([&] {
        const TreeNodes nodes = tree_of(rows);
        leave_if_stopped();
        const TreeView tree = nodes.view();
        const Sums sums(tree, weight.size(0) ? weight.data() : nullptr);
        const NodeSums known{sums.box.data(), sums.sums.data(), sums.weight.data()};
        const Kernel kernel{scale > 0, radius * radius, scale, rest, most_steps};
        std::copy_n(points.data(), n * p, moved.data);
        Team team(static_cast<size_t>(std::max<std::int64_t>(threads, 1)));
        team.ranges(n, POINTS, [&](size_t begin, size_t end) {
            kernels->shift(tree, known, kernel, begin, end, moved.data, around.data, steps.data);
        });
    });
    return nb::make_tuple(moved.array, around.array, steps.array);
}

// (cores, first, second, length): how far around each row rows weigh `least`, and the edges of the shortest tree by mutual
// reachability, all in the unit of sums; distances between rows count `scale` times.
nb::tuple reach_tree(Matrix rows, Vector weight, double least, double scale, std::int64_t apart, double power, bool by_groups,
                     std::int64_t threads) {
    const size_t n = rows.size(0);
    require(weight.size(0) == 0 || weight.size(0) == n, "there must be a weight for each row, or none");
    require(n >= 1 && least >= 0 && scale > 0, "there must be rows, least must not be negative, and scale be above 0");
    const Near near = near_of(apart, power, 0.0);
    Output cores = zeros(n), length = zeros(n - 1);
    New<std::int64_t> first(n - 1), second(n - 1);
    unlocked([&] {
        const TreeNodes nodes = tree_of(rows);
        leave_if_stopped();
        const TreeView tree = nodes.view();
        Team team(static_cast<size_t>(std::max<std::int64_t>(threads, 1)));
        const std::vector<std::int64_t> number = numbers_of(tree);
        std::vector<double> weights(weight.size(0)), core(n);
        for (size_t i = 0; i < weights.size(); ++i) weights[i] = weight.data()[number[i]];
        each_leaves(team, tree, [&](Leaves leaves) {
            kernels->find_cores(tree, leaves, near, weights.empty() ? nullptr : weights.data(), std::max(least, 1.0), n, core.data());
        });
        for (size_t i = 0; i < n; ++i) cores.data[number[i]] = core[i];
        Spanning found;
        found.first.reserve(n), found.second.reserve(n), found.length.reserve(n);
        if (by_groups) span_by_groups(*kernels, team, tree, near, scale, core, number, found);
        else span_row_by_row(*kernels, tree, near, scale, core, found);
        for (size_t i = 0; i + 1 < n; ++i) {
            first.data[i] = number[found.first[i]], second.data[i] = number[found.second[i]];
            length.data[i] = found.length[i];
        }
    });
    return nb::make_tuple(cores.array, first.array, second.array, length.array);
}

// (parent, child, at, weight): who left whom in the condensed tree of the merges of a spanning tree.
nb::tuple condense(Integers first, Integers second, Vector height, Vector weight, Vector core, double least) {
    const size_t n = height.size(0) + 1;
    require(first.size(0) == n - 1 && second.size(0) == n - 1 && core.size(0) == n, "edges must have two ends and a height, rows a core");
    require(weight.size(0) == 0 || weight.size(0) == n, "there must be a weight for each row, or none");
    require(n >= 2 && n <= INT32_MAX / 2, "there must be two rows or more, and not more than 2^30");
    for (size_t i = 0; i + 1 < n; ++i) {
        const std::int64_t a = first.data()[i], b = second.data()[i];
        require(a >= 0 && b >= 0 && a != b && std::max(a, b) < static_cast<std::int64_t>(n), "there is no such row");
    }
    std::vector<Left> found;
    unlocked([&] {
        const MergeTree tree(n, first.data(), second.data(), height.data(), weight.size(0) ? weight.data() : nullptr);
        found = tree.condensed(least, core.data());
    });
    New<std::int64_t> parent(found.size()), child(found.size());
    Output at = zeros(found.size()), heavy = zeros(found.size());
    for (size_t i = 0; i < found.size(); ++i)
        parent.data[i] = found[i].parent, child.data[i] = found[i].child, at.data[i] = found[i].at, heavy.data[i] = found[i].weight;
    return nb::make_tuple(parent.array, child.array, at.array, heavy.array);
}

// Groups from lists of near rows.
class RowGroups {
public:
    explicit RowGroups(std::int64_t n) : groups_(checked(n)) {}

    void add(std::int64_t first, Integers start, Integers rows, Column<std::uint8_t> dense, std::int64_t known) {
        const size_t n = groups_.size();
        require(start.size(0) >= 1, "start must say where the rows of each query begin, and the end");
        const size_t block = start.size(0) - 1;
        require(dense.size(0) == n && known >= 0 && first >= 0 && static_cast<size_t>(first) + block <= n, "there are not so many rows");
        require(start.data()[0] >= 0 && start.data()[block] <= static_cast<std::int64_t>(rows.size(0)), "start goes beyond the rows");
        require(std::is_sorted(start.data(), start.data() + block + 1), "start must rise");
        unlocked([&] {
            for (const std::int64_t row : rows.span())
                if (row < 0 || static_cast<size_t>(row) >= n) throw nb::value_error("there is no such row");
            groups_.add(static_cast<size_t>(first), start.data(), block, rows.data(), dense.data(), static_cast<size_t>(known));
        });
    }
    nb::object labels(Column<std::uint8_t> dense) {
        require(dense.size(0) == groups_.size(), "dense must say it of each row");
        New<std::int64_t> label(groups_.size());
        unlocked([&] { groups_.label(dense.data(), label.data); });
        return label.array;
    }

private:
    static size_t checked(std::int64_t n) {
        require(n >= 0 && n <= INT32_MAX, "there must not be more than 2^31 rows");
        return static_cast<size_t>(n);
    }

    Groups groups_;
};

}  // namespace

NB_MODULE(_density, m) {
    start_module_beside_kernels();
    m.def("dense_groups", &dense_groups, "rows"_a.noconvert(), "weight"_a.noconvert(), "radius"_a, "least"_a, "apart"_a, "power"_a,
          "threads"_a);
    m.def("mean_shift", &mean_shift, "rows"_a.noconvert(), "weight"_a.noconvert(), "points"_a.noconvert(), "radius"_a, "scale"_a,
          "rest"_a, "most_steps"_a, "threads"_a);
    m.def("reach_tree", &reach_tree, "rows"_a.noconvert(), "weight"_a.noconvert(), "least"_a, "scale"_a, "apart"_a, "power"_a,
          "by_groups"_a, "threads"_a);
    m.def("condense", &condense, "first"_a.noconvert(), "second"_a.noconvert(), "height"_a.noconvert(), "weight"_a.noconvert(),
          "core"_a.noconvert(), "least"_a);
    nb::class_<RowGroups>(m, "RowGroups")
        .def(nb::init<std::int64_t>(), "n"_a)
        .def("add", &RowGroups::add, "first"_a, "start"_a.noconvert(), "rows"_a.noconvert(), "dense"_a.noconvert(), "known"_a)
        .def("labels", &RowGroups::labels, "dense"_a.noconvert());
    m.def("use_level", &use_level, "name"_a);
}
