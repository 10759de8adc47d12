"""What stacking has in common: rows made of what learners say of rows they have not seen."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, map_rows
from tenfold.base.foreign import as_ours, checked_learner, float_of, is_fitted_learner, own_of
from tenfold.base.members import takes_numbers
from tenfold.base.routing import routed, routing_enabled
from tenfold.base.sklearn_api import fresh, same
from tenfold.compose.fitting import side_by_side
from tenfold.compose.folds import splits_of
from tenfold.compose.named import Named, is_out, is_word
from tenfold.compose.routes import Routes, member_for, received
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Source
from tenfold.core.engine import Threads, current_engine
from tenfold.core.errors import BadParameter, not_fitted
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner, drive
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.stats import Rows
from tenfold.evaluate.split.plan import SplitPlan, truth_of
from tenfold.evaluate.validate.held_out import outputs_of, split_models
from tenfold.evaluate.validate.memory import table_of
from tenfold.gate.inputs import AsGiven

METHODS = ("predict_proba", "decision_function", "predict")


@group
class Stacking(Routes, Named):
    """Abstract: the learners are fitted to all rows; the last one to what models of them say of rows held out."""

    estimators_: list[Any] = learned("[learner](t)", "the learners that take part, fitted to all rows")
    final_estimator_: Any = learned("part", "the learner of what they say")

    estimators: list[Any] = param(doc="list of (name, learner); 'drop' leaves one out")
    final_estimator: Any = param(default=None, doc="the learner of what they say; None: a linear one with a penalty")
    _: KW_ONLY
    cv: Any = param(
        default=None,
        doc="None: 5 folds by what the rows hold, copies together; a number of folds of neighbouring rows; a splitter; or 'prefit'",
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")
    passthrough: bool = param(default=False, doc="let the last learner see the columns of X too")
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")

    kind: ClassVar[str] = "keeps rows"
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "folds are made by a hash of the rows, which reads the columns in their order",
    }

    def _default(self) -> Any:
        raise NotImplementedError

    @property
    def _final(self) -> Any:
        given = self._default() if self.final_estimator is None else self.final_estimator
        return checked_learner(given, self.role, f"{type(self).__name__}(final_estimator): `final_estimator` parameter")

    @property
    def least_rows(self) -> int:
        return max(2, super().least_rows)

    def _all_take(self, what: str) -> bool:
        return super()._all_take(what) and (not self.passthrough or bool(getattr(self._final, what)))

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        check.check_params(final := fresh(self._final))
        rows = source if isinstance(source, Arrays) else table_of((yield Keep(sparse=True)), source, self.missing)
        if is_word(self.cv, "prefit"):
            fitted, outside = self._prefit(rows), None
        else:
            outside = splits_of(self, rows, whole=True)
            members = {name: member_for(one, rows, name) for name, one in self._learners()}
            theirs = {name: received(rows, name) for name in members}
            found = drive(side_by_side(members, theirs, named=True), rows, current_engine(rows), type(self).__name__)
            fitted = list(found.values())
        final._fit(self._stacked(rows, fitted, outside))
        return {"estimators_": [own_of(one) for one in fitted], "final_estimator_": own_of(final)}

    def _last(self) -> Any:
        """The fitted last learner as one of ours."""
        known = {key: vars(self)[key] for key in ("classes_",) if key in vars(self)}
        return as_ours([self.final_estimator_], False, known)[0]

    def _prefit(self, rows: Arrays) -> list[Any]:
        """The learners of the list, which were fitted before."""
        if isinstance(rows, AsGiven):
            given = [own_of(one) for _, one in self._learners()]
            if not all(map(is_fitted_learner, given)):
                raise not_fitted(type(given[[is_fitted_learner(one) for one in given].index(False)]).__name__)
            return as_ours(given, True, rows.facts)
        for name, one in self._learners():
            check.check_fitted(one)
            known = "classes_" not in rows.facts or same(one.classes_, rows.facts["classes_"])
            if one.n_features_in_ != rows.n_features or not takes_numbers(one) or not known:
                raise BadParameter(
                    f"{type(self).__name__}(cv='prefit'): {name!r} was fitted to other columns or classes, or to categories"
                )
        return [one for _, one in self._learners()]

    def _stacked(self, rows: Arrays, fitted: list[Any], outside: SplitPlan | None) -> Arrays:
        """The rows of the last learner: what models of the same folds say of each row, beside X where it passes through."""
        everything = np.arange(rows.n_rows or 0)
        said = []
        for (name, _), one in zip(self._learners(), fitted, strict=True):
            if outside is None:
                whole = rows.given()[0] if isinstance(rows, AsGiven) else None
                said += outputs_of([one], rows, [everything], self._member_outputs) if whole is None else [self._member_outputs(one, whole)]
                continue
            models, _ = split_models(fresh(one), received(rows, name), outside)
            tests = [outside.test_rows(k) for k in range(len(outside))]
            parts = np.concatenate(outputs_of(models, rows, tests, self._member_outputs))
            said.append(parts[np.argsort(np.concatenate(tests))])
        X = None
        if self.passthrough:
            X = _plain(rows.given()[0]) if isinstance(rows, AsGiven) else Threads().run(_whole, rows).whole()
        dtype = float_of(X)
        Z = self._beside([one.astype(dtype, copy=False) for one in said], X)
        facts = {key: fact for key, fact in rows.facts.items() if key in ("classes_", "_flat")}
        facts["n_features_in_"] = Z.shape[1]
        if self.passthrough and (known := rows.facts.get("categories_")) is not None:
            facts["categories_"] = [None] * (Z.shape[1] - rows.n_features) + list(known)
        y, w = truth_of(rows)
        return Arrays(Z, y, None if rows.w is None else w, rows.target, facts, missing=rows.missing and self.passthrough)

    def _method(self, learner: Estimator) -> str:
        """How a learner is asked."""
        return "predict"

    @property
    def stack_method_(self) -> list[str]:
        """How each learner is asked."""
        check.check_fitted(self)
        return [self._method(one) for one in self._asked()]

    def _member_outputs(self, learner: Estimator, X: Any) -> Array:
        """(rows, columns): what a fitted learner says of rows, as columns for the last one."""
        raise NotImplementedError

    def _beside(self, said: list[Array], X: Any) -> Any:
        if X is None:
            return np.ascontiguousarray(np.column_stack(said))
        if not ops.is_sparse(X):
            return np.ascontiguousarray(np.column_stack([*said, X]))
        from scipy.sparse import csr_matrix, hstack

        return hstack([*(csr_matrix(one) for one in said), X], format="csr")

    def _transform(self, X: Any) -> Any:
        said = [self._member_outputs(one, X).astype(float_of(X), copy=False) for one in self._asked()]
        return self._beside(said, _plain(X) if self.passthrough else None)

    def transform(self, X: Any) -> Any:
        """What the learners say of each row, as the last one sees it."""
        return self._dressed(map_rows(self._transform, check.check_predict(self, X)), X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> Any:
        """Fit, then transform the same rows."""
        return self.fit(X, y, sample_weight, **params).transform(X)

    def _calls(self) -> list[tuple[str, Any, Any]]:
        inside = [(name, one, [("fit", "fit")]) for name, one in self._pairs() if not is_out(one)]
        return [*inside, ("final_estimator_", own_of(self._final), [("predict", "predict")])]

    def _last_says(self, X: Any, params: dict[str, Any]) -> Any:
        """What `predict` of the last learner says when it is given these parameters."""
        if routing_enabled():
            params = routed(self, "predict", params)["final_estimator_"]["predict"]
        return self.final_estimator_.predict(map_rows(self._transform, check.check_predict(self, X)), **params)

    def _names_out(self) -> None:
        return None

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        old, front = list(super().get_feature_names_out(input_features)), type(self).__name__.lower()
        new: list[str] = []
        for name, one in self.named_estimators_.items():
            if is_out(one):
                continue
            width = self._width(one)
            new += [f"{front}_{name}"] if width == 1 else [f"{front}_{name}{k}" for k in range(width)]
        return np.array(new + (old if self.passthrough else []), dtype=object)

    def _width(self, learner: Estimator) -> int:
        """How many columns a learner says."""
        return 1

    def _objection(self) -> str | None:
        wrong = super()._objection()
        if wrong is not None:
            return wrong
        width = sum(map(self._width, self.estimators_)) + (self.n_features_in_ if self.passthrough else 0)
        final = self.final_estimator_
        suits = final.role == self.role and final.n_features_in_ == width
        suits = suits and (self.role != "classifier" or same(final.classes_, self.classes_))
        return None if suits else "the last learner takes other columns or classes"


def _plain(X: Any) -> Any:
    """Rows as an array or a sparse matrix."""
    return X if ops.is_sparse(X) else np.asarray(X)


def _whole(block: Any) -> Rows:
    return Rows.of(block.X)
