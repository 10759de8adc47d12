// Compiled once per instruction set (see CMakeLists.txt): distances of clusters.
#include "kernels/cluster/linkage_rows.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(linkage_, level)

extern const LinkageKernels TENFOLD_NAMED(TENFOLD_LEVEL){
    .away = TENFOLD_LEVEL::away,
    .meet = TENFOLD_LEVEL::meet,
    .least = TENFOLD_LEVEL::least,
    .join = TENFOLD_LEVEL::join,
    .weigh = TENFOLD_LEVEL::weigh,
    .reach = TENFOLD_LEVEL::reach,
};

}  // namespace tenfold
