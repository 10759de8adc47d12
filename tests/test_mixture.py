"""Gaussian mixtures: scikit-learn's from the same start, mclust's published results, laws of the fourteen shapes, and the bound."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import multivariate_normal
from sklearn import mixture as theirs
from sklearn.datasets import load_iris, load_wine

import tenfold
from tenfold.core.data import Array, Block
from tenfold.core.errors import BadInput, BadParameter, Degenerate, NotConverged, TooLarge
from tenfold.density import shapes
from tenfold.density.components import Components, Frame
from tenfold.density.mixture import is_narrow

IRIS = load_iris().data
FAITHFUL = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables" / "faithful.csv.gz"
TYPES = ("full", "tied", "diag", "spherical")


def start(kind: str) -> dict[str, Any]:
    P = np.linalg.inv(np.cov(IRIS.T))
    precisions = {"full": np.tile(P, (3, 1, 1)), "tied": P, "diag": np.tile(1 / IRIS.var(axis=0), (3, 1)), "spherical": np.ones(3)}
    return dict(means_init=IRIS[[0, 60, 120]], precisions_init=precisions[kind], weights_init=[0.3, 0.3, 0.4])


@pytest.mark.parametrize("kind", TYPES)
def test_from_the_same_start_it_is_theirs(kind: str) -> None:
    asked = dict(n_components=3, covariance_type=kind, tol=1e-8, max_iter=500, **start(kind))
    ours, other = tenfold.GaussianMixture(**asked).fit(IRIS), theirs.GaussianMixture(**asked).fit(IRIS)
    assert ours.n_iter_ == other.n_iter_ and ours.converged_
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "lower_bound_", "lower_bounds_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(other, name), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.score_samples(IRIS), other.score_samples(IRIS), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(IRIS), other.predict_proba(IRIS), atol=1e-9)
    assert np.array_equal(ours.predict(IRIS), other.predict(IRIS))
    np.testing.assert_allclose([ours.bic(IRIS), ours.aic(IRIS)], [other.bic(IRIS), other.aic(IRIS)], rtol=1e-12)


@pytest.mark.parametrize("prior", ["dirichlet_process", "dirichlet_distribution"])
@pytest.mark.parametrize("kind", TYPES)
def test_the_bayesian_one_is_theirs(kind: str, prior: str) -> None:
    """Two components of iris have one optimum, whatever the start."""
    asked = dict(n_components=2, covariance_type=kind, weight_concentration_prior_type=prior, tol=1e-6, max_iter=3000, random_state=0)
    ours, other = tenfold.BayesianGaussianMixture(**asked).fit(IRIS), theirs.BayesianGaussianMixture(**asked).fit(IRIS)
    mine, its = (np.argsort(one.means_[:, 0]) for one in (ours, other))
    np.testing.assert_allclose(ours.means_[mine], other.means_[its], rtol=1e-9)
    np.testing.assert_allclose(ours.mean_precision_[mine], other.mean_precision_[its], rtol=1e-9)
    np.testing.assert_allclose(ours.lower_bound_, np.ravel(other.lower_bound_)[0], rtol=1e-9)
    np.testing.assert_allclose(ours.score_samples(IRIS), other.score_samples(IRIS), rtol=1e-8)
    if prior == "dirichlet_distribution" or np.array_equal(mine, its):
        np.testing.assert_allclose(ours.weights_[mine], other.weights_[its], rtol=1e-9)
    assert (np.diff(ours.lower_bounds_) > -1e-8).all()


def test_mclust_chooses_these_for_iris() -> None:
    """Fraley & Raftery: VEV with 2 components has the best BIC, −561.73; then VEV with 3, −562.55, and VVV with 2, −574.02."""
    best = {
        (shape, k): -min(
            tenfold.GaussianMixture(k, covariance_type=shape, random_state=seed, tol=1e-8, max_iter=5000, reg_covar=0).fit(IRIS).bic(IRIS)
            for seed in range(2)
        )
        for shape in ("VEV", "VVV", "EEE", "VEE", "VVI")
        for k in (2, 3)
    }
    ranked = sorted(best, key=lambda one: -best[one])
    assert ranked[:3] == [("VEV", 2), ("VEV", 3), ("VVV", 2)]
    np.testing.assert_allclose([best[one] for one in ranked[:3]], [-561.7285, -562.5522, -574.0178], atol=2e-3)


@pytest.mark.skipif(not FAITHFUL.exists(), reason="shared tables are not here")
def test_mclust_chooses_these_for_faithful() -> None:
    """EEE with 3 components: −2314.32 by mclust, which stops a little earlier."""
    X = pl.read_csv(FAITHFUL).select("eruptions", "waiting").to_numpy().astype(np.float64)
    asked = dict(tol=1e-7, max_iter=3000, reg_covar=0)
    best = {
        (shape, k): -min(tenfold.GaussianMixture(k, covariance_type=shape, random_state=seed, **asked).fit(X).bic(X) for seed in range(2))
        for shape in ("EEE", "VVE", "VVV", "VEE", "EEV")
        for k in (2, 3, 4)
    }
    assert max(best, key=lambda one: best[one]) == ("EEE", 3)
    np.testing.assert_allclose(best["EEE", 3], -2314.316, atol=0.05)


def test_a_mixture_is_chosen_among_all() -> None:
    found = tenfold.choose_mixture(IRIS, range(1, 4))
    assert (found.covariance_type, found.n_components) == ("VEV", 2)
    np.testing.assert_allclose(found.scores["VEV", 2], 561.7285, atol=2e-3)
    assert "2 x VEV" in str(found) and "561.7<" in str(found)
    assert tenfold.choose_mixture(IRIS[:20], [1, 2, 9], ["VVV", "EII"]).scores.keys() >= {("VVV", 9), ("EII", 1)}
    noise = np.random.default_rng(3).normal(size=(300, 2))
    assert tenfold.choose_mixture(noise, range(1, 5), ["EII", "EEE", "VVV"]).n_components == 1
    with pytest.raises(BadInput, match="fewer components"):
        tenfold.choose_mixture(np.ones((10, 2)), [2])
    for asked in ({"criterion": "x"}, {"covariance_types": ["XYZ"]}, {"n_components": [0]}, {"n_components": []}):
        with pytest.raises(BadParameter, match=next(iter(asked))):
            tenfold.choose_mixture(IRIS, **asked)


# --- shapes ---


def scatters(shape: str, seed: int = 0, p: int = 3) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    weight, A = rng.uniform(5, 40, 4), rng.normal(size=(4, p, p))
    W = weight[:, None, None] * (A @ A.transpose(0, 2, 1) + 0.3 * np.eye(p))
    return weight, np.diagonal(W, axis1=1, axis2=2).copy() if shapes.is_diagonal(shape) else W


def cost(weight: Array, W: Array, C: Array) -> float:
    """−2 × the part of the log-likelihood that covariances change."""
    if C.ndim == 2:
        return float(weight @ np.log(C).sum(axis=1) + (W / C).sum())
    return float(weight @ np.linalg.slogdet(C)[1] + np.einsum("kij,kji->", W, np.linalg.inv(C)))


def described(C: Array) -> tuple[Array, Array]:
    """Volumes and shapes of covariances."""
    full = C if C.ndim == 3 else C[:, :, None] * np.eye(C.shape[1])
    values = np.linalg.eigvalsh(full)
    volume = np.exp(np.log(values).mean(axis=1))
    return volume, values / volume[:, None]


@pytest.mark.parametrize("shape", list(shapes.SHAPES))
def test_a_shape_is_what_its_name_says_and_no_other_is_more_likely(shape: str) -> None:
    weight, W = scatters(shape)
    C = shapes.covariances(shape, weight, W)
    volume, form = described(C)
    alike = [np.ptp(volume) < 1e-9 * volume.max(), np.ptp(form, axis=0).max() < 1e-9]
    if shape[0] == "E":
        assert alike[0]
    if shape[1] == "I":
        np.testing.assert_allclose(form, 1.0, atol=1e-9)
    elif shape[1] == "E" and shape[2] != "I":
        assert alike[1]
    if shape[2] == "E" and shape[1] != "I":  # one set of axes: all covariances commute
        np.testing.assert_allclose(C[0] @ C, np.swapaxes(C[0] @ C, -1, -2), atol=1e-7 * np.abs(C).max() ** 2)
    rng, least = np.random.default_rng(1), cost(weight, W, C)
    for _ in range(40):  # other covariances of that shape: those of other scatters
        noise = rng.uniform(0.8, 1.25, W.shape[:2])
        other = shapes.covariances(shape, weight, W * (noise if W.ndim == 2 else noise[:, :, None] * noise[:, None, :]))
        assert cost(weight, W, other) >= least - 1e-7 * abs(least)


@pytest.mark.parametrize("p", [1, 2, 5])
def test_numbers_of_parameters(p: int) -> None:
    for kind, shape in shapes.NAMED.items():
        other = theirs.GaussianMixture(3, covariance_type=kind, random_state=0).fit(np.random.default_rng(0).normal(size=(90, p)))
        assert 2 + 3 * p + shapes.n_parameters(shape, 3, p) == other._n_parameters()


@pytest.mark.parametrize("shape", list(shapes.SHAPES))
def test_no_step_lowers_the_likelihood(shape: str) -> None:
    model = tenfold.GaussianMixture(3, covariance_type=shape, random_state=1, tol=1e-9, max_iter=2000, reg_covar=0).fit(IRIS[:, :3])
    assert (np.diff(model.lower_bounds_) >= -1e-10).all()


# --- sums ---


@pytest.mark.parametrize("diagonal", [False, True])
def test_sums_by_products_are_those_part_by_part(diagonal: bool) -> None:
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(3000, 4)) @ rng.normal(size=(4, 4)) + 50.0, rng.uniform(0.5, 2, 3000)
    C = np.array([np.cov(X[i::5].T) for i in range(5)])
    model = Components.of(np.full(5, 0.2), X[:5], np.diagonal(C, axis1=1, axis2=2).copy() if diagonal else C)
    block = Block(X, None, w)
    fast, slow = model.expect(block, Frame(X.mean(axis=0), X.std(axis=0))), model._by_parts(X, w)
    np.testing.assert_allclose(fast.log_likelihood, slow.log_likelihood, rtol=1e-12)
    for name in ("weight", "mean", "scatter"):
        np.testing.assert_allclose(getattr(fast.moments, name), getattr(slow.moments, name), rtol=1e-9, atol=1e-9)
    joint = model.log_joint(X)
    shares = w[:, None] * np.exp(joint - joint.max(axis=1, keepdims=True))
    shares /= np.exp(joint - joint.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(slow.moments.weight, shares.sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(model.expected(slow.moments), (shares * joint).sum(), rtol=1e-10)


def test_narrow_components_keep_their_digits() -> None:
    """Ten thousand standard deviations apart: products of columns would not do."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(200, 2)) * 1e-4, 1.0 + rng.normal(size=(200, 2)) * [1e-4, 3e-4]])
    model = tenfold.GaussianMixture(2, random_state=0, reg_covar=0).fit(X)
    order = np.argsort(model.means_[:, 0])
    for k, rows in zip(order, (X[:200], X[200:]), strict=True):
        np.testing.assert_allclose(model.covariances_[k], np.cov(rows.T, bias=True), rtol=1e-8)


