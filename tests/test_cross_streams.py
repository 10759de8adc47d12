"""Cross-validation of files and streams: equal to that in memory with the same folds, in few readings and little memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import tenfold
from tenfold.evaluate import HashKFold

PIPED = tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.LogisticRegression(tol=1e-10))
CASES = [
    (tenfold.Ridge(), "r2"),
    (tenfold.LinearRegression(), "mae"),
    (tenfold.HuberRegressor(tol=1e-10), "rmse"),
    (tenfold.LinearDiscriminantAnalysis(), "accuracy"),
    (tenfold.GaussianNB(), "roc_auc"),
    (tenfold.NearestCentroid(), "balanced_accuracy"),
    (tenfold.LogisticRegression(tol=1e-10), "log_loss"),
    (PIPED, "brier"),
]


def table(role: str, n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) + 1
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=n)
    return X, y if role == "regressor" else np.array(["a", "b", "c"])[np.digitize(y, [-1.0, 0.5])]


def parted(X: np.ndarray, y: np.ndarray, folder: Path) -> str:
    frame = polars.DataFrame({f"x{j}": X[:, j] for j in range(X.shape[1])} | {"y": y})
    for i in range(4):
        frame[100 * i : 100 * (i + 1)].write_parquet(folder / f"part{i}.parquet")
    return str(folder / "part*.parquet")


@pytest.mark.parametrize(("model", "score"), CASES, ids=lambda case: str(case)[:30])
def test_files_equal_a_table_in_memory(model: Any, score: str, tmp_path: Path) -> None:
    X, y = table(model.role)
    found = tenfold.cross_validate(model, parted(X, y, tmp_path), "y", folds=4, score=score)
    expected = tenfold.cross_validate(model, X, y, folds=HashKFold(4), score=score)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-7, atol=1e-9)
    assert found.method == ("merged statistics" if expected.method == "merged statistics" else "fitted in lockstep")
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-6)
    assert str(found.mean)[:4] in str(found)


def test_weights_repeats_and_engines() -> None:
    X, y = table("regressor")
    w = np.random.default_rng(1).integers(0, 3, size=len(y)).astype(float)
    blocks = [(X[i : i + 50], y[i : i + 50], w[i : i + 50]) for i in range(0, 400, 50)]
    model = tenfold.HuberRegressor(tol=1e-10)
    found = []
    for on in (tenfold.Local(), tenfold.Threads(3)):
        with tenfold.engine(on):
            found.append(tenfold.cross_validate(model, blocks, folds=3, repeats=2, random_state=5).scores)
    np.testing.assert_array_equal(found[0], found[1])
    expected = tenfold.cross_validate(model, X, y, sample_weight=w, folds=HashKFold(3, random_state=5)).scores
    np.testing.assert_allclose(found[0][:1], expected, rtol=1e-7)
    assert found[0].shape == (2, 3) and not np.array_equal(found[0][0], found[0][1])


@pytest.mark.parametrize("score, readings", [("r2", 1), ("rmse", 1), ("mae", 2)])
def test_a_path_of_a_stream_is_that_of_the_table(score: str, readings: int, tmp_path: Path) -> None:
    X, y = table("regressor")
    counted, alphas = Counted([(X[i : i + 50], y[i : i + 50]) for i in range(0, 400, 50)]), [0.1, 10.0, 1000.0]
    tenfold.Ridge().fit(counted)
    opening, counted.times = counted.times - 1, 0
    found = tenfold.validation_path(tenfold.Ridge(), counted, None, "alpha", alphas, folds=4, repeats=2, score=score)
    assert counted.times == opening + readings and found.scores.shape == (3, 8)
    file = tenfold.validation_path(tenfold.Ridge(), parted(X, y, tmp_path), "y", "alpha", alphas, folds=4, score=score)
    expected = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", alphas, folds=HashKFold(4), score=score)
    for one in (found.scores[:, :4], file.scores):
        np.testing.assert_allclose(one, expected.scores, rtol=1e-9)
    assert found.best == expected.best and np.allclose(file.standard_error, expected.standard_error, rtol=1e-6, atol=0)


def test_a_path_that_is_not_of_one_pass_is_read_into_memory() -> None:
    X, y = table("classifier")
    blocks = [(X[:150], y[:150]), (X[150:], y[150:])]
    model = tenfold.LogisticRegression()
    found = tenfold.validation_path(model, blocks, None, "C", [0.1, 1.0], folds=3)
    expected = tenfold.validation_path(model, X, y, "C", [0.1, 1.0], folds=3)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-6)


class Counted:
    """Blocks that count how often they are read."""

    def __init__(self, blocks: list[Any]) -> None:
        self.blocks, self.times = blocks, 0

    def __call__(self) -> Iterator[Any]:
        self.times += 1
        yield from self.blocks


def test_one_reading_serves_all_folds() -> None:
    X, y = table("regressor")
    blocks = [(X[i : i + 50], y[i : i + 50]) for i in range(0, 400, 50)]

    def readings(run: Any) -> int:
        counted = Counted(blocks)
        run(counted)
        return counted.times

    opening = readings(lambda b: tenfold.Ridge().fit(b)) - 1  # what the gate reads before the only pass of Ridge
    assert readings(lambda b: tenfold.cross_validate(tenfold.Ridge(), b, folds=8)) == opening + 2
    huber = tenfold.HuberRegressor()
    once = readings(lambda b: huber.fit(b)) - opening
    lockstep = readings(lambda b: tenfold.cross_validate(huber, b, folds=8)) - opening
    assert (
        once > 2 and lockstep <= once + 8
    )  # the slowest of the folds may need a few passes more; 8 fits would be 8 times as many


@pytest.mark.parametrize("model", [tenfold.Ridge(), tenfold.LogisticRegression(max_iter=2)], ids=repr)
@pytest.mark.filterwarnings("ignore::tenfold.NotConverged")
def test_memory_does_not_grow_with_the_stream(model: Any) -> None:
    X, y = table(model.role, n=2000)
    X = np.tile(X, 2)
    peaks = []
    for count in (20, 80):

        def stream(count: int = count) -> Iterator[Any]:
            for i in range(count):
                yield X + 1e-3 * i, y

        tracemalloc.start()
        try:
            tenfold.cross_validate(model, stream, folds=5)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.3 * peaks[0] and peaks[1] < 80 * X.nbytes / 4, peaks


def test_what_needs_rows_by_number_is_read_into_memory() -> None:
    X, y = table("regressor")
    blocks = [(X[:200], y[:200]), (X[200:], y[200:])]
    inside = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=5, kind="corrected")
    np.testing.assert_allclose(
        tenfold.cross_validate(tenfold.Ridge(), blocks, folds=5, kind="corrected").scores, inside.scores, rtol=1e-12
    )
    score = lambda truth, value: float(np.abs(truth - value).max())  # noqa: E731
    assert tenfold.cross_validate(tenfold.Ridge(), iter(blocks), folds=5, score=score).predictions.shape == (400,)
    np.testing.assert_allclose(
        tenfold.cross_val_predict(tenfold.Ridge(), blocks), tenfold.cross_val_predict(tenfold.Ridge(), X, y), rtol=1e-9
    )
    with pytest.raises(tenfold.BadInput, match="not kept"):
        _ = tenfold.cross_validate(tenfold.Ridge(), blocks).predictions


def test_rows_that_are_all_equal_are_told() -> None:
    blocks = [(np.ones((50, 2)), np.arange(50.0))]
    for model in (tenfold.Ridge(), tenfold.HuberRegressor()):
        with pytest.raises(tenfold.BadInput, match="too few rows that differ"):
            tenfold.cross_validate(model, blocks, folds=3)
    with pytest.raises(tenfold.BadParameter, match="repeats"):
        tenfold.cross_validate(tenfold.Ridge(), blocks, repeats=0)


def test_hash_folds_do_not_depend_on_order_type_or_container() -> None:
    X, _ = table("regressor")
    fold = np.empty(400, dtype=int)
    for k, (train, test) in enumerate(HashKFold(5).split(X)):
        fold[test] = k
        assert len(train) + len(test) == 400 and 40 < len(test) < 120
    order = np.random.default_rng(0).permutation(400)
    for rows in (X[order], X[order].astype(np.float32), polars.DataFrame(X[order])):
        for k, (_, test) in enumerate(HashKFold(5).split(rows)):
            np.testing.assert_array_equal(np.flatnonzero(fold[order] == k), test)
