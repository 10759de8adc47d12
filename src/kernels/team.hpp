// A team of threads that share short pieces of work: they wait for the next piece awake for a moment, then asleep.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "view.hpp"

namespace tenfold {

class Team {
public:
    explicit Team(size_t n) : size_(n < 1 ? 1 : n) {
        for (size_t t = 1; t < size_; ++t) threads_.emplace_back([this, t] { serve(t); });
    }
    Team(const Team&) = delete;
    ~Team() {
        publish(nullptr);
        for (std::thread& thread : threads_) thread.join();
    }

    size_t size() const { return size_; }

    // Calls work(t) once for each t < size(); the caller is thread 0. Returns when all are done.
    void run(const std::function<void(size_t)>& work) {
        if (size_ == 1) return work(0);
        busy_.store(size_ - 1, std::memory_order_relaxed);
        publish(&work);
        work(0);
        for (int spin = 0; busy_.load(std::memory_order_acquire) != 0; ++spin)
            if (spin > PATIENCE) std::this_thread::yield();
    }

    // Calls work(i) for each i < n, whichever thread is free.
    template <class F>
    void each(size_t n, F&& work) {
        if (size_ == 1 || n < 2) {
            for (size_t i = 0; i < n; ++i) work(i);
            return;
        }
        std::atomic<size_t> next{0};
        run([&](size_t) {
            for (size_t i = next++; i < n; i = next++) work(i);
        });
    }

    // Calls work(begin, end) for ranges of at most `step` rows that cover 0 .. n - 1.
    template <class F>
    void ranges(size_t n, size_t step, F&& work) {
        each((n + step - 1) / step, [&](size_t i) { work(i * step, std::min(n, (i + 1) * step)); });
    }

private:
    static constexpr int PATIENCE = 4000;

    void publish(const std::function<void(size_t)>* work) {
        {
            std::lock_guard lock(mutex_);
            work_ = work;
            turn_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
    }

    void serve(size_t t) {
        for (std::uint64_t seen = 0;;) {
            for (int spin = 0; spin < PATIENCE && turn_.load(std::memory_order_acquire) == seen; ++spin) pause();
            const std::function<void(size_t)>* work;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return turn_.load(std::memory_order_relaxed) != seen; });
                seen = turn_.load(std::memory_order_relaxed);
                work = work_;
            }
            if (!work) return;
            (*work)(t);
            busy_.fetch_sub(1, std::memory_order_release);
        }
    }

    static void pause() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }

    size_t size_;
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable wake_;
    const std::function<void(size_t)>* work_ = nullptr;
    std::atomic<std::uint64_t> turn_{0};
    std::atomic<size_t> busy_{0};
};

}  // namespace tenfold
