"""Median and quantiles, ranks, quantile transforms: against scikit-learn, SciPy and exact order statistics."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import sklearn.preprocessing as theirs
from scipy import sparse
from scipy.stats import rankdata

import tenfold
from tenfold.core.errors import BadInput, BadParameter, DataWarning
from tenfold.prepare.ordered import SIZE

rng = np.random.default_rng(0)
PLAIN = np.column_stack([rng.normal(size=500), rng.exponential(size=500) * 1e6, rng.integers(0, 5, 500), np.full(500, 3.0)])
HOLES = np.where(rng.random(PLAIN.shape) < 0.2, np.nan, PLAIN)
LONG = np.column_stack([rng.normal(size=3 * SIZE), rng.integers(0, 9, 3 * SIZE)])
LONG_HOLES = np.where(rng.random(LONG.shape) < 0.1, np.nan, LONG)
TABLES = {"plain": PLAIN, "holes": HOLES, "single": PLAIN.astype(np.float32), "long": LONG, "long holes": LONG_HOLES}
WEIGHTS = rng.integers(0, 4, 500)


def close(found: Any, expected: Any, single: bool = False) -> None:
    a, b = (one.toarray() if sparse.issparse(one) else np.asarray(one) for one in (found, expected))
    np.testing.assert_allclose(a, b, rtol=0, atol=(1e-4 if single else 1e-10) * max(1.0, float(np.nanmax(np.abs(b)))))


@pytest.fixture(params=TABLES)
def X(request: Any) -> Any:
    return TABLES[request.param]


# --- RobustScaler ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "setting", [{}, {"quantile_range": (5, 70)}, {"unit_variance": True}, {"with_centering": False}, {"with_scaling": False}], ids=str
)
def test_robust_scaling_is_theirs(X: Any, setting: dict[str, Any]) -> None:
    ours, other = tenfold.RobustScaler(**setting).fit(X), theirs.RobustScaler(**setting).fit(X)
    single = X.dtype == np.float32
    for name in ("center_", "scale_"):
        assert (getattr(ours, name) is None) == (getattr(other, name) is None)
        if getattr(other, name) is not None:
            close(getattr(ours, name), getattr(other, name), single)
    Z = ours.transform(X)
    assert Z.dtype == X.dtype and ours.rank_error_ == 0
    close(Z, other.transform(X), single)
    close(ours.inverse_transform(Z), X, single)


def test_robust_scaling_of_sparse_rows_is_theirs() -> None:
    X = sparse.random(400, 5, density=0.6, format="csr", random_state=1)
    for table in (X, sparse.vstack([X] * 12, format="csr")):  # the second beyond what a sketch holds
        ours, other = (one.RobustScaler(with_centering=False).fit(table) for one in (tenfold, theirs))
        close(ours.scale_, other.scale_)
        close(ours.transform(table), other.transform(table))
        close(ours.inverse_transform(ours.transform(table)), table)


@pytest.mark.parametrize("rows", [500, 3 * SIZE])
def test_weights_are_copies(rows: int) -> None:
    X, w = np.resize(HOLES, (rows, 4)), np.resize(WEIGHTS, rows)
    copies = np.repeat(X, w, axis=0)
    close(tenfold.RobustScaler().fit(X, sample_weight=w).center_, np.nanmedian(copies, axis=0))
    one = tenfold.QuantileTransformer(n_quantiles=50, subsample=None).fit(X, sample_weight=w)
    close(one.quantiles_, np.nanpercentile(copies, 100 * one.references_, axis=0))
    ranks = tenfold.RankTransformer().fit(X, sample_weight=w).transform(X[:50])
    close(ranks, tenfold.RankTransformer().fit(copies).transform(X[:50]))


def test_streams_are_within_the_error_they_tell() -> None:
    blocks = [rng.normal(size=(5000, 3)) + i for i in range(12)]
    for block in blocks:
        block[::7, 1] = np.nan
    whole = np.concatenate(blocks)
    stream = tenfold.RobustScaler().fit(iter(blocks))
    assert 0 < stream.rank_error_ < 0.005
    reached = (whole <= stream.center_).sum(axis=0) / (~np.isnan(whole)).sum(axis=0)
    assert (np.abs(reached - 0.5) <= 2 * stream.rank_error_).all()
    ranks = tenfold.RankTransformer().fit(iter(blocks))
    exact = tenfold.RankTransformer().fit(whole)
    assert exact.rank_error_ == 0
    assert np.nanmax(np.abs(ranks.transform(whole) - exact.transform(whole))) < 2 * ranks.rank_error_
    assert np.nanmin(whole[:, 0]) == ranks.values_[0][0] and np.nanmax(whole[:, 0]) == ranks.values_[0][-1]


# --- RankTransformer ------------------------------------------------------------------------------


def test_ranks_are_those_of_scipy(X: Any) -> None:
    model = tenfold.RankTransformer().fit(X)
    u = model.transform(X)
    n = (~np.isnan(X)).sum(axis=0)
    close(u, rankdata(X, axis=0, nan_policy="omit") / (n + 1), X.dtype == np.float32)
    assert np.nanmin(u) > 0 and np.nanmax(u) < 1
    close(model.inverse_transform(u), X, X.dtype == np.float32)


def test_ranks_do_not_see_monotone_maps() -> None:
    x = rng.normal(size=(200, 1))
    close(tenfold.RankTransformer().fit_transform(x), tenfold.RankTransformer().fit_transform(np.exp(x)))
    between = tenfold.RankTransformer().fit([[1.0], [3.0]]).transform([[2.0], [-9.0], [9.0]])
    np.testing.assert_allclose(between[:, 0], [1 / 2, 1 / 3, 2 / 3], rtol=1e-15, atol=0)


# --- QuantileTransformer --------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["uniform", "normal"])
@pytest.mark.parametrize("n_quantiles", [7, 100])
def test_quantiles_are_theirs(X: Any, output: str, n_quantiles: int) -> None:
    setting = dict(n_quantiles=n_quantiles, output_distribution=output, subsample=None)
    ours, other = tenfold.QuantileTransformer(**setting).fit(X), theirs.QuantileTransformer(**setting).fit(X)
    single = X.dtype == np.float32
    close(ours.quantiles_, other.quantiles_, single)
    close(ours.references_, other.references_)
    new = np.concatenate([X, X * 1.5 - 1]).astype(X.dtype)
    Z = ours.transform(new)
    assert Z.dtype == X.dtype
    if not single:
        close(Z, other.transform(new))
        close(ours.inverse_transform(Z), other.inverse_transform(other.transform(new)))


@pytest.mark.parametrize("ignored", [False, True])
def test_quantiles_of_sparse_rows_are_theirs(ignored: bool) -> None:
    X = sparse.random(300, 5, density=0.5, format="csr", random_state=3)
    X.data[::5] = 0.0  # stored zeros are values
    setting = dict(n_quantiles=30, ignore_implicit_zeros=ignored)
    ours, other = (one.QuantileTransformer(**setting).fit(X) for one in (tenfold, theirs))
    close(ours.quantiles_, other.quantiles_)
    close(ours.transform(X), other.transform(X))
    close(ours.inverse_transform(ours.transform(X)), other.inverse_transform(other.transform(X)))


def test_quantiles_are_those_of_the_rows_that_scikit_learn_draws() -> None:
    X = rng.lognormal(size=(12_000, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    legacy = dict(random_state=np.random.RandomState(3), n_quantiles=50)
    for setting in (dict(random_state=1), dict(random_state=2, subsample=5000), legacy):
        other = theirs.QuantileTransformer(**copy.deepcopy(setting)).fit(X)
        ours = tenfold.QuantileTransformer(**setting).fit(X)
        close(ours.quantiles_, other.quantiles_)
        whole = tenfold.QuantileTransformer(subsample=None).fit(X)
        off = np.nanmax(np.abs(ours.transform(X) - whole.transform(X)))
        assert 0 < off < ours.rank_error_
    small = tenfold.QuantileTransformer(subsample=12_000).fit(X)
    assert small.rank_error_ == 0


def test_quantiles_are_those_of_all_rows_whatever_repeats() -> None:
    X = np.where(rng.random((30_000, 2)) < 0.4, 0.0, rng.lognormal(size=(30_000, 2)))  # a sample of distinct rows would lose the zeros
    whole = tenfold.QuantileTransformer(subsample=None).fit(X)
    close(whole.quantiles_, theirs.QuantileTransformer(subsample=None).fit(X).quantiles_)
    assert whole.rank_error_ == 0
    stream = tenfold.QuantileTransformer().fit(X[i : i + 999] for i in range(0, 30_000, 999))
    assert 0 < stream.rank_error_ < 0.03
    assert np.abs(stream.transform(X) - whole.transform(X)).max() < stream.rank_error_ * 1.5
    assert tenfold.QuantileTransformer().fit(PLAIN[:, :1].repeat(3, axis=0)).rank_error_ == 0


def test_refusals() -> None:
    with pytest.raises(BadParameter, match="Invalid quantile range"):
        tenfold.RobustScaler(quantile_range=(80, 20)).fit(PLAIN)
    with pytest.raises(BadParameter, match="unit_variance"):
        tenfold.RobustScaler(quantile_range=(0, 100), unit_variance=True).fit(PLAIN)
    with pytest.raises(BadParameter, match="number of quantiles cannot be greater"):
        tenfold.QuantileTransformer(n_quantiles=20, subsample=10).fit(PLAIN)
    with pytest.raises(BadInput, match="non-negative sparse"):
        tenfold.QuantileTransformer(n_quantiles=5).fit(sparse.csr_matrix(-np.eye(9)))
    with pytest.warns(DataWarning, match="n_quantiles is set to n_samples"):
        assert tenfold.QuantileTransformer().fit(PLAIN).n_quantiles_ == 500
    assert not hasattr(tenfold.RobustScaler(), "forget")


def test_columns_without_values_stay_missing() -> None:
    X = np.column_stack([PLAIN[:, 0], np.full(500, np.nan)])
    for model in (tenfold.RobustScaler(), tenfold.RankTransformer(), tenfold.QuantileTransformer(n_quantiles=9)):
        Z = model.fit_transform(X)
        assert np.isnan(Z[:, 1]).all() and not np.isnan(Z[:, 0]).any()
    assert tenfold.RankTransformer().fit_transform([[4.0]]).tolist() == [[0.5]]
    one = tenfold.QuantileTransformer(n_quantiles=1).fit([[4.0]])
    assert np.isnan(one.transform([[np.nan]])).all()
