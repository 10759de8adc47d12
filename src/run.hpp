// Runs: what calls of kernels belong to. A run that is cancelled stops its own kernels, in whatever thread they work.
#pragma once

#include <nanobind/nanobind.h>

#include "kernels/common/cancel.hpp"

namespace nb = nanobind;
using namespace tenfold;

// A cancellation as a Python object. The one in force is the value of a context variable, so that it follows the contexts in
// which threads work, and that two threads of a user never share one.
struct Run : Cancellation {
    explicit Run(const nb::object& within) : holds_(within) {
        if (within.is_none()) return;
        if (!nb::isinstance<Run>(within)) throw nb::type_error("outer must be a Run or None");
        outer = nb::inst_ptr<Run>(within);
    }

private:
    nb::object holds_;
};

// Set when a module is imported: the type above, and the context variable. All modules have those of `_kernels`.
inline PyObject *run_type = nullptr, *run_variable = nullptr;

inline nb::object start_runs(const nb::object& type) {
    if (pthread_key_create(&works_for_key, nullptr) != 0) throw std::bad_alloc();
    run_type = nb::object(type).release().ptr();
    run_variable = PyContextVar_New("tenfold_run", nullptr);
    if (!run_variable) throw nb::python_error();
    return nb::borrow(run_variable);
}

// Runs a kernel for the run of the caller, without the interpreter's lock: no Python object may be touched inside. Where the run
// was cancelled meanwhile KeyboardInterrupt is raised, and what the kernel has filled is not used.
template <class Kernel>
auto unlocked(Kernel&& kernel) {
    PyObject* found = nullptr;
    if (PyContextVar_Get(run_variable, nullptr, &found) != 0) throw nb::python_error();
    const nb::object run = nb::steal(found);  // kept for the length of the call
    const bool known = run.ptr() && reinterpret_cast<PyObject*>(Py_TYPE(run.ptr())) == run_type;
    const WorksFor now(known ? nb::inst_ptr<Run>(run) : nullptr);
    try {
        nb::gil_scoped_release release;
        if constexpr (std::is_void_v<decltype(kernel())>) {
            kernel();
            leave_if_stopped();
        } else {
            auto result = kernel();
            leave_if_stopped();
            return result;
        }
    } catch (const Cancelled& cancelled) {
        PyErr_SetString(PyExc_KeyboardInterrupt, cancelled.what());
        throw nb::python_error();
    }
}
