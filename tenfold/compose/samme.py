"""The rounds of AdaBoost for classes (SAMME): weights of rows, weights of members, and what members say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.foreign import own_of, takes
from tenfold.base.members import fit_member, shares_of
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, Degenerate, warn
from tenfold.core.random import seed_of
from tenfold.tree.settings import generator_of
from tenfold.tree.single.exact import Growth, Presorted
from tenfold.tree.single.stumps import Stumps, normalised, packed, whole_weights
from tenfold.tree.structure.arrays import Trees

SMALLEST_SHARE = float(np.finfo(float).eps)  # of a class in a leaf, where its logarithm is taken


def votes(labels: Array, n_classes: int) -> Array:
    """1 for the class that was named, −1/(K − 1) for the others."""
    said = np.full((len(labels), n_classes), -1.0 / max(n_classes - 1, 1))
    said[np.arange(len(labels)), labels] = 1.0
    return said


def leanings(shares: Array) -> Array:
    """(K − 1)(log p − mean of log p over the classes)."""
    logs = np.log(np.maximum(shares, SMALLEST_SHARE))
    return np.asarray((shares.shape[1] - 1) * (logs - logs.mean(axis=1, keepdims=True)))


class Boosting:
    """The rounds: weights of rows, and of members."""

    def __init__(self, model: Estimator, weak: Any, y: Array, w: Array) -> None:
        self.weak, self.y, self.w = weak, y, normalised(w)
        self.n_rounds, self.rate, self.real = (
            model.n_estimators,
            float(model.learning_rate),
            model.algorithm == "SAMME.R",
        )
        self.n_classes = len(model.classes_)
        self.weights: list[float] = []
        self.errors: list[float] = []

    def rounds(self) -> Iterator[float]:
        """Yields the weighted error of each member."""
        for t in range(self.n_rounds):
            whole = whole_weights(self.w)
            shares, side = self.weak.fit(whole, t)  # the shares of side[i] are those of row i
            wrong = shares.argmax(axis=1).take(side) != self.y
            error = float(whole.sum(where=wrong) / whole.sum())
            hopeless = not self.real and error >= (1 - 1 / self.n_classes) * (1 - 1e-12) and error > 0
            if hopeless and t > 0:
                return
            if hopeless:
                warn(
                    "AdaBoostClassifier: its first member is no better than guessing, and stays the only one: "
                    "use an estimator that fits these rows better",
                    Degenerate,
                    stacklevel=2,
                )
            weight = 1.0
            if not self.real and error > 0 and not hopeless:
                weight = self.rate * (np.log((1 - error) / error) + np.log(max(self.n_classes - 1, 1)))
            self.weak.keep()
            self.weights.append(weight)
            self.errors.append(error)
            yield error
            if error <= 0 or hopeless:
                return
            self.w = normalised(self.w * self._factors(shares, side, wrong, weight))

    def _factors(self, shares: Array, side: Array, wrong: Array, weight: float) -> Array:
        """By which the weights of rows change; the largest is 1."""
        if not self.real:
            return np.where(wrong, 1.0, np.exp(-weight))
        # (K − 1)/K Σₖ yₖ log pₖ, with yₖ = 1 for the class of the row and −1/(K − 1) for the others.
        lean = leanings(shares)[side, self.y] / max(self.n_classes - 1, 1)
        return np.asarray(np.exp(-self.rate * (lean - lean.min())))


class WeakStumps:
    """Stumps as members."""

    def __init__(self, X: Array, y: Array, w: Array, n_classes: int) -> None:
        self.table = Stumps(X, y, w, n_classes)
        self.kept: list[Any] = []

    def fit(self, weight: Array, t: int) -> tuple[Array, Array]:
        self.last, side = self.table.best(weight)
        return self.last.shares, side

    def keep(self) -> None:
        self.kept.append(self.last)

    def fitted(self, boosting: Boosting) -> dict[str, Any]:
        K = boosting.n_classes
        says = [leanings(one.shares) if boosting.real else votes(one.shares.argmax(axis=1), K) for one in self.kept]
        return dict(_trees=packed(self.kept, [a * said for a, said in zip(boosting.weights, says, strict=True)]))


class WeakTrees:
    """Trees of one split as members, for tables with columns of categories."""

    def __init__(self, X: Array, y: Array, total: float, n_classes: int, category: Array) -> None:
        self.table, self.X, self.y, self.total, self.n_classes = Presorted(X), X, y, total, n_classes
        self.growth = Growth("gini", max_depth=1, categorical=category.astype(np.uint8))
        self.kept: list[Trees] = []

    def fit(self, weight: Array, t: int) -> tuple[Array, Array]:
        self.last = self.table.grow(self.growth, self.y, weight * (self.total / weight.sum()), self.n_classes)
        return self.last.value, self.last.apply(self.X)[:, 0]

    def keep(self) -> None:
        self.kept.append(self.last)

    def fitted(self, boosting: Boosting) -> dict[str, Any]:
        parts = [
            replace(
                one,
                value=a * (leanings(one.value) if boosting.real else votes(one.value.argmax(axis=1), self.n_classes)),
            )
            for a, one in zip(boosting.weights, self.kept, strict=True)
        ]
        return dict(_trees=Trees.joined(parts))


class WeakLearners:
    """Copies of a classifier as members."""

    def __init__(self, model: Any, X: Any, y: Array, total: float, category: Array) -> None:
        given = own_of(model._member)
        if not takes(given.fit, "sample_weight", by_name=True):
            raise BadParameter(
                f"{type(given).__name__} doesn't support sample_weight: its fit has no such argument, which AdaBoostClassifier needs"
            )
        self.model, self.X, self.y, self.total, self.category = model, X, y, total, category
        self.rng, self.kept = generator_of(model), list[Any]()

    def fit(self, weight: Array, t: int) -> tuple[Array, Array]:
        self.last = self.model._copy(seed_of(self.rng) % 2**31)
        fit_member(self.last, self.X, self.y, weight * (self.total / weight.sum()), self.category)
        return shares_of(self.model._as_member(self.last), self.X, len(self.model.classes_)), np.arange(len(weight))

    def keep(self) -> None:
        self.kept.append(self.last)

    def fitted(self, boosting: Boosting) -> dict[str, Any]:
        return dict(estimators_=[own_of(member) for member in self.kept])
