// Sorted lists of rows (presorted.hpp): the bit of an entry that says "same value as the entry before".
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

template <class Index>
constexpr Index TIE = static_cast<Index>(Index{1} << (8 * sizeof(Index) - 1));

}  // namespace tenfold
