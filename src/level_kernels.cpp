// Compiled once per instruction set (see CMakeLists.txt): the kernels of blocks, and the table that holds them.
#include "kernels/cluster/nearest.hpp"
#include "kernels/common/block_kernels.hpp"
#include "kernels/common/each_value.hpp"
#include "kernels/common/moments.hpp"
#include "kernels/evaluate/rank_pairs.hpp"
#include "kernels/generative/class_scores.hpp"
#include "kernels/generative/groups.hpp"
#include "kernels/linear/extended.hpp"
#include "kernels/linear/logistic.hpp"

namespace tenfold {

template <class T>
constexpr KernelsOf<T> table_of{
    .all_finite = TENFOLD_LEVEL::all_finite<T>,
    .hash_rows = TENFOLD_LEVEL::hash_rows<T>,
    .moments = TENFOLD_LEVEL::moments<T>,
    .moments_at = TENFOLD_LEVEL::moments_at<T>,
    .take_rows = TENFOLD_LEVEL::take_rows<T>,
    .group_moments = TENFOLD_LEVEL::group_moments<T>,
    .group_spreads = TENFOLD_LEVEL::group_spreads<T>,
    .weighted_gram = TENFOLD_LEVEL::weighted_gram<T>,
    .logistic_terms = TENFOLD_LEVEL::logistic_terms<T>,
    .logistic_curvature = TENFOLD_LEVEL::logistic_curvature<T>,
    .softmax_terms = TENFOLD_LEVEL::softmax_terms<T>,
    .nearest = TENFOLD_LEVEL::nearest<T>,
    .assign_sums = TENFOLD_LEVEL::assign_sums<T>,
    .lloyd = TENFOLD_LEVEL::lloyd<T>,
    .linear_scores = TENFOLD_LEVEL::linear_scores<T>,
    .spread_scores = TENFOLD_LEVEL::spread_scores<T>,
    .rank_pairs = TENFOLD_LEVEL::rank_pairs<T>,
    .quadratic_scores = TENFOLD_LEVEL::quadratic_scores<T>,
};

#define TENFOLD_JOIN(a, b) a##b
#define TENFOLD_NAMED(level) TENFOLD_JOIN(kernels_, level)

const Kernels TENFOLD_NAMED(TENFOLD_LEVEL){
    .of_float = table_of<float>,
    .of_double = table_of<double>,
    .merge_scatter = TENFOLD_LEVEL::merge_scatter,
    .extended_gradient = TENFOLD_LEVEL::extended_gradient,
    .extended_gram = TENFOLD_LEVEL::extended_gram,
};

}  // namespace tenfold
