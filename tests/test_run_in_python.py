"""The result of `tenfold.select` in Python: arrays, ranges and sets of any level, and why it says what it says."""

from __future__ import annotations

import json
import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.core.errors import BadInput, BadParameter, BadType
from tenfold.selection.dataset import _values
from tenfold.selection.explain.reasons import Effect, Reasons
from tenfold.selection.run import Run
from tenfold.selection.settings import Settings
from tenfold.table.reading import read_table

N = 400


def rows(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, a number, and classes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = 2 * X[:, 0] + X[:, 1] + rng.normal(size=n)
    return X, y, np.where(y + rng.normal(size=n) > 0, "yes", "no")


def selected(target: str, **more: Any) -> Run:
    X, y, label = rows(N, 0)
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch, 5, (5,))
        return tenfold.select(X, y if target == "number" else label, effort="quick", folds=4, **more)


@pytest.fixture(scope="module")
def numbers() -> Run:
    return selected("number")


@pytest.fixture(scope="module")
def classes() -> Run:
    return selected("classes")


# --- arrays -----------------------------------------------------------------------------------------------------------


def test_arrays_are_tables_of_numbered_columns(numbers: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = rows(N, 0)
    assert numbers.model.columns == ["x0", "x1", "x2"] and numbers.model.target_ == "target"
    shrink(monkeypatch, 5, (5,))
    frame = tenfold.select(pl.DataFrame(X, schema=["x0", "x1", "x2"]), y, effort="quick", folds=4)
    np.testing.assert_array_equal(frame.predict(X), numbers.predict(X))
    learner = tenfold.Select(effort="quick", folds=4).fit(X, y)
    assert learner.model_.columns == numbers.model.columns
    np.testing.assert_array_equal(learner.predict(X), numbers.predict(X))
    with pytest.raises(BadParameter, match="there is no column 'x2' in table"):
        numbers.predict(X[:, :2])


@pytest.mark.parametrize(
    ("array", "kinds"),
    [
        (np.arange(6).reshape(3, 2), [pl.Int64, pl.Int64]),
        (np.array([[1.5, 2.0], [np.nan, 3.0]], dtype=np.float16), [pl.Float32, pl.Float32]),
        (np.asfortranarray(np.eye(3, dtype=bool)), [pl.Boolean] * 3),
        (np.array([["a", 1.5], ["b", None]], dtype=object), [pl.String, pl.Float64]),
        (np.array([["a", "1"], ["b", "2"]]), [pl.String, pl.String]),
        (np.array([["2024-01-01"], ["2024-01-02"]], dtype="datetime64[ns]"), [pl.Datetime("ns")]),
        (np.ma.masked_equal([[1.0, 2.0], [3.0, 9.0]], 9.0), [pl.Float64, pl.Float64]),
    ],
)
def test_arrays_of_any_kind(array: Any, kinds: list[Any]) -> None:
    frame = read_table(array).frame
    assert frame.columns == [f"x{j}" for j in range(array.shape[1])] and frame.dtypes == kinds and frame.height == len(array)
    assert not isinstance(array, np.ma.MaskedArray) or frame["x1"].to_list() == [2.0, None]


def test_intervals_and_periods_of_pandas_are_texts() -> None:
    cut = pandas.cut(pandas.Series([1.0, 2.0, None, 3.0]), 2)
    frame = read_table(pandas.DataFrame({"cut": cut, "month": pandas.period_range("2024-01", periods=4, freq="M")})).frame
    assert frame["cut"].to_list() == ["(0.998, 2.0]", "(0.998, 2.0]", None, "(2.0, 3.0]"] and frame["month"][3] == "2024-04"


def test_the_column_of_a_frame_that_cannot_be_converted_is_named() -> None:
    with pytest.raises(BadInput, match="the column 'b' of the frame cannot be converted"):
        read_table(pandas.DataFrame({"a": [1, 2], "b": [1, "x"]}))


@pytest.mark.parametrize(
    ("target", "values"),
    [
        (pandas.Series([1, None, 3], dtype="Int64"), [1, None, 3]),
        (pandas.Series([True, None, False], dtype="boolean"), [True, None, False]),
        (pandas.Series(["a", None, "b"], dtype="string"), ["a", None, "b"]),
        (pandas.Series(["a", np.nan, "b"]).astype("category"), ["a", None, "b"]),
        (["a", float("nan"), "b"], ["a", None, "b"]),
        (np.ma.masked_equal([1.0, 9.0, 3.0], 9.0), [1.0, None, 3.0]),
    ],
)
def test_a_target_in_memory_is_missing_where_its_owner_says_so(target: Any, values: list[Any]) -> None:
    assert _values(target) == values


@pytest.mark.parametrize("target", [None, 1])
def test_a_target_that_is_no_name_is_not_taken_for_one_value(target: Any) -> None:
    """A column of pandas may be called 1."""
    with pytest.raises(BadParameter, match=f"target={target}: must be the name of a column, such as '1', or its values"):
        tenfold.select(pandas.DataFrame(np.ones((20, 2))), target)


@pytest.mark.parametrize("kind", ["datetime64[ns]", "timedelta64[ns]"])
def test_times_of_numpy_are_no_numbers_to_predict(kind: str) -> None:
    with pytest.raises(BadInput, match=r"the target column 'target' holds D.*: give a column of numbers or classes"):
        tenfold.select(np.zeros((20, 2)), np.arange(20).astype(kind))


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.arange(20.0), "an array of one dimension is not a table"),
        (np.zeros((20, 2, 2)), "an array of 3 dimensions is not a table"),
        (np.array(3.0), "an array of 0 dimensions is not a table"),
        (np.ones((20, 2), dtype=complex), "an array of complex128 is not a table"),
    ],
)
def test_other_arrays_are_refused_in_one_sentence(array: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        tenfold.select(array, np.arange(20.0))


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (dict(drop=[0]), r"drop=\[0\]: must be a list of names of columns"),
        (dict(keep=0), "keep=0: must be a list of names of columns"),
        (dict(category="x0"), r"such as \['x0'\]"),
        (dict(task=1), "task=1: must be 'classes' or 'number'"),
        (dict(monotone=1), "monotone=1: give columns with"),
        (dict(time=np.float32(0)), "must be a number of seconds above 0"),
    ],
)
def test_settings_of_another_type_are_refused_in_one_sentence(asked: dict[str, Any], says: str) -> None:
    with pytest.raises(BadParameter, match=says):
        tenfold.select(np.zeros((20, 2)), np.arange(20.0), **asked)


