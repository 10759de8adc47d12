"""The estimator: every public verb, written once. Learners add the underscore verbs, which are mathematics.

    Estimator     _learn(source): a generator that yields summaries and returns the fitted attributes
    OnePass       _summarize(block) and _solve(stats): fit, partial_fit, merge, forget and cheap cross-validation follow

What a fitted learner does with rows is in `core.roles`: Regressor, Classifier, Clusterer, Transformer. Each class is abstract or final,
and none is deeper than two. The protocol of scikit-learn (`get_params`, tags, `set_output`) is in `core.protocol`.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.roles import Classifier, Clusterer, Regressor, Transformer, log_softmax, map_rows, softmax
from tenfold.base.sklearn_api import Protocol, fresh, same
from tenfold.core.data import Array, Source
from tenfold.core.engine import Summarize, current_engine, drive
from tenfold.core.errors import BadInput, NotFitted, TooLarge, not_fitted, too_large
from tenfold.core.monitor import pass_on_interrupt
from tenfold.core.threads import single_blas

__all__ = [
    "Classifier", "Clusterer", "Estimator", "OnePass", "Regressor", "Transformer", "log_softmax", "map_rows", "softmax",
]  # fmt: skip


class Estimator(Protocol):
    """Abstract: a learner of any number of passes."""

    kind: ClassVar[str] = "many passes"  # or "one pass", "keeps rows", "sequential"
    target: ClassVar[str] = "none"  # or "real", "label"
    sparse: ClassVar[bool] = False  # takes CSR
    missing: ClassVar[bool] = False  # takes NaN
    categorical: ClassVar[bool] = False  # takes text, categories and truth values, as codes; needs `missing` too
    multi_output: ClassVar[bool] = False
    input: ClassVar[str] = "rows"  # of fixed width; or "table": it reads files and frames itself (`_rows`, `_source`)
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
        except BaseException as error:
            self._forget_fit()
            if isinstance(error, MemoryError) and not isinstance(error, TooLarge):
                raise too_large(type(self).__name__, source.n_rows, source.n_features, error) from error
            raise
        pass_on_interrupt()
        return self

    def _learn(self, source: Source) -> Generator[Summarize, Any, dict[str, Any]]:
        raise NotImplementedError

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        """One fitted learner for each value of a parameter."""
        return [fresh(self).set_params(**{name: value})._fit(source) for value in values]

    def _rows(self, table: Any) -> Array:
        """The rows of a table as numbers (n, p), by a learner whose input is "table"."""
        raise NotImplementedError

    def _source(self, table: Any, y: Any, sample_weight: Any, classes: Any) -> Source:
        """The same with targets and weights, to fit on."""
        raise NotImplementedError

    def _explained(self) -> Any:
        """What exact attributions are made of: parts of trees, scale, offset, unit; None for other learners."""
        return None

    def _at_choice(self) -> Estimator | None:
        """Unfitted, with the parameters that the fit has chosen; None for a learner that chooses none."""
        return None

    def _finish(self, source: Source) -> None:
        """After the fit: fill what has the shape of the rows."""

    def _forget_fit(self) -> None:
        for name in [*filter(is_fitted, vars(self)), *({"_flat"} & vars(self).keys())]:
            delattr(self, name)

    def __getattr__(self, name: str) -> Any:
        if is_fitted(name):
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
            if any(is_fitted(name) and name not in FACTS for name in vars(self)):
                self._check_stats(self)  # there is a fit, but nothing to add to: starting anew would lose it
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
        before = [name for name in vars(self) if is_fitted(name) and name not in FACTS]
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


def is_fitted(name: str) -> bool:
    """Whether this is the name of a fitted attribute."""
    return name.endswith("_") and not name.startswith("_")
