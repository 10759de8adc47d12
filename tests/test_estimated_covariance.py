"""Discriminant analysis with covariances that need the rows: shrinkage="auto" and estimators of the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import discriminant_analysis as peer
from sklearn.covariance import OAS, LedoitWolf, ShrunkCovariance

import tenfold


def table(p: int = 6) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, p)) @ rng.normal(size=(p, p)) + 3
    return X + np.arange(60)[:, None] % 3, np.array(["a", "b", "c"])[np.arange(60) % 3]


SETTINGS: list[dict[str, Any]] = [
    {"shrinkage": "auto"},
    {"covariance_estimator": LedoitWolf()},
    {"covariance_estimator": OAS()},
    {"shrinkage": "auto", "priors": [0.5, 0.3, 0.2]},
]


@pytest.mark.parametrize("p", [1, 6, 150])
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_linear_is_scikit_learns(setting: dict[str, Any], solver: str, p: int) -> None:
    X, y = table(p)
    ours, theirs = (space.LinearDiscriminantAnalysis(solver=solver, **setting).fit(X, y) for space in (tenfold, peer))
    np.testing.assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)
    if solver == "eigen":
        np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("p", [1, 6, 50])
@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_quadratic_is_scikit_learns(setting: dict[str, Any], p: int) -> None:
    X, y = table(p)
    make = [space.QuadraticDiscriminantAnalysis(solver="eigen", store_covariance=True, **setting) for space in (tenfold, peer)]
    ours, theirs = (one.fit(X, y) for one in make)
    for mine, other in zip(ours.covariance_, theirs.covariance_, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-7)


def test_weights_are_copies_and_cross_validation_fits_again() -> None:
    X, y = table()
    w = np.arange(60) % 4
    copies = np.repeat(np.arange(60), w)
    for name in ("LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"):
        model = getattr(tenfold, name)(shrinkage="auto")
        one, other = model.fit(X, y, w).predict_proba(X), model.fit(X[copies], y[copies]).predict_proba(X)
        np.testing.assert_allclose(one, other, atol=1e-9)
        mean = tenfold.cross_validate(model, X, y, folds=3).mean
        assert 0 <= mean <= 1


class NoCovariance:
    def fit(self, X: Any) -> None: ...


class WrongShape:
    def fit(self, X: Any) -> None:
        self.covariance_ = np.eye(2)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"shrinkage": 0.1, "covariance_estimator": ShrunkCovariance()}, "Only one of the two can be set"),
        ({"covariance_estimator": NoCovariance()}, "does not have a covariance_ attribute"),
        ({"covariance_estimator": WrongShape()}, r"of shape \(6, 6\)"),
        ({"covariance_estimator": 3}, r"must have a method fit\(X\)"),
    ],
)
def test_what_cannot_be_is_refused(setting: dict[str, Any], words: str) -> None:
    X, y = table()
    with pytest.raises(tenfold.BadParameter, match=words):
        tenfold.LinearDiscriminantAnalysis(**setting).fit(X, y)


def test_sums_and_weights_are_not_enough() -> None:
    X, y = table()
    with pytest.raises(tenfold.BadParameter, match="needs all rows at once"):
        tenfold.LinearDiscriminantAnalysis(shrinkage="auto").partial_fit(X, y, classes=["a", "b", "c"])
    with pytest.raises(tenfold.BadInput, match="takes no sample_weight"):
        tenfold.QuadraticDiscriminantAnalysis(covariance_estimator=OAS()).fit(X, y, np.arange(60) + 1)
    given = OAS()
    tenfold.LinearDiscriminantAnalysis(covariance_estimator=given).fit(X, y)
    assert not hasattr(given, "covariance_"), "the object that was given is not fitted itself"
