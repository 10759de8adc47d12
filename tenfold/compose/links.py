"""What chains have in common: a learner for each target, which sees the targets before it beside X."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.foreign import as_ours, own_of, takes
from tenfold.base.sklearn_api import fresh
from tenfold.compose.fitting import Viewed, side_by_side
from tenfold.compose.ordinary import print_step
from tenfold.compose.routes import Routes
from tenfold.compose.single import OfOne
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source, Target
from tenfold.core.errors import BadParameter, BadType
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.random import generator_of
from tenfold.evaluate.validate.cross import cross_val_predict
from tenfold.gate.inputs import AsGiven


@group
class Chain(Routes, OfOne):
    """Abstract: a copy of one learner for each target, which sees X and the targets before it in the order of the chain.

    With the targets themselves as columns (cv=None) no member waits for another: all learn side by side.
    """

    estimators_: list[Any] = learned("[part](t)", "the fitted learners, in the order of the chain")
    order_: Array = learned("int(t)<t", "the order of the targets in the chain")

    estimator: Any = param(doc="the learner to be copied for each target")
    _: KW_ONLY
    order: Any = param(default=None, doc="numbers of the targets; 'random'; None: as they stand")
    cv: Any = param(
        default=None, doc="what members see of the targets before: None: themselves; else predictions of rows held out, by these splits"
    )
    random_state: int | RandomState | None = param(default=None, doc="seed of a random order")
    verbose: bool = param(default=False, doc="print how long each member took; they are then fitted one after the other")

    @property
    def accepts(self) -> str:
        return "anything" if "_by_verbs" in vars(self) else "rows"

    def _calls(self) -> list[tuple[str, Any, Any]]:
        return [("estimator", self.estimator, [("fit", "fit")])]

    def _known(self, target: Target) -> list[Array | None]:
        """The classes of each target; None of numbers."""
        raise NotImplementedError

    def _ask(self, member: Any, X: Any, classes: Array | None) -> Array:
        """What a fitted member says of rows to those after it."""
        raise NotImplementedError

    @property
    def _method(self) -> str:
        """The verb that members are asked by for those after them."""
        return "predict"

    def _order(self, q: int) -> Array:
        if self.order is None:
            return np.arange(q)
        if isinstance(self.order, str):
            if self.order == "random":
                return np.asarray(generator_of(self).permutation(q))
            raise BadParameter(f"{type(self).__name__}(order={self.order!r}): must be numbers of the targets, 'random' or None")
        order = np.asarray(self.order)
        if order.shape != (q,) or not np.array_equal(np.sort(order), np.arange(q)):
            here = f"{type(self).__name__}(order={check.short(self.order)})"
            raise BadParameter(f"{here}: invalid order: must name each of 0 to {q - 1} once")
        return order.astype(np.int64)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        order, known = self._order(source.target.width), self._known(source.target)
        if isinstance(source, AsGiven) or self.cv is not None or self.verbose:
            found = yield from self._one_by_one(source, order, known)
            return {"estimators_": found, "order_": order}
        views, changes = {}, {}
        for place, j in enumerate(order):
            changes[place] = partial(_with_targets, order[:place], int(j), known)
            target = Target("real") if known[j] is None else Target("label", known[j])
            views[place] = Viewed(source, changes[place], target, self._facts(source, place, known[j]))
        members = {place: fresh(self._member) for place in views}
        fitted = yield from side_by_side(members, views, lambda place, block: changes[place](block))
        return {"estimators_": [own_of(one) for one in fitted.values()], "order_": order}

    def _facts(self, source: Source, place: int, classes: Array | None) -> dict[str, Any]:
        """What the gate would know of the columns and the target of a member."""
        facts: dict[str, Any] = {"n_features_in_": source.n_features + place}
        if (categories := source.facts.get("categories_")) is not None:
            facts["categories_"] = [*categories, *[None] * place]
        return facts | ({"_flat": True} if classes is None else {"classes_": classes})

    def _one_by_one(self, source: Source, order: Array, known: list[Array | None]) -> Learner[list[Any]]:
        """Members fitted by their verbs, one after the other, as splits, metadata and the printing of times need."""
        given: dict[str, Any] = {}
        if isinstance(source, AsGiven):
            given = dict(source.fit_params.get("estimator", {}))
            X, y = source.X.table if ops.is_sparse(source.X.table) else np.asarray(source.X.table), source.y
        else:
            X, y, w = yield Keep(sparse=True)
            if not (w == 1).all():
                if not takes(self._member.fit, "sample_weight"):
                    raise BadType(f"Underlying estimator {self._member} does not support sample weights.")
                given["sample_weight"] = w
        Y = np.asarray(y).reshape(X.shape[0], -1)
        columns = [column if one is None else one[column] for column, one in zip(Y.T, known, strict=True)]
        fitted, before = [], list[Array]()
        for place, j in enumerate(order):
            began, Z, own = time.perf_counter(), _beside(X, before), fresh(own_of(self._member))
            own.fit(Z, columns[j], **given)
            fitted.append(own)
            seen = as_numbers(Y[:, j], known[j])
            if self.cv is not None and place < len(order) - 1:
                said = np.asarray(cross_val_predict(own, Z, columns[j], cv=self.cv, method=self._method))
                if self._method == "predict":
                    seen = said if known[j] is None else as_numbers(np.searchsorted(known[j], said), known[j])
                else:
                    seen = said[:, 1] if said.ndim == 2 else said
            before.append(np.asarray(seen, dtype=np.float64))
            if self.verbose:
                print_step("[Chain]", f"({place + 1} of {len(order)}) Processing order {j}", began)
        return fitted

    def _through(self, X: Any, say: Callable[[Any, Any, Array | None], Array]) -> Array:
        """(rows, targets): what `say(member, rows, classes)` says, each member asked about rows with what those before it have said."""
        known, before = self._classes_by_target(), list[Array]()
        found: dict[int, Array] = {}
        for j, one in zip(self.order_, self.estimators_, strict=True):
            member = as_ours([one], False, {} if known[j] is None else {"classes_": known[j]})[0]
            Z = _beside(X, before)
            found[int(j)] = say(member, Z, known[j])
            before.append(self._ask(member, Z, known[j]))
        return np.column_stack([found[j] for j in range(len(found))])

    def _classes_by_target(self) -> list[Any]:
        return [None] * len(self.estimators_)

    def _objection(self) -> str | None:
        places = sorted(self.order_.tolist())
        if places != list(range(len(self.estimators_))):
            return "the order does not name each member once"
        widths = [self.n_features_in_ + place for place in places]
        fits = all(one.role == self.role and one.n_features_in_ == p for one, p in zip(self.estimators_, widths, strict=True))
        return None if fits else "a member takes other columns than the chain gives it"


def as_numbers(codes: Array, classes: Array | None) -> Array:
    """Targets as columns of numbers: classes by their values where these are numbers, else by their codes."""
    return codes if classes is None or classes.dtype.kind not in "biuf" else classes[codes.astype(np.int64)]


def _beside(X: Any, columns: list[Array]) -> Any:
    """Rows with more columns."""
    if not columns:
        return X
    new = np.column_stack(columns).astype(X.dtype if X.dtype in (np.float32, np.float64) else np.float64)
    if not ops.is_sparse(X):
        return np.ascontiguousarray(np.hstack([X, new]))
    from scipy.sparse import csr_matrix, hstack

    return hstack([X, csr_matrix(new)], format="csr")


def _with_targets(before: Array, j: int, known: list[Array | None], block: Block) -> Block:
    """The rows with the targets before as columns, and target j alone."""
    Y = block.y.reshape(len(block.y), -1)
    X = _beside(block.X, [as_numbers(Y[:, i], known[i]) for i in before])
    return Block(X, np.ascontiguousarray(Y[:, j : j + 1] if known[j] is None else Y[:, j]), block.w, block.key)
