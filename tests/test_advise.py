"""The advisor on tables made to have one answer each, and its command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.advisor.advice import ordinal
from tenfold.app.commands import run

N = 400


def problem(kind: str, seed: int) -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    plain = X @ [1.0, -2.0, 0.5] + 3
    noise = rng.normal(size=N)
    told: dict[str, Any] = {}
    y = plain + 0.5 * noise
    if kind == "several":
        y = np.where(rng.uniform(size=N) < 0.6, plain, -plain + 20) + 0.1 * noise
    elif kind == "bent":
        y = plain + X[:, 0] ** 2 + 0.5 * noise
    elif kind == "counts":
        y = rng.poisson(np.exp(0.1 * plain + 2)).astype(float)
    elif kind == "outliers":
        y = np.where(rng.uniform(size=N) < 0.1, 60 * rng.normal(size=N), y)
    elif kind == "leverage":
        bad = rng.uniform(size=N) < 0.1
        X[bad] += 8
        y[bad] = -40 + 5 * noise[bad]
    elif kind == "unequal":
        y = plain + 0.3 * np.exp(0.7 * X[:, 0]) * noise
    elif kind == "ill":
        X[:, 2] = X[:, 0] + 1e-4 * X[:, 2]
        y = X @ [1.0, -2.0, 0.5] + 0.5 * noise
    elif kind == "few":
        X, y = X[:3], y[:3]
    elif kind == "noisy":
        told = {"x_noisy": True}
    return X, y, told


EXPECTED = {
    "plain": "LinearRegression",
    "several": "RANSACRegressor",
    "bent": "SplineTransformer",
    "counts": "AnscombeTransformer",
    "outliers": "HuberRegressor",
    "leverage": "MMRegressor",
    "unequal": "ReweightedLeastSquares",
    "ill": "RidgeCV",
    "few": "RidgeCV",
    "noisy": "TotalLeastSquares",
}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", EXPECTED)
def test_made_problems(kind: str, seed: int) -> None:
    X, y, told = problem(kind, seed)
    advice = tenfold.advise(X, y, **told)
    assert advice.learner == EXPECTED[kind], str(advice)
    assert advice.learner in tenfold.PUBLIC
    text = str(advice)
    assert all(one.question in text and one.evidence in text for one in advice.findings) and advice.why in text


def test_plain_problems_are_left_alone() -> None:
    """Of 40 with nothing wrong, nearly all get ordinary least squares."""
    plain = [tenfold.advise(*problem("plain", seed)[:2]).method == "ordinary least squares" for seed in range(40)]
    assert sum(plain) >= 37


def test_bad_input() -> None:
    X, y, _ = problem("plain", 0)
    with pytest.raises(tenfold.BadInput, match="one target"):
        tenfold.advise(X, np.column_stack([y, y]))
    with pytest.raises(tenfold.BadInput, match="NaN in column 1, row 2"):
        X[2, 1] = np.nan
        tenfold.advise(X, y)
    for rows in (1, 2, 5):
        assert tenfold.advise(np.zeros((rows, 2)), np.zeros(rows)).learner == "RidgeCV"
    assert tenfold.advise(np.arange(50.0)[:, None], 2 * np.arange(50.0)).learner == "LinearRegression"


def test_a_target_of_two_values_is_a_class() -> None:
    """Two classes are not two planes: no RANSAC, however the rows lie."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    for y in (X[:, 0] > 0, rng.uniform(size=N) < 0.05, np.where(X[:, 0] > 1, 2.5, -1.0)):
        advice = tenfold.advise(X, np.asarray(y, dtype=float))
        assert advice.learner == "LogisticRegression" and advice.answer("two classes") == "yes"


def test_levels_of_a_target_are_not_several_planes() -> None:
    """Grades, and a target that is mostly 0: each level is a plane on which many rows lie exactly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    mostly = np.where(rng.uniform(size=N) < 0.7, 0.0, np.exp(X[:, 0]))
    for y in (rng.integers(0, 3, N).astype(float), mostly):
        advice = tenfold.advise(X, y)
        assert advice.answer("several") == "no" and advice.learner != "RANSACRegressor"


def test_rows_far_out_are_not_no_outliers() -> None:
    """Where noise grows, wide tails may come of it or of outliers: the advice does not say that there are none."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 1))
    y = 3 * X[:, 0] + np.exp(1.2 * X[:, 0]) * rng.normal(size=N)
    found = {one.question: one for one in tenfold.advise(X, y).findings}
    outliers = found["outliers, heavy tails?"]
    assert found["noise equal?"].answer == "no" and float(outliers.evidence.partition("%")[0]) > 1
    assert outliers.answer == "not sure" and "which unequal noise makes as well" in outliers.evidence


def test_numbers_in_words() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 21, 102, 113)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "102nd", "113th",
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_001, 1))
    shape = tenfold.advise(X, X[:, 0] + rng.normal(size=40_001)).findings[0]
    assert shape.evidence.startswith("40,001 rows (every 3rd looked at), 1 column; condition 1")


def test_command(tmp_path: Path, capsys: Any) -> None:
    X, y, _ = problem("outliers", 0)
    table = np.column_stack([X, y])
    file = tmp_path / "table.csv"
    np.savetxt(file, table, delimiter=",", header="a,b,c,y", comments="")
    assert run(["advise", str(file), "--target", "y"]) == 0
    said = capsys.readouterr().out
    assert "HuberRegressor" in said and "outliers" in said
    assert run(["advise", str(file), "--target", "z"]) == 2
    assert "z" in capsys.readouterr().err


def test_command_codes_categories_and_blanks(tmp_path: Path, capsys: Any) -> None:
    rng = np.random.default_rng(0)
    lines = [
        f"{x:.4f},{'red' if i % 2 else 'blue'},{'' if i % 9 == 0 else i % 5},{3 * x + i % 2 + rng.normal():.4f}"
        for i, x in enumerate(rng.normal(size=120))
    ]
    file = tmp_path / "mixed.csv"
    file.write_text("size,colour,count,price\n" + "\n".join(lines))
    assert run(["advise", str(file), "--target", "price"]) == 0
    said = capsys.readouterr().out
    assert "LinearRegression" in said and "columns coded as" in said
    assert run(["advise", str(file), "--target", "colour"]) == 3
    assert (
        "'colour' cannot be read as a number: it holds 'blue'; advise is about regressions" in capsys.readouterr().err
    )
