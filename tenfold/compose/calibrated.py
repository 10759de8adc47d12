"""A classifier with calibrated probabilities: maps fitted to predictions for held-out rows."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.foreign import ByVerbs, is_own, learner_of, objection_to, own_of, role_given, role_of, takes
from tenfold.base.member import OfMember
from tenfold.base.routing import routing_enabled
from tenfold.base.shares import ShareClassifier
from tenfold.base.sklearn_api import fresh
from tenfold.compose.folds import splits_of
from tenfold.compose.routes import Routes, member_for
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.evaluate.calibrate.maps import (
    METHODS,
    PROBABILITIES,
    SCORES,
    Calibrator,
    ClassMap,
    calibrator_of,
    fits_method,
)
from tenfold.evaluate.split.plan import truth_of
from tenfold.evaluate.validate.held_out import outputs_of, split_models
from tenfold.evaluate.validate.memory import table_of
from tenfold.gate.inputs import AsGiven


@dataclass(frozen=True)
class CalibratedMember:
    """A fitted classifier with the maps of what it says."""

    estimator: Any
    calibrator: Calibrator
    classes: Array
    method: str

    @property
    def calibrators(self) -> list[ClassMap]:
        """The map of each class, of the second of two, or one of all by temperature."""
        return [ClassMap(self.calibrator, k) for k in range(len(self.calibrator.parameters))]

    def predict_proba(self, X: Any) -> Array:
        """The calibrated probabilities of rows, which the classifier looks at itself."""
        return self._shares(check.check_predict(self.estimator, X) if is_own(self.estimator) else X)

    def _shares(self, X: Any) -> Array:
        return self.calibrator.probabilities(calibration_inputs(as_learner(self.estimator, self.classes), X, self.calibrator.unit))


def as_learner(model: Any, classes: Array) -> Any:
    """A fitted classifier, ours or anybody's, as one of ours."""
    learner = learner_of(model)
    if learner is not model:
        vars(learner)["classes_"] = classes
    return learner


def unit_of(model: Any) -> str:
    """What a fitted classifier is calibrated on: the scores that it decides by, or probabilities where it has no others."""
    return SCORES if hasattr(model, "decision_function") or not hasattr(model, "predict_proba") else PROBABILITIES


def calibration_inputs(model: Any, X: Any, unit: str) -> Array:
    """(n, k): the same of each row and class."""
    if unit == PROBABILITIES:
        said = model._probabilities(X)
    else:
        said = model._decisions(X) if isinstance(model, ByVerbs) else model._scores(X)
    return np.asarray(said, dtype=np.float64)


