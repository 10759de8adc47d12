"""Categories at the gate: text, categorical and truth columns as codes, the same from every container."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tenfold
from tenfold.base import check
from tenfold.base.estimator import Estimator, Regressor
from tenfold.base.one_pass import OnePass
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Rows, Spread


@estimator
class Recall(Regressor, Estimator):
    """Keeps the rows as the gate gave them; `_predict` returns the codes of new ones."""

    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True

    _: KW_ONLY
    categorical_features: Any = param(default="from_dtype", doc="which columns are categories")

    def _learn(self, source: Any) -> Any:
        rows = yield _rows
        return dict(rows_=rows.whole(), marked_=check.categorical_columns(source))

    def _predict(self, X: Any) -> Any:
        return X


def _rows(block: Any) -> Rows:
    return Rows.of(block.X)


@estimator
class Means(Regressor, OnePass):
    """Means of the codes."""

    missing: ClassVar[bool] = True
    categorical: ClassVar[bool] = True

    def _summarize(self, block: Any) -> Any:
        return Spread.of(np.nan_to_num(block.X), block.w)

    def _solve(self, stats: Any) -> dict[str, Any]:
        return dict(mean_=stats.mean[0])

    def _predict(self, X: Any) -> Any:
        return X


TABLE = pl.DataFrame(
    {
        "size": [1.5, 2.5, None, 4.0, 5.5, 6.0],
        "colour": ["red", "blue", None, "red", "green", ""],
        "sold": [True, False, True, None, False, True],
        "y": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)
X, Y = TABLE.drop("y"), TABLE["y"].to_numpy()
NAN = np.nan
CODES = np.array([[1.5, 2, 1], [2.5, 0, 0], [NAN, NAN, 1], [4.0, 2, NAN], [5.5, 1, 0], [6.0, NAN, 1]])


def _arrow(table: pl.DataFrame) -> Any:
    return table.to_arrow()


def _pandas(table: pl.DataFrame) -> Any:
    columns = {name: pd.Series(table[name].to_list(), dtype=object) for name in table.columns}
    return pd.DataFrame(columns).astype({"size": float} if "size" in table.columns else {})


def _pandas_categories(table: pl.DataFrame) -> Any:
    frame = _pandas(table)
    frame["colour"] = pd.Categorical(frame["colour"].replace("", None), categories=["red", "never", "green", "blue"])
    frame["sold"] = frame["sold"].astype("boolean")
    return frame


CONTAINERS = {
    "polars": lambda t: t,
    "polars categories": lambda t: t.with_columns(pl.col("colour").cast(pl.Categorical)),
    "arrow": _arrow,
    "arrow dictionary": lambda t: _arrow(t.with_columns(pl.col("colour").cast(pl.Enum(["", "red", "green", "blue"])))),
    "pandas": _pandas,
    "pandas strings": lambda t: _pandas(t).astype({"colour": "string"}),
    "pandas categories": _pandas_categories,
    "objects": lambda t: np.array(t.rows(), dtype=object),
    "list": lambda t: np.array(t.rows(), dtype=object).tolist(),
}


def _same(categories: Any) -> None:
    assert [None if one is None else one.tolist() for one in categories] == [
        None,
        ["blue", "green", "red"],
        [False, True],
    ]


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_codes(container: str) -> None:
    given = CONTAINERS[container](X)
    model = Recall().fit(given, Y)
    np.testing.assert_array_equal(model.rows_, CODES)
    _same(model.categories_)
    assert model.marked_.tolist() == [False, True, True]
    np.testing.assert_array_equal(model.predict(given), CODES)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_give_the_same_codes(tmp_path: Path, suffix: str) -> None:
    for i, cut in enumerate((TABLE[:2], TABLE[2:])):  # the first file knows neither "green" nor blanks
        getattr(cut, f"write_{suffix}")(tmp_path / f"part{i}.{suffix}")
    model = Recall().fit(str(tmp_path / f"part*.{suffix}"), "y")
    np.testing.assert_array_equal(model.rows_, CODES)
    _same(model.categories_)
    np.testing.assert_array_equal(model.predict(str(tmp_path / f"part1.{suffix}")), CODES[2:])
    np.testing.assert_array_equal(model.predict(X), CODES)


def test_streams_give_the_same_codes() -> None:
    def blocks() -> Iterator[Any]:
        yield from ((X[:2], Y[:2]), (X[2:3], Y[2:3]), (X[3:], Y[3:]))

    model = Recall().fit(blocks, None)
    np.testing.assert_array_equal(model.rows_, CODES)
    _same(model.categories_)
    np.testing.assert_array_equal(model.predict(lambda: iter([X[3:], X[:3]])), CODES[[3, 4, 5, 0, 1, 2]])
    with pytest.raises(tenfold.ReadOnce, match="several passes"):
        Recall().fit(blocks(), None)
    with pytest.raises(tenfold.BadInput, match="know the categories of all blocks before"):
        Means().fit(blocks(), None)


def test_dask_frames_give_the_same_codes() -> None:
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(_pandas_categories(TABLE), npartitions=3)
    model = Recall().fit(frame, "y")
    np.testing.assert_array_equal(model.rows_, CODES)
    _same(model.categories_)
    np.testing.assert_array_equal(model.predict(frame).compute(), CODES)


def test_rows_of_weight_zero_bring_no_category(tmp_path: Path) -> None:
    w = np.array([1.0, 0, 1, 1, 1, 1])
    TABLE.with_columns(w=w).write_parquet(tmp_path / "t.parquet")
    blocks = [(X[:3], Y[:3], w[:3]), (X[3:], Y[3:], w[3:])]
    for model in (
        Recall().fit(X, Y, w),
        Recall().fit(str(tmp_path / "t.parquet"), "y", "w"),
        Recall().fit(blocks, None),
    ):
        assert model.categories_[1].tolist() == ["green", "red"]
        np.testing.assert_array_equal(model.rows_[:, 1], [1, NAN, 1, 0, NAN])


def test_unseen_categories_are_missing() -> None:
    model = Recall().fit(X, Y)
    new = X.with_columns(pl.lit("violet").alias("colour"))
    assert np.isnan(model.predict(new)[:, 1]).all()
    blank = X.with_columns(pl.lit(None).alias("colour"), pl.lit(None).alias("sold"))
    assert np.isnan(model.predict(blank)[:, 1:]).all()


def test_a_column_of_blanks_takes_anything_later() -> None:
    empty = X.with_columns(pl.lit(None, dtype=pl.String).alias("colour"))
    model = Recall().fit(empty, Y)
    assert len(model.categories_[1]) == 0 and model.marked_.tolist() == [False, False, True]
    assert np.isnan(model.predict(X)[:, 1]).all()
    assert np.isnan(model.predict(X.with_columns(pl.lit(3).alias("colour")))[:, 1]).all()


@pytest.mark.parametrize(
    "change, words",
    [
        ({"colour": pl.lit(3.0)}, "column 'colour' holds numbers, but held text before"),
        ({"size": pl.lit("big")}, r"column 'size' holds text \('big', row 0\), but held numbers before"),
        ({"sold": pl.lit("yes")}, r"column 'sold' holds text \('yes', row 0\), but held true and false before"),
        ({"colour": pl.lit(True)}, r"column 'colour' holds true and false \(True, row 0\), but held text before"),
    ],
)
def test_a_column_of_another_kind_is_refused(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    model = Recall().fit(X, Y)
    now = X.with_columns(**change)
    for given in (now, now.to_pandas(), now.to_arrow()):
        with pytest.raises(tenfold.BadInput, match=words):
            model.predict(given)
    now.write_csv(tmp_path / "now.csv")
    now.write_parquet(tmp_path / "now.parquet")
    for name in ("now.csv", "now.parquet"):
        if name == "now.csv" and "true and false" in words.partition(",")[0]:
            continue  # in a CSV they are texts as any other, unseen ones
        with pytest.raises(tenfold.BadInput, match=f"column '{next(iter(change))}'"):
            model.predict(str(tmp_path / name))


def test_marked_columns_of_numbers() -> None:
    table = np.array([[7.0, 1.0], [-3.0, 2.0], [NAN, 3.0], [7.0, 4.0], [2.5, 5.0]])
    for marks in ([True, False], [0], ["a"], np.array([0])):
        given = pl.DataFrame(table, schema=["a", "b"]) if marks == ["a"] else table
        model = Recall(categorical_features=marks).fit(given, np.arange(5.0))
        assert model.categories_[0].tolist() == [-3.0, 2.5, 7.0] and model.categories_[1] is None
        np.testing.assert_array_equal(model.rows_, np.column_stack([[2, 0, NAN, 2, 1], table[:, 1]]))
        new = np.array([[2.5, 0.0], [1.0, 0.0]])
        new = pl.DataFrame(new, schema=["a", "b"]) if marks == ["a"] else new
        np.testing.assert_array_equal(model.predict(new)[:, 0], [1, NAN])
    single = Recall(categorical_features=[0]).fit(table.astype(np.float32), np.arange(5.0))
    assert single.rows_.dtype == np.float32
    with pytest.raises(tenfold.BadInput, match=r"contains infinity.* inf in column 0, row 1"):
        Recall(categorical_features=[0]).fit([[1.0], [np.inf]], [1.0, 2.0])
    with pytest.raises(tenfold.BadInput, match=r"contains infinity.* inf in column 0, row 1"):
        Recall(categorical_features=[0]).fit([[1.0], [np.inf], [2.0]], [1.0, 2.0, 3.0], [1.0, 1.0, 0.0])


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt64, pl.UInt8])
def test_marked_columns_of_whole_numbers_in_files(kind: Any, suffix: str, tmp_path: Path) -> None:
    table = pl.DataFrame({"zip": pl.Series([30, 10, 20, 10], dtype=kind), "x": [1.0, 2.0, 3.0, 4.0]})
    new = pl.DataFrame({"zip": pl.Series([20, 7, 30], dtype=kind), "x": [1.0, 2.0, 3.0]})
    getattr(new, f"write_{suffix}")(tmp_path / f"new.{suffix}")
    model = Recall(categorical_features=["zip"]).fit(table, np.arange(4.0))
    assert model.categories_[0].dtype == np.int64
    np.testing.assert_array_equal(model.predict(str(tmp_path / f"new.{suffix}")), model.predict(new))
    np.testing.assert_array_equal(model.predict(new)[:, 0], [1, NAN, 2])


def test_learning_on_from_a_file_with_whole_numbers(tmp_path: Path) -> None:
    rows, y = pd.DataFrame({"zip": pd.Categorical([30, 10, 20, 10, 30, 20])}), ["a", "b", "a", "b", "b", "a"]
    rows.assign(y=y).to_csv(tmp_path / "more.csv", index=False)
    first, second = (tenfold.MixedNB().partial_fit(rows, y, classes=["a", "b"]) for _ in range(2))
    first.partial_fit(tmp_path / "more.csv", "y")
    np.testing.assert_array_equal(first.predict_proba(rows), second.partial_fit(rows, y).predict_proba(rows))


@pytest.mark.parametrize(
    "marks, words",
    [
        ([True], r"a boolean mask must have shape .n_features,., here .3,."),
        ([3], "must be in .0, n_features - 1., and 3 is not"),
        (["color"], "item value 'color' which is not a valid feature name"),
        ("colour", "must be an array-like of bool, int or str"),
        ([0.5], "must be an array-like of bool, int or str, got: float64"),
    ],
)
def test_marks_that_mean_nothing(marks: Any, words: str) -> None:
    with pytest.raises(tenfold.BadParameter, match=words):
        Recall(categorical_features=marks).fit(X, Y)


def test_text_outside_the_marks_is_refused() -> None:
    with pytest.raises(
        tenfold.BadInput, match=r"column 'colour' holds text \('blue', row 1\): name it in categorical_f"
    ):
        Recall(categorical_features=["sold"]).fit(X, Y)
    with pytest.raises(tenfold.BadInput, match="column 'colour' holds String"):
        Recall(categorical_features=None).fit(X, Y)
    truth = Recall(categorical_features=["colour"]).fit(X, Y)  # true and false are 1 and 0 as for other learners
    assert truth.categories_[2] is None
    np.testing.assert_array_equal(truth.rows_, CODES)


def test_what_is_no_category() -> None:
    for bad, words in (
        (np.array([["a"], [3]], dtype=object), r"column 0 holds values of mixed type \('a', row 0 and 3, row 1\)"),
        (np.array([["a"], [{"b": 1}]], dtype=object), "argument must be a string or a real number.*column 0, row"),
        (np.array([[None], [(1, 2)]], dtype=object), "argument must be a string or a real number.*column 0, row 1"),
        (pl.DataFrame({"day": [date(2020, 1, 1), date(2020, 1, 2)]}), "column 'day' holds Date"),
    ):
        with pytest.raises(tenfold.BadInput, match=words):
            Recall().fit(bad, [1.0, 2.0])
    with pytest.raises(tenfold.BadInput, match=r"block 1: column 'a' holds text .* but held numbers before"):
        Recall().fit([(pl.DataFrame({"a": [one]}), [1.0]) for one in (1.0, "x")], None)
    with pytest.raises(tenfold.BadInput, match="column 'a' holds numbers in one block and text in another"):
        Recall().fit([(pl.DataFrame({"a": [one]}), [1.0]) for one in ("x", 1.0)], None)
    with pytest.raises(tenfold.BadInput, match="column 'colour' holds String"):
        tenfold.Ridge().fit(X.drop("size"), Y)


def test_texts_of_an_array_that_are_numbers() -> None:
    model = Recall().fit([["1.5", "red"], ["2", "blue"]], [1.0, 2.0])
    np.testing.assert_array_equal(model.rows_, [[1.5, 1], [2, 0]])
    np.testing.assert_array_equal(model.predict([["3", "3"]]), [[3, NAN]])


def test_columns_of_a_csv_are_judged_by_all_their_rows(tmp_path: Path) -> None:
    values = [*map(str, range(200)), "PC 17599"]
    pl.DataFrame({"ticket": values, "age": ["NA", *["1"] * 200], "y": range(201)}).write_csv(tmp_path / "t.csv")
    model = Recall().fit(str(tmp_path / "t.csv"), "y")
    assert len(model.categories_[0]) == 201 and model.categories_[1] is None
    assert np.isnan(model.rows_[0, 1])
    pl.DataFrame({"ticket": [7, 8, 999], "age": [1, 2, 3]}).write_csv(tmp_path / "new.csv")
    places = model.categories_[0].tolist()
    np.testing.assert_array_equal(
        model.predict(str(tmp_path / "new.csv"))[:, 0], [places.index("7"), places.index("8"), NAN]
    )


def test_a_hundred_thousand_categories() -> None:
    rng = np.random.default_rng(0)
    texts = rng.integers(0, 100_000, 200_000).astype(str).astype(object)
    frame = pl.DataFrame({"a": texts.tolist(), "b": rng.standard_normal(200_000)})
    began = time.process_time()
    for given in (frame, frame.to_pandas(), texts[:, None]):
        model = Recall().fit(given, np.zeros(200_000))
        assert len(model.categories_[0]) == len(set(texts))
        np.testing.assert_array_equal(model.categories_[0][model.rows_[:1000, 0].astype(int)], texts[:1000])
    assert time.process_time() - began < 10


def test_learning_on_and_merging_keep_the_codes() -> None:
    model = Means().partial_fit(X[:4], Y[:4]).partial_fit(X[4:], Y[4:])  # "green" came too late: missing
    assert model.categories_[1].tolist() == ["blue", "red"]
    other = Means().fit(X[:4], Y[:4])
    assert other.merge(Means().fit(X[:4], Y[:4])).categories_[1].tolist() == ["blue", "red"]
    with pytest.raises(tenfold.BadInput, match="same columns"):
        other.merge(Means().fit(X, Y))


def test_folds_share_the_categories_of_the_table() -> None:
    frame = pl.concat([X] * 5)
    y = np.tile(Y, 5)
    seen: list[int] = []

    @estimator
    class Counting(Regressor, Estimator):
        missing: ClassVar[bool] = True
        categorical: ClassVar[bool] = True

        def _learn(self, source: Any) -> Any:
            yield _rows
            seen.append(len(self.categories_[1]))
            return dict(done_=True)

        def _predict(self, X: Any) -> Any:
            return np.nan_to_num(X[:, 1])

    tenfold.cross_validate(Counting(), frame, y, folds=5)
    assert seen == [3] * 5


def test_evaluation_codes_new_rows_as_the_model_does() -> None:
    """New rows may lack categories: their codes are those of the model, not their own."""
    rng = np.random.default_rng(0)
    colour = np.array(["a", "b", "c"])[rng.integers(0, 3, 300)].astype(object)
    table = pl.DataFrame({"colour": colour.tolist(), "x": rng.standard_normal(300)})
    y = np.where(colour == "b", 1.0, 0.0)
    model = tenfold.DecisionTreeRegressor().fit(table, y)
    new = table.filter(pl.Series(colour != "a"))  # "b" would be number 0 here
    found = tenfold.evaluate.permutation_importance(model, new, y[colour != "a"], folds=None, score="mse")
    assert found.baseline == 0.0 and found.importances_mean[0] > 0.2
    parts = tenfold.evaluate.bias_variance(model, table, y, X_test=new, y_test=y[colour != "a"], replicates=5)
    assert parts.error < 1e-12
    assert tenfold.cross_validate(model, table, y, folds=4, score="mse").mean == 0.0


def test_a_file_holds_categories() -> None:
    from tenfold.base.estimator import Estimator
    from tenfold.core.learned import forms_of
    from tenfold.saved.forms import objection

    model = Recall().fit(X, Y)
    facts = {"n_features_in_": 3, "categories_": model.categories_}
    assert objection(facts, forms_of(Estimator)) is None
    for wrong in (model.categories_[:2], [None, "red", None], [np.zeros((2, 2)), None, None]):
        assert "categories_ is not" in str(objection({**facts, "categories_": wrong}, forms_of(Estimator)))
