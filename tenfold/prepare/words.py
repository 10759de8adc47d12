"""Columns of free text as numbers: which of the frequent words a text holds, and how long it is."""

from __future__ import annotations

import numpy as np

from tenfold.core.data import Array
from tenfold.table.cells import as_texts
from tenfold.table.reading import pl

WORD = r"\p{L}[\p{L}\p{N}'’]+|\p{N}+"  # of at least two characters, or a number
NUMBER = "(number)"  # what all numbers are called: single ones are rare, and may be somebody's
LEAST_WORDS = 3  # a text in the mean; what has fewer is a name or a code
LARGEST = 1000  # characters of a text that are looked at


def is_prose(column: pl.Series) -> bool:
    """Whether the cells hold sentences rather than names or codes."""
    texts = as_texts(column).drop_nulls()
    return len(texts) > 0 and float(texts.str.count_matches(r"\S+").mean() or 0.0) >= LEAST_WORDS  # type: ignore[arg-type]


def words_of(column: pl.Series) -> pl.DataFrame:
    """The different words of each text, in lower case: columns `row` and `word`."""
    texts = as_texts(column).str.slice(0, LARGEST).str.to_lowercase()
    frame = pl.DataFrame({"row": np.arange(len(texts)), "word": texts.str.extract_all(WORD)}).explode("word").drop_nulls()
    number = pl.col("word").str.contains(r"^\p{N}+$")
    return frame.with_columns(pl.when(number).then(pl.lit(NUMBER)).otherwise(pl.col("word")).alias("word")).unique()


def lengths_of(column: pl.Series) -> Array:
    """The logarithm of one more than the number of characters of each text."""
    return np.asarray(np.log1p(as_texts(column).fill_null("").str.len_chars().to_numpy()))


def word_columns(column: pl.Series, words: list[str]) -> Array:
    """(rows, 1 + words): the logarithm of the length, and 0/1 for each word."""
    out = np.zeros((len(column), 1 + len(words)))
    out[:, 0] = lengths_of(column)
    if words:
        held = words_of(column).join(pl.DataFrame({"word": words, "place": np.arange(1, 1 + len(words))}), on="word")
        out[held["row"].to_numpy(), held["place"].to_numpy()] = 1.0
    return out


def word_names(name: str, words: list[str]) -> list[str]:
    """The names of these columns."""
    return [f"{name} length", *(f"{name} has {word!r}" for word in words)]
