"""Settings judged on splits: every model is asked for the rows it has not seen, and forgotten."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tenfold.base.check import check_params, short
from tenfold.base.estimator import Estimator
from tenfold.compose.search.correction import HeldOut
from tenfold.compose.search.fits import Fitted, Group, Splits, groups_of, outputs_of_models
from tenfold.compose.search.parameters import Setting
from tenfold.compose.search.sharing import with_setting
from tenfold.core.data import Array, Arrays
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, DataWarning, warn
from tenfold.core.threads import single_blas, thread_budget
from tenfold.evaluate.split.plan import SplitPlan
from tenfold.evaluate.validate.judges import score_of
from tenfold.score.record import Score

Judges = dict[str, Score]
LARGEST_OUTPUTS = 1 << 25  # bytes of outputs of several models for the same rows that are made at a time


@dataclass
class Scores:
    """What the settings have reached: arrays (settings, splits), those of scores with one axis more in front, for each score."""

    settings: list[Setting]
    test: Array
    train: Array | None
    fit_time: Array
    score_time: Array
    done: Array  # (settings,) which of them are complete: all, unless the search was interrupted

    def only_done(self) -> Scores:
        return Scores(
            [one for one, done in zip(self.settings, self.done, strict=True) if done],
            self.test[:, self.done],
            None if self.train is None else self.train[:, self.done],
            self.fit_time[self.done],
            self.score_time[self.done],
            self.done[self.done],
        )


@dataclass
class Task:
    """One group of settings on one split, and what came of it."""

    group: Group
    where: list[int]
    split: int
    found: list[tuple[list[int], Array, Array | None, list[Array], float, float]]  # settings, test, train, what is kept of outputs, times
    failures: dict[int, Exception]


class Evaluation:
    """A learner with its rows and judges, for any number of settings and rounds.

    `error_score` stands for the score of a fit that fails, "raise" ends the search then.
    """

    def __init__(self, model: Estimator, source: Arrays, judges: Judges, error_score: Any, with_train: bool) -> None:
        self.model, self.source, self.judges = model, source, judges
        self.error_score, self.with_train = error_score, with_train
        self.unscored: Exception | None = None  # why a test set has no score

    def run(self, settings: list[Setting], rounds: list[SplitPlan], held: HeldOut, done: Callable[[Any], None]) -> Scores:
        """Scores of all settings. `held` takes their held-out outputs, `done` is called after each. Ctrl-C leaves what is complete."""
        splits, m = Splits(self.source, rounds), len(self.judges)
        shape = len(settings), len(splits)
        scores = Scores(
            settings, np.full((m, *shape), np.nan), np.full((m, *shape), np.nan) if self.with_train else None,
            np.zeros(shape), np.zeros(shape), np.zeros(len(settings), dtype=bool),
        )  # fmt: skip
        sound, failures = self._sound(settings)
        for i in failures:
            self._failed(scores, i, slice(None))
            scores.done[i] = True
        try:
            with single_blas:
                groups = groups_of(self.model, [settings[i] for i in sound], splits)
                size = -(-2 * thread_budget() // len(splits))  # so many at a time give all threads work
                for start in range(0, len(groups), size):
                    tasks = [
                        Task(group, [sound[i] for i in where], k, [], {})
                        for where, group in groups[start : start + size]
                        for k in range(len(splits))
                    ]
                    self._prepare([group for _, group in groups[start : start + size]])
                    each(partial(self._work, held), tasks)
                    self._gather(scores, tasks, failures, held)
                    for where, group in groups[start : start + size]:
                        group.totals = None  # their memory is used again
                        for _ in where:
                            done(None)
        except KeyboardInterrupt:
            if not scores.done.any():
                raise
        self._warn(scores, failures)
        return scores

    def _sound(self, settings: list[Setting]) -> tuple[list[int], dict[int, Exception]]:
        """Settings whose values their parameters can have; for the others, why not. An unknown name ends the search."""
        sound: list[int] = []
        failures: dict[int, Exception] = {}
        for i, setting in enumerate(settings):
            one = with_setting(self.model, setting)
            try:
                check_all_params(one)
                sound.append(i)
            except ValueError as failure:
                if self.error_score == "raise":
                    raise
                failures[i] = failure
        return sound, failures

    def _prepare(self, groups: list[Group]) -> None:
        for group in groups:
            try:
                group.prepare()
            except Exception:
                group.totals, group.start = None, None  # what fails will fail on a split, and be told there

    def _work(self, held: HeldOut, task: Task) -> None:
        """Fit and score one group on one split; where a fit fails, each setting by itself."""
        try:
            self._fit_and_score(held, task, task.group.models(task.split), task.where)
        except Exception:
            if self.error_score == "raise":
                raise
            task.found.clear()
            train = self.source.select(task.group.splits.train(task.split))
            for i, setting in zip(task.where, task.group.settings, strict=True):
                try:
                    one = with_setting(self.model, setting)._fit(train)
                    self._fit_and_score(held, task, [Fitted([0], [one], ())], [i])
                except Exception as failure:
                    task.failures[i] = failure

    def _fit_and_score(self, held: HeldOut, task: Task, fits: Any, where: list[int]) -> None:
        splits, began = task.group.splits, time.perf_counter()
        rows, train = splits.test(task.split), splits.train(task.split) if self.with_train else None
        for fitted in fits:
            fit_time = (time.perf_counter() - began) / len(fitted.where)
            for some in self._pieces(fitted, len(rows) if train is None else len(train)):
                began = time.perf_counter()
                outputs = outputs_of_models(some.models, some.changes, self.source.select(rows))
                test = self._judged(outputs, rows)
                score_time = (time.perf_counter() - began) / len(some.where)
                known = None
                if train is not None:
                    known = self._judged(outputs_of_models(some.models, some.changes, self.source.select(train)), train)
                parts = [held.part(task.split, output) for output in outputs]
                task.found.append(([where[i] for i in some.where], test, known, parts, fit_time, score_time))
            began = time.perf_counter()

    def _pieces(self, fitted: Fitted, n: int) -> Iterator[Fitted]:
        """So many models at a time that their outputs for n rows are not too large."""
        width = self.source.target.width if self.source.target.classes is None else len(self.source.target.classes)
        size = max(1, LARGEST_OUTPUTS // (8 * max(n, 1) * width))
        for i in range(0, len(fitted.where), size):
            yield Fitted(fitted.where[i : i + size], fitted.models[i : i + size], fitted.changes)

    def _judged(self, outputs: list[Array], rows: Array) -> Array:
        """(scores, settings), each so that greater is better."""
        return np.array([[self._score(judge, rows, one) for one in outputs] for judge in self.judges.values()])

    def _score(self, judge: Score, rows: Array, output: Array) -> float:
        try:
            return judge.sign * score_of(judge, self.source, rows, output)
        except BadInput as reason:  # a fold without rows of a class, for a score that needs all
            if self.error_score == "raise":
                raise
            self.unscored = reason
            return float(self.error_score)

    def _gather(self, scores: Scores, tasks: list[Task], failures: dict[int, Exception], held: HeldOut) -> None:
        """Enter what the tasks have found."""
        parts: dict[int, list[Array]] = {}
        for task in tasks:
            for numbers, test, known, given, fit_time, score_time in task.found:
                scores.test[:, numbers, task.split] = test
                if scores.train is not None and known is not None:
                    scores.train[:, numbers, task.split] = known
                scores.fit_time[numbers, task.split], scores.score_time[numbers, task.split] = fit_time, score_time
                for i, part in zip(numbers, given, strict=True):
                    parts.setdefault(i, []).append(part)
            for i, failure in task.failures.items():
                self._failed(scores, i, task.split)
                failures.setdefault(i, failure)
        for i in sorted({i for task in tasks for i in task.where}):
            if len(parts.get(i, ())) == scores.test.shape[2]:
                held.add(i, parts[i])
            scores.done[i] = True

    def _failed(self, scores: Scores, i: int, split: Any) -> None:
        scores.test[:, i, split] = self.error_score
        if scores.train is not None:
            scores.train[:, i, split] = self.error_score

    def check_splits(self, splits: Splits) -> None:
        """Warn of scores that a test set of one row does not have."""
        single = any(len(splits.test(k)) == 1 for k in range(len(splits)))
        for judge in self.judges.values() if single else ():
            if judge.of_squares is not None and not judge.mean_of_rows:
                warn(
                    f"{judge.name} of a test set of one row tells settings little or nothing apart: take larger test sets, or a score "
                    "that is a mean over rows, such as neg_mean_squared_error",
                    DataWarning,
                    stacklevel=2,
                )

    def _warn(self, scores: Scores, failures: dict[int, Exception]) -> None:
        if self.unscored is not None:
            text = f"some test sets have no score ({self.unscored}): take fewer folds, or a score that needs no rows of every class"
            if np.isnan(scores.test[:, scores.done]).any(axis=2).all():
                raise BadInput(text) from self.unscored
            warn(text, DataWarning, stacklevel=2)
        if not failures:
            return
        first = min(failures)
        what = f"{short(scores.settings[first])}: {failures[first]}"
        if len(failures) == len(scores.settings):
            raise BadInput(f"every setting fails to fit; the first is {what}") from failures[first]
        warn(
            f"{len(failures)} of {len(scores.settings)} settings failed to fit and have the score {self.error_score}; the first is {what}",
            DataWarning,
            stacklevel=2,
        )


def check_all_params(learner: Estimator) -> None:
    """The parameters of a learner and of those inside it."""
    check_params(learner)
    for inner in learner._parts_inside().values():
        if isinstance(inner, Estimator):
            check_all_params(inner)
