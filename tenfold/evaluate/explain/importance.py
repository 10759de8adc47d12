"""Permutation importance: how much worse a predictor becomes when one column is shuffled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import stdtrit

from tenfold.base import check
from tenfold.base.estimator import Estimator, map_rows
from tenfold.core import ops
from tenfold.core.data import Array, Arrays
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.core.threads import single_blas
from tenfold.evaluate.explain.importance_by_verbs import falls_by_verbs, orders_of
from tenfold.evaluate.split.plan import plan
from tenfold.evaluate.split.splitting import UNSAID, Splitting
from tenfold.evaluate.validate.by_verbs import score_by_verbs
from tenfold.evaluate.validate.held_out import split_models
from tenfold.evaluate.validate.judges import judges_of, role_of_scored, score_of
from tenfold.evaluate.validate.memory import read
from tenfold.evaluate.validate.ordinary import SCORE
from tenfold.evaluate.validate.result import corrected_error
from tenfold.score.record import Score
from tenfold.score.registry import find_score
from tenfold.score.scoring import check_scoring


@dataclass(frozen=True)
class Importance:
    """How much the score falls when a column is shuffled. `drops` is (columns, folds, repeats); more is more important.

    The range of a mean is that of Student's t over the folds, corrected for overlapping training sets; of a model that
    was fitted before, over the shuffles: it then shows how exactly the drop is known for these rows, not for others.
    """

    columns: list[str]
    score: Score
    baseline: float  # the score with all columns as they are
    drops: Array = field(repr=False)
    level: float
    ratio: float | None = None  # held-out rows for each training row

    def __getitem__(self, name: str) -> Any:
        """As scikit-learn's: "importances_mean", "importances_std" or "importances"."""
        if name not in self.keys():
            raise KeyError(name)
        return getattr(self, name)

    def keys(self) -> tuple[str, ...]:
        """What can be asked for in brackets."""
        return ("importances_mean", "importances_std", "importances")

    @property
    def importances_mean(self) -> Array:
        return np.asarray(self.drops.mean(axis=(1, 2)))

    @property
    def importances_std(self) -> Array:
        return np.asarray(self.drops.reshape(len(self.drops), -1).std(axis=1))

    @property
    def importances(self) -> Array:
        """Drops (columns, folds x repeats)."""
        return self.drops.reshape(len(self.drops), -1)

    @property
    def standard_error(self) -> Array:
        folds = self.drops.shape[1]
        if folds > 1:
            return np.array([corrected_error(one, folds, self.ratio) for one in self.drops.mean(axis=2)])
        repeats = self.drops.shape[2]
        return self.drops[:, 0].std(axis=1, ddof=1) / repeats**0.5 if repeats > 1 else np.full(len(self.drops), np.nan)

    @property
    def interval(self) -> Array:
        """(columns, 2): the range of each mean at `level`."""
        free = max(self.drops.shape[1] if self.drops.shape[1] > 1 else self.drops.shape[2], 2) - 1
        half = stdtrit(free, 0.5 + self.level / 2) * self.standard_error
        return np.column_stack([self.importances_mean - half, self.importances_mean + half])

    def __str__(self) -> str:
        lines = [f"{self.score.name} {self.baseline:.4g}; fall when a column is shuffled, {100 * self.level:g}% range"]
        width = max(len(name) for name in self.columns)
        for j in np.argsort(-self.importances_mean, kind="stable"):
            low, high = self.interval[j]
            lines.append(f"{self.columns[j]:>{width}}  {self.importances_mean[j]:8.4g}   {low:.4g} to {high:.4g}")
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, ax: Any = None) -> Any:
        """One dot with its range for each column; returns the axes."""
        from tenfold.draw.importance import draw_importance

        return draw_importance(self, ax)


