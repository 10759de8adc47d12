// Which instruction set this machine has, for modules that are compiled once for each.
#pragma once

namespace tenfold {

enum class InstructionSet { baseline, avx2, avx512 };

inline InstructionSet instruction_set() {
#if TENFOLD_X86_LEVELS
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    return avx512 ? InstructionSet::avx512 : avx2 ? InstructionSet::avx2 : InstructionSet::baseline;
#else
    return InstructionSet::baseline;
#endif
}

// Of three versions of a thing, the one for this machine.
template <class Thing>
const Thing& best_of(const Thing& baseline, [[maybe_unused]] const Thing& avx2, [[maybe_unused]] const Thing& avx512) {
    switch (instruction_set()) {
        case InstructionSet::avx512: return avx512;
        case InstructionSet::avx2: return avx2;
        default: return baseline;
    }
}

}  // namespace tenfold
