// Rows joined into groups: a forest in which every row points to one that joined before it, the first row of a group to itself.
//
// Several threads may join at once. A larger root is hung below a smaller one, so that the root of a group is its first row,
// whoever comes first.
#pragma once

#include "kernels/common/rows_view.hpp"

namespace tenfold {

using Place = std::int32_t;  // of a row

TENFOLD_INLINE Place read(const Place& place) { return __atomic_load_n(&place, __ATOMIC_RELAXED); }
TENFOLD_INLINE void write(Place& place, Place value) { __atomic_store_n(&place, value, __ATOMIC_RELAXED); }

// The first row of the group of a row. The way there is halved: what another thread writes meanwhile is nearer to the root too.
TENFOLD_INLINE Place root_of(Place* above, Place row) {
    for (Place up = read(above[row]); up != row; up = read(above[row])) {
        const Place next = read(above[up]);
        if (next != up) write(above[row], next);
        row = up == next ? up : next;
    }
    return row;
}

// Joins the groups of two rows; false where they are one already.
TENFOLD_INLINE bool join(Place* above, Place a, Place b) {
    for (;;) {
        a = root_of(above, a), b = root_of(above, b);
        if (a == b) return false;
        if (a < b) std::swap(a, b);
        Place expected = a;
        if (__atomic_compare_exchange_n(&above[a], &expected, b, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return true;
    }
}

}  // namespace tenfold
