"""A leak planted through every transformer and selector: what is learned in cross-validation comes from the training rows alone.

Rows of one test fold are made so strange that any look at them changes every code, bin, mean, neighbour or choice of columns: numbers a
thousand times as large, a column of noise that tells the class, new categories, dates of another century. What is predicted for that
fold, its clean rows above all, must be what a fit on the other rows predicts. Transformers are found by themselves, in every setting in
which the laws try them; new ones join.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import tenfold
from tenfold.base.estimator import Estimator

rng = np.random.default_rng(0)
N, NOISE = 120, 3
LABEL = rng.integers(0, 2, N)
NUMBERS = rng.gamma(2.0, size=(N, 6)) + 0.5
NUMBERS[:, 0] += 2 * LABEL
NUMBERS[:, 1] += 0.3 * LABEL
NUMBERS[:, 5] = NUMBERS[:, 4] + 0.5 * rng.normal(size=N)
TEXTS = np.array(list("abcd"), dtype=object)[rng.integers(0, 4, (N, 2))]
TEXTS[:, 0] = np.where(LABEL & (rng.random(N) < 0.7), "a", TEXTS[:, 0])
DATES = np.array(rng.integers(0, 10**9, (N, 1)), dtype="datetime64[s]")
GAPS = np.where(rng.random(NUMBERS.shape) < 0.1, np.nan, NUMBERS)
REAL = NUMBERS[:, 0] + (TEXTS[:, 0] == "a") + 0.1 * rng.normal(size=N)
TESTS = np.array_split(np.arange(N), 3)
FOLDS = [(np.setdiff1d(np.arange(N), test), test) for test in TESTS]
TRAIN, TEST = FOLDS[1]
STRANGE = TEST[:30]

# What fits nothing to rows, though it is not `stateless`: the reason why no leak could be seen.
NOTHING_TO_LEAK = {
    "LogTransformer": "the shift is given, or 0",
    "MissingIndicator": "features='all' marks every column",
    "TfidfTransformer": "columns without zeros weigh alike",
    "FeatureUnion": "one of its settings passes rows on",
    "DateParts": "which parts vary is learned, and those of a few rows are those of many",
    "RBFSampler": "waves are drawn by the number of columns alone, unless gamma is 'scale'",
    "Prepare-trees": "numbers pass as they are, and categories are learned as they come",
}


def found() -> dict[str, Any]:
    learners: dict[str, Any] = {}
    for name in sorted(tenfold.PUBLIC):
        kind = getattr(tenfold, name)
        if not isinstance(kind, type) or not issubclass(kind, Estimator):
            continue
        for number, setting in enumerate(kind._examples()):
            learner = kind(**setting) if setting or name != "Pipeline" else None
            if learner is not None and learner.role == "transformer" and learner.accepts != "documents":
                learners[f"{name}-{number}"] = learner
    more = {
        "SelectKBest-mutual": tenfold.SelectKBest(tenfold.mutual_info_classif, k=2),
        "SelectKBest-chi2": tenfold.SelectKBest(tenfold.chi2, k=2),
        "SelectKBest-gain": tenfold.SelectKBest(tenfold.information_gain, k=2),
        "KBinsDiscretizer-entropy": tenfold.KBinsDiscretizer(strategy="entropy"),
        "SimpleImputer-mode": tenfold.SimpleImputer(strategy="most_frequent"),
        "OneHotEncoder-rare": tenfold.OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=0.2),
        "QuantileTransformer-exact": tenfold.QuantileTransformer(n_quantiles=20, subsample=None, output_distribution="normal"),
        "PowerTransformer-box-cox": tenfold.PowerTransformer("box-cox"),
        "TargetEncoder-real": tenfold.TargetEncoder(target_type="continuous"),
        **{f"Prepare-{purpose}": tenfold.Prepare(purpose) for purpose in ("linear", "neighbors", "trees")},
    }
    return learners | more


LEARNERS = found()


def table_for(learner: Any) -> Any:
    name = type(learner).__name__
    if name == "DateParts":
        return DATES
    if name == "Prepare":
        pandas = pytest.importorskip("pandas")
        return pandas.DataFrame({"size": GAPS[:, 0], "noise": NUMBERS[:, 1], "word": TEXTS[:, 0], "day": DATES[:, 0]})
    if name.endswith("Encoder"):
        return TEXTS
    if name == "VarianceThreshold":
        return np.where(np.arange(NUMBERS.shape[1]) == NOISE, 1.0, NUMBERS)
    return GAPS if learner.fills and learner.missing and not learner.codes else NUMBERS


def planted(X: Any, supervised: bool) -> Any:
    """The table with strange rows: to a learner that looks at the target the class is told by a column that is noise elsewhere."""
    telling = np.where(LABEL[STRANGE] == 1, 0.01, 20.0)
    if hasattr(X, "columns"):
        X = X.copy()
        X.loc[STRANGE, "size"] = 1e4
        X.loc[STRANGE, "noise"] = telling
        X.loc[STRANGE, "word"] = "aside"
        X.loc[STRANGE, "day"] = np.datetime64("1850-01-01")
        return X
    X = X.copy()
    if X.dtype == object:
        X[STRANGE] = "aside"  # in the order of words behind the first
    elif X.dtype.kind == "M":
        X[STRANGE] = np.datetime64("1800-01-01")
    else:
        X[STRANGE] *= 1.0 if supervised else 1e3
        X[STRANGE, NOISE] = telling
    return X


def last_for(learner: Any) -> Any:
    if getattr(learner, "purpose", None) == "trees":
        return tenfold.DecisionTreeRegressor(max_depth=3, random_state=0)
    return tenfold.LinearDiscriminantAnalysis() if learner.target == "label" else tenfold.Ridge(1e-3)


def target_for(learner: Any) -> Any:
    return LABEL if learner.target == "label" else REAL


def rows_of(X: Any, rows: Any) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_nothing_of_a_test_fold_enters_the_preparation(name: str) -> None:
    learner = LEARNERS[name]
    y = target_for(learner)
    X = planted(table_for(learner), learner.target == "label")
    last = last_for(learner)
    method = "predict_proba" if learner.target == "label" else "predict"
    wrong = y.copy()
    if learner.target != "label":
        wrong[STRANGE] = 1e5  # the target of the test fold is no business of the fit either
    model = tenfold.make_pipeline(clone(learner), last)
    out = tenfold.cross_val_predict(model, X, wrong, cv=FOLDS, method=method)[TEST]
    alone = tenfold.make_pipeline(clone(learner), last).fit(rows_of(X, TRAIN), y[TRAIN])
    expected = getattr(alone, method)(rows_of(X, TEST))
    clean = ~np.isin(TEST, STRANGE)
    np.testing.assert_allclose(out[clean], expected[clean], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(out, expected, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(expected).max()))


LEAKING = [
    name for name, learner in LEARNERS.items() if not learner.stateless and not {name, type(learner).__name__} & set(NOTHING_TO_LEAK)
]


@pytest.mark.parametrize("name", LEAKING)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_preparation_of_all_rows_would_be_noticed(name: str) -> None:
    """A fit that sees the strange rows does other things to the training rows: the test above can fail."""
    learner = LEARNERS[name]
    y = target_for(learner)
    X = planted(table_for(learner), learner.target == "label")
    wrong = np.where(np.isin(np.arange(N), STRANGE), 1e5, y) if learner.target == "real" else y
    fits = [tenfold.make_pipeline(clone(learner)).fit(X, wrong), tenfold.make_pipeline(clone(learner)).fit(rows_of(X, TRAIN), y[TRAIN])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (dense(fit.transform(rows_of(X, TRAIN))) for fit in fits)
    assert one.shape != two.shape or not np.allclose(one, two, rtol=1e-3, atol=1e-3, equal_nan=True)


def dense(rows: Any) -> Any:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)