def test_settings_may_be_numbers_of_numpy() -> None:
    found = Settings(time=np.int64(5), seed=np.int64(3), folds=np.int64(4))  # type: ignore[arg-type]
    assert found == Settings(time=5.0, seed=3, folds=4) and json.dumps(found.facts())


def test_what_is_no_table_is_told_what_is() -> None:
    with pytest.raises(BadType, match="a data frame, or an array of two dimensions"):
        tenfold.select(object(), "y")


# --- ranges and sets of any level -------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_ranges_of_a_level_hold_so_many_new_rows(level: float, numbers: Run) -> None:
    X, y, _ = rows(4000, 1)
    said, ranges = numbers.predict(X, interval=level)
    np.testing.assert_array_equal(said, numbers.predict(X))
    assert ranges.shape == (4000, 2) and ((ranges[:, 0] <= y) & (y <= ranges[:, 1])).mean() == pytest.approx(level, abs=0.06)
    if level == 0.9:
        np.testing.assert_array_equal(ranges, numbers.predict_interval(X))
    assert numbers.model.reach_ == numbers.record["reach"]  # the model stays as it was


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95])
def test_sets_of_a_level_hold_so_many_new_rows(level: float, classes: Run) -> None:
    X, _, label = rows(4000, 1)
    said, sets = classes.predict(X, interval=level)
    np.testing.assert_array_equal(said, classes.predict(X))
    held = sets[np.arange(4000), (label == "yes").astype(int)].mean()
    assert sets.dtype == bool and level - 0.05 < held < max(level + 0.05, 0.9)
    if level == 0.9:
        np.testing.assert_array_equal(sets, classes.predict_set(X))


