"""partial_dependence with scikit-learn's words, held to scikit-learn's function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.inspection import partial_dependence as theirs
from sklearn.preprocessing import MinMaxScaler

import tenfold
from tenfold.evaluate import partial_dependence

X, LABELS = load_iris(return_X_y=True)
NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "words",
    [
        dict(features=[0], custom_values={0: [4.5, 5.0, 7.0]}),
        dict(features=[0, 2], custom_values={2: np.array([1.0, 2.0])}, grid_resolution=5),
        dict(features=[1], categorical_features=[1], grid_resolution=5),
        dict(features=[1], categorical_features=[False, True, False, False], grid_resolution=5),
        dict(features=[2], feature_names=NAMES, categorical_features=["c"], grid_resolution=7),
        dict(features=[3], response_method="predict_proba", grid_resolution=7),
        dict(features=[3], response_method="decision_function", grid_resolution=7),
    ],
)
@pytest.mark.parametrize("classes", [2, 3])
def test_as_theirs(words: dict[str, Any], classes: int) -> None:
    y = LABELS[: 50 * classes]
    model = tenfold.LogisticRegression().fit(X[: len(y)], y)
    ours, other = (function(model, X[: len(y)], method="brute", **words) for function in (partial_dependence, theirs))
    for mine, expected in zip(ours["grid_values"], other["grid_values"], strict=True):
        assert_allclose(mine, np.asarray(expected, dtype=float), rtol=1e-12)
    centre = ours["average"].mean(axis=0) if words.get("response_method") == "decision_function" and classes == 3 else 0.0
    expected = other["average"] - (other["average"].mean(axis=0) if np.ndim(centre) else 0.0)  # scores are known up to a constant
    assert_allclose(ours["average"] - centre, expected, rtol=1e-9, atol=1e-12)


def test_a_pipeline_with_anybodys_step() -> None:
    frame = pandas.DataFrame(X, columns=NAMES)
    model = tenfold.make_pipeline(MinMaxScaler(), tenfold.LogisticRegression()).fit(frame, LABELS)
    ours, other = (function(model, frame, ["b"], grid_resolution=6) for function in (partial_dependence, theirs))
    assert_allclose(ours["average"], other["average"], rtol=1e-9)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (dict(response_method="predict_proba"), "must be 'auto'"),
        (dict(response_method="else"), "'auto', 'predict_proba' or 'decision_function'"),
        (dict(custom_values={0: [[1.0]]}), "not a one-dimensional array"),
        (dict(categorical_features=[True]), "the mask has 1 entries, and X has 4 columns"),
        (dict(feature_names=["a", "a", "b", "c"]), "4 names, one for each column, that differ"),
    ],
)
def test_words_that_make_no_sense(words: dict[str, Any], message: str) -> None:
    model = tenfold.Ridge().fit(X, X[:, 0])
    with pytest.raises(ValueError, match=message):
        partial_dependence(model, X, 0, **words)
    with pytest.raises(ValueError, match="has none, use 'predict_proba'"):
        partial_dependence(tenfold.DecisionTreeClassifier().fit(X, LABELS), X, 0, response_method="decision_function")
