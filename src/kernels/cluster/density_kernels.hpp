// Kernels of clusters of dense rows, compiled once per instruction set. Each works on the rows of some leaves of a k-d tree.
#pragma once

#include "kernels/cluster/joined.hpp"
#include "kernels/near/found.hpp"
#include "kernels/near/tree_nodes.hpp"

namespace tenfold {

constexpr Place NO_ROW = -2, MANY_GROUPS = -1;  // of a node: it has no dense rows, or they are not known to be of one group

struct Leaves {
    size_t begin, end;
};

// Within which distance, in the unit of sums, rows are near.
struct Near {
    Apart apart;
    double power, radius;
};

// Of each node of a tree: the box of its rows, (low, high) by column, and their weighted sum by column with their weight behind it.
struct NodeSums {
    const double *box, *sums;
    const double* weight;  // of each row, by place
};

// How rows count for a point by their squared distance d to it, up to `radius2`: flat, or exp(-scale d). A point rests that moves
// `rest` at most.
struct Kernel {
    bool gaussian;
    double radius2, scale, rest;
    std::int64_t most_steps;
};

// An edge to a row of another group; `other` is -1 where none is known but that it is at least so long.
struct Edge {
    double length;
    std::int64_t low, high;  // numbers of its rows
    Place other;
};

// A round of Boruvka's algorithm. Lengths are in the unit of sums; distances times `scale` are compared with cores.
struct Reach {
    double scale, unscale;       // unscale: a little more than 1 / scale
    const double* core;          // of each row, by place
    const double* least_core;    // of the rows of each node
    const std::int64_t* number;  // of each row
    const Place *group, *one;    // of each row; of each node whose rows are all of one group, else MANY_GROUPS
    double* shortest;            // edge of each group so far
    Edge* edge;                  // of each row
};

struct DensityKernels {
    // Whether the rows within the radius of each weigh `least` or more.
    void (*find_dense)(const TreeView& tree, Leaves leaves, const double* weight, Near near, double least, std::uint8_t* dense);
    // Joins dense rows that are near one another (`joined.hpp`).
    void (*join_dense)(const TreeView& tree, Leaves leaves, Near near, const std::uint8_t* dense, Place* above, Place* one);
    // Of rows that are not dense, the least label of dense rows that are near.
    void (*label_border)(const TreeView& tree, Leaves leaves, Near near, const std::uint8_t* dense, const Place* one,
                         std::int64_t* label);
    // Moves points begin .. end - 1 until they rest: then the weight of the rows around each, and how many steps it took before.
    void (*shift)(const TreeView& tree, const NodeSums& nodes, const Kernel& kernel, size_t begin, size_t end, double* points,
                  double* weight, std::int64_t* steps);
    // How far around each row, itself included, rows weigh `least`.
    void (*find_cores)(const TreeView& tree, Leaves leaves, Near near, const double* weight, double least, size_t n, double* core);
    // The shortest edge of each row to another group, where it may be the shortest of its group.
    void (*find_edges)(const TreeView& tree, Leaves leaves, Near near, const Reach& all);
    // The same tree row by row, from the row at place 0: n - 1 lengths, and the rows in the order in which they are reached.
    void (*grow_tree)(const TreeView& tree, Near near, size_t n, const double* core, double scale, double* nearest, Place* from,
                      std::uint8_t* gone, double* length, Place* order);
};

extern const DensityKernels density_baseline;
#if TENFOLD_X86_LEVELS
extern const DensityKernels density_avx2, density_avx512;
#endif

}  // namespace tenfold
