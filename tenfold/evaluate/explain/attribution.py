"""Attributions: how much each column has moved what trees say of a row, by Shapley's rule and exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import map_rows
from tenfold.core.errors import BadInput, BadType

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Attributions:
    """Shapley values: `values` is (rows, columns), or (rows, columns, classes); `base` is what is said of an unknown row.

    base + the values of a row = what the model says of it, in the unit `unit`.
    """

    columns: list[str]
    unit: str
    base: Array  # () or (classes)
    values: Array = field(repr=False)
    rows: Array = field(repr=False)  # the rows themselves, categories as codes
    classes: list[Any] | None = None

    @property
    def importances(self) -> Array:
        """The mean size of the values of each column, (columns) or (columns, classes)."""
        return np.abs(self.values).mean(axis=0)

    def of_class(self, which: Any) -> Attributions:
        """The values for one class only."""
        if self.classes is None or which not in self.classes:
            raise BadInput(f"there is no class {which!r} to attribute to: the classes are {self.classes}")
        k = self.classes.index(which)
        return Attributions(self.columns, f"{self.unit} of {which}", self.base[k], self.values[:, :, k], self.rows)

    def __str__(self) -> str:
        size = self.importances if self.values.ndim == 2 else self.importances.sum(axis=1)
        width = max(len(name) for name in self.columns)
        lines = [f"mean size of the attributions to each column ({self.unit})"]
        lines += [f"{self.columns[j]:>{width}}  {size[j]:10.4g}" for j in np.argsort(-size, kind="stable")]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, row: int | None = None, ax: Any = None) -> Any:
        """All rows, a strip of dots for each column; or one row, from the base to what is said of it. Returns the axes."""
        from tenfold.draw.attribution import draw_attributions, draw_one_row

        return draw_attributions(self, ax) if row is None else draw_one_row(self, row, ax)


def attributions(model: Any, X: Any, background: Any = None) -> Attributions:
    """The exact Shapley values of the columns for a fitted tree, forest or boosted trees (Lundberg et al. 2020).

    value_i = Σ over sets S of other columns of  |S|! (p − |S| − 1)! / p!  (f(S and i) − f(S)),  where f(S) is what the
    model says when only the columns in S are known. An unknown column takes the ways of the training rows at each node
    ("path-dependent"); with `background`, rows of the same columns, it takes their values ("interventional").
    Boosted classifiers are explained in log-odds (`decision_function`), trees and forests in probabilities.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import attributions
    >>> X = np.random.default_rng(0).normal(size=(100, 3)); y = 3 * X[:, 0] + X[:, 1]
    >>> model = tenfold.DecisionTreeRegressor(max_depth=4).fit(X, y)
    >>> found = attributions(model, X[:5])
    >>> bool(np.allclose(found.base + found.values.sum(axis=1), model.predict(X[:5])))
    True
    """
    if not hasattr(model, "_explained"):
        raise BadType(
            f"{type(model).__name__} is not made of trees: exact attributions are for trees, forests and boosted trees; "
            "permutation_importance and partial_dependence take any model"
        )
    rows = _table(model, X, "X")
    known = None if background is None else _table(model, background, "background")
    parts, scale, offset, unit = model._explained()
    values = scale * map_rows(lambda block: np.concatenate([t.attributions(block, known) for t in parts], axis=2), rows)
    base = offset + scale * np.concatenate([trees.expectation(known) for trees in parts])
    classes = model.classes_.tolist() if model.role == "classifier" else None
    if values.shape[2] == 1 or (
        classes is not None and len(classes) == 2
    ):  # the first class loses what the second wins
        base, values = base[-1], values[:, :, -1]
        unit = unit if classes is None else f"{unit} of {classes[-1]}"
        classes = None
    names = vars(model).get("feature_names_in_")
    columns = [f"x{j}" for j in range(rows.shape[1])] if names is None else [str(name) for name in names]
    return Attributions(columns, unit, np.asarray(base), values, rows, classes)


def _table(model: Any, X: Any, what: str) -> Array:
    rows = check.check_predict(model, X)
    if not isinstance(rows, np.ndarray):
        raise BadType(f"{what} must be a table in memory: an array or a data frame")
    return rows
