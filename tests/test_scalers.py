"""Scalers by extremes, logarithms, unit rows, thresholds: against scikit-learn, closed forms, and at their edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.preprocessing as theirs
from scipy import sparse

import tenfold
from tenfold.core.errors import BadInput, BadParameter

rng = np.random.default_rng(0)
PLAIN = rng.normal(size=(300, 5)) * [1, 10, 0.1, 1e4, 1] + [0, 5, -3, 1e5, 0]
PLAIN[:, 4] = 7.0  # constant
HOLES = np.where(rng.random(PLAIN.shape) < 0.2, np.nan, PLAIN)
EMPTY = np.column_stack([HOLES, np.full(300, np.nan)])
TABLES = {"plain": PLAIN, "holes": HOLES, "single": PLAIN.astype(np.float32)}
SPARSE = sparse.random(200, 6, density=0.3, format="csr", random_state=0, data_rvs=lambda n: np.random.default_rng(1).normal(size=n))


def close(a: Any, b: Any, single: bool = False) -> None:
    a, b = (one.toarray() if sparse.issparse(one) else np.asarray(one) for one in (a, b))
    size = max(1.0, float(np.nanmax(np.abs(b)))) if b.size else 1.0
    np.testing.assert_allclose(a, b, rtol=0, atol=(1e-5 if single else 1e-10) * size)


CASES = [
    ("MinMaxScaler", {}, ("min_", "scale_", "data_min_", "data_max_", "data_range_")),
    ("MinMaxScaler", {"feature_range": (-3, 7), "clip": True}, ("min_", "scale_")),
    ("MaxAbsScaler", {}, ("scale_", "max_abs_")),
    ("MaxAbsScaler", {"clip": True}, ("scale_",)),
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name, setting, attributes", CASES)
def test_scaling_is_theirs(name: str, setting: dict[str, Any], attributes: tuple[str, ...], table: str) -> None:
    X = TABLES[table]
    new = X[::-1] * X.dtype.type(1.5)
    ours, other = getattr(tenfold, name)(**setting).fit(X), getattr(theirs, name)(**setting).fit(X)
    single = X.dtype == np.float32
    for attribute in attributes:
        close(getattr(ours, attribute), getattr(other, attribute), single)
    assert ours.n_samples_seen_ == other.n_samples_seen_
    for rows in (X, new):
        assert ours.transform(rows).dtype == X.dtype
        close(ours.transform(rows), other.transform(rows), single)
    close(ours.inverse_transform(ours.transform(X)), X, single)


@pytest.mark.parametrize("name", ["MaxAbsScaler", "Normalizer", "Binarizer", "DecimalScaler"])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.csr_array])
def test_sparse_rows_stay_sparse(name: str, kind: Any) -> None:
    X = kind(SPARSE)
    model = getattr(tenfold, name)().fit(X)
    Z = model.transform(X)
    assert sparse.issparse(Z)
    close(Z, getattr(tenfold, name)().fit_transform(X.toarray()))
    if hasattr(theirs, name):
        close(Z, getattr(theirs, name)().fit_transform(X))
    if model.invertible:
        close(model.inverse_transform(Z), X)


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_rows_of_unit_length(norm: str) -> None:
    X = np.vstack([PLAIN, np.zeros((1, 5))])
    for rows in (X, X.astype(np.float32), SPARSE):
        Z = tenfold.Normalizer(norm=norm).fit_transform(rows)
        assert Z.dtype == rows.dtype
        close(Z, theirs.Normalizer(norm=norm).fit_transform(rows), rows.dtype == np.float32)
    close(tenfold.Normalizer(norm=norm).transform(X), tenfold.Normalizer(norm=norm).fit_transform(X))  # no fit is needed


def test_no_digits_are_lost_far_from_zero() -> None:
    """x·scale + min has nine digits of 1e9 less; x − low first has them all."""
    x = 1e9 + np.linspace(0, 1, 1001)[:, None]
    low, high = x.min(), x.max()
    z = tenfold.MinMaxScaler().fit_transform(x)
    np.testing.assert_allclose(z, (x - low) / (high - low), rtol=1e-15, atol=0)
    assert z.min() == 0 and z.max() == 1
    tiny = tenfold.MinMaxScaler().fit_transform([[0.0], [1e-200], [2e-200]])
    np.testing.assert_allclose(tiny[:, 0], [0, 0.5, 1], rtol=1e-15, atol=0)


def test_columns_without_values_or_spread() -> None:
    for scaler in (tenfold.MinMaxScaler(), tenfold.MaxAbsScaler(), tenfold.DecimalScaler(), tenfold.LogTransformer(signed=True)):
        Z = scaler.fit_transform(EMPTY)
        assert (np.isnan(Z) == np.isnan(EMPTY)).all()
    assert (tenfold.MinMaxScaler((2, 3)).fit_transform(np.full((4, 1), 5.0)) == 2).all()
    assert (tenfold.MaxAbsScaler().fit_transform(np.zeros((4, 1))) == 0).all()


def test_pieces_merged_are_the_whole() -> None:
    for scaler in (tenfold.MinMaxScaler, tenfold.MaxAbsScaler, tenfold.DecimalScaler):
        whole, parts = scaler().fit(HOLES), scaler()
        for start in range(0, len(HOLES), 70):
            parts.partial_fit(HOLES[start : start + 70])
        merged = scaler().fit(HOLES[:100]).merge(scaler().fit(HOLES[100:]))
        for found in (parts, merged):
            assert np.array_equal(found.transform(HOLES), whole.transform(HOLES), equal_nan=True)
            assert found.n_samples_seen_ == 300


def test_decimal_point() -> None:
    X = np.array([[999.0, 1000.0, 0.001, 0.00099, 0.0, -12.5, 1e15]])
    scaler = tenfold.DecimalScaler().fit(X)
    assert scaler.exponent_.tolist() == [3, 4, -2, -3, 0, 2, 16]
    Z = scaler.transform(X)
    assert (np.abs(Z) < 1).all() and (np.abs(Z[0, [0, 1, 2, 3, 5]]) >= 0.1).all()
    assert Z[0, 0] == 0.999 and Z[0, 5] == -0.125  # digits as they were written
    close(scaler.inverse_transform(Z), X)
    powers = np.array([float(f"1e{k}") for k in range(-30, 31)])[None]
    exponents = tenfold.DecimalScaler().fit(powers).exponent_
    assert exponents.tolist() == list(range(-29, 32))
    assert tenfold.DecimalScaler().fit(np.nextafter(powers, 0)).exponent_.tolist() == list(range(-30, 31))


@pytest.mark.parametrize("base", [2, 10, np.e, 0.5])
def test_logarithms(base: float) -> None:
    X = np.array([[1.0, -3.0, 0.0], [4.0, 5.0, 2.0], [100.0, 0.0, np.nan]])
    model = tenfold.LogTransformer(base).fit(X)
    assert model.shift_.tolist() == [0, 4, 1]
    Z = model.transform(X)
    close(Z, np.log(X + model.shift_) / np.log(base))
    assert Z[0, 1] == Z[0, 2] == 0
    close(model.inverse_transform(Z), X)
    signed = tenfold.LogTransformer(base, signed=True).fit(X)
    close(signed.transform(-X), -signed.transform(X))
    close(signed.inverse_transform(signed.transform(X)), X)
    small = tenfold.LogTransformer(shift=1.0).fit_transform([[1e-18], [1.0]])
    assert small[0, 0] == 1e-18
    assert np.isfinite(tenfold.LogTransformer().fit_transform([[-1e99], [1e99]])).all()


def test_refusals_name_the_place_and_the_remedy() -> None:
    with pytest.raises(BadInput, match=r"LogTransformer: -3 in column 0 of X has no logarithm.*shift"):
        tenfold.LogTransformer(shift=2.0).fit([[-3.0]])
    with pytest.raises(BadInput, match=r"-9 in column 1 of X has no logarithm.*signed=True"):
        tenfold.LogTransformer().fit([[1.0, 2.0]]).transform([[1.0, -9.0]])
    with pytest.raises(BadParameter, match="base=1"):
        tenfold.LogTransformer(1.0).fit([[1.0]])
    with pytest.raises(BadParameter, match="Minimum of desired feature range"):
        tenfold.MinMaxScaler((1, 1)).fit([[1.0]])
    with pytest.raises(BadParameter, match="two numbers"):
        tenfold.MinMaxScaler((1, 2, 3)).fit([[1.0]])
    with pytest.raises(BadInput, match="threshold < 0"):
        tenfold.Binarizer(threshold=-1).fit_transform(SPARSE)
    assert not hasattr(tenfold.MinMaxScaler().fit(PLAIN), "forget")


def test_copies_and_whole_numbers() -> None:
    X = PLAIN.copy()
    assert tenfold.MinMaxScaler(copy=False).fit_transform(X) is X
    assert not np.array_equal(X, PLAIN)
    counts = np.array([[0, 2], [3, 0]])
    assert tenfold.Binarizer().fit_transform(counts).dtype == counts.dtype
    assert tenfold.Binarizer(threshold=1).transform([[0.0, 2.0]]).tolist() == [[0.0, 1.0]]


def test_a_large_table_is_what_its_parts_are() -> None:
    """Blocks are written to their places in one array."""
    X = rng.normal(size=(60_000, 7))
    scaler = tenfold.MinMaxScaler().fit(X)
    whole = scaler.transform(X)
    assert np.array_equal(whole[50_001:50_003], scaler.transform(X[50_001:50_003]))
    assert np.array_equal(whole, np.concatenate([scaler.transform(X[:777]), scaler.transform(X[777:])]))
