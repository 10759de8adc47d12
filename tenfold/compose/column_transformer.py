"""Transformers of some columns each, side by side."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.routing import refuse_unrouted
from tenfold.compose.named import ByName, names_of
from tenfold.compose.selectors import make_column_selector, places_of
from tenfold.compose.union import Union
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter, BadType
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.function import FunctionTransformer

__all__ = ["ColumnTransformer", "make_column_selector", "make_column_transformer"]


@estimator
class ColumnTransformer(Union):
    """ColumnTransformer: each transformer for its own columns, and what they make side by side.

    Model       z = [w₁ t₁(x[columns₁]), ..., w_T t_T(x[columns_T]), the remaining columns]
    Objective   that of each transformer
    Algorithm   all transformers are fitted side by side: one reading of the rows serves all of them; columns of numbers
                that an encoder takes for categories take one reading more, for their values
    Cost        the sum of the transformers on their columns; as many readings of the rows as the longest of them needs
    Fails when  a column that a transformer cannot take comes to it (refused by name)
    Reference   Buitinck et al. 2013 (the interface)

    Example
    -------
    >>> import polars, tenfold
    >>> table = polars.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    >>> coder = tenfold.OneHotEncoder(sparse_output=False)
    >>> model = tenfold.ColumnTransformer([("scaled", tenfold.StandardScaler(), ["size"]), ("coded", coder, ["colour"])])
    >>> model.fit_transform(table).round(2).tolist()
    [[-1.22, 0.0, 1.0], [0.0, 1.0, 0.0], [1.22, 0.0, 1.0]]
    >>> model.get_feature_names_out().tolist()
    ['scaled__size', 'coded__colour_blue', 'coded__colour_red']
    """

    listed: ClassVar[str] = "transformers"

    transformers: list[Any] = param(
        doc="list of (name, transformer, columns): columns by name, place, slice, mask or a function of the table; a transformer may "
        "be 'drop' or 'passthrough'",
        before="n_jobs",
    )
    _: KW_ONLY
    remainder: Any = param(default="drop", doc="what becomes of other columns: 'drop', 'passthrough', or a transformer", before="n_jobs")
    sparse_threshold: float = param(
        default=0.3,
        at_least=0,
        at_most=1,
        doc="the share of values that are not zero below which rows are sparse, where a transformer makes sparse ones",
        before="n_jobs",
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.compose.pipeline import make_pipeline
        from tenfold.prepare.impute import SimpleImputer
        from tenfold.prepare.scale import StandardScaler
        from tenfold.reduce.pca import PCA

        return [
            {"transformers": [("scaled", StandardScaler(), [0])], "remainder": "passthrough"},
            {"transformers": [("axes", make_pipeline(SimpleImputer(), PCA(2)), [0, 2, 3])]},
        ]

    def _check_listed(self, given: Any) -> None:
        here = "ColumnTransformer(transformers)"
        for one in given:
            if len(one) != 3:
                raise BadParameter(f"{here}: {check.short(one)} is not a triple of a name, a transformer and columns")
            if isinstance(one[1], str) and one[1] not in ("drop", "passthrough"):
                raise BadParameter(f"{here}: {one[0]!r} is {one[1]!r}, and must be a transformer, 'drop' or 'passthrough'")

    def _entries(self) -> list[tuple[str, Any, Any]]:
        if not isinstance(self.transformers, (list, tuple)) or self.transformers:
            self._pairs()
        if isinstance(self.remainder, str) and self.remainder not in ("drop", "passthrough"):
            raise BadParameter(f"ColumnTransformer(remainder={self.remainder!r}): must be 'drop', 'passthrough' or a transformer")
        return [*map(tuple, self.transformers), ("remainder", self.remainder, None)]

    def _places(self, source: Source) -> list[Array]:
        chosen = [
            places_of(columns, source, f"ColumnTransformer: {name!r}") for name, _, columns in self._entries()[:-1]
        ]
        used = np.concatenate([np.empty(0, dtype=np.int64), *chosen])
        return [*chosen, np.setdiff1d(np.arange(source.n_features), used)]

    def _columns_used(self) -> Array | None:
        return np.unique(np.concatenate([np.empty(0, dtype=np.int64), *(places for _, _, places in self._parts())]))

    def _look(self, table: Any) -> dict[Any, Any]:
        """Columns that are chosen by a function of the table."""
        given = [one[2] for one in self.transformers if isinstance(one, (tuple, list)) and len(one) == 3]
        found: dict[Any, Any] = {}
        for columns in given:
            if callable(columns) and (check.is_frame(table) or not isinstance(columns, make_column_selector)):
                chosen = columns(table)
                found[columns] = chosen if isinstance(chosen, (str, int, np.integer, slice)) else list(chosen)
        return found

    def _saved_params(self) -> dict[str, Any]:
        """A file cannot hold functions and slices: the columns that they have chosen stand for them."""
        params = super()._saved_params()
        if "n_features_in_" in vars(self):
            chosen = zip(self.transformers, self._columns, strict=False)
            params["transformers"] = [(name, one, self._found(columns, places)) for (name, one, columns), places in chosen]
        return params

    def _found(self, columns: Any, places: Array) -> Any:
        """Columns as the user gave them, or the names or places of those that were chosen."""
        if columns is not None and not callable(columns) and not isinstance(columns, slice):
            return columns
        names = vars(self).get("feature_names_in_")
        return places.tolist() if names is None else names[places].tolist()

    @property
    def named_transformers_(self) -> ByName:
        """The fitted transformers by name, a FunctionTransformer where columns pass as they are; 'drop' where they are left out."""
        names = vars(self).get("feature_names_in_")
        passing = {name: _passing(places, names) for name, one, places in self._parts() if one is None}
        return ByName({**self._fitted_by_name(), **passing})

    def __getitem__(self, name: str) -> Any:
        if "n_features_in_" not in vars(self):
            raise BadType("ColumnTransformer is subscriptable after it is fitted: call fit first")
        try:
            return self.named_transformers_[name]
        except KeyError:
            raise KeyError(f"{name!r} is not a valid transformer name") from None

    @property
    def sparse_output_(self) -> bool:
        """Whether `transform` returns a CSR matrix: as `sparse_threshold` has decided in fit."""
        check.check_fitted(self)
        return bool(vars(self).get("_sparse_made")) if self._ordinary else self._sparse_row() is not None

    @property
    def sparse_below(self) -> float:  # type: ignore[override]
        return float(self.sparse_threshold)

    @property
    def transformers_(self) -> list[tuple[str, Any, Any]]:
        """Name, fitted transformer and columns of each entry, the remaining columns last where there are any."""
        fitted = self.named_transformers_
        return [
            (name, fitted[name], self._remaining(places) if name == "remainder" else self._found(columns, places))
            for (name, _, columns), places in zip(self._entries(), self._columns, strict=True)
            if name != "remainder" or len(places)
        ]

    def _remaining(self, places: Array) -> Any:
        """The remaining columns, in the words in which all others were given: names, a mask, else places."""
        kinds = {_kind_of(columns) for _, _, columns in self.transformers}
        if kinds == {"mask"}:
            return np.isin(np.arange(self.n_features_in_), places).tolist()
        return self.feature_names_in_[places].tolist() if kinds == {"names"} else places.tolist()

    def _goes_by_verbs(self, params: dict[str, Any]) -> bool:
        refuse_unrouted(self, "fit", params)
        return super()._goes_by_verbs(params)

    @property
    def output_indices_(self) -> dict[str, slice]:
        """The new columns of each transformer."""
        out, start = {name: slice(0, 0) for name, _, _ in self._entries()}, 0
        parts = self._parts()
        widths = vars(self)["_widths"] if self._ordinary else [_width(one, places) for _, one, places in parts]
        for (name, _, _), width in zip(parts, widths, strict=True):
            out[name] = slice(start, start + width)
            start += width
        return out


def _passing(places: Array, names: Array | None) -> FunctionTransformer:
    """What stands for columns that pass as they are."""
    one = FunctionTransformer(accept_sparse=True, check_inverse=False, feature_names_out="one-to-one")
    vars(one).update(n_features_in_=len(places), n_output_features_=len(places))
    if names is not None:
        vars(one)["feature_names_in_"] = names[places]
    return one


def _kind_of(columns: Any) -> str:
    """How columns are given."""
    if isinstance(columns, slice):
        return "names" if isinstance(columns.start if columns.stop is None else columns.stop, str) else "places"
    given = [columns] if isinstance(columns, str) or not np.iterable(columns) else list(columns)
    kinds = {"names" if isinstance(one, str) else "mask" if isinstance(one, (bool, np.bool_)) else "places" for one in given}
    return kinds.pop() if len(kinds) == 1 else "places"


def _width(one: Any, places: Array) -> int:
    return len(places) if one is None else len(one.get_feature_names_out())


def make_column_transformer(
    *transformers: Any,
    remainder: Any = "drop",
    sparse_threshold: float = 0.3,
    n_jobs: int | None = None,
    verbose: bool = False,
    verbose_feature_names_out: Any = True,
) -> ColumnTransformer:
    """A ColumnTransformer of pairs (transformer, columns), named after their classes, in lower case."""
    for one in transformers:
        if not isinstance(one, (tuple, list)) or len(one) != 2:
            raise BadParameter(f"make_column_transformer: {check.short(one)} is not a pair of a transformer and columns")
    names = names_of(tuple(one[0] for one in transformers))
    triples = [(name, one, columns) for name, (one, columns) in zip(names, transformers, strict=True)]
    return ColumnTransformer(
        triples,
        remainder=remainder,
        sparse_threshold=sparse_threshold,
        n_jobs=n_jobs,
        verbose=verbose,
        verbose_feature_names_out=verbose_feature_names_out,
    )
