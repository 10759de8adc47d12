// Preloaded: one allocation of C++ code fails, the one that `fail_at` names; and those that are alive are counted.
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

extern "C" void* __libc_malloc(std::size_t size);
extern "C" void* __libc_memalign(std::size_t alignment, std::size_t size);

namespace {

enum { ALL, HELPERS, OWN };

std::atomic<long> left{-1}, alive{0};  // allocations until one fails (below zero: none does); blocks not yet freed
std::atomic<bool> failed{false};
std::atomic<int> of{0};
pthread_t caller;

bool fails() {
    if (left.load(std::memory_order_relaxed) < 0) return false;
    const int whose = of.load(std::memory_order_relaxed);
    if (whose != ALL && (pthread_equal(pthread_self(), caller) != 0) != (whose == OWN)) return false;
    if (left.fetch_sub(1) != 0) return false;
    failed = true;
    return true;
}

void* counted(void* block) {
    if (!block) throw std::bad_alloc();
    alive.fetch_add(1, std::memory_order_relaxed);
    return block;
}

void release(void* block) {
    if (block) alive.fetch_sub(1, std::memory_order_relaxed);
    std::free(block);
}

}  // namespace

// The k-th allocation from now on fails (0: none): of all threads, of others than this one, or of this one; returns whether the one
// before has failed.
extern "C" int fail_at(long k, int whose) {
    left = -1;
    const bool before = failed.exchange(false);
    caller = pthread_self();
    of = whose;
    left = k - 1;
    return before;
}

extern "C" long blocks_alive() { return alive.load(); }

// All other forms of `new` and `delete` call these.
void* operator new(std::size_t size) { return counted(fails() ? nullptr : __libc_malloc(size ? size : 1)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    return counted(fails() ? nullptr : __libc_memalign(static_cast<std::size_t>(alignment), size ? size : 1));
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }
