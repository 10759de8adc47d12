"""`tenfold bench`: tables drawn by their laws, and results held against stored ones."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from small_portfolio import shrink

from tenfold.app import bench
from tenfold.app.commands import run


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)
    monkeypatch.setattr(bench, "NEW_ROWS", 2_000)
    monkeypatch.setitem(bench.LAWS, "friedman1", (bench.friedman1, 200))


def test_tables_are_drawn_by_their_laws() -> None:
    rng = np.random.default_rng(5)
    X, y = bench.friedman1(rng, 50_000)
    noise = y - 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) - 20 * (X[:, 2] - 0.5) ** 2 - 10 * X[:, 3] - 5 * X[:, 4]
    assert abs(noise.mean()) < 0.02 and abs(noise.std() - 1) < 0.02
    X, y = bench.waveform(rng, 50_000)
    j = np.arange(1, 22)
    first, second, third = (np.maximum(6 - np.abs(j - place), 0) for place in (11, 15, 7))  # h1, h1 moved by 4 to the right and the left
    for label, mean in (("first", first + second), ("second", first + third), ("third", second + third)):
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean / 2, atol=0.08)
    X, y = bench.ringnorm(rng, 50_000)
    np.testing.assert_allclose(X[y == "inner"].mean(axis=0), 2 / np.sqrt(20), atol=0.05)
    np.testing.assert_allclose(X[y == "outer"].std(axis=0), 2, atol=0.05)


def test_rows_kept_apart_are_not_learned_from() -> None:
    train, new, target = bench.tables("penguins")
    assert target == "species" and (train.height, new.height) == (241, 103)
    assert train.columns == new.columns


@pytest.mark.usefixtures("small")
def test_errors_are_held_against_stored_ones(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["bench", "--only", "friedman1", "--only", "penguins"]
    assert run([*asked, "--json"]) in (0, 1)  # of a smaller portfolio than that of the stored results
    facts: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert list(facts["tables"]) == ["friedman1", "penguins"] and facts["tables"]["friedman1"]["metric"] == "rmse"
    assert 1 < facts["tables"]["friedman1"]["error"] < 3  # 1 is noise
    monkeypatch.setattr(bench, "stored_results", lambda: facts)
    assert run(asked) == 0
    said = capsys.readouterr().out
    assert "SAME     the errors are those of tenfold" in said and said.count("\n") == 4
    facts["tables"]["penguins"]["error"] /= 1.5
    assert run(["bench", "--only", "penguins"]) == 1 and "WORSE    penguins: the error is more than 2% above" in capsys.readouterr().out


def test_stored_results_are_of_all_tables(capsys: pytest.CaptureFixture[str]) -> None:
    stored = bench.stored_results()
    assert set(stored["tables"]) == set(bench.NAMES) and stored["cores"] >= 1
    assert run(["bench", "--only", "penguin"]) == 2
    assert "there are penguins, friedman1, waveform, ringnorm" in capsys.readouterr().err
