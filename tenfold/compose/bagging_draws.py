"""The work of bagging: which rows and columns a member sees, its fit, and what it says of the rows it has not seen."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.base.foreign import ByVerbs, own_of, takes
from tenfold.base.members import fit_member
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.engine import Local, each, engine
from tenfold.core.errors import BadInput, BadParameter, DataWarning, warn
from tenfold.core.monitor import Passes, keep_on_interrupt
from tenfold.core.threads import thread_budget, threads
from tenfold.gate.inputs import of_rows

MOST_DRAWS = 10**15  # beyond, numbers of copies of a row are no longer exact in their sum
TRIES = 50  # draws until a member sees as many classes and rows as it needs


@dataclass(slots=True)
class Distinct:
    """The distinct rows of a table in an order of their own (by a hash of their content), with all their weight."""

    X: Any
    y: Array
    weight: Array
    number: Array  # (n) where each row of the table stands here
    places: Array  # (n) of these rows in the table of the user

    @classmethod
    def of(cls, X: Any, y: Array, w: Array, seed: int, places: Array) -> Distinct:
        target = y.reshape(len(y), -1).astype(np.float64)
        key = ops.hash_rows(X, seed) ^ ops.hash_rows(target, seed + 1)
        order = np.argsort(key, kind="stable")
        if (key[order[1:]] == key[order[:-1]]).any():  # copies, or rows with the same hash
            order = np.lexsort((_rest_hash(X, seed) ^ _rest_hash(target, seed), key))
        X, y, target = X[order], y[order], target[order]
        again = _same_as_before(X) & (target[1:] == target[:-1]).all(axis=1)
        new = np.concatenate([[True], ~again])
        first, number = np.flatnonzero(new), np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(new) - 1
        return cls(X[first], y[first], np.add.reduceat(w[order], first), number, places)

    @classmethod
    def as_given(cls, X: Any, y: Array, w: Array) -> Distinct:
        """Rows of anybody's, which are not compared: each is one, in its place."""
        return cls(X, y, w, np.arange(len(w)), np.arange(len(w)))

    def drawn(self) -> Drawn:
        """What the draws depend on, without the rows."""
        first = np.empty(len(self.weight), dtype=np.int64)
        first[self.number[::-1]] = self.places[::-1]
        code = self.y if self.y.ndim == 1 else np.zeros(len(self.y))
        return Drawn(np.column_stack([self.weight, np.bincount(self.number), first, code]).astype(np.float64))


def _same_as_before(X: Any) -> Array:
    """Which rows but the first equal the one before."""
    if ops.is_sparse(X):
        return np.asarray(np.asarray((X[1:] != X[:-1]).sum(axis=1)).ravel() == 0)
    return np.asarray(((X[1:] == X[:-1]) | (np.isnan(X[1:]) & np.isnan(X[:-1]))).all(axis=1))


def _rest_hash(X: Any, seed: int) -> Array:
    """A hash of what float32, which `hash_rows` sees, leaves of each number."""
    with np.errstate(over="ignore", invalid="ignore"):
        rest = X - X.astype(np.float32)
        last = rest - rest.astype(np.float32)
    return np.asarray(ops.hash_rows(rest, seed + 2) ^ ops.hash_rows(last, seed + 3))


class Drawn:
    """The distinct rows of a fit as far as draws depend on them: the same draws can be made again."""

    def __init__(self, table: Array) -> None:
        self.table, self.weight, self.code = table, np.ascontiguousarray(table[:, 0]), table[:, 3]
        self.copies, self.first = table[:, 1].astype(np.int64), table[:, 2].astype(np.int64)  # how many rows they are, where the first is
        there = (self.weight / self.copies)[self.weight > 0]
        self.alike = bool((np.abs(there - there[0]) <= 1e-12 * there[0]).all())  # no row weighs more than another
        self.n_rows = int(self.copies[self.weight > 0].sum())


