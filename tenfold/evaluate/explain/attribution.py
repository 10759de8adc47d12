"""Attributions: how much each column has moved the prediction for a row, by Shapley's rule and exactly."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, map_rows
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadType

SAME = 1e-7  # relative to its parts, a sum that differs by no more is the same


@dataclass(frozen=True)
class Attributions:
    """Shapley values: `values` is (rows, columns), or (rows, columns, classes); `base` is the prediction for an unknown row.

    base + the values of a row = the model's prediction for it, in the unit `unit`.
    """

    columns: list[str]
    unit: str
    base: Array  # () or (classes)
    values: Array = field(repr=False)
    rows: Array = field(repr=False)  # the rows themselves, categories as codes
    classes: list[Any] | None = None
    categories: list[Array | None] | None = field(default=None, repr=False)  # what the codes of each column stand for

    @property
    def importances(self) -> Array:
        """The mean size of the values of each column, (columns) or (columns, classes)."""
        return np.asarray(np.abs(self.values).mean(axis=0))

    def of_class(self, which: Any) -> Attributions:
        """The values for one class only."""
        if self.classes is None or which not in self.classes:
            raise BadInput(f"there is no class {which!r} to attribute to: the classes are {self.classes}")
        k = self.classes.index(which)
        return Attributions(
            self.columns,
            f"{self.unit} of {which}",
            self.base[k],
            self.values[:, :, k],
            self.rows,
            None,
            self.categories,
        )

    def __str__(self) -> str:
        size = self.importances if self.values.ndim == 2 else self.importances.sum(axis=1)
        width = max(len(name) for name in self.columns)
        lines = [f"mean size of the attributions to each column ({self.unit})"]
        lines += [f"{self.columns[j]:>{width}}  {size[j]:10.4g}" for j in np.argsort(-size, kind="stable")]
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, row: int | None = None, ax: Any = None) -> Any:
        """All rows, a strip of dots for each column; or one row, from the base to its prediction. Returns the axes."""
        from tenfold.draw.attribution import draw_attributions, draw_one_row

        return draw_attributions(self, ax) if row is None else draw_one_row(self, row, ax)


def attributions(model: Any, X: Any, background: Any = None) -> Attributions:
    """The exact Shapley values of the columns for fitted trees (Lundberg et al. 2020), and for models that are sums over columns.

    value_i = Σ over sets S of other columns of  |S|! (p − |S| − 1)! / p!  (f(S and i) − f(S)),  where f(S) is the
    model's prediction when only the columns in S are known. An unknown column takes the ways of the training rows at each node
    ("path-dependent"); with `background`, rows of the same columns, it takes their values ("interventional").
    Boosted classifiers are explained in log-odds (`decision_function`), trees and forests in probabilities. In a sum over columns
    (linear models, naive Bayes, nearest centroid) an unknown column takes the values of `background`, which is X if none is given;
    classifiers of this kind are explained in log-odds.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import attributions
    >>> X = np.random.default_rng(0).normal(size=(100, 3)); y = 3 * X[:, 0] + X[:, 1]
    >>> model = tenfold.DecisionTreeRegressor(max_depth=4).fit(X, y)
    >>> found = attributions(model, X[:5])
    >>> bool(np.allclose(found.base + found.values.sum(axis=1), model.predict(X[:5])))
    True
    """
    if not isinstance(model, Estimator) or model.role not in ("classifier", "regressor"):
        raise BadType(f"{type(model).__name__} predicts no target: give a fitted classifier or regressor of Tenfold")
    rows = _table(model, X, "X")
    known = None if background is None else _table(model, background, "background")
    explained = model._explained()
    if explained is None:
        return _of_sums(model, rows, rows if known is None else known)
    parts, scale, offset, unit = explained
    values = scale * map_rows(lambda block: np.concatenate([t.attributions(block, known) for t in parts], axis=2), rows)
    base = offset + scale * np.concatenate([trees.expectation(known) for trees in parts])
    classes = _classes(model) if model.role == "classifier" else None
    if values.shape[2] == 1 or (
        classes is not None and len(classes) == 2
    ):  # the first class loses what the second wins
        base, values = base[-1], values[:, :, -1]
        unit = unit if classes is None else f"{unit} of {classes[-1]}"
        classes = None
    return Attributions(
        _names(model, rows), unit, np.asarray(base), values, rows, classes, getattr(model, "categories_", None)
    )


def _classes(model: Any) -> list[Any]:
    """The classes; of several targets all of them side by side, each with the number of its target."""
    if isinstance(model.classes_, list):
        return [f"y{k} = {one}" for k, classes in enumerate(model.classes_) for one in classes.tolist()]
    return list(model.classes_.tolist())


def _of_sums(model: Any, rows: Array, background: Array) -> Attributions:
    """The values of a model that is a sum over columns, f(x) = c + Σ gⱼ(xⱼ): value_j = gⱼ(xⱼ) − mean of gⱼ over the background.

    No formula of the model is needed: gⱼ is what changes when column j alone is moved away from one row. That the sum holds is
    seen from the predictions.
    """
    start = background[:1]

    def effects(j: int, values: Array) -> Array:
        different, place = np.unique(values, return_inverse=True)
        moved = np.repeat(start, len(different), axis=0)
        moved[:, j] = different
        return (_responses(model, moved) - at_start)[place.reshape(-1)]

    at_start, direct = _responses(model, start), _responses(model, rows)
    values = np.stack([effects(j, rows[:, j]) for j in range(rows.shape[1])], axis=1)
    means = np.stack([effects(j, background[:, j]).mean(axis=0) for j in range(rows.shape[1])])
    values, base = values - means, at_start[0] + means.sum(axis=0)
    off = np.abs(base + values.sum(axis=1) - direct)
    if not (off <= SAME * (1 + np.abs(direct) + np.abs(values).sum(axis=1))).all():
        raise BadType(
            f"{type(model).__name__} is neither made of trees nor a sum over its columns, so it has no exact attributions here: "
            "sampled_attributions, permutation_importance and partial_dependence take any model"
        )
    classes = model.classes_.tolist() if model.role == "classifier" else None
    unit = "prediction" if classes is None else "centred log posterior"
    if values.shape[2] == 1:
        base, values = base[0], values[:, :, 0]
        unit, classes = unit if classes is None else f"log-odds of {classes[1]}", None
    return Attributions(
        _names(model, rows), unit, np.asarray(base), values, rows, classes, getattr(model, "categories_", None)
    )


def _responses(model: Estimator, rows: Array) -> Array:
    """(n, outputs): predictions, the log-odds of two classes, or log posteriors less their mean over the classes."""
    if model.role == "regressor":
        return map_rows(model._predict, rows).reshape(len(rows), -1)
    scores = map_rows(model._scores, rows).astype(np.float64, copy=False)
    return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores - scores.mean(axis=1, keepdims=True)


def _names(model: Estimator, rows: Array) -> list[str]:
    names = vars(model).get("feature_names_in_")
    return [f"x{j}" for j in range(rows.shape[1])] if names is None else [str(name) for name in names]


def _table(model: Estimator, X: Any, what: str) -> Array:
    rows = check.check_predict(model, X)
    if not isinstance(rows, np.ndarray):
        raise BadType(f"{what} must be a table in memory: an array or a data frame")
    return rows
