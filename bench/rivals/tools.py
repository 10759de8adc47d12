"""The tools: each learns from the training rows within its time, says what it thinks of its model, and answers for the test rows.

Each is imported in the process of its run only, from the environment that has it.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.rivals.split import TARGET, Split, guess

CORES = 2
MORE = ("growth", "copied", "cut_by_time")  # of our record: what the last rows bring, what copies are worth, whether time was over


@dataclass(frozen=True)
class Fitted:
    """What a tool has made of the training rows."""

    answer: Callable[[Any], tuple[Any, Any]]  # from test rows, answers and the classes of their columns
    model: str  # what it has chosen, in its own words
    reported: float | None  # what it says of the error on new rows
    low: float | None = None
    high: float | None = None
    more: dict[str, Any] = field(default_factory=dict)  # what else it says of that, kept with the run


def fit_tenfold(split: Split, seconds: float, seed: int) -> Fitted:
    return _selected(split, seed, time=seconds, effort="thorough")


def fit_by_plan(split: Split, seconds: float, seed: int) -> Fitted:
    """As it comes: the plan of effort normal, whatever the clock says."""
    return _selected(split, seed)


def _selected(split: Split, seed: int, **how: Any) -> Fitted:
    import tenfold

    task = "number" if split.classes is None else "classes"
    run = tenfold.select(split.train, TARGET, task=task, metric=split.metric, seed=seed, **how)
    said: Any = run.estimate

    def answer(test: Any) -> tuple[Any, Any]:
        return (run.predict(test), None) if split.classes is None else (run.predict_proba(test), run.model.classes_)

    if said is None:
        return Fitted(answer, run.chosen, None)
    return Fitted(answer, run.chosen, said.value, said.low, said.high, {name: run.record[name] for name in MORE})


def fit_flaml(split: Split, seconds: float, seed: int) -> Fitted:
    from flaml import AutoML  # type: ignore[import-not-found]

    found, task = AutoML(), "regression" if split.classes is None else "classification"
    found.fit(
        dataframe=split.train, label=TARGET, task=task, metric=split.metric, time_budget=seconds, n_jobs=CORES, seed=seed, verbose=0
    )

    def answer(test: Any) -> tuple[Any, Any]:
        return (found.predict(test), None) if split.classes is None else (found.predict_proba(test), found.classes_)

    return Fitted(answer, str(found.best_estimator), float(found.best_loss))


def fit_autogluon(presets: str) -> Callable[[Split, float, int], Fitted]:
    def fit(split: Split, seconds: float, seed: int) -> Fitted:
        from autogluon.tabular import TabularPredictor  # type: ignore[import-not-found]

        kinds = {2: "binary"}
        kind = "regression" if split.classes is None else kinds.get(len(split.classes), "multiclass")
        metric = "root_mean_squared_error" if split.classes is None else "log_loss"
        place = tempfile.mkdtemp(prefix="rivals-")
        found = TabularPredictor(label=TARGET, problem_type=kind, eval_metric=metric, path=place, verbosity=0)
        found.fit(split.train, time_limit=seconds, presets=presets, num_cpus=CORES, num_gpus=0)
        board = found.leaderboard()
        said = board.loc[board["model"] == found.model_best, "score_val"].iloc[0]

        def answer(test: Any) -> tuple[Any, Any]:
            if split.classes is None:
                return found.predict(test).to_numpy(), None
            shares = found.predict_proba(test)
            return shares.to_numpy(), list(shares.columns)

        return Fitted(answer, str(found.model_best), -float(said))  # its scores are negative where less is better

    return fit


def fit_guess(split: Split, seconds: float, seed: int) -> Fitted:
    """No tool, but what all are to be better than; for trials."""
    return Fitted(lambda test: guess(split), "the guess", None)


@dataclass(frozen=True)
class Tool:
    """How it is fitted, and the package whose version is told."""

    fit: Callable[[Split, float, int], Fitted]
    package: str | None
    ours: bool = False  # runs in our own environment
    timed: bool = True  # has so many seconds; else it does the same work on a busy machine, too

    @property
    def version(self) -> str:
        """Imports it: where that fails, the environment lacks it."""
        return "" if self.package is None else str(importlib.import_module(self.package).__version__)


TOOLS = {
    "tenfold": Tool(fit_tenfold, "tenfold", ours=True),
    "tenfold_normal": Tool(fit_by_plan, "tenfold", ours=True, timed=False),
    "flaml": Tool(fit_flaml, "flaml"),
    "autogluon_medium": Tool(fit_autogluon("medium_quality"), "autogluon.tabular"),
    "autogluon_best": Tool(fit_autogluon("best_quality"), "autogluon.tabular"),
    "guess": Tool(fit_guess, None, ours=True),
}
COMPARED = ("tenfold", "flaml", "autogluon_medium", "autogluon_best")
