// Texts as counts of their terms.
#include <optional>
#include <string>

#include "arrays.hpp"
#include "kernels/text/counter.hpp"

using namespace nb::literals;
using namespace tenfold::text;

namespace {

constexpr Py_ssize_t SIGNALS_EVERY = 1 << 14;

struct Bytes : nb::object {
    NB_OBJECT(Bytes, nb::object, "numpy.typing.NDArray[numpy.uint8]", is_array)
};
struct Int32s : nb::object {
    NB_OBJECT(Int32s, nb::object, "numpy.typing.NDArray[numpy.int32]", is_array)
};

bool is_word(std::uint32_t c) { return Py_UNICODE_ISALNUM(static_cast<Py_UCS4>(c)) || c == '_'; }
bool is_space(std::uint32_t c) { return Py_UNICODE_ISSPACE(static_cast<Py_UCS4>(c)); }

const Characters& characters() {
    static const Characters known = [] {
        Characters made{{}, {}, is_word, is_space};
        for (std::uint32_t c = 0; c < 256; ++c) made.word[c] = is_word(c), made.space[c] = is_space(c);
        return made;
    }();
    return known;
}

TermList terms_of(Column<std::uint8_t> letters, Integers ends) {
    const TermList terms{letters.span(), ends.span()};
    require(terms.sound(), "ends must rise, within the letters");
    return terms;
}

// Texts that stay alive and unchanged as long as this does; those with letters beyond ASCII in lower case where that is asked for.
class Texts {
public:
    Texts(nb::handle documents, bool lower) : held_(nb::steal<nb::list>(PySequence_List(documents.ptr()))) {
        if (!held_.is_valid()) throw nb::python_error();
        const Py_ssize_t n = PyList_GET_SIZE(held_.ptr());
        views_.reserve(static_cast<size_t>(n));
        for (Py_ssize_t i = 0; i < n; ++i) {
            PyObject* text = PyList_GET_ITEM(held_.ptr(), i);
            if (!PyUnicode_Check(text)) throw nb::type_error(("document " + std::to_string(i) + " is no text").c_str());
            if (lower && !PyUnicode_IS_ASCII(text)) {
                PyObject* made = PyObject_CallMethod(text, "lower", nullptr);
                if (!made || !PyUnicode_Check(made)) {
                    Py_XDECREF(made);
                    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "lower() must return a text");
                    throw nb::python_error();
                }
                PyList_SetItem(held_.ptr(), i, made);  // takes it over
                text = made;
            }
            views_.push_back({PyUnicode_DATA(text), static_cast<size_t>(PyUnicode_GET_LENGTH(text)), static_cast<int>(PyUnicode_KIND(text))});
            if ((i + 1) % SIGNALS_EVERY == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
        }
    }
    std::span<const Document> views() const { return views_; }

private:
    nb::list held_;
    std::vector<Document> views_;
};

Unit unit_of(const char* name) {
    const std::string_view given = name;
    if (given == "words") return Unit::words;
    if (given == "pieces") return Unit::pieces;
    if (given == "char") return Unit::characters;
    require(given == "char_wb", "unit must be words, pieces, char or char_wb");
    return Unit::characters_in_words;
}

// Letters and ends of the terms, in the order of the texts; starts, columns and counts of the rows.
nb::tuple count(nb::handle documents, const char* unit, size_t least, bool lower, size_t shortest, size_t longest,
                Column<std::uint8_t> left_out_letters, Integers left_out_ends, size_t threads) {
    require(1 <= shortest && shortest <= longest, "shortest must be at least 1, and not more than longest");
    const TermList listed = terms_of(left_out_letters, left_out_ends);
    Terms left_out;
    for (size_t i = 0; i < listed.size(); ++i) left_out.number(listed[i]);
    const Texts texts(documents, lower);
    const Analysis how{unit_of(unit), std::max<size_t>(least, 1), lower, shortest, longest, listed.size() ? &left_out : nullptr, &characters()};
    std::optional<Counter> counter;
    unlocked([&] {
        counter.emplace(how, std::min(threads, texts.views().size() / 16 + 1));
        counter->count(texts.views());
    });
    New<std::uint8_t> letters(counter->bytes());
    New<std::int64_t> ends(counter->size()), starts(texts.views().size() + 1);
    New<std::int32_t> columns(counter->entries()), counts(counter->entries());
    unlocked([&] {
        counter->write_terms(letters.data, ends.data);
        counter->write_rows(starts.data, columns.data, counts.data);
        counter.reset();
    });
    return nb::make_tuple(nb::borrow<Bytes>(letters.array), nb::borrow<Int64s>(ends.array), nb::borrow<Int64s>(starts.array),
                          nb::borrow<Int32s>(columns.array), nb::borrow<Int32s>(counts.array));
}

// The place of each term in a sorted list, −1 where it is not there.
Int64s find_terms(Column<std::uint8_t> letters, Integers ends, Column<std::uint8_t> known_letters, Integers known_ends) {
    const TermList terms = terms_of(letters, ends), known = terms_of(known_letters, known_ends);
    New<std::int64_t> places(terms.size());
    unlocked([&] { tenfold::text::find(terms, known, places.data); });
    return nb::borrow<Int64s>(places.array);
}

// Two sorted lists as one, and the places of the terms of each in it.
nb::tuple join_terms(Column<std::uint8_t> letters, Integers ends, Column<std::uint8_t> other_letters, Integers other_ends) {
    const TermList a = terms_of(letters, ends), b = terms_of(other_letters, other_ends);
    New<std::int64_t> of_a(a.size()), of_b(b.size());
    const Joined joined = unlocked([&] { return join(a, b, of_a.data, of_b.data); });
    New<std::uint8_t> all(joined.bytes);
    New<std::int64_t> all_ends(joined.size);
    unlocked([&] {
        size_t i = 0, j = 0;
        std::int64_t end = 0;
        for (size_t k = 0; k < joined.size; ++k) {
            const bool first = i < a.size() && of_a.data[i] == static_cast<std::int64_t>(k);
            const bool second = j < b.size() && of_b.data[j] == static_cast<std::int64_t>(k);
            const Key key = first ? a[i] : b[j];
            std::memcpy(all.data + end, key.data(), key.size());
            all_ends.data[k] = end += static_cast<std::int64_t>(key.size());
            i += first, j += second;
        }
    });
    return nb::make_tuple(nb::borrow<Bytes>(all.array), nb::borrow<Int64s>(all_ends.array), nb::borrow<Int64s>(of_a.array),
                          nb::borrow<Int64s>(of_b.array));
}

// MurmurHash3 of each term.
Int32s hash_terms(Column<std::uint8_t> letters, Integers ends) {
    const TermList terms = terms_of(letters, ends);
    New<std::int32_t> hashes(terms.size());
    unlocked([&] {
        for (size_t i = 0; i < terms.size(); ++i) hashes.data[i] = murmur(terms[i]);
    });
    return nb::borrow<Int32s>(hashes.array);
}

}  // namespace

NB_MODULE(_text, m) {
    start_module_beside_kernels();
    m.def("count", &count, "documents"_a, "unit"_a, "least"_a, "lower"_a, "shortest"_a, "longest"_a, "left_out_letters"_a,
          "left_out_ends"_a, "threads"_a);
    m.def("find", &find_terms, "letters"_a, "ends"_a, "known_letters"_a, "known_ends"_a);
    m.def("join", &join_terms, "letters"_a, "ends"_a, "other_letters"_a, "other_ends"_a);
    m.def("hash", &hash_terms, "letters"_a, "ends"_a);
}
