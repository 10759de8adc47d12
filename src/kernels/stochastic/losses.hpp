// What a prediction costs, and the slope of that cost: a class is y = 1 or -1, a number is y.
#pragma once

#include <cmath>

#include "kernels/common/inline.hpp"

namespace tenfold {

// In the order of LOSSES of solve/online.py.
enum class Loss : int {
    logistic, perceptron, hinge, squared_hinge, modified_huber, squared, absolute, huber, insensitive, squared_insensitive, end
};

// Perceptron and hinge are max(0, margin - y p); at the corner the slope is that of a mistake, so that a start from zero moves.
TENFOLD_INLINE double slope_of(Loss loss, double y, double p, double epsilon) {
    const double z = y * p, r = p - y;
    switch (loss) {
        case Loss::logistic: {
            const double e = std::exp(-std::abs(z));
            return -y * (z > 0 ? e : 1.0) / (1.0 + e);
        }
        case Loss::perceptron: return z <= 0 ? -y : 0.0;
        case Loss::hinge: return z <= 1 ? -y : 0.0;
        case Loss::squared_hinge: return z < 1 ? -2.0 * y * (1.0 - z) : 0.0;
        case Loss::modified_huber: return z >= 1 ? 0.0 : z >= -1 ? -2.0 * y * (1.0 - z) : -4.0 * y;
        case Loss::squared: return r;
        case Loss::absolute: return r > 0 ? 1.0 : r < 0 ? -1.0 : 0.0;
        case Loss::huber: return r > epsilon ? epsilon : r < -epsilon ? -epsilon : r;
        case Loss::insensitive: return r > epsilon ? 1.0 : r < -epsilon ? -1.0 : 0.0;
        case Loss::squared_insensitive: return r > epsilon ? 2.0 * (r - epsilon) : r < -epsilon ? 2.0 * (r + epsilon) : 0.0;
        case Loss::end: break;
    }
    return 0.0;
}

TENFOLD_INLINE double loss_of(Loss loss, double y, double p, double epsilon) {
    const double z = y * p, size = std::abs(p - y), over = size > epsilon ? size - epsilon : 0.0;
    switch (loss) {
        case Loss::logistic: return std::log1p(std::exp(-std::abs(z))) + (z < 0 ? -z : 0.0);
        case Loss::perceptron: return z < 0 ? -z : 0.0;
        case Loss::hinge: return z < 1 ? 1.0 - z : 0.0;
        case Loss::squared_hinge: return z < 1 ? (1.0 - z) * (1.0 - z) : 0.0;
        case Loss::modified_huber: return z >= 1 ? 0.0 : z >= -1 ? (1.0 - z) * (1.0 - z) : -4.0 * z;
        case Loss::squared: return 0.5 * size * size;
        case Loss::absolute: return size;
        case Loss::huber: return size <= epsilon ? 0.5 * size * size : epsilon * (size - 0.5 * epsilon);
        case Loss::insensitive: return over;
        case Loss::squared_insensitive: return over * over;
        case Loss::end: break;
    }
    return 0.0;
}

}  // namespace tenfold
