"""Columns that tell where values are missing."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Transformer, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts
from tenfold.prepare.gaps import as_objects, check_kinds, gaps, is_number


@estimator
class MissingIndicator(Transformer, OnePass):
    """MissingIndicator: for each column with gaps, whether its value is missing.

    Model       zⱼ = 1 where xⱼ is missing, else 0
    Objective   none: which columns have missing values is counted
    Algorithm   one pass of counts
    Cost        O(n p) time, O(p) memory, one pass
    Fails when  a column has missing values for the first time after the fit (refused, unless error_on_new is False)
    Reference   Little & Rubin 2002, §1.3

    Example
    -------
    >>> import numpy as np, tenfold
    >>> indicator = tenfold.MissingIndicator().fit([[1.0, 2.0], [np.nan, 3.0]])
    >>> indicator.transform([[np.nan, 2.0], [4.0, 3.0]]).tolist()
    [[True], [False]]
    """

    features_: Array = learned("int(*)<p", "the columns that are told of")
    stats_: Any = learned("Counts(p)", "missing weight of each column", optional=True)

    _: KW_ONLY
    missing_values: Any = param(default=np.nan, doc="what stands for a missing value: NaN, None, a number or a text")
    features: str = param(
        default="missing-only", one_of=("missing-only", "all"), doc="columns that had missing values in fit, or all of them"
    )
    sparse: Any = param(default="auto", one_of=("auto", True, False), doc="sparse rows; 'auto': where X is sparse")
    error_on_new: bool = param(default=True, doc="refuse missing values in columns that had none in fit")

    missing: ClassVar[bool] = True
    fills: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {"refuses_categories": "text has gaps like numbers"}

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"features": "all"}]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn which columns have missing values."""
        if not isinstance(self.sparse, (bool, str)):
            raise BadParameter(f"MissingIndicator(sparse={check.short(self.sparse)}): must be 'auto', True or False")
        check_kinds(X, self.missing_values)
        super().fit(self._as_numbers(X), y, sample_weight)
        names = None if check.elsewhere(X) else check.frame_names(X)
        if names is not None:
            vars(self)["feature_names_in_"] = names
        return self

    def _as_numbers(self, X: Any) -> Any:
        """A table of objects as numbers that have the same gaps."""
        table = as_objects(X)
        if table is None:
            return X if self.sparse or not ops.is_sparse(X) else X.toarray()
        mark = self.missing_values if is_number(self.missing_values) else np.nan
        return np.where(gaps(table, self.missing_values), mark, 0.0 if mark else 1.0)

    def _gaps(self, X: Array) -> Array:
        return np.asarray(self.missing_values == X if is_number(self.missing_values) else np.isnan(X))

    def _summarize(self, block: Block) -> Counts:
        return Counts(np.where(self._gaps(ops.dense(block.X)), block.w[:, None], 0.0).sum(axis=0))

    def _solve(self, stats: Counts) -> dict[str, Any]:
        every = np.arange(self.n_features_in_)
        return dict(features_=every if self.features == "all" else np.flatnonzero(stats.weight > 0))

    def _transform(self, X: Any) -> Array:
        blank = self._gaps(ops.dense(X))
        new = np.setdiff1d(np.flatnonzero(blank.any(axis=0)), self.features_)
        if self.error_on_new and self.features == "missing-only" and len(new):
            raise BadInput(
                f"The features {new} have missing values in transform but have no missing values in fit: fit on rows like these, or "
                "set error_on_new=False"
            )
        return blank[:, self.features_].astype(X.dtype, order="C")

    def transform(self, X: Any) -> Any:
        """Where values are missing: an array of truth values, or a CSC matrix of them."""
        check.check_fitted(self)
        check_kinds(X, self.missing_values)
        rows = map_rows(self._transform, check.check_predict(self, self._as_numbers(X))).astype(bool)
        if self.sparse is True or (self.sparse == "auto" and ops.is_sparse(X)):
            from scipy import sparse

            return sparse.csc_matrix(rows)
        return self._dressed(rows, X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.transformer_tags.preserves_dtype = True, []  # text has gaps too, and truth values tell of them
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        names = super().get_feature_names_out(input_features)
        return np.array([f"missingindicator_{names[j]}" for j in self.features_], dtype=object)


class Indicated:
    """Abstract: fills gaps, and may append 0/1 columns that tell where they were."""

    missing_values: Any
    add_indicator: bool
    missing_features_: Array

    @property
    def indicator_(self) -> Any:
        """What tells which values were missing, a fitted MissingIndicator; None without add_indicator."""
        check.check_fitted(self)
        if not self.add_indicator:
            return None
        plain = MissingIndicator(missing_values=self.missing_values, error_on_new=False)
        facts: dict[str, Any] = {key: vars(self)[key] for key in ("n_features_in_", "feature_names_in_") if key in vars(self)}
        vars(plain).update(facts, features_=self.missing_features_)
        return plain

    def _marks(self, names: Array) -> list[str]:
        """The names of the columns that are appended."""
        return [f"missingindicator_{names[j]}" for j in self.missing_features_] if self.add_indicator else []
