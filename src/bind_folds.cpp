// Python binding of what makes folds. Arguments are checked here, and only here.
#include <vector>

#include "arrays.hpp"
#include "kernels/evaluate/folds.hpp"

using namespace nb::literals;

namespace {

constexpr std::int64_t MOST_CODES = 1 << 26;

// Where each code begins in the order of codes, and where the last one ends.
std::vector<size_t> starts(Labels codes, size_t count) {
    std::vector<size_t> first(count + 1);
    for (std::int64_t code : codes) {
        require(static_cast<std::uint64_t>(code) < count, "a code is outside its range");
        ++first[static_cast<size_t>(code) + 1];
    }
    for (size_t c = 0; c < count; ++c) first[c + 1] += first[c];
    return first;
}

// The fold of each row: class after class the folds 0, 1, ..., 0, 1, ... in random order within a class. No codes: one class.
Int64s deal(std::int64_t n, std::int64_t folds, Integers codes, std::int64_t classes, std::uint64_t seed) {
    require(n >= 0 && n <= INT32_MAX && folds >= 1 && folds <= INT32_MAX, "there must be 0 to 2^31 rows and 1 to 2^31 folds");
    require(classes >= 1 && classes <= MOST_CODES, "there must be 1 to 2^26 classes");
    const bool one = codes.size(0) == 0;
    require(one ? classes == 1 : codes.size(0) == static_cast<size_t>(n), "codes must have an entry for each row");
    auto fold = New<std::int64_t>(n);
    unlocked([&] {
        std::vector<size_t> first = one ? std::vector<size_t>{0, static_cast<size_t>(n)}
                                        : starts(codes.span(), static_cast<size_t>(classes));
        std::vector<size_t> next(first.begin(), first.end() - 1);
        std::vector<std::int32_t> lots(static_cast<size_t>(n));
        for (size_t i = 0, lot = 0; i < lots.size(); ++i, lot = lot + 1 == static_cast<size_t>(folds) ? 0 : lot + 1)
            lots[i] = static_cast<std::int32_t>(lot);
        deal_lots(codes.span(), lots.size(), lots, first, next, seed, fold.data);
    });
    return nb::borrow<Int64s>(fold.array);
}

// The stable order of codes 0 .. count - 1.
Int64s by_code(Integers codes, std::int64_t count) {
    require(count >= 1 && count <= MOST_CODES, "there must be 1 to 2^26 codes");
    auto order = New<std::int64_t>(codes.size(0));
    unlocked([&] {
        std::vector<size_t> first = starts(codes.span(), static_cast<size_t>(count));
        order_by_code(codes.span(), first, order.data);
    });
    return nb::borrow<Int64s>(order.array);
}

}  // namespace

NB_MODULE(_folds, m) {
    start_module_beside_kernels();
    m.def("deal", &deal, "n"_a, "folds"_a, "codes"_a.noconvert(), "classes"_a, "seed"_a);
    m.def("by_code", &by_code, "codes"_a.noconvert(), "count"_a);
}
