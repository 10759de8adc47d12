// Cancellation: work that is given up raises a flag of its own, and the kernels that serve it leave. Nobody else's do.
#pragma once

#include <pthread.h>

#include <atomic>
#include <exception>
#include <new>

#include "kernels/common/inline.hpp"

namespace tenfold {

// One for each piece of work that can be given up. Work within work is given up with it.
struct Cancellation {
    std::atomic<bool> cancelled{false};
    const Cancellation* outer = nullptr;

    TENFOLD_INLINE bool stopped() const {
        for (const Cancellation* one = this; one; one = one->outer)
            if (one->cancelled.load(std::memory_order_relaxed)) return true;
        return false;
    }
};

// Thrown by a kernel that was stopped, and raised in Python: what it has left unfinished is never used.
struct Cancelled : std::exception {
    const char* what() const noexcept override { return "the work that asked for this was given up"; }
};

// Where each thread has what it works for; made when `_kernels` is imported, and the same in all modules. It is no thread_local
// variable: the first use of one in a new thread takes memory, and ends the process where there is none.
inline pthread_key_t works_for_key{};

// What this thread works for; none: what cannot be given up.
TENFOLD_INLINE const Cancellation* works_for() { return static_cast<const Cancellation*>(pthread_getspecific(works_for_key)); }

// Long kernels look at it now and then, and return early; `unlocked` (src/run.hpp) then throws Cancelled.
TENFOLD_INLINE bool stopped() {
    const Cancellation* work = works_for();
    return work && work->stopped();
}

// For kernels whose callers would read what is not there.
TENFOLD_INLINE void leave_if_stopped() {
    if (stopped()) throw Cancelled();
}

// A binding sets it for the length of a call, a team for its threads.
class WorksFor {
public:
    explicit WorksFor(const Cancellation* now) : before_(works_for()) {
        if (now != before_ && pthread_setspecific(works_for_key, now) != 0) throw std::bad_alloc();
    }
    WorksFor(const WorksFor&) = delete;
    ~WorksFor() { pthread_setspecific(works_for_key, before_); }

private:
    const Cancellation* before_;
};

}  // namespace tenfold
