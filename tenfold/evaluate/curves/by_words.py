"""Curves in scikit-learn's words: the splits of `cv`, training sets that are the first rows of each, and anybody's learners."""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np

from tenfold.base import check
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import legacy_generator
from tenfold.core.threads import single_blas
from tenfold.evaluate.split.plan import any_plan, check_classes_met
from tenfold.evaluate.split.splitting import Splitting
from tenfold.evaluate.validate.by_verbs import Pairs, score_by_verbs, splits_by_verbs
from tenfold.evaluate.validate.held_out import outputs_of, split_models, test_outputs
from tenfold.evaluate.validate.judges import check_one_scoring, judges_of, score_of
from tenfold.evaluate.validate.memory import in_memory
from tenfold.evaluate.validate.ordinary import (
    Job,
    Outcome,
    columns_of,
    fit_and_score,
    is_classifier,
    params_of,
    rows_of,
    score_job,
    warn_of_failures,
)
from tenfold.evaluate.validate.routing import Routed, routed
from tenfold.score.record import Score
from tenfold.score.scoring import check_scoring


class Points(NamedTuple):
    """Of each of several training sets: the score on its rows and on its test rows, and seconds; and who judged."""

    train: Array
    test: Array
    fit_time: Array
    score_time: Array
    judge: Score
    method: str


class Asked(NamedTuple):
    """What curves are made of: a learner, its rows and how it is judged."""

    model: Any
    X: Any
    y: Any
    splitting: Splitting
    scoring: Any
    params: Any
    error_score: Any
    function: str
    verb: str = "fit"

    def ways(self) -> tuple[Any, Routed]:
        """The scorer, and what fits and scores are given."""
        check_one_scoring(self.scoring)
        scorer = check_scoring(self.model, self.scoring)
        return scorer, routed(self.function, self.model, scorer, self.splitting, self.params, self.verb)

    def pairs(self) -> Pairs:
        """The splits."""
        return splits_by_verbs(self.model, self.X, self.y, self.splitting, self.ways()[1].split)

    def points(self, pairs: Pairs, setting: dict[str, Any] | None = None) -> Points:
        """Scores of the learner with a setting, fitted to each training set: from merged sums where it is ours and that is exact."""
        judges = judges_of(self.model, self.scoring, y=self.y) if not self.params else None
        if judges is not None and self.y is not None:
            try:
                return self._merged(pairs, next(iter(judges.values())), setting)
            except Exception:
                if self.error_score == "raise":
                    raise
        scorer, asked = self.ways()
        job = Job(self.X, self.y, scorer, asked.fit, asked.score, self.error_score, True)
        outcomes = [fit_and_score(self.model, job, *pair, setting) for pair in pairs]
        return points_of(outcomes, score_by_verbs(self.model, scorer, "score"), self.error_score)

    def _merged(self, pairs: Pairs, judge: Score, setting: dict[str, Any] | None) -> Points:
        began, model = time.perf_counter(), fresh(self.model).set_params(**(setting or {}))
        source = in_memory(check.check_fit(model, self.X, self.y), model.missing)
        one = any_plan(pairs, source.n_rows or 0)
        check_classes_met(source, [one])
        with single_blas:
            models, method = split_models(model, source, one)
            fit_time = time.perf_counter() - began
            held = [one.test_rows(k) for k in range(len(one))]
            seen = [one.train_rows(k) for k in range(len(one))]
            test = [score_of(judge, source, *pair) for pair in zip(held, test_outputs(models, source, one), strict=True)]
            train = [score_of(judge, source, *pair) for pair in zip(seen, outputs_of(models, source, seen), strict=True)]
        seconds = time.perf_counter() - began - fit_time
        share = np.full(len(pairs), 1 / len(pairs))
        return Points(np.array(train), np.array(test), fit_time * share, seconds * share, judge, method)