def permutation_importance(
    model: Any = None,
    X: Any = None,
    y: Any = None,
    *,
    folds: Any = UNSAID,
    groups: Any = None,
    n_repeats: int = 5,
    score: Any = None,
    level: float = 0.95,
    sample_weight: Any = None,
    random_state: Any = 0,
    scoring: Any = None,
    max_samples: float | int = 1.0,
    n_jobs: Any = None,
    estimator: Any = None,
) -> Any:
    """The fall of the score on held-out rows when a column of theirs is shuffled (Breiman 2001).

    Each fold (folds: a number or a splitter, as in `cross_validate`) is judged by a model of the other rows, with each
    column shuffled `n_repeats` times:
    importance_j = mean over folds and shuffles of  sign (score(y, f(X)) − score(y, f(X with column j shuffled))).
    folds=None: the model is fitted already, and (X, y) are rows that are new to it; so is every model that comes fitted, unless
    folds are given (else 10). Columns that stand for one another share their importance, or hide it: shuffling one leaves the other.

    In scikit-learn's words: scoring (a name, a scorer, or several: then a dict of results by name) and max_samples, the share or
    number of rows that are used for each shuffle. Models of other libraries are asked as they are, fitted. With the same
    random_state the shuffles of a fitted model are scikit-learn's.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import permutation_importance
    >>> X = np.random.default_rng(0).normal(size=(100, 3)); y = 3 * X[:, 0] + X[:, 1]
    >>> found = permutation_importance(tenfold.Ridge(), X, y)
    >>> found.importances_mean.argsort().tolist()
    [2, 1, 0]
    """
    model = estimator if model is None else model
    if not isinstance(n_repeats, (int, np.integer)) or n_repeats < 1:
        raise BadParameter(f"n_repeats={n_repeats!r}: must be a whole number of at least 1")
    if not 0 < level < 1:
        raise BadParameter(f"level={level!r}: must lie between 0 and 1, 0.95 for example")
    fitted_already = not isinstance(model, Estimator) or "n_features_in_" in vars(model)
    folds = (None if fitted_already else 10) if folds is UNSAID else folds
    wanted = scoring if score is None else score
    whole = isinstance(max_samples, float) and max_samples == 1.0
    several = isinstance(wanted, (list, tuple, set, dict))
    if folds is None and (several or not whole or judges_of(model, wanted, score is not None, y) is None):
        return importance_by_verbs(model, X, y, wanted, n_repeats, random_state, sample_weight, max_samples, level)
    role_of_scored(model)
    known: tuple[Any, Any] = (None, None)
    if folds is None:
        check.check_predict(model, X)
        known = getattr(model, "classes_", None), getattr(model, "categories_", None)
    source = read(model, X, y, sample_weight, *known)
    if ops.is_sparse(source.X):
        raise BadInput("columns are shuffled one by one, which takes a dense table: use X.toarray()")
    judge, rng, ratio = find_score(wanted, model.role), generator(0 if folds is None else random_state), None
    models, held_out = [model], [np.arange(source.n_rows or 0)]
    if folds is not None:
        rounds = plan(model, source, Splitting(folds=folds, groups=groups, random_state=rng))
        held_out = [one.test_rows(k) for one in rounds for k in range(len(one))]
        models = [fitted for one in rounds for fitted in split_models(model, source, one)[0]]
        ratio = rounds[0].ratio
    jobs = [(fitted, rows, int(rng.integers(0, 2**63))) for fitted, rows in zip(models, held_out, strict=True)]

    def drops(job: tuple[Any, Array, int]) -> tuple[float, Array]:
        fitted, rows, seed = job
        if folds is None:
            orders: Iterable[Array] = [orders_of(random_state, len(rows), n_repeats)] * source.n_features
        else:
            orders = shuffles(seed, len(rows), n_repeats, source.n_features)
        return drops_of(fitted, source.select(rows), orders, judge)

    with single_blas:
        found = each(drops, jobs)
    baseline = float(np.mean([one for one, _ in found]))
    names = source.facts.get("feature_names_in_")
    columns = [f"x{j}" for j in range(source.n_features)] if names is None else [str(name) for name in names]
    return Importance(columns, judge, baseline, np.stack([drop for _, drop in found], axis=1), level, ratio)


def importance_by_verbs(
    model: Any, X: Any, y: Any, scoring: Any, n_repeats: int, random_state: Any, sample_weight: Any, max_samples: Any, level: float
) -> Any:
    """The importance of the columns for any fitted model; several scores give a dict by name."""
    whole, falls, names = falls_by_verbs(model, X, y, scoring, n_repeats, random_state, sample_weight, max_samples)
    found = {
        name: Importance(names, score_by_verbs(model, check_scoring(model, scoring), name), whole[name], falls[name][:, None, :], level)
        for name in whole
    }
    return found[SCORE] if list(found) == [SCORE] else found


def shuffles(seed: int, n: int, repeats: int, columns: int) -> Iterator[Array]:
    """For each column, random orders (repeats, n) of n rows."""
    rng = np.random.default_rng(seed)
    for _ in range(columns):
        yield rng.permuted(np.tile(np.arange(n), (repeats, 1)), axis=1)


def drops_of(model: Estimator, held: Arrays, orders: Iterable[Array], judge: Score) -> tuple[float, Array]:
    """The score of a fitted model on some rows, and its falls (columns, repeats) with columns in these orders."""
    rows: Any = slice(None) if held.rows is None else held.rows
    X = np.array(held.X[rows], dtype=np.result_type(held.X.dtype, np.float32), order="C")

    def scored(table: Array) -> float:
        return score_of(judge, held, slice(None), map_rows(model._outputs, table))

    whole = scored(X)
    drops = []
    for j, repeats in enumerate(orders):
        kept = X[:, j].copy()
        for order in repeats:
            X[:, j] = kept[order]
            drops.append(judge.sign * (whole - scored(X)))
        X[:, j] = kept
    return whole, np.array(drops).reshape(X.shape[1], -1)
