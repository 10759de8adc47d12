// Compiled once per instruction set (see CMakeLists.txt): steps of non-negative factorisation.
#include "kernels/reduce/nmf_sparse.hpp"

namespace tenfold {

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(nmf_, level)

extern const Nmf TENFOLD_NAMED(TENFOLD_LEVEL){
    .kl_double = TENFOLD_LEVEL::nmf_kl<double>,
    .kl_float = TENFOLD_LEVEL::nmf_kl<float>,
    .kl_sparse = TENFOLD_LEVEL::nmf_kl_sparse,
    .log_double = TENFOLD_LEVEL::nmf_log<double>,
    .log_float = TENFOLD_LEVEL::nmf_log<float>,
    .log_sparse = TENFOLD_LEVEL::nmf_log_sparse,
    .descent_double = TENFOLD_LEVEL::nmf_descent<double>,
    .descent_float = TENFOLD_LEVEL::nmf_descent<float>,
    .descent_sparse = TENFOLD_LEVEL::nmf_descent_sparse,
    .columns = TENFOLD_LEVEL::nmf_columns,
};

}  // namespace tenfold
