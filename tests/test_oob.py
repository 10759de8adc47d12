"""Out-of-bag scores of forests, and how the quality benchmark reads tables, deals folds and ranks."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tenfold

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # last, so that the installed package wins over the sources beside it

from bench.out_of_bag import compared, crossed, points, without_copies  # noqa: E402
from bench.quality import OURS, RANKED, page, ranks, scored  # noqa: E402
from bench.tables import Table, folds, read_table, tables_in  # noqa: E402

TABLES = ROOT.parent / "shared" / "data" / "tables"


@pytest.mark.skipif(not TABLES.exists(), reason="the real tables are not beside the project")
@pytest.mark.parametrize("name", ["auto_mpg", "penguins", "titanic"])
def test_the_out_of_bag_score_is_that_of_ten_folds(name: str) -> None:
    told = compared(read_table(TABLES / f"{name}.csv.gz"), trees=150, repeats=1)
    assert abs(told["difference"]) < 1.5, told  # with 150 trees and one seed; 1 point with 500 and three


def test_copies_of_rows_lift_both_scores_and_without_them_nothing_can_be_learned() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 3)))
    y = rng.normal(size=120)
    twice = Table("twice", pd.concat([X, X], ignore_index=True), np.tile(y, 2), 0)
    assert tenfold.RandomForestRegressor(60, random_state=0).fit(twice.X, twice.y).oob_score_ > 0.4
    assert crossed(twice, 60, 10, 0) > 40
    once = without_copies(twice)
    assert len(once.y) == 120
    assert compared(once, trees=60, repeats=1)["out of bag"] < 10


def test_points_are_hundredths() -> None:
    frame = pd.DataFrame({"a": [0.0] * 4})
    assert points(Table("labels", frame, np.array([0, 1, 1, 0]), 2), np.array([0, 1, 0, 0])) == 75
    numbers = Table("numbers", frame, np.array([0.0, 1.0, 2.0, 3.0]), 0)
    assert points(numbers, np.full(4, 1.5)) == 0 and points(numbers, numbers.y) == 100


def test_a_table_is_read_with_its_categories_and_blanks(tmp_path: Path) -> None:
    (tmp_path / "one.csv.gz").write_bytes(_zipped("a,b,target\n1,x,no\n,NA,yes\n3,,no\n"))
    (tmp_path / "sms_spam.csv.gz").write_bytes(_zipped("a,target\nhello,0\n"))
    (table,) = tables_in(tmp_path)
    assert table.n_classes == 2 and table.y.tolist() == [0, 1, 0]
    assert table.X["a"].isna().tolist() == [False, True, False]
    assert table.X["b"].cat.categories.tolist() == ["NA", "x"] and table.X["b"].isna().tolist() == [False, False, True]
    with pytest.raises(SystemExit, match="no table two"):
        tables_in(tmp_path, ["two"])


def _zipped(text: str) -> bytes:
    import gzip

    return gzip.compress(text.encode())


def test_folds_share_out_every_row_once_and_every_class_alike() -> None:
    y = np.repeat([0, 1, 2], [70, 28, 2])
    table = Table("made", pd.DataFrame({"a": np.arange(100.0)}), y, 3)
    dealt = folds(table)
    assert sorted(np.concatenate(dealt)) == list(range(100))
    assert {np.sum(y[held] == 0) for held in dealt} == {7}
    assert max(np.sum(y[held] == 2) for held in dealt) == 1


def test_scores_and_ranks_by_hand() -> None:
    class Half:
        classes_ = np.arange(2)

        def fit(self, X: pd.DataFrame, y: np.ndarray) -> Half:
            return self

        def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
            return np.full((len(X), 2), 0.5)

    y = np.tile([0, 1], 20)
    found = scored(Table("made", pd.DataFrame({"a": np.zeros(40)}), y, 2), lambda classes: Half())
    np.testing.assert_allclose(found["log loss"], np.log(2), rtol=1e-12)
    np.testing.assert_allclose(found["accuracy"], 0.5, rtol=1e-12)

    def told(name: str, values: list[float]) -> dict:
        return {who: {"scores": {name: [value]}} for who, value in zip(RANKED, values, strict=True)}

    results = {"c": told("log loss", [0.1, 0.3, 0.2, 0.2, 0.5]), "n": told("R2", [0.1, 0.3, 0.2, 0.2, 0.5])}
    by_table = ranks(results)
    assert list(by_table["c"].values()) == [1, 4, 2.5, 2.5, 5]
    assert list(by_table["n"].values()) == [5, 2, 3.5, 3.5, 1]
    assert f"* {OURS}: 3.00" in page(results)
    results["c"].pop("xgboost")
    assert list(ranks(results)) == ["n"]