def test_a_level_counts_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of one kind have ten times the noise of the other and a hundred times the weight."""
    shrink(monkeypatch, 3, (3,))
    rng = np.random.default_rng(3)
    X, noisy = rng.normal(size=(400, 2)), np.arange(400) % 2 == 1
    y = X[:, 0] + np.where(noisy, 2.0, 0.2) * rng.normal(size=400)
    frame = pl.DataFrame(X, schema=["a", "b"]).with_columns(y=pl.Series(y), w=pl.Series(np.where(noisy, 100.0, 1.0)))
    found = tenfold.select(frame, "y", effort="quick", folds=3, weights="w")
    low, high = found.predict(frame, interval=0.8)[1].T
    assert np.mean(high - low) / 2 == pytest.approx(1.2816 * 2, rel=0.25)


def test_larger_levels_have_larger_sets_also_of_the_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    """Classes of 55, 50 and 50 rows in seven folds: the guess of a fold is not quite that of all rows."""
    shrink(monkeypatch, 3, (3,))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(155, 2)), rng.permutation(np.repeat(["a", "b", "c"], [55, 50, 50]))
    found = tenfold.select(X, y, effort="quick", folds=7, honest="folds")
    assert found.signal is False
    sets = [found.predict(X[:1], interval=level)[1] for level in (0.7, 0.8, 0.9, 0.95)]
    assert all((more >= less).all() for less, more in pairwise(sets)) and sets[1].all()


@pytest.mark.parametrize("level", [0.4, 1.0, 90, "0.9", True, float("nan")])
def test_other_levels_are_refused(level: Any, numbers: Run) -> None:
    with pytest.raises(BadParameter, match=r"must be a share of new rows, from 0\.5 to 0\.99"):
        numbers.predict(rows(5, 1)[0], interval=level)


def test_without_held_out_rows_there_is_one_level(numbers: Run) -> None:
    X = rows(5, 1)[0]
    apart = Run.of(numbers.model, numbers.record)
    assert len(apart.predict(X, interval=0.9)) == 2
    with pytest.raises(BadInput, match=r"no held-out rows with it, and only ranges and sets of 0\.9 are kept"):
        apart.predict(X, interval=0.8)
    few = Run.of(numbers.model, numbers.record, None, None if numbers.held_out is None else numbers.held_out[:60])
    with pytest.raises(BadInput, match="the 60 rows that were held out are too few"):
        few.predict(X, interval=0.99)


# --- why --------------------------------------------------------------------------------------------------------------


def test_a_run_explains_itself(numbers: Run, classes: Run) -> None:
    X = rows(N, 0)[0]
    found = numbers.explain(row=17)
    assert isinstance(found, Reasons) and found.answer.value == pytest.approx(numbers.predict(X[16:17])[0], rel=1e-12)
    assert found.base + sum(value for _, _, value, _ in found.columns) + found.rest == pytest.approx(found.answer.value, abs=1e-6)
    assert str(found).splitlines()[1].startswith("  x0 = ") and "on average" in str(found)
    along = numbers.explain(column="x0")
    assert isinstance(along, Effect) and along.points[0][1] < along.points[-1][1]
    assert str(along).startswith("x0: how the prediction changes along it\n")
    moved = numbers.explain()
    assert isinstance(moved, list) and [name for name, _ in moved][:2] == ["x0", "x1"]
    other = classes.explain(row=2, label="yes")
    assert isinstance(other, Reasons) and other.answer.what == "yes" and "chance of yes" in str(other)
    assert "the chance of yes changes" in str(classes.explain(column="x0", label="yes"))


def test_a_run_explains_other_rows(numbers: Run) -> None:
    new = rows(30, 2)[0]
    found = numbers.explain(row=30, table=new)
    assert isinstance(found, Reasons) and found.beside == 30
    with pytest.raises(BadParameter, match="row=31: table has rows 1 to 30"):
        numbers.explain(row=31, table=new)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (dict(row=1, column="x0"), "row= or column=, not both"),
        (dict(label="yes"), "give row= or column="),
        (dict(row=0), "row=0: table has rows 1 to 400"),
        (dict(row=1, label="maybe"), "there is no class 'maybe': the classes are no, yes"),
    ],
)
def test_what_cannot_be_explained(asked: dict[str, Any], says: str, classes: Run) -> None:
    with pytest.raises(BadParameter, match=says):
        classes.explain(**asked)


def test_a_run_that_is_judged_by_a_function_is_saved(tmp_path: Path) -> None:
    def nearness(truth: Any, predicted: Any) -> float:
        return -float(np.abs(truth - predicted).mean())

    run = selected("number", metric=nearness)
    run.save(tmp_path / "t.tenfold")
    assert json.loads((tmp_path / "t.tenfold" / "run.json").read_text())["asked"]["metric"] == "nearness"


def test_the_table_stays_where_it_was(classes: Run, tmp_path: Path) -> None:
    """It is no part of what is shown, saved, or sent to another process."""
    assert classes.table is not None and "table=" not in repr(classes)
    again = pickle.loads(pickle.dumps(classes))
    assert again.table is None and again.record["sets"] == classes.record["sets"]
    with pytest.raises(BadInput, match="does not have the table that it was made from: give its rows"):
        again.explain(row=1)
    assert isinstance(again.explain(row=1, table=rows(N, 0)[0]), Reasons)


def test_of_a_file_the_path_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 3, (3,))
    X, y, label = rows(80, 0)
    pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(y=pl.Series(y), z=pl.Series(label)).write_csv(tmp_path / "t.csv")
    found: Any = tenfold.select(tmp_path / "t.csv", ["y", "z"], effort="quick", folds=3)
    assert all(one.table == tmp_path / "t.csv" and isinstance(one.explain(row=3), Reasons) for one in found.values())
