"""Nested cross-validation: what to expect of a learner whose parameters are chosen by cross-validation.

In each outer fold the parameters are chosen on the other folds alone, and the winner, fitted to these, is
judged on the outer fold. By default the inner folds are the other outer folds: a model trained without folds
k and j serves both k (with j as its inner fold) and j (with k), so that k folds cost k (k − 1)/2 inner fits;
a one-pass learner merges them from the statistics of the folds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays
from tenfold.core.engine import each
from tenfold.core.errors import BadParameter
from tenfold.core.threads import single_blas
from tenfold.evaluate.split.folds import assign_folds
from tenfold.evaluate.split.plan import SplitPlan, folds_plan, groups_of, plan, target_of
from tenfold.evaluate.split.splitting import Splitting, takes_splitting
from tenfold.evaluate.validate.held_out import MERGED, REFITTED, held_out, outputs_of, prepared, start_of
from tenfold.evaluate.validate.intervals import Interval
from tenfold.evaluate.validate.judges import score_of, scored_rows
from tenfold.evaluate.validate.outputs import Tally
from tenfold.evaluate.validate.result import corrected_error, in_words
from tenfold.evaluate.validate.training_sets import Held, TrainingSets, solver_of
from tenfold.score.record import Score
from tenfold.score.registry import find_score

Setting = dict[str, Any]


@dataclass(frozen=True)
class NestedCrossValidation:
    """Scores of the whole procedure, choice of parameters included, one for each outer fold."""

    model: str
    score: Score
    scores: Array  # (repeats, outer folds)
    chosen: list[Setting]  # of each outer fold, repeat after repeat
    settings: list[Setting]
    inner_scores: Array = field(repr=False)  # (repeats x outer folds, settings): means over inner folds
    fold: Array = field(repr=False)
    held_out: Tally = field(repr=False)
    method: str
    seconds: float

    @cached_property
    def predictions(self) -> Array:
        """Of every row by the model that was chosen without it."""
        return self.held_out.predictions()

    @cached_property
    def probabilities(self) -> Array | None:
        """Of the classes, likewise; None for a regressor."""
        return self.held_out.probabilities()

    @cached_property
    def estimate(self) -> Interval:
        """The score of the procedure on all held-out rows together, with its 95 % range for new rows (`validate.ranges`)."""
        return self.held_out.estimate(self.score)

    @property
    def mean(self) -> float:
        """The mean score over outer folds."""
        return float(self.scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of the mean, corrected for the overlap of training sets."""
        return corrected_error(self.scores, self.scores.shape[1])

    def __str__(self) -> str:
        lines = [
            f"{self.model}   nested, {self.scores.shape[1]} outer folds, {len(self.settings)} settings, "
            f"{self.method}, {self.seconds:.3g} s",
            f"{self.score.name:>10}  {in_words(self.estimate)}",
            f"{'mean':>10}  {self.mean:.4f} ± {self.standard_error:.4f}   (outer folds; ± one corrected standard error)",
        ]
        for k, (score, setting) in enumerate(zip(self.scores.reshape(-1), self.chosen, strict=True)):
            settings = ", ".join(
                f"{name}={value:.6g}" if isinstance(value, float) else f"{name}={value!r}"
                for name, value in setting.items()
            )
            lines.append(f"{'fold ' + str(k + 1):>10}  {score:.4f}  {settings}")
        return "\n".join(lines)

    __repr__ = __str__


@takes_splitting("kind")
def nested_cross_validate(
    model: Any,
    X: Any,
    y: Any,
    grid: dict[str, Any],
    *,
    splitting: Splitting,
    inner: int | None = None,
    score: Any = None,
    sample_weight: Any = None,
) -> NestedCrossValidation:
    """Choose parameters in each outer fold by an inner cross-validation, and judge the choice on the outer
    fold.

    grid: values for each parameter, {"alpha": [0.1, 1.0]}; all combinations are tried, and the first of the
    best is taken. folds: outer folds, a number or a splitter whose test sets make up all rows. inner: number
    of inner folds, made anew in each outer fold; None takes the other outer folds (needs at least 3 of them).

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import nested_cross_validate
    >>> X = np.random.default_rng(0).normal(size=(60, 3)); y = X @ [1.0, 2.0, 3.0]
    >>> result = nested_cross_validate(tenfold.Ridge(), X, y, {"alpha": [0.01, 100.0]}, folds=5)
    >>> [setting["alpha"] for setting in result.chosen]
    [0.01, 0.01, 0.01, 0.01, 0.01]
    """
    source = scored_rows(model, X, y, sample_weight)
    settings = settings_of(model, grid)
    judge = find_score(score, model.role)
    began = time.perf_counter()
    rounds = plan(model, source, splitting)
    if any(one.kind != "folds" or one.single for one in rounds):
        raise BadParameter("nested: folds must be a number, or test sets of several rows that make up all rows")
    if inner is None and len(rounds[0]) < 3:
        raise BadParameter("folds=2: the inner folds are the other outer folds; take at least 3, or give inner=")
    tally = Tally(source, groups_of(source, splitting.groups))
    scores, chosen, tables = [], [], []
    for one in rounds:
        table, outer, method = _one_round(model, source, one, settings, judge, inner)
        best = np.argmax(judge.sign * table, axis=1)
        outputs = outputs_of([outer(k, best[k]) for k in range(len(one))], source, one.parts)
        scores.append([score_of(judge, source, rows, out) for rows, out in zip(one.parts, outputs, strict=True)])
        for rows, output in zip(one.parts, outputs, strict=True):
            tally.add(rows, output)
        chosen += [settings[i] for i in best]
        tables.append(table)
    return NestedCrossValidation(
        repr(model),
        judge,
        np.array(scores),
        chosen,
        settings,
        np.concatenate(tables),
        np.concatenate([one.label(source.n_rows or 0) for one in rounds]),
        tally,
        method,
        time.perf_counter() - began,
    )


