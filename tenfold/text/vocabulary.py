"""Terms and how many documents have them: what is summed over blocks of texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from tenfold import _text
from tenfold.core.data import Array
from tenfold.core.errors import BadType, CannotForget
from tenfold.core.stats import Stats


def encoded(terms: Iterable[str]) -> tuple[Array, Array]:
    """Terms as one text in UTF-8, and where each ends."""
    pieces = [one.encode("utf-8", "surrogatepass") for one in terms]
    return np.frombuffer(b"".join(pieces), np.uint8), np.cumsum([len(one) for one in pieces], dtype=np.int64)


def decoded(letters: Array, ends: Array) -> list[str]:
    """The terms that `encoded` has made one text of."""
    whole, bounds = letters.tobytes(), [0, *ends.tolist()]
    pairs = pairwise(bounds)
    if whole.isascii():
        text = whole.decode("ascii")
        return [text[begin:end] for begin, end in pairs]
    return [whole[begin:end].decode("utf-8", "surrogatepass") for begin, end in pairs]


def lengths(ends: Array) -> Array:
    """How many bytes each term has."""
    return np.diff(ends, prepend=0)


def chosen(letters: Array, ends: Array, which: Array) -> tuple[Array, Array]:
    """Some of the terms, by a mask."""
    sizes = lengths(ends)
    return letters[np.repeat(which, sizes)], np.cumsum(sizes[which], dtype=np.int64)


@dataclass(slots=True)
class Vocabulary(Stats):
    """The terms of some documents in the order of their texts, the weight of the documents that have each, and how often they do."""

    letters: Array  # (bytes,) uint8
    ends: Array  # (m,) int64
    documents: Array  # (m,) float64
    counts: Array  # (m,) float64
    weight: float  # of all documents

    def __add__(self, other: Vocabulary) -> Vocabulary:
        letters, ends, mine, theirs = _text.join(self.letters, self.ends, other.letters, other.ends)
        documents, counts = np.zeros((2, len(ends)))
        for places, one in ((mine, self), (theirs, other)):
            documents[places] += one.documents
            counts[places] += one.counts
        return Vocabulary(letters, ends, documents, counts, self.weight + other.weight)

    def __sub__(self, other: Vocabulary) -> Vocabulary:
        places = _text.find(other.letters, other.ends, self.letters, self.ends)
        left, counts, weight = self.documents.copy(), self.counts.copy(), self.weight - other.weight
        if (places >= 0).all():
            left[places] -= other.documents
            counts[places] -= other.counts
        if (places < 0).any() or (left < -1e-9 * self.documents).any() or weight < -1e-9 * self.weight:
            raise CannotForget("more documents would be forgotten than were learned: only those that were fitted can be forgotten")
        some = left > 1e-9 * self.documents
        letters, ends = chosen(self.letters, self.ends, some)
        return Vocabulary(letters, ends, left[some], counts[some], max(weight, 0.0))

    def objection(self) -> str | None:
        return list_objection(self.letters, self.ends)


def list_objection(letters: Array, ends: Array) -> str | None:
    """Why these are no different terms in the order of their texts; None where they are."""
    bounds = np.concatenate([[0], ends])
    if (np.diff(bounds) < 0).any() or bounds[-1] != len(letters):
        return "the terms do not end where their text does"
    whole = letters.tobytes()
    pieces = [whole[begin:end] for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)]
    if any(a >= b for a, b in pairwise(pieces)):
        return "the terms are not in the order of their texts"
    try:
        decoded(letters, ends)
    except UnicodeDecodeError:
        return "the terms are no texts"
    return None


@dataclass(slots=True)
class Counted:
    """How often each of some documents has each of their terms: CSR with columns in the order of the terms' texts."""

    letters: Array
    ends: Array
    starts: Array  # (n + 1,) int64
    columns: Array  # int32
    counts: Array  # int32

    def __len__(self) -> int:
        return len(self.starts) - 1

    def vocabulary(self, w: Array, binary: bool) -> Vocabulary:
        """The sums over the documents, of these weights; `binary`: a document has a term or not."""
        m = len(self.ends)
        documents: Array
        counts: Array
        if (w == 1).all():  # sums of whole numbers, which need no weight beside each
            documents = np.bincount(self.columns, minlength=m).astype(np.float64)
            counts = documents if binary else np.bincount(self.columns, self.counts, minlength=m)
        else:
            of_entry = np.repeat(w, np.diff(self.starts))
            documents = np.bincount(self.columns, of_entry, minlength=m)
            counts = documents if binary else np.bincount(self.columns, of_entry * self.counts, minlength=m)
        return Vocabulary(self.letters, self.ends, documents, counts, float(w.sum()))

    def placed(self, places: Array | None, width: int, binary: bool, dtype: Any) -> Any:
        """As a CSR matrix whose columns `places` gives for each term, −1 for those that have none; None: a column for each term."""
        from scipy.sparse import csr_matrix

        columns, counts, starts = self.columns, self.counts, self.starts
        if places is not None:
            columns = places[columns]
            known = columns >= 0
            if not known.all():
                starts = np.concatenate([[0], np.cumsum(known)])[starts]
                columns, counts = columns[known], counts[known]
        values = np.ones(len(columns), dtype) if binary else counts.astype(dtype, copy=False)
        kind = np.int32 if len(columns) < 2**31 - 1 and width < 2**31 - 1 else np.int64
        made = csr_matrix((values, columns.astype(kind, copy=False), starts.astype(kind, copy=False)), shape=(len(self), width), copy=False)
        if places is not None and np.any(np.diff(places[places >= 0]) <= 0):  # in another order than their texts, or several in one
            made.sort_indices()
        else:
            made.has_canonical_format = True
        return made


def counted_terms(documents: Iterable[Iterable[Any]]) -> Counted:
    """The terms of documents that were taken apart in Python."""
    numbers: dict[str, int] = {}
    ids, counts, starts = list[int](), list[int](), [0]
    for row, terms in enumerate(documents):
        tally = Counter(terms)
        for term, n in tally.items():
            if not isinstance(term, str):
                raise BadType(f"the analyzer gives {term!r} for document {row}, which is no text: let it give texts")
            ids.append(numbers.setdefault(term, len(numbers)))
            counts.append(n)
        starts.append(len(ids))
    letters, ends, order = in_order(list(numbers))
    place = np.empty(len(numbers), dtype=np.int32)
    place[order] = np.arange(len(numbers))
    columns, bounds = place[np.array(ids, dtype=np.int64)], np.array(starts, dtype=np.int64)
    row_of = np.repeat(np.arange(len(starts) - 1), np.diff(bounds))
    sort = np.lexsort((columns, row_of))
    return Counted(letters, ends, bounds, columns[sort], np.array(counts, dtype=np.int32)[sort])


def in_order(terms: list[str]) -> tuple[Array, Array, Array]:
    """Different terms in the order of their texts, as `encoded` makes them, and the place of each in the list."""
    order = sorted(range(len(terms)), key=terms.__getitem__)
    return (*encoded(terms[i] for i in order), np.array(order, dtype=np.int64))
