"""python -m bench.out_of_bag: is the out-of-bag score of a forest that of cross-validation, on real tables?

Accuracy, or R² over all rows at once, in points (hundredths). A row is out of bag for 37 of 100 trees only, so both sides
grow 500 trees: with few of them the number of trees, not the rows, would make the difference. A small table is
divided into folds several times, since the folds that happen to be drawn move its score by points.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

import tenfold

from .tables import LEFT_OUT, Table, folds, tables_in

SMALL = 5_000  # rows: below, folds are drawn several times


def forest(table: Table, trees: int, seed: int) -> Any:
    kind = tenfold.RandomForestClassifier if table.n_classes else tenfold.RandomForestRegressor
    return kind(trees, random_state=seed)


def points(table: Table, said: np.ndarray) -> float:
    """Accuracy, or R², times 100."""
    if table.n_classes:
        return 100 * float(np.mean(said == table.y))
    return 100 * float(1 - np.mean((said - table.y) ** 2) / np.var(table.y))


def crossed(table: Table, trees: int, n_folds: int, seed: int) -> float:
    """The score of predictions of all rows, each from a forest that has not seen its fold."""
    said = np.empty(len(table.y), dtype=table.y.dtype)
    for held in folds(table, n_folds, seed):
        train = np.setdiff1d(np.arange(len(table.y)), held)
        model = forest(table, trees, seed).fit(table.X.iloc[train], table.y[train])
        said[held] = model.predict(table.X.iloc[held])
    return points(table, said)


def compared(table: Table, trees: int = 500, n_folds: int = 10, repeats: int = 3) -> dict[str, float]:
    """The out-of-bag score beside that of cross-validation, means over seeds; and the spread of the latter."""
    seeds = range(repeats if len(table.y) < SMALL else 1)
    inside = [100 * forest(table, trees, seed).fit(table.X, table.y).oob_score_ for seed in seeds]
    across = [crossed(table, trees, n_folds, seed) for seed in seeds]
    told = {"out of bag": np.mean(inside), "cross-validation": np.mean(across)}
    told |= {"difference": told["out of bag"] - told["cross-validation"], "spread": np.std(across)}
    return {name: float(value) for name, value in told.items()}


def without_copies(table: Table) -> Table:
    """The table with one row, the first, for each content of its columns."""
    first = ~pd.DataFrame(table.X).duplicated().to_numpy()
    return Table(table.name, table.X[first].reset_index(drop=True), table.y[first], table.n_classes)


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(arguments)
    out = Path(asked.json) if asked.json else None
    done = json.loads(out.read_text()) if out is not None and out.exists() else {}
    print(f"{'table':20s} {'out of bag':>10s} {'folds':>8s} {'points off':>10s} {'spread':>8s}")
    names = asked.only.split(",") if asked.only else None
    for table in tables_in(Path(asked.tables), names, left_out=[name for name in LEFT_OUT if name != "faithful"]):
        if table.name not in done:
            with tenfold.threads(1), threadpool_limits(1):
                one = without_copies(table) if asked.without_copies else table
                done[table.name] = compared(one, asked.trees, asked.folds, asked.repeats)
            if out is not None:
                out.write_text(json.dumps(done, indent=1))
        told = done[table.name]
        line = f"{told['out of bag']:10.2f} {told['cross-validation']:8.2f} {told['difference']:+10.2f} {told['spread']:8.2f}"
        print(f"{table.name:20s} {line}", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.out_of_bag", description=__doc__.splitlines()[0])
    parser.add_argument("--tables", required=True, metavar="DIR", help="the folder of NAME.csv.gz")
    parser.add_argument("--only", metavar="TABLE[,TABLE]", help="these tables")
    parser.add_argument("--trees", type=int, default=500, metavar="N", help="trees of every forest (500)")
    parser.add_argument("--folds", type=int, default=10, metavar="N", help="folds (10)")
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help=f"seeds, below {SMALL:,} rows (3)")
    parser.add_argument("--without-copies", action="store_true", help="one row for each content of the columns")
    parser.add_argument("--json", metavar="FILE", help="results, kept as they come; what is there is not run again")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
