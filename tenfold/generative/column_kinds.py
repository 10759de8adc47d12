"""Naive Bayes with a kind for each column: what such learners share."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.estimator import Classifier, map_rows
from tenfold.base.one_pass import OnePass
from tenfold.base.sums import Sums
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner, through
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, group, param
from tenfold.generative.class_sums import MOST_CATEGORIES
from tenfold.generative.classes import class_priors, log_priors
from tenfold.generative.counts import log
from tenfold.generative.mixed_sums import MixedSums
from tenfold.solve.bins import MOST_BINS, RULES, column_bins, edges_of, ends, most_bins
from tenfold.solve.columns import Ranges

KINDS = ("gaussian", "count", "bernoulli", "categorical", "histogram")
NUMBERS = KINDS[:3]  # known by means and variances; the others by counts
MOST_BY_RULE = 1000  # bins: outliers make rules ask for very many


@group
class MixedColumns(Classifier, OnePass):
    """Abstract: naive Bayes with a kind for each column, `_kinds`. Histograms need their ranges first, and have no sums to go on from."""

    class_count_: Array = learned("float(K)", "weight of the rows of each class")
    class_prior_: Array = learned("float(K)", "probability of each class")
    edges_: list[Array] = learned("[float(*)](p)", "the edges of the bins of each column that is a histogram; none of others")
    feature_log_prob_: list[Array] = learned(
        "[float(K,*)](p)", "logarithm of the smoothed probability of each category or bin of a column in each class; none of others"
    )

    missing: ClassVar[bool] = True
    double: ClassVar[bool] = True
    least_classes: ClassVar[int] = 1
    has_decisions: ClassVar[bool] = False

    _: KW_ONLY
    alpha: float = param(default=1.0, at_least=0, doc="what is added to the count of every category and bin, and of either value of two")
    priors: Any = param(default=None, doc="prior probability of each class; None: its share of the rows")

    def _kinds(self, p: int) -> list[str]:
        """The kind of each column."""
        raise NotImplementedError

    def _bins(self) -> Any:
        """A rule or a number."""
        raise NotImplementedError

    # --- fit ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        p = source.n_features
        kinds = self._kinds(p)
        if "histogram" not in kinds:
            return (yield from super()._learn(source))
        binned, rule = places(kinds, "histogram"), self._checked_bins()
        ranges: Ranges = yield partial(_ranges, columns=binned)
        low, high = ends(ranges.low, ranges.high)
        if isinstance(rule, str):
            numbers = yield from _of_columns(column_bins(rule, ranges, cap=MOST_BY_RULE), binned)
        else:
            numbers = np.minimum(rule, most_bins(low, high)).astype(np.int64)
        edges = [np.empty(0)] * p
        for j, a, b, m in zip(binned, low, high, numbers, strict=True):
            edges[j] = edges_of(a, b, int(m))
        stats = yield partial(self._summed, edges=edges)
        return self._solved_by(stats, edges)

    def _checked_bins(self) -> Any:
        bins = self._bins()
        whole = isinstance(bins, (int, np.integer)) and not isinstance(bins, bool)
        if (whole and 1 <= bins <= MOST_BINS) or (isinstance(bins, str) and bins in RULES):
            return bins
        raise BadParameter(
            f"{type(self).__name__}(bins={check.short(bins)}): must be {', '.join(map(repr, RULES))}, or a whole number from 1 to "
            f"{MOST_BINS:,}"
        )

    def _summarize(self, block: Block) -> MixedSums:
        return self._summed(block, [np.empty(0)] * block.X.shape[1])

    def _summed(self, block: Block, edges: list[Array]) -> MixedSums:
        X = np.asarray(block.X, dtype=np.float64)
        kinds = self._kinds(X.shape[1])
        numbers, categories = self._parts(X, kinds, edges)
        return MixedSums.of(numbers, categories, block.y, block.w, len(self.classes_))

    def _parts(self, X: Array, kinds: list[str], edges: list[Array]) -> tuple[Array, Array]:
        """The columns of numbers, those of two values as 0 and 1; and those of categories, bins by their numbers."""
        numbers = X[:, places(kinds, *NUMBERS)]
        for i, j in enumerate(places(kinds, *NUMBERS)):
            if kinds[j] == "bernoulli":
                numbers[:, i] = np.where(np.isnan(X[:, j]), np.nan, X[:, j] > 0)
            elif kinds[j] == "count":
                self._check_column(X[:, j], j, np.inf, "a count is at least 0: name it 'gaussian' or 'histogram'")
        categories = X[:, places(kinds, "categorical", "histogram")]
        for i, j in enumerate(places(kinds, "categorical", "histogram")):
            if kinds[j] == "histogram":
                categories[:, i] = np.where(np.isnan(X[:, j]), np.nan, np.searchsorted(edges[j][1:-1], X[:, j], side="right"))
            else:
                self._check_column(X[:, j], j, MOST_CATEGORIES, "categories are numbered 0, 1, ...: give them as text")
        return numbers, categories

    def _check_column(self, values: Array, j: int, most: float, remedy: str) -> None:
        low, high = np.nanmin(values, initial=0.0), np.nanmax(values, initial=0.0)
        if low < 0 or high >= most:
            where = column_name(vars(self).get("feature_names_in_"), j)
            raise BadInput(f"{type(self).__name__}: {where} of X holds {low if low < 0 else high:g}, and {remedy}")

    def _solve(self, stats: MixedSums) -> dict[str, Any]:
        return self._solved_by(stats, [np.empty(0)] * self.n_features_in_)

    def _solved_by(self, stats: MixedSums, edges: list[Array]) -> dict[str, Any]:
        weight = stats.classes.weight
        kinds = self._kinds(len(edges))
        return dict(
            class_count_=weight, class_prior_=class_priors(self, weight, renormalise=False), edges_=edges,
            feature_log_prob_=self._probabilities_of(stats, kinds, edges), **self._numbers(stats, kinds),
        )  # fmt: skip

    def _probabilities_of(self, stats: MixedSums, kinds: list[str], edges: list[Array]) -> list[Array]:
        """log (N + α) / (Σ N + α m) of the m categories or bins of each column in each class."""
        k = len(stats.classes.weight)
        found = [np.empty((k, 0))] * len(kinds)
        every: Any = () if stats.categories is None else stats.categories.counts
        for counts, j in zip(every, places(kinds, "categorical", "histogram"), strict=True):
            met = np.flatnonzero(counts.any(axis=1))
            size = len(edges[j]) - 1 if kinds[j] == "histogram" else int(met.max(initial=0)) + 1
            smoothed = np.pad(counts, ((0, max(0, size - len(counts))), (0, 0)))[:size].T + self.alpha
            total = smoothed.sum(axis=1, keepdims=True)
            found[j] = np.where(total > 0, log(smoothed) - log(np.where(total > 0, total, 1.0)), -np.log(size))
        return found

    def _numbers(self, stats: MixedSums, kinds: list[str]) -> dict[str, Any]:
        """What is learned of columns of numbers."""
        return {}

    # --- going on, where there are no histograms ---

    def _goes_on(self) -> bool:
        """Whether one pass is enough."""
        return True

    @property
    def kind(self) -> str:
        return "one pass" if self._goes_on() else "many passes"

    def _from_sums(self, source: Source) -> Sums | None:
        return super()._from_sums(source) if self._goes_on() else None

    @available(lambda model: model._goes_on())
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn more rows; equal to a fit on all rows so far. The first call names all `classes`."""
        found: Self = super().partial_fit(X, y, classes=classes, sample_weight=sample_weight)
        return found

    @available(lambda model: model._goes_on())
    def merge(self, other: Self) -> Self:
        """Take over what another fitted learner of this kind has learned; equal to a fit on the rows of both."""
        return super().merge(other)

    @available(lambda model: model._goes_on())
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Un-learn rows that were learned before; refused where the result would not be exact."""
        return super().forget(X, y, sample_weight)

    # --- what it says of rows ---

    def _scores(self, X: Any) -> Array:
        X = X.astype(np.float64, copy=False)
        kinds = self._kinds(X.shape[1])
        scores = np.tile(log_priors(self.class_prior_, self.class_count_), (len(X), 1))
        numbers, categories = self._parts(X, kinds, self.edges_)
        for i, j in enumerate(places(kinds, "categorical", "histogram")):
            logs = self.feature_log_prob_[j]
            here = categories[:, i] < logs.shape[1]  # neither missing nor never met
            code = categories[here, i].astype(np.int64)
            scores[here] += logs.T[code]
            if kinds[j] == "histogram":
                scores[here] -= np.log(np.diff(self.edges_[j]))[code, None]
        return np.asarray(scores + self._log_numbers(numbers, kinds))

    def _log_numbers(self, numbers: Array, kinds: list[str]) -> Any:
        """The sum of the logarithms of what columns of numbers are in each class."""
        return 0.0

    def predict_joint_log_proba(self, X: Any) -> Array:
        """log P(k, x) of each row and class: of the columns that are not missing."""
        return map_rows(self._scores, check.check_predict(self, X))

    def _objection(self) -> str | None:
        for edges, logs in zip(self.edges_, self.feature_log_prob_, strict=True):
            if len(edges) and (len(edges) != logs.shape[1] + 1 or len(edges) < 2 or not (np.diff(edges) > 0).all()):
                return "the edges are not those of the bins"
        return None


def places(kinds: list[str], *wanted: str) -> list[int]:
    """The columns of these kinds."""
    return [j for j, kind in enumerate(kinds) if kind in wanted]


def _ranges(block: Block, columns: list[int]) -> Ranges:
    return Ranges.of(block.with_X(np.ascontiguousarray(block.X[:, columns], dtype=np.float64)))


def _of_columns(learner: Learner[Array], columns: list[int]) -> Learner[Array]:
    return (yield from through(partial(_some, columns), learner))


def _some(columns: list[int], block: Block) -> Block:
    return block.with_X(np.ascontiguousarray(block.X[:, columns]))
