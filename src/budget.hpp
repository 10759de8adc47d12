// A budget of threads, and leases on it. Native, because no signal can divide a call or a destructor: no thread is ever lost.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>

namespace nb = nanobind;

// n threads for everything that is done under it; who calls has one of them. Only used with the interpreter's lock.
struct Budget {
    explicit Budget(std::int64_t n) : n(std::max<std::int64_t>(n, 1)), free(this->n - 1) {}

    std::int64_t n, free;
};

// Threads taken from a budget. They go back when it ends, whatever ends it.
class Lease {
public:
    explicit Lease(nb::object budget) : holds_(std::move(budget)), budget_(nb::cast<Budget&>(holds_)) {}
    Lease(const Lease&) = delete;
    ~Lease() { give_back(); }

    // Takes as many as are free, `most` in all; returns how many there are now.
    std::int64_t take(std::int64_t most) {
        const std::int64_t more = std::clamp<std::int64_t>(most - held_, 0, budget_.free);
        budget_.free -= more;
        return held_ += more;
    }
    void give_back() {
        budget_.free += held_;
        held_ = 0;
    }

private:
    nb::object holds_;
    Budget& budget_;
    std::int64_t held_ = 0;
};

inline void bind_budget(nb::module_& m) {
    using namespace nb::literals;
    nb::class_<Budget>(m, "Budget")
        .def(nb::init<std::int64_t>(), "n"_a)
        .def_ro("n", &Budget::n)
        .def_ro("free", &Budget::free);
    nb::class_<Lease>(m, "Lease")
        .def(nb::init<nb::object>(), "budget"_a)
        .def("take", &Lease::take, "most"_a)
        .def("give_back", &Lease::give_back);
}
