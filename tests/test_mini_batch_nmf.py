"""MiniBatchNMF and non_negative_factorization: scikit-learn's batches, streams, rows that keep coming; the example of parts and topics."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from test_nmf import QUIET, counts, started

import tenfold
from tenfold.core.errors import NotConverged, ReadOnce

Array = np.ndarray[Any, Any]
ROOT = Path(__file__).parents[1]


@QUIET
@pytest.mark.parametrize("beta", [-0.5, 0.5, 1.0, 1.5, 2.0, 2.5])
def test_batches_are_scikit_learns(beta: float) -> None:
    from sklearn.decomposition import MiniBatchNMF

    X = counts(50, 12) + (0.5 if beta <= 0 else 0.0)
    more: dict[str, Any] = dict(
        init="random", beta_loss=beta, batch_size=20, max_iter=6, tol=0, max_no_improvement=None, random_state=0, alpha_W=0.01, l1_ratio=0.3
    )
    theirs, ours = MiniBatchNMF(3, **more), tenfold.MiniBatchNMF(3, **more)
    expected, found = theirs.fit_transform(X), ours.fit_transform(X)
    assert_allclose(ours.components_, theirs.components_, rtol=1e-7, atol=1e-9 * theirs.components_.max())
    assert (ours.n_steps_, ours.n_iter_) == (theirs.n_steps_, theirs.n_iter_) == (18, 6)
    if beta != 2:  # else the rows of W are at the optimum
        assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * expected.max())
    sparse = tenfold.MiniBatchNMF(3, **more).fit(csr_array(X))
    assert_allclose(sparse.components_, ours.components_, rtol=1e-7, atol=1e-9 * ours.components_.max())


@QUIET
@pytest.mark.parametrize("more", [{}, {"max_no_improvement": 2, "max_iter": 100}, {"tol": 1e-2, "max_no_improvement": None}])
def test_ends_where_scikit_learns_does(more: dict[str, Any]) -> None:
    from sklearn.decomposition import MiniBatchNMF

    X = counts(60, 15, seed=3)
    given: dict[str, Any] = dict(init="random", random_state=1, batch_size=16, beta_loss=1.0) | more
    theirs, ours = MiniBatchNMF(3, **given).fit(X), tenfold.MiniBatchNMF(3, **given).fit(X)
    assert ours.n_steps_ == theirs.n_steps_
    assert_allclose(ours.reconstruction_err_, theirs.reconstruction_err_, rtol=1e-7)


@pytest.mark.parametrize("more", [{}, {"beta_loss": 1.0}])
def test_streams_are_tables_whose_rows_are_found_anew(more: dict[str, Any]) -> None:
    X = counts(70, 12, seed=2)
    given: dict[str, Any] = dict(batch_size=16, tol=1e-3, random_state=0, max_no_improvement=4) | more
    table = tenfold.MiniBatchNMF(3, fresh_restarts=True, **given).fit(X)
    for size in (5, 33):
        blocks = [(X[k : k + size], None) for k in range(0, 70, size)]
        model = tenfold.MiniBatchNMF(3, **given).fit(blocks)
        assert_allclose(model.components_, table.components_, rtol=1e-6, atol=1e-7 * table.components_.max())
        assert_allclose(model.reconstruction_err_, table.reconstruction_err_, rtol=1e-6)
        assert model.n_steps_ == table.n_steps_
    with pytest.raises(ReadOnce, match="partial_fit"):
        tenfold.MiniBatchNMF(3).fit(block for block in [(X, None)])
    with pytest.raises(ValueError, match="Negative values"):
        tenfold.MiniBatchNMF(3).fit([(X, None), (-X, None)])


def test_rows_that_keep_coming(tmp_path: Path) -> None:
    """The objective of all rows falls; saved and loaded, it goes on alike."""
    X = counts(400, 15, 3, seed=5)
    model, errors = tenfold.MiniBatchNMF(3, beta_loss=1, random_state=0), []
    for start in range(0, 400, 50):
        model.partial_fit(X[start : start + 50])
        errors.append(float(np.linalg.norm(X - model.transform(X) @ model.components_)))
    assert errors[-1] < 0.9 * errors[0] and model.n_steps_ == 8
    assert not hasattr(model, "reconstruction_err_")
    tenfold.save(model, tmp_path / "m.tenfold")
    again = tenfold.load(tmp_path / "m.tenfold")
    assert_array_equal(again.partial_fit(X[:50]).components_, model.partial_fit(X[:50]).components_)
    with pytest.raises(ValueError, match="14 features"):
        model.partial_fit(X[:, 1:])
    W, H = started(X, 3)
    custom = tenfold.MiniBatchNMF(3, init="custom").partial_fit(X[:60], W=W[:60], H=H)
    assert custom.components_.shape == (3, 15)


def test_rows_of_zeros_do_not_end_it() -> None:
    X = counts(60, 10)
    X[20:40] = 0.0
    model = tenfold.MiniBatchNMF(2, batch_size=20, max_no_improvement=None, tol=0.02, random_state=0).fit(X)
    assert model.n_steps_ > 2 and np.isfinite(model.components_).all()
    with pytest.warns(NotConverged, match="Maximum number of iterations 1"):
        tenfold.MiniBatchNMF(2, max_iter=1).fit(X)


@QUIET
def test_factors_by_a_function() -> None:
    X = counts(20, 10)
    W, H = started(X, 3)
    more: dict[str, Any] = dict(init="random", random_state=0, max_iter=30)
    model = tenfold.NMF(3, **more)
    expected = model.fit_transform(X)
    found = tenfold.non_negative_factorization(X, n_components=3, **more)
    assert_array_equal(found[0], expected)
    assert_array_equal(found[1], model.components_)
    assert found[2] == model.n_iter_
    assert_array_equal(tenfold.non_negative_factorization(X, H=model.components_, update_H=False)[0], model.transform(X))
    with pytest.warns(RuntimeWarning, match="W is not used"):
        tenfold.non_negative_factorization(X, W, H, update_H=False)
    with pytest.warns(RuntimeWarning, match="are ignored"):
        tenfold.non_negative_factorization(X, W, H, 3)
    with pytest.raises(ValueError, match=r"input H.* is missing"):
        tenfold.non_negative_factorization(X, update_H=False)


def test_the_example_of_parts_and_topics(capsys: Any) -> None:
    found = runpy.run_path(str(ROOT / "examples" / "parts_and_topics.py"))["main"]()
    assert found["left"]["PCA"] < found["left"]["NMF"] < 0.25
    assert {frozenset(np.flatnonzero(found["shares"].argmax(axis=1) == i)) for i in range(3)} == {
        frozenset(range(start, start + 4)) for start in (0, 4, 8)
    }
    assert "topic 3" in capsys.readouterr().out
