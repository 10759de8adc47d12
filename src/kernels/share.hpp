// Work shared among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <type_traits>
#include <vector>

namespace tenfold {

using std::size_t;

// Compiled once, whatever the work is.
inline void share_among(size_t count, size_t n_threads, const std::function<void(size_t, size_t)>& work) {
    if (n_threads < 2 || count < 2) {
        for (size_t i = 0; i < count; ++i) work(i, 0);
        return;
    }
    std::atomic<size_t> next{0};
    const auto loop = [&](size_t thread) {
        for (size_t i = next++; i < count; i = next++) work(i, thread);
    };
    std::vector<std::thread> others;
    for (size_t t = 1; t < std::min(n_threads, count); ++t) others.emplace_back(loop, t);
    loop(0);
    for (auto& other : others) other.join();
}

// Runs work(0), ..., work(count − 1), each once, on up to n_threads threads; the calling one is among them. Work that takes a
// second number is told which thread it is on, from 0 to n_threads − 1.
template <class Work>
void share_out(size_t count, size_t n_threads, Work work) {
    const auto one = [&](size_t i, size_t thread) {
        if constexpr (std::is_invocable_v<Work, size_t, size_t>) work(i, thread);
        else work(i);
    };
    share_among(count, n_threads, std::ref(one));
}

}  // namespace tenfold
