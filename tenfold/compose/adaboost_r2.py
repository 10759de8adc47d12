"""AdaBoost.R2: regressors one after the other, each on rows weighted by how far off those before it were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base.estimator import Regressor
from tenfold.base.foreign import own_of, takes
from tenfold.base.members import fit_member, values_of
from tenfold.base.scored import table_of
from tenfold.compose.adaboost import AdaBoost, unpacked
from tenfold.core.data import Array
from tenfold.core.errors import Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import seed_of
from tenfold.tree.settings import generator_of
from tenfold.tree.single.exact import Growth, Presorted
from tenfold.tree.single.stumps import normalised
from tenfold.tree.structure.arrays import Trees

DEPTH = 3  # of the trees that are boosted where no estimator is given


@estimator
class AdaBoostRegressor(Regressor, AdaBoost):
    """AdaBoostRegressor: the weighted median of regressors, each trained on the rows that those before it missed most.

    Model       ŷ(x) = the weighted median of h₁(x), ..., h_T(x), with weights log(1/βₜ)
    Objective   greedy: rows with large errors count more in the next round
    Algorithm   loss lᵢ = |yᵢ − h(xᵢ)| / its maximum (or its square, or 1 − e^−l); ε = Σ wᵢ lᵢ, β = ε/(1 − ε); weights change by
                β^(learning_rate (1 − lᵢ)); it ends when ε is 0 or at least ½. Members are fitted with these weights,
                not to rows drawn by them, so that nothing is random; trees share one sorting of the columns
    Cost        O(n p log n) to sort, O(n p) for each level of each tree; the rows are kept while it learns
    Fails when  targets have outliers (they set the scale of the loss, and get all the weight)
    Reference   Drucker 1997

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(40.0)[:, None]
    >>> model = tenfold.AdaBoostRegressor(n_estimators=20).fit(X, X[:, 0] ** 2)
    >>> bool(model.score(X, X[:, 0] ** 2) > 0.98)
    True
    """

    _trees: Trees = learned("Trees(t,1)", "the trees, where no `estimator` was given", optional=True)

    exempt: ClassVar[dict[str, str]] = {}

    estimator: Any = param(default=None, doc="the regressor that is boosted; None: trees of depth 3")
    _: KW_ONLY
    n_estimators: int = param(default=50, at_least=1, doc="most rounds")
    learning_rate: float = param(default=1.0, above=0, doc="factor of the weight of each member")
    loss: str = param(default="linear", one_of=("linear", "square", "exponential"), doc="how errors count")
    random_state: int | RandomState | None = param(default=None, doc="seed of members that draw")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge

        return [
            {"n_estimators": 5},
            {"estimator": Ridge(), "n_estimators": 3, "loss": "exponential", "learning_rate": 0.7},
        ]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_estimators": 2}

    def _default(self) -> Any:
        from tenfold.tree.single.decision import DecisionTreeRegressor

        return DecisionTreeRegressor(max_depth=DEPTH)

    def _boosted(self, X: Array, y: Array, w: Array, category: Array) -> dict[str, Any]:
        generator_of(self)  # refuses what is no seed, also where nothing is drawn
        target = y[:, 0]
        trees = self.estimator is None
        weak: Any = _Trees(X, target, category) if trees else _Members(self, X, target, category)
        weights, errors = list[float](), list[float]()
        self._rounds(self._each(weak, target, w, weights, errors))
        fitted = dict(estimator_weights_=np.array(weights), estimator_errors_=np.array(errors), **weak.fitted())
        return fitted

    def _unpacked(self) -> list[Any]:
        return unpacked(self, self._trees)

    def _each(self, weak: Any, y: Array, w: Array, weights: list[float], errors: list[float]) -> Iterator[float]:
        """The rounds: yields the error of each member."""
        total, w = float(w.sum()), normalised(w)
        for t in range(self.n_estimators):
            loss = np.abs(weak.fit(w * total) - y)
            largest = loss.max()
            loss = loss / largest if largest > 0 else loss
            if self.loss != "linear":
                loss = loss**2 if self.loss == "square" else 1 - np.exp(-loss)
            error = float((w * loss).sum()) if largest > 0 else 0.0
            if error >= 0.5 and t > 0:
                return
            if error >= 0.5:
                warn(
                    "AdaBoostRegressor: the mean loss of its first member is above one half, so it stays the only one: "
                    "use an estimator that fits these rows better",
                    Degenerate,
                    stacklevel=2,
                )
            ends = not 0 < error < 0.5
            log_beta = 0.0 if ends else float(np.log(error / (1 - error)))
            weak.keep()
            weights.append(1.0 if ends else -self.learning_rate * log_beta)
            errors.append(error)
            yield error
            if ends:
                return
            # The factor β^(rate (1 − l)), divided by its largest value so that it cannot vanish for all rows.
            power = float(self.learning_rate) * (loss - loss.max())
            w = normalised(w * np.exp(-log_beta * power))

    def _all(self, X: Any) -> Array:
        """(rows, members): what each member says."""
        if "_trees" in vars(self):
            return np.asarray(self._trees.value[self._trees.first[:-1] + self._leaves(X), 0])
        X = self._ready(X)
        return np.hstack([values_of(self._as_member(member), X) for member in self.estimators_])

    def _leaves(self, X: Array) -> Array:
        leaves: Array = self._trees._packed.leaves(X, 0, len(self._trees))
        return leaves

    def _predict(self, X: Any) -> Array:
        median = weighted_median(self._all(X), self.estimator_weights_)
        return median if self.accepts == "anything" else median.astype(X.dtype, copy=False)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """`predict` after each round."""
        X = table_of(self, X)
        said = self._all(X)
        for t in range(1, said.shape[1] + 1):
            yield weighted_median(said[:, :t], self.estimator_weights_[:t])

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² after each round."""
        for t in range(1, len(self.estimator_weights_) + 1):
            yield self._first(t).score(X, y, sample_weight)


