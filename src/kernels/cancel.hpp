// Cancellation: work that is given up raises a flag of its own, and the kernels that serve it leave. Nobody else's do.
#pragma once

#include <atomic>
#include <exception>

namespace tenfold {

// One for each piece of work that can be given up. Work within work is given up with it.
struct Cancellation {
    std::atomic<bool> cancelled{false};
    const Cancellation* outer = nullptr;

    bool stopped() const {
        for (const Cancellation* one = this; one; one = one->outer)
            if (one->cancelled.load(std::memory_order_relaxed)) return true;
        return false;
    }
};

// Thrown by a kernel that was stopped, and raised in Python: what it has left unfinished is never used.
struct Cancelled : std::exception {
    const char* what() const noexcept override { return "the work that asked for this was given up"; }
};

// What this thread works for; none: what cannot be given up. A binding sets it for the length of a call, a team for its threads.
inline constinit thread_local const Cancellation* works_for = nullptr;

// Long kernels look at it now and then, and return early; `unlocked` (src/arrays.hpp) then throws Cancelled.
inline bool stopped() { return works_for && works_for->stopped(); }

// For kernels whose callers would read what is not there.
inline void leave_if_stopped() {
    if (stopped()) throw Cancelled();
}

class WorksFor {
public:
    explicit WorksFor(const Cancellation* now) : before_(works_for) { works_for = now; }
    WorksFor(const WorksFor&) = delete;
    ~WorksFor() { works_for = before_; }

private:
    const Cancellation* before_;
};

}  // namespace tenfold
