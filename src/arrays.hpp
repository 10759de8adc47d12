// NumPy arrays as arguments and results of the bindings.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "kernels/common/rows_view.hpp"
#include "run.hpp"

namespace nb = nanobind;
using namespace tenfold;

constexpr int ANY = -1;

// What must hold of the arguments of a call.
inline void require(bool holds, const char* what) {
    if (!holds) throw nb::value_error(what);
}
inline void require(bool holds, const std::string& what) { require(holds, what.c_str()); }

// A C-contiguous, aligned array of T with N axes (or ANY), borrowed through the buffer protocol for the
// length of a call.
template <class T, int N>
class Input {
public:
    Input() = default;
    Input(const Input&) = delete;
    ~Input() { PyBuffer_Release(&view); }

    bool acquire(PyObject* source) noexcept {
        if (PyObject_GetBuffer(source, &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
            PyErr_Clear();
            return false;
        }
        return (N == ANY || view.ndim == N) && view.itemsize == sizeof(T) && view.format &&
               has_format(view.format) && reinterpret_cast<std::uintptr_t>(view.buf) % alignof(T) == 0;
    }
    size_t size(int axis) const { return static_cast<size_t>(view.shape[axis]); }
    const T* data() const { return static_cast<const T*>(view.buf); }
    std::span<const T> span() const { return {data(), static_cast<size_t>(view.len) / sizeof(T)}; }
    Rows<const T> rows() const { return {data(), size(0), size(1)}; }

private:
    static bool has_format(const char* format) {
        const char code = format[1] == '\0' ? format[0] : '\0';  // longer: another byte order, or a record
        if constexpr (std::is_same_v<T, double>) return code == 'd';
        if constexpr (std::is_same_v<T, float>) return code == 'f';
        if constexpr (std::is_same_v<T, std::uint8_t>) return code == 'B' || code == '?';
        if constexpr (std::is_same_v<T, std::uint16_t>) return code == 'H';
        if constexpr (std::is_same_v<T, std::int32_t>) return code == 'i';
        if constexpr (std::is_same_v<T, std::uint32_t>) return code == 'I';
        if constexpr (std::is_same_v<T, std::uint64_t>) return code == 'L' || code == 'Q';
        if constexpr (std::is_same_v<T, std::int64_t>) return code == 'l' || code == 'q';
        return false;
    }
    Py_buffer view{};
};

// The name of the type of a NumPy array, for signatures and messages.
template <class T>
constexpr auto numpy_name() {
    using nb::detail::const_name;
    if constexpr (std::is_same_v<T, double>) return const_name("float64");
    else if constexpr (std::is_same_v<T, float>) return const_name("float32");
    else if constexpr (std::is_same_v<T, std::uint8_t>) return const_name("uint8");
    else if constexpr (std::is_same_v<T, std::uint16_t>) return const_name("uint16");
    else if constexpr (std::is_same_v<T, std::int32_t>) return const_name("int32");
    else if constexpr (std::is_same_v<T, std::uint32_t>) return const_name("uint32");
    else if constexpr (std::is_same_v<T, std::uint64_t>) return const_name("uint64");
    else return const_name("int64");
}

template <class T, int N>
struct nb::detail::type_caster<Input<T, N>> {
    using Array = Input<T, N>;
    NB_TYPE_CASTER(Array, const_name("numpy.typing.NDArray[numpy.") + numpy_name<T>() + const_name("]"))
    bool from_python(handle source, uint32_t, cleanup_list*) noexcept { return value.acquire(source.ptr()); }
};

using Vector = const Input<double, 1>&;
using Integers = const Input<std::int64_t, 1>&;
template <class T>
using Column = const Input<T, 1>&;
using Matrix = const Input<double, 2>&;
template <class T>
using Table = const Input<T, 2>&;

// NumPy arrays that are results; the names are for the stub.
inline bool is_array(nb::handle) { return true; }

struct Doubles : nb::object {
    NB_OBJECT(Doubles, nb::object, "numpy.typing.NDArray[numpy.float64]", is_array)
};
struct Int64s : nb::object {
    NB_OBJECT(Int64s, nb::object, "numpy.typing.NDArray[numpy.int64]", is_array)
};
struct UInt64s : nb::object {
    NB_OBJECT(UInt64s, nb::object, "numpy.typing.NDArray[numpy.uint64]", is_array)
};

// A new NumPy array and its data. NumPy itself refuses sizes that overflow.
struct Output {
    Doubles array;
    double* data;
};

// Set when the module is imported.
inline PyObject *numpy_zeros = nullptr, *numpy_empty = nullptr;

inline void* buffer_of(const nb::object& array) {
    Py_buffer view;
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_WRITABLE) != 0) throw nb::python_error();
    void* data = view.buf;
    PyBuffer_Release(&view);
    return data;
}

// The same of any type, filled with zeros: `New<std::int32_t> nodes(n, 2)`.
template <class T>
struct New {
    nb::object array;
    T* data;

    template <class... Sizes>
    explicit New(Sizes... sizes)
        : array(nb::borrow(numpy_zeros)(nb::make_tuple(sizes...), numpy_name<T>().text)),
          data(static_cast<T*>(buffer_of(array))) {}
};

template <class... Sizes>
Output make_output(PyObject* maker, Sizes... sizes) {
    auto array = nb::borrow<Doubles>(nb::borrow(maker)(nb::make_tuple(sizes...)));
    return {array, static_cast<double*>(buffer_of(array))};
}

template <class... Sizes>
Output zeros(Sizes... sizes) {
    return make_output(numpy_zeros, sizes...);
}

// For large outputs that the kernel fills whatever happens.
template <class... Sizes>
Output unfilled(Sizes... sizes) {
    return make_output(numpy_empty, sizes...);
}

// What every module does when it is imported.
inline void start_module() {
    nb::set_leak_warnings(false);  // a model that somebody keeps until Python ends is no leak
    const nb::module_ numpy = nb::module_::import_("numpy");
    numpy_zeros = nb::object(numpy.attr("zeros")).release().ptr();
    numpy_empty = nb::object(numpy.attr("empty")).release().ptr();
}

// What a module beside `_kernels` does: it also learns which run calls it.
inline void start_module_beside_kernels() {
    start_module();
    const nb::module_ kernels = nb::module_::import_("tenfold._kernels");
    works_for_key = nb::cast<pthread_key_t>(kernels.attr("_works_for_key"));
    run_type = nb::object(kernels.attr("Run")).release().ptr();
    run_variable = nb::object(kernels.attr("_run")).release().ptr();
}
