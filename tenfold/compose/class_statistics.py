"""Densities of one pass, class by class, from statistics: learning on, merging, forgetting, and cross-validation without refits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import FACTS, Estimator
from tenfold.base.one_pass import OnePass
from tenfold.base.sklearn_api import same
from tenfold.base.sums import Sums
from tenfold.compose.class_densities import COUNTS, Class, named, only_class
from tenfold.compose.fitting import COLUMN_FACTS
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadInput, NotFitted
from tenfold.core.stats import Counts, Keyed
from tenfold.core.threads import single_blas


@dataclass(frozen=True)
class ClassSums:
    """What is summed over the rows of each class, and what follows from the sums."""

    sums: dict[int, Sums]

    @classmethod
    def of(cls, classes: list[Class], source: Source) -> ClassSums | None:
        """None where a density has to see the rows again."""
        found: dict[int, Sums] = {}
        for one in classes:
            vars(one.density).update({key: fact for key, fact in source.facts.items() if key in COLUMN_FACTS})
            sums = one.density._from_sums(source if one.source is None else one.source)
            if sums is None:
                return None
            found[one.number] = sums
        return cls(found)

    @property
    def size(self) -> int:
        return sum(one.size for one in self.sums.values())

    @property
    def key(self) -> Any:
        keys = [one.key for one in self.sums.values()]
        return None if None in keys else (ClassSums, *keys)

    def summarize(self, block: Block) -> Keyed:
        parts = ((k, only_class(k, block)) for k in self.sums)
        found: dict[Any, Any] = {k: self.sums[k].summarize(part) for k, part in parts if part is not None}
        return Keyed({COUNTS: Counts.of(block.y, block.w, len(self.sums)), **found})

    def solve(self, total: Keyed) -> list[Any] | None:
        """The densities of the classes that have rows; None where sums are not exact enough."""
        fitted = []
        for k, sums in self.sums.items():
            found = sums.solve(total[k], []) if k in total else []
            if found is None:
                return None
            fitted += found
        return fitted


def _adds(model: Any) -> bool:
    """Whether all densities follow from statistics."""
    return all(isinstance(one, OnePass) for one in model._given())


class ByClassStatistics(Estimator):
    """Abstract: made of a density for each class, `estimators_`. Where these are of one pass, what it learns of rows is the sum of what it
    learns of parts of them."""

    def _classes(self, source: Source) -> list[Class]:
        """Each class with a fresh density, and its rows."""
        raise NotImplementedError

    def _fitted_attributes(self, fitted: list[Any], weight: Array) -> dict[str, Any]:
        """The fitted attributes, from the densities of those classes that have rows and the weight of each class."""
        raise NotImplementedError

    def _from_sums(self, source: Source) -> Sums | None:
        found = ClassSums.of(self._classes(source), source)
        return None if found is None else Sums(found.summarize, partial(self._solved, found), found.size, found.key)

    def _solved(self, sums: ClassSums, total: Keyed, values: list[Any]) -> list[Self] | None:
        found = sums.solve(total)
        return None if found is None else [self._fitted_copy(self._fitted_attributes(found, total[COUNTS].weight))]

    @available(_adds)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; equal to a fit on all rows so far. The first call names all `classes`."""
        begun = "estimators_" in vars(self)
        source = check.check_more(self, X, y, sample_weight, classes, begun)
        if not begun:
            vars(self).update(source.facts)
        classes_apart, more = self._summed(source)
        return self._resolve(classes_apart, self._statistics() + more if begun else more)

    @available(_adds)
    def merge(self, other: Self) -> Self:
        """Take over what another fitted learner of this kind has learned; equal to a fit on the rows of both."""
        check.check_fitted(other)
        alike = type(other) is type(self) and repr(other) == repr(self)
        if not alike or not all(same(vars(self).get(name), vars(other).get(name)) for name in FACTS):
            raise BadInput(f"only a {type(self).__name__} fitted on the same columns and classes can be merged into this one")
        return self._resolve(self._unfitted(), self._statistics() + other._statistics())

    @available(_adds)
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Un-learn rows that were learned before; refused where the result would not be exact."""
        known = self._statistics()
        classes_apart, gone = self._summed(check.check_more(self, X, y, sample_weight, None, True))
        weight = (known[COUNTS] - gone[COUNTS]).weight
        weight[weight <= 1e-12 * known[COUNTS].weight] = 0.0
        left: dict[Any, Any] = {k: known[k] - gone[k] if k in gone else known[k] for k in np.flatnonzero(weight).tolist()}
        return self._resolve(classes_apart, Keyed({COUNTS: Counts(weight), **left}))

    def _summed(self, source: Source) -> tuple[list[Class], Keyed]:
        """The statistics of more rows, with fresh densities that know the columns."""
        classes = self._classes(source)
        sums = ClassSums.of(classes, source)
        assert sums is not None
        with single_blas:
            found: Keyed = current_engine(source).run(sums.summarize, source)
        return classes, found

    def _unfitted(self) -> list[Class]:
        """Each class with a fresh density that knows the columns."""
        raise NotImplementedError

    def _statistics(self) -> Keyed:
        """What has been learned."""
        check.check_fitted(self)
        there = np.flatnonzero(self.class_count_ > 0).tolist()
        if any("stats_" not in vars(one) for one in self.estimators_):
            raise NotFitted(
                f"this {type(self).__name__} carries no statistics to add to or take from (it was saved without them): save it with "
                "resumable=True, or fit all rows at once"
            )
        parts: dict[Any, Any] = {k: one.stats_ for k, one in zip(there, self.estimators_, strict=True)}
        return Keyed({COUNTS: Counts(self.class_count_), **parts})

    def _resolve(self, classes: list[Class], total: Keyed) -> Self:
        """Solve again. What was fitted before is replaced only when the new solution is there."""
        fitted = []
        for one in classes:
            if one.number in total:
                with named(one.label), single_blas:
                    one.density._resolve(total[one.number], {}, False)
                fitted.append(one.density)
        vars(self).update(self._fitted_attributes(fitted, total[COUNTS].weight))
        return self
