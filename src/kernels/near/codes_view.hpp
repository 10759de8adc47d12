// Codes of bits, one for each row.
#pragma once

#include "kernels/near/found.hpp"

namespace tenfold {

struct CodesView {
    const std::uint64_t* word;  // (n, words)
    size_t words;
};

}  // namespace tenfold
