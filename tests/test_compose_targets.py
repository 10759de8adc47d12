"""Several targets, and functions of the target, held to scikit-learn's classes with the same members."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor as TheirTransformed
from sklearn.multioutput import MultiOutputRegressor as TheirMulti

import tenfold

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 3))
Y = np.column_stack([X @ [1.0, 2.0, 0.0], X[:, 0] ** 2, X[:, 2]]) + rng.normal(size=(120, 3)) / 5
POSITIVE = np.exp(Y[:, 0] / 4)
WEIGHT = rng.uniform(0.5, 2, 120)
MEMBERS = {
    "ridge": tenfold.Ridge(),
    "huber": tenfold.HuberRegressor(),
    "tree": tenfold.DecisionTreeRegressor(max_depth=3),
    "pipe": tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge()),
}


@pytest.mark.parametrize("member", MEMBERS)
def test_several_targets_as_theirs(member: str) -> None:
    ours, theirs = (
        kind(clone(MEMBERS[member])).fit(X, Y, sample_weight=WEIGHT) for kind in (tenfold.MultiOutputRegressor, TheirMulti)
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7, atol=1e-9)
    assert len(ours.estimators_) == 3 and ours.estimators_[0].predict(X).shape == (120,)
    assert ours.score(X, Y) == pytest.approx(theirs.score(X, Y), rel=1e-9)


FUNCTIONS: dict[str, dict[str, Any]] = {
    "functions": dict(func=np.log, inverse_func=np.exp),
    "scaler": dict(transformer=tenfold.StandardScaler()),
    "anscombe": dict(transformer=tenfold.AnscombeTransformer(), check_inverse=False),
    "nothing": {},
}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("member", MEMBERS)
def test_function_of_the_target_as_theirs(member: str, function: str) -> None:
    ours, theirs = (
        kind(clone(MEMBERS[member]), **FUNCTIONS[function]).fit(X, POSITIVE, sample_weight=WEIGHT)
        for kind in (tenfold.TransformedTargetRegressor, TheirTransformed)
    )
    if function == "scaler":  # theirs does not give weights to the transformer
        mean = np.average(POSITIVE, weights=WEIGHT)
        assert ours.transformer_.mean_[0] == pytest.approx(mean)
    if function != "scaler" or member == "tree":
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7)


@pytest.mark.parametrize("function", ["functions", "scaler"])
def test_several_targets_and_functions(function: str) -> None:
    both = np.exp(Y[:, :2] / 4)
    ours, theirs = (
        kind(clone(MEMBERS["ridge"]), **FUNCTIONS[function]).fit(X, both)
        for kind in (tenfold.TransformedTargetRegressor, TheirTransformed)
    )
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-8)


def test_streams_and_files_of_functions(tmp_path: Path) -> None:
    model = tenfold.TransformedTargetRegressor(tenfold.Ridge(), transformer=tenfold.StandardScaler())
    whole = model.fit(X, POSITIVE).predict(X)
    parts = [(X[i : i + 25], POSITIVE[i : i + 25]) for i in range(0, 120, 25)]
    np.testing.assert_allclose(clone(model).fit(parts).predict(X), whole, rtol=1e-9)
    tenfold.save(model, tmp_path / "m")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "m").predict(X), whole)


def test_an_inverse_that_is_none() -> None:
    wrong = tenfold.TransformedTargetRegressor(func=np.log, inverse_func=np.square)
    with pytest.warns(tenfold.DataWarning, match="do not come back"):
        wrong.fit(X, POSITIVE)
    wrong.set_params(check_inverse=False).fit(X, POSITIVE)


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(func=np.log), "give both, or neither"),
        (dict(func=np.log, inverse_func=np.exp, transformer=tenfold.StandardScaler()), "not both"),
        (dict(transformer=tenfold.SplineTransformer()), "SplineTransformer.: must be a transformer"),
        (dict(func=1, inverse_func=np.exp), "func=1.: must be a function"),
        (dict(regressor=tenfold.GaussianNB()), "a classifier, and a regressor is needed"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(tenfold.BadParameter, match=message):
        tenfold.TransformedTargetRegressor(**given).fit(X, POSITIVE)