def settings_of(model: Estimator, grid: dict[str, Any]) -> list[Setting]:
    """All combinations of the values, each looked at by the gate."""
    if not isinstance(grid, dict) or not grid:
        raise BadParameter("grid: give values for at least one parameter, as {'alpha': [0.1, 1.0]}")
    columns = {}
    for name, values in grid.items():
        columns[name] = [v.item() if isinstance(v, np.generic) else v for v in values] if np.iterable(values) else []
        if not columns[name] or isinstance(values, str):
            raise BadParameter(f"grid: {name}={values!r} must be a list of at least one value")
    found = [dict(zip(columns, values, strict=True)) for values in product(*columns.values())]
    for setting in found:
        check.check_params(fresh(model).set_params(**setting))
    return found


def _one_round(
    model: Estimator, source: Arrays, one: SplitPlan, settings: list[Setting], judge: Score, inner: int | None
) -> tuple[Array, Any, str]:
    """Inner scores (outer folds, settings), a function that gives the model of an outer fold and setting, and
    the method.
    """
    with single_blas:
        if inner is not None:
            table = np.array([_inner_scores(model, source, one, k, settings, judge, inner) for k in range(len(one))])
            return table, _outer_by_fitting(model, source, one, settings), f"{inner} inner folds"
        families = _families(model, source, one, settings)
        table = np.zeros((len(one), len(settings)))
        for where, sets in families:
            for first in range(len(one) - 1):
                pairs = [(first, k) for k in range(first + 1, len(one))]
                for pair, models in zip(pairs, each(sets.models, pairs), strict=True):
                    for tested, outer in (pair, pair[::-1]):  # tested on one fold it counts for the round of the other
                        rows = one.parts[tested]
                        outputs = outputs_of(models, source, [rows] * len(models))
                        scores = [score_of(judge, source, rows, out) for out in outputs]
                        table[outer, where] += np.array(scores) / (len(one) - 1)
        if not all(sets.merged for _, sets in families):
            return table, _outer_by_fitting(model, source, one, settings), REFITTED
        place = {i: (sets, j) for where, sets in families for j, i in enumerate(where)}
        return table, lambda k, i: place[i][0].models((k,))[place[i][1]], MERGED


def _outer_by_fitting(model: Estimator, source: Arrays, one: SplitPlan, settings: list[Setting]) -> Any:
    return lambda k, i: fresh(model).set_params(**settings[i])._fit(source.select(one.train_rows(k)))


def _families(model: Estimator, source: Arrays, one: SplitPlan, settings: list[Setting]) -> list[tuple[list[int], TrainingSets]]:
    """Settings that differ in the path parameter only: where they are, and their models on every training set."""
    path, families = model.path, dict[str, list[int]]()
    for i, setting in enumerate(settings):
        rest = {name: value for name, value in setting.items() if name != path}
        families.setdefault(repr(rest), []).append(i)
    found = []
    for where in families.values():
        rest = {name: value for name, value in settings[where[0]].items() if name != path}
        values = [settings[i][path] for i in where] if path is not None and path in settings[where[0]] else []
        learner = fresh(model).set_params(**rest)
        solve = solver_of(prepared(learner, source), source, one.parts, values)
        start = start_of(learner, source) if solve is None else None
        rows = partial(_training_rows, source, one)
        found.append((where, TrainingSets(learner, path if values else None, values, rows, solve, start)))
    return found


def _training_rows(source: Arrays, one: SplitPlan, held: Held) -> Arrays:
    return source.select(np.sort(np.concatenate([rows for k, rows in enumerate(one.parts) if k not in held])))


def _inner_scores(
    model: Estimator, source: Arrays, one: SplitPlan, k: int, settings: list[Setting], judge: Score, inner: int
) -> list[float]:
    """Mean inner scores of all settings within the training rows of outer fold k, by folds of their own."""
    rows = one.train_rows(k)
    here = source.select(rows)
    codes = target_of(here) if model.role == "classifier" else None
    split = folds_plan(assign_folds(len(rows), inner, np.random.default_rng(k), codes=codes))
    means = []
    for setting in settings:
        outputs, _ = held_out(fresh(model).set_params(**setting), here, split)
        means.append(float(np.mean([score_of(judge, here, r, o) for r, o in zip(split.parts, outputs, strict=True)])))
    return means
