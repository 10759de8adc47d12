"""Scores of one column against a target that follow from sums of one pass: F, chi-square, correlation.

Each is a `ColumnScore`: what is summed over a block, and what follows from the sums. The functions of the same names give the scores of
a table; the selectors of `features.selectors` keep the sums too, so that they learn on, merge and forget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.columns import ColumnSums
from tenfold.base.estimator import gate_of
from tenfold.core import ops
from tenfold.core.data import Array, Block
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadInput, Degenerate, warn
from tenfold.core.stats import Centred, Spread
from tenfold.core.threads import single_blas

EPS = float(np.finfo(float).eps)
LARGEST = float(np.finfo(float).max)

Scores = tuple[Array, Array | None]  # and p-values, where there are some


@dataclass(frozen=True)
class ColumnScore:
    """A score of each column: `summarize(block, classes)` has `+`, and `finish` makes scores of the sum of all blocks."""

    name: str
    target: str  # "label" or "real"
    summarize: Callable[[Block, int], Any]
    finish: Callable[[Any], Scores]
    positive: bool = False  # whether negative values have no score

    def from_columns(self, columns: ColumnSums) -> Any:
        """What `summarize` makes of blocks, from sums that are there; None where they do not tell it."""
        p, moments = len(columns.missing.weight), columns.moments
        if columns.missing.weight.any() or (self.target == "label") != (columns.groups > 0):
            return None
        if self.positive and (columns.low is None or (columns.low < 0).any()):
            return None
        if columns.groups:
            spread = moments.spread()
            return Spread(spread.weight, spread.center[:, :p], spread.offset[:, :p], spread.scatter[:, :p])
        if len(moments.center) != p + 1:
            return None  # several targets
        return Joint(moments.weight, moments.center, moments.offset, np.stack([np.diagonal(moments.scatter), moments.scatter[-1]]))


@dataclass(slots=True)
class Joint(Centred):
    """Weight and mean of the columns of [x y]; scatter (2, p + 1): Σ w (z − m)² of each, and Σ w (z − m)(y − m) with the last one."""

    @classmethod
    def of(cls, block: Block) -> Joint:
        Z = np.column_stack([ops.dense(block.X), block.y]).astype(np.float64, copy=False)
        weight = float(block.w.sum())
        center = block.w @ Z / weight
        Z -= center
        offset = block.w @ Z / weight
        Z -= offset
        even = bool((block.w == block.w[0]).all())
        W = Z * block.w[0] if even else Z * block.w[:, None]
        return cls(weight, center, offset, np.stack([np.einsum("ij,ij->j", W, Z), Z[:, -1] @ W]))

    def _square(self, delta: Array) -> Array:
        return np.stack([delta * delta, delta * delta[..., -1:]])

    def _variances(self, scatter: Array) -> Array:
        return np.asarray(scatter[0])


# --- F of classes -----------------------------------------------------------------------------------------------------


def _by_class(block: Block, classes: int) -> Spread:
    return Spread.by_group(ops.dense(block.X), block.y, block.w, classes)


def _anova(stats: Spread) -> Scores:
    """F = [Σ_k n_k (m_k − m)² / (K − 1)] / [Σ_k Σ (x − m_k)² / (n − K)]."""
    from scipy.special import fdtrc  # a fit without p-values does not need it

    there = stats.weight > 0
    n_k, mean, within = stats.weight[there], stats.mean[there], stats.scatter[there].sum(axis=0)
    n, K = n_k.sum(), len(n_k)
    middle = n_k @ mean / n
    between = n_k @ (mean - middle) ** 2
    rounding = between + within <= n * (4 * EPS * middle) ** 2  # what is left of a constant
    between, within = np.where(rounding, 0.0, between), np.where(rounding, 0.0, within)
    if rounding.any():
        _warn_of_constants(rounding)
    with np.errstate(divide="ignore", invalid="ignore"):
        F = between / (K - 1) / (within / (n - K))
    return F, np.where(np.isposinf(F), 0.0, fdtrc(K - 1, n - K, F))


def _warn_of_constants(constant: Array) -> None:
    places = np.flatnonzero(constant)
    warn(f"Features {places} are constant: they have no score (NaN), and are chosen last", Degenerate, stacklevel=4)


# --- chi-square -------------------------------------------------------------------------------------------------------


def _counts(block: Block, classes: int) -> Spread:
    X = ops.dense(block.X)
    if X.min(initial=0.0) < 0:
        column = int((X < 0).any(axis=0).argmax())
        raise BadInput(
            f"Input X must be non-negative: chi2 is for counts and shares, and column {column} holds {X[:, column].min():g}; take "
            "f_classif, or scale to 0 to 1 first"
        )
    return Spread.by_group(X, block.y, block.w, classes)


def _chi_square(stats: Spread) -> Scores:
    """Σ_k (o_k − e_k)² / e_k with o_k = Σ x over the rows of class k and e_k = (n_k / n) Σ x."""
    from scipy.special import chdtrc

    there = stats.weight > 0
    n_k = stats.weight[there]
    observed = n_k[:, None] * stats.mean[there]
    expected = n_k[:, None] / n_k.sum() * observed.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = ((observed - expected) ** 2 / expected).sum(axis=0)
    return found, chdtrc(len(n_k) - 1, found)


# --- correlation ------------------------------------------------------------------------------------------------------


def _joint(block: Block, classes: int) -> Joint:
    return Joint.of(block)


def _correlations(stats: Joint, center: bool = True, force_finite: bool = True) -> Array:
    squares, products, mean = stats.scatter[0], stats.scatter[1], stats.mean
    if center:
        squares = np.where(squares <= stats.weight * (4 * EPS * mean) ** 2, 0.0, squares)  # what is left of a constant
    else:
        squares, products = squares + stats.weight * mean**2, products + stats.weight * mean * mean[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.clip(products[:-1] / np.sqrt(squares[:-1]) / np.sqrt(squares[-1]), -1.0, 1.0)
    r[(squares[:-1] == 0) | (squares[-1] == 0)] = np.nan
    return np.where(np.isnan(r), 0.0, r) if force_finite else r


def _f_of_correlations(stats: Joint, center: bool = True, force_finite: bool = True) -> Scores:
    """F = r² / (1 − r²) (n − 2)."""
    from scipy.special import fdtrc

    freedom = stats.weight - (2 if center else 1)
    squared = _correlations(stats, center, force_finite) ** 2
    squared[1 - squared < 4 * EPS] = 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        F = squared / (1 - squared) * freedom
    p = np.where(np.isposinf(F), 0.0, fdtrc(1, freedom, F))
    if force_finite:
        p[np.isnan(F) | np.isnan(p)] = 1.0
        F[np.isnan(F)] = 0.0
        F[np.isposinf(F)] = LARGEST
    return F, p


ANOVA = ColumnScore("f_classif", "label", _by_class, _anova)
CHI_SQUARE = ColumnScore("chi2", "label", _counts, _chi_square, positive=True)
F_OF_CORRELATION = ColumnScore("f_regression", "real", _joint, _f_of_correlations)
CORRELATION = ColumnScore("r_regression", "real", _joint, lambda stats: (_correlations(stats), None))


# --- functions --------------------------------------------------------------------------------------------------------


def sums_of(score: ColumnScore, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """What `score` sums, of a table, a file or a stream."""
    source = check.check_fit(gate_of(score.name, score.target), X, y, sample_weight)
    classes = 0 if source.target.classes is None else len(source.target.classes)
    with single_blas:
        return current_engine(source).run(partial(_summary, score, classes), source)


def _summary(score: ColumnScore, classes: int, block: Block) -> Any:
    return score.summarize(block, classes)


def f_classif(X: Any, y: Any, *, sample_weight: Any = None) -> tuple[Array, Array]:
    """F statistic of each column between classes (analysis of variance), and its p-value.

    F = [Σ_k n_k (m_k − m)² / (K − 1)] / [Σ_k Σ (x − m_k)² / (n − K)]; NaN for a constant column, infinite where the classes alone
    decide it. One pass over a table, file or stream; a row of weight 2 is two rows.

    >>> import tenfold
    >>> F, p = tenfold.f_classif([[0.0, 1.0], [2.0, 1.0], [10.0, 2.0], [12.0, 1.0]], ["a", "a", "b", "b"])
    >>> F.round(6).tolist(), p.round(4).tolist()
    ([50.0, 1.0], [0.0194, 0.4226])
    """
    F, p = ANOVA.finish(sums_of(ANOVA, X, y, sample_weight))
    assert p is not None
    return F, p


def chi2(X: Any, y: Any, *, sample_weight: Any = None) -> tuple[Array, Array]:
    """Chi-square statistic of each column of counts or shares against classes, and its p-value.

    χ² = Σ_k (o_k − e_k)² / e_k with o_k = Σ x over the rows of class k and e_k = (n_k / n) Σ x; values must not be negative. One pass.

    >>> import tenfold
    >>> found, p = tenfold.chi2([[1.0, 1.0], [1.0, 1.0], [0.0, 1.0], [0.0, 1.0]], [0, 0, 1, 1])
    >>> found.tolist(), p.round(4).tolist()
    ([2.0, 0.0], [0.1573, 1.0])
    """
    found, p = CHI_SQUARE.finish(sums_of(CHI_SQUARE, X, y, sample_weight))
    assert p is not None
    return found, p


def r_regression(X: Any, y: Any, *, center: bool = True, force_finite: bool = True, sample_weight: Any = None) -> Array:
    """Pearson's correlation of each column with the target, r = Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² Σ (y − ȳ)²).

    With center=False nothing is subtracted. A constant has the correlation 0, or NaN with force_finite=False. One pass.

    >>> import tenfold
    >>> tenfold.r_regression([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0]], [0.0, 1.0, 2.0]).round(6).tolist()
    [1.0, -0.5]
    """
    return _correlations(sums_of(CORRELATION, X, y, sample_weight), center, force_finite)


def f_regression(
    X: Any, y: Any, *, center: bool = True, force_finite: bool = True, sample_weight: Any = None
) -> tuple[Array, Array]:
    """F statistic of the line through each column, F = r² / (1 − r²) (n − 2), and its p-value; r as in `r_regression`.

    With force_finite, F is 0 and p is 1 for a constant, and F the largest number there is for a perfect line. One pass.

    >>> import tenfold
    >>> F, p = tenfold.f_regression([[0.0, 3.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [0.0, 1.0, 2.0, 4.0])
    >>> F.round(4).tolist(), p.round(4).tolist()
    ([56.3333, 0.1389], [0.0173, 0.7452])
    """
    F, p = _f_of_correlations(sums_of(F_OF_CORRELATION, X, y, sample_weight), center, force_finite)
    assert p is not None
    return F, p


BY_SUMS: dict[Any, ColumnScore] = {
    f_classif: ANOVA, chi2: CHI_SQUARE, f_regression: F_OF_CORRELATION, r_regression: CORRELATION,
}  # fmt: skip
