"""Bayes' rule over any density: its named cases, decisions, cross-validation by merged statistics, and what is refused."""

from __future__ import annotations

import runpy
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine
from sklearn.neighbors import KernelDensity as TheirKernelDensity

import tenfold
from tenfold import BayesClassifier, GaussianDensity, GaussianMixture
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, Degenerate, NotFitted
from tenfold.evaluate import minimum_risk
from tenfold.generative import PUBLIC as GENERATIVE

ROOT = Path(__file__).resolve().parents[1]
IRIS, WINE = load_iris(return_X_y=True), load_wine(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[IRIS[1]]


def named(density: Any) -> Any:
    """The learner that has a name of its own for this density."""
    return tenfold.GaussianNB(var_smoothing=0) if density.covariance == "diag" else tenfold.QuadraticDiscriminantAnalysis()


@pytest.mark.parametrize("covariance", ["full", "diag"])
def test_the_named_cases_are_bayes_rule(covariance: str) -> None:
    density = GaussianDensity(covariance)
    for X, y in (IRIS, WINE):
        w = np.arange(len(y)) % 4
        for given in (None, [0.2, 0.5, 0.3]):
            ours = BayesClassifier(density, priors=given).fit(X, y, w)
            theirs = named(density).set_params(priors=given).fit(X, y, w)
            np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-10, atol=1e-10)
            np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_a_gaussian_is_scipys() -> None:
    X, w = WINE[0][:, :4], np.arange(len(WINE[0])) % 3
    mean, C = np.average(X, axis=0, weights=w), np.cov(X.T, fweights=w, bias=True)
    forms = {"full": C, "diag": np.diag(np.diag(C)), "spherical": np.diag(C).mean() * np.eye(4)}
    for covariance, expected in forms.items():
        for share, level in ((0.0, 0.0), (0.3, 0.01)):
            model = GaussianDensity(covariance, shrinkage=share, reg_covar=level).fit(X, sample_weight=w)
            mixed = (1 - share) * expected + share * np.trace(expected) / 4 * np.eye(4) + level * np.eye(4)
            np.testing.assert_allclose(model.score_samples(X), multivariate_normal(mean, mixed).logpdf(X), rtol=1e-11)


