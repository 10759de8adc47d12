"""The steps from a document to its terms, as functions that can be pickled."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from tenfold.table.html import MARKS

NUMBERS = re.compile(r"\b\d+(?:[.,:]\d+)*\b")
SPACES = re.compile(r"\s\s+")
Terms = list[str]


def analyzed_by(doc: Any, decode: Callable[[Any], Any], function: Callable[[Any], Terms]) -> Terms:
    """A document taken apart by a function of the user."""
    return function(decode(doc))


def analyzed(
    doc: Any, decode: Callable[[Any], Any], prepare: Callable[[Any], Any], apart: Callable[[Any], Terms], join: Any
) -> Terms:
    """A document decoded, cleaned, taken apart, and its words put together."""
    found = apart(prepare(decode(doc)))
    return found if join is None else join(found)


def cleaned(doc: Any, accents: Callable[[str], str] | None, lower: bool, html: bool, numbers: bool) -> Any:
    """A text in lower case, without accents, marks of HTML and numbers, as each is asked for."""
    if html:
        doc = re.sub(MARKS, " ", doc)
    if lower:
        doc = doc.lower()
    if accents is not None:
        doc = accents(doc)
    return NUMBERS.sub(" ", doc) if numbers else doc


def without_accents(text: str) -> str:
    """Letters without the marks that combine with them."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def in_ascii(text: str) -> str:
    """Letters without accents; those that are not in ASCII then are left out."""
    return text if text.isascii() else unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")


def word_ngrams(words: Terms, stop_words: frozenset[str] | None, least: int, most: int) -> Terms:
    """Words that are not left out, and those that follow one another, with a space between."""
    kept = [one for one in words if one not in stop_words] if stop_words else list(words)
    if (least, most) == (1, 1):
        return kept
    return [" ".join(kept[i : i + k]) for k in range(least, most + 1) for i in range(len(kept) - k + 1)]


def characters(text: str, least: int, most: int) -> Terms:
    """Characters that follow one another; of several spaces there is one."""
    text = SPACES.sub(" ", text)
    return [text[i : i + k] for k in range(least, most + 1) for i in range(len(text) - k + 1)]


def characters_in_words(text: str, least: int, most: int) -> Terms:
    """The same within words, each with a space before and behind it; a word that is too short counts once."""
    found: Terms = []
    for word in (f" {one} " for one in text.split()):
        for k in range(least, most + 1):
            found += [word[i : i + k] for i in range(max(len(word) - k + 1, 1))]
            if len(word) <= k:
                break
    return found