# --- use ---


def test_log_density_is_scipy_s_and_rows_are_drawn_from_it() -> None:
    model = tenfold.GaussianMixture(3, random_state=0).fit(IRIS)
    parts = zip(model.weights_, model.means_, model.covariances_, strict=True)
    density = sum(share * multivariate_normal(mean, C).pdf(IRIS) for share, mean, C in parts)
    np.testing.assert_allclose(model.score_samples(IRIS), np.log(density), rtol=1e-10)
    rows, labels = model.sample(20_000)
    assert rows.shape == (20_000, 4) and np.array_equal(np.unique(labels), [0, 1, 2])
    np.testing.assert_allclose(rows.mean(axis=0), IRIS.mean(axis=0), atol=0.05)
    np.testing.assert_allclose(np.cov(rows.T), np.cov(IRIS.T), atol=0.1)
    assert np.array_equal(rows, model.sample(20_000)[0])


def test_spare_components_fade() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (300, 2)), rng.normal(8, 1, (300, 2))])
    model = tenfold.BayesianGaussianMixture(6, weight_concentration_prior=1e-3, random_state=0, max_iter=500).fit(X)
    assert (model.weights_ > 0.01).sum() == 2


def test_what_is_told() -> None:
    narrow = np.concatenate([np.zeros((20, 2)), IRIS[:, :2]])
    with pytest.warns(Degenerate, match="collapsed"):
        tenfold.GaussianMixture(2, random_state=0).fit(narrow)
    for kind in ("full", "diag"):  # the remedy that is named
        tenfold.GaussianMixture(2, covariance_type=kind, random_state=0, reg_covar=0.1).fit(narrow)
    with pytest.warns(NotConverged, match="max_iter=1"):
        tenfold.GaussianMixture(3, random_state=0, max_iter=1).fit(IRIS)
    with pytest.raises(BadInput, match="fewer components"):
        tenfold.GaussianMixture(8).fit(IRIS[:5])
    with pytest.raises(BadInput, match="reg_covar"):
        tenfold.GaussianMixture(2, reg_covar=0, random_state=0).fit(np.repeat([[0.0, 1.0], [2.0, 5.0]], 10, axis=0))
    for given in ({"weights_init": [0.5, 0.6]}, {"means_init": [[1.0]]}, {"precisions_init": "a"}, {"weights_init": [2.0, -1.0]}):
        with pytest.raises(BadParameter, match=next(iter(given))):
            tenfold.GaussianMixture(2, **given).fit(IRIS)


