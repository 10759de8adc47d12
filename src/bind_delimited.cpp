// Python binding of the reader of delimited text. Arguments are checked here, and only here.
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "kernels/table/delimited.hpp"

using namespace nb::literals;

namespace {

// "%Y-%m-%d" and the like: year, month and day with all their digits, and a mark between them.
DateForm form_of(const std::string& form) {
    DateForm found{-1, -1, -1, -1, -1, 0, 0};
    int place = 0;
    for (std::size_t i = 0; i < form.size(); ++i) {
        if (form[i] == '%' && i + 1 < form.size()) {
            const char part = form[++i];
            require(part == 'Y' || part == 'm' || part == 'd', "a date has parts %Y, %m and %d");
            (part == 'Y' ? found.year : part == 'm' ? found.month : found.day) = place;
            place += part == 'Y' ? 4 : 2;
        } else {
            (found.first < 0 ? found.mark : found.other) = form[i];
            (found.first < 0 ? found.first : found.second) = place++;
        }
    }
    require(place == 10 && found.year >= 0 && found.month >= 0 && found.day >= 0 && found.second >= 0, "a date has ten characters");
    return found;
}

// What a column is asked for as: "" to be passed over, "number", "level", or the form of a date.
CellColumn column_of(const std::string& kind) {
    CellColumn column;
    if (kind.empty()) return column;
    column.kind = kind == "number" ? CellKind::number : kind == "level" ? CellKind::level : CellKind::moment;
    if (column.kind == CellKind::moment) column.form = form_of(kind);
    return column;
}

// Bytes of any object that has some, for the length of a call.
class Bytes {
public:
    explicit Bytes(nb::handle source) {
        if (PyObject_GetBuffer(source.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    Bytes(const Bytes&) = delete;
    ~Bytes() { PyBuffer_Release(&view_); }
    std::string_view view() const { return {static_cast<const char*>(view_.buf), static_cast<std::size_t>(view_.len)}; }

private:
    Py_buffer view_{};
};

// Not by a cast of nanobind, which ends the process where there is no memory.
std::vector<std::string> texts_of(const nb::list& list) {
    std::vector<std::string> texts;
    for (nb::handle one : list) {
        Py_ssize_t size = 0;
        const char* text = PyUnicode_AsUTF8AndSize(one.ptr(), &size);
        if (!text) throw nb::python_error();
        texts.emplace_back(text, static_cast<std::size_t>(size));
    }
    return texts;
}

// How many lines end in a text: a few bytes at a time, counted in bytes.
std::size_t lines_in(std::string_view text) {
    std::size_t found = 0;
    for (std::size_t start = 0; start < text.size(); start += 240) {
        const std::size_t stop = std::min(text.size(), start + 240);
        unsigned char some = 0;
        for (std::size_t i = start; i < stop; ++i) some = static_cast<unsigned char>(some + (text[i] == '\n'));
        found += some;
    }
    return found;
}

// The columns of one type, side by side in one array: a large one takes less time to get than many small ones.
template <class T>
class Store {
public:
    Store(const std::vector<CellColumn>& columns, CellKind kind, std::size_t rows)
        : rows_(rows), array_(nb::borrow(numpy_empty)(nb::make_tuple(std::count_if(columns.begin(), columns.end(), [=](const CellColumn& one) {
                  return one.kind == kind;
              }), rows), numpy_name<T>().text)), data_(static_cast<T*>(buffer_of(array_))) {}

    // The next column, and where its values are.
    T* next(nb::object& column) {
        column = array_[nb::int_(taken_)];
        return data_ + rows_ * taken_++;
    }

private:
    std::size_t rows_, taken_ = 0;
    nb::object array_;
    T* data_;
};

// None where the text is refused; else the number of rows and for each column None (passed over, or with a cell that is not of its
// kind), or (values, gaps, more). The first of the values are those of the rows; more is the texts of levels, or whether a moment
// has a time of day.
nb::object read_piece(nb::handle text, const std::string& separator, const std::string& quote, const nb::list& columns_as,
                      const nb::list& missing, std::size_t most_levels) {
    const std::vector<std::string> kinds = texts_of(columns_as), words = texts_of(missing);
    require(separator.size() == 1 && quote.size() == 1, "separator and quote must be one byte each");
    require(separator != quote && separator != "\n" && separator != "\r" && quote != "\n" && quote != "\r", "marks must be different");
    require(!kinds.empty(), "there must be a column");
    const Bytes held(text);
    const std::string_view piece = held.view();
    require(piece.size() < std::size_t{1} << 31, "a piece must have less than 2 GB");
    const std::size_t rows = 1 + lines_in(piece);
    std::vector<CellColumn> columns;
    for (const std::string& kind : kinds) columns.push_back(column_of(kind));
    Store<double> numbers(columns, CellKind::number, rows);
    Store<std::int64_t> moments(columns, CellKind::moment, rows);
    Store<std::uint32_t> codes(columns, CellKind::level, rows);
    std::vector<nb::object> arrays(columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j) {
        CellColumn& column = columns[j];
        if (column.kind == CellKind::number) column.numbers = numbers.next(arrays[j]);
        if (column.kind == CellKind::moment) column.moments = moments.next(arrays[j]);
        if (column.kind == CellKind::level) {
            column.codes = codes.next(arrays[j]);
            column.levels.emplace(most_levels);
        }
    }
    const std::optional<std::size_t> found =
        unlocked([&] { return DelimitedReader({separator[0], quote[0]}, columns, words).read(piece); });
    if (!found) return nb::none();
    nb::list made;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        const CellColumn& column = columns[j];
        if (column.kind == CellKind::skipped || column.failed) {
            made.append(nb::none());
            continue;
        }
        nb::object more = nb::bool_(column.clock);
        if (column.levels) {
            nb::list texts;
            for (std::string_view one : column.levels->texts()) {
                PyObject* level = PyUnicode_DecodeUTF8(one.data(), static_cast<Py_ssize_t>(one.size()), nullptr);
                if (!level) throw nb::python_error();
                texts.append(nb::steal(level));
            }
            more = texts;
        }
        made.append(nb::make_tuple(arrays[j], column.gaps, more));
    }
    return nb::make_tuple(*found, made);
}

}  // namespace

NB_MODULE(_delimited, m) {
    start_module_beside_kernels();
    m.def("read", &read_piece, "text"_a, "separator"_a, "quote"_a, "kinds"_a, "words"_a, "most_levels"_a);
}