@estimator
class CalibratedClassifierCV(OfMember, ShareClassifier, Routes):
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
        "[float(*)](m)|[float(2,*)](m)", "maps of what they say: coefficients, or knots and values"
    )
    _unit: str = learned("str", "what that is: scores, or probabilities; absent in files of 0.2: scores", optional=True)

    kind: ClassVar[str] = "keeps rows"
    hands_all: ClassVar[bool] = True
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
        doc="None: 5 folds by what the rows hold, copies together; a number of folds of neighbouring rows; or a splitter. "
        "A classifier that is fitted already: CalibratedClassifierCV(FrozenEstimator(model))",
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    ensemble: bool | str = param(
        default="auto",
        one_of=(True, False, "auto"),
        doc="the mean over the models of the folds (auto: too, unless it is frozen), or one model of all rows",
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB

        return [
            {"estimator": GaussianNB()},
            {"estimator": GaussianNB(), "method": "temperature", "ensemble": False},
        ]

    @property
    def _member(self) -> Any:
        if self.estimator is None:
            from tenfold.linear.logistic import LogisticRegression

            return LogisticRegression()
        given, here = self.estimator, "CalibratedClassifierCV(estimator):"
        reason = objection_to(given, "decision_function", "predict_proba", "predict")
        if reason is None and role_given(given) not in ("classifier", None):
            reason = f"is a {type(given).__name__}, a {role_of(given)}, and a classifier is needed"
        if reason is not None:
            raise BadParameter(f"{here} {reason}")
        if role_given(given) is None:
            return ByVerbs(given, as_role="classifier")
        return learner_of(given, by_verbs=isinstance(given, Estimator) and given.accepts == "anything")

    @property
    def accepts(self) -> str:
        return "anything" if "_by_verbs" in vars(self) else str(self._member.accepts)

    @property
    def sparse(self) -> bool:
        return bool(self._member.sparse)

    def _calls(self) -> list[tuple[str, Any, Any]]:
        inside = [("estimator", own_of(self._member), [("fit", "fit")])]
        return [*inside, *([("splitter", self.cv, [("fit", "split")])] if hasattr(self.cv, "get_metadata_routing") else [])]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Self:
        """As `fit` of every learner; the classifiers receive `params`, those of one entry a row by fold. Weights count in the maps too."""
        parts = self._parts("fit", params, sample_weight)
        if parts is None:
            return Estimator.fit(self, X, y, sample_weight)
        source = check.check_fit(self._opened(), X, y, sample_weight)
        assert isinstance(source, AsGiven)
        source.fit_params = parts["estimator"]
        return self._fit(source)

    @property
    def _averages(self) -> bool:
        """Whether the models of the folds are averaged; those of a frozen classifier are all the same."""
        frozen = type(self.estimator).__name__ == "FrozenEstimator"
        return bool(not frozen if self.ensemble == "auto" else self.ensemble)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        member = member_for(self._member, source)
        if not isinstance(member, ByVerbs):
            check.check_params(member)
        rows = source if isinstance(source, Arrays) else table_of((yield Keep(sparse=True)), source, member.missing)
        codes, w = truth_of(rows)
        if self._averages:
            self._check_splits(codes)
        one = splits_of(self, rows, whole=not self._averages)
        fit = partial(_fit_as_given, member, _for_members(member, rows)) if isinstance(rows, AsGiven) else None
        train = [one.train_rows(k) for k in range(len(one))]
        models = [fit(some) for some in train] if fit else split_models(member, rows, one)[0]
        tests, K = [one.test_rows(k) for k in range(len(one))], len(rows.facts["classes_"])
        unit = unit_of(models[0])
        said = outputs_of(models, rows, tests, partial(calibration_inputs, unit=unit))
        if self._averages:
            absent = [np.setdiff1d(np.arange(K), codes[some]) for some in train]
            maps = [
                calibrator_of(self.method, codes[t], s, w[t], unit, none)
                for t, s, none in zip(tests, said, absent, strict=True)
            ]
        else:
            models, test = [fit(None) if fit else fresh(member)._fit(rows)], np.concatenate(tests)
            maps = [calibrator_of(self.method, codes[test], np.concatenate(said), w[test], unit)]
        flat = [part for one_map in maps for part in one_map.parameters]
        return {"estimators_": [own_of(model) for model in models], "maps_": flat, "_unit": unit}

    def _check_splits(self, codes: Array) -> None:
        """Each test set is to have rows of every class."""
        splits = self.cv if isinstance(self.cv, (int, np.integer)) else getattr(self.cv, "n_splits", None)
        if type(self.cv).__name__ == "LeaveOneOut":
            raise BadParameter(
                "LeaveOneOut cross-validation does not allow all classes to be present in test splits: use folds, or ensemble=False"
            )
        if splits is not None and np.bincount(codes).min() < splits and not isinstance(self.cv, (int, np.integer)):
            raise BadParameter(
                f"Requesting {splits}-fold cross-validation but provided less than {splits} examples for at least one class: use fewer "
                "folds, or ensemble=False"
            )

    @property
    def calibrated_classifiers_(self) -> list[CalibratedMember]:
        """The fitted classifiers, each with its maps."""
        models, K, unit = self.estimators_, len(self.classes_), vars(self).get("_unit", SCORES)
        step = len(self.maps_) // len(models)
        maps = [self.maps_[i * step : (i + 1) * step] for i in range(len(models))]
        return [
            CalibratedMember(m, Calibrator(self.method, one, K, unit), self.classes_, self.method)
            for m, one in zip(models, maps, strict=True)
        ]

    def _objection(self) -> str | None:
        models, K = self.estimators_, len(self.classes_)
        if any(one.role != "classifier" or len(one.classes_) != K for one in models):
            return "a member is no classifier of the same classes"
        maps = 1 if self.method == "temperature" or K == 2 else K
        if not models or len(self.maps_) != maps * len(models):
            return "there is not a map for each member and class"
        if vars(self).get("_unit", SCORES) not in (SCORES, PROBABILITIES):
            return "maps are functions of scores or of probabilities"
        wrong = [one for one in self.maps_ if not fits_method(self.method, one)]
        return f"a map is none of the method {self.method!r}" if wrong else None

    def _class_shares(self, X: Any) -> Array:
        members = self.calibrated_classifiers_
        return np.asarray(sum(member._shares(X) for member in members) / len(members))


def _for_members(member: ByVerbs, rows: AsGiven) -> AsGiven:
    """What the classifiers are fitted to: the rows, without weights where they take none or receive them as metadata."""
    if rows.w is None:
        return rows
    silent = not takes(member.learner.fit, "sample_weight", by_name=True)
    if silent:
        warn(
            f"Since {member} does not appear to accept sample_weight, sample weights will only be used for the calibration itself",
            DataWarning,
        )
    if not silent and not rows.fit_params and not routing_enabled():
        return rows
    rows = copy(rows)
    rows.w = None
    return rows


def _fit_as_given(member: ByVerbs, rows: AsGiven, train: Array | None) -> ByVerbs:
    """The classifier of some rows, or all."""
    some = rows if train is None else rows.select(train)
    X, y, w = some.given()
    one = fresh(member)
    one._fit_own(X, y, w, **some.params())
    vars(one).update(rows.facts)
    return one
