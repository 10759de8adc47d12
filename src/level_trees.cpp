// Compiled once per instruction set (see CMakeLists.txt): the walks over trees.
#include "kernels/tree/tree_walk.hpp"

namespace tenfold {

template <class T>
constexpr WalksOf<T> walks_of{
    .tree_sums = TENFOLD_LEVEL::tree_sums<T>,
    .tree_leaves = TENFOLD_LEVEL::tree_leaves<T>,
};

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(walks_, level)

extern const Walks TENFOLD_NAMED(TENFOLD_LEVEL){.of_float = walks_of<float>, .of_double = walks_of<double>};

}  // namespace tenfold
