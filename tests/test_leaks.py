"""Columns that give the target away: of 100 planted ones at least 95 are found, of 300 clean ones at most 2 flagged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn import datasets

import tenfold
from tenfold.table.leaks import leak_suspects
from tenfold.table.task import find_task

TABLES = Path(__file__).resolve().parents[2] / "shared" / "data" / "tables"
N = 400


def suspects(columns: dict[str, Any]) -> list[str]:
    return [flag.columns[0] for flag in tenfold.read(pl.DataFrame(columns), target="y").flags if flag.what == "leak"]


def planted(kind: str, seed: int) -> dict[str, Any]:
    """A table with one leak, `leak`, beside a column that explains some of the target and one that explains nothing."""
    rng = np.random.default_rng([seed, len(kind)])
    group = rng.permutation(np.repeat(np.arange(N), 3 + seed % 4)[:N])
    classes = seed % 2 == 0
    k = 2 + seed % 3
    y: Any = rng.integers(0, k, N) if classes else rng.gamma(2, 3, N)
    if kind == "aggregated id":
        y = y[group]
    spread = np.std(y)
    leak: Any
    if kind == "noisy copy":
        leak = y + rng.normal(0, 0.15 if classes else rng.uniform(0.005, 0.05) * spread, N)
    elif kind == "monotone transform":
        shape = (np.exp, np.cbrt, lambda x: -np.log1p(x), lambda x: x**3, lambda x: 1 / (1 + x))[seed % 5]
        leak = shape(y / spread) + (rng.normal(0, 1e-4, N) if classes else 0.0)
    elif kind == "coded levels":
        codes = y if classes else (np.argsort(np.argsort(y)) * 40) // N
        names = rng.permutation(codes.max() + 1)
        wrong = rng.random(N) < 0.002
        leak = np.where(wrong, rng.permutation(names[codes]), names[codes])
        leak = [f"code {one}" for one in leak] if seed % 3 else leak
    else:
        leak = rng.permutation(N)[group] if seed % 3 else [f"patient {one}" for one in group]
    target = [f"class {one}" for one in y] if classes else y
    return {"some": y + rng.normal(0, spread, N), "noise": rng.normal(size=N), "leak": leak, "y": target}


def test_planted_leaks_are_found() -> None:
    found, wrong, missed = 0, 0, []
    for kind in ("noisy copy", "monotone transform", "coded levels", "aggregated id"):
        for seed in range(25):
            told = suspects(planted(kind, seed))
            found += "leak" in told
            wrong += len(set(told) - {"leak"})
            missed += [] if "leak" in told else [(kind, seed)]
    assert found >= 95 and wrong == 0, missed


def test_a_value_that_is_there_only_afterwards() -> None:
    rng = np.random.default_rng(0)
    gone = rng.random(N) < 0.3
    refund = [f"2024-03-{i % 28 + 1:02}" if one else None for i, one in enumerate(gone)]
    assert suspects({"x": rng.normal(size=N), "refund": refund, "y": np.where(gone, "left", "stayed")}) == ["refund"]


def clean() -> list[pl.DataFrame]:
    """Real tables that come with scikit-learn, and those of the folder of tables where it is there."""
    tables = []
    for load in (datasets.load_wine, datasets.load_breast_cancer, datasets.load_digits, datasets.load_diabetes):
        data = load()
        target = data.target if load is datasets.load_diabetes else [f"c{one}" for one in data.target]
        tables.append(pl.DataFrame({f"x{j}": column for j, column in enumerate(data.data.T)} | {"y": target}))
    return tables


def test_clean_columns_are_not_flagged() -> None:
    assert sum(len(suspects(table.to_dict(as_series=False))) for table in clean()) == 0  # 117 columns


def test_clean_columns_of_real_tables() -> None:
    if not TABLES.is_dir():
        pytest.skip("the folder of real tables is not here")
    looked_at, flagged = 0, []
    for path in sorted(TABLES.glob("*.csv.gz")):
        if path.name in ("digits.csv.gz", "breast_cancer.csv.gz", "diabetes.csv.gz", "adult.csv.gz", "diamonds.csv.gz"):
            continue  # looked at above, or large
        table = tenfold.read(path, target="target")
        looked_at += table.width - 1
        flagged += [(path.name, flag.columns[0]) for flag in table.flags if flag.what == "leak"]
    # The classes of faithful (long and short waits) were made from `waiting`: flagged rightly.
    assert looked_at >= 300 and len(set(flagged) - {("faithful.csv.gz", "waiting")}) <= 2, flagged


def test_copies_of_rows_are_no_leak() -> None:
    """Each row has a copy with its target: by the others of their level all columns would seem to know it."""
    rng = np.random.default_rng(0)
    once = pl.DataFrame({"x": rng.normal(size=200), "c": [f"id{k}" for k in range(200)], "y": rng.choice(["a", "b"], size=200)})
    twice = pl.concat([once, once])
    assert leak_suspects(twice.drop("y"), find_task(twice["y"], None)) == []
