// Columns of categories by the numbers of their different values. What reads objects holds the interpreter's lock.
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "arrays.hpp"
#include "kernels/prepare/category_codes.hpp"

using namespace nb::literals;

namespace {

constexpr size_t SIGNALS_EVERY = size_t{1} << 16;
constexpr size_t TILE = 1024;  // rows of a table that are read column by column before others
constexpr size_t AHEAD = 16;   // rows whose objects are fetched into the cache before their turn

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

// Numbers of texts, by the hash that Python keeps in each. Who adds a text keeps it alive.
class Texts {
public:
    // Where the number of a text stands; −1 there: it is new.
    std::int64_t& number_of(PyObject* text) {
        if (2 * used_ >= mask_) grow();
        Py_hash_t hash = reinterpret_cast<PyASCIIObject*>(text)->hash;
        if (hash == -1) hash = PyObject_Hash(text);
        for (size_t at = static_cast<size_t>(hash);; ++at) {
            Slot& slot = slots_[at & mask_];
            if (!slot.text) {
                ++used_;
                slot = {text, hash, -1};
                return slot.number;
            }
            if (slot.hash == hash && (slot.text == text || same(slot.text, text))) return slot.number;
        }
    }

private:
    struct Slot {
        PyObject* text = nullptr;
        Py_hash_t hash = 0;
        std::int64_t number = -1;
    };

    static bool same(PyObject* one, PyObject* other) {
        return PyUnicode_GET_LENGTH(one) == PyUnicode_GET_LENGTH(other) && PyUnicode_KIND(one) == PyUnicode_KIND(other) &&
               std::memcmp(PyUnicode_DATA(one), PyUnicode_DATA(other), static_cast<size_t>(PyUnicode_GET_LENGTH(one)) * PyUnicode_KIND(one)) == 0;
    }

    void grow() {
        std::vector<Slot> old(std::max<size_t>(64, 2 * slots_.size()));
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (!slot.text) continue;
            size_t at = static_cast<size_t>(slot.hash);
            while (slots_[at & mask_].text) ++at;
            slots_[at & mask_] = slot;
        }
    }

    std::vector<Slot> slots_;
    size_t used_ = 0, mask_ = 0;
};

// Different values of the objects, equal ones being those that a dict takes for one, in order of appearance.
class Numbering {
public:
    std::int64_t number(PyObject* value) {
        if (plain_ && PyUnicode_CheckExact(value)) {
            std::int64_t& number = texts_.number_of(value);
            if (number < 0) number = add(value);
            return number;
        }
        if (!plain_ || !is_plain(value)) {
            if (plain_) pour_texts();
            return look_up(value);
        }
        if (!known_) known_ = std::make_unique<ByAddress>();
        bool there = false;
        std::int64_t* known = known_->find(value, there);
        if (!there) {
            *known = -1;
            *known = look_up(value);
        }
        return *known;
    }
    void forget_addresses() {
        if (known_) known_->forget();
    }
    nb::list different() const { return different_; }

private:
    std::int64_t add(PyObject* value) {
        different_.append(nb::borrow(value));
        return static_cast<std::int64_t>(nb::len(different_)) - 1;
    }

    // An object came whose comparison is Python code: it may equal a text, and may let other threads change the column.
    void pour_texts() {
        plain_ = false;
        for (size_t i = 0; i < nb::len(different_); ++i) {
            const nb::object value = different_[i];
            const nb::int_ place(i);
            if (PyUnicode_CheckExact(value.ptr()) && PyDict_SetItem(places_.ptr(), value.ptr(), place.ptr()) != 0) throw nb::python_error();
        }
    }

    std::int64_t look_up(PyObject* value) {
        const nb::object held = nb::borrow(value);
        PyObject* found = PyDict_GetItemWithError(places_.ptr(), value);
        if (found) return PyLong_AsLongLong(found);
        if (PyErr_Occurred()) throw nb::python_error();
        const nb::int_ place(nb::len(different_));
        if (PyDict_SetItem(places_.ptr(), value, place.ptr()) != 0) throw nb::python_error();
        return add(value);
    }

    Texts texts_;
    std::unique_ptr<ByAddress> known_;  // of other plain objects
    nb::dict places_;  // of all that are no texts, and of those too as soon as comparing is Python code
    nb::list different_;
    bool plain_ = true;
};

