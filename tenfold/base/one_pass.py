"""Learners of one pass: sums over blocks, and a solution from the sums. Learning on, merging, forgetting and cross-validation follow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from tenfold.base import check
from tenfold.base.estimator import FACTS, Estimator, is_fitted
from tenfold.base.sklearn_api import fresh, same
from tenfold.base.sums import Sums, hashable
from tenfold.core.data import Source
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadInput, NotFitted
from tenfold.core.learned import in_single, is_single
from tenfold.core.learning import Learner
from tenfold.core.threads import single_blas


class OnePass(Estimator):
    """Abstract: a learner that is finished after one pass. Its statistics are kept, so that it can learn on, merge and forget."""

    if TYPE_CHECKING:  # may be a property, as in `Traits`

        @property
        def kind(self) -> str: ...
    else:
        kind = "one pass"

    def _summarize(self, block: Any) -> Any:
        raise NotImplementedError

    def _solve(self, stats: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _from_moments(self, moments: Any) -> Any:
        """The statistics of rows whose `Moments` are known, of [x y] or of x class by class; None where these do not give them."""
        return None

    def _of_columns(self, stats: Any, columns: Any) -> Any:
        """The statistics of the same rows with some of the columns only; None where these do not give them."""
        return None

    def _normal_equations(self, stats: Any) -> tuple[Any, Any, Any] | None:
        """For a learner whose fit solves A w = b: the means of (x, y), A and b, so that a fit to some of the columns solves a part of them,
        and one more or less is an update. None for all others."""
        return None

    def _from_sums(self, source: Source) -> Sums | None:
        reads = self.summary_reads
        key = None if reads is None else (type(self), *(hashable(getattr(self, name)) for name in reads))
        return Sums(self._summarize, self._solved, key=key)

    def _solved(self, stats: Any, values: list[Any]) -> list[Self] | None:
        """Fitted learners, one for each value of the path parameter, or one; None where the statistics are not exact enough."""
        if stats is None or not self._exact(stats):
            return None
        fits = self._solve_path(stats, values) if values else [self._solve(stats)]
        if any("absent_" in fit for fit in fits):
            return None  # the rows are too few for it: refused as in its own fit
        changed = [{str(self.path): value} for value in values] or [{}]
        return [self._fitted_copy(fit, **one) for fit, one in zip(fits, changed, strict=True)]

    def _held_out_squares(self, stats: Any, fits: list[dict[str, Any]]) -> tuple[Any, Any] | None:
        """Σ w (y − ŷ)² of rows by their statistics alone, for each of these fits, and its share of Σ w y²; None if they do not give it."""
        return None

    def _exact(self, stats: Any) -> bool:
        """Whether `_solve(stats)` has all the digits: then neither `fit` nor cross-validation makes another pass."""
        return True

    def _refine(self, source: Source, stats: Any) -> Learner[dict[str, Any]]:
        """Further passes, for a learner whose statistics are not always exact enough; returns the fitted attributes."""
        raise NotImplementedError

    def _solve_path(self, stats: Any, values: list[Any]) -> list[dict[str, Any]]:
        """The fitted attributes for each value of the path parameter, from the same statistics."""
        return [self._fitted_copy({}, **{str(self.path): value})._solve(stats) for value in values]

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        if name != self.path:
            return super()._fit_path(source, name, values)
        first: Self = fresh(self).set_params(**{name: values[0]})._fit(source)
        fits = first._solve_path(first.stats_, values)
        return [first._fitted_copy(fitted, **{name: value}) for value, fitted in zip(values, fits, strict=True)]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
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
            self._resolve(stats, source.facts, source.single)
        return self

    def merge(self, other: Self) -> Self:
        """Take over what another fitted learner of this kind has learned; equal to a fit on the rows of both."""
        for one in (self, other):
            self._check_stats(one)
        if type(other) is not type(self) or not self._learns_like(other):
            raise BadInput(
                f"only a {type(self).__name__} fitted on the same columns and classes can be merged into this one"
            )
        self._resolve(self.stats_ + other.stats_, {}, is_single(type(self), vars(self)))
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Un-learn rows that were learned before; refused where the result would not be exact."""
        self._check_stats(self)
        source = self._more(X, y, sample_weight, None)
        with single_blas:
            gone = current_engine(source).run(self._summarize, source)
        self._resolve(self.stats_ - gone, {}, is_single(type(self), vars(self)))
        return self

    def _more(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Source:
        """The gate for further rows: columns and classes as before."""
        begun = "stats_" in vars(self)
        if not begun and any(is_fitted(name) and name not in FACTS for name in vars(self)):
            self._check_stats(self)  # there is a fit, but nothing to add to: starting anew would lose it
        source = check.check_more(self, X, y, sample_weight, classes, begun)
        if not begun:
            vars(self).update(source.facts)
        return source

    def _resolve(self, stats: Any, facts: dict[str, Any], single: bool) -> None:
        """Solve again, `single` for rows of float32. What was fitted before is replaced only when the new solution is there."""
        before = [name for name in vars(self) if is_fitted(name) and name not in FACTS]
        vars(self).update(facts)
        fitted = self._solve(stats)
        fitted |= in_single(type(self), fitted) if single else {}
        for name in before:
            del vars(self)[name]
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
