"""Counts of terms weighed by how few documents have each."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from tenfold import _text
from tenfold.base import check
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput, BadParameter, DataWarning, Degenerate, NotFitted, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.core.stats import Counts
from tenfold.text.counts import Counting
from tenfold.text.vocabulary import Vocabulary

AT_ONCE = 1 << 18  # values that are weighed at a time


@group
class Weighing:
    """Abstract: the parameters of tf-idf."""

    _: KW_ONLY
    norm: str | None = param(default="l2", one_of=("l1", "l2", None), doc="length of a row: Σ |z| = 1, Σ z² = 1, or None")
    use_idf: bool = param(default=True, doc="weigh terms by idf")
    smooth_idf: bool = param(default=True, doc="as if one more document had every term once")
    sublinear_tf: bool = param(default=False, doc="1 + log tf in place of tf")


@estimator
class TfidfTransformer(Transformer, OnePass, Weighing):
    """TfidfTransformer: counts of terms weighed by how few rows have them, rows of length 1.

    Model       z_j ∝ tf_j idf_j, with tf_j the count of column j in the row
    Objective   idf_j = log(n / df_j) + 1, df_j rows having column j; smooth: log((n + 1) / (df_j + 1)) + 1
    Algorithm   one pass for df
    Cost        O(values that are not zero), one pass; merging O(p)
    Fails when  no row has a column and smooth_idf=False: its idf is infinite (warns Degenerate)
    Reference   Spärck Jones 1972; Manning, Raghavan & Schütze 2008, §6

    Example
    -------
    >>> import tenfold
    >>> weights = tenfold.TfidfTransformer(norm=None, smooth_idf=False)
    >>> weights.fit_transform([[1, 1], [2, 0]]).toarray().round(3).tolist()
    [[1.0, 1.693], [2.0, 0.0]]
    """

    idf_: Array = learned("real(p)", "weight of each column", optional=True, like_x=True)
    stats_: Any = learned("Counts(p+1)", "rows that have each column, and all: for partial_fit, merge and forget", optional=True)

    sparse: ClassVar[bool] = True
    lean: ClassVar[bool] = True
    lean_fit: ClassVar[bool] = True
    summary_reads: ClassVar[tuple[str, ...] | None] = ()

    def _summarize(self, block: Block) -> Counts:
        X, w = block.X, block.w
        if ops.is_sparse(X):
            some = np.where(X.data != 0, np.repeat(w, np.diff(X.indptr)), 0.0)
            df = np.bincount(X.indices, some, minlength=X.shape[1])
        else:
            df = w @ (X != 0)
        return Counts(np.append(df, w.sum()))

    def _solve(self, stats: Counts) -> dict[str, Any]:
        df, n = stats.weight[:-1], float(stats.weight[-1])
        return dict(idf_=inverse_frequencies(df, n, self.smooth_idf)) if self.use_idf else {}

    def transform(self, X: Any, copy: bool = True) -> Any:
        """The rows as CSR; `copy` has no effect: X is never changed."""
        model = self
        if "n_features_in_" not in vars(self) and "idf_" in vars(self):  # weights that were set by hand
            model = self._fitted_copy({"idf_": np.asarray(self.idf_), "n_features_in_": len(self.idf_)})
        rows = map_rows(model._transform, check.check_predict(model, X), lean=True)
        if not ops.is_sparse(rows) and self._container() == "default":
            from scipy.sparse import csr_matrix

            return csr_matrix(rows)
        return self._dressed(rows, X) if self._container() != "default" else rows

    def _transform(self, X: Any) -> Any:
        if ops.is_sparse(X):
            return weighed(X, vars(self).get("idf_") if self.use_idf else None, self.norm, self.sublinear_tf)
        Z = np.where(X != 0, np.log(np.where(X > 0, X, 1.0)) + 1.0, 0.0) if self.sublinear_tf else X
        Z = Z * self.idf_.astype(X.dtype, copy=False) if self.use_idf else Z
        if self.norm is not None:
            size = np.abs(Z).sum(axis=1) if self.norm == "l1" else np.sqrt((Z * Z).sum(axis=1))
            Z = Z / np.where(size > 0, size, 1.0)[:, None]
        return Z.astype(X.dtype, copy=False)

    def __sklearn_is_fitted__(self) -> bool:
        return "n_features_in_" in vars(self) or "idf_" in vars(self)


def inverse_frequencies(df: Array, n: float, smooth: bool) -> Array:
    """log(n / df) + 1."""
    if smooth:
        return np.asarray(np.log((n + 1.0) / (df + 1.0)) + 1.0)
    if not df.all():
        warn(
            f"TfidfTransformer: no row has column {int(np.argmin(df))}, and smooth_idf=False makes its idf infinite (divide by zero): "
            "leave the column out, or set smooth_idf=True",
            Degenerate,
            stacklevel=4,
        )
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(n / df) + 1.0)


def weighed(X: Any, idf: Array | None, norm: str | None, sublinear: bool, own: bool = False) -> Any:
    """CSR rows of tf × idf, of length 1 by the norm; written over the counts where these are nobody else's (`own`)."""
    from scipy.sparse import csr_matrix

    floats = X.dtype in (np.float32, np.float64)
    values = X.data if own and floats else X.data.astype(X.dtype if floats else np.float64)
    if sublinear and values.size and values.min() < 0:
        raise BadInput("sublinear_tf takes the logarithm of counts, and some are below zero: set it to False, or count terms")
    idf = None if idf is None else idf.astype(values.dtype, copy=False)
    cuts = np.searchsorted(X.indptr, np.arange(0, len(values), AT_ONCE))  # so that what is made on the way stays small
    for start, stop in pairwise(np.unique([*cuts.tolist(), 0, X.shape[0]]).tolist()):
        inside = slice(X.indptr[start], X.indptr[stop])
        part = values[inside]
        if sublinear:
            part[:] = np.where(part > 0, np.log(np.where(part > 0, part, 1.0)) + 1.0, 0.0)
        if idf is not None:
            part *= idf[X.indices[inside]]
        if norm is not None:
            _normalise(part, np.diff(X.indptr[start : stop + 1]), norm)
    made = csr_matrix((values, X.indices, X.indptr), shape=X.shape, copy=False)
    made.has_sorted_indices = X.has_sorted_indices
    return made


