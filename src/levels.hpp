// Which instruction set this machine has, for modules that are compiled once for each.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace tenfold {

using std::size_t;

enum class InstructionSet { baseline, avx2, avx512 };
constexpr std::string_view INSTRUCTION_SETS[] = {"baseline", "avx2", "avx512"};

// The three versions of a thing; this build may have only one.
#if TENFOLD_X86_LEVELS
#define TENFOLD_LEVELS(name) name##_baseline, name##_avx2, name##_avx512
#else
#define TENFOLD_LEVELS(name) name##_baseline, name##_baseline, name##_baseline
#endif

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

// Kernels compiled for each instruction set: those of the best one that this machine has, or of another by its name.
template <class Kernels>
class Levels {
public:
    Levels(const Kernels& baseline, const Kernels& avx2, const Kernels& avx512)
        : all_{&baseline, &avx2, &avx512}, best_(static_cast<size_t>(instruction_set())), now_(best_), kernels_(all_[now_]) {}

    const Kernels* operator->() const { return kernels_; }
    const Kernels& operator*() const { return *kernels_; }
    std::string_view name() const { return INSTRUCTION_SETS[now_]; }

    // Chooses the instruction set by name or as "best"; false where this machine does not have it.
    bool use(std::string_view name) {
        for (size_t level = 0; level <= best_; ++level)
            if (name == INSTRUCTION_SETS[level] || (name == "best" && level == best_)) {
                now_ = level;
                kernels_ = all_[level];
                return true;
            }
        return false;
    }

private:
    std::array<const Kernels*, 3> all_;
    size_t best_, now_;
    const Kernels* kernels_;
};

}  // namespace tenfold
