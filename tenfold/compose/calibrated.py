"""A classifier with calibrated probabilities: maps fitted to predictions for held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Classifier, Estimator
from tenfold.base.member import OfMember
from tenfold.base.sklearn_api import fresh
from tenfold.compose.folds import splits_of
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.evaluate.calibrate.maps import METHODS, PROBABILITIES, SCORES, Calibrator, calibrator_of, fits_method
from tenfold.evaluate.split.plan import truth_of
from tenfold.evaluate.validate.held_out import outputs_of, split_models
from tenfold.evaluate.validate.memory import table_of


@dataclass(frozen=True)
class CalibratedMember:
    """A fitted classifier with the map of its scores."""

    estimator: Any
    calibrator: Calibrator

    def log_probabilities(self, X: Any) -> Array:
        return self.calibrator.log_probabilities(said_by(self.estimator, X))


def unit_of(model: Any) -> str:
    """What a fitted classifier is calibrated on: the scores that it decides by, or probabilities where it has no others."""
    return SCORES if hasattr(model, "decision_function") else PROBABILITIES


def said_by(model: Any, X: Any) -> Array:
    """(n, k): the same of each row and class."""
    return np.asarray(model._scores(X) if unit_of(model) == SCORES else model._probabilities(X), dtype=np.float64)


@estimator
class CalibratedClassifierCV(OfMember, Classifier, Estimator):
    """CalibratedClassifierCV: a classifier whose probabilities are made honest by maps fitted on held-out rows.

    Model       P(class | x) = mean over folds of map(scores of the model of that fold at x); or, with ensemble=False, one
                map of the scores of the model of all rows
    Objective   the model's own; for a map, log loss (sigmoid, temperature, beta) or squared error (isotonic) of rows
                held out
    Algorithm   scores of every row from a model of the other folds (merged statistics where the model is one-pass),
                then a map for each class, or one temperature for all
    Cost        a cross-validation of the model, and O(n K) for the maps (isotonic: O(n K log n)); the rows are kept
                while it is fitted
    Fails when  rows are few (prefer temperature: it has one number to fit); a class has fewer than two distinct rows
                (refused)
    Reference   Platt 1999; Zadrozny & Elkan 2002 (isotonic); Guo et al. 2017 (temperature); Kull et al. 2017 (beta)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(400, 1)); y = (x[:, 0] + rng.normal(size=400) > 0).astype(int)
    >>> same = np.repeat(x, 5, axis=1)                   # five copies of one column: naive Bayes is far too sure
    >>> sure = tenfold.GaussianNB().fit(same, y)
    >>> honest = tenfold.CalibratedClassifierCV(tenfold.GaussianNB()).fit(same, y)
    >>> bool(honest.predict_proba(same).max(axis=1).mean() < sure.predict_proba(same).max(axis=1).mean())
    True
    """

    estimators_: list[Any] = learned("[learner](t)", "fitted classifiers: of each fold, or one of all rows")
    maps_: list[Array] = learned(
        "[float(*)](m)|[float(2,*)](m)", "maps of their scores: coefficients, or knots and values"
    )

    kind: ClassVar[str] = "keeps rows"
    has_decisions: ClassVar[bool] = False
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "folds are made by a hash of the rows, which reads the columns in their order",
    }

    estimator: Any = param(default=None, doc="the classifier to calibrate; None: LogisticRegression()")
    _: KW_ONLY
    method: str = param(
        default="sigmoid", one_of=METHODS, doc="the map: sigmoid (Platt's), isotonic, temperature or beta"
    )
    cv: Any = param(
        default=None,
        doc="number of folds (None: 5), each with its share of every class and without copies in others; or a splitter",
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    ensemble: bool | str = param(
        default="auto",
        one_of=(True, False, "auto"),
        doc="the mean over the models of the folds (auto: too), or one model of all rows",
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB

        return [
            {"estimator": GaussianNB(), "cv": 3},
            {"estimator": GaussianNB(), "method": "temperature", "cv": 3, "ensemble": False},
        ]

    @property
    def _member(self) -> Any:
        if self.estimator is None:
            from tenfold.linear.logistic import LogisticRegression

            return LogisticRegression()
        if getattr(self.estimator, "role", None) != "classifier" or not isinstance(self.estimator, Estimator):
            raise BadParameter(
                f"CalibratedClassifierCV(estimator={type(self.estimator).__name__}): must be a classifier of Tenfold, or None"
            )
        return self.estimator

    @property
    def sparse(self) -> bool:
        return bool(self._member.sparse)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        member = self._member
        check.check_params(member)
        rows = source if isinstance(source, Arrays) else table_of((yield Keep(sparse=True)), source, member.missing)
        codes, w = truth_of(rows)
        one = splits_of(self, rows, whole=not self.ensemble)
        models, _ = split_models(member, rows, one)
        tests = [one.test_rows(k) for k in range(len(one))]
        said, unit = outputs_of(models, rows, tests, said_by), unit_of(models[0])
        if self.ensemble:
            maps = [calibrator_of(self.method, codes[t], s, w[t], unit) for t, s in zip(tests, said, strict=True)]
        else:
            models, test = [fresh(member)._fit(rows)], np.concatenate(tests)
            maps = [calibrator_of(self.method, codes[test], np.concatenate(said), w[test], unit)]
        flat = [part for one_map in maps for part in one_map.parameters]
        return {"estimators_": models, "maps_": flat}

    @property
    def calibrated_classifiers_(self) -> list[CalibratedMember]:
        """The fitted classifiers, each with its map."""
        models, K = self.estimators_, len(self.classes_)
        step = len(self.maps_) // len(models)
        maps = [self.maps_[i * step : (i + 1) * step] for i in range(len(models))]
        return [CalibratedMember(m, Calibrator(self.method, one, K, unit_of(m))) for m, one in zip(models, maps, strict=True)]

    def _objection(self) -> str | None:
        models, K = self.estimators_, len(self.classes_)
        if any(one.role != "classifier" or len(one.classes_) != K for one in models):
            return "a member is no classifier of the same classes"
        maps = 1 if self.method == "temperature" or K == 2 else K
        if not models or len(self.maps_) != maps * len(models):
            return "there is not a map for each member and class"
        wrong = [one for one in self.maps_ if not fits_method(self.method, one)]
        return f"a map is none of the method {self.method!r}" if wrong else None

    def _scores(self, X: Any) -> Array:
        members = self.calibrated_classifiers_
        if len(members) == 1:
            return members[0].log_probabilities(X)
        total = sum(np.exp(member.log_probabilities(X)) for member in members)
        return np.asarray(np.log(np.maximum(total / len(members), np.finfo(float).tiny)))
