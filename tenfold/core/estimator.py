"""The estimator: every public verb, written once. Learners add the underscore verbs, which are mathematics.

    Estimator     _learn(source): a generator that yields summaries and returns the fitted attributes
    OnePass       _summarize(block) and _solve(stats): fit, partial_fit, merge, forget and cheap cross-validation follow
    Regressor     _predict(X)
    Classifier    _scores(X): unnormalised log posteriors, one column for each class
    Clusterer     _assign(X): the number of the cluster
    Transformer   _transform(X), _names_out(), and _inverse(X) where it exists

Each class is abstract or final, and none is deeper than two. The protocol of scikit-learn (`get_params`, tags, `set_output`) is in
`core.protocol`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from tenfold.core import check
from tenfold.core.data import Array, Arrays, Source, Target, block_rows
from tenfold.core.engine import Summarize, Threads, current_engine, drive
from tenfold.core.errors import BadInput, NotFitted, not_fitted
from tenfold.core.monitor import pass_on_interrupt
from tenfold.core.protocol import Protocol, fresh, same
from tenfold.core.stats import Rows
from tenfold.core.threads import single_blas
from tenfold.gate.scored import rows_and_truth


class Estimator(Protocol):
    """Abstract: a learner of any number of passes."""

    kind: ClassVar[str] = "many passes"  # or "one pass", "keeps rows", "sequential"
    target: ClassVar[str] = "none"  # or "real", "label"
    sparse: ClassVar[bool] = False  # takes CSR
    missing: ClassVar[bool] = False  # takes NaN
    categorical: ClassVar[bool] = False  # takes text, categories and truth values, as codes; needs `missing` too
    multi_output: ClassVar[bool] = False
    least_rows: ClassVar[int] = 1
    least_classes: ClassVar[int] = 2
    exempt: ClassVar[dict[str, str]] = {}  # laws of tests/laws.py that do not hold, each with the reason
    path: ClassVar[str | None] = None  # a parameter all of whose values come from one fit

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows: an array, frame, sparse matrix, path to CSV or Parquet, Dask collection, or blocks of rows."""
        return self._fit(check.check_fit(self, X, y, sample_weight))

    def _fit(self, source: Source) -> Self:
        self._forget_fit()
        vars(self).update(source.facts)
        try:
            with single_blas:
                vars(self).update(drive(self._learn(source), source, current_engine(source), type(self).__name__))
                self._finish(source)
        except BaseException:
            self._forget_fit()
            raise
        pass_on_interrupt()
        return self

    def _learn(self, source: Source) -> Generator[Summarize, Any, dict[str, Any]]:
        raise NotImplementedError

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """One fitted learner for each value of a parameter."""
        return [fresh(self).set_params(**{name: value})._fit(source) for value in values]

    def _finish(self, source: Source) -> None:
        """After the fit: fill what has the shape of the rows."""

    def _forget_fit(self) -> None:
        for name in [
            name for name in vars(self) if (name.endswith("_") and not name.startswith("_")) or name == "_flat"
        ]:
            delattr(self, name)

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            if "n_features_in_" not in vars(self):
                raise not_fitted(type(self).__name__)
            raise NotFitted(
                vars(self).get("absent_", {}).get(name, f"{type(self).__name__} has no fitted attribute {name!r}")
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class OnePass(Estimator):
    """Abstract: a learner that is finished after one pass. Its statistics are kept, so that it can learn on, merge and forget."""

    kind: ClassVar[str] = "one pass"

    def _summarize(self, block: Any) -> Any:
        raise NotImplementedError

    def _solve(self, stats: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _exact(self, stats: Any) -> bool:
        """Whether `_solve(stats)` has all the digits: then neither `fit` nor cross-validation makes another pass."""
        return True

    def _refine(self, source: Source, stats: Any) -> Generator[Summarize, Any, dict[str, Any]]:
        """Further passes, for a learner whose statistics are not always exact enough; returns the fitted attributes."""
        raise NotImplementedError

    def _solve_path(self, stats: Any, values: list[Any]) -> list[dict[str, Any]]:
        """The fitted attributes for each value of the path parameter, from the same statistics."""
        return [self._like({}, **{str(self.path): value})._solve(stats) for value in values]

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        if name != self.path:
            return super()._fit_path(source, name, values)
        first: Self = fresh(self).set_params(**{name: values[0]})._fit(source)
        fits = first._solve_path(first.stats_, values)
        return [first._like(fitted, **{name: value}) for value, fitted in zip(values, fits, strict=True)]

    def _like(self, fitted: dict[str, Any], **changed: Any) -> Self:
        """A learner that knows the same facts, with these fitted attributes and the parameters that go with them."""
        other: Self = fresh(self).set_params(**changed)
        vars(other).update({key: fact for key, fact in vars(self).items() if key in FACTS}, **fitted)
        return other

    def _learn(self, source: Source) -> Generator[Summarize, Any, dict[str, Any]]:
        stats = yield self._summarize
        if self._exact(stats) or not source.rereadable:
            return dict(stats_=stats, **self._solve(stats))
        return dict(stats_=stats, **(yield from self._refine(source, stats)))

    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learn more rows; equal to a fit on all rows so far. The first call names all `classes` of a classifier."""
        source = self._more(X, y, sample_weight, classes)
        with single_blas:
            stats = current_engine(source).run(self._summarize, source)
            if "stats_" in vars(self):
                stats = self.stats_ + stats
            self._resolve(stats, source.facts)
        return self

    def merge(self, other: Self) -> Self:
        """Take over what another fitted learner of this kind has learned; equal to a fit on the rows of both."""
        for one in (self, other):
            self._check_stats(one)
        if type(other) is not type(self) or not self._learns_like(other):
            raise BadInput(
                f"only a {type(self).__name__} fitted on the same columns and classes can be merged into this one"
            )
        self._resolve(self.stats_ + other.stats_, {})
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Un-learn rows that were learned before; refused where the result would not be exact."""
        self._check_stats(self)
        source = self._more(X, y, sample_weight, None)
        with single_blas:
            gone = current_engine(source).run(self._summarize, source)
        self._resolve(self.stats_ - gone, {})
        return self

    def _more(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Source:
        """The gate for further rows: columns and classes as before."""
        if "stats_" not in vars(self):
            if any(name.endswith("_") and not name.startswith("_") and name not in FACTS for name in vars(self)):
                self._check_stats(
                    self
                )  # fitted before, and nothing to add to: starting anew would lose what was learned
            if classes is None and self.target == "label" and "classes_" not in vars(self):
                raise BadInput(
                    "classes must be passed on the first call to partial_fit: all labels that will ever come"
                )
            source = check.check_fit(self, X, y, sample_weight, classes)
            vars(self).update(source.facts)
            return source
        known = self.classes_ if self.target == "label" else None
        if classes is not None and not np.array_equal(np.unique(classes), known if known is not None else []):
            raise BadInput(f"classes={check.short(classes)} is not the same as on the last call to partial_fit")
        source = check.check_fit(self, X, y, sample_weight, known, vars(self).get("categories_"))
        check.check_width(self, source.n_features, self.n_features_in_)
        check.check_names(self, source.facts.get("feature_names_in_"))
        return source

    def _resolve(self, stats: Any, facts: dict[str, Any]) -> None:
        """Solve again. What was fitted before is replaced only when the new solution is there."""
        before = [n for n in vars(self) if n.endswith("_") and not n.startswith("_") and n not in FACTS]
        vars(self).update(facts)
        fitted = self._solve(stats)
        for name in before:
            delattr(self, name)
        vars(self).update(stats_=stats, **fitted)

    def _check_stats(self, one: Any) -> None:
        check.check_fitted(one)
        if "stats_" not in vars(one):
            raise NotFitted(
                f"this {type(one).__name__} carries no statistics to add to or take from (it was saved without them, or its fit "
                "needed none): save it with resumable=True, or fit all rows at once"
            )

    def _learns_like(self, other: Self) -> bool:
        """Whether two fitted learners have the same parameters, columns and classes."""
        pairs = [(vars(self).get(name), vars(other).get(name)) for name in FACTS]
        pairs += [(getattr(self, name), getattr(other, name)) for name in self.get_params(deep=False)]
        return all(same(mine, theirs) for mine, theirs in pairs)


FACTS = ("n_features_in_", "feature_names_in_", "classes_", "categories_", "_flat")


# Mixins stand beside an Estimator; the type checker is told so, Python need not know.
if TYPE_CHECKING:
    _Beside = Estimator
else:
    _Beside = object


class Regressor(_Beside):
    """Mixin: predicts numbers."""

    role: ClassVar[str] = "regressor"
    target: ClassVar[str] = "real"

    def _predict(self, X: Any) -> Array:
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """The predicted target of each row."""
        return map_rows(self._predict, check.check_predict(self, X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R²: 1 − Σ w (y − ŷ)² / Σ w (y − ȳ)², averaged over several targets; 1 is perfect, 0 is the mean."""
        X, y = rows_and_truth(self, X, y)
        predicted = np.asarray(self.predict(X))
        predicted = predicted.reshape(len(predicted), -1)
        truth = check.real_target(y, len(predicted))
        w = check.as_weights(sample_weight, len(truth))
        w = np.ones(len(truth)) if w is None else w
        rest = w @ (truth - predicted) ** 2
        spread = w @ (truth - np.average(truth, axis=0, weights=w)) ** 2
        flat = spread == 0  # a constant target: perfect or not, nothing in between
        return float(np.mean(np.where(flat, np.where(rest == 0, 1.0, 0.0), 1 - rest / np.where(flat, 1.0, spread))))


class Classifier(_Beside):
    """Mixin: predicts labels, with probabilities where `_scores` are log posteriors."""

    role: ClassVar[str] = "classifier"
    target: ClassVar[str] = "label"

    def _scores(self, X: Any) -> Array:
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """The most probable class of each row."""
        return map_rows(lambda X: self.classes_[self._scores(X).argmax(1)], check.check_predict(self, X))

    def decision_function(self, X: Any) -> Array:
        """Scores of the classes; for two classes, how much the second one leads."""
        scores = map_rows(self._scores, check.check_predict(self, X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of `classes_`."""
        return map_rows(self._probabilities, check.check_predict(self, X))

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of `predict_proba`, without the loss of small probabilities."""
        return map_rows(self._log_probabilities, check.check_predict(self, X))

    def _probabilities(self, X: Any) -> Array:
        return softmax(self._scores(X), X.dtype)

    def _log_probabilities(self, X: Any) -> Array:
        return log_softmax(self._scores(X), X.dtype)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose class is predicted right."""
        X, y = rows_and_truth(self, X, y)
        predicted = np.asarray(self.predict(X))
        check.check_length("y", y.size, len(predicted))
        right = predicted == y.reshape(-1)
        return float(np.average(right, weights=check.as_weights(sample_weight, len(right))))


class Clusterer(_Beside):
    """Mixin: finds groups of rows."""

    role: ClassVar[str] = "clusterer"

    def _assign(self, X: Any) -> Array:
        raise NotImplementedError

    def predict(self, X: Any) -> Array:
        """The number of the cluster of each row."""
        return map_rows(self._assign, check.check_predict(self, X))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and return `labels_`."""
        labels: Array = self.fit(X, y, sample_weight).labels_
        return labels

    def _finish(self, source: Source) -> None:
        """`labels_`: one last pass, if the rows can be read again."""
        if not source.rereadable:
            vars(self)["absent_"] = {
                "labels_": "labels_ is absent: the rows could be read only once; call predict on them"
            }
            return
        vars(self)["labels_"] = map_rows(self._assign, source.whole())


class Transformer(_Beside):
    """Mixin: turns rows into other rows."""

    role: ClassVar[str] = "transformer"

    def _transform(self, X: Any) -> Array:
        raise NotImplementedError

    def _names_out(self) -> list[str] | None:
        """Names of the new columns; None keeps the old ones."""
        return None

    def transform(self, X: Any) -> Any:
        """The rows in their new form; `set_output` chooses the container."""
        return self._dressed(map_rows(self._transform, check.check_predict(self, X)), X)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, then transform the same rows."""
        return self.fit(X, y, sample_weight).transform(X)


FEW_ROWS = 64  # fewer rows than this never wake the threads of BLAS, and are answered at once


def map_rows(function: Callable[[Any], Array], X: Any) -> Array:
    """function(X) by blocks, on all threads; X is an array or a source. A Dask collection gives a Dask array, not yet computed."""
    if hasattr(X, "lazily"):
        return X.lazily(function)  # type: ignore[no-any-return]
    if not isinstance(X, Source):
        if X.shape[0] <= block_rows(X.shape[1]):
            if X.shape[0] < FEW_ROWS:
                return function(X)
            with single_blas:
                return function(X)
        source: Source = Arrays(X, None, None, Target("none"), {}, trusted=True)
    else:
        source = X
    with single_blas:
        on = Threads() if isinstance(source, Arrays) else current_engine(source)
        whole: Array = on.run(lambda block: Rows.of(function(block.X)), source).whole()
    return whole


def softmax(scores: Array, dtype: Any = np.float64) -> Array:
    """exp(s) / Σ exp(s) by rows; only differences of scores are rounded to `dtype`."""
    p = np.exp((scores - scores.max(axis=1, keepdims=True)).astype(dtype, copy=False))
    p /= p.sum(axis=1, keepdims=True)
    return np.asarray(p)


def log_softmax(scores: Array, dtype: Any = np.float64) -> Array:
    """s − log Σ exp(s) by rows."""
    shifted = (scores - scores.max(axis=1, keepdims=True)).astype(dtype, copy=False)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
