"""Standardising and imputing: against scikit-learn, closed forms, and at their edges."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas
import pytest
from scipy import sparse
from sklearn import datasets
from sklearn.impute import SimpleImputer as TheirImputer
from sklearn.preprocessing import StandardScaler as TheirScaler

import tenfold
from tenfold.core.errors import BadInput, BadType, CannotForget, DataWarning, Degenerate
from tenfold.solve.columns import Distinct, median

rng = np.random.default_rng(0)
HOLES = np.where(rng.random((200, 5)) < 0.2, np.nan, rng.normal(size=(200, 5)) + 1e4)
TABLES = {"iris": datasets.load_iris().data, "digits": datasets.load_digits().data, "holes": HOLES}
GAPS = np.where(rng.random((90, 4)) < 0.3, np.nan, rng.integers(0, 9, (90, 4)).astype(float))
GAPS[:, 3] = np.abs(rng.normal(size=90))  # nothing missing in this one
STRATEGIES = ("mean", "median", "most_frequent", "constant")


@pytest.fixture(params=TABLES)
def X(request: Any) -> Any:
    return TABLES[request.param]


# --- StandardScaler -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "setting",
    [{}, {"with_mean": False}, {"with_std": False}, {"with_mean": False, "with_std": False}],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_scaling_is_theirs(X: Any, setting: dict[str, Any], weighted: bool) -> None:
    w = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else None
    ours, theirs = (
        tenfold.StandardScaler(**setting).fit(X, sample_weight=w),
        TheirScaler(**setting).fit(X, sample_weight=w),
    )
    for name in ("mean_", "var_", "scale_", "n_samples_seen_"):
        expected = getattr(theirs, name)
        if expected is None:
            assert getattr(ours, name) is None
        elif name != "n_samples_seen_" or setting.keys() != {
            "with_mean",
            "with_std",
        }:  # theirs forgets the weights then
            np.testing.assert_allclose(getattr(ours, name), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X, rtol=1e-12, atol=1e-12)


def test_scaled_columns_have_mean_zero_and_variance_one(X: Any) -> None:
    Z = tenfold.StandardScaler().fit_transform(X)
    varies = np.nanstd(X, axis=0) > 0
    np.testing.assert_allclose(np.nanmean(Z, axis=0), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.nanvar(Z, axis=0), varies.astype(float), rtol=0, atol=1e-12)
    assert (np.isnan(Z) == np.isnan(X)).all()


def test_scaling_in_pieces_merged_and_forgotten(X: Any) -> None:
    whole, parts = tenfold.StandardScaler().fit(X), tenfold.StandardScaler()
    for start in range(0, len(X), 40):
        parts.partial_fit(X[start : start + 40])
    merged = tenfold.StandardScaler().fit(X[:70]).merge(tenfold.StandardScaler().fit(X[70:]))
    left = tenfold.StandardScaler().fit(X).forget(X[:9])
    for found, expected in ((parts, whole), (merged, whole), (left, tenfold.StandardScaler().fit(X[9:]))):
        np.testing.assert_allclose(found.mean_, expected.mean_, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(found.var_, expected.var_, rtol=1e-10, atol=1e-14)
        assert np.array_equal(found.n_samples_seen_, expected.n_samples_seen_)


def test_scaling_weights_are_copies() -> None:
    w = np.random.default_rng(2).integers(0, 4, len(HOLES))
    one = tenfold.StandardScaler().fit(HOLES, sample_weight=w)
    two = tenfold.StandardScaler().fit(np.repeat(HOLES, w, axis=0))
    np.testing.assert_allclose(one.mean_, two.mean_, rtol=1e-14)
    np.testing.assert_allclose(one.var_, two.var_, rtol=1e-11)
    assert np.array_equal(one.n_samples_seen_, two.n_samples_seen_)


def test_constant_columns_keep_their_scale() -> None:
    for n in (3, 1000, 200_000):  # 0.1 is no binary fraction: sums of many of them carry rounding errors
        X = np.column_stack([np.full(n, 0.1), np.full(n, -1e9), np.zeros(n), np.arange(n) % 2 + 1e8])
        model = tenfold.StandardScaler().fit(X)
        assert model.scale_[:3].tolist() == [1.0, 1.0, 1.0]
        assert model.scale_[3] == pytest.approx(np.std(np.arange(n) % 2), rel=1e-9)
        assert np.abs(model.transform(X)[:, :3]).max() < 1e-6


def test_sparse_rows_stay_sparse() -> None:
    X = sparse.random(300, 6, density=0.3, format="csr", random_state=0)
    ours, theirs = tenfold.StandardScaler(with_mean=False).fit(X), TheirScaler(with_mean=False).fit(X)
    np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-12)
    Z = ours.transform(X)
    assert sparse.issparse(Z)
    np.testing.assert_allclose(Z.toarray(), theirs.transform(X).toarray(), rtol=1e-12)
    np.testing.assert_allclose(ours.inverse_transform(Z).toarray(), X.toarray(), rtol=1e-12)
    with pytest.raises(BadType, match=r"(?i)sparse"):
        tenfold.StandardScaler().fit(X)


def test_scaling_single_precision_and_missing_columns() -> None:
    X = TABLES["iris"].astype(np.float32)
    model = tenfold.StandardScaler().fit(X)
    assert model.transform(X).dtype == np.float32 and model.mean_.dtype == np.float64
    np.testing.assert_allclose(model.mean_, X.astype(np.float64).mean(axis=0), rtol=1e-14)
    empty = tenfold.StandardScaler().fit(np.column_stack([np.full(4, np.nan), np.arange(4.0)]))
    assert np.isnan(empty.mean_[0]) and empty.n_samples_seen_.tolist() == [0, 4]


def test_scaling_tells_of_values_that_cannot_be_squared() -> None:
    X = TABLES["iris"] * np.array([1, 1e-200, 1, 1])
    with pytest.warns(Degenerate, match="column 1 of X are too small"):
        tenfold.StandardScaler().fit(X)
    with pytest.raises(BadInput, match="column 1"):
        tenfold.StandardScaler().fit(TABLES["iris"] * np.array([1, 1e200, 1, 1]))
    with pytest.raises(BadInput, match="3 features"):
        tenfold.StandardScaler().fit(TABLES["iris"]).inverse_transform(np.ones((2, 3)))


# --- SimpleImputer --------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "setting", [{}, {"add_indicator": True}, {"keep_empty_features": True, "add_indicator": True}], ids=str
)
@pytest.mark.parametrize("empty", [False, True])
def test_imputing_is_theirs(strategy: str, setting: dict[str, Any], empty: bool) -> None:
    X = np.column_stack([GAPS, np.full(90, np.nan)]) if empty else GAPS
    ours = tenfold.SimpleImputer(strategy=strategy, fill_value=7.0, **setting)
    theirs = TheirImputer(strategy=strategy, fill_value=7.0, **setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Z, expected = ours.fit(X).transform(X), theirs.fit(X).transform(X)
    np.testing.assert_allclose(ours.statistics_, theirs.statistics_.astype(float), rtol=1e-14)
    np.testing.assert_allclose(Z, expected, rtol=1e-14)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    if ours.add_indicator:
        np.testing.assert_array_equal(ours.inverse_transform(Z), X)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_imputing_weights_are_copies(strategy: str) -> None:
    w = np.random.default_rng(3).integers(0, 4, 90)
    one = tenfold.SimpleImputer(strategy=strategy).fit(GAPS, sample_weight=w)
    two = tenfold.SimpleImputer(strategy=strategy).fit(np.repeat(GAPS, w, axis=0))
    np.testing.assert_allclose(one.statistics_, two.statistics_, rtol=1e-14)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_imputing_in_pieces_merged_and_forgotten(strategy: str) -> None:
    def made() -> Any:
        return tenfold.SimpleImputer(strategy=strategy, add_indicator=True)

    whole, parts = made().fit(GAPS), made()
    for start in range(0, 90, 13):
        parts.partial_fit(GAPS[start : start + 13])
    merged = made().fit(GAPS[:50]).merge(made().fit(GAPS[50:]))
    left = made().fit(GAPS).forget(GAPS[:20])
    for found, expected in ((parts, whole), (merged, whole), (left, made().fit(GAPS[20:]))):
        np.testing.assert_allclose(found.statistics_, expected.statistics_, rtol=1e-13)
        assert np.array_equal(found.missing_features_, expected.missing_features_)
    with pytest.raises(CannotForget):
        left.forget(GAPS)


def test_median_of_distinct_values_is_that_of_all() -> None:
    draw = np.random.default_rng(4)
    for n in (1, 2, 3, 4, 7, 50):
        values = draw.integers(0, 6, n).astype(float)
        w = draw.integers(1, 5, n)
        seen = Distinct.of(values[:, None], w.astype(float))
        assert seen.medians()[0] == np.median(np.repeat(values, w))
    assert np.isnan(median(np.empty(0), np.empty(0)))


def test_columns_without_values_are_told() -> None:
    X = pandas.DataFrame({"a": [1.0, np.nan, 3.0], "b": [np.nan] * 3})
    model = tenfold.SimpleImputer().fit(X)
    with pytest.warns(DataWarning, match="without any observed values: .'b'."):
        assert model.transform(X).tolist() == [[1.0], [2.0], [3.0]]
    assert list(model.get_feature_names_out()) == ["a"]


def test_another_mark_for_missing_values() -> None:
    X = np.array([[1.0, -1.0], [3.0, 2.0], [-1.0, 4.0]])
    model = tenfold.SimpleImputer(missing_values=-1).fit(X)
    assert model.transform(X).tolist() == [[1.0, 3.0], [3.0, 2.0], [2.0, 4.0]]
    with pytest.raises(BadInput, match="NaN"):
        model.transform([[np.nan, 1.0]])
    with pytest.raises(BadInput, match="missing_values"):
        tenfold.SimpleImputer(missing_values="?").fit(X)
    with pytest.raises(AttributeError, match="inverse_transform"):
        model.inverse_transform(X)


def test_imputing_keeps_single_precision() -> None:
    X = GAPS.astype(np.float32)
    Z = tenfold.SimpleImputer(strategy="median").fit_transform(X)
    assert Z.dtype == np.float32 and np.isfinite(Z).all()
    assert (Z[~np.isnan(X)] == X[~np.isnan(X)]).all()
