// Columns of Python objects by the numbers of their different values. All of it holds the interpreter's lock: it reads objects.
#include <array>
#include <cstdint>
#include <memory>

#include "arrays.hpp"

using namespace nb::literals;

namespace {

constexpr size_t SIGNALS_EVERY = size_t{1} << 16;

// Objects that are compared without running Python code: nothing that was read before can change while one is looked for.
bool is_plain(PyObject* value) {
    return PyUnicode_CheckExact(value) || PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value) ||
           value == Py_None;
}

// The number of an object by its address: texts of few levels are mostly the same few objects. It forgets, but is never wrong
// while the objects live.
class ByAddress {
public:
    std::int64_t* find(PyObject* value, bool& there) {
        const auto address = reinterpret_cast<std::uintptr_t>(value);
        Slot& slot = slots_[(address >> 4 ^ address >> 15) & (SLOTS - 1)];
        there = slot.value == value;
        slot.value = value;
        return &slot.number;
    }
    void forget() { slots_.fill({}); }

private:
    struct Slot {
        PyObject* value = nullptr;
        std::int64_t number = 0;
    };
    static constexpr size_t SLOTS = 4096;
    std::array<Slot, SLOTS> slots_{};
};

// Different values of the objects, equal ones being those that a dict takes for one, in order of appearance.
class Numbering {
public:
    std::int64_t number(PyObject* value) {
        if (!plain_ || !is_plain(value)) {
            plain_ = false;  // its comparison may let other threads change the column
            return look_up(value);
        }
        bool there = false;
        std::int64_t* known = known_->find(value, there);
        if (!there) {
            *known = -1;
            *known = look_up(value);
        }
        return *known;
    }
    void forget_addresses() { known_->forget(); }
    nb::list different() const { return different_; }

private:
    std::int64_t look_up(PyObject* value) {
        const nb::object held = nb::borrow(value);
        PyObject* found = PyDict_GetItemWithError(places_.ptr(), value);
        if (found) return PyLong_AsLongLong(found);
        if (PyErr_Occurred()) throw nb::python_error();
        const auto number = static_cast<std::int64_t>(nb::len(different_));
        const nb::int_ place(number);
        if (PyDict_SetItem(places_.ptr(), value, place.ptr()) != 0) throw nb::python_error();
        different_.append(held);
        return number;
    }

    std::unique_ptr<ByAddress> known_ = std::make_unique<ByAddress>();
    nb::dict places_;
    nb::list different_;
    bool plain_ = true;
};

// A column of objects, with any distance between its rows.
class Objects {
public:
    explicit Objects(nb::handle source) {
        if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) throw nb::python_error();
        held_ = true;
        const bool objects = view_.ndim == 1 && view_.itemsize == sizeof(PyObject*) && view_.format && view_.format[0] == 'O' &&
                             view_.format[1] == '\0';
        if (!objects) {
            PyBuffer_Release(&view_);
            throw nb::type_error("values must be an array of objects with one axis");
        }
    }
    Objects(const Objects&) = delete;
    ~Objects() {
        if (held_) PyBuffer_Release(&view_);
    }
    size_t size() const { return static_cast<size_t>(view_.shape[0]); }
    PyObject* operator[](size_t i) const {
        PyObject* value = *reinterpret_cast<PyObject**>(static_cast<char*>(view_.buf) + static_cast<std::ptrdiff_t>(i) * view_.strides[0]);
        return value ? value : Py_None;  // NumPy writes a new array of objects as null pointers
    }

private:
    Py_buffer view_{};
    bool held_ = false;
};

// The number of each value, and the different values in order of appearance.
nb::tuple numbered(nb::handle values) {
    const Objects column(values);
    auto codes = New<std::int64_t>(column.size());
    Numbering numbering;
    for (size_t i = 0; i < column.size(); ++i) {
        codes.data[i] = numbering.number(column[i]);
        if ((i + 1) % SIGNALS_EVERY == 0) {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            numbering.forget_addresses();  // a handler is Python code
        }
    }
    return nb::make_tuple(nb::borrow<Int64s>(codes.array), numbering.different());
}

// Whether None is among them: itself, as a type of somebody may be equal to anything.
bool holds_none(nb::handle values) {
    const Objects column(values);
    for (size_t i = 0; i < column.size(); ++i)
        if (column[i] == Py_None) return true;
    return false;
}

}  // namespace

NB_MODULE(_codes, m) {
    start_module();
    m.def("numbered", &numbered, "values"_a);
    m.def("holds_none", &holds_none, "values"_a);
}
