"""The portfolio of `tenfold.select`: fixed by the shape of a table, in one order, each entry fit to be tried."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

import tenfold
from tenfold.selection.plan import portfolio as module
from tenfold.selection.plan import tree_entries
from tenfold.selection.plan.entries import Entry
from tenfold.selection.plan.portfolio import portfolio
from tenfold.selection.race.prepared import front

SHAPES = {
    "two classes": ("classifier", 90, 4, 2),
    "three classes": ("classifier", 120, 3, 3),
    "numbers": ("regressor", 100, 5, 0),
    "one column": ("regressor", 90, 1, 0),
    "wide": ("regressor", 90, 130, 0),
    "wide, two classes": ("classifier", 100, 70, 2),
}


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_entries, "FOREST_TREES", 4)
    monkeypatch.setattr(tree_entries, "ROUNDS", (2, 5))


def table(role: str, n: int, p: int, classes: int, categories: bool) -> tuple[np.ndarray, pl.DataFrame, np.ndarray]:
    """A matrix, the same rows as a frame, and a target that depends on the first column."""
    rng = np.random.default_rng(n + p)
    X = rng.normal(size=(n, p))
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(p)})
    if categories:
        level = rng.integers(0, 3, n)
        frame = frame.with_columns(pl.Series("colour", np.array(["red", "green", "blue"])[level]))
        X = np.column_stack([X, level == 1, level == 2])
    signal = X[:, 0] + 0.5 * rng.normal(size=n)
    if not classes:
        return X, frame, np.exp(signal)
    edges = np.quantile(signal, np.linspace(0, 1, classes + 1)[1:-1])
    return X, frame, np.digitize(signal, edges)


def ends_and_fourths(grid: list[Any]) -> list[Any]:
    """Both ends of a grid, and every fourth of its values from the first on."""
    return [one for number, one in enumerate(grid) if number % 4 == 0 or number == len(grid) - 1]


def fitted(entry: Entry, X: np.ndarray, frame: pl.DataFrame, y: np.ndarray) -> np.ndarray:
    """What settings say of the training rows: (settings, rows)."""
    said = []
    for learner in ends_and_fourths(entry.learners()):
        if entry.raw:
            said.append(learner.fit(frame, y).predict(frame))
        else:
            said.append(tenfold.Pipeline([*front(), ("model", learner)]).fit(X, y).predict(X))
    return np.array(said)


@pytest.mark.parametrize("categories", [False, True], ids=["numbers only", "with a category"])
@pytest.mark.parametrize("name", SHAPES)
def test_every_entry_can_be_fitted_without_a_warning(name: str, categories: bool) -> None:
    role, n, p, classes = SHAPES[name]
    X, frame, y = table(role, n, p, classes, categories)
    low = float(y.min())
    for entry in portfolio(role, n, frame.width, classes, width=X.shape[1], categories=int(categories), lowest=low, skewed=True):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            said = fitted(entry, X, frame, y)
        assert said.shape == (len(ends_and_fourths(list(entry.values) or [None])), n), entry.title
        assert np.isfinite(said.astype(float)).all(), entry.title


@pytest.mark.parametrize("name", SHAPES)
def test_it_is_fixed_by_the_shape_alone(name: str) -> None:
    once, again = portfolio(*SHAPES[name]), portfolio(*SHAPES[name])
    assert [entry.title for entry in once] == [entry.title for entry in again]
    assert [repr(entry.learner) for entry in once] == [repr(entry.learner) for entry in again]
    titles = [entry.title for entry in once]
    assert len(set(titles)) == len(titles)
    assert [entry.is_guess for entry in once] == [True] + [False] * (len(once) - 1)


def test_every_title_of_the_order_belongs_to_an_entry() -> None:
    for order, role, classes in ((module.CLASS_ORDER, "classifier", 2), (module.NUMBER_ORDER, "regressor", 0)):
        entries = [*portfolio(role, 1000, 10, classes, lowest=0.0, skewed=True), *portfolio(role, 1000, 50, 2 * classes)]
        entries += portfolio(role, 3000, 10, 10 * classes)  # too many classes for logistic regressions of many kernels
        assert set(order) <= {entry.title for entry in entries}


@pytest.mark.parametrize(("role", "classes"), [("classifier", 2), ("regressor", 0)])
def test_small_tables_have_no_trees_and_no_basis(role: str, classes: int) -> None:
    for rows in (4, 20, 49):
        assert {entry.kind for entry in portfolio(role, rows, 3, classes)}.isdisjoint({"boosting", "forest", "extra", "basis"})


@pytest.mark.parametrize(("role", "classes"), [("classifier", 2), ("classifier", 8), ("regressor", 0)])
def test_longer_and_wider_tables_take_longer(role: str, classes: int) -> None:
    for small, large in (((1000, 10), (50_000, 10)), ((2000, 12), (2000, 20))):
        before = {entry.title: entry.seconds for entry in portfolio(role, *small, classes)}
        for entry in portfolio(role, *large, classes)[1:]:
            if entry.title in before:
                assert 0 < before[entry.title] < entry.seconds < 3600, entry.title


def test_boosting_ends_where_its_trees_would_be_too_many() -> None:
    most = {entry.title: entry.values[-1] for entry in portfolio("classifier", 5000, 10, 26) if entry.kind == "boosting"}
    assert set(most.values()) <= set(tree_entries.ROUNDS)
    for entry in portfolio("classifier", 5000, 10, 26):
        if entry.kind == "boosting":
            assert entry.leaves * entry.values[-1] <= tree_entries.MOST_LEAVES
