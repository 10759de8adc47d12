// Compiled once per instruction set (see CMakeLists.txt): sums over pairs of places of embeddings.
#include "kernels/manifold/pair_sums.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(embed_, level)

extern const EmbedKernels TENFOLD_NAMED(TENFOLD_LEVEL){
    .guttman = TENFOLD_LEVEL::guttman,
    .push_double = TENFOLD_LEVEL::push<double>,
    .push_float = TENFOLD_LEVEL::push<float>,
    .pull_double = TENFOLD_LEVEL::pull<double>,
    .pull_float = TENFOLD_LEVEL::pull<float>,
};

}  // namespace tenfold