def _normalise(values: Array, lengths: Array, norm: str) -> None:
    """Rows of so many values each, divided by their norm."""
    size, full = np.zeros(len(lengths)), np.flatnonzero(lengths)
    if len(full):
        starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
        size[full] = np.add.reduceat(np.abs(values) if norm == "l1" else values * values, starts[full], dtype=np.float64)
    size = size if norm == "l1" else np.sqrt(size)
    size[size == 0.0] = 1.0
    values /= np.repeat(size.astype(values.dtype), lengths)


@estimator
class TfidfVectorizer(Counting, Weighing):
    """TfidfVectorizer: documents as rows of terms, weighed by how few documents have them, rows of length 1.

    Model       z_j ∝ tf_j idf_j, with tf_j how often the document has term j
    Objective   idf_j = log((n + 1) / (df_j + 1)) + 1, df_j of n documents having term j (see TfidfTransformer)
    Algorithm   the terms of CountVectorizer; df comes with them, in the same pass
    Cost        O(characters) time, memory for every different term; one pass, merging O(terms)
    Fails when  no term is left (refused); terms of later documents that fit has not met are not counted
    Reference   Spärck Jones 1972; Salton & Buckley 1988

    Example
    -------
    >>> import tenfold
    >>> weights = tenfold.TfidfVectorizer()
    >>> weights.fit_transform(["the cat", "the dog"]).toarray().round(2).tolist()
    [[0.81, 0.0, 0.58], [0.0, 0.81, 0.58]]
    """

    _tfidf: Any = learned("part", "the weights of the terms", optional=True)

    _: KW_ONLY
    dtype: Any = param(default="float64", doc="the type of the rows: float64 or float32")

    def _kind(self) -> Any:
        kind = np.dtype(self.dtype)
        return kind if kind in (np.float32, np.float64) else np.dtype(np.float64)

    def _solve(self, stats: Vocabulary) -> dict[str, Any]:
        if self._kind() != np.dtype(self.dtype):
            warn(
                f"Only float32 and float64 'dtype' should be used. {np.dtype(self.dtype)} 'dtype' will be converted to np.float64.",
                DataWarning,
                stacklevel=5,
            )
        found = super()._solve(stats)
        df = np.zeros(len(found["_ends"]))
        places = _text.find(found["_letters"], found["_ends"], stats.letters, stats.ends)
        df[found["_columns"]] = np.where(places >= 0, np.append(stats.documents, 0.0)[places], 0.0)
        idf = inverse_frequencies(df, stats.weight, self.smooth_idf).astype(self._kind()) if self.use_idf else None
        return found | {"_tfidf": self._weights(idf, len(df))}

    def _weights(self, idf: Array | None, width: int) -> TfidfTransformer:
        made = TfidfTransformer(norm=self.norm, use_idf=self.use_idf, smooth_idf=self.smooth_idf, sublinear_tf=self.sublinear_tf)
        vars(made).update({"n_features_in_": width} | ({} if idf is None else {"idf_": idf}))
        return made

    @property
    def idf_(self) -> Array:
        """Weight of each term."""
        if "_tfidf" not in vars(self):
            raise NotFitted("This TfidfVectorizer has no idf_: call fit first, or set idf_ where the vocabulary is given")
        found: Array = self._tfidf.idf_
        return found

    @idf_.setter
    def idf_(self, value: Any) -> None:
        if not self.use_idf:
            raise BadParameter("`idf_` cannot be set when `user_idf=False`.")
        idf, width = np.asarray(value, dtype=self._kind()), len(self.vocabulary_)
        if idf.shape != (width,):
            raise BadInput(f"idf length = {idf.size} must be equal to vocabulary size = {width}")
        vars(self)["_tfidf"] = self._weights(idf, width)

    def _ready(self) -> Self:
        ready = super()._ready()
        if ready is not self and "_tfidf" in vars(self):
            vars(ready)["_tfidf"] = vars(self)["_tfidf"]
        return ready

    def _weighed(self, counts: Any) -> Any:
        if "_tfidf" not in vars(self):
            raise NotFitted("The TF-IDF vectorizer is not fitted: call fit first, or set idf_")
        found = self._tfidf
        return weighed(counts, found.idf_ if found.use_idf else None, found.norm, found.sublinear_tf, own=True)

    def _objection(self) -> str | None:
        wrong = super()._objection()
        weights = vars(self).get("_tfidf")
        if wrong is None and (not isinstance(weights, TfidfTransformer) or weights.n_features_in_ != len(self._ends)):
            return "there is not one weight for each term"
        return wrong
