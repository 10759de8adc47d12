"""scikit-learn's own checks, and life inside its tools: pipelines, searches, clones, frames."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from typing import Any
from unittest import SkipTest

import numpy as np
import pandas
import polars
import pytest
from conftest import first, label, learners, pipelines, plain, public_classes
from laws import Table, answers, assert_answers
from sklearn.base import clone, is_classifier, is_clusterer, is_regressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from tenfold.core.params import domains

# Tenfold does not import scikit-learn, so it cannot inherit from its base class; the checks say so first.
NO_BASE = "ignore:Estimator .* does not inherit from `sklearn.base.BaseEstimator`:UserWarning"
# The checks use tables with dependent columns and few rows, of which a learner has something to say.
TOLD = "ignore::tenfold.core.errors.TenfoldWarning"

CLASSES = public_classes()
NAMES = ["a", "b", "c", "d"]


# As in scikit-learn, fitting a pipeline fits the steps that it was given (`pipeline[-1].coef_`); there too
# this one check does not hold of it.
FITS_ITS_STEPS = "check_estimators_overwrite_params"
# Each number of a table is a category here, so that what only rows of weight zero hold is refused as unknown.
UNKNOWN = [(name, "check_sample_weight_equivalence_on_dense_data") for name in ("OneHotEncoder", "OrdinalEncoder")]
# Where rows are drawn, a row of weight 2 is not two rows (as in scikit-learn, whose forests and bags are excused too).
COPIES = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")

# With next to no noise (the default) the kernels of copied rows are singular to working precision; tests/test_gaussian_process.py has some.
UNKNOWN.append(("GaussianProcessRegressor", "check_sample_weight_equivalence_on_dense_data"))

# Rows of these checks that have no neighbour within the default radius are refused, as there.
ALONE = [("RadiusNeighborsClassifier", check) for check in COPIES]

# A gap of the default tolerance is closed in more than one way; with a small one the law of copies holds (tests/test_laws.py).
LOOSE = [(name, check) for name in ("SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM") for check in COPIES]
LOOSE.append(("NuSVC", "check_class_weight_classifiers"))  # no share of support vectors goes with weights that are so far apart


def excused(learner: Any, check: str) -> bool:
    """The check on other array libraries runs in its own process, below."""
    return (
        check == "check_array_api_input"
        or (type(learner).__name__, check) in UNKNOWN + ALONE + LOOSE
        or ("weight_is_copies" in learner.exempt and check in COPIES)
        or (learner.role == "clusterer" and "row_order" in learner.exempt and check in COPIES)  # copies come in another order
        or (hasattr(learner, "steps") and check == FITS_ITS_STEPS)
    )


# As scikit-learn does where it runs its checks on its own learners: of many members, penalties, subsets or neighbours few are tried; of
# rows without outliers some are to be flagged.
FEW = {"n_estimators": 10, "n_inducing": 10, "Cs": 3, "n_subsets": 20, "false_alarm_rate": 0.2, "perplexity": 2}


def quick(name: str) -> Any:
    learner = plain(name)
    return learner.set_params(**{key: few for key, few in FEW.items() if key in learner.get_params(deep=False)})


def _name(check: Any) -> str:
    return str((check.func if isinstance(check, partial) else check).__name__)


@pytest.mark.filterwarnings(NO_BASE, TOLD)
@pytest.mark.parametrize("learner", [*map(quick, CLASSES), *pipelines()], ids=label)
def test_checks(learner: Any) -> None:
    """All of them, some sixty, and what any of them found."""
    found = []
    for one, check in estimator_checks_generator(learner):
        if not excused(learner, _name(check)):
            try:
                check(one)
            except SkipTest:  # by the check itself: of what the learner does not offer
                pass
            except Exception as failure:
                failure.add_note(f"in {check}")
                found.append(failure)
    if found:
        raise ExceptionGroup(f"of scikit-learn's checks of {learner!r}", found)


def test_checks_with_other_array_libraries() -> None:
    """SciPy decides when it is imported whether it takes them."""
    code = (
        "import warnings; warnings.simplefilter('ignore', UserWarning)\n"
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "from test_sklearn import quick\n"
        "from sklearn.utils.estimator_checks import estimator_checks_generator\n"
        f"for name in {list(CLASSES)!r}:\n"
        "    for learner, check in estimator_checks_generator(quick(name)):\n"
        "        if check.func.__name__ == 'check_array_api_input': check(learner); print(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == list(CLASSES)


@pytest.mark.parametrize("learner", learners(), ids=label)
def test_clone_and_kind(learner: Any) -> None:
    copy = clone(learner)
    assert copy is not learner and repr(copy) == repr(learner)
    kinds = {"classifier": is_classifier, "regressor": is_regressor, "clusterer": is_clusterer}
    assert [role for role, test in kinds.items() if test(learner)] == [learner.role] * (learner.role in kinds)


@pytest.mark.parametrize("name", [name for name, cls in CLASSES.items() if hasattr(cls, "predict") or hasattr(cls, "transform")])
def test_inside_a_pipeline_of_scikit_learn(name: str) -> None:
    learner = first(CLASSES[name])
    table = Table.of(learner)
    scaler = (MaxAbsScaler if learner.nonnegative else StandardScaler)().fit(table.X)
    expected = clone(learner).fit(scaler.transform(table.X), table.y)
    piped = make_pipeline(clone(scaler), learner).fit(table.X, table.y)
    verb = "predict" if hasattr(learner, "predict") else "transform"
    np.testing.assert_array_equal(dense(getattr(piped, verb)(table.new)), dense(getattr(expected, verb)(scaler.transform(table.new))))


def dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows


@pytest.mark.parametrize("name", [name for name, cls in CLASSES.items() if cls.role in ("classifier", "regressor")])
def test_cross_validated_by_scikit_learn(name: str) -> None:
    learner = first(CLASSES[name])
    table = Table.of(learner)
    scores = cross_val_score(learner, table.X, table.y, cv=3)
    assert scores.shape == (3,) and scores.mean() > 0.5
    if learner.path is not None:
        values = [1, 3] if "int" in domains(learner)[learner.path].kinds else [0.01, 1.0]
        search = GridSearchCV(learner, {learner.path: values}, cv=3).fit(table.X, table.y)
        assert search.best_params_[learner.path] in values and type(search.best_estimator_) is type(learner)


@pytest.mark.parametrize("learner", learners(), ids=label)
def test_frames(learner: Any) -> None:
    table = Table.of(learner)
    expected = answers(clone(learner).fit(table.X, table.y), table.new)
    for frame in (pandas.DataFrame, partial(polars.DataFrame, orient="row")):
        X, new = (frame(dict(zip(NAMES, rows.T, strict=True))) for rows in (table.X, table.new))
        fitted = clone(learner).fit(X, table.y)
        assert list(fitted.feature_names_in_) == NAMES
        assert_answers(answers(fitted, new), expected, rtol=0)


@pytest.mark.parametrize("learner", [one for one in learners() if hasattr(one, "transform")], ids=label)
def test_set_output(learner: Any) -> None:
    table = Table.of(learner)
    frame = pandas.DataFrame(table.X, columns=NAMES, index=np.arange(len(table.X)) + 100)
    plain, together = clone(learner).fit(frame, table.y).transform(frame), clone(learner).fit_transform(frame, table.y)
    for container in ("pandas", "polars"):
        dressed = clone(learner).set_output(transform=container).fit(frame, table.y)
        for rows, expected in (
            (dressed.transform(frame), plain),
            (clone(learner).set_output(transform=container).fit_transform(frame, table.y), together if learner.by_verbs else plain),
        ):
            assert type(rows).__module__.startswith(container)
            assert list(rows.columns) == list(dressed.get_feature_names_out())
            np.testing.assert_array_equal(rows.to_numpy(), dense(expected))
            if container == "pandas":
                assert list(rows.index) == list(frame.index)
    with pytest.raises(ValueError, match="must be"):
        clone(learner).set_output(transform="excel")
