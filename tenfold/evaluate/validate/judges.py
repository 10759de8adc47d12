"""By which scores the models of splits are judged, and what is kept of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.threads import single_blas
from tenfold.evaluate.split.plan import SplitPlan, truth_of
from tenfold.evaluate.validate.held_out import outputs_of, split_models, test_outputs
from tenfold.evaluate.validate.memory import read
from tenfold.evaluate.validate.ordinary import SCORE
from tenfold.score.record import CLASS_SCORES, PROBABILITIES, Score, judged_output
from tenfold.score.registry import find_score, known_score
from tenfold.score.scorer import Scorer

Judges = dict[str, Score]  # by the names that they have in results
VERBS = ("fit", "predict", "predict_proba", "decision_function", "score")


def judges_of(model: Any, scoring: Any, own_word: bool = False, y: Any = None) -> Judges | None:
    """The scores by which a learner of ours is judged fold by fold; None where the ordinary route has to be taken: for a learner of
    another library, a scorer that asks the model itself, or a target y of several labels. With `own_word`, what is no score is refused.
    """
    if not is_ours(model) or several_labels(model, y):
        return None
    if own_word and scoring is not None:
        return {SCORE: judge_of(model, scoring)}
    if model.role not in ("classifier", "regressor"):
        if scoring is None and own_word:
            role_of_scored(model)
        return None
    if isinstance(scoring, dict):
        found = {name: _known(model, one) for name, one in scoring.items() if isinstance(name, str)}
    elif isinstance(scoring, (list, tuple, set)):
        found = {name: _known(model, name) for name in scoring if isinstance(name, str)}
    else:
        if scoring is None and model.own_score and not own_word:
            return None
        return None if (one := _known(model, scoring)) is None else {SCORE: one}
    known = {name: one for name, one in found.items() if one is not None}
    return known if known and len(known) == len(scoring) else None


def is_ours(model: Any) -> bool:
    """Whether a learner is Tenfold's as it stands; all others are asked by their verbs."""
    return isinstance(model, Estimator) and model.accepts != "anything" and not changed_by_user(model)


def several_labels(model: Any, y: Any) -> bool:
    """Whether a classifier of ours predicts several columns of labels: folds, scores and outputs of the fast route are of one."""
    if not is_ours(model) or model.role != "classifier" or not model.multi_output or y is None or isinstance(y, str):
        return False
    shape = y.shape if hasattr(y, "shape") else (len(y), len(y[0]) if len(y) and isinstance(y[0], (list, tuple, np.ndarray)) else 1)
    return len(shape) == 2 and shape[1] > 1


def _known(model: Any, scoring: Any) -> Score | None:
    """The score of a name or of a scorer that has one."""
    if scoring is None:
        return find_score(None, model.role)
    name = scoring.name if isinstance(scoring, Scorer) else scoring
    score = known_score(name) if isinstance(name, str) and name else None
    if score is None or score.role != model.role:
        return None
    ranked = hasattr(model, "predict_proba") or (score.output == CLASS_SCORES and hasattr(model, "decision_function"))
    return score if score.output not in (PROBABILITIES, CLASS_SCORES) or ranked else None


def changed_by_user(model: Any) -> bool:
    """Whether a class of the user's own, made of one of ours, learns or predicts in another way."""
    for one in type(model).__mro__:
        if one.__module__.startswith("tenfold."):
            return False
        if not vars(one).keys().isdisjoint(VERBS):
            return True
    return True


def judge_of(model: Any, score: Any) -> Score:
    """The score by which a model is judged; one of probabilities needs a classifier that has some."""
    judge = find_score(score, role_of_scored(model))
    if judge.output == PROBABILITIES and not hasattr(model, "predict_proba"):
        raise BadParameter(f"score={judge.name!r}: needs probabilities, and this {type(model).__name__} has no predict_proba")
    return judge


def role_of_scored(model: Any) -> str:
    """Of a learner that can be scored."""
    role = getattr(model, "role", None)
    if role not in ("classifier", "regressor"):
        raise BadInput(
            f"{type(model).__name__} predicts no target, so there is nothing to score: give a classifier or "
            "a regressor"
        )
    return str(role)


