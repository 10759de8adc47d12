"""Scores of groupings against known groups, from their table of counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from scipy.special import gammaln

from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.core.information import entropy, mutual_information
from tenfold.score.confusion import Confusion
from tenfold.score.inputs import check_choice, truth_and_groups


class Contingency(Confusion):
    """Weight of the rows in each pair of groups; groups of the two groupings have nothing to do with each
    other.
    """

    __slots__ = ()

    @classmethod
    def of(cls, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Contingency:
        return cls.of_labels(truth_and_groups(y_true, y_pred, sample_weight))

    def adjusted_rand(self) -> float:
        both, first, second, neither = self.pairs()
        if first == 0 and second == 0:  # no pair is treated differently, as where there is no pair
            return 1.0
        return (
            2
            * (both * neither - first * second)
            / ((both + first) * (first + neither) + (both + second) * (second + neither))
        )

    def mutual_information(self) -> float:
        return mutual_information(self.weight)

    def normalized_information(self, average_method: str = "arithmetic") -> float:
        mean = _mean_of(average_method)
        if self.weight.shape in ((0, 0), (1, 1)):
            return 1.0
        shared = self.mutual_information()
        if shared <= np.finfo(float).eps:
            return 0.0
        return float(shared / mean([float(entropy(self.weight.sum(axis=a))) for a in (1, 0)]))

    def adjusted_information(self, average_method: str = "arithmetic") -> float:
        mean = _mean_of(average_method)
        if self.weight.shape in ((0, 0), (1, 1)):
            return 1.0
        if 1 in self.weight.shape:
            return 0.0
        chance, least = expected_information(self.weight), np.finfo(np.float64).eps
        most = mean([float(entropy(self.weight.sum(axis=a))) for a in (1, 0)])
        gain, room = self.mutual_information() - chance, float(most) - chance
        # both are zero but for rounding where chance explains all, as of groups of one row each: that is agreement
        return float(np.copysign(max(abs(gain), least), gain) / np.copysign(max(abs(room), least), room))

    def pairs(self) -> tuple[float, float, float, float]:
        """Ordered pairs of rows: together in both, only in the first, only in the second, in neither."""
        table = self.weight.astype(np.float64)
        n, squares = float(table.sum()), float((table**2).sum())
        rows, columns = (float((table.sum(axis=a) ** 2).sum()) for a in (1, 0))
        return squares - n, rows - squares, columns - squares, n * n - rows - columns + squares

    def rand(self) -> float:
        both, first, second, neither = self.pairs()
        total = both + first + second + neither
        return (both + neither) / total if total > 0 and both + neither != total else 1.0

    def fowlkes_mallows(self) -> float:
        both, first, second, _ = self.pairs()
        return float(both / np.sqrt(both + first) / np.sqrt(both + second)) if both > 0 else 0.0

    def homogeneity(self) -> float:
        return self._explained(1)

    def completeness(self) -> float:
        return self._explained(0)

    def _explained(self, axis: int) -> float:
        """The share of the entropy of one grouping that the other explains."""
        whole = float(entropy(self.weight.sum(axis=axis))) if self.weight.size else 0.0
        return self.mutual_information() / whole if whole > 0 else 1.0

    def v_measure(self, beta: float = 1.0) -> float:
        homogeneity, completeness = self.homogeneity(), self.completeness()
        if homogeneity + completeness == 0:
            return 0.0
        return (1 + beta) * homogeneity * completeness / (beta * homogeneity + completeness)


def _mean_of(method: str) -> Callable[[list[float]], Any]:
    """The mean of two entropies, by its name."""
    means: dict[str, Callable[[list[float]], Any]] = {
        "arithmetic": np.mean,
        "max": max,
        "min": min,
        "geometric": lambda pair: np.sqrt(pair[0] * pair[1]),
    }
    check_choice("average_method", method, tuple(means))
    return means[method]


def expected_information(table: Array) -> float:
    """The mean of the mutual information over all ways to deal the rows into groups of these sizes.

    A cell of a group of a rows and one of b has m of the n rows with the hypergeometric probability, and adds m/n log(n m / (a b)). Groups
    of the same size are dealt alike, so that each pair of sizes is looked at once.
    """
    if not np.array_equal(table, np.round(table)):
        raise BadInput("sample_weight: chance deals whole rows, so that weights must be whole numbers: they count copies of a row")
    (a, many_a), (b, many_b) = (np.unique(table.sum(axis=k).astype(np.int64), return_counts=True) for k in (1, 0))
    n = int(a @ many_a)
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    total = 0.0
    for (one, many), (other, more) in product(zip(a.tolist(), many_a.tolist(), strict=True), zip(b.tolist(), many_b.tolist(), strict=True)):
        m = np.arange(max(1, one + other - n), min(one, other) + 1)
        ways = log_factorial[[one, other, n - one, n - other]].sum() - log_factorial[n]
        left = log_factorial[m] + log_factorial[one - m] + log_factorial[other - m] + log_factorial[n - one - other + m]
        total += many * more * float(np.exp(ways - left) @ (m * (np.log(m) + math.log(n / one / other)))) / n
    return total


def adjusted_rand_score(labels_true: Any, labels_pred: Any, *, sample_weight: Any = None) -> float:
    """The share of pairs of rows that both groupings treat alike, rescaled: 1 if they are the same, 0 on
    average by chance.

    With a the pairs together in both, b and c in only one, d in neither: 2 (a d − b c) / ((a + b)(b + d) + (a
    + c)(c + d)). Weights count copies of a row. The names of the groups do not matter.

    >>> from tenfold.evaluate import adjusted_rand_score
    >>> adjusted_rand_score([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    return Contingency.of(labels_true, labels_pred, sample_weight).adjusted_rand()


def mutual_info_score(labels_true: Any, labels_pred: Any, *, contingency: Any = None, sample_weight: Any = None) -> float:
    """Σ pᵢⱼ log(pᵢⱼ / (pᵢ pⱼ)), in nats: the information of one grouping about the other; 0 where one of them is a
    single group. contingency: the table of counts of both groupings, where it is known; then the labels have no effect.

    >>> from tenfold.evaluate import mutual_info_score
    >>> round(mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0]), 4)
    0.6931
    """
    if contingency is not None:
        table = contingency.toarray() if ops.is_sparse(contingency) else np.asarray(contingency)
        return Contingency(np.arange(table.shape[0]), np.arange(table.shape[1]), table).mutual_information()
    return Contingency.of(labels_true, labels_pred, sample_weight).mutual_information()


def normalized_mutual_info_score(
    labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic", sample_weight: Any = None
) -> float:
    """Mutual information over the mean entropy of the two groupings, between 0 and 1; two single groups are
    the same: 1.

    average_method: the mean, "arithmetic", "geometric", "min" or "max".

    >>> from tenfold.evaluate import normalized_mutual_info_score
    >>> normalized_mutual_info_score([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    return Contingency.of(labels_true, labels_pred, sample_weight).normalized_information(average_method)


def adjusted_mutual_info_score(
    labels_true: Any, labels_pred: Any, *, average_method: str = "arithmetic", sample_weight: Any = None
) -> float:
    """(I − E[I]) / (mean entropy − E[I]), with the mutual information I and its mean E[I] over all ways to deal the rows into groups of
    the same sizes: 1 if the groupings are the same, 0 on average by chance.

    average_method: as in `normalized_mutual_info_score`. Weights count copies of a row, and must be whole numbers.

    >>> from tenfold.evaluate import adjusted_mutual_info_score
    >>> adjusted_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return Contingency.of(labels_true, labels_pred, sample_weight).adjusted_information(average_method)


def rand_score(labels_true: Any, labels_pred: Any, *, sample_weight: Any = None) -> float:
    """The share of pairs of rows that both groupings treat alike: together in both, or in neither.

    >>> from tenfold.evaluate import rand_score
    >>> rand_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return Contingency.of(labels_true, labels_pred, sample_weight).rand()


def fowlkes_mallows_score(labels_true: Any, labels_pred: Any, *, sample_weight: Any = None) -> float:
    """a / √((a + b)(a + c)), with a the pairs of rows together in both groupings, b and c in only one.

    >>> from tenfold.evaluate import fowlkes_mallows_score
    >>> fowlkes_mallows_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return Contingency.of(labels_true, labels_pred, sample_weight).fowlkes_mallows()


def homogeneity_score(labels_true: Any, labels_pred: Any, *, sample_weight: Any = None) -> float:
    """How much of the entropy of the true groups the found ones explain: 1 where each found group is of one true group.

    >>> from tenfold.evaluate import homogeneity_score
    >>> homogeneity_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return Contingency.of(labels_true, labels_pred, sample_weight).homogeneity()


def completeness_score(labels_true: Any, labels_pred: Any, *, sample_weight: Any = None) -> float:
    """How much of the entropy of the found groups the true ones explain: 1 where each true group is in one found group.

    >>> from tenfold.evaluate import completeness_score
    >>> completeness_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return Contingency.of(labels_true, labels_pred, sample_weight).completeness()


def v_measure_score(labels_true: Any, labels_pred: Any, *, beta: float = 1.0, sample_weight: Any = None) -> float:
    """(1 + β) h c / (β h + c): the mean of homogeneity h and completeness c.

    >>> from tenfold.evaluate import v_measure_score
    >>> v_measure_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    return Contingency.of(labels_true, labels_pred, sample_weight).v_measure(beta)


def homogeneity_completeness_v_measure(
    labels_true: Any, labels_pred: Any, *, beta: float = 1.0, sample_weight: Any = None
) -> tuple[float, float, float]:
    """Homogeneity, completeness and V-measure, from one table of counts.

    >>> from tenfold.evaluate import homogeneity_completeness_v_measure
    >>> homogeneity_completeness_v_measure([0, 0, 1, 1], [1, 1, 0, 0])
    (1.0, 1.0, 1.0)
    """
    table = Contingency.of(labels_true, labels_pred, sample_weight)
    return table.homogeneity(), table.completeness(), table.v_measure(beta)
