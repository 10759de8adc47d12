// Code that is compiled for several instruction sets.
#pragma once

// A file that is compiled once per instruction set must not leave behind a function that a file compiled for another one could be
// linked to. So its functions are in the namespace of the instruction set (simd.hpp), or, where they belong to types that all of
// them share, have no copy of their own: they are always inlined. tools/check_levels looks whether that is so.
#define TENFOLD_INLINE [[gnu::always_inline]] inline
