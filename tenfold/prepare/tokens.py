"""Texts as counts of words, and of the pairs that follow one another.

Words are in lower case; a number is how many digits it has, as single numbers are rare and may be somebody's; signs are words too. Scripts
that do not part words by spaces are read character by character, so that their words are pairs. Marks of HTML are spaces. What fewer
than LEAST_LEVEL_ROWS texts hold is not kept, so that nothing of a single row can be read off.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import coo_array, csr_array

from tenfold.core.data import Array
from tenfold.table.cells import as_texts
from tenfold.table.columns import LEAST_LEVEL_ROWS
from tenfold.table.html import MARKS
from tenfold.table.reading import pl

UNSPACED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
WORD = rf"[{UNSPACED}]|[\p{{L}}--[{UNSPACED}]][[\p{{L}}\p{{M}}'’]--[{UNSPACED}]]*|\p{{N}}+|[^\s\p{{L}}\p{{N}}\p{{M}}]"
LETTERS = r"\S*\p{L}\p{L}\S*"  # what is written between spaces, with two letters together
LEAST_WORDS, LEAST_CHARACTERS = 3, 6  # a text in the mean; what has fewer is a name or a code
LONGEST = 10_000  # characters of a text that are looked at
MOST_DIGITS = 12
AT_ONCE = 4_000_000  # characters whose words are held at a time
MOST_COUNTED = 2_000_000  # different words whose texts are counted at a time
MOST_WORDS = 30_000  # that are counted, pairs among them, the most frequent first


def is_prose(column: pl.Series) -> bool:
    """Whether the cells hold sentences, or names of several words, rather than codes."""
    texts = as_texts(column).drop_nulls().str.slice(0, LONGEST)
    spaced, unspaced = (texts.str.count_matches(pattern).mean() or 0.0 for pattern in (LETTERS, f"[{UNSPACED}]"))
    return bool(spaced >= LEAST_WORDS or unspaced >= LEAST_CHARACTERS)  # type: ignore[operator]


def cleaned(column: pl.Series) -> pl.Series:
    """Texts without marks of HTML and long spaces, none longer than LONGEST; a missing one is empty."""
    texts = as_texts(column).fill_null("").str.slice(0, LONGEST)
    return texts.str.replace_all(MARKS, " ").str.replace_all(r"\s+", " ").str.strip_chars()


def words(texts: pl.Series) -> pl.DataFrame:
    """The words of cleaned texts, and their pairs: columns `row` and `word`."""
    lists = texts.str.to_lowercase().str.extract_all(WORD)
    frame = pl.DataFrame({"row": np.arange(len(lists), dtype=np.int32), "word": lists}).explode("word").drop_nulls()
    digits = pl.format("({}-digit-number)", pl.col("word").str.len_chars().clip(1, MOST_DIGITS))
    frame = frame.with_columns(word=pl.when(pl.col("word").str.contains(r"^\p{N}")).then(digits).otherwise("word"))
    follows = pl.col("row") == pl.col("row").shift(-1)
    pairs = frame.select("row", word=pl.when(follows).then(pl.concat_str("word", pl.col("word").shift(-1), separator=" "))).drop_nulls()
    return pl.concat([frame, pairs])


def learned_counts(texts: pl.Series) -> tuple[list[str], csr_array]:
    """The words of at least LEAST_LEVEL_ROWS texts, the most frequent first, and how often each text has each."""
    rows = pl.DataFrame(schema={"word": pl.String, "rows": pl.UInt32})
    parts = list(_parts(texts))
    tallies: list[pl.DataFrame] = []
    for _, part in parts:
        tally = _tally(part)
        tallies += [tally] if len(parts) == 1 else []  # of many parts it is made again rather than kept
        here = tally.group_by("word").agg(rows=pl.len().cast(pl.UInt32))
        rows = pl.concat([rows, here]).group_by("word").agg(pl.col("rows").sum())
        if rows.height > MOST_COUNTED:  # of so many words those that were in one text so far will hardly be frequent
            rows = rows.filter(pl.col("rows") > 1)
    kept = rows.filter(pl.col("rows") >= LEAST_LEVEL_ROWS).sort(["rows", "word"], descending=[True, False])
    words = kept["word"].head(MOST_WORDS).to_list()
    return words, counts_of(texts, words, tallies)


def counts_of(texts: pl.Series, words: list[str], tallies: list[pl.DataFrame] | None = None) -> csr_array:
    """(texts, words): how often each text has each word."""
    known = pl.DataFrame({"word": pl.Series(words, dtype=pl.String), "place": np.arange(len(words), dtype=np.int32)})
    rows, places, counts = [np.empty(0, np.int32)], [np.empty(0, np.int32)], [np.empty(0)]
    for number, (start, part) in enumerate(_parts(texts)):
        found = (tallies[number] if tallies else _tally(part)).join(known, on="word")
        rows.append(found["row"].to_numpy() + np.int32(start))
        places.append(found["place"].to_numpy())
        counts.append(found["count"].to_numpy().astype(np.float64))
    cells = tuple(map(np.concatenate, (rows, places)))
    made = coo_array((np.concatenate(counts), cells), shape=(len(texts), len(words))).tocsr()
    made.sort_indices()  # groups come in any order
    return made


def _tally(texts: pl.Series) -> pl.DataFrame:
    return words(texts).group_by(["row", "word"]).agg(count=pl.len())


def _parts(texts: pl.Series) -> Iterator[tuple[int, pl.Series]]:
    """Texts one after another, so many that their words fit in memory; the number of the first."""
    ends = np.cumsum(texts.str.len_chars().to_numpy().astype(np.int64) + 1)
    start = 0
    while start < len(texts):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + AT_ONCE, side="right")), start + 1)
        yield start, texts[start:stop]
        start = stop


def lengths(texts: pl.Series) -> Array:
    """log(1 + characters) of cleaned texts."""
    return np.asarray(np.log1p(texts.str.len_chars().to_numpy().astype(np.float64)))


def weighed(counts: csr_array, idf: Array) -> csr_array:
    """Rows of (1 + log count) × idf, of length 1: what is frequent in a text and rare elsewhere weighs most."""
    values = (1.0 + np.log(counts.data)) * idf[counts.indices]
    of_row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    size = np.sqrt(np.bincount(of_row, values**2, minlength=counts.shape[0]))
    size[size == 0.0] = 1.0  # a text without a known word
    return csr_array((values / size[of_row], counts.indices, counts.indptr), shape=counts.shape)
