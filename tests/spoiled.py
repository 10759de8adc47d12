"""Small sound tables to be spoiled, every learner that is given one, and what must not be said or found then."""

from __future__ import annotations

import atexit
import functools
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
from conftest import public_classes, small
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tenfold.core.errors import TenfoldError, TenfoldWarning
from tenfold.gate.categories import is_missing

CLASSES = public_classes()
# Fitted attributes that may be infinite or NaN by definition, and what holds of them all the same.
BY_DEFINITION: dict[str, Callable[[Any, Any], bool]] = {
    "condition_": lambda _, value: value == np.inf,  # of a singular matrix
    "deviations_": lambda _, value: not np.isnan(value).any(),  # over a spread of zero
    "oob_prediction_": lambda _, value: not np.isinf(value).any(),  # NaN: of rows that all members have seen
    "oob_decision_function_": lambda _, value: not np.isinf(value).any()
    and all(len(set(row)) == 1 for row in np.isnan(value)),
    # Undefined (NaN) or infinite, of a column that never varies or that tells all; a p-value says the same or is 0.
    "scores_": lambda learner, value: np.array_equal(np.isnan(value), np.isnan(learner.pvalues_))
    and not learner.pvalues_[np.isinf(value)].any(),
    "pvalues_": lambda learner, value: not np.isinf(value).any() and np.isnan(learner.scores_[np.isnan(value)]).all(),
    "score_samples": lambda _, value: not np.isnan(value).any(),  # where there is no density, or rows without distance have all of it
    "edges_": lambda _, value: all(finite(one) or list(one) == [-np.inf, np.inf] for one in value),  # a column in one bin
}
# there is nothing to choose from, to put together, or to lay a line through in one
OF_TWO_COLUMNS = ("RFE", "RFECV", "SequentialFeatureSelector", "FeatureAgglomeration", "KPlanes")
AS_GIVEN = ("FunctionTransformer",)  # hands tables on as they are: whether they are good is for the function to say
READS = ("Prepare",)  # tables as they are found: what cannot be a number, infinity too, is missing
many = settings(  # as many examples as the profile says: conftest.py
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(2, 12), st.integers(1, 6))