class Draws:
    """Which rows and columns each member sees: keyed by the seed and the number of the member alone."""

    def __init__(self, bag: Any, rows: Drawn, n_columns: int, seed: int) -> None:
        self.bag, self.rows, self.seed, self.p = bag, rows, seed, n_columns
        self.n_draws = self._rows_to_draw()
        self.n_columns = self._size(bag.max_features, n_columns, "max_features", "columns")

    def _rows_to_draw(self) -> int:
        """Drawn with replacement, a share is one of the total weight, which is the number of rows where no weights are given."""
        rows, share = self.rows, self.bag.max_samples
        there, total = rows.n_rows, float(rows.weight.sum())
        if share is None:
            return there
        if isinstance(share, (int, np.integer)) or not self.bag.bootstrap or total == there:
            return self._size(share, there, "max_samples", "rows")
        size = self._size(max(1, int(share * total)), there, "max_samples", "rows")
        if size < max(10.0, there**0.5):
            warn(
                f"Using the fractional value max_samples={share} when the total sum of sample weights is {total} results in a low "
                f"number ({size}) of bootstrap samples. We recommend passing `max_samples` as an integer.",
                DataWarning,
            )
        return size

    def _size(self, value: Any, whole: int, name: str, what: str) -> int:
        size = int(value) if isinstance(value, (int, np.integer)) else max(1, int(value * whole))
        if size > MOST_DRAWS:
            raise BadParameter(f"{type(self.bag).__name__}({name}={value:g}): must draw at most {MOST_DRAWS:.0e} {what}")
        if size > whole and not (name == "max_samples" and self.bag.bootstrap):
            raise BadParameter(f"{type(self.bag).__name__}({name}={value}): there are only {whole} {what}")
        return size

    def of(self, t: int) -> tuple[Array, Array]:
        """Columns, and weights of rows, of member t: the same whatever was drawn for others."""
        rng = np.random.default_rng([self.seed, t])
        columns = np.arange(self.p)
        if self.n_columns < self.p or self.bag.bootstrap_features:
            columns = np.sort(rng.choice(self.p, self.n_columns, replace=bool(self.bag.bootstrap_features)))
        for _ in range(TRIES):
            weight = self._weights(rng)
            if self.bag._enough(self.rows.code[weight > 0]):
                return columns, weight
        raise BadInput(
            f"{type(self.bag).__name__}: {TRIES} draws of {self.n_draws} rows held too few rows or classes for "
            f"{type(self.bag._member).__name__}: ask for more rows with max_samples"
        )

    def samples(self, t: int) -> Array:
        """The rows of the table that member t has seen, one as often as it was drawn."""
        weight = self.of(t)[1]
        if not self.bag.bootstrap and self.n_draws >= self.rows.n_rows:  # all of them, with the weights they have
            weight = self.rows.copies * (weight > 0)
        return np.repeat(self.rows.first, weight.astype(np.int64))

    def _weights(self, rng: np.random.Generator) -> Array:
        """How often each row is drawn: by the chances that weights are."""
        rows, weight = self.rows, self.rows.weight
        if self.bag.bootstrap:
            return rng.multinomial(self.n_draws, weight / weight.sum()).astype(np.float64)
        if self.n_draws >= rows.n_rows:
            return weight
        if rows.alike:
            return rng.multivariate_hypergeometric(rows.copies * (weight > 0), self.n_draws).astype(np.float64)
        each_row = np.repeat(np.arange(len(weight)), rows.copies)
        chance = (weight / rows.copies)[each_row]
        with np.errstate(divide="ignore"):
            chosen = np.argsort(rng.exponential(size=len(each_row)) / chance, kind="stable")[: self.n_draws]
        return np.bincount(each_row[chosen], minlength=len(weight)).astype(np.float64)


