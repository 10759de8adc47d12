"""What a run tells besides its choice: everything tried, a second opinion, the curve, suspects and copies; and that the page shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from reports import record_of
from sklearn.linear_model import LinearRegression
from small_portfolio import shrink

import tenfold
from tenfold.report.chosen import learning
from tenfold.report.facts import Facts
from tenfold.selection.race.race import Race


@pytest.fixture(scope="module")
def found() -> tuple[tenfold.selection.run.Run, Race, Any, Any]:
    """A line in 25 columns from 90 rows, five of them copied, and a column that gives the target away."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 25))
    y = X @ rng.normal(size=25) + 0.5 * rng.normal(size=90)
    X, y = np.vstack([X, X[:5]]), np.append(y, y[:5])
    frame = pl.DataFrame({**{f"x{j}": X[:, j] for j in range(25)}, "after": np.exp(y / 3), "y": y})
    seen: list[Race] = []
    work = Race.run

    def kept(self: Race, *some: Any, **more: Any) -> None:
        seen.append(self)
        work(self, *some, **more)

    with pytest.MonkeyPatch.context() as patch:
        shrink(patch, 3, (5,))
        patch.setattr(Race, "run", kept)
        run = tenfold.select(frame, "y", folds=4, drop=["after"])
        again = tenfold.select(frame, "y", folds=4, effort="quick", time=0.5)
    return run, seen[0], again, (X, y)


def test_everything_tried_is_told_best_first(found: Any) -> None:
    run, race, *_ = found
    tried = run.record["tried"]
    assert len(tried) == len(race.settings) and {one["label"] for one in tried} == {one.label for one in race.settings}
    scores = [one["score"] for one in tried if one["score"] is not None]
    assert scores == sorted(scores)  # less is better
    best = tried[0]
    c = next(c for c, one in enumerate(race.settings) if one.label == best["label"])
    assert best["score"] == pytest.approx(np.nanmean(race.scores["rmse"][c]), rel=1e-12) and best["seconds"] > 0
    assert [one["against"] for one in tried if one["label"].startswith("guess")] in ([], ["baseline"])
    assert any(one["against"] == "baseline" for one in tried)


def test_a_second_opinion_and_the_curve_come_with_a_nested_estimate(found: Any) -> None:
    run, race, *_ = found
    assert run.estimate.method.startswith("nested")
    (name, other), (first, last) = next(iter(run.record["opinions"].items())), run.record["curve"]
    assert name == "by folds" and other["low"] < other["value"] < other["high"] and not other["method"].startswith("nested")
    assert other["value"] == pytest.approx(run.estimate.value, rel=0.2)
    n = len(race.y)
    assert (first["rows"], last["rows"]) == (round(n / 2), round(3 * n / 4))
    assert last["low"] < last["score"] < last["high"] and first["low"] < first["score"] < first["high"]


def test_the_curve_falls_as_that_of_an_ordinary_line(found: Any) -> None:
    """Least squares of scikit-learn on the same folds: 25 columns from half of 95 rows, and from three quarters."""
    run, race, _, (X, y) = found
    first, last = run.record["curve"]
    line = {}
    for held in (1, 2):
        squares = []
        for k in range(4):
            out = [k, (k + 1) % 4][:held]
            train, test = ~np.isin(race.fold, out), race.fold == k
            squares.append((LinearRegression().fit(X[train], y[train]).predict(X[test]) - y[test]) ** 2)
        line[held] = float(np.sqrt(np.concatenate(squares).mean()))
    assert first["score"] == pytest.approx(line[2], rel=0.15) and last["score"] == pytest.approx(line[1], rel=0.1)
    assert last["gain"] > 1.96 * last["error"] > 0
    assert last["gain"] == pytest.approx(first["score"] - last["score"], rel=0.25)  # of the roots, and the mean of two of them


def test_suspects_and_copies_are_kept(found: Any) -> None:
    run, _, again, _ = found
    assert run.record["suspects"] == [] and run.record["copies"] == 5
    assert [one[0] for one in again.record["suspects"]] == ["after"]


def test_the_page_says_whether_more_rows_would_help(found: Any, tmp_path: Path) -> None:
    run, *_ = found
    page = run.report(tmp_path / "page.html").read_text()
    assert "still gets better by more than its uncertainty" in page and "5 rows repeat others" in page and "by folds" in page
    assert f"Everything tried: {len(run.record['tried'])}" in page
    points = [dict(rows=100, score=5.0, low=4.0, high=6.0), dict(rows=200, score=4.9, low=3.9, high=5.9, gain=0.1, error=0.02)]
    for gain, words in ((0.1, "still gets better"), (0.01, "changes by less")):
        points[1]["gain"] = gain
        section = learning(Facts(record_of(False) | dict(curve=points), None, {}))
        assert section is not None and words in str(section.blocks[0])