def points_of(outcomes: list[Outcome], judge: Score, error_score: Any) -> Points:
    """What the ordinary route has found."""
    warn_of_failures(outcomes, error_score)
    train, test = (columns_of(found, error_score) for found in ([o.train for o in outcomes], [o.test for o in outcomes]))
    times = np.array([o.fit_time for o in outcomes]), np.array([o.score_time for o in outcomes])
    return Points(next(iter(train.values())), next(iter(test.values())), *times, judge, "refitted")


def absolute_sizes(train_sizes: Any, most: int) -> Array:
    """Numbers of training rows from shares or numbers, each once."""
    given = np.asarray(train_sizes)
    low, high = given.min(), given.max()
    if given.dtype.kind == "f":
        if low <= 0.0 or high > 1.0:
            raise BadInput(
                "train_sizes has been interpreted as fractions of the maximum number of training samples and must be within (0, 1], "
                f"but is within [{low:f}, {high:f}]."
            )
        sizes = np.clip((given * most).astype(int), 1, most)
    else:
        if low <= 0 or high > most:
            raise BadInput(
                "train_sizes has been interpreted as absolute numbers of training samples and must be within "
                f"(0, {most}], but is within [{low}, {high}]."
            )
        sizes = given
    once = np.unique(sizes)
    if len(once) < len(sizes):
        warnings.warn(
            "Removed duplicate entries from 'train_sizes'. Number of ticks will be less than the size of 'train_sizes': "
            f"{len(once)} instead of {len(sizes)}.",
            RuntimeWarning,
            stacklevel=3,
        )
    return once


def grown_points(asked: Asked, train_sizes: Any, shuffle: bool, in_steps: bool) -> tuple[Array, Points, int]:
    """Numbers of training rows, what the first so many training rows of each split give, and the number of splits."""
    if in_steps and not hasattr(asked.model, "partial_fit"):
        raise BadInput("An estimator must support the partial_fit interface to exploit incremental learning")
    asked = asked._replace(verb="partial_fit") if in_steps else asked
    pairs = asked.pairs()
    sizes = absolute_sizes(train_sizes, len(pairs[0][0]))
    if shuffle:
        rng = legacy_generator(asked.splitting.random_state)
        pairs = [(rng.permutation(train), test) for train, test in pairs]
    if in_steps:
        return sizes, _in_steps(asked, pairs, sizes), len(pairs)
    return sizes, asked.points([(train[:size], test) for size in sizes.tolist() for train, test in pairs]), len(pairs)


def _in_steps(asked: Asked, pairs: Pairs, sizes: Array) -> Points:
    """Each training set from the one before it, by partial_fit."""
    scorer, routed_to = asked.ways()
    job = Job(asked.X, asked.y, scorer, routed_to.fit, routed_to.score, asked.error_score, True)
    first = dict(classes=np.unique(asked.y)) if is_classifier(asked.model) else {}
    found: dict[tuple[int, int], Outcome] = {}
    for k, (train, test) in enumerate(pairs):
        one, before = fresh(asked.model), 0
        for t, size in enumerate(sizes.tolist()):
            rows, began = train[before:size], time.perf_counter()
            given = (rows_of(asked.X, rows),) if asked.y is None else (rows_of(asked.X, rows), rows_of(asked.y, rows))
            one.partial_fit(*given, **first, **params_of(routed_to.fit, asked.X, rows))
            fit_time = time.perf_counter() - began
            found[t, k] = score_job(job, one, train[:size], test, fit_time)
            before = size
    outcomes = [found[t, k] for t in range(len(sizes)) for k in range(len(pairs))]
    return points_of(outcomes, score_by_verbs(asked.model, scorer, "score"), asked.error_score)


def path_points(asked: Asked, name: Any, values: list[Any]) -> tuple[Points, int]:
    """Scores for each value of a parameter, value after value, and the number of splits."""
    if not isinstance(name, str):
        raise BadParameter(f"param_name={name!r}: must be the name of a parameter")
    pairs = asked.pairs()
    found = [asked.points(pairs, {name: value}) for value in values]
    joined = [np.concatenate(parts) for parts in zip(*(one[:4] for one in found), strict=True)]
    return Points._make([*joined, found[0].judge, found[0].method]), len(pairs)
