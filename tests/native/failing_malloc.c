/* Preloaded: one allocation of C++ code fails, the one that `fail_at` names. What others allocate is not touched. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long left = -1; /* allocations until one fails; below zero: none does */
static atomic_int failed;
static uintptr_t first, last; /* where the code of `operator new` is: those who call malloc from there are C++ */

static int in_cpp(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    if (!strstr(info->dlpi_name, "libstdc++")) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        first = info->dlpi_addr + part->p_vaddr;
        last = first + part->p_memsz;
    }
    return 0;
}

/* The k-th allocation from now on fails (0: none); returns whether the one before has failed. */
int fail_at(long k) {
    dl_iterate_phdr(in_cpp, NULL);
    const int before = atomic_exchange(&failed, 0);
    atomic_store(&left, k - 1);
    return before;
}

static int fails(const void *caller) {
    if (atomic_load_explicit(&left, memory_order_relaxed) < 0) return 0;
    if ((uintptr_t)caller < first || (uintptr_t)caller >= last) return 0;
    if (atomic_fetch_sub(&left, 1) != 0) return 0;
    atomic_store(&failed, 1);
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void *aligned_alloc(size_t alignment, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **to, size_t alignment, size_t size) {
    if (fails(__builtin_return_address(0))) return ENOMEM;
    *to = __libc_memalign(alignment, size);
    return *to ? 0 : ENOMEM;
}
