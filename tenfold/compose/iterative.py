"""Filling missing values by regressions of each column on the others, in turn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.base.foreign import objection_to, takes
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import legacy_generator
from tenfold.prepare.filling import Filling, where_missing
from tenfold.prepare.impute import SimpleImputer

LEAST_CORRELATION = 1e-6  # that a column is given, so that each has a chance to be drawn


class Imputation(NamedTuple):
    """One regression: the column that was filled, the columns it was filled from, and the fitted regressor."""

    feat_idx: int
    neighbor_feat_idx: Array
    estimator: Any


@estimator
class IterativeImputer(Filling):
    """IterativeImputer: missing values predicted from the other columns, each column in turn, round after round.

    Model       x_j = f_j(x_others) where x_j is missing; f_j is fitted to the rows that have x_j
    Objective   that of each regressor, given the values filled in so far
    Algorithm   gaps are filled simply, then column after column anew by a regression on the others, until a round changes no value
                by more than tol times the largest one; new rows pass through the same regressions in the same order
    Cost        max_iter fits of the regressor for each column; all rows in memory
    Fails when  the rounds do not settle: a warning; regressions go astray: give min_value and max_value
    Reference   van Buuren & Groothuis-Oudshoorn 2011; Buck 1960

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rows = [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0], [4.0, np.nan]]
    >>> tenfold.IterativeImputer().fit_transform(rows).round(2).tolist()[3]
    [4.0, 8.0]
    """

    _estimators: list[Any] = learned("[part](t)", "the fitted regressors, in the order of their use")
    _targets: Array = learned("int(t)", "the column that each of them fills")
    _others: list[Array] = learned("[int(*)](t)", "the columns from which")
    _initial: Any = learned("part", "what fills gaps at first")
    _limits: Array = learned("real(2,*)", "the least and the largest value that each column is filled with")
    n_iter_: int = learned("int", "rounds")
    n_features_with_missing_: int = learned("int", "columns that are filled in a round")

    estimator: Any = param(
        default=None, doc="a regressor; with sample_posterior its predict takes return_std. None: BayesianRidge()", before="missing_values"
    )
    _: KW_ONLY
    sample_posterior: bool = param(default=False, doc="draw values from the predicted distribution: for several imputations")
    max_iter: int = param(default=10, at_least=0, doc="most rounds; 0 leaves the gaps as they were filled at first")
    tol: float = param(default=1e-3, at_least=0, doc="change of a round, as a share of the largest value, at which to stop")
    n_nearest_features: int | None = param(
        default=None, at_least=1, doc="columns to predict from, drawn by their correlation; None: all others"
    )
    initial_strategy: str = param(
        default="mean", one_of=("mean", "median", "most_frequent", "constant"), doc="what fills gaps at first"
    )
    fill_value: Any = param(default=None, doc="the constant of initial_strategy='constant'; None: 0")
    imputation_order: str = param(
        default="ascending",
        one_of=("ascending", "descending", "roman", "arabic", "random"),
        doc="columns by their number of gaps, from left to right, from right to left, or at random",
    )
    skip_complete: bool = param(default=False, doc="no regressions for columns without gaps: those of new rows stay filled simply")
    min_value: Any = param(default=-np.inf, at_most=np.inf, doc="least value to fill in, or one for each column")
    max_value: Any = param(default=np.inf, at_most=np.inf, doc="largest value to fill in, or one for each column")
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")
    random_state: Any = param(default=None, doc="seed of posterior draws, of columns and of a random order")

    kind: ClassVar[str] = "keeps rows"
    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"random_state": 0, "tol": 1e-6, "max_iter": 40}]

    def _regressor(self) -> Any:
        if self.estimator is None:
            from tenfold.linear.bayesian import BayesianRidge

            return BayesianRidge()
        objection = objection_to(self.estimator, "predict")
        if objection is not None:
            raise BadParameter(f"IterativeImputer(estimator): {objection}")
        return fresh(self.estimator)

    # --- fit ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        given, _, w = yield Keep()
        X = np.array(self._with_nan(given), dtype=np.float64)
        blank = np.isnan(X)
        facts = where_missing_of(blank, w)
        vars(self).update(facts, _draws=self._generator())
        plain = (w == w[0]).all()
        initial = SimpleImputer(
            strategy=self.initial_strategy, fill_value=self.fill_value, keep_empty_features=self.keep_empty_features
        )
        initial.fit(X, sample_weight=None if plain else w)
        vars(self)["_initial"] = initial
        Z, blank = self._started(X)
        limits = self._bounds()
        made: list[Imputation] = []
        rounds, order = 0, np.empty(0, dtype=np.int64)
        if self.max_iter and not blank.all() and Z.shape[1] > 1:
            order = self._order(blank)
            rounds = self._rounds(Z, blank, order, limits, {} if plain else {"sample_weight": w}, made)
        if self.sample_posterior:
            vars(self)["_drawn"] = self._with_empty(X, Z)
        else:
            del self._draws  # nothing is drawn after the fit
        return dict(
            **facts, _initial=initial, _estimators=[one.estimator for one in made], _others=[one.neighbor_feat_idx for one in made],
            _targets=np.array([one.feat_idx for one in made], dtype=np.int64), _limits=limits, n_iter_=rounds,
            n_features_with_missing_=len(order),
        )  # fmt: skip

    def _generator(self) -> np.random.RandomState:
        return legacy_generator(self.random_state)

    def _started(self, X: Array) -> tuple[Array, Array]:
        """Rows filled simply, and where they had gaps; without columns that are empty, unless those are kept."""
        blank = np.isnan(X)
        Z = np.where(blank, vars(self._initial)["statistics_"], X)
        if self.keep_empty_features:
            Z = np.where(blank & self.empty_, self._empty_value(), Z)
            blank[:, self.empty_] = False
            return Z, blank
        return np.ascontiguousarray(Z[:, ~self.empty_]), blank[:, ~self.empty_]

    def _empty_value(self) -> float:
        constant = self.initial_strategy == "constant" and self.fill_value is not None
        return float(self.fill_value) if constant else 0.0

    def _bounds(self) -> Array:
        """(2, columns): what is filled in lies between."""
        found = []
        for name, edge in (("min", -np.inf), ("max", np.inf)):
            value = getattr(self, f"{name}_value")
            try:
                value = np.asarray(edge if value is None else value, dtype=np.float64)
            except (TypeError, ValueError):
                raise BadParameter(f"IterativeImputer({name}_value={value!r}): must be a number, or one for each column") from None
            p = len(self.empty_)
            if value.ndim and value.shape != (p,):
                raise BadParameter(f"'{name}_value' should be of shape ({p},) when an array-like is provided. Got {value.size}, instead.")
            value = np.broadcast_to(value, p)
            found.append(value if self.keep_empty_features else value[~self.empty_])
        if not (found[1] > found[0]).all():
            raise BadParameter("One (or more) features have min_value >= max_value.")
        return np.array(found)

    def _order(self, blank: Array) -> Array:
        share = blank.mean(axis=0)
        places = np.flatnonzero(share) if self.skip_complete else np.arange(len(share))
        if self.imputation_order == "random":
            places = places.copy()
            self._draws.shuffle(places)
        elif self.imputation_order == "arabic":
            places = places[::-1]
        elif self.imputation_order != "roman":
            places = np.argsort(share, kind="stable")[len(share) - len(places) :]
            places = places if self.imputation_order == "ascending" else places[::-1]
        return places

    def _rounds(self, Z: Array, blank: Array, order: Array, limits: Array, weights: dict[str, Array], made: list[Imputation]) -> int:
        """Fill the gaps of Z in place, until a round changes little: the number of rounds."""
        probabilities, least = self._draw_probabilities(Z), self.tol * np.abs(Z[~blank]).max(initial=0.0)
        for n in range(1, self.max_iter + 1):
            before = Z.copy()
            order = self._order(blank) if self.imputation_order == "random" else order
            for j in order:
                others = self._neighbours(Z.shape[1], int(j), probabilities)
                model, whole = self._regressor(), ~blank[:, j]
                more = {key: w[whole] for key, w in weights.items() if takes(model.fit, key)}
                model.fit(np.ascontiguousarray(Z[whole][:, others]), Z[whole, j], **more)
                made.append(Imputation(int(j), others, model))
                self._predict_into(Z, blank, made[-1], limits)
            if not self.sample_posterior and np.abs(Z - before).max() < least:
                return n
        if not self.sample_posterior:
            warn("[IterativeImputer] Early stopping criterion not reached: raise max_iter, or tol", NotConverged, stacklevel=5)
        return self.max_iter

    def _draw_probabilities(self, Z: Array) -> Array | None:
        """By columns, with which chance each other one is drawn: as its correlation."""
        if self.n_nearest_features is None or self.n_nearest_features >= Z.shape[1]:
            return None
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.abs(np.corrcoef(Z.T))
        found = np.maximum(np.where(np.isnan(found), LEAST_CORRELATION, found), LEAST_CORRELATION)
        np.fill_diagonal(found, 0.0)
        return np.asarray(found / found.sum(axis=0))

    def _neighbours(self, p: int, j: int, probabilities: Array | None) -> Array:
        if probabilities is None:
            return np.delete(np.arange(p), j)
        drawn: Array = self._draws.choice(np.arange(p), self.n_nearest_features, replace=False, p=probabilities[:, j])
        return drawn

    def _predict_into(self, Z: Array, blank: Array, one: Imputation, limits: Array) -> None:
        rows = np.flatnonzero(blank[:, one.feat_idx])
        if not len(rows):
            return
        low, high = limits[:, one.feat_idx]
        X = np.ascontiguousarray(Z[rows][:, one.neighbor_feat_idx])
        if not self.sample_posterior:
            Z[rows, one.feat_idx] = np.clip(one.estimator.predict(X), low, high)
            return
        from scipy.stats import truncnorm

        mean, spread = one.estimator.predict(X, return_std=True)
        values = np.clip(mean, low, high)
        inside = (spread > 0) & (mean >= low) & (mean <= high)
        mean, spread = mean[inside], spread[inside]
        if len(mean):
            drawn = truncnorm(a=(low - mean) / spread, b=(high - mean) / spread, loc=mean, scale=spread)
            values[inside] = drawn.rvs(random_state=self._draws)
        Z[rows, one.feat_idx] = values

    # --- transform ---

    def _fill(self, X: Array) -> Array:
        Z, blank = self._started(X)
        for one in self.imputation_sequence_ if self.n_iter_ else []:
            self._predict_into(Z, blank, one, self._limits)
        return self._with_empty(X, Z)

    def _with_empty(self, X: Array, Z: Array) -> Array:
        """Filled rows, with the columns of X that are empty in their places."""
        if self.keep_empty_features or not self.empty_.any():
            return Z
        out = np.array(X)
        out[:, ~self.empty_] = Z
        return out

    def transform(self, X: Any) -> Any:
        """The rows without gaps. Posterior draws go on from those before: two calls differ."""
        rows = check.check_predict(self, X)
        if not self.sample_posterior:
            return self._dressed(map_rows(self._transform, rows), X)
        if "_draws" not in vars(self):
            vars(self)["_draws"] = self._generator()
        return self._dressed(self._transform(map_rows(np.asarray, rows) if isinstance(rows, Source) else rows), X)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the regressions."""
        super().fit(X, y, sample_weight)
        vars(self).pop("_drawn", None)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, and the same rows as the last round has filled them: posterior draws are those that the regressors have seen."""
        super().fit(X, y, sample_weight)
        drawn = vars(self).pop("_drawn", None)
        rows = None if drawn is None else check.check_predict(self, X)
        if rows is None or isinstance(rows, Source) or len(rows) != len(drawn):
            return self.transform(X)
        return self._dressed(self._assembled(rows, drawn), X)

    @property
    def imputation_sequence_(self) -> list[Imputation]:
        """The regressions in their order: column, the columns it is predicted from, fitted regressor."""
        check.check_fitted(self)
        return [Imputation(int(j), *pair) for j, pair in zip(self._targets, self._pairs(), strict=True)]

    def _pairs(self) -> Iterator[tuple[Array, Any]]:
        return zip(self._others, self._estimators, strict=True)

    @property
    def initial_imputer_(self) -> SimpleImputer:
        """What fills gaps at first."""
        check.check_fitted(self)
        found: SimpleImputer = self._initial
        return found

    @property
    def random_state_(self) -> np.random.RandomState:
        """The generator of the draws."""
        check.check_fitted(self)
        found: np.random.RandomState = vars(self).get("_draws") or self._generator()
        return found

    def _objection(self) -> str | None:
        width = len(self.empty_) if self.keep_empty_features else int((~self.empty_).sum())
        if self._limits.shape != (2, width) or len(vars(self._initial)["statistics_"]) != len(self.empty_):
            return "the limits are not those of the columns"
        for one in self.imputation_sequence_:
            places = np.append(one.neighbor_feat_idx, one.feat_idx)
            if places.min() < 0 or places.max() >= width or one.estimator.n_features_in_ != len(one.neighbor_feat_idx):
                return f"a regressor of column {one.feat_idx} does not take its columns"
        return None


def where_missing_of(blank: Array, w: Array) -> dict[str, Array]:
    """Columns without a value, and those with gaps."""
    from tenfold.core.stats import Counts

    return where_missing(Counts(np.append(w.sum(), w @ blank)))
