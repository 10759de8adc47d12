"""Documents as counts in columns that a hash chooses: nothing is learned."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold import _text
from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.text.counts import Texts
from tenfold.text.reading import documents_of
from tenfold.text.tfidf import weighed

LEAST = -(2**31)
MOST_NAMES = 1 << 22


@estimator
class HashingVectorizer(Texts):
    """HashingVectorizer: documents as rows of counts, in columns that a hash of each term chooses.

    Model       z_j = Σ ± how often the document has the terms whose hash is j, with a sign that the hash chooses too; rows of length 1
    Objective   none: nothing is learned, so that streams need no vocabulary and files hold no words
    Algorithm   native tokeniser; MurmurHash3 of each different term: j = |h| mod n_features, the sign that of h
    Cost        O(characters) time; no fit
    Fails when  n_features is so small that many terms meet in a column; which terms a column stands for cannot be told
    Reference   Weinberger et al. 2009

    Example
    -------
    >>> import tenfold
    >>> rows = tenfold.HashingVectorizer(n_features=8, norm=None, alternate_sign=False).transform(["a cat", "the cat and the dog"])
    >>> rows.sum(axis=1).ravel().tolist()
    [[1.0, 5.0]]
    """

    stateless: ClassVar[bool] = True

    _: KW_ONLY
    n_features: int = param(default=2**20, at_least=1, at_most=2**31 - 1, doc="number of columns")
    binary: bool = param(default=False, doc="whether a document has a term, not how often")
    norm: str | None = param(default="l2", one_of=("l1", "l2", None), doc="length of a row: Σ |z| = 1, Σ z² = 1, or None")
    alternate_sign: bool = param(default=True, doc="signs by hash, so that terms that meet in a column cancel in the mean")
    dtype: Any = param(default="float64", doc="the type of the rows")

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_features": 16}

    def fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Look at the parameters: nothing is learned."""
        check.check_params(self)
        self._check_analysis()
        if isinstance(X, (str, bytes)):
            documents_of(self, X)
        vars(self)["n_features_in_"] = 1
        return self

    def partial_fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """As `fit`."""
        return self.fit(X, y)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """As `transform`."""
        return self.fit(X, y).transform(X)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        yield from ()
        return {}

    def transform(self, X: Any) -> Any:
        """The documents as rows of a CSR matrix."""
        check.check_params(self)
        self._span()
        source = documents_of(self, X)
        return map_rows(self._transform, source.whole()) if source.n_rows != 0 else self._transform(np.empty(0, dtype=object))

    def _transform(self, X: Array) -> Any:
        found = self._terms(X)
        hashes = _text.hash(found.letters, found.ends).astype(np.int64)
        places = np.where(hashes == LEAST, (2**31 - self.n_features) % self.n_features, np.abs(hashes) % self.n_features)
        if self.alternate_sign:
            found.counts = found.counts * np.where(hashes >= 0, 1, -1).astype(np.int32)[found.columns]
        rows = found.placed(places, self.n_features, False, np.dtype(self.dtype))
        rows.has_canonical_format = False
        rows.sum_duplicates()
        if self.binary:
            rows.data.fill(1)
        return rows if self.norm is None else weighed(rows, None, self.norm, False)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The columns by number: which terms they stand for is not known."""
        if self.n_features > MOST_NAMES:
            raise BadInput(f"HashingVectorizer makes {self.n_features:,} columns, too many to name each: lower n_features")
        return np.array([f"hash{j}" for j in range(self.n_features)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags
