"""python -m bench.wall: whether `tenfold select --time T` is over after T, on tables of many shapes.

Over is the whole command: Python itself, reading, the race, the model of all rows and the page. It may take 1.05 T and 2 seconds. Rows,
columns and T are drawn from their ranges on the scale of logarithms, as many of them small as large, and targets in turn from numbers, two
and seven classes. Whatever is cut, the folder must hold a model that predicts.

    python -m bench.wall --runs 40
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import tenfold

ROWS, COLUMNS, SECONDS, MOST_CELLS = (100, 1_000_000), (3, 400), (5.0, 60.0), 10_000_000
CLASSES = (0, 2, 7)  # of the target; none where it is a number
TARGET = "y"


def between(rng: np.random.Generator, ends: tuple[float, float]) -> float:
    low, high = np.log(ends)
    return float(np.exp(rng.uniform(low, high)))


def drawn(rng: np.random.Generator, rows: int, columns: int, classes: int) -> pl.DataFrame:
    """Numbers, one of them with gaps, a category, and a target of effects and a product of the first columns."""
    X = rng.standard_normal((rows, columns))
    word = rng.integers(0, 12, rows)
    signal = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, :8].sum(axis=1) / 4
    signal += (word % 3) / 2 + rng.standard_normal(rows) / 2
    X[rng.random(rows) < 0.05, 0] = np.nan
    levels = np.searchsorted(np.quantile(signal, np.linspace(0, 1, classes + 1)[1:-1]), signal) if classes else None
    target = pl.Series(signal) if levels is None else pl.Series([f"class {k}" for k in levels])
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(columns)]).with_columns(pl.col("x0").fill_nan(None))
    return frame.with_columns(pl.Series("word", [f"w{k}" for k in word]), target.alias(TARGET))


def run(table: pl.DataFrame, given: float, place: Path) -> dict[str, Any]:
    """How long the command took, and what is wrong with what it left."""
    table.write_parquet(place / "t.parquet")
    command = [sys.executable, "-m", "tenfold", "select", "t.parquet", "--target", TARGET, "--time", f"{given:.1f}"]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    taken, wrong = time.perf_counter() - began, ""
    if done.returncode != 0:
        wrong = f"ended with {done.returncode}: {done.stderr.strip()[-200:]}"
    elif len(tenfold.load(place / "t.tenfold" / "model.tenfold").predict(table.drop(TARGET).head(5))) != 5:
        wrong = "the model does not predict"
    elif taken > 1.05 * given + 2:
        wrong = "late"
    return dict(taken=taken, wrong=wrong, cut="WALL" in done.stdout)


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.wall", description=__doc__, formatter_class=form)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    rng, wrong = np.random.default_rng(asked.seed), 0
    for number in range(asked.runs):
        columns = round(between(rng, COLUMNS))
        rows = min(round(between(rng, ROWS)), MOST_CELLS // columns)
        given, classes = between(rng, SECONDS), CLASSES[number % len(CLASSES)]
        with tempfile.TemporaryDirectory(prefix="tenfold-wall-") as place:
            found = run(drawn(rng, rows, columns, classes), given, Path(place))
        wrong += bool(found["wrong"])
        kind, cut = f"{classes} classes" if classes else "numbers", "cut" if found["cut"] else "   "
        took = f"asked {given:5.1f} s  took {found['taken']:5.1f} s  {cut}  {found['wrong'] or 'ok'}"
        print(f"{rows:7,} x {columns:3}  {kind:9}  {took}", flush=True)
    print(f"{wrong} of {asked.runs} went wrong")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
