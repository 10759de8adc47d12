"""Chains: several targets by learners of one, each of which also sees the targets before it."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Classifier, Regressor, map_rows
from tenfold.base.foreign import ByVerbs, as_ours, own_of, takes
from tenfold.base.members import choices_of
from tenfold.base.sklearn_api import fresh
from tenfold.compose.fitting import Viewed, side_by_side
from tenfold.compose.ordinary import tell
from tenfold.compose.routes import Routes, inner
from tenfold.compose.single import OfOne
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source, Target
from tenfold.core.errors import BadParameter, BadType
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.core.random import generator
from tenfold.evaluate.validate.cross import cross_val_predict
from tenfold.gate.inputs import AsGiven
from tenfold.tree.structure.shares import TreeClassifier

ASKED = ("predict", "predict_proba", "predict_log_proba", "decision_function")


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
                return np.asarray(generator(self.random_state).permutation(q))
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
            seen = _as_numbers(Y[:, j], known[j])
            if self.cv is not None and place < len(order) - 1:
                said = np.asarray(cross_val_predict(own, Z, columns[j], cv=self.cv, method=self._method))
                if self._method == "predict":
                    seen = said if known[j] is None else _as_numbers(np.searchsorted(known[j], said), known[j])
                else:
                    seen = said[:, 1] if said.ndim == 2 else said
            before.append(np.asarray(seen, dtype=np.float64))
            if self.verbose:
                tell("[Chain]", f"({place + 1} of {len(order)}) Processing order {j}", began)
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


def _as_numbers(codes: Array, classes: Array | None) -> Array:
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
    X = _beside(block.X, [_as_numbers(Y[:, i], known[i]) for i in before])
    return Block(X, np.ascontiguousarray(Y[:, j : j + 1] if known[j] is None else Y[:, j]), block.w, block.key)


@estimator
class RegressorChain(Regressor, Chain):
    """RegressorChain: one regressor for each of several targets, which also sees those before it.

    Model       ŷⱼ(x) = fⱼ(x, ŷ₁(x), ..., ŷⱼ₋₁(x)), in the order of the chain
    Objective   that of the learner, once for each target; its columns are x and the targets before, or (cv) what models of
                other rows predict of them
    Algorithm   without cv all members side by side: one reading of the rows serves all of them
    Cost        q fits for q targets; with cv a cross-validation of each besides
    Fails when  the first members predict badly: those after them were fitted to the targets themselves (then cv)
    Reference   Spyromitros-Xioufis et al. 2016

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(12.0)[:, None]
    >>> both = np.column_stack([X[:, 0] ** 2, 3 * X[:, 0] ** 2 + X[:, 0]])
    >>> chain = tenfold.RegressorChain(tenfold.LinearRegression()).fit(X, both)
    >>> [one.n_features_in_ for one in chain.estimators_], chain.estimators_[1].coef_.round(6).tolist()
    ([1, 2], [1.0, 3.0])
    """

    multi_output: ClassVar[bool] = True
    hands_all: ClassVar[bool] = True
    exempt: ClassVar[dict[str, str]] = {"several_targets": "a member also sees the targets before its own"}

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge
        from tenfold.tree.single.decision import DecisionTreeRegressor

        return [{"estimator": DecisionTreeRegressor(max_depth=3), "order": "random", "random_state": 0}, {"estimator": Ridge()}]

    def _known(self, target: Target) -> list[Array | None]:
        return [None] * target.width

    def _ask(self, member: Any, X: Any, classes: Array | None = None) -> Array:
        return np.asarray(member._predict(X)).reshape(X.shape[0])

    def _predict(self, X: Any) -> Array:
        values = self._through(X, self._ask)
        return values[:, 0] if self._flat else values


@estimator
class ClassifierChain(TreeClassifier, Chain):
    """ClassifierChain: one classifier for each of several targets, which also sees those before it.

    Model       ĉⱼ(x) = fⱼ(x, s₁(x), ..., sⱼ₋₁(x)), in the order of the chain; s is what `chain_method` of a member says
    Objective   that of the learner, once for each target; its columns are x and the targets before, or (cv) what models of
                other rows say of them
    Algorithm   without cv all members side by side: one reading of the rows serves all of them
    Cost        q fits for q targets; with cv a cross-validation of each besides
    Fails when  the first members predict badly: those after them were fitted to the targets themselves (then cv)
    Reference   Read et al. 2009

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> both = np.column_stack([X[:, 0] > 0, (X[:, 0] > 0) & (X[:, 1] > 0)]).astype(int)
    >>> chain = tenfold.ClassifierChain(tenfold.LogisticRegression()).fit(X, both)
    >>> chain.predict([[1.0, 2.0], [-1.0, 1.0]]).tolist()
    [[1, 1], [0, 0]]
    """

    _: KW_ONLY
    chain_method: Any = param(
        default="predict", doc="how members are asked for those after them: a verb, or a list of which the first that they have is taken"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.generative.naive_bayes import GaussianNB
        from tenfold.tree.single.decision import DecisionTreeClassifier

        return [{"estimator": GaussianNB()}, {"estimator": DecisionTreeClassifier(max_depth=3), "chain_method": "predict_proba"}]

    @property
    def least_classes(self) -> int:
        return int(self._member.least_classes)

    @property
    def _method(self) -> str:
        wanted = [self.chain_method] if isinstance(self.chain_method, str) else list(self.chain_method)
        member = own_of(self._member)
        has = [one for one in wanted if one in ASKED and hasattr(member, one)]
        if not has:
            raise BadParameter(
                f"ClassifierChain(chain_method={check.short(self.chain_method)}): {type(member).__name__} has none of these; "
                f"must be one of {', '.join(ASKED)}, or a list of them"
            )
        return has[0]

    @property
    def chain_method_(self) -> str:
        """The verb that members are asked by for those after them."""
        check.check_fitted(self)
        return self._method

    def _known(self, target: Target) -> list[Array | None]:
        if not self._method:  # looked at before the work
            raise AssertionError
        return list(target.classes) if isinstance(target.classes, list) else [target.classes]

    def _classes_by_target(self) -> list[Array]:
        return TreeClassifier._classes_by_target(self)

    def _ask(self, member: Any, X: Any, classes: Array | None) -> Array:
        return _as_numbers(choices_of(member, X), classes) if self._method == "predict" else _said(self._method, member, X)

    def _labels(self, X: Any) -> Array:
        return self._through(X, lambda member, Z, classes: classes[choices_of(member, Z)])  # type: ignore[index]

    def predict(self, X: Any) -> Array:
        """The class of each row and target; of one target (rows,)."""
        labels = map_rows(self._labels, check.check_predict(self, X))
        return labels if isinstance(self.classes_, list) else labels[:, 0]

    def _class_shares(self, X: Any) -> Array:
        """Of one target the probabilities of its classes, of several those of all of them side by side."""
        parts: dict[int, Array] = {}
        order = iter(self.order_.tolist())

        def keep(member: Any, Z: Any, classes: Array | None) -> Array:
            parts[next(order)] = np.asarray(member._probabilities(Z), dtype=np.float64)
            return np.zeros(Z.shape[0])

        self._through(X, keep)
        return np.hstack([parts[j] for j in sorted(parts)])

    def _of_each(self, verb: str, X: Any) -> Array:
        return map_rows(lambda X: self._through(X, lambda member, Z, _: _said(verb, member, Z)), check.check_predict(self, X))

    @available(inner("_member", "predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """(rows, targets): the probability of the second class of each target; of one target that of each class."""
        return self._of_each("predict_proba", X) if isinstance(self.classes_, list) else Classifier.predict_proba(self, X)

    @available(inner("_member", "predict_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of `predict_proba`."""
        return self._of_each("predict_log_proba", X) if isinstance(self.classes_, list) else Classifier.predict_log_proba(self, X)

    @available(inner("_member", "decision_function"))
    def decision_function(self, X: Any) -> Array:
        """(rows, targets): how much the second class of each target leads; of one target as the member says."""
        if isinstance(self.classes_, list):
            return self._of_each("decision_function", X)
        only = as_ours(self.estimators_, False, {"classes_": self.classes_})[0]
        scores = map_rows(only._decisions, check.check_predict(self, X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def _said(verb: str, member: Any, X: Any) -> Array:
    """What a classifier says of the second class."""
    if verb == "decision_function":
        scores = np.asarray(member._decisions(X), dtype=np.float64)
        return np.asarray(scores[:, 1] - scores[:, 0])
    if isinstance(member, ByVerbs) and verb == "predict_log_proba":
        return np.asarray(member._ask(verb, X), dtype=np.float64)[:, 1]
    said = member._probabilities(X) if verb == "predict_proba" else member._log_probabilities(X)
    return np.asarray(said, dtype=np.float64)[:, 1]
