// Long loops of a binding that Python's signals can end.
#pragma once

#include <chrono>

#include "run.hpp"

// Whether to leave a long loop: another thread says so, or a signal has come, which only Python can look at.
class Patience {
public:
    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (now - looked > std::chrono::milliseconds(50)) {
            looked = now;
            nb::gil_scoped_acquire acquire;
            raised = raised || PyErr_CheckSignals() != 0;
        }
        return raised || stopped();
    }
    // With the interpreter's lock: what a handler of signals raised is raised here.
    void end() const {
        if (raised) throw nb::python_error();
    }

private:
    bool raised = false;
    std::chrono::steady_clock::time_point looked = std::chrono::steady_clock::now();
};
