"""Naive Bayes of columns that are not of one kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.generative.column_kinds import KINDS, NUMBERS, MixedColumns, places
from tenfold.generative.counts import log
from tenfold.generative.mixed_sums import MixedSums
from tenfold.generative.naive_bayes import LOG_2PI, raised
from tenfold.solve.columns import SMALLEST_SQUARES, check_magnitude

TINY = np.finfo(np.float64).tiny


@estimator
class MixedNB(MixedColumns):
    """MixedNB: classes with columns of different kinds, independent within a class.

    Model       P(k | x) ∝ πₖ Πⱼ pₖⱼ(xⱼ) over the columns that are not missing, pₖⱼ by the kind of the column: gaussian N(x; θ, σ²); count,
                Poisson's e^−θ θ^x / x!; bernoulli, θ where x > 0 and 1 − θ elsewhere; categorical and histogram, the probability of the
                category or bin (of a bin over its width)
    Objective   maximum likelihood, smoothed: categories, bins and both values of two by α each; rates by α rows with the mean of all
                classes; variances by var_smoothing times the largest of a column
    Algorithm   one pass of sums, class by class; ranges and rules of histograms need more (see HistogramNB)
    Cost        O(n p) time, O(K p) memory and the counts of categories and bins
    Fails when  columns depend on one another: the probabilities are then too sure of themselves
    Reference   Hastie, Tibshirani & Friedman 2009, §6.6.3

    Example
    -------
    >>> import polars, tenfold
    >>> table = polars.DataFrame({"sky": ["clear", "grey", None, "clear"], "degrees": [21.0, 9.0, 11.0, None]})
    >>> model = tenfold.MixedNB().fit(table, ["out", "in", "in", "out"])
    >>> model.predict(table).tolist()
    ['out', 'in', 'in', 'out']
    """

    theta_: Array = learned("float(K,p)", "mean, rate or probability of columns of numbers in each class; 0 of others")
    var_: Array = learned("float(K,p)", "variance of the columns that are gaussian in each class, smoothed; 1 of others")
    stats_: Any = learned("MixedSums(K)", "the sums: for partial_fit, merge and forget", optional=True)

    categorical: ClassVar[bool] = True

    kinds: Any = param(
        default="auto",
        before="alpha",
        doc="the kind of each column, or of some by name or number: 'gaussian', 'count', 'bernoulli', 'categorical', 'histogram'; of all "
        "others text and truth values are categorical and numbers as `numbers` says",
    )
    _: KW_ONLY
    numbers: str = param(default="gaussian", one_of=KINDS, doc="the kind of columns of numbers that are not named")
    bins: int | str = param(default="scott", doc="bins of histograms: 'scott', 'fd', 'shimazaki', 'cv', or a number")
    var_smoothing: float = param(default=1e-9, at_least=0, doc="share of the largest variance of a column added to all variances")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"numbers": "histogram", "bins": 4}]

    @property
    def kinds_(self) -> list[str]:
        """The kind of each column."""
        check.check_fitted(self)
        return self._kinds(self.n_features_in_)

    def _kinds(self, p: int) -> list[str]:
        coded = [one is not None for one in vars(self).get("categories_") or [None] * p]
        found = ["categorical" if text else str(self.numbers) for text in coded]
        names = vars(self).get("feature_names_in_")
        for j, kind in self._given(p, names).items():
            if kind not in KINDS:
                raise BadParameter(f"MixedNB(kinds=...): {column_name(names, j)} has {check.short(kind)}, none of {', '.join(KINDS)}")
            if coded[j] and kind != "categorical":
                raise BadParameter(f"MixedNB(kinds=...): {column_name(names, j)} of X holds text or truth values, which are 'categorical'")
            found[j] = kind
        return found

    def _given(self, p: int, names: Any) -> dict[int, Any]:
        """The kinds that the user gives, by column."""
        if isinstance(self.kinds, str) and self.kinds == "auto":
            return {}
        if not isinstance(self.kinds, Mapping):
            if not isinstance(self.kinds, (list, tuple, np.ndarray)) or np.ndim(self.kinds) != 1 or len(self.kinds) != p:
                raise BadParameter(
                    f"MixedNB(kinds={check.short(self.kinds)}): must be 'auto', a kind for each of the {p} columns, or a dict of columns"
                )
            return dict(enumerate(self.kinds))
        known = {} if names is None else {name: j for j, name in enumerate(names.tolist())}
        known |= {j: j for j in range(p)}
        for one in self.kinds:
            if one not in known:
                raise BadParameter(f"MixedNB(kinds=...): X has no column {one!r}")
        return {known[one]: kind for one, kind in self.kinds.items()}

    def _bins(self) -> Any:
        return self.bins

    def _goes_on(self) -> bool:
        named = self.kinds.values() if isinstance(self.kinds, Mapping) else np.ravel(np.asarray(self.kinds, dtype=object))
        return self.numbers != "histogram" and "histogram" not in list(named)

    def _numbers(self, stats: MixedSums, kinds: list[str]) -> dict[str, Any]:
        at, k = places(kinds, *NUMBERS), len(stats.classes.weight)
        theta, var = np.zeros((k, len(kinds))), np.ones((k, len(kinds)))
        if stats.numbers is None:
            return dict(theta_=theta, var_=var)
        weight, mean, squares = (one.reshape(k, len(at)) for one in (stats.numbers.weight, stats.numbers.mean, stats.numbers.scatter))
        total = weight.sum(axis=0)
        share = weight / np.where(total > 0, total, 1.0)
        mean = np.where(weight > 0, mean, 0.0)
        center = (share * mean).sum(axis=0)
        mean = np.where(weight > 0, mean, center)  # a class without values has those of all
        pooled = squares.sum(axis=0) / np.where(total > 0, total, 1.0) + (share * (mean - center) ** 2).sum(axis=0)
        here = [i for i, j in enumerate(at) if kinds[j] == "gaussian"]
        if here:
            own, there, spread = np.ones_like(var), np.ones(var.shape, dtype=bool), np.ones(len(kinds))
            columns = [at[i] for i in here]
            theta[:, columns], own[:, columns], there[:, columns] = mean[:, here], squares[:, here], weight[:, here] > 0
            spread[columns] = pooled[here]
            check_magnitude(theta, own, vars(self).get("feature_names_in_"))
            var[:, columns] = np.where(weight > 0, squares / np.where(weight > 0, weight, 1.0), pooled)[:, here]
            var[:, columns] += self.var_smoothing * float(pooled[here].max())
            if not var.min() > SMALLEST_SQUARES:
                var = raised(self, var, theta, spread, there)
        for i, j in enumerate(at):
            n, sums = weight[:, i], weight[:, i] * mean[:, i]
            if kinds[j] == "bernoulli":
                theta[:, j] = np.where(n + self.alpha > 0, (sums + self.alpha) / np.maximum(n + 2 * self.alpha, TINY), 0.5)
            elif kinds[j] == "count":
                rate = (sums + self.alpha * center[i]) / np.maximum(n + self.alpha, TINY)
                theta[:, j] = rate if center[i] > 0 else 1.0  # zeros alone tell no class from another
        return dict(theta_=theta, var_=var)

    def _log_numbers(self, numbers: Array, kinds: list[str]) -> Any:
        at = places(kinds, *NUMBERS)
        scores = np.zeros((len(numbers), len(self.classes_)))
        whole = [i for i, j in enumerate(at) if kinds[j] == "gaussian" and not np.isnan(numbers[:, i]).any()]
        if whole:  # all at once
            columns = [at[i] for i in whole]
            theta, var = (np.ascontiguousarray(one[:, columns]) for one in (self.theta_, self.var_))
            scores += ops.spread_scores(np.ascontiguousarray(numbers[:, whole]), theta, 1 / var, -0.5 * (LOG_2PI + np.log(var)).sum(axis=1))
        for i in sorted(set(range(len(at))) - set(whole)):
            x, theta = numbers[:, i, None], self.theta_[:, at[i]]
            if kinds[at[i]] == "gaussian":
                var = self.var_[:, at[i]]
                found = -0.5 * (LOG_2PI + np.log(var) + (x - theta) ** 2 / var)
            elif kinds[at[i]] == "bernoulli":
                found = np.where(x > 0, log(theta), log(1 - theta))
            else:
                found = x * log(theta) - theta - gammaln(x + 1)
            scores += np.where(np.isnan(x), 0.0, found)
        return scores