class Bagging:
    """One fit: draws, members, and the sums of what is said of rows that a member has not seen."""

    def __init__(self, bag: Any, rows: Distinct, category: Array, seed: int, given: dict[str, Any]) -> None:
        self.bag, self.rows, self.category, self.seed, self.given = bag, rows, category, seed, given
        self.foreign, self.X = isinstance(bag._member, ByVerbs), rows.X
        self.draws = Draws(bag, rows.drawn(), self.X.shape[1], seed)
        before = len(bag._before.get("members", []))
        self.passes, self.lock = Passes(type(bag).__name__, bag.n_estimators - before), threading.Lock()
        self.said: Any = 0.0
        self.count = np.zeros(self.X.shape[0])

    def stages(self, members: list[Any], columns: list[Array], sizes: list[int]) -> list[dict[str, Any]]:
        """Fitted attributes with each number of members."""
        for t, (member, one) in enumerate(zip(members, columns, strict=True)):  # of an earlier fit
            self._add(*self._outside(member, one, self.draws.of(t)[1]))
        done: list[dict[str, Any]] = []
        for size in sizes:
            batch = 1 if self.foreign else 4 * thread_budget()
            for start in range(len(members), size, batch):
                try:
                    some = list(range(start, min(start + batch, size)))
                    fitted = [self._fitted(t) for t in some] if self.foreign else each(self._fitted, some)
                except KeyboardInterrupt:
                    if not members:
                        raise
                    keep_on_interrupt(f"{len(members)} of {size} members of {type(self.bag).__name__} are fitted")
                    return done + [self._attributes(members, columns)] * (len(sizes) - len(done))
                for member, one, outside in fitted:
                    members, columns = [*members, own_of(member)], [*columns, one]
                    self._add(*outside)
            done.append(self._attributes(members, columns))
        return done

    def _add(self, rows: Array, said: Array | None) -> None:
        if said is not None:
            if np.ndim(self.said) == 0:
                self.said = np.zeros((len(self.count), said.shape[1]))
            self.said[rows] += said
            self.count[rows] += 1

    def _attributes(self, members: list[Any], columns: list[Array]) -> dict[str, Any]:
        seen = self.count == 0
        mean = np.where(seen[:, None], np.nan, self.said / np.maximum(self.count, 1)[:, None])
        fitted = dict(estimators_=members, estimators_features_=columns, _drawn=self.draws.rows.table)
        if seen[self.rows.weight > 0].any() and self.bag.oob_score is not False:
            warn(
                "Some inputs do not have OOB scores. This probably means too few estimators were used to compute any reliable oob "
                "estimates. Use more members",
                DataWarning,
            )
        if seen.all():
            name = "oob_decision_function_" if self.bag.role == "classifier" else "oob_prediction_"
            why = "is absent: every member has seen every row, use bootstrap=True and more members"
            if self.foreign and self.bag.oob_score is False:
                why = "is absent: members that are not Tenfold's are asked for it where oob_score=True"
            return dict(fitted, absent_={key: f"{key} {why}" for key in ("oob_score_", name)})
        return dict(fitted, **self.bag._out_of_bag(self.rows, mean, seen))

    def _fitted(self, t: int) -> tuple[Any, Array, tuple[Array, Array | None]]:
        columns, weight = self.draws.of(t)
        seed = int(np.random.default_rng([self.seed, t, 1]).integers(2**31))
        member = self.bag._copy(seed)
        target = self.bag._target(self.rows.y)
        if self.foreign and not takes_weights(own_of(member)):
            chosen = self.draws.samples(t)
            given = of_rows(self.given, chosen, self.X.shape[0])
            fit_member(member, columns_of(self.X[chosen], columns), target[chosen], None, self.category[columns], given)
        else:
            with engine(Local()), threads(1):  # threads run over members
                fit_member(member, columns_of(self.X, columns), target, weight, self.category[columns], self.given)
        outside = self._outside(member, columns, weight)
        with self.lock:
            self.passes.done(None)
        return member, columns, outside

    def _outside(self, member: Any, columns: Array, weight: Array) -> tuple[Array, Array | None]:
        rows = np.flatnonzero(weight == 0)
        if not len(rows) or (self.foreign and self.bag.oob_score is False):
            return rows, None
        return rows, self.bag._say(self.bag._as_member(member), columns_of(self.X[rows], columns))


def takes_weights(given: Any) -> bool:
    """Whether anybody's learner is fitted to weights; to the rows drawn elsewhere. What the steps of a pipeline take, only they know."""
    return takes(given.fit, "sample_weight", by_name=True) and not hasattr(given, "steps")


def columns_of(X: Any, columns: Array) -> Any:
    if len(columns) == X.shape[1] and (np.diff(columns) == 1).all():
        return X
    return X[:, columns] if ops.is_sparse(X) else np.ascontiguousarray(X[:, columns])
