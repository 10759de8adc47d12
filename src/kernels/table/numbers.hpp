// Numbers and dates as computers write them, read from text. What is written otherwise is refused, never guessed.
#pragma once

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tenfold {

static_assert(std::endian::native == std::endian::little, "the first character is to be the lowest byte");

constexpr double POWERS_OF_TEN[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t ZEROS = 0x3030303030303030;  // eight characters '0'

// So many of them, at most seven, the first in the lowest byte.
inline std::uint64_t zeros(std::size_t n) { return ZEROS >> 8 >> (56 - 8 * n); }

inline std::uint64_t eight(const char* text) {
    std::uint64_t x;
    std::memcpy(&x, text, 8);
    return x;
}

inline bool all_digits(std::uint64_t x) {
    return ((x & (x + 0x0606060606060606)) & 0xF0F0F0F0F0F0F0F0) == ZEROS && (x & 0xF0F0F0F0F0F0F0F0) == ZEROS;
}

// Eight digits, the first in the lowest byte.
inline std::uint64_t value_of(std::uint64_t x) {
    x -= ZEROS;
    x = x * 10 + (x >> 8);
    return ((x & 0x000000FF000000FF) * 0x000F424000000064 + (x >> 16 & 0x000000FF000000FF) * 0x0000271000000001) >> 32;
}

// The lowest byte of x that is '.'; 8 where none is.
inline unsigned point_in(std::uint64_t x) {
    const std::uint64_t t = x ^ 0x2E2E2E2E2E2E2E2E;
    const std::uint64_t zero = (t - 0x0101010101010101) & ~t & 0x8080808080808080;
    return zero ? static_cast<unsigned>(std::countr_zero(zero)) / 8 : 8;
}

// x without its byte at `place`: those below move up, and `below` comes in.
inline std::uint64_t without(std::uint64_t x, unsigned place, std::uint64_t below) {
    const std::uint64_t low = (std::uint64_t{1} << 8 * place) - 1;
    return (x & ~(low << 8 | 0xFF)) | (x & low) << 8 | below;
}

// Decimal digits with at most one point, of 1 to 16 characters: digits / 10^decimals. Both are exact as floats, so that their
// quotient is the float next to the number. Eight characters can be read from anywhere in it.
inline bool read_decimal(const char* text, std::size_t length, double& out) {
    std::uint64_t digits;
    unsigned decimals = 0;
    if (length <= 8) {
        const std::size_t fill = 8 - length;
        std::uint64_t x = eight(text) << 8 * fill | zeros(fill);
        const unsigned point = point_in(x);
        if (point < 8) {
            if (length == 1) return false;
            decimals = 7 - point;
            x = without(x, point, '0');
        }
        if (!all_digits(x)) return false;
        digits = value_of(x);
    } else {
        const std::size_t fill = 16 - length;  // of the first half
        std::uint64_t x = eight(text) << 8 * fill | zeros(fill), y = eight(text + length - 8);
        const unsigned first = point_in(x), second = point_in(y);
        if (second < 8) {
            decimals = 7 - second;
            y = without(y, second, x >> 56);
            x = x << 8 | '0';
        } else if (first < 8) {
            decimals = 15 - first;
            x = without(x, first, '0');
        }
        if (!all_digits(x) || !all_digits(y)) return false;
        digits = value_of(x) * 100'000'000 + value_of(y);
        if (digits >> 53) return false;
    }
    out = decimals ? static_cast<double>(digits) / POWERS_OF_TEN[decimals] : static_cast<double>(digits);
    return true;
}

// A number: sign, digits, point, digits, exponent. Not one that is beyond floats, nor "nan" and "inf".
inline bool read_number(const char* text, std::size_t length, double& out) {
    if (length == 0) return false;
    const bool minus = *text == '-', sign = minus | (*text == '+');  // without a branch: half of some columns have one
    text += sign;
    length -= sign;
    if (length == 0) return false;
    double size = 0;
    if (length > 16 || !read_decimal(text, length, size)) {
        if (*text != '.' && (*text < '0' || *text > '9')) return false;
#if defined(__cpp_lib_to_chars)
        const auto [end, failed] = std::from_chars(text, text + length, size);
        if (failed != std::errc{} || end != text + length) return false;
#else
        return false;
#endif
    }
    out = std::copysign(size, minus ? -1.0 : 1.0);
    return true;
}

// Days from 1970-01-01 of a date of the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
inline std::int64_t days_of(int year, int month, int day) {
    year -= month <= 2;
    const int era = year / 400, of_era = year - era * 400;
    const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097LL + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// How dates are written: two marks, and the places of year, month and day in ten characters.
struct DateForm {
    int year, month, day, first, second;
    char mark, other;
};

inline bool two_digits(const char* text, int& out) {
    const unsigned tens = static_cast<unsigned char>(text[0]) - unsigned{'0'}, ones = static_cast<unsigned char>(text[1]) - unsigned{'0'};
    out = static_cast<int>(tens * 10 + ones);
    return tens < 10 && ones < 10;
}

// Microseconds from 1970 of a date, alone or with hours, minutes and seconds; `clock` is set where it has them.
inline bool read_moment(const char* text, std::size_t length, const DateForm& form, std::int64_t& out, bool& clock) {
    if (length != 10 && length != 16 && length != 19) return false;
    int century, year, month, day, hour = 0, minute = 0, second = 0;
    if (!two_digits(text + form.year, century) || !two_digits(text + form.year + 2, year) || !two_digits(text + form.month, month) ||
        !two_digits(text + form.day, day) || text[form.first] != form.mark || text[form.second] != form.other)
        return false;
    year += 100 * century;
    constexpr int LENGTHS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (year < 1 || month < 1 || month > 12 || day < 1) return false;
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (day > LENGTHS[month - 1] + (leap && month == 2)) return false;
    if (length > 10) {
        clock = true;
        if ((text[10] != ' ' && text[10] != 'T') || text[13] != ':' || !two_digits(text + 11, hour) || !two_digits(text + 14, minute))
            return false;
        if (length == 19 && (text[16] != ':' || !two_digits(text + 17, second))) return false;
        if (hour > 23 || minute > 59 || second > 59) return false;
    }
    out = (days_of(year, month, day) * 86'400 + hour * 3600 + minute * 60 + second) * 1'000'000;
    return true;
}

}  // namespace tenfold
