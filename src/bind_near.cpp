// Python binding of the searches for the nearest rows. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "kernels/near/graph_nodes.hpp"
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
    Tree(Matrix rows, std::int64_t apart, std::int64_t threads) : apart_(apart_of(apart)) {
        require(rows.size(0) > 0 && rows.size(1) > 0 && threads >= 1, "there must be rows and columns, and a thread");
        require(apart_ != Apart::hamming, "a tree has no boxes by this measure");
        unlocked([&] { nodes_ = std::make_unique<TreeNodes>(rows.rows(), static_cast<size_t>(threads)); });
    }

    // The queries in an order in which those that look at the same rows come together.
    nb::object order(Matrix queries) const {
        require(queries.size(1) == nodes_->width(), "queries have another number of columns than rows");
        New<std::int64_t> order(queries.size(0));
        unlocked([&] { nodes_->sort_queries(queries.rows(), order.data); });
        return order.array;
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
    nb::object count(Matrix queries, Vector radius, Integers skip, double power) const {
        require(queries.size(1) == nodes_->width(), "queries have another number of columns than rows");
        require(radius.size(0) == queries.size(0), "there must be a radius for each query");
        const std::int64_t* skips = Searched::skipped(skip, queries.size(0));
        New<std::int64_t> count(queries.size(0));
        unlocked([&] { kernels->tree_count(nodes_->view(), queries.rows(), radius.data(), skips, apart_, power, count.data); });
        return count.array;
    }

private:
    Apart apart_;
    std::unique_ptr<TreeNodes> nodes_;
};

// A navigable small-world graph of rows, for Euclidean distances. The rows are passed to every search again: they are not kept here.
class Graph {
public:
    // order: the rows in the order in which they join.
    Graph(Matrix rows, Integers order, std::int64_t threads) : kernels_(&*kernels) {
        const size_t n = rows.size(0);
        require(n > 0 && rows.size(1) > 0 && n <= INT32_MAX, "there must be rows and columns, and not more than 2^31 rows");
        require(order.size(0) == n && threads >= 1, "order must name every row once, and there must be a thread");
        unlocked([&] {
            std::vector<bool> named(n);
            for (const std::int64_t row : order.span())
                if (row >= 0 && static_cast<size_t>(row) < n) named[static_cast<size_t>(row)] = true;
            all_ = std::find(named.begin(), named.end(), false) == named.end();
            if (all_) nodes_ = std::make_unique<GraphNodes>(*kernels_, rows.rows(), order.data(), static_cast<size_t>(threads));
        });
        require(all_, "order must name every row once");
    }

    // Where a walk of this width does not find k rows, the last are -1, infinitely far. Only the first `limit` rows in the order are
    // looked at.
    nb::tuple nearest(Matrix rows, Matrix queries, std::int64_t k, Integers skip, std::int64_t width, std::int64_t limit) const {
        const GraphView& graph = nodes_->view();
        require(rows.size(0) == graph.n && rows.size(1) == graph.p, "these are not the rows of the graph");
        require(queries.size(1) == graph.p, "queries have another number of columns than rows");
        require(limit >= 1 && static_cast<size_t>(limit) <= graph.n, "limit must be from 1 to the number of rows");
        return Searched::nearest(queries.size(0), graph.n, k, skip, [&](auto wanted, auto skips, double* distance, std::int64_t* row) {
            const size_t least = wanted + (skips ? 1 : 0), wide = std::clamp(static_cast<size_t>(std::max<std::int64_t>(width, 0)), least, graph.n);
            OwnDesk desk(graph, wide);
            kernels_->graph_nearest(graph, rows.rows(), queries.rows(),
                                    {wanted, wide, static_cast<size_t>(limit), skips, nodes_->number(), nodes_->middle(), nodes_->scale()}, desk,
                                    distance, row);
        });
    }

private:
    const NearKernels* kernels_;
    bool all_ = false;
    std::unique_ptr<GraphNodes> nodes_;
};

// The k nearest of the `width` rows whose codes differ in the fewest bits from that of a query.
nb::tuple codes_nearest(Matrix rows, Table<std::uint64_t> codes, Matrix queries, Table<std::uint64_t> query_codes, std::int64_t k,
                        Integers skip, std::int64_t width) {
    const size_t n = rows.size(0), words = codes.size(1);
    require(n <= INT32_MAX && codes.size(0) == n && query_codes.size(0) == queries.size(0), "there must be a code for every row and query");
    require(words >= 1 && words <= 512 && query_codes.size(1) == words, "codes must have the same number of words, from 1 to 512");
    require(queries.size(1) == rows.size(1), "queries have another number of columns than rows");
    return Searched::nearest(queries.size(0), n, k, skip, [&](auto wanted, auto skips, double* distance, std::int64_t* row) {
        const size_t least = wanted + (skips ? 1 : 0), wide = std::clamp(static_cast<size_t>(std::max<std::int64_t>(width, 0)), least, n);
        kernels->codes_nearest({codes.data(), words}, rows.rows(), queries.rows(), query_codes.data(), wanted, wide, skips, distance, row);
    });
}

}  // namespace

NB_MODULE(_near, m) {
    start_module_beside_kernels();
    nb::class_<AllRows>(m, "AllRows")
        .def(nb::init<Matrix, std::int64_t>(), "rows"_a.noconvert(), "apart"_a)
        .def("nearest", &AllRows::nearest, "rows"_a.noconvert(), "queries"_a.noconvert(), "k"_a, "skip"_a.noconvert(), "power"_a)
        .def("within", &AllRows::within, "rows"_a.noconvert(), "queries"_a.noconvert(), "radius"_a, "skip"_a.noconvert(), "power"_a);
    nb::class_<Tree>(m, "Tree")
        .def(nb::init<Matrix, std::int64_t, std::int64_t>(), "rows"_a.noconvert(), "apart"_a, "threads"_a = 1)
        .def("order", &Tree::order, "queries"_a.noconvert())
        .def("nearest", &Tree::nearest, "queries"_a.noconvert(), "k"_a, "skip"_a.noconvert(), "power"_a)
        .def("within", &Tree::within, "queries"_a.noconvert(), "radius"_a, "skip"_a.noconvert(), "power"_a)
        .def("count", &Tree::count, "queries"_a.noconvert(), "radius"_a.noconvert(), "skip"_a.noconvert(), "power"_a);
    nb::class_<Graph>(m, "Graph")
        .def(nb::init<Matrix, Integers, std::int64_t>(), "rows"_a.noconvert(), "order"_a.noconvert(), "threads"_a)
        .def("nearest", &Graph::nearest, "rows"_a.noconvert(), "queries"_a.noconvert(), "k"_a, "skip"_a.noconvert(), "width"_a, "limit"_a);
    m.def("codes_nearest", &codes_nearest, "rows"_a.noconvert(), "codes"_a.noconvert(), "queries"_a.noconvert(),
          "query_codes"_a.noconvert(), "k"_a, "skip"_a.noconvert(), "width"_a);
    m.def("use_level", &use_level, "name"_a);
}
