// Tables of codes as arguments of the bindings.
#pragma once

#include "arrays.hpp"
#include "kernels/boosting/histogram.hpp"

// A table of codes of either size, borrowed for the length of a call.
class CodeTable {
public:
    bool acquire(PyObject* source) noexcept {
        wide = !bytes.acquire(source);
        return !wide || pairs.acquire(source);
    }
    size_t size(int axis) const { return wide ? pairs.size(axis) : bytes.size(axis); }
    Codes codes() const { return {wide ? static_cast<const void*>(pairs.data()) : bytes.data(), size(1), wide}; }
    bool in_words() const { return codes().row_bytes() % 8 == 0; }

private:
    bool wide = false;
    Input<std::uint8_t, 2> bytes;
    Input<std::uint16_t, 2> pairs;
};

template <>
struct nb::detail::type_caster<CodeTable> {
    NB_TYPE_CASTER(CodeTable, const_name("numpy.typing.NDArray[numpy.uint8 | numpy.uint16]"))
    bool from_python(handle source, uint32_t, cleanup_list*) noexcept { return value.acquire(source.ptr()); }
};
