"""Transformers of columns on tables of every kind: mixed lists, objects, sparse and single precision, against scikit-learn's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn import impute, preprocessing

import tenfold

MIXED = [["Male", 1], ["Female", 3], ["Female", 2]]
BLANKS = [None, np.nan, "?", "", -1]


# --- encoders ---


def test_numbers_in_a_mixed_list_stay_numbers() -> None:
    for name in ("OneHotEncoder", "OrdinalEncoder"):
        ours, theirs = getattr(tenfold, name)().fit(MIXED), getattr(preprocessing, name)().fit(MIXED)
        assert [one.tolist() for one in ours.categories_] == [one.tolist() for one in theirs.categories_]
        assert [one.dtype for one in ours.categories_] == [one.dtype for one in theirs.categories_]
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        back = ours.inverse_transform(ours.transform(MIXED))
        assert back.tolist() == MIXED and isinstance(back[0, 1], int)


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.float32, np.uint8, str, bytes, object])
def test_categories_have_the_type_that_was_given(kind: Any) -> None:
    X = np.array([[3, 1], [1, 1], [2, 4]]).astype(kind)
    ours, theirs = tenfold.OneHotEncoder().fit(X), preprocessing.OneHotEncoder().fit(X)
    for one, other in zip(ours.categories_, theirs.categories_, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype.kind == other.dtype.kind
    back = ours.inverse_transform(ours.transform(X))
    np.testing.assert_array_equal(back, X)
    assert back.dtype.kind == np.dtype(kind).kind


def test_categories_in_any_order_with_missing_ones_among_them(tmp_path: Any) -> None:
    X = np.array([["b"], ["a"], [None]], dtype=object)
    for given in ([["b", None, "a", "z"]], [[None, "a", "b"]], [["a", "b", None]]):
        ours, theirs = (of(categories=given).fit(X) for of in (tenfold.OneHotEncoder, preprocessing.OneHotEncoder))
        np.testing.assert_array_equal(ours.transform(X).toarray(), theirs.transform(X).toarray())
        assert ours.categories_[0].tolist() == given[0] and ours.inverse_transform(ours.transform(X)).tolist() == X.tolist()
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        tenfold.save(ours, tmp_path / "model")
        assert tenfold.load(tmp_path / "model").categories_[0].tolist() == given[0]


def test_rows_of_none_of_the_given_categories() -> None:
    X = np.array([["a"]] * 5 + [["e"]] * 30, dtype=object)
    given: Any = dict(categories=[["c", "d", "a", "b"]], sparse_output=False, handle_unknown="infrequent_if_exist", min_frequency=4)
    ours, theirs = (of(**given).fit(X) for of in (tenfold.OneHotEncoder, preprocessing.OneHotEncoder))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    for kind in (tenfold.OneHotEncoder, tenfold.OrdinalEncoder):
        with pytest.raises(tenfold.BadInput, match="Found unknown categories"):
            kind(categories=[["a", "b"]]).fit(np.array([["a"], [np.nan]], dtype=object))


def test_what_was_dropped_stays_dropped() -> None:
    encoder = tenfold.OneHotEncoder(drop="first", sparse_output=False).fit(MIXED)
    rows, names = encoder.transform(MIXED), encoder.get_feature_names_out().tolist()
    encoder.set_params(drop=None)
    np.testing.assert_array_equal(encoder.transform(MIXED), rows)
    assert encoder.get_feature_names_out().tolist() == names and encoder.inverse_transform(rows).tolist() == MIXED


@pytest.mark.parametrize("kind", [np.int32, np.float32])
def test_encoders_give_the_type_that_is_asked_for(kind: Any, tmp_path: Any) -> None:
    for encoder in (tenfold.OneHotEncoder(dtype=kind), tenfold.OrdinalEncoder(dtype=kind)):
        assert encoder.fit_transform(MIXED).dtype == kind
        tenfold.save(encoder, tmp_path / "model")
        assert tenfold.load(tmp_path / "model").transform(MIXED).dtype == kind
    with pytest.raises(tenfold.BadParameter, match=r"missing values in features .0."):
        tenfold.OrdinalEncoder(dtype=np.int32).fit([[np.nan], [1.0]])


def test_rows_of_zeros_cannot_be_inverted() -> None:
    encoder = tenfold.OneHotEncoder(sparse_output=False).fit(MIXED)
    with pytest.raises(tenfold.BadInput, match=r"Samples .1. can not be inverted"):
        encoder.inverse_transform([[1, 0, 1, 0, 0], [0, 0, 1, 0, 0]])
    with pytest.raises(tenfold.BadInput, match="Expected 5 columns, got 4"):
        encoder.inverse_transform([[1, 0, 1, 0]])


# --- imputers ---


@pytest.mark.parametrize("blank", BLANKS, ids=str)
@pytest.mark.parametrize("strategy", ["most_frequent", "constant"])
def test_texts_are_filled(blank: Any, strategy: str) -> None:
    X = np.array([["a", "x"], [blank, "x"], ["a", blank], ["b", "y"]], dtype=object)
    ours, theirs = (of(missing_values=blank, strategy=strategy).fit(X) for of in (tenfold.SimpleImputer, impute.SimpleImputer))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    new = np.array([["new", blank]], dtype=object)
    np.testing.assert_array_equal(ours.transform(new), theirs.transform(new))
    assert ours.statistics_.tolist() == theirs.statistics_.tolist()
    frames: list[Any] = [pd.DataFrame(X, columns=["p", "q"])]
    if blank is None or isinstance(blank, str):
        frames.append(pl.DataFrame(X.tolist(), schema=["p", "q"], orient="row"))
    for frame in frames if blank != -1 else []:
        found = tenfold.SimpleImputer(missing_values=blank, strategy=strategy).fit_transform(frame)
        np.testing.assert_array_equal(found, theirs.transform(X))


@pytest.mark.parametrize("blank", ["?", None])
def test_texts_are_filled_in_a_pipeline(blank: Any) -> None:
    X = pd.DataFrame({"t": ["a", "a", "b", blank]}, dtype=object)
    new = pd.DataFrame({"t": ["c", "b", blank]}, dtype=object)
    fill = tenfold.SimpleImputer(missing_values=blank, strategy="most_frequent")
    model = tenfold.make_pipeline(fill, tenfold.OneHotEncoder(handle_unknown="ignore", sparse_output=False)).fit(X)
    assert model.transform(new).tolist() == [[0, 0], [0, 1], [1, 0]]
    assert model[-1].categories_[0].tolist() == ["a", "b"]
    if blank == "?":
        with pytest.raises(tenfold.BadParameter, match="learns all rows at once"):
            fill.partial_fit(X)


def test_a_missing_text_of_a_list_is_no_text() -> None:
    X = [["a", 1], [np.nan, 1], ["b", 2], ["b", np.nan]]
    assert tenfold.SimpleImputer(strategy="most_frequent").fit_transform(X).tolist() == [["a", 1], ["b", 1], ["b", 2], ["b", 1]]
    with pytest.raises(tenfold.BadInput, match="does not support data with dtype <U3"):
        tenfold.SimpleImputer(strategy="most_frequent").fit(np.array([["a"], ["nan"]]))


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_matrix, sp.csr_array])
@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant"])
def test_sparse_tables_are_filled_and_stay_sparse(container: Any, strategy: str) -> None:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 5)) < 0.6, 0.0, rng.integers(1, 4, (40, 5)))
    X[rng.random(X.shape) < 0.2] = np.nan
    ours, theirs = (of(strategy=strategy, add_indicator=True) for of in (tenfold.SimpleImputer, impute.SimpleImputer))
    found = ours.fit(container(X)).transform(container(X))
    assert sp.issparse(found)
    np.testing.assert_allclose(found.toarray(), theirs.fit_transform(X), rtol=1e-12)
    np.testing.assert_array_equal(ours.indicator_.features_, theirs.indicator_.features_)
    with pytest.raises(tenfold.BadInput, match="missing_values == 0 and input is sparse"):
        tenfold.SimpleImputer(missing_values=0).fit(container(X))


def test_a_function_of_the_values_fills() -> None:
    X = np.array([[1.0, 5.0], [np.nan, 9.0], [7.0, np.nan]])
    np.testing.assert_array_equal(tenfold.SimpleImputer(strategy=np.max).fit(X).statistics_, [7.0, 9.0])
    assert tenfold.SimpleImputer(strategy=np.max).fit(X).indicator_ is None


def test_a_number_that_is_no_gap_among_numbers() -> None:
    with pytest.raises(tenfold.BadInput, match="Input X contains NaN in column 1"):
        tenfold.SimpleImputer(missing_values=-1).fit([[-1.0, 2.0], [1.0, np.nan]])
    with pytest.raises(tenfold.BadInput, match="both numerical"):
        tenfold.SimpleImputer(missing_values="?").fit(np.eye(2))


@pytest.mark.parametrize("blank", [np.nan, -1.0, "?"], ids=str)
@pytest.mark.parametrize("features", ["missing-only", "all"])
def test_the_indicator_is_that_of_scikit_learn(blank: Any, features: Any) -> None:
    X = np.array([[blank, 1.0, 2.0], [3.0, blank, 4.0], [5.0, 6.0, 7.0]], dtype=object if blank == "?" else float)
    ours, theirs = (of(missing_values=blank, features=features).fit(X) for of in (tenfold.MissingIndicator, impute.MissingIndicator))
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    np.testing.assert_array_equal(ours.features_, theirs.features_)
    assert ours.transform(X).dtype == bool and ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    new = X.copy()
    new[0, 2] = blank
    if features == "missing-only":
        with pytest.raises(tenfold.BadInput, match=r"The features .2. have missing values in transform"):
            ours.transform(new)


# --- scalers ---


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csc_matrix, sp.csc_array])
def test_scaled_rows_keep_their_format(container: Any) -> None:
    X = container(np.array([[0.0, 2.0], [1.0, 0.0], [3.0, 4.0]]))
    scaler = tenfold.StandardScaler(with_mean=False).fit(X)
    Z = scaler.transform(X)
    assert type(Z) is type(X) and type(scaler.inverse_transform(Z)) is type(X)
    np.testing.assert_allclose(Z.toarray(), preprocessing.StandardScaler(with_mean=False).fit_transform(X).toarray(), rtol=1e-14)


def test_nearly_constant_and_very_large_columns() -> None:
    for kind in (np.float64, np.float32):
        spread = 10.0 ** np.arange(-30, 20)
        X = np.concatenate([1 + spread[None] * sign for sign in (1, -1)] * 50).astype(kind)
        ours, theirs = (of().fit(X) for of in (tenfold.StandardScaler, preprocessing.StandardScaler))
        np.testing.assert_array_equal(ours.scale_ == 1, theirs.scale_ == 1)
        np.testing.assert_allclose(ours.scale_, theirs.scale_, rtol=1e-6)


def test_rows_are_written_over_only_where_that_is_asked_for() -> None:
    X = np.arange(6.0).reshape(3, 2)
    scaler = tenfold.StandardScaler().fit(X)
    before, Z = X.copy(), scaler.transform(X)
    np.testing.assert_array_equal(X, before)
    assert scaler.transform(X, copy=False) is X
    np.testing.assert_array_equal(X, Z)
    assert scaler.inverse_transform(X, copy=False) is X
    np.testing.assert_allclose(X, before, rtol=0, atol=1e-14)
    half = X.astype(np.float16)
    assert scaler.transform(half).dtype == np.float16
    again = tenfold.StandardScaler().partial_fit(X, None, [1.0, 2.0, 1.0])
    np.testing.assert_allclose(again.mean_, [2.0, 3.0], rtol=1e-14)


# --- functions, powers, splines ---


def test_functions_are_handed_what_was_given() -> None:
    frame = pd.DataFrame({"pet": ["dog", "cat"], "age": [3, 4]})
    for given in (frame, pl.DataFrame(frame.to_dict("list")), [[1, "a"]], sp.csr_matrix(np.eye(2)), np.arange(4).reshape(2, 2)):
        seen: list[Any] = []
        transformer = tenfold.FunctionTransformer(lambda X, seen=seen: seen.append(X) or X)
        assert transformer.transform(given) is given and seen[0] is given
    named = tenfold.FunctionTransformer(lambda X: X.assign(old=X["age"] > 3), feature_names_out=lambda _, old: [*old, "old"])
    made = named.fit(frame).transform(frame)
    assert list(made.columns) == named.get_feature_names_out().tolist() == ["pet", "age", "old"]
    with pytest.warns(tenfold.DataWarning, match="not strictly inverse"):
        tenfold.FunctionTransformer(np.sqrt, np.around).fit(np.array([[1.0, 5.0]]))
    with pytest.raises(tenfold.BadInput, match="only supported when all the elements in `X` is numerical"):
        tenfold.FunctionTransformer(lambda X: X, lambda X: X).fit(frame)


def test_functions_in_a_pipeline_are_handed_the_frame() -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": ["x", "y", "x"]})
    chosen = tenfold.FunctionTransformer(lambda X: X[["a"]] * 2, feature_names_out=lambda _, names: ["a"])
    model = tenfold.make_pipeline(chosen, tenfold.StandardScaler()).fit(frame)
    np.testing.assert_allclose(model[-1].mean_, [14 / 3], rtol=1e-14)
    rows = tenfold.make_pipeline(tenfold.FunctionTransformer(np.log1p, validate=True), tenfold.StandardScaler())
    np.testing.assert_allclose(rows.fit(np.ones((3, 1)))[-1].mean_, [np.log(2)], rtol=1e-14)


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_in_the_order_that_is_asked_for(order: Any) -> None:
    X = np.arange(10.0).reshape(5, 2)
    for kind in (tenfold.PolynomialFeatures, tenfold.SplineTransformer):
        rows = kind(order=order).fit_transform(X)
        assert rows.flags.f_contiguous if order == "F" else rows.flags.c_contiguous
    assert tenfold.PolynomialFeatures().fit_transform(sp.csc_matrix(X)).format == "csc"


@pytest.mark.parametrize("extrapolation", ["constant", "linear", "continue", "periodic"])
@pytest.mark.parametrize("knots", ["uniform", "quantile"])
def test_splines_of_missing_values_are_zero(extrapolation: Any, knots: Any) -> None:
    X = np.array([[1, 1], [2, 2], [3, 3], [np.nan, 5], [4, 4.0], [6, np.nan]])
    setting: Any = dict(degree=2, n_knots=4, knots=knots, extrapolation=extrapolation, handle_missing="zeros")
    ours, theirs = tenfold.SplineTransformer(**setting).fit(X), preprocessing.SplineTransformer(**setting).fit(X)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=0, atol=1e-12)
    for one, other in zip(ours.bsplines_, theirs.bsplines_, strict=True):
        np.testing.assert_allclose(one.t, other.t, rtol=1e-12)
        np.testing.assert_allclose(one(2.5), other(2.5), rtol=0, atol=1e-12)
    with pytest.raises(tenfold.BadInput, match="configured to error"):
        tenfold.SplineTransformer().fit(X)


# --- single precision, and numbers as text ---


def test_what_is_learned_of_float32_is_float32() -> None:
    X = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)
    means = tenfold.KMeans(3, random_state=0).fit(X)
    assert means.cluster_centers_.dtype == np.float32
    np.testing.assert_array_equal(means.labels_, means.predict(X))
    axes = tenfold.PCA(2).fit(X)
    assert {axes.components_.dtype, axes.mean_.dtype, axes.explained_variance_.dtype} == {np.dtype(np.float32)}
    np.testing.assert_allclose(axes.transform(X), tenfold.PCA(2).fit(X.astype(float)).transform(X), rtol=0, atol=1e-4)


def test_fewer_clusters_than_asked_for_are_a_warning_of_scikit_learn_too() -> None:
    from sklearn.exceptions import ConvergenceWarning

    with pytest.warns(ConvergenceWarning, match="Number of distinct clusters .2. found smaller than n_clusters .3."):
        tenfold.KMeans(3, random_state=0).fit([[0.0], [0.0], [1.0]])


def test_numbers_stored_as_text_are_numbers() -> None:
    X, y = {"a": ["1", "2", "3.5", "7"], "b": [1.0, 0.0, 2.0, 1.0]}, [1.0, 2.0, 3.0, 5.0]
    expected = tenfold.Ridge().fit(np.array([[1, 1], [2, 0], [3.5, 2], [7, 1]]), y).coef_
    rows = list(zip(*X.values(), strict=True))
    for given in (pd.DataFrame(X), pl.DataFrame(X), np.array(rows, dtype=object), [list(row) for row in rows]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(tenfold.Ridge().fit(given, y).coef_, expected)
    with pytest.raises(tenfold.BadInput, match="could not convert string to float: column 'a'"):
        tenfold.Ridge().fit(pd.DataFrame(X | {"a": ["1", "x", "2", "3"]}), y)
