"""What bags have in common: rows and columns drawn for each member, its fit, and the mean of what members say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.base.foreign import own_of
from tenfold.base.members import Composite, takes_numbers, unsuited
from tenfold.base.sklearn_api import fresh
from tenfold.compose.bagging_draws import Bagging, Distinct, Drawn, Draws, columns_of
from tenfold.compose.routes import Routes
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.errors import BadInput, BadParameter, BadType, DataWarning, NotFitted, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.monitor import pass_on_interrupt
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.random import seed_of
from tenfold.gate.inputs import AsGiven
from tenfold.tree.settings import generator_of
from tenfold.tree.single.tree import OneTree
from tenfold.tree.structure.arrays import Trees
from tenfold.tree.warm_start import check_goes_on


@group
class Bag(Routes, Composite):
    """Abstract: draws rows and columns for each member, fits it, and keeps what it says of the rows it has not seen."""

    estimators_: list[Any] = learned("[part](t)", "fitted members; of classifiers to numbers of classes")
    estimators_features_: list[Array] = learned("[int(*)<p](t)", "the columns of each member")
    oob_score_: float = learned("float", "score on rows that a member has not seen", optional=True)
    _seed: int = learned("int", "seed of the draws")
    _drawn: Array = learned("float(*,4)", "weight, copies, place and class of each distinct row", optional=True)

    estimator: Any = param(default=None, doc="the learner to be fitted to each draw; None: a decision tree")
    n_estimators: int = param(default=10, at_least=1, doc="number of members")
    _: KW_ONLY
    max_samples: int | float | None = param(
        default=None, above=0, doc="rows to draw: a number, a share (of the total weight, with bootstrap), or None for as many as there are"
    )
    max_features: int | float = param(default=1.0, above=0, doc="columns to draw: a number, or a share")
    bootstrap: bool = param(default=True, doc="draw rows with replacement")
    bootstrap_features: bool = param(default=False, doc="draw columns with replacement")
    oob_score: bool | str | Callable[..., Any] = param(
        default=False,
        doc="a score by name, or a function of (truth, prediction), for rows not seen; else no effect: it is always there",
    )
    warm_start: bool = param(default=False, doc="keep the members of the last fit and add more")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    random_state: int | RandomState | None = param(default=None, doc="seed of the draws, and of members that draw")
    verbose: int | bool = param(default=0, doc="no effect: use tenfold.progress()")

    kind: ClassVar[str] = "keeps rows"
    path: ClassVar[str | None] = "n_estimators"
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "rows are drawn by a hash of their content, which reads the columns in their order",
        "weight_is_copies": "weights are chances, and as many rows are drawn as there are, whatever they weigh",
    }

    @property
    def accepts(self) -> str:
        return "rows" if self.estimator is None else str(self._member.accepts)

    @property
    def sparse(self) -> bool:
        return bool(self._member.sparse)

    @property
    def estimators_samples_(self) -> list[Array]:
        """The rows of the table that each member has seen, one as often as it was drawn; they are drawn again to tell."""
        check.check_fitted(self)
        if "_drawn" not in vars(self):
            raise NotFitted("estimators_samples_ is absent: the file of this model is of a version before 0.3")
        draws = Draws(self, Drawn(self._drawn), self.n_features_in_, self._seed)
        return [draws.samples(t) for t in range(len(self.estimators_))]

    keeps_weights: ClassVar[bool] = True  # they are chances

    def _calls(self) -> list[tuple[str, Any, Any]]:
        own = own_of(self._member)
        shares = "predict_proba" if hasattr(own, "predict_proba") else "predict"
        logs = "predict_log_proba" if hasattr(own, "predict_log_proba") else shares
        asked = [("predict", shares), ("predict_proba", shares), ("predict_log_proba", logs), ("decision_function", "decision_function")]
        return [("estimator", own, [("fit", "fit"), *(asked if self.role == "classifier" else [("predict", "predict")])])]

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)

    def _say(self, member: Estimator, X: Any) -> Array:
        """(rows, outputs): what a member says of rows."""
        raise NotImplementedError

    def _out_of_bag(self, rows: Distinct, mean: Array, seen: Array) -> dict[str, Any]:
        raise NotImplementedError

    def _warm(self, source: Source) -> dict[str, Any]:
        members = vars(self).get("estimators_") if self.warm_start else None
        if members is None:
            return {}
        if len(members) > self.n_estimators:
            raise BadParameter(
                f"{type(self).__name__}(n_estimators={self.n_estimators}): with warm_start it must be at least "
                f"the {len(members)} members that are there"
            )
        check_goes_on(self, source)
        if len(members) == self.n_estimators:
            warn("Warm-start fitting without increasing n_estimators does not fit new trees: set n_estimators higher", DataWarning)
        return dict(members=members, columns=self.estimators_features_, seed=self._seed)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        stages = yield from self._bagged(source, [self.n_estimators])
        return stages[0]

    def _bagged(self, source: Source, sizes: list[int]) -> Learner[list[dict[str, Any]]]:
        """The fitted attributes with each number of members."""
        members, columns = self._before.get("members", []), self._before.get("columns", [])
        seed = self._before.get("seed")
        if seed is None:
            seed = vars(self)["_seed"] = seed_of(generator_of(self))
        if isinstance(source, AsGiven):
            there = slice(None) if source.rows is None else source.rows
            w = np.zeros(source.X.shape[0])
            w[there] = 1.0 if source.w is None else source.w[there]
            rows = Distinct.as_given(matrix_of(self, source.X.table), np.asarray(source.y), w)
        else:
            X, y, w = yield Keep(sparse=self.sparse)
            places = source.rows if isinstance(source, Arrays) and source.rows is not None else np.arange(len(w))
            if not w.all():
                there = np.flatnonzero(w)
                X, y, w, places = X[there], y[there], w[there], places[there]
            rows = Distinct.of(X.astype(np.float64, copy=False), y, w, seed, places)
            rows.X = rows.X.astype(X.dtype, copy=False)
        category = check.categorical_columns(source)
        given = source.fit_params.get("estimator", {}) if isinstance(source, AsGiven) else {}
        return Bagging(self, rows, category, seed, given).stages(list(members), list(columns), sizes)

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """The members are fitted once: fewer of them are the first ones."""
        if name != self.path:
            return super()._fit_path(source, name, values)
        sizes = sorted({int(value) for value in values})
        largest: Any = fresh(self).set_params(n_estimators=sizes[-1])
        check.check_params(largest)
        stages = largest._driven(partial(largest._bagged, sizes=sizes), source)
        pass_on_interrupt()
        seed = dict(_seed=largest._seed)  # of all of them
        return [largest._fitted_copy(stages[sizes.index(int(n))] | seed, n_estimators=n) for n in values]

    def _explained(self) -> tuple[list[Trees], float, Any, str]:
        """What attributions explain: scale * (sums over these trees) + offset, and its unit."""
        check.check_fitted(self)
        if not all(isinstance(one, OneTree) and takes_numbers(one) for one in self.estimators_):
            raise BadType(
                f"{type(self).__name__}: exact attributions are for bags of decision trees on columns of numbers"
            )
        width = len(self.classes_) if self.role == "classifier" else 1
        parts = [
            _widened(one, columns, width)
            for one, columns in zip(self.estimators_, self.estimators_features_, strict=True)
        ]
        unit = "probability" if self.role == "classifier" else "prediction"
        return [Trees.joined(parts)], 1 / len(parts), 0.0, unit

    def _objection(self) -> str | None:
        members, chosen = self.estimators_, self.estimators_features_
        if any(len(columns) != one.n_features_in_ for one, columns in zip(members, chosen, strict=True)):
            return "a member takes another number of columns than were drawn for it"
        return unsuited(members, self.role, len(self.classes_) if self.role == "classifier" else 0)

    def _mean(self, X: Any, say: Callable[[Any, Any], Array] | None = None, params: dict[str, Any] | None = None) -> Array:
        """The mean over members of what they say, or of `say(member, rows)`; `params` is what their verbs receive."""
        say, total = say or self._say, np.zeros(1)
        X = matrix_of(self, X) if self.accepts == "anything" else X
        for fitted, columns in zip(self.estimators_, self.estimators_features_, strict=True):
            member = self._as_member(fitted)
            if params:
                vars(member)["_verb_params"] = params
            total = total + say(member, columns_of(X, columns))
        return np.asarray(total / len(self.estimators_))

    def _mean_routed(self, verb: str, X: Any, params: dict[str, Any], say: Callable[[Any, Any], Array] | None = None) -> Array:
        """The same of rows as they were given, where members receive parameters."""
        check.check_fitted(self)
        return self._mean(X, say, self._routed(verb, params)["estimator"])


def matrix_of(bag: Bag, X: Any) -> Any:
    """Rows for members that are not Tenfold's, as an array or CSR or CSC, whatever it holds: they look at it themselves."""
    if ops.is_sparse(X):
        X = X if X.format in ("csr", "csc") else X.tocsr()
    else:
        X = np.ascontiguousarray(X)
        if X.ndim != 2:
            raise BadInput(f"Expected 2D array, got {X.ndim}D array instead: {type(bag).__name__} draws rows and columns of a table")
    check.check_width(bag, X.shape[1], vars(bag).get("n_features_in_", X.shape[1]))
    return X


def _widened(member: OneTree, columns: Array, width: int) -> Trees:
    """The tree of a member in terms of all columns and classes of the table."""
    tree: Trees = member._trees
    feature = np.where(tree.feature < 0, tree.feature, columns[np.maximum(tree.feature, 0)]).astype(np.int32)
    value = np.zeros((len(feature), width))
    value[:, member.classes_ if member.role == "classifier" else [0]] = tree.value
    return replace(tree, feature=feature, value=value)
