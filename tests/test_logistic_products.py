"""LogisticRegression of sparse rows, by products alone: certificate, scikit-learn at its tightest, routes, and the rule."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression as Peer

import tenfold
from tenfold import LogisticRegression

Array = np.ndarray[Any, Any]


def texts(n: int = 400, p: int = 1500, K: int = 2, seed: int = 0) -> tuple[Any, Array, Array]:
    """Rows of length one with a few of many columns, some of them empty; labels from noisy scores; weights."""
    rng = np.random.default_rng(seed)
    X = sp.random(n, p, density=0.01, format="csr", random_state=rng, data_rvs=lambda k: rng.uniform(0.2, 2, k))
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sp.csr_matrix(sp.diags(1 / np.where(length > 0, length, 1.0)) @ X)
    y = (3 * X @ rng.standard_normal((p, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)
    return X, y, rng.uniform(0, 2, n)


def gradient(model: LogisticRegression, X: Any, y: Array, w: Array) -> Array:
    """Of Σ w loss + ‖coef‖² / 2C over (coef, intercept), written out with probabilities."""
    R = (model.predict_proba(X) - (y[:, None] == model.classes_)) * w[:, None]
    R = R[:, 1:] if len(model.classes_) == 2 else R
    return np.column_stack([(X.T @ R).T + model.coef_ / model.C, R.sum(axis=0) * model.fit_intercept])


@pytest.mark.parametrize("K,fit_intercept,C", list(itertools.product([2, 4], [True, False], [0.1, 1.0, 1e4])))
def test_the_gradient_is_zero_at_the_optimum(K: int, fit_intercept: bool, C: float) -> None:
    X, y, w = texts(K=K)
    model = LogisticRegression(C=C, tol=1e-12, fit_intercept=fit_intercept).fit(X, y, w)
    assert model.solver_ == "newton-cg"
    assert np.abs(gradient(model, X, y, w)).max() <= 2e-12 * w.sum()
    if K > 2:
        assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-10)
    if not fit_intercept:
        assert_array_equal(model.intercept_, 0.0)


@pytest.mark.parametrize("K,class_weight", list(itertools.product([2, 3], [None, "balanced", {0: 3.0}])))
def test_same_as_scikit_learn(K: int, class_weight: Any) -> None:
    X, y, w = texts(K=K)
    model = LogisticRegression(tol=1e-12, class_weight=class_weight).fit(X, y, w)
    peer = Peer(tol=1e-12, max_iter=10_000, class_weight=class_weight).fit(X, y, w)
    assert_allclose(model.coef_, peer.coef_, rtol=0, atol=2e-6 * np.abs(peer.coef_).max())
    assert_allclose(model.predict_proba(X), peer.predict_proba(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_every_route_leads_there(K: int) -> None:
    """Sparse rows of any format, float32, a dense table (by other steps), copies for weights, a stream of blocks."""
    X, y, _ = texts(n=120, K=K)
    w = np.arange(120) % 3.0
    whole = LogisticRegression(tol=1e-11).fit(X, y, w)
    twice = np.repeat(np.arange(120), w.astype(int))
    for made in (
        LogisticRegression(tol=1e-11).fit(X.tocsc(), y, w),
        LogisticRegression(tol=1e-11).fit(sp.coo_array(X), y, w),
        LogisticRegression(tol=1e-11).fit(X[twice], y[twice]),
        LogisticRegression(tol=1e-11, warm_start=True).fit(X, y).fit(X, y, w),
    ):
        assert made.solver_ == "newton-cg"
        assert_allclose(made.coef_, whole.coef_, rtol=0, atol=1e-8)
    narrow = LogisticRegression(tol=1e-11).fit(X.astype(np.float32), y, w)
    assert_allclose(narrow.coef_, whole.coef_, rtol=0, atol=1e-5)
    dense = LogisticRegression(tol=1e-11, max_iter=1000).fit(X.toarray(), y, w)
    assert dense.solver_ != "newton-cg"
    assert_allclose(dense.coef_, whole.coef_, rtol=0, atol=1e-8)


def test_the_rule_is_by_the_values_that_are_stored() -> None:
    rng = np.random.default_rng(0)
    full = sp.csr_matrix(rng.standard_normal((200, 20)))
    few = sp.random(200, 200, density=0.02, format="csr", random_state=rng)
    y = rng.integers(0, 2, 200)
    assert LogisticRegression().fit(full, y).solver_ != "newton-cg"
    assert LogisticRegression().fit(few, y).solver_ == "newton-cg"
    assert LogisticRegression(l1_ratio=1.0).fit(few, y).solver_ == "newton on the columns that matter"


def test_threads_give_the_same_bits() -> None:
    X, y, _ = texts(n=30_000, p=600, K=3)
    found = []
    for n in (1, 2):
        with tenfold.threads(n):
            found.append(LogisticRegression().fit(X, y).coef_)
    assert_array_equal(*found)


def test_steps_used_up_and_separated_classes_are_told() -> None:
    X, y, _ = texts()
    with pytest.warns(tenfold.NotConverged, match="after 1 steps"):
        LogisticRegression(max_iter=1).fit(X, y)
    with pytest.warns(tenfold.Degenerate, match="separated perfectly"):
        LogisticRegression(C=1e9, tol=1e-9).fit(1e3 * X[:50], np.arange(50) % 2)


def test_odd_tables() -> None:
    empty = LogisticRegression().fit(sp.csr_matrix((4, 5000)), [0, 1, 1, 1])
    assert_array_equal(empty.coef_, 0.0)
    assert_allclose(empty.predict_proba(sp.csr_matrix((1, 5000)))[0], [0.25, 0.75], atol=1e-3)
    X, y, _ = texts()
    for factor in (1e-8, 1e8):  # units of the columns are the user's: the penalty is not the same
        assert np.isfinite(LogisticRegression(C=1 / factor**2).fit(factor * X, y).coef_).all()
    scaled = LogisticRegression(C=1e-16, tol=1e-4).fit(1e8 * X, y)
    plain = LogisticRegression(tol=1e-12).fit(X, y)
    assert_allclose(scaled.coef_ * 1e8, plain.coef_, rtol=0, atol=1e-9)
