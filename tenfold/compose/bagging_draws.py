"""The work of bagging: which rows and columns a member sees, its fit, and what it says of the rows it has not seen."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.members import fit_member
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import Local, each, engine
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.monitor import Passes, keep_on_interrupt
from tenfold.core.threads import thread_budget, threads

MOST_DRAWS = 10**15  # beyond, numbers of copies of a row are no longer exact in their sum
TRIES = 50  # draws until a member sees as many classes and rows as it needs


@dataclass(slots=True)
class Distinct:
    """The distinct rows of a table in an order of their own (by a hash of their content), with all their weight."""

    X: Array
    y: Array
    weight: Array
    number: Array  # (n) where each row of the table stands here

    @classmethod
    def of(cls, X: Array, y: Array, w: Array, seed: int) -> Distinct:
        target = y.reshape(len(y), -1).astype(np.float64)
        key = ops.hash_rows(X, seed) ^ ops.hash_rows(target, seed + 1)
        order = np.argsort(key, kind="stable")
        if (key[order[1:]] == key[order[:-1]]).any():  # copies, or rows with the same hash
            order = np.lexsort((_rest_hash(X, seed) ^ _rest_hash(target, seed), key))
        X, y, target = X[order], y[order], target[order]
        again = ((X[1:] == X[:-1]) | (np.isnan(X[1:]) & np.isnan(X[:-1]))).all(axis=1)
        again &= (target[1:] == target[:-1]).all(axis=1)
        new = np.concatenate([[True], ~again])
        first, number = np.flatnonzero(new), np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(new) - 1
        return cls(X[first], y[first], np.add.reduceat(w[order], first), number)


def _rest_hash(X: Array, seed: int) -> Array:
    """A hash of what float32, which `hash_rows` sees, leaves of each number."""
    with np.errstate(over="ignore", invalid="ignore"):
        rest = X - X.astype(np.float32)
        last = rest - rest.astype(np.float32)
    return np.asarray(ops.hash_rows(rest, seed + 2) ^ ops.hash_rows(last, seed + 3))


class Bagging:
    """One fit: draws, members, and the sums of what is said of rows that a member has not seen."""

    def __init__(self, bag: Any, rows: Distinct, dtype: Any, category: Array, seed: int) -> None:
        self.bag, self.rows, self.category, self.seed = bag, rows, category, seed
        self.X = rows.X.astype(dtype, copy=False)
        before = len(bag._before.get("members", []))
        self.passes, self.lock = Passes(type(bag).__name__, bag.n_estimators - before), threading.Lock()
        self.whole = bool((rows.weight == np.round(rows.weight)).all())
        # Whole weights are copies of rows; of others only the proportions count.
        self.n_rows = int(rows.weight.sum()) if self.whole else len(rows.number)
        self.n_draws = self._size(bag.max_samples, self.n_rows, "max_samples", "rows")
        self.n_columns = self._size(bag.max_features, self.X.shape[1], "max_features", "columns")
        self.said: Any = 0.0
        self.count = np.zeros(len(self.X))

    def _size(self, value: Any, whole: int, name: str, what: str) -> int:
        if value is None:
            return whole
        size = int(value) if isinstance(value, (int, np.integer)) else max(1, int(value * whole))
        if size > MOST_DRAWS:
            raise BadParameter(f"{type(self.bag).__name__}({name}={value:g}): must draw at most {MOST_DRAWS:.0e} {what}")
        if size > whole and not (name == "max_samples" and self.bag.bootstrap):
            raise BadParameter(f"{type(self.bag).__name__}({name}={value}): there are only {whole} {what}")
        return size

    def stages(self, members: list[Any], columns: list[Array], sizes: list[int]) -> list[dict[str, Any]]:
        """Fitted attributes with each number of members."""
        for t, (member, one) in enumerate(zip(members, columns, strict=True)):  # of an earlier fit
            self._add(*self._outside(member, one, self._draw(t)[1]))
        done: list[dict[str, Any]] = []
        for size in sizes:
            batch = 4 * thread_budget()
            for start in range(len(members), size, batch):
                try:
                    fitted = each(self._fitted, list(range(start, min(start + batch, size))))
                except KeyboardInterrupt:
                    if not members:
                        raise
                    keep_on_interrupt(f"{len(members)} of {size} members of {type(self.bag).__name__} are fitted")
                    return done + [self._attributes(members, columns)] * (len(sizes) - len(done))
                for member, one, outside in fitted:
                    members, columns = [*members, member], [*columns, one]
                    self._add(*outside)
            done.append(self._attributes(members, columns))
        return done

    def _add(self, rows: Array, said: Array | None) -> None:
        if said is not None:
            if np.ndim(self.said) == 0:
                self.said = np.zeros((len(self.X), said.shape[1]))
            self.said[rows] += said
            self.count[rows] += 1

    def _attributes(self, members: list[Any], columns: list[Array]) -> dict[str, Any]:
        seen = self.count == 0
        mean = np.where(seen[:, None], np.nan, self.said / np.maximum(self.count, 1)[:, None])
        fitted = dict(estimators_=members, estimators_features_=columns)
        if seen.all():
            name = "oob_decision_function_" if self.bag.role == "classifier" else "oob_prediction_"
            why = "is absent: every member has seen every row, use bootstrap=True and more members"
            return dict(fitted, absent_={key: f"{key} {why}" for key in ("oob_score_", name)})
        return dict(fitted, **self.bag._out_of_bag(self.rows, mean, seen))

    def _fitted(self, t: int) -> tuple[Any, Array, tuple[Array, Array | None]]:
        columns, weight = self._draw(t)
        seed = int(np.random.default_rng([self.seed, t, 1]).integers(2**31))
        member = self.bag._copy(seed)
        with engine(Local()), threads(1):  # threads run over members
            rows, target = columns_of(self.X, columns), self.bag._target(self.rows.y)
            fit_member(member, rows, target, weight, self.category[columns])
        outside = self._outside(member, columns, weight)
        with self.lock:
            self.passes.done(None)
        return member, columns, outside

    def _outside(self, member: Estimator, columns: Array, weight: Array) -> tuple[Array, Array | None]:
        rows = np.flatnonzero(weight == 0)
        return rows, self.bag._say(member, columns_of(self.X[rows], columns)) if len(rows) else None

    def _draw(self, t: int) -> tuple[Array, Array]:
        """Columns and weights of rows of member t: the same whatever was drawn for others."""
        rng = np.random.default_rng([self.seed, t])
        p = self.X.shape[1]
        columns = np.arange(p)
        if self.n_columns < p or self.bag.bootstrap_features:
            columns = np.sort(rng.choice(p, self.n_columns, replace=bool(self.bag.bootstrap_features)))
        for _ in range(TRIES):
            weight = self._weights(rng)
            if self.bag._enough(self.rows.y[weight > 0]):
                return columns, weight
        raise BadInput(
            f"{type(self.bag).__name__}: {TRIES} draws of {self.n_draws} rows held too few rows or classes for "
            f"{type(self.bag._member).__name__}: ask for more rows with max_samples"
        )

    def _weights(self, rng: np.random.Generator) -> Array:
        weight = self.rows.weight
        if self.bag.bootstrap:
            return rng.multinomial(self.n_draws, weight / weight.sum()).astype(np.float64)
        if self.n_draws >= self.n_rows:
            return weight
        if self.whole:
            return rng.multivariate_hypergeometric(weight.astype(np.int64), self.n_draws).astype(np.float64)
        chosen = np.argsort(rng.exponential(size=len(weight)) / weight, kind="stable")[: self.n_draws]
        out = np.zeros(len(weight))
        out[chosen] = weight[chosen]
        return out


def columns_of(X: Array, columns: Array) -> Array:
    return X if len(columns) == X.shape[1] and (np.diff(columns) == 1).all() else np.ascontiguousarray(X[:, columns])