def test_posteriors_of_any_densities() -> None:
    """Each class by a density that was fitted to its rows alone."""
    X, y = IRIS[0], LABELS
    kernel, mixture = TheirKernelDensity(bandwidth=0.4), GaussianMixture(2, random_state=0)
    parts = {"setosa": GaussianDensity("diag"), "versicolor": mixture, "virginica": kernel}
    model = BayesClassifier(parts, priors={"virginica": 0.5, "setosa": 0.2, "versicolor": 0.3}).fit(X, y)
    joint = np.log([0.2, 0.3, 0.5]) + np.column_stack([one.fit(X[y == label]).score_samples(X) for label, one in parts.items()])
    np.testing.assert_allclose(model.predict_proba(X), softmax(joint, axis=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-10)
    np.testing.assert_allclose(model.score_samples(X), np.log(np.exp(joint).sum(axis=1)), rtol=1e-9)
    assert list(model.densities_) == list(parts) and isinstance(model.densities_["versicolor"], GaussianMixture)


def classifiers() -> list[Any]:
    """Every generative classifier, and Bayes' rule over densities of one pass."""
    found = [getattr(tenfold, name) for name in GENERATIVE]
    every = [cls(**setting) for cls in found if issubclass(cls, OnePass) and cls.role == "classifier" for setting in cls._examples()]
    single = [one for one in every if one.kind == "one pass"]
    densities = [GaussianDensity(), GaussianDensity("spherical", shrinkage=0.5), dict.fromkeys(range(3), GaussianDensity("diag"))]
    return single + [BayesClassifier(one) for one in densities]


@pytest.mark.parametrize("model", classifiers(), ids=repr)
def test_ten_folds_by_merged_statistics_are_refits(model: Any) -> None:
    X, y = IRIS
    X = np.round(X) if model.nonnegative else X
    found = tenfold.cross_validate(model, X, y, folds=10)
    assert found.method == "merged statistics"
    for k in range(10):
        test = found.fold[0] == k
        alone = type(model)(**model.get_params(deep=False)).fit(X[~test], y[~test])
        expected = alone.predict_proba(X[test]) if hasattr(alone, "predict_proba") else softmax(alone._scores(X[test]), axis=1)
        np.testing.assert_allclose(found.probabilities[test], expected, rtol=0, atol=1e-10)


def test_a_density_that_fits_comes_near_the_best_possible_error() -> None:
    sys.path.insert(0, str(ROOT))
    try:
        from bench.bayes import WORLDS
    finally:
        sys.path.remove(str(ROOT))
    worlds = {world.name: world for world in WORLDS}
    for name, fits, fails in (
        ("Gaussians", GaussianDensity(), GaussianDensity("diag")),
        ("fields of a board", tenfold.KernelDensity(bandwidth=0.4), GaussianDensity()),
    ):
        (X, y), (new, truth) = worlds[name].table(600, 0), worlds[name].table(2000, 1)
        best = np.mean(worlds[name].best(new) != truth)
        near, far = (np.mean(BayesClassifier(one).fit(X, y).predict(new) != truth) for one in (fits, fails))
        assert best - 0.01 < near < best + 0.03 < far, (name, best, near, far)


# --- decisions ---


def test_decisions_are_those_of_least_expected_cost() -> None:
    X, y = IRIS[0], LABELS
    cost = np.array([[0, 1, 1], [5, 0, 1], [9, 8, 0.0]])
    plain = BayesClassifier().fit(X, y).predict_proba(X)
    careful = BayesClassifier(cost=cost).fit(X, y)
    np.testing.assert_array_equal(careful.predict(X), careful.classes_[minimum_risk(plain, cost)])
    assert (careful.predict(X) != BayesClassifier().fit(X, y).predict(X)).any()
    held = tenfold.cross_val_predict(BayesClassifier(cost=cost), X, y, folds=5, random_state=0)
    assert set(held) <= set(LABELS) and (held != tenfold.cross_val_predict(BayesClassifier(), X, y, folds=5, random_state=0)).any()
    undecided = minimum_risk(plain, 1 - np.eye(3), 0.05) == -1
    assert 0 < undecided.sum() < 20
    for labels, answer in ((LABELS, "rejected"), (LABELS.astype(object), "rejected"), (IRIS[1], -1), (IRIS[1] * 1.0, -1)):
        said = BayesClassifier(reject=0.05).fit(X, labels).predict(X)
        assert (said[undecided] == answer).all() and (said[~undecided] != answer).all()
    two = IRIS[1] > 0
    assert set(BayesClassifier(reject=0).fit(X[:, 1:2], two).predict(X[:, 1:2])) == {-1}
    with pytest.raises(BadParameter, match="-1 is what rejected rows get, and a class of y"):
        BayesClassifier(reject=0.1).fit(X, IRIS[1] - 1)


def test_rows_where_every_density_is_zero_get_the_priors() -> None:
    X, y = np.arange(12.0)[:, None], np.arange(12) > 3
    model = BayesClassifier(TheirKernelDensity(kernel="tophat")).fit(X, y)
    far = np.array([[2.0], [500.0]])
    with pytest.warns(DataWarning, match="the density of every class is zero at some rows"):
        np.testing.assert_allclose(model.predict_proba(far), [[1, 0], [1 / 3, 2 / 3]], rtol=1e-12)
    assert model.score_samples(far)[1] == -np.inf


def test_new_rows_of_a_class() -> None:
    X, y = IRIS[0], LABELS
    model = BayesClassifier().fit(X, y)
    rows, labels = model.sample(4000, "versicolor", random_state=0)
    assert set(labels) == {"versicolor"}
    np.testing.assert_allclose(np.cov(rows.T), np.cov(X[y == "versicolor"].T), atol=0.03)
    rows, labels = BayesClassifier(priors=[0.1, 0.2, 0.7]).fit(X, y).sample(1000, random_state=0)
    assert rows.shape == (1000, 4) and 0.6 < np.mean(labels == "virginica") < 0.8
    with pytest.raises(BadInput, match="must be one of the classes"):
        model.sample(3, "rose")
    with pytest.raises(AttributeError, match="sample"):
        BayesClassifier(TheirKernelDensity()).fit(X, y).sample(3)


# --- too few rows, and what is refused ---


def test_classes_with_few_rows_are_named() -> None:
    X, y = IRIS[0][48:52], LABELS[48:52].copy()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        BayesClassifier().fit(X[:3], y[:3])
    assert any(re_class(one, "versicolor") and one.category is Degenerate for one in told)
    assert any("class 'versicolor' has one row" in str(one.message) for one in told)
    with pytest.raises(BadInput, match=r"class 'versicolor': .*n_components = 2, n_samples = 1"):
        BayesClassifier(GaussianMixture(2, reg_covar=0.1)).fit(X[:3], y[:3])


def re_class(one: Any, label: str) -> bool:
    return str(one.message).startswith(f"class {label!r}: GaussianDensity: the covariance is singular")


def test_a_class_without_rows_is_never_predicted() -> None:
    X, y = IRIS
    folds = [(np.flatnonzero(y != k), np.flatnonzero(y == k)) for k in range(3)]  # a class is held out as a whole
    for density in (GaussianDensity(), GaussianMixture(random_state=0)):
        found = tenfold.cross_val_predict(BayesClassifier(density, priors="uniform"), X, y, folds=folds)
        for train, test in folds:
            alone = BayesClassifier(density, priors="uniform").fit(X[train], y[train])
            np.testing.assert_array_equal(found[test], alone.predict(X[test]))


PIPELINE = tenfold.make_pipeline(tenfold.StandardScaler(), GaussianDensity())


@pytest.mark.parametrize(
    "setting, words",
    [
        ({"density": GaussianDensity}, r"density\): is the class GaussianDensity, and an instance is needed"),
        ({"density": tenfold.GaussianNB()}, "is a GaussianNB, which has no score_samples"),
        ({"density": PIPELINE}, "put them before the BayesClassifier"),
        ({"density": {}}, "give a density for each class"),
        ({"density": {"setosa": GaussianDensity()}}, "'versicolor' is not in both"),
        ({"density": {"setosa": 3}}, r"density\['setosa'\]\): is a int, which has no fit"),
        ({"priors": "flat"}, "must be 'uniform', a number for each class, or None"),
        ({"priors": [0.5, 0.5]}, "Number of priors must match number of classes, 3"),
        ({"priors": [0.5, 0.5, 0.5]}, "sum of the priors should be 1, not 1.5"),
        ({"priors": {"setosa": 1.0}}, "'versicolor' is not in both"),
        ({"cost": [[0, 1], [1, 0]]}, "3 rows and 3 columns for the 3 classes"),
        ({"cost": "high"}, "must be a matrix of numbers"),
        ({"cost": np.full((3, 3), np.nan)}, "must be finite numbers"),
        ({"reject": -1.0}, "must be >= 0"),
    ],
)
def test_what_is_refused(setting: dict[str, Any], words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        BayesClassifier(**setting).fit(IRIS[0], LABELS)


def test_singular_gaussians_are_told() -> None:
    X: Array = np.column_stack([IRIS[0][:, :2], np.full(150, 7.0)])
    for covariance in ("full", "diag"):
        with pytest.warns(Degenerate, match="column 2 of X is constant"):
            model = GaussianDensity(covariance).fit(X)
        assert np.isfinite(model.score_samples(X)).all() and (model.score_samples(X + np.array([0, 0, 1e-3])) < -1e3).all()
    with pytest.warns(Degenerate, match="linearly dependent"):
        GaussianDensity().fit(IRIS[0][50:54])
    with pytest.warns(Degenerate, match="column 0 of X is constant"):
        assert np.isfinite(GaussianDensity("spherical").fit(np.zeros((5, 2))).score_samples(np.zeros((2, 2)))).all()


def test_a_saved_classifier_with_densities_by_class(tmp_path: Any) -> None:
    X, y = IRIS[0], LABELS
    parts = {"setosa": GaussianDensity("diag"), "versicolor": GaussianMixture(2, random_state=0), "virginica": GaussianDensity()}
    model = BayesClassifier(parts, reject=0.1).fit(X, y)
    tenfold.save(model, tmp_path / "m.tenfold")
    again = tenfold.load(tmp_path / "m.tenfold")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert repr(again) == repr(model)


def test_the_example_of_several_densities() -> None:
    main = runpy.run_path(str(ROOT / "examples" / "densities.py"))["main"]
    found = main(["--columns", "2", "3"])
    assert all(found[name] > 0.93 for name in ("Gaussian", "Gaussian, diagonal", "two Gaussians", "kernels"))
    assert all(one > 0.85 for one in found.values())


def test_learning_on_merging_and_forgetting(tmp_path: Any) -> None:
    """From a stream that is read once, by parts that do not hold all classes, and from a file."""
    X, y = IRIS[0], LABELS
    whole = BayesClassifier().fit(X, y)
    stream = ((X[k : k + 25], y[k : k + 25]) for k in range(0, 150, 25))
    one = BayesClassifier().partial_fit(stream, classes=np.unique(y))
    two = BayesClassifier().fit(X, y, np.arange(150) % 2).merge(BayesClassifier().fit(X, y, 1 - np.arange(150) % 2))
    tenfold.save(one, tmp_path / "m.tenfold", resumable=True)
    extra = tenfold.load(tmp_path / "m.tenfold").partial_fit(X[60:80] + 3, y[60:80])
    for model in (one, two, extra.forget(X[60:80] + 3, y[60:80])):
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-9)
    gone = BayesClassifier().fit(X, y).forget(X[:50], y[:50])
    assert list(gone.densities_) == ["versicolor", "virginica"] and (gone.predict_proba(X)[:, 0] == 0).all()
    with pytest.raises(BadInput, match="only a BayesClassifier fitted on the same columns and classes"):
        one.merge(BayesClassifier(GaussianDensity("diag")).fit(X, y))
    tenfold.save(one, tmp_path / "m.tenfold")
    with pytest.raises(NotFitted, match="carries no statistics"):
        tenfold.load(tmp_path / "m.tenfold").partial_fit(X, y)
    assert not hasattr(BayesClassifier(GaussianMixture()), "partial_fit")
