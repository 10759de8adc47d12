"""The second figure of `tenfold.select` for tables whose rows have many copies: where new rows repeat known ones as often."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.selection.model.table_model import TableModel


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same race, with fewer trees."""
    shrink(monkeypatch, 10, (10,))


def drawn(rng: np.random.Generator, n: int, task: str) -> pl.DataFrame:
    """Rows of which each has its own luck, which a copy shares."""
    X = rng.normal(size=(n, 4))
    if task == "number":
        y = np.round(2 * X[:, 0] + rng.normal(size=n), 6).tolist()
    else:
        y = np.where(X[:, 0] + rng.normal(size=n) > 0, "yes", "no").tolist()
    return pl.DataFrame(X, schema=list("abcd")).with_columns(target=pl.Series(y))


def table(task: str, copies: float, n: int = 500, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    once = drawn(rng, round(n * (1 - copies)), task)
    again = once[rng.integers(0, once.height, n - once.height)]
    return pl.concat([once, again])[rng.permutation(n).tolist()]


def loss(run: Any, rows: pl.DataFrame, task: str) -> float:
    if task == "number":
        return float(np.sqrt(np.mean((run.predict(rows) - rows["target"].to_numpy()) ** 2)))
    place = np.searchsorted(run.model.classes_, rows["target"].to_numpy())
    return float(-np.log(run.predict_proba(rows)[np.arange(rows.height), place]).mean())


@pytest.mark.parametrize("task", ["number", "classes"])
def test_the_second_figure_is_that_of_rows_that_repeat_known_ones(task: str) -> None:
    """The truth: of new rows as many are drawn from the table as rows of the table have copies, and the others anew."""
    frame = table(task, 0.3)
    run = tenfold.select(frame, "target", effort="quick")
    found, estimate = run.record["copied"], run.estimate
    assert estimate is not None and found["metric"] == estimate.metric
    share = frame.filter(frame.is_duplicated()).height / frame.height
    assert found["rows"] / found["of"] == pytest.approx(share)
    rng = np.random.default_rng(11)
    known = frame[rng.integers(0, frame.height, 4_000)]
    fresh = drawn(rng, round(4_000 * (1 - share) / share), task)
    truth, anew = loss(run, pl.concat([known, fresh]), task), loss(run, fresh, task)
    assert found["value"] < estimate.value and truth < anew
    assert found["low"] < truth < found["high"]
    assert estimate.low < anew < estimate.high


@pytest.mark.parametrize(
    ("copies", "asked"),
    [(0.03, {}), (0.3, dict(groups="g")), (0.3, dict(metric="roc_auc"))],  # few of them; other rows belong together; no loss of rows
)
def test_no_second_figure_where_it_says_nothing(copies: float, asked: dict[str, Any]) -> None:
    frame = table("classes", copies, 300)
    frame = frame.with_columns(g=pl.Series(np.arange(300) % 60)) if "groups" in asked else frame
    run = tenfold.select(frame, "target", effort="quick", **asked)
    assert run.record["copied"] is None


def test_the_transcript_and_the_page_tell_it(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    table("number", 0.3, 300).write_csv(tmp_path / "t.csv")
    assert run(["select", str(tmp_path / "t.csv"), "--target", "target", "--effort", "quick", "--out", str(tmp_path / "run")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "of these rows have copies. Where as many new rows repeat known ones: rmse" in said
    page = (tmp_path / "run" / "report.html").read_text()
    assert "with copies" in page and "what it is worth if as many new rows repeat known ones" in page


def test_no_class_is_impossible_of_copies_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that is sure of the other class loses as much as what is saved would."""

    class Sure:
        def __init__(self, fitted: Any) -> None:
            self.categorical = fitted.categorical

        def predict_proba(self, rows: Any) -> Any:
            return np.tile([1.0, 0.0], (len(rows), 1))

    def again(model: TableModel, *rows: Any) -> TableModel:
        found: Any = as_it_is(model, *rows)
        found.pipeline = Sure(found.pipeline)
        return found  # type: ignore[no-any-return]

    as_it_is = TableModel.again
    monkeypatch.setattr(TableModel, "again", again)
    run = tenfold.select(table("classes", 0.3), "target", effort="quick")
    assert run.record["copied"]["value"] < -np.log(run.record["floor"])
