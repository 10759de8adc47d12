"""Encoders of categories, against scikit-learn's, and pipelines that take categories."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.preprocessing import OneHotEncoder as TheirOneHot
from sklearn.preprocessing import OrdinalEncoder as TheirOrdinal

import tenfold

rng = np.random.default_rng(0)
WHOLE = np.column_stack(
    [
        rng.choice(list("abcdefg"), 40, p=[0.1, 0.1, 0.3, 0.3, 0.1, 0.05, 0.05]),
        rng.choice(["u", "v"], 40),
        rng.choice(["x", "y", "z"], 40),
    ]
).astype(object)
GAPS = WHOLE.copy()
GAPS[::7, 0] = np.nan
STRANGE = GAPS.copy()
STRANGE[3, 0], STRANGE[5, 1] = "new", np.nan
RARE = list(itertools.product((None, 3, 0.1), (None, 1, 2, 4)))


@pytest.mark.parametrize("rows", [WHOLE, GAPS], ids=["whole", "gaps"])
@pytest.mark.parametrize("drop", [None, "first", "if_binary", ["c", "v", "x"]], ids=str)
def test_one_hot_is_that_of_scikit_learn(rows: Any, drop: Any) -> None:
    for (least, most), unknown in itertools.product(RARE, ("error", "ignore", "infrequent_if_exist")):
        setting: Any = dict(drop=drop, min_frequency=least, max_categories=most, handle_unknown=unknown)
        if isinstance(drop, list) and most in (1, 2):
            continue  # what is to be dropped is a rare one
        ours, theirs = tenfold.OneHotEncoder(**setting).fit(rows), TheirOneHot(**setting).fit(rows)
        found, expected = ours.transform(rows), theirs.transform(rows)
        np.testing.assert_array_equal(found.toarray(), expected.toarray(), err_msg=str(setting))
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
        assert (ours.drop_idx_ is None) == (theirs.drop_idx_ is None)
        assert ours.drop_idx_ is None or ours.drop_idx_.tolist() == theirs.drop_idx_.tolist()
        back = ours.inverse_transform(found).astype(str) if found.shape[1] else rows.astype(str)
        assert np.all((back == rows.astype(str)) | (back == "infrequent_sklearn"))
        if unknown != "error":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                expected = theirs.transform(STRANGE).toarray()
                np.testing.assert_array_equal(ours.transform(STRANGE).toarray(), expected, err_msg=str(setting))


@pytest.mark.parametrize("rows", [WHOLE, GAPS], ids=["whole", "gaps"])
def test_ordinal_is_that_of_scikit_learn(rows: Any) -> None:
    for (least, most), unknown, missing in itertools.product(RARE, (None, -1, np.nan), (np.nan, -2)):
        setting: Any = dict(min_frequency=least, max_categories=most, encoded_missing_value=missing)
        setting |= dict(handle_unknown="error" if unknown is None else "use_encoded_value", unknown_value=unknown)
        ours, theirs = tenfold.OrdinalEncoder(**setting).fit(rows), TheirOrdinal(**setting).fit(rows)
        np.testing.assert_array_equal(ours.transform(rows), theirs.transform(rows), err_msg=str(setting))
        if unknown is not None:
            np.testing.assert_array_equal(ours.transform(STRANGE), theirs.transform(STRANGE), err_msg=str(setting))
        back = ours.inverse_transform(ours.transform(rows)).astype(str)
        assert np.all((back == rows.astype(str)) | (back == "infrequent_sklearn"))


def test_numbers_and_orders() -> None:
    """Whole numbers are categories too; categories come in the order that was given."""
    X = rng.integers(0, 4, (30, 2))
    ours, theirs = tenfold.OneHotEncoder(sparse_output=False).fit(X), TheirOneHot(sparse_output=False).fit(X)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    given = [["low", "middle", "high"]]
    for kind, their in ((tenfold.OrdinalEncoder, TheirOrdinal), (tenfold.OneHotEncoder, TheirOneHot)):
        rows = np.array([["high"], ["low"], ["high"]], dtype=object)
        found, expected = (cls(categories=given).fit(rows).transform([["low"], ["high"]]) for cls in (kind, their))
        np.testing.assert_array_equal(np.asarray(getattr(found, "todense", lambda f=found: f)()),
                                      np.asarray(getattr(expected, "todense", lambda e=expected: e)()))  # fmt: skip


FRAME = pl.DataFrame(
    {
        "size": [1.0, None, 3.0, 4.0, 2.0, 6.0, 1.5, 2.5] * 5,
        "colour": ["red", "blue", None, "red", "green", "blue", "red", "green"] * 5,
        "sold": [True, False, True, True, False, False, True, False] * 5,
    }
)
Y = np.array([1, 0, 1, 1, 0, 0, 1, 0] * 5)


def test_columns_of_numbers_pass(tmp_path: Path) -> None:
    """In memory, from a file and from a stream."""
    model = tenfold.OneHotEncoder(categorical_features="from_dtype", sparse_output=False).fit(FRAME)
    names = ["size", "colour_blue", "colour_green", "colour_red", "colour_nan", "sold_False", "sold_True"]
    assert model.get_feature_names_out().tolist() == names
    Z = model.transform(FRAME)
    np.testing.assert_array_equal(Z[:3], [[1, 0, 0, 1, 0, 0, 1], [np.nan, 1, 0, 0, 0, 1, 0], [3, 0, 0, 0, 1, 0, 1]])
    back = model.inverse_transform(np.nan_to_num(Z))
    assert back[0].tolist() == [1.0, "red", True] and np.isnan(back[2, 1])
    sparse = tenfold.OneHotEncoder(categorical_features=["colour", "sold"]).fit(FRAME).transform(FRAME)
    np.testing.assert_array_equal(sparse.toarray(), Z)
    FRAME.write_parquet(tmp_path / "t.parquet")
    for rows in (tmp_path / "t.parquet", [FRAME[:10], FRAME[10:]]):
        again = tenfold.OneHotEncoder(categorical_features="from_dtype", sparse_output=False).fit(rows)
        np.testing.assert_array_equal(again.transform(rows), Z)
    tenfold.save(model, tmp_path / "model")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "model").transform(FRAME), Z)


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: tenfold.OneHotEncoder().fit(WHOLE).transform([["new", "u", "x"]]), "\\['new'\\] in column 0 .row 0."),
        (lambda: tenfold.OneHotEncoder().fit([[1], [2]]).transform([[2], [5]]), "\\[5\\] in column 0 .row 1."),
        (lambda: tenfold.OneHotEncoder().fit(WHOLE).transform(GAPS), "column 0: it is missing"),
        (lambda: tenfold.OneHotEncoder(drop="last").fit(WHOLE), "must be None, 'first'"),
        (lambda: tenfold.OneHotEncoder(drop=["c", "v", "?"]).fit(WHOLE), "'\\?' is no category of column 2"),
        (lambda: tenfold.OneHotEncoder(categories=[["a"]]).fit(WHOLE), "1 lists, but X has 3 columns|unknown"),
        (lambda: tenfold.OneHotEncoder(categories=[[2, 1]]).fit([[1], [2]]), "ascending"),
        (lambda: tenfold.OneHotEncoder(categories=[["a", 1]]).fit([["a"]]), "all text or all numbers"),
        (lambda: tenfold.OrdinalEncoder(unknown_value=9).fit(WHOLE), "must be a number or NaN with"),
        (lambda: tenfold.OrdinalEncoder(encoded_missing_value=1).fit(GAPS), "the number of a category of column 0"),
        (lambda: tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.OneHotEncoder()).fit([[1.0]]), "put it first"),
        (lambda: tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.Ridge()).fit(FRAME, Y), "with OneHotEncoder"),
    ],
)
def test_what_is_refused(call: Any, words: str) -> None:
    with pytest.raises((tenfold.BadInput, tenfold.BadParameter), match=words):
        call()


def test_unknown_categories_are_told_where_they_look_like_the_one_left_out() -> None:
    model = tenfold.OneHotEncoder(drop="first", handle_unknown="ignore").fit(WHOLE)
    with pytest.warns(tenfold.DataWarning, match="unknown categories in columns .0."):
        model.transform([["new", "u", "x"]])


def test_too_many_columns_for_dense_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenfold.prepare.encode.MOST_CELLS", 100)
    model = tenfold.OneHotEncoder(sparse_output=False).fit(WHOLE)
    with pytest.raises(tenfold.BadInput, match="12 columns, too many for 40 dense rows"):
        model.transform(WHOLE)


# --- pipelines ------------------------------------------------------------------------------------


def _coded() -> Any:
    return tenfold.OneHotEncoder(categorical_features="from_dtype", handle_unknown="ignore")


PIPELINES = {
    "linear": lambda: tenfold.make_pipeline(
        _coded(), tenfold.SimpleImputer(), tenfold.StandardScaler(), tenfold.LogisticRegression()
    ),
    "boosting": lambda: tenfold.make_pipeline(
        tenfold.SimpleImputer(strategy="most_frequent"), tenfold.HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1)
    ),
    "tree": lambda: tenfold.make_pipeline(tenfold.DecisionTreeClassifier()),
    "inner": lambda: tenfold.make_pipeline(tenfold.make_pipeline(_coded(), tenfold.SimpleImputer()), tenfold.GaussianNB()),
}  # fmt: skip


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_take_categories(name: str, tmp_path: Path) -> None:
    model = PIPELINES[name]()
    assert model.categorical and model.missing
    P = model.fit(FRAME, Y).predict_proba(FRAME)
    assert model.score(FRAME, Y) > 0.7 and model.categories_[1].tolist() == ["blue", "green", "red"]
    new = FRAME[:1].with_columns(pl.lit("violet").alias("colour"))
    assert model.predict(new).shape == (1,)
    again = PIPELINES[name]().fit([(FRAME[:10], Y[:10]), (FRAME[10:], Y[10:])])
    np.testing.assert_allclose(again.predict_proba(FRAME), P, rtol=0, atol=1e-12)
    tenfold.save(model, tmp_path / "model")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "model").predict_proba(FRAME), P)
    assert tenfold.cross_validate(PIPELINES[name](), FRAME, Y, folds=4).mean > 0.7


def test_a_pipeline_does_what_its_steps_do_one_by_one() -> None:
    model = PIPELINES["boosting"]().fit(FRAME, Y)
    filled = tenfold.SimpleImputer(strategy="most_frequent").fit_transform(FRAME)
    assert filled[2].tolist() == [3.0, "red", True] and filled[1].tolist() == [1.0, "blue", False]
    last = tenfold.HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1).fit(filled, Y)
    np.testing.assert_array_equal(model.predict_proba(FRAME), last.predict_proba(filled))
    linear = PIPELINES["linear"]().fit(FRAME, Y)
    Z = _coded().set_params(sparse_output=False).fit_transform(FRAME)
    rest = tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.StandardScaler(), tenfold.LogisticRegression())
    np.testing.assert_allclose(linear.predict_proba(FRAME), rest.fit(Z, Y).predict_proba(Z), rtol=1e-12)


def test_the_filled_rows_of_a_pipeline_are_categories_again() -> None:
    fill = tenfold.make_pipeline(tenfold.SimpleImputer(strategy="most_frequent", add_indicator=True))
    rows = fill.fit(FRAME).transform(FRAME)
    assert rows[2].tolist() == [3.0, "red", True, 0.0, 1.0]
    back = fill[0].inverse_transform(rows)
    assert back[0].tolist() == [1.0, "red", True] and np.isnan(back[2, 1]) and np.isnan(back[1, 0])
    for container in ("pandas", "polars"):
        dressed = tenfold.SimpleImputer(strategy="most_frequent").set_output(transform=container).fit_transform(FRAME)
        assert dressed["size"].dtype == (np.float64 if container == "pandas" else pl.Float64)
        assert dressed["sold"].dtype == (bool if container == "pandas" else pl.Boolean)
    assert not tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.HistGradientBoostingClassifier()).categorical


def test_dask_gives_the_same() -> None:
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(FRAME.to_pandas().assign(y=Y), npartitions=3)
    rows = frame[["size", "colour", "sold"]]
    expected = PIPELINES["linear"]().fit(FRAME, Y).predict_proba(FRAME)
    np.testing.assert_allclose(
        PIPELINES["linear"]().fit(frame, "y").predict_proba(rows).compute(), expected, atol=1e-12
    )
    Z = tenfold.OneHotEncoder(categorical_features="from_dtype").fit(rows).transform(rows).compute()
    np.testing.assert_array_equal(Z.toarray(), _coded().fit_transform(FRAME).toarray())


@pytest.mark.parametrize("pair", [(tenfold.OneHotEncoder, TheirOneHot), (tenfold.OrdinalEncoder, TheirOrdinal)])
def test_given_categories_of_several_lengths(pair: Any) -> None:
    X = [["abc", 2, 55], ["def", 1, 54]]
    ours, other = (kind(categories=[["abc", "def"], [1, 2], [54, 55, 56]]).fit(X) for kind in pair)
    assert [one.tolist() for one in ours.categories_] == [one.tolist() for one in other.categories_]
    made, expected = (one if isinstance(one, np.ndarray) else one.toarray() for one in (ours.transform(X), other.transform(X)))
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("kind", ["whole", "floats", "texts", "short texts"])
def test_tables_of_many_rows_are_coded_and_decoded_as_scikit_learn_does(kind: str) -> None:
    """More rows than a tile, more columns than are coded side by side, and numbers that are no codes."""
    whole = np.random.default_rng(5).integers(-3, 30, (5000, 11))
    words = np.array([f"level {k}" for k in range(-3, 30)], dtype=object)
    X = {"whole": whole, "floats": whole / 4, "texts": words[whole + 3], "short texts": words[whole + 3].astype(str)}[kind]
    setting = dict(handle_unknown="use_encoded_value", unknown_value=-1)
    ours, theirs = tenfold.OrdinalEncoder(**setting).fit(X), TheirOrdinal(**setting).fit(X)
    Z = theirs.transform(X)
    np.testing.assert_array_equal(ours.transform(X), Z)
    back = ours.inverse_transform(Z)
    np.testing.assert_array_equal(back, X)
    assert back.dtype == X.dtype
    Z[4000, 10] = -1
    np.testing.assert_array_equal(ours.inverse_transform(Z), theirs.inverse_transform(Z))
    assert (tenfold.OneHotEncoder().fit_transform(X) != TheirOneHot().fit_transform(X)).nnz == 0