def scored_rows(model: Estimator, X: Any, y: Any, sample_weight: Any) -> Arrays:
    """Rows by number, of a learner that can be scored: files and streams are read into memory."""
    role_of_scored(model)
    return read(model, X, y, sample_weight)


def check_one_scoring(scoring: Any) -> None:
    """Refuse several scores where one is asked for."""
    if isinstance(scoring, (list, tuple, set, dict)):
        raise BadParameter(f"scoring={scoring!r}: For evaluating multiple scores, use cross_validate instead; give one score here")


# --- scores -------------------------------------------------------------------------------------------------


def round_scores(judge: Score, source: Arrays, one: SplitPlan, outputs: list[Array]) -> Any:
    """The score of each split; of all rows at once where splits of one row cannot be scored."""
    if one.single and judge.mean_of_rows and source.w is None:
        return judge.of_rows(*_judged(judge, source, slice(None), outputs[0])[:2])
    return [score_of(judge, source, rows, output) for rows, output in zip(one.parts, outputs, strict=True)]


def score_of(judge: Score, source: Arrays, rows: Any, output: Array) -> float:
    """The score of outputs as `_outputs` gives them."""
    return judge.of(*_judged(judge, source, rows, output), source.target.classes)


def _judged(judge: Score, source: Arrays, rows: Any, output: Array) -> tuple[Array, Array, Array]:
    """Truth, outputs as the score wants them, and weights."""
    truth, w = truth_of(source, rows)
    return truth, judged_output(judge, output, source.target.classes), w


# --- what is kept -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wanted:
    """What is to be in the result besides the scores of test rows."""

    train: bool = False
    estimator: bool = False
    indices: bool = False
    error_score: Any = np.nan

    @property
    def models(self) -> bool:
        """Whether the models of all splits are needed."""
        return self.train or self.estimator


class Made:
    """Models, scores of training rows and row numbers of the splits, as far as they are wanted."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted, self.fit_time = wanted, 0.0
        self.models: list[Any] = []
        self.train: dict[str, list[float]] = {}
        self.indices: dict[str, list[Array]] = dict(train=[], test=[])

    def outputs(self, model: Estimator, source: Arrays, one: SplitPlan) -> tuple[list[Array], str]:
        """The outputs for the rows of each part of a round, with the models kept; and how these were made."""
        began = time.perf_counter()
        with single_blas:
            self.models, method = [*self.models, *(made := split_models(model, source, one))[0]], made[1]
            self.fit_time += time.perf_counter() - began
            return test_outputs(self.models[-len(one) :], source, one), method

    def judge(self, judges: Judges, source: Arrays, one: SplitPlan) -> None:
        """Enter the splits of a round."""
        if self.wanted.train:
            parts = [one.train_rows(k) for k in range(len(one))]
            outputs = outputs_of(self.models[-len(one) :], source, parts)
            for name, judge in judges.items():
                found = [judge.sign * score_of(judge, source, rows, output) for rows, output in zip(parts, outputs, strict=True)]
                self.train.setdefault(name, []).extend(found)
        if self.wanted.indices:  # numbers of the user's table, of which rows of weight zero have dropped out
            given = np.arange(source.n_rows or 0) if source.rows is None else source.rows
            self.indices["train"] += [given[one.train_rows(k)] for k in range(len(one))]
            self.indices["test"] += [given[one.test_rows(k)] for k in range(len(one))]

    def table(self, scores: dict[str, Array], seconds: float) -> dict[str, Any]:
        """A result in scikit-learn's words."""
        n = len(next(iter(scores.values())))
        fit_time = self.fit_time or seconds
        table: dict[str, Any] = dict(fit_time=np.full(n, fit_time / n), score_time=np.full(n, (seconds - fit_time) / n))
        if self.wanted.estimator:
            table["estimator"] = self.models
        if self.wanted.indices:
            table["indices"] = self.indices
        for name, found in scores.items():
            table[f"test_{name}"] = found
            if self.wanted.train:
                table[f"train_{name}"] = np.array(self.train[name])
        return table
