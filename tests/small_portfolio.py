"""The portfolio of `tenfold.select` with fewer and smaller learners, for tests that run it many times."""

from __future__ import annotations

import pytest

from tenfold.selection.plan import entries, folds, plan, tree_entries

# Every third or so of the values of a grid.
GRIDS = {
    "RIDGE_PER_ROW": entries.RIDGE_PER_ROW[::4],
    "LOGISTIC_ROWS": entries.LOGISTIC_ROWS[1:4:2],
    "MACHINE_PENALTIES": entries.MACHINE_PENALTIES[::4],
    "PARTS": entries.PARTS[:1],
    "LASSO_SHARES": entries.LASSO_SHARES[::3],
    "SPARSE_ROWS": entries.SPARSE_ROWS[::3],
    "NEIGHBORS": entries.NEIGHBORS[::3],
}


def shrink(monkeypatch: pytest.MonkeyPatch, trees: int = 10, rounds: tuple[int, ...] = (5, 20)) -> None:
    """Two boostings, a forest, extra trees and one set of kernels, of so many trees and rounds; coarse grids, one division of the rows into
    five folds, also of few rows: where the choice is nested, ten folds are four times the fits."""
    monkeypatch.setattr(folds, "FOLDS", ())
    monkeypatch.setattr(tree_entries, "FOREST_TREES", trees)
    monkeypatch.setattr(tree_entries, "ROUNDS", rounds)
    monkeypatch.setattr(plan, "REPEATS", ())
    monkeypatch.setattr(entries, "MOST_PROCESS_ROWS", 0)  # the evidence of a process takes a hundred factorisations
    monkeypatch.setattr(entries, "KERNELS", [("kernels", 0.5, 20, 1.0, False)])
    for name, values in GRIDS.items():
        monkeypatch.setattr(entries, name, values)
    kept = ("boosted trees of 4 leaves", "boosted trees of 31 leaves", "random forest of larger leaves", "extra trees")
    for name in ("BOOSTED", "FORESTS"):
        monkeypatch.setattr(tree_entries, name, [one for one in getattr(tree_entries, name) if one[0] in kept])
