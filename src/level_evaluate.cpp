// Compiled once per instruction set (see CMakeLists.txt): leave-one-out.
#include "kernels/evaluate/leave_out.hpp"
#include "kernels/generative/whitened.hpp"

namespace tenfold {

template <class T>
constexpr LeaveOutOf<T> leave_out_of{
    .whitened_squares = TENFOLD_LEVEL::whitened_squares<T>,
    .residuals_left = TENFOLD_LEVEL::residuals_left<T>,
    .naive_bayes_left = TENFOLD_LEVEL::naive_bayes_left<T>,
    .centroids_left = TENFOLD_LEVEL::centroids_left<T>,
    .linear_discriminant_left = TENFOLD_LEVEL::linear_discriminant_left<T>,
};

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(leave_out_, level)

extern const LeaveOut TENFOLD_NAMED(TENFOLD_LEVEL){
    .of_float = leave_out_of<float>,
    .of_double = leave_out_of<double>,
    .quadratic_discriminant_left = TENFOLD_LEVEL::quadratic_discriminant_left,
};

}  // namespace tenfold
