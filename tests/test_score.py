"""score(X, y) of every kind of rows: the target may be the name of a column, as in fit."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tenfold

TREE = functools.partial(tenfold.DecisionTreeClassifier, max_depth=3)


def table() -> pl.DataFrame:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((300, 2))
    group = rng.choice(["left", "right"], 300)
    y = x[:, 0] + (group == "left") + 0.3 * rng.standard_normal(300)
    return pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y, "kind": np.where(y > 0.5, "high", "low"), "group": group})


CASES = {
    "numbers": (tenfold.Ridge, "y", ["a", "b"]),
    "labels": (tenfold.LogisticRegression, "kind", ["a", "b"]),
    "categories": (TREE, "kind", ["a", "b", "group"]),
    "pipeline": (lambda: tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge()), "y", ["a", "b"]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_target_may_be_the_name_of_a_column(case: str, tmp_path: Path) -> None:
    make, target, columns = CASES[case]
    frame = table().select([*columns, target])
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    model = make().fit(frame, target)
    expected = model.score(frame.drop(target), frame[target])
    assert 0.5 < expected < 1
    assert model.score(frame, target) == expected
    assert model.score(frame.to_pandas(), target) == expected
    for name in ("rows.csv", "rows.parquet"):
        np.testing.assert_allclose(model.score(tmp_path / name, target), expected, rtol=1e-12)


def test_of_a_dask_collection() -> None:
    dataframe = pytest.importorskip("dask.dataframe")
    frame = table().select("a", "b", "kind").to_pandas()
    model = tenfold.LogisticRegression().fit(frame, "kind")
    parts = dataframe.from_pandas(frame, npartitions=3)
    assert model.score(parts, "kind") == model.score(frame, "kind")
    assert model.score(parts[["a", "b"]], parts["kind"]) == model.score(frame, "kind")


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (table().select("a", "b"), None, "y is None"),
        (table().select("a", "b"), ["high"], "X has 300 rows, but y has 1"),
        (table().select("a", "b"), "high", "no column 'high'"),
        (table().select("a", "b").to_numpy(), "kind", "has no names"),
    ],
)
def test_what_cannot_be_scored_is_told(X: Any, y: Any, words: str) -> None:
    frame = table()
    for model, target in ((tenfold.LogisticRegression(), "kind"), (tenfold.Ridge(), "y")):
        model.fit(frame.select("a", "b", target), target)
        with pytest.raises(tenfold.BadInput, match=words):
            model.score(X, y)


def test_text_among_numbers_is_shown_as_it_stands() -> None:
    with pytest.raises(tenfold.BadInput, match=r"could not convert string to float: 'b' \(column 0"):
        tenfold.Ridge().fit(np.array([["1"], ["2"], ["b"]]), [1, 2, 3])


def test_what_looks_at_rows_in_memory_reads_files(tmp_path: Path) -> None:
    """Scores round by round, correlations of trees, pruning, quantiles: of a file they are those of the frame."""
    frame = table().select("a", "b", "group", "kind")
    frame.write_parquet(tmp_path / "rows.parquet")
    rows: Any
    found: list[list[Any]] = [[], []]
    forest = tenfold.RandomForestClassifier(6, random_state=0).fit(frame, "kind")
    boosted = tenfold.AdaBoostClassifier(n_estimators=4).fit(frame, "kind")
    tree = tenfold.DecisionTreeClassifier().fit(frame, "kind")
    for told, rows in zip(found, (frame, tmp_path / "rows.parquet"), strict=True):
        told += [forest.tree_correlation(rows, "kind").correlation, list(boosted.staged_score(rows, "kind"))]
        told.append(tree.pruned("reduced_error", rows, "kind").get_n_leaves())
        told.append(tenfold.evaluate.permutation_importance(TREE(), rows, "kind", folds=3).importances_mean.tolist())
        told.append(tenfold.evaluate.learning_curve(TREE(), rows, "kind", folds=3).test_scores.tolist())
    assert found[0] == found[1]
    with pytest.raises(tenfold.BadInput, match="X has 300 rows, but y has 1"):
        list(boosted.staged_score(frame.drop("kind"), ["high"]))


def test_resampling_takes_blanks_where_the_learner_does() -> None:
    frame = table().select("a", "b", "group", "kind")
    blank = frame.with_columns(pl.when(pl.col("a") > 1).then(None).otherwise(pl.col("a")).alias("a"))
    assert 0 < tenfold.evaluate.bootstrap_error(TREE(), blank, "kind", replicates=20).out_of_bag < 0.5
    assert 0 < tenfold.evaluate.bias_variance(TREE(), blank, "kind", replicates=20).error < 0.5
