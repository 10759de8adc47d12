// How often each document has each term, as rows of a sparse matrix; terms are columns in the order of their texts.
#pragma once

#include <vector>

#include "kernels/common/cancel.hpp"
#include "kernels/common/team.hpp"
#include "kernels/text/analysis.hpp"

namespace tenfold::text {

// Each thread has terms of its own; what comes out does not depend on which thread had which document, as columns are sorted.
class Counter {
public:
    Counter(const Analysis& how, size_t threads) : team_(threads), parts_(team_.size(), Part(how)) {}

    void count(std::span<const Document> documents) {
        rows_.resize(documents.size());
        size_t step = documents.size() / (16 * team_.size()) + 1;
        team_.each((documents.size() + step - 1) / step, [&](size_t i, size_t t) {
            for (size_t d = i * step; d < std::min(documents.size(), (i + 1) * step); ++d) parts_[t].count(documents[d], rows_[d], t);
            leave_if_stopped();
        });
        join();
    }

    size_t size() const { return order_.size(); }
    size_t bytes() const { return bytes_; }
    size_t entries() const {
        size_t n = 0;
        for (const Row& row : rows_) n += row.size;
        return n;
    }

    void write_terms(std::uint8_t* letters, std::int64_t* ends) const {
        std::int64_t end = 0;
        for (size_t i = 0; i < order_.size(); ++i) {
            const Key term = all()[order_[i]];
            std::memcpy(letters + end, term.data(), term.size());
            ends[i] = end += static_cast<std::int64_t>(term.size());
        }
    }

    void write_rows(std::int64_t* starts, std::int32_t* columns, std::int32_t* counts) {
        starts[0] = 0;
        for (size_t d = 0; d < rows_.size(); ++d) starts[d + 1] = starts[d] + static_cast<std::int64_t>(rows_[d].size);
        team_.ranges(rows_.size(), 512, [&](size_t begin, size_t end) {
            leave_if_stopped();
            for (size_t d = begin; d < end; ++d) {
                const Row& row = rows_[d];
                Part& part = parts_[row.part];
                Entry* first = part.entries.data() + row.begin;
                for (size_t i = 0; i < row.size; ++i) first[i].term = part.columns[first[i].term];
                std::sort(first, first + row.size, [](const Entry& a, const Entry& b) { return a.term < b.term; });
                for (size_t i = 0; i < row.size; ++i) {
                    columns[starts[d] + static_cast<std::int64_t>(i)] = static_cast<std::int32_t>(first[i].term);
                    counts[starts[d] + static_cast<std::int64_t>(i)] = static_cast<std::int32_t>(first[i].count);
                }
            }
        });
    }

private:
    struct Entry {
        std::uint32_t term, count;
    };
    struct Row {
        size_t part = 0, begin = 0, size = 0;
    };

    struct Part {
        explicit Part(const Analysis& how) : analyzer(how) {}

        void count(const Document& document, Row& row, size_t t) {
            const size_t begin = entries.size();
            analyzer.analyze(document, [&](Key key) {
                const std::uint32_t term = terms.number(key);
                if (term == last.size()) last.push_back(0);
                if (last[term] > begin) {
                    ++entries[last[term] - 1].count;
                } else {
                    entries.push_back({term, 1});
                    last[term] = entries.size();
                }
                if (++steps % 8192 == 0) leave_if_stopped();
                return true;
            });
            row = {t, begin, entries.size() - begin};
        }

        Analyzer analyzer;
        Terms terms;
        std::vector<size_t> last;  // behind the entry of a term in the last document that had it
        std::vector<Entry> entries;
        std::vector<std::uint32_t> columns;  // of each term
        size_t steps = 0;
    };

    const Terms& all() const { return parts_.size() == 1 ? parts_[0].terms : joined_; }

    void join() {
        if (parts_.size() > 1)
            for (Part& part : parts_) {
                part.columns.resize(part.terms.size());
                for (size_t i = 0; i < part.terms.size(); ++i) part.columns[i] = joined_.number(part.terms[i]);
                leave_if_stopped();
            }
        order_ = sorted(all());
        bytes_ = all().bytes();
        std::vector<std::uint32_t> place(order_.size());
        for (size_t i = 0; i < order_.size(); ++i) place[order_[i]] = static_cast<std::uint32_t>(i);
        if (parts_.size() == 1) parts_[0].columns = std::move(place);
        else
            for (Part& part : parts_)
                for (std::uint32_t& column : part.columns) column = place[column];
    }

    Team team_;
    std::vector<Part> parts_;
    std::vector<Row> rows_;
    Terms joined_;  // of all threads, where there are several
    std::vector<std::uint32_t> order_;
    size_t bytes_ = 0;
};

}  // namespace tenfold::text
