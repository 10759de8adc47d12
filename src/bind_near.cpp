// Python binding of the searches for the nearest rows. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "kernels/near/near_kernels.hpp"
#include "levels.hpp"

using namespace nb::literals;

namespace {

Levels<NearKernels> kernels(TENFOLD_LEVELS(near));

// For tests; false where this machine does not have the instruction set.
bool use_level(const std::string& name) { return kernels.use(name); }

Apart apart_of(std::int64_t apart) {
    require(apart >= 0 && apart <= static_cast<int>(Apart::hamming), "there is no such measure");
    return static_cast<Apart>(apart);
}

// Room for what is found within a radius, given back when it ends.
struct Room : Within {
    Room() : Within{nullptr, 0, 0, more} {}
    Room(const Room&) = delete;
    ~Room() { std::free(rows); }

    static void more(Within& within) {
        const size_t room = std::max<size_t>(2 * within.room, 4096);
        void* rows = room > SIZE_MAX / sizeof(Neighbor) ? nullptr : std::realloc(within.rows, room * sizeof(Neighbor));
        if (!rows) throw std::bad_alloc();
        within.rows = static_cast<Neighbor*>(rows);
        within.room = room;
    }
};

// What both searches share: the checks of a call, and its results as arrays.
struct Searched {
    static const std::int64_t* skipped(Integers skip, size_t queries) {
        require(skip.size(0) == 0 || skip.size(0) == queries, "skip must name a row for each query");
        return skip.size(0) ? skip.data() : nullptr;
    }
    template <class Search>
    static nb::tuple nearest(size_t queries, size_t rows, std::int64_t k, Integers skip, Search&& search) {
        const std::int64_t* skips = skipped(skip, queries);
        require(k >= 1 && static_cast<size_t>(k) + (skips ? 1 : 0) <= rows, "k must be 1 or more, and there must be so many rows");
        const auto wanted = static_cast<size_t>(k);
        Output distance = zeros(queries, wanted);
        New<std::int64_t> row(queries, wanted);
        unlocked([&] { search(wanted, skips, distance.data, row.data); });
        return nb::make_tuple(distance.array, row.array);
    }
    // (start, row, distance): the rows of query q, in their order, are from start[q] to start[q + 1].
    template <class Search>
    static nb::tuple within(size_t queries, double radius, Integers skip, Search&& search) {
        const std::int64_t* skips = skipped(skip, queries);
        require(radius >= 0, "the radius must not be negative");
        Room found;
        New<std::int64_t> start(queries + 1);
        unlocked([&] {
            std::unique_ptr<size_t[]> ends(new size_t[queries]());
            search(skips, found, ends.get());
            if (stopped()) return;
            for (size_t q = 0; q < queries; ++q) {
                start.data[q + 1] = static_cast<std::int64_t>(ends[q]);
                std::sort(found.rows + start.data[q], found.rows + ends[q],
                          [](const Neighbor& a, const Neighbor& b) { return a.row < b.row; });
            }
        });
        New<std::int64_t> row(found.count);
        Output distance = zeros(found.count);
        for (size_t i = 0; i < found.count; ++i) row.data[i] = found.rows[i].row, distance.data[i] = found.rows[i].distance;
        return nb::make_tuple(start.array, row.array, distance.array);
    }
};

// All rows, looked at one after another. They are passed to every search again: they are not kept here.
class AllRows {
public:
    AllRows(Matrix rows, std::int64_t apart) : kernels_(&*kernels), apart_(apart_of(apart)), n_(rows.size(0)), p_(rows.size(1)) {
        require(n_ > 0 && p_ > 0 && n_ <= INT32_MAX, "there must be rows and columns, and not more than 2^31 rows");
        packed_ = unlocked([&] { return kernels_->pack(rows.rows(), apart_); });
    }
    AllRows(const AllRows&) = delete;
    ~AllRows() { kernels_->drop(packed_); }

    nb::tuple nearest(Matrix rows, Matrix queries, std::int64_t k, Integers skip, double power) const {
        check(rows, queries);
        return Searched::nearest(queries.size(0), n_, k, skip, [&](auto wanted, auto skips, double* distance, std::int64_t* row) {
            kernels_->all_nearest(packed_, rows.rows(), queries.rows(), wanted, skips, apart_, power, distance, row);
        });
    }
    nb::tuple within(Matrix rows, Matrix queries, double radius, Integers skip, double power) const {
        check(rows, queries);
        return Searched::within(queries.size(0), radius, skip, [&](auto skips, Within& found, size_t* ends) {
            kernels_->all_within(packed_, rows.rows(), queries.rows(), radius, skips, apart_, power, found, ends);
        });
    }

private:
    void check(Matrix rows, Matrix queries) const {
        require(rows.size(0) == n_ && rows.size(1) == p_, "these are not the rows that were packed");
        require(queries.size(1) == p_, "queries have another number of columns than rows");
    }

    const NearKernels* kernels_;
    Apart apart_;
    size_t n_, p_;
    void* packed_ = nullptr;
};

// A k-d tree of rows.
class Tree {
public:
    Tree(Matrix rows, std::int64_t apart) : apart_(apart_of(apart)) {
        require(rows.size(0) > 0 && rows.size(1) > 0, "there must be rows and columns");
        require(apart_ != Apart::hamming, "a tree has no boxes by this measure");
        unlocked([&] { nodes_ = std::make_unique<TreeNodes>(rows.rows()); });
    }

    nb::tuple nearest(Matrix queries, std::int64_t k, Integers skip, double power) const {
        require(queries.size(1) == nodes_->width(), "queries have another number of columns than rows");
        return Searched::nearest(queries.size(0), nodes_->size(), k, skip, [&](auto wanted, auto skips, double* distance, std::int64_t* row) {
            kernels->tree_nearest(nodes_->view(), queries.rows(), wanted, skips, apart_, power, distance, row);
        });
    }
    nb::tuple within(Matrix queries, double radius, Integers skip, double power) const {
        require(queries.size(1) == nodes_->width(), "queries have another number of columns than rows");
        return Searched::within(queries.size(0), radius, skip, [&](auto skips, Within& found, size_t* ends) {
            kernels->tree_within(nodes_->view(), queries.rows(), radius, skips, apart_, power, found, ends);
        });
    }

private:
    Apart apart_;
    std::unique_ptr<TreeNodes> nodes_;
};

}  // namespace

NB_MODULE(_near, m) {
    start_module_beside_kernels();
    nb::class_<AllRows>(m, "AllRows")
        .def(nb::init<Matrix, std::int64_t>(), "rows"_a.noconvert(), "apart"_a)
        .def("nearest", &AllRows::nearest, "rows"_a.noconvert(), "queries"_a.noconvert(), "k"_a, "skip"_a.noconvert(), "power"_a)
        .def("within", &AllRows::within, "rows"_a.noconvert(), "queries"_a.noconvert(), "radius"_a, "skip"_a.noconvert(), "power"_a);
    nb::class_<Tree>(m, "Tree")
        .def(nb::init<Matrix, std::int64_t>(), "rows"_a.noconvert(), "apart"_a)
        .def("nearest", &Tree::nearest, "queries"_a.noconvert(), "k"_a, "skip"_a.noconvert(), "power"_a)
        .def("within", &Tree::within, "queries"_a.noconvert(), "radius"_a, "skip"_a.noconvert(), "power"_a);
    m.def("use_level", &use_level, "name"_a);
}