// Objects of an array with one axis or two, with any distance between them.
class Objects {
public:
    Objects(nb::handle source, int axes) {
        if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_STRIDED_RO | PyBUF_FORMAT) != 0) throw nb::python_error();
        const bool objects = view_.ndim == axes && view_.itemsize == sizeof(PyObject*) && view_.format && view_.format[0] == 'O' &&
                             view_.format[1] == '\0';
        if (!objects) {
            PyBuffer_Release(&view_);
            throw nb::type_error(axes == 1 ? "values must be an array of objects with one axis" : "values must be an array of objects with two axes");
        }
    }
    Objects(const Objects&) = delete;
    ~Objects() { PyBuffer_Release(&view_); }
    size_t size(int axis) const { return static_cast<size_t>(view_.shape[axis]); }

    // A column from one of its rows on.
    struct Column {
        const char* first;
        std::ptrdiff_t step;
        PyObject* at(size_t i) const { return *reinterpret_cast<PyObject* const*>(first + static_cast<std::ptrdiff_t>(i) * step); }
        PyObject* operator[](size_t i) const {
            PyObject* value = at(i);
            return value ? value : Py_None;  // NumPy writes a new array of objects as null pointers
        }
    };
    Column column(size_t j = 0, size_t row = 0) const {
        const auto across = view_.ndim == 1 ? 0 : static_cast<std::ptrdiff_t>(j) * view_.strides[1];
        return {static_cast<const char*>(view_.buf) + static_cast<std::ptrdiff_t>(row) * view_.strides[0] + across, view_.strides[0]};
    }

private:
    Py_buffer view_{};
};

// The numbers of the next `count` values of a column, of which there are `left`.
void number_rows(Objects::Column values, size_t count, size_t left, Numbering& numbering, std::int32_t* codes) {
    for (size_t i = 0; i < count; ++i) {
        __builtin_prefetch(values.at(std::min(i + AHEAD, left - 1)));
        codes[i] = static_cast<std::int32_t>(numbering.number(values[i]));
    }
}

// The number of each value, and the different values in order of appearance.
nb::tuple numbered(nb::handle values) {
    const Objects objects(values, 1);
    const size_t n = objects.size(0);
    const nb::object codes = nb::borrow(numpy_empty)(n, "int32");
    auto* data = static_cast<std::int32_t*>(buffer_of(codes));
    Numbering numbering;
    for (size_t begin = 0; begin < n; begin += SIGNALS_EVERY) {
        number_rows(objects.column(0, begin), std::min(SIGNALS_EVERY, n - begin), n - begin, numbering, data + begin);
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        numbering.forget_addresses();  // a handler is Python code
    }
    return nb::make_tuple(codes, numbering.different());
}

// The same of each column of a table: the numbers (columns, rows), and a list of lists.
nb::tuple numbered_columns(nb::handle values) {
    const Objects table(values, 2);
    const size_t n = table.size(0), p = table.size(1);
    const nb::object codes = nb::borrow(numpy_empty)(nb::make_tuple(p, n), "int32");
    auto* data = static_cast<std::int32_t*>(buffer_of(codes));
    std::vector<Numbering> columns(p);
    for (size_t begin = 0; begin < n; begin += TILE) {
        const size_t count = std::min(TILE, n - begin);
        for (size_t j = 0; j < p; ++j) number_rows(table.column(j, begin), count, n - begin, columns[j], data + j * n + begin);
        if ((begin + count) % SIGNALS_EVERY == 0) {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            for (Numbering& column : columns) column.forget_addresses();
        }
    }
    nb::list different;
    for (const Numbering& column : columns) different.append(column.different());
    return nb::make_tuple(codes, different);
}

// The number of each row of bytes, and the first row of each different one, in order of appearance.
nb::tuple numbered_bytes(Table<std::uint8_t> values) {
    const size_t n = values.size(0), width = values.size(1);
    const nb::object codes = nb::borrow(numpy_empty)(n, "int32");
    auto* numbers = static_cast<std::int32_t*>(buffer_of(codes));
    const std::vector<size_t> firsts = unlocked([&] { return number_bytes(values.data(), n, width, numbers); });
    auto rows = New<std::int64_t>(firsts.size());
    std::copy(firsts.begin(), firsts.end(), rows.data);
    return nb::make_tuple(codes, rows.array);
}