class Case:
    """A small sound table, to be spoiled."""

    def __init__(self, size: tuple[int, int], seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.n, self.p = size
        self.X: Any = self.rng.normal(size=size) + self.rng.integers(-3, 4, self.p)
        self.real: Any = self.rng.normal(size=self.n)
        self.label: Any = self.rng.permutation(np.arange(self.n) % 2)
        self.w: Any = None
        self.new: Any = self.X[: max(1, self.n // 2)]

    def place(self) -> tuple[int, int]:
        return int(self.rng.integers(self.n)), int(self.rng.integers(self.p))

    def target(self, learner: Any) -> Any:
        if learner.target == "real" and learner.target_range[0] >= 0 and getattr(self.real, "dtype", None) == np.float64:
            return np.abs(self.real)
        return {"real": self.real, "label": self.label, "none": None}[learner.target]

    def learner(self, name: str) -> Any:
        return small(CLASSES[name])

    def fit(self, learner: Any) -> None:
        learner.fit(as_taken(learner, self.X), self.target(learner), self.w)


def as_taken(learner: Any, X: Any) -> Any:
    """Numbers without their signs, for a learner that takes none below zero."""
    if not learner.nonnegative:
        return X
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        return np.abs(X)
    if isinstance(X, pandas.DataFrame) and all(kind == np.float64 for kind in X.dtypes):
        return X.abs()
    return X.select(polars.all().abs()) if isinstance(X, polars.DataFrame) and set(X.dtypes) <= {polars.Float64} else X


class Known(Case):
    """One of a few sound tables, to which each learner is fitted once: what is spoiled are the rows that it is asked about."""

    def __init__(self, size: tuple[int, int], seed: int, container: Any = np) -> None:
        super().__init__(size, seed)
        self.drawn = (size, seed, container)
        if container is not np:
            self.X = container.DataFrame({f"x{j}": self.X[:, j] for j in range(self.p)})

    def learner(self, name: str) -> Any:
        return fitted(name, *self.drawn)

    def fit(self, learner: Any) -> None:
        """It is fitted."""


@functools.cache
def fitted(name: str, size: tuple[int, int], seed: int, container: Any) -> Any:
    case = Known(size, seed, container)
    learner = Case.learner(case, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TenfoldWarning)
        Case.fit(case, learner)
    return learner


atexit.register(fitted.cache_clear)  # native objects go before the modules they are of

cases = st.builds(Case, sizes, seeds)
known = st.builds(Known, st.tuples(st.sampled_from([8, 11]), st.integers(1, 3)), st.just(0))
known_frames = st.builds(
    Known, st.tuples(st.just(9), st.integers(1, 3)), st.just(0), st.sampled_from([pandas, polars])
)
# Of a learner and its error (None: it fitted): what is wrong with that.
Verdict = Callable[[Any, str | None], str | None]


def learning(*targets: str) -> dict[str, type]:
    """The learners with such a target."""
    return {name: cls for name, cls in CLASSES.items() if cls.target in targets}


def judge(
    case: Case,
    verdict: Verdict,
    classes: dict[str, type] | None = None,
    but: tuple[str, ...] = (),
) -> None:
    """Fit and predict with every learner, or with those given; collect what must not be. The verdict is not asked of those in `but`."""
    wrong = {}
    for name in classes or CLASSES:
        alone = case.p < 2 and name in OF_TWO_COLUMNS
        if alone and isinstance(case, Known):
            continue  # never fitted, so that there is nothing to ask
        learner = case.learner(name)
        try:
            error = outcome(learner, case)
            objection = must_say()(learner, error) if alone else None if name in but else verdict(learner, error)
        except AssertionError as failure:
            objection = str(failure)
        if objection:
            wrong[name] = objection
    assert not wrong, "\n".join(f"{name}: {objection}" for name, objection in wrong.items())


def outcome(learner: Any, case: Case) -> str | None:
    """The words of our error, or None where learner and predictions are finite; else an AssertionError."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TenfoldWarning)
        try:
            case.fit(learner)
            said = {
                verb: getattr(learner, verb)(as_taken(learner, case.new))
                for verb in ("predict", "predict_proba", "transform", "kneighbors", "score_samples")
                if hasattr(learner, verb)
            }
        except TenfoldError as refusal:
            return in_words(str(refusal))
        except (Exception, Warning) as raw:
            raise AssertionError(f"{type(raw).__name__}: {raw}") from raw
    if learner.missing and any(map(is_missing, np.asarray(case.new, dtype=object).ravel().tolist())):
        said = {}  # a learner that takes missing values may pass them on
    for what, value in {**vars(learner), **said}.items():
        if what in said or (what.endswith("_") and not what.startswith("_")):
            odd = BY_DEFINITION.get(what, lambda _, value: False)
            assert finite(value) or odd(learner, value), f"{what} is not finite: {value}"
    return None


def in_words(text: str) -> str:
    assert 20 < len(text) < 700, f"not a sentence: {text}"
    assert text.count(". ") <= 1, f"more than a sentence and its remedy: {text}"
    return text


def finite(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(finite(one) for one in value)
    value = value.toarray() if hasattr(value, "toarray") else value
    return not (isinstance(value, (float, np.ndarray, np.floating)) and np.asarray(value).dtype.kind == "f") or bool(
        np.isfinite(value).all()
    )


def must_say(*words: str) -> Verdict:
    """The learner refuses, and its words hold all of these."""

    def verdict(learner: Any, error: str | None) -> str | None:
        if error is None:
            return "fitted, but must refuse"
        missing = [word for word in words if word not in error]
        return f"says nothing of {missing}: {error}" if missing else None

    return verdict


# Why a learner may refuse a sound table, as it says it (a regular expression), and which learners may.
Reasons = dict[str, tuple[str, ...]]
ALL = tuple(CLASSES)
FEW_ROWS: Reasons = {
    "use fewer folds": ("LassoCV", "ElasticNetCV"),
    "Expected n_neighbors < n_samples": ("Isomap", "LocallyLinearEmbedding"),
    "cross-validation needs at least 2 rows of each class": ("CalibratedClassifierCV", "LogisticRegressionCV", "StackingClassifier"),
    "give more rows": ("HalvingGridSearchCV", "HalvingRandomSearchCV", "TSNE"),
    "no row is left, as the neighbours of each are of other classes": ("EditedNearestNeighbors",),
    "no column varies within any class": ("LinearDiscriminantAnalysis",),
}
ALL_EQUAL: Reasons = {  # rows, and so the columns are constant
    "all rows are equal: there are none to hold out": (
        "StackingRegressor", "OutlierDetector", "GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV",
        "RFECV", "SequentialFeatureSelector",
    ),
    "a density needs a width": ("DensityForest", "DensityTree"),
    "no column of X varies": ("FastICA",),
    "there is nothing to whiten": ("Whitener",),
    "No feature in X meets the variance threshold": ("VarianceThreshold",),
    "the margin is 0": ("NuSVC",),
}  # fmt: skip


def must_fit(*but: Reasons) -> Verdict:
    """The learner fits and answers, but for those that have one of these reasons."""

    def verdict(learner: Any, error: str | None) -> str | None:
        name = type(learner).__name__
        fair = error is None or any(name in who and re.search(why, error) for one in but for why, who in one.items())
        return None if fair else f"must fit, but refuses: {error}"

    return verdict
