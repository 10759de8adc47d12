"""Columns that a fitted model gives weight to."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import Any, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.foreign import is_fitted_learner, own_of
from tenfold.base.routing import routed, router, routing_enabled
from tenfold.base.sklearn_api import fresh
from tenfold.compose.fitting import fit_inside
from tenfold.compose.select.of_learner import BadAttribute, OfLearner, importances_of, table_in_memory
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter, BadParameterType, not_fitted
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.gate.inputs import AsGiven, Given

ALMOST_ZERO = 1e-5  # of the coefficients of a penalty that makes many of them zero


@estimator
class SelectFromModel(OfLearner):
    """SelectFromModel: the columns that a model gives weight to: coefficients of the lasso, importances of a forest.

    Model       x ↦ (x_j : importance_j ≥ threshold, and among the max_features largest)
    Objective   importance_j = |coef_j| (the norm of order norm_order over several outputs), feature_importances_j, or what
                importance_getter says of the fitted model, such as its permutation importance
    Algorithm   one fit of the learner
    Cost        that of the fit
    Fails when  columns are in different units and the model is linear: scale them first; columns that say the same share importance
    Reference   Tibshirani 1996 (lasso); Breiman 2001 (forests)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> chosen = tenfold.SelectFromModel(tenfold.Lasso(alpha=0.1)).fit(X, X[:, 0] - 2 * X[:, 2])
    >>> chosen.get_support().tolist()
    [True, False, True, False]
    """

    estimator_: Any = learned("learner", "the fitted learner")
    max_features_: int = learned("int>=0", "the largest number of columns to keep, where max_features says one", optional=True)

    _: KW_ONLY
    threshold: Any = param(
        default=None,
        at_most=np.inf,
        doc="least importance: a number, 'mean', 'median', '1.25*mean'; None: 1e-5 where a penalty makes zeros, else 'mean'",
    )
    prefit: bool = param(default=False, doc="the learner is fitted already, and is used as it is")
    norm_order: float = param(default=1, at_most=np.inf, doc="order of the norm of importances over several outputs")
    max_features: Any = param(default=None, doc="the largest number of columns to keep, or a function of X that says it")
    importance_getter: Any = param(default="auto", doc="'auto', the name of an attribute, or a function of the fitted learner")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.discriminant import LinearDiscriminantAnalysis
        from tenfold.linear.ridge import Ridge

        return [{"estimator": Ridge()}, {"estimator": LinearDiscriminantAnalysis(), "max_features": 2, "threshold": 0.0}]

    @property
    def kind(self) -> str:
        return str(self._member.kind)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        found: dict[str, Any] = {}
        if self.prefit:
            fitted = deepcopy(self._prefitted())
        elif vars(self).get("_more") or self._member.accepts != "rows":
            X, y, w = source.given() if isinstance(source, AsGiven) else (yield from table_in_memory(source))
            fitted = self._fitted_member(X, y, w)
        else:
            fitted = own_of((yield from fit_inside(fresh(self._member), source)))
        found["estimator_"] = fitted
        if self.max_features is not None:
            found["max_features_"] = self._most(vars(self).get("_table"))
        return found

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the learner, unless it is fitted already; `params` are handed to its fit."""
        check.check_params(self)
        if self.max_features is not None:
            self._most(X)
        if callable(self.max_features):
            vars(self)["_table"] = X
        try:
            if self.prefit:
                return self._adopt(X)
            return super().fit(X, y, sample_weight, **params)
        finally:
            vars(self).pop("_table", None)

    def _adopt(self, X: Any) -> Self:
        """The learner that was fitted before, as it is."""
        check.check_params(self)
        found: dict[str, Any] = {"estimator_": deepcopy(self._prefitted())}
        if self.max_features is not None:
            found["max_features_"] = self._most(X)
        width = getattr(self.estimator, "n_features_in_", None)
        names = getattr(self.estimator, "feature_names_in_", check.frame_names(X) if X is not None else None)
        found["n_features_in_"] = int(width) if width is not None else len(self._importances(found["estimator_"]))
        vars(self).update(found, **({} if names is None else {"feature_names_in_": np.asarray(names, dtype=object)}))
        return self

    def _prefitted(self) -> Any:
        if not is_fitted_learner(self.estimator):
            raise type(not_fitted(""))("When `prefit=True`, `estimator` is expected to be a fitted estimator.")
        return self.estimator

    def _most(self, X: Any) -> int:
        """The largest number of columns to keep."""
        given = self.max_features(X) if callable(self.max_features) else self.max_features
        if not isinstance(given, (int, np.integer)) or isinstance(given, bool):
            raise BadParameterType(
                f"max_features must be an instance of int, not {type(given).__name__}. SelectFromModel(max_features={check.short(given)})"
            )
        if given < 0:
            raise BadParameter(f"max_features == {given}, must be >= 0: SelectFromModel(max_features=...) is a number of columns")
        return int(given)

    @available(lambda model: hasattr(model.estimator, "partial_fit"))
    def partial_fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Let the learner learn more rows; `params` are handed to its partial_fit (`classes`, weights)."""
        first = "estimator_" not in vars(self)
        if self.prefit:
            return self._adopt(X) if first else self
        check.check_params(self)
        more = dict(routed(self, "partial_fit", params).estimator.partial_fit) if routing_enabled() else params
        made = fresh(self.estimator) if first else self.estimator_
        made.partial_fit(X, y, **{key: value for key, value in more.items() if value is not None})
        facts = {key: getattr(made, key) for key in ("feature_names_in_", "classes_") if hasattr(made, key)}
        vars(self).update(facts, estimator_=made, n_features_in_=getattr(made, "n_features_in_", Given(X).shape[1]))
        if first and self.max_features is not None:
            vars(self)["max_features_"] = self._most(X)
        return self

    # --- which columns ---

    def _importances(self, model: Any) -> Array:
        found = importances_of(model, self.importance_getter)
        return np.asarray(np.abs(found) if found.ndim == 1 else np.linalg.norm(found, axis=0, ord=self.norm_order))

    @property
    def importances_(self) -> Array:
        """The importance of each column."""
        check.check_fitted(self)
        try:
            return self._importances(self.estimator_)
        except BadAttribute as objection:  # of the getter, not of this selector
            raise BadParameter(str(objection)) from None

    @property
    def threshold_(self) -> float:
        """The least importance of a column that is kept."""
        return self._least(self.importances_)

    def _least(self, importances: Array) -> float:
        given = self.threshold
        if given is None:
            given = ALMOST_ZERO if makes_zeros(vars(self).get("estimator_", self.estimator)) else "mean"
        if not isinstance(given, str):
            try:
                return float(given)
            except (TypeError, ValueError):
                raise BadParameter(f"SelectFromModel(threshold={check.short(given)}): must be a number, 'mean' or 'median'") from None
        times, star, word = given.rpartition("*")
        word = word.strip()
        if word not in ("mean", "median"):
            what = f"Unknown reference: {word}" if star else f"Expected threshold='mean' or threshold='median' got {given}"
            raise BadParameter(f"{what}: SelectFromModel(threshold={given!r}) is a number, 'mean', 'median' or '1.25*mean'")
        try:
            scale = float(times) if star else 1.0
        except ValueError:
            raise BadParameter(f"SelectFromModel(threshold={given!r}): what stands before * must be a number") from None
        return float(scale * (np.mean(importances) if word == "mean" else np.median(importances)))

    def _mask(self) -> Array:
        importances = self._importances(self.estimator_)
        mask = np.ones(len(importances), dtype=bool)
        if self.max_features is not None:
            mask[np.argsort(-importances, kind="stable")[self.max_features_ :]] = False
        mask[importances < self._least(importances)] = False
        return mask

    # --- a learner that was fitted before, and no fit of the selector ---

    def _ready(self) -> Self:
        if not self.prefit or "estimator_" in vars(self):
            return self
        if callable(self.max_features):
            raise type(not_fitted(""))("When `prefit=True` and `max_features` is a callable, call `fit` before calling `transform`.")
        return copy(self)._adopt(None)

    def get_support(self, indices: bool = False) -> Array:
        """Which columns are kept: truth values, or with `indices` their places."""
        return super(SelectFromModel, self._ready()).get_support(indices)

    def transform(self, X: Any) -> Any:
        """The rows with the columns that are kept, each as it is; `set_output` chooses the container."""
        return super(SelectFromModel, self._ready()).transform(X)

    def _objection(self) -> str | None:
        return None if "max_features_" in vars(self) or self.max_features is None else "there is no number of columns to keep"

    def get_metadata_routing(self) -> Any:
        """What is handed on to the learner (`sklearn.utils.metadata_routing.MetadataRouter`)."""
        return router(self, [("estimator", self.estimator, [("partial_fit", "partial_fit"), ("fit", "fit")])])


def makes_zeros(model: Any) -> bool:
    """Whether the penalty of a model is one of absolute values alone, which makes coefficients zero."""
    name, share = type(model).__name__, getattr(model, "l1_ratio_", getattr(model, "l1_ratio", None))
    if getattr(model, "penalty", None) == "l1" or "Lasso" in name:
        return True
    mixed = name.startswith(("ElasticNet", "LogisticRegression")) and share is not None
    return bool(mixed and np.all(np.isclose(np.asarray(share, dtype=np.float64), 1.0)))