// Writes numbers[places] of each column into the columns of `out` from `first` on.
template <class T>
void write_columns(const std::vector<PlacedColumn>& columns, size_t n, Table<T> table, const nb::object& out, size_t first) {
    require(table.size(0) == n && first + columns.size() <= table.size(1), "out must have room for the columns");
    T* data = static_cast<T*>(buffer_of(out));
    const bool inside = unlocked([&] { return write_placed(columns, n, data, table.size(1), first); });
    require(inside, "places must be those of numbers");
}

void spread(const nb::list& columns, const nb::object& out, size_t first) {
    struct Held {
        Input<std::int32_t, 1> narrow;
        Input<std::int64_t, 1> wide;
        Input<double, 1> numbers;
    };
    std::vector<std::unique_ptr<Held>> held;
    std::vector<PlacedColumn> placed;
    size_t n = 0;
    for (nb::handle one : columns) {
        const auto pair = nb::cast<nb::tuple>(one);
        require(nb::len(pair) == 2, "a column is its places and its numbers");
        Held& column = *held.emplace_back(std::make_unique<Held>());
        const nb::object places = pair[0], numbers = pair[1];
        const bool narrow = column.narrow.acquire(places.ptr());
        require(narrow || column.wide.acquire(places.ptr()), "places must be a contiguous array of int32 or int64");
        require(column.numbers.acquire(numbers.ptr()) && column.numbers.size(0) > 0, "numbers must be a contiguous array of float64");
        const size_t length = narrow ? column.narrow.size(0) : column.wide.size(0);
        require(placed.empty() || length == n, "columns must have one length");
        n = length;
        placed.push_back({narrow ? column.narrow.data() : nullptr, narrow ? nullptr : column.wide.data(), column.numbers.data(), column.numbers.size(0)});
    }
    if (placed.empty()) return;
    if (Input<double, 2> doubles; doubles.acquire(out.ptr())) return write_columns<double>(placed, n, doubles, out, first);
    if (Input<float, 2> floats; floats.acquire(out.ptr())) return write_columns<float>(placed, n, floats, out, first);
    Input<std::uint16_t, 2> small;
    require(small.acquire(out.ptr()), "out must be a contiguous table of float64, float32 or uint16");
    write_columns<std::uint16_t>(placed, n, small, out, first);
}

// The weight of each code of each column, and of its missing values (`kernels/prepare/category_codes.hpp`).
template <class T>
Doubles tally_of(Table<T> X, Integers sizes, const nb::object& weights) {
    require(sizes.size(0) == X.size(1), "there must be a size for each column");
    size_t total = 0;
    for (const std::int64_t size : sizes.span()) {
        require(size >= -1, "a size must be −1 or more");
        total += static_cast<size_t>(size + 1);
    }
    Input<double, 1> w;
    const bool weighted = !weights.is_none();
    if (weighted) require(w.acquire(weights.ptr()) && w.size(0) == X.size(0), "there must be a weight for each row");
    auto counts = zeros(total);
    const bool inside = unlocked([&] { return tally(X.rows(), weighted ? w.data() : nullptr, sizes.data(), counts.data); });
    require(inside, "codes must be below the sizes of their columns");
    return counts.array;
}

// Whether None is among them: itself, as a type of somebody may be equal to anything.
bool holds_none(nb::handle values) {
    const Objects objects(values, 1);
    const Objects::Column column = objects.column();
    for (size_t i = 0; i < objects.size(0); ++i)
        if (column[i] == Py_None) return true;
    return false;
}

}  // namespace

NB_MODULE(_codes, m) {
    start_module_beside_kernels();
    m.def("numbered", &numbered, "values"_a);
    m.def("numbered_columns", &numbered_columns, "values"_a);
    m.def("numbered_bytes", &numbered_bytes, "values"_a);
    m.def("spread", &spread, "columns"_a, "out"_a, "first"_a);
    m.def("tally", &tally_of<double>, "X"_a, "sizes"_a, "weights"_a = nb::none());
    m.def("tally", &tally_of<float>, "X"_a, "sizes"_a, "weights"_a = nb::none());
    m.def("holds_none", &holds_none, "values"_a);
}
