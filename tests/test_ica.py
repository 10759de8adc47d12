"""Independent components: scikit-learn's steps, sources that are known, blocks, weights, and rows that have no such components."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose
from sklearn.decomposition import FastICA as Theirs

import tenfold
from tenfold import FastICA
from tenfold.core.errors import BadInput, BadParameter, DataWarning, Degenerate, NotConverged

rng = np.random.default_rng(0)
N = 4000
SOURCES = np.column_stack([rng.uniform(-1, 1, N), rng.laplace(size=N), rng.chisquare(3, N), np.sign(rng.normal(size=N))])
MIXING = rng.normal(size=(4, 4))
X = SOURCES @ MIXING.T + [5.0, -3.0, 0.0, 100.0]
START = rng.normal(size=(4, 4))


def cube(y: Any) -> tuple[Any, Any]:
    return y**3, (3 * y**2).mean(axis=-1)


def same_up_to_order_and_sign(found: Any, theirs: Any) -> Any:
    """The rows of `theirs` in the order and with the signs of `found`."""
    likeness = found @ theirs.T / np.linalg.norm(found, axis=1)[:, None] / np.linalg.norm(theirs, axis=1)
    place = np.abs(likeness).argmax(axis=1)
    assert sorted(place) == list(range(len(found)))
    return theirs[place] * np.sign(likeness[np.arange(len(found)), place])[:, None]


def amari(P: Any) -> float:
    """Amari's distance of a matrix from a permutation with scales: 0 where it is one, at most 1."""
    P, k = np.abs(P), len(P)
    rows, columns = P.sum(axis=1) / P.max(axis=1) - 1, P.sum(axis=0) / P.max(axis=0) - 1
    return float((rows.sum() + columns.sum()) / (2 * k * (k - 1)))


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube", cube])
@pytest.mark.parametrize("k", [4, 3])
def test_the_steps_are_those_of_scikit_learn(algorithm: str, fun: Any, k: int) -> None:
    given: dict[str, Any] = dict(algorithm=algorithm, fun=fun, w_init=START[:k, :k], tol=1e-6)
    ours, theirs = FastICA(k, **given).fit(X), Theirs(k, **given).fit(X)
    assert ours.n_iter_ == theirs.n_iter_
    assert_allclose(ours.components_, same_up_to_order_and_sign(ours.components_, theirs.components_), rtol=1e-7, atol=1e-9)
    assert_allclose(ours.mixing_.T, same_up_to_order_and_sign(ours.mixing_.T, theirs.mixing_.T), rtol=1e-7, atol=1e-7)
    assert_allclose(ours.whitening_, theirs.whitening_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("whiten", ["arbitrary-variance", "unit-variance", False])
def test_variances_and_the_way_back(whiten: Any) -> None:
    rows = X if whiten else (SOURCES - SOURCES.mean(axis=0)) / SOURCES.std(axis=0) @ np.linalg.qr(MIXING)[0]
    ours, theirs = (kind(whiten=whiten, random_state=3, fun_args={"alpha": 1.5}).fit(rows) for kind in (FastICA, Theirs))
    assert_allclose(ours.components_, same_up_to_order_and_sign(ours.components_, theirs.components_), rtol=1e-6, atol=1e-9)
    found = ours.transform(rows)
    if whiten:
        assert_allclose(found.var(axis=0) * (1 if whiten == "unit-variance" else N), 1.0, rtol=1e-9)
    assert_allclose(ours.inverse_transform(found), rows, rtol=1e-9, atol=1e-9)
    assert_allclose(ours.mixing_, np.linalg.pinv(ours.components_), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("algorithm", ["parallel", "deflation"])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_known_sources_are_found(algorithm: str, fun: str) -> None:
    model = FastICA(algorithm=algorithm, fun=fun, random_state=0, tol=1e-8).fit(X)
    found = model.transform(X)
    together = algorithm == "parallel"  # one by one, errors of the first are inherited by the last
    assert np.abs(np.corrcoef(found.T, SOURCES.T)[:4, 4:]).max(axis=0).min() > (0.99 if together else 0.98)
    assert amari(model.components_ @ MIXING) < (0.06 if together else 0.1)


def test_the_cocktail_party() -> None:
    """Two who talk now and then, a hum and a beep, heard by four microphones; principal components leave them mixed."""
    t, draw = np.linspace(0, 10, 5000), np.random.default_rng(1)
    voices = draw.normal(size=(len(t), 2)) * np.column_stack([np.sin(3 * t) ** 4, np.cos(1.3 * t) ** 6])
    talk = np.column_stack([voices, np.sin(50 * t), np.sign(np.sin(7 * t))])
    heard = talk @ draw.uniform(0.3, 1, (4, 4))
    found, mixed = FastICA(random_state=0).fit_transform(heard), tenfold.PCA().fit_transform(heard)
    assert np.abs(np.corrcoef(found.T, talk.T)[:4, 4:]).max(axis=0).min() > 0.99
    assert np.abs(np.corrcoef(mixed.T, talk.T)[:4, 4:]).max(axis=0).min() < 0.95


def test_order_and_signs_do_not_depend_on_the_start() -> None:
    models = [FastICA(random_state=seed, tol=1e-13, max_iter=500).fit(X) for seed in range(3)]
    shares = (models[0].mixing_ ** 2).sum(axis=0)
    assert (np.diff(shares) < 0).all() and shares.sum() == pytest.approx(X.var(axis=0).sum())
    largest = np.abs(models[0].mixing_).argmax(axis=0)
    assert (models[0].mixing_[largest, range(4)] > 0).all()
    for other in models[1:]:
        assert_allclose(other.components_, models[0].components_, rtol=1e-4, atol=1e-5)


def test_any_units_of_the_columns() -> None:
    """Sources are found behind columns whose sizes differ by thirty orders of magnitude."""
    units = np.array([1e-15, 1.0, 1e5, 1e15])
    found = FastICA(random_state=0, tol=1e-10).fit_transform((X - X.mean(axis=0)) * units)
    assert np.abs(np.corrcoef(found.T, SOURCES.T)[:4, 4:]).max(axis=0).min() > 0.99


def test_rows_anywhere(tmp_path: Any) -> None:
    given: dict[str, Any] = dict(w_init=START, tol=1e-9)
    whole = FastICA(**given).fit(X)
    blocks = FastICA(**given).fit([X[i : i + 700] for i in range(0, N, 700)])
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    read = FastICA(**given).fit(tmp_path / "x.csv")
    sparse = FastICA(**given).fit(scipy.sparse.csr_array(X))
    single = FastICA(**given).fit(X.astype(np.float32))
    for other in (blocks, read, sparse):
        assert_allclose(other.components_, whole.components_, rtol=1e-8, atol=1e-10)
    assert single.components_.dtype == single.transform(X[:2].astype(np.float32)).dtype == np.float32
    assert_allclose(single.components_, whole.components_, rtol=1e-3, atol=1e-4)


def test_kept_rows_and_rows_where_they_lie_give_the_same(monkeypatch: Any) -> None:
    wide = np.hstack([X, X @ rng.normal(size=(4, 6))]) + 0.01 * rng.normal(size=(N, 10))
    for algorithm in ("parallel", "deflation"):
        given: dict[str, Any] = dict(n_components=3, algorithm=algorithm, w_init=START[:3, :3], tol=1e-9)
        kept = FastICA(**given).fit(wide)
        with monkeypatch.context() as change:
            change.setattr("tenfold.reduce.ica.KEPT_BYTES", 0)
            lying = FastICA(**given).fit(wide)
        assert_allclose(lying.components_, kept.components_, rtol=1e-7, atol=1e-9)


def test_weights_are_copies_and_threads_change_no_bit() -> None:
    w = np.random.default_rng(5).integers(0, 3, 3000)
    for fun in ("logcosh", lambda y: (y**3, 3 * y**2)):
        weighted = FastICA(w_init=START, tol=1e-10, fun=fun).fit(X[:3000], sample_weight=w)
        copies = FastICA(w_init=START, tol=1e-10, fun=fun).fit(np.repeat(X[:3000], w, axis=0))
        assert_allclose(weighted.components_, copies.components_, rtol=1e-8, atol=1e-10)
    many = np.tile(X, (5, 5))[:, :17] + np.random.default_rng(6).laplace(size=(5 * N, 17))
    with tenfold.threads(1):
        one = FastICA(random_state=0, tol=1e-2).fit(many)
    with tenfold.threads(2):
        two = FastICA(random_state=0, tol=1e-2).fit(many)
    assert np.array_equal(one.components_, two.components_) and one.n_iter_ == two.n_iter_


def test_means_of_slopes_have_no_weights() -> None:
    with pytest.raises(BadInput, match="of that shape"):
        FastICA(fun=lambda y: (y**3, 3 * y[:, :2] ** 2)).fit(X)
    with pytest.raises(BadInput, match="weights"):
        FastICA(fun=cube).fit(X, sample_weight=np.arange(1.0, N + 1))
    with pytest.raises(BadInput, match="a pair"):
        FastICA(fun=lambda y: y).fit(X)
    with pytest.raises(BadInput, match="fails"):
        FastICA(fun=lambda y: y.nothing).fit(X)


# --- rows that have no such components -----------------------------------------------------------------------------


def test_gaussian_sources_are_told() -> None:
    with pytest.warns(NotConverged, match="Gaussian never settle: ask for fewer components"):
        FastICA(random_state=0, max_iter=20).fit(np.random.default_rng(0).normal(size=(500, 6)))


def test_no_more_components_than_the_rank() -> None:
    dependent = np.column_stack([X, X[:, 0] + X[:, 1], np.full(N, 0.1)])
    for n_components in (None, 6, 5):
        with pytest.warns(Degenerate, match="set to 4, which is the rank"):
            model = FastICA(n_components, random_state=0).fit(dependent)
        assert model.components_.shape == (4, 6) and np.isfinite(model.components_).all()
        assert np.abs(np.corrcoef(model.transform(dependent).T, SOURCES.T)[:4, 4:]).max(axis=0).min() > 0.99
        assert_allclose(model.inverse_transform(model.transform(dependent)), dependent, rtol=1e-8, atol=1e-8)
    with pytest.raises(BadInput, match="nothing to separate"):
        FastICA().fit(np.full((5, 3), 0.1))


def test_fewer_rows_than_columns() -> None:
    few = np.random.default_rng(2).laplace(size=(6, 20))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        model = FastICA(random_state=0, max_iter=50).fit(few)
    assert model.components_.shape == (5, 20)
    assert_allclose(model.inverse_transform(model.transform(few)), few, rtol=1e-8, atol=1e-8)
    assert_allclose(model.transform(few).std(axis=0), 1.0, rtol=1e-8)


def test_what_is_refused() -> None:
    with pytest.raises(BadParameter, match=r"alpha must be in \[1,2\]"):
        FastICA(fun_args={"alpha": 3}).fit(X)
    with pytest.raises(BadParameter, match=r"should be \(4, 4\), not \(3, 3\)"):
        FastICA(w_init=np.eye(3)).fit(X)
    with pytest.raises(BadParameter, match="finite"):
        FastICA(w_init=np.full((4, 4), np.nan)).fit(X)
    with pytest.raises(BadInput, match="not finite"):
        FastICA(whiten=False, fun="cube", random_state=0).fit(X * 1e90)
    with pytest.warns(DataWarning, match="Ignoring n_components"), warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        FastICA(2, whiten=False, random_state=0, max_iter=2).fit(X)
    with pytest.raises(ValueError, match="4"):
        FastICA(random_state=0).fit(X).inverse_transform(np.ones((2, 3)))
