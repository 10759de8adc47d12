// A team of threads that share short pieces of work: they wait for one another awake for a moment, then asleep. Where other programs
// have the cores, and two of the team are on one, the moment is none: the one that waits would keep the other from its work.
//
// What a piece of work throws, on whichever thread, is thrown by the call that shared it out, once all threads are done. A thread
// that cannot be started does not come: the others do its work.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

#include "kernels/common/rows_view.hpp"

namespace tenfold {

class Team {
public:
    explicit Team(size_t n) { resize(n); }
    Team(const Team&) = delete;
    ~Team() { dismiss(); }

    size_t size() const { return threads_.size() + 1; }

    // From now on n threads, the caller among them; fewer where the system has no more.
    void resize(size_t n) {
        n = std::max<size_t>(n, 1);
        if (n == wanted_) return;
        dismiss();
        wanted_ = n;
        try {
            threads_.reserve(n - 1);
            while (size() < n) threads_.emplace_back([this, t = size(), seen = turn_.load()] { serve(t, seen); });
        } catch (const std::system_error&) {
        } catch (const std::bad_alloc&) {
        }
    }

    // Calls work(t) once for each t < size(); the caller is thread 0. Returns when all are done.
    template <class Work>
    void run(Work&& work) {
        if (threads_.empty()) return work(0);
        call_ = [](void* task, size_t t) { (*static_cast<std::remove_reference_t<Work>*>(task))(t); };
        task_ = const_cast<void*>(static_cast<const void*>(&work));
        works_for_ = works_for();
        failure_ = nullptr;
        failed_.store(false, std::memory_order_relaxed);
        busy_.store(threads_.size(), std::memory_order_relaxed);
        core_.store(core(), std::memory_order_relaxed);
        next_turn();
        attempt(0);
        await([&] { return busy_.load(std::memory_order_acquire) == 0; });
        for (size_t left; (left = busy_.load(std::memory_order_acquire)) != 0;) busy_.wait(left, std::memory_order_acquire);
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

    // Calls work(i), or work(i, t) on thread t, for each i < n, whichever thread is free.
    template <class Work>
    void each(size_t n, Work&& work) {
        const auto one = [&](size_t i, size_t t) {
            if constexpr (std::is_invocable_v<Work, size_t, size_t>) work(i, t);
            else work(i);
        };
        if (threads_.empty() || n < 2) {
            for (size_t i = 0; i < n; ++i) one(i, 0);
            return;
        }
        std::atomic<size_t> next{0};
        run([&](size_t t) {
            for (size_t i = next++; i < n && !failed_.load(std::memory_order_relaxed); i = next++) one(i, t);
        });
    }

    // Calls work(begin, end) for ranges of at most `step` rows that cover 0 .. n - 1.
    template <class Work>
    void ranges(size_t n, size_t step, Work&& work) {
        each((n + step - 1) / step, [&](size_t i) { work(i * step, std::min(n, (i + 1) * step)); });
    }

private:
    static constexpr int PATIENCE = 4000;

    void dismiss() {
        if (threads_.empty()) return;
        call_ = nullptr;
        next_turn();
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }

    void next_turn() {
        {
            std::lock_guard lock(mutex_);
            turn_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
    }

    void attempt(size_t t) noexcept {
        try {
            const WorksFor now(works_for_);
            call_(task_, t);
        } catch (...) {
            std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            failed_.store(true, std::memory_order_relaxed);
        }
    }

    void serve(size_t t, std::uint64_t seen) {
        for (;;) {
            await([&] { return turn_.load(std::memory_order_acquire) != seen; });
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return turn_.load(std::memory_order_relaxed) != seen; });
                seen = turn_.load(std::memory_order_relaxed);
            }
            if (!call_) return;
            crowded_.store(core() == core_.load(std::memory_order_relaxed), std::memory_order_relaxed);
            attempt(t);
            if (busy_.fetch_sub(1, std::memory_order_release) == 1) busy_.notify_one();
        }
    }

    template <class Ready>
    void await(Ready&& ready) const {
        for (int spin = 0; spin < PATIENCE && !ready() && !crowded_.load(std::memory_order_relaxed); ++spin) pause();
    }

    // The core that this thread is on; where the system does not tell, all seem to be on others.
    static int core() {
#if defined(__linux__)
        return sched_getcpu();
#else
        static std::atomic<int> threads{0};
        thread_local const int own = threads++;
        return own;
#endif
    }

    static void pause() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }

    size_t wanted_ = 1;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<std::uint64_t> turn_{0};
    std::atomic<size_t> busy_{0};
    std::atomic<bool> failed_{false};
    std::atomic<int> core_{-1};         // of the caller
    std::atomic<bool> crowded_{false};  // whether a thread of the team was found on it
    std::exception_ptr failure_;  // the first
    // The work of this turn: set before it begins, and kept until all are done.
    void (*call_)(void*, size_t) = nullptr;
    void* task_ = nullptr;
    const Cancellation* works_for_ = nullptr;
};

}  // namespace tenfold
