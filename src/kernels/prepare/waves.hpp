// Where dates lie in a cycle, as sine and cosine.
#pragma once

#include <cmath>
#include <span>
#include <vector>

namespace tenfold {

// Of days since 1970 with the time of day as a fraction: the angle is (at[day − first] + time) · turn, where `at` is the place of each
// day in the cycle; without it, of 24 hours · turn. A missing date has 0 and 0. False where a day is not in the calendar.
inline bool waves(std::span<const double> days, std::span<const double> at, double first, double turn, double* sine, double* cosine) {
    std::vector<double> day_sine(at.size()), day_cosine(at.size());  // most dates have no time of day
    for (std::size_t d = 0; d < at.size(); ++d) {
        day_sine[d] = std::sin(at[d] * turn);
        day_cosine[d] = std::cos(at[d] * turn);
    }
    for (std::size_t i = 0; i < days.size(); ++i) {
        const double day = std::floor(days[i]), time = days[i] - day;
        double angle = time * 24 * turn;
        if (std::isnan(day)) {
            sine[i] = cosine[i] = 0;
            continue;
        }
        if (!at.empty()) {
            const double place = day - first;
            if (!(place >= 0 && place < static_cast<double>(at.size()))) return false;
            const auto d = static_cast<std::size_t>(place);
            if (time == 0) {
                sine[i] = day_sine[d];
                cosine[i] = day_cosine[d];
                continue;
            }
            angle = (at[d] + time) * turn;
        }
        sine[i] = std::sin(angle);
        cosine[i] = std::cos(angle);
    }
    return true;
}

}  // namespace tenfold
