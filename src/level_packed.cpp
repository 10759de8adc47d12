// Compiled once per instruction set (see CMakeLists.txt): sums in packed triangles.
#include "kernels/reduce/packed_sums.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(packed_, level)

extern const Packed TENFOLD_NAMED(TENFOLD_LEVEL){
    .room = TENFOLD_LEVEL::packed_room,
    .moments_double = TENFOLD_LEVEL::packed_moments<double>,
    .moments_float = TENFOLD_LEVEL::packed_moments<float>,
    .merge = TENFOLD_LEVEL::merge_packed,
};

}  // namespace tenfold