def test_a_tree_of_rows_is_a_start() -> None:
    """mclust's: on wine, where the columns have units of their own, it ends above each of five k-means starts; it needs no seed."""
    X = load_wine().data
    asked: dict[str, Any] = dict(tol=1e-6, max_iter=1000)
    tree = [tenfold.GaussianMixture(3, init_params="hierarchical", random_state=seed, **asked).fit(X) for seed in (0, 7)]
    np.testing.assert_allclose(tree[0].means_, tree[1].means_, rtol=1e-9)
    drawn = [tenfold.GaussianMixture(3, random_state=seed, **asked).fit(X).lower_bound_ for seed in range(5)]
    assert tree[0].lower_bound_ > max(drawn) + 0.3
    both = tenfold.GaussianMixture(3, init_params="hierarchical", n_init=3, random_state=0, **asked).fit(X)
    assert both.lower_bound_ >= tree[0].lower_bound_
    with pytest.warns(Degenerate, match="collapsed"):
        few = tenfold.GaussianMixture(3, init_params="hierarchical", random_state=0).fit(X[:3, :2])
    np.testing.assert_allclose(np.sort(few.means_, axis=0), np.sort(X[:3, :2], axis=0), atol=1e-6)


def test_long_rows_cost_what_they_must(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows of many columns: the same as by products of columns, which are more than the numbers; and memory is looked at before."""
    X = np.random.default_rng(0).normal(size=(400, 70)) + np.repeat([[0.0], [3.0]], 200, axis=0)
    blocks = np.split(X, 8)
    asked: dict[str, Any] = dict(n_components=2, random_state=0)
    ours = tenfold.GaussianMixture(**asked).fit(blocks)
    monkeypatch.setattr("tenfold.density.components.WIDE", 100)
    monkeypatch.setattr("tenfold.density.factors.WIDE", 100)
    other = tenfold.GaussianMixture(**asked).fit(blocks)
    for name in ("means_", "covariances_", "lower_bounds_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(other, name), rtol=1e-9, atol=1e-10)
    monkeypatch.setattr("tenfold.core.memory.memory", lambda: (1e9, 1e9))
    with pytest.raises(TooLarge, match="covariance_type='diag'"):
        tenfold.GaussianMixture(2).fit(np.zeros((5, 4000)))


@pytest.mark.parametrize("p", [1, 3, 8])
def test_narrow_is_seen_by_the_least_variance(p: int) -> None:
    rng = np.random.default_rng(p)
    for _ in range(20):
        A = rng.normal(size=(p, p)) @ np.diag(10.0 ** rng.uniform(-2, 1, p))
        root, least = np.linalg.cholesky(np.linalg.inv(A @ A.T)), float(np.linalg.eigvalsh(A @ A.T)[0])
        assert is_narrow(root, 1.001 * least) and not is_narrow(root, 0.999 * least)