def weighted_median(values: Array, weights: Array) -> Array:
    """Along the rows: the smallest value at or below which at least half of the weight lies."""
    order = np.argsort(values, axis=1, kind="stable")
    below = np.cumsum(weights[order], axis=1)
    place = (below >= 0.5 * below[:, -1:]).argmax(axis=1)
    row = np.arange(len(values))
    return np.asarray(values[row, order[row, place]])


class _Trees:
    """Trees of depth 3 on columns sorted once."""

    def __init__(self, X: Array, y: Array, category: Array) -> None:
        self.table, self.X, self.y = Presorted(X), X, y
        self.growth = Growth("squared_error", max_depth=DEPTH, categorical=category.astype(np.uint8))
        self.kept: list[Trees] = []

    def fit(self, w: Array) -> Array:
        self.last = self.table.grow(self.growth, self.y, w)
        return np.asarray(self.last.predict(self.X)[:, 0])

    def keep(self) -> None:
        self.kept.append(self.last)

    def fitted(self) -> dict[str, Any]:
        return dict(_trees=Trees.joined(self.kept))


class _Members:
    """Copies of a regressor."""

    def __init__(self, model: AdaBoostRegressor, X: Any, y: Array, category: Array) -> None:
        self.model, self.X, self.y, self.category = model, X, y, category
        self.rng, self.kept = generator_of(model), list[Any]()
        self.draws = not takes(own_of(model._member).fit, "sample_weight", by_name=True)  # rows by their weights, where it takes none

    def fit(self, w: Array) -> Array:
        seed = seed_of(self.rng) % 2**31
        self.last = self.model._copy(seed)
        if self.draws:
            rows = np.random.default_rng(seed).choice(len(w), len(w), p=w / w.sum())
            fit_member(self.last, self.X[rows], self.y[rows], None, self.category)
        else:
            fit_member(self.last, self.X, self.y, np.where(w > 1e-90, w, 0.0), self.category)
        return values_of(self.last, self.X)[:, 0]

    def keep(self) -> None:
        self.kept.append(self.last)

    def fitted(self) -> dict[str, Any]:
        return dict(estimators_=[own_of(member) for member in self.kept])
