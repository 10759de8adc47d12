"""What selectors of columns that ask a learner have in common: its gate, its importances, rows with some of their columns."""

from __future__ import annotations

from collections.abc import Generator
from operator import attrgetter
from typing import Any, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import FACTS, Estimator
from tenfold.base.member import OfEstimator
from tenfold.base.one_pass import OnePass
from tenfold.base.routing import routed, router, routing_enabled
from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learning import Keep
from tenfold.core.params import group, param
from tenfold.features.selector import Selector
from tenfold.gate.inputs import AsGiven

Table = tuple[Any, Any, Array | None]  # X as an array or CSR, the target as the user gave it, weights where rows differ in them


@group
class OfLearner(OfEstimator, Selector, Estimator):
    """Abstract: keeps the columns that a learner has use for, and takes the rows that it takes."""

    estimator: Any = param(doc="the learner that is asked, Tenfold's or anybody's")

    @property
    def kind(self) -> str:
        return "keeps rows"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Learn which columns to keep; `params` are handed to every fit of the learner, by scikit-learn's routing where that is on."""
        if y is not None and not isinstance(y, str) and not check.elsewhere(X):
            check.as_column(y)  # also where the learner has no use for it
        if routing_enabled():
            params = params if sample_weight is None else {**params, "sample_weight": sample_weight}
            params, sample_weight = dict(routed(self, "fit", params).estimator.fit), None
        vars(self)["_more"] = params
        try:
            return super().fit(X, y, sample_weight)
        finally:
            vars(self).pop("_more", None)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """Fit, then transform the same rows."""
        return self.fit(X, y, sample_weight, **params).transform(X)

    def _fitted_member(self, X: Any, y: Any, w: Array | None, columns: Array | None = None) -> Any:
        """A fresh copy of the learner, fitted by its own verbs to some of the columns; the user's object, not wrapped."""
        made = fresh(self.estimator)
        more = dict(vars(self).get("_more", {}))
        if w is not None:
            more["sample_weight"] = w
        X = X if columns is None else columns_of(X, columns)
        made.fit(*((X,) if y is None else (X, y)), **more)
        return made

    def _transform(self, X: Any) -> Any:
        plain = X if ops.is_sparse(X) or type(X) is np.ndarray else np.asarray(X)
        return super()._transform(plain)

    def _check_width(self, source: Source) -> None:
        if source.n_features < 2:
            raise BadInput(
                f"Found array with 1 feature(s) (shape=({source.n_rows or '?'}, 1)) while a minimum of 2 is required by "
                f"{type(self).__name__}: there is nothing to choose from"
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            inner = self.estimator.__sklearn_tags__().input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def get_metadata_routing(self) -> Any:
        """What is handed on to the learner (`sklearn.utils.metadata_routing.MetadataRouter`)."""
        return router(self, [("estimator", self.estimator, [("fit", "fit")])])


# --- rows -------------------------------------------------------------------------------------------------------------


def table_in_memory(source: Source) -> Generator[Any, Any, Table]:
    """The rows of a source as the `fit` of any learner takes them."""
    if isinstance(source, AsGiven):
        X, y, w = source.given()
        return X.tocsr() if ops.is_sparse(X) else np.asarray(X), y, w
    return labelled(source, (yield Keep(sparse=True)))


def labelled(source: Source, kept: tuple[Any, Array, Array]) -> Table:
    """Rows that were kept, with the target as the user gave it."""
    X, y, w = kept
    target = source.target
    given: Array | None = y
    if target.kind == "none":
        given = None
    elif target.classes is not None:
        given = target.labels(y)
    elif target.flat:
        given = y[:, 0]
    return X, given, None if (w == w[0]).all() else w


def columns_of(X: Any, columns: Array) -> Any:
    """Some columns of an array or CSR matrix."""
    return X[:, columns] if ops.is_sparse(X) else np.take(X, columns, axis=1)


def solved_on(member: OnePass, facts: dict[str, Any], stats: Any, columns: Array) -> Any:
    """A learner of one pass, fitted to some of the columns by the statistics of all; None where these do not give it."""
    made = fresh(member)
    known = {key: fact for key, fact in facts.items() if key in FACTS and key not in ("feature_names_in_", "categories_")}
    vars(made).update(known)
    some = made._of_columns(stats, columns)
    vars(made)["n_features_in_"] = len(columns)
    if some is None or not made._exact(some):
        return None
    fitted = made._solve(some)
    if "absent_" in fitted:
        return None
    vars(made).update(fitted, stats_=some)
    return made


def has_columns(member: Any) -> bool:
    """Whether the statistics of a learner give those of some of its columns."""
    return isinstance(member, OnePass) and type(member)._of_columns is not OnePass._of_columns


# --- importances ------------------------------------------------------------------------------------------------------


class BadAttribute(BadParameter, AttributeError):
    """The name of an attribute that a model has not."""


def importances_of(model: Any, getter: Any) -> Any:
    """What a fitted model says of its columns: (p,), or (outputs, p)."""
    if callable(getter):
        return _dense(getter(model))
    if not isinstance(getter, str):
        raise BadParameter(f"importance_getter={check.short(getter)}: `importance_getter` has to be a string or `callable`")
    if getter != "auto":
        try:
            return _dense(attrgetter(getter)(model))
        except AttributeError:
            raise BadAttribute(f"importance_getter={getter!r}: the fitted {type(model).__name__} has no such attribute") from None
    for name in ("coef_", "feature_importances_"):
        if hasattr(model, name):
            return _dense(getattr(model, name))
    raise BadInput(
        f"when `importance_getter=='auto'`, the underlying estimator {type(model).__name__} should have `coef_` or "
        "`feature_importances_` attribute: fit it first, or say by importance_getter what its columns are worth"
    )


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if ops.is_sparse(values) else values)
