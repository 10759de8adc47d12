"""Counts made to have noise of one size."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Transformer
from tenfold.base.one_pass import OnePass
from tenfold.core.data import Array, Block
from tenfold.core.learned import learned
from tenfold.core.params import estimator, param
from tenfold.core.stats import Counts
from tenfold.prepare.scaler import brought_back

SHIFT = 3 / 8
MOST_ROOT = 8.0  # √λ up to which the mean of the transform is tabulated


@estimator
class AnscombeTransformer(Transformer, OnePass):
    """AnscombeTransformer: Poisson counts turned into numbers whose noise has variance one.

    Model       z = 2 √(x + 3/8), column by column;  x below −3/8 counts as −3/8
    Objective   Var z ≈ 1 for x ~ Poisson(λ), whatever λ (within 8 % from λ = 2 on)
    Algorithm   closed form; the unbiased inverse is the λ whose counts have E z as their mean, from a table
                of E z up to λ = 64, and z²/4 − 1/8 beyond
    Cost        O(n p); one pass over X when fitted, to check it
    Fails when  counts are mostly 0 or 1 (λ below 1): the variance is then below one
    Reference   Anscombe 1948; inverse: Mäkitalo & Foi 2011

    Example
    -------
    >>> import numpy as np, tenfold
    >>> counts = np.random.default_rng(0).poisson(20.0, size=(10000, 1))
    >>> z = tenfold.AnscombeTransformer().fit_transform(counts)
    >>> round(float(z.var()), 1)
    1.0
    """

    stats_: Any = learned("Counts(1)", "weight of the rows", optional=True)

    stateless: ClassVar[bool] = True
    invertible: ClassVar[bool] = True

    inverse: str = param(
        default="unbiased",
        one_of=("unbiased", "algebraic"),
        doc="inverse of means of z: the mean of the counts, or plain algebra, which is too small",
    )

    def _summarize(self, block: Block) -> Counts:
        return Counts.of_rows(block)

    def _solve(self, stats: Counts) -> dict[str, Any]:
        return {}

    def _transform(self, X: Array) -> Array:
        return (2 * np.sqrt(np.maximum(X.astype(np.float64) + SHIFT, 0.0))).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> Any:
        """From (smoothed) transformed values back to expected counts."""
        return brought_back(self, X)

    def _inverse(self, Z: Array) -> Array:
        z = np.maximum(Z.astype(np.float64), 0.0)
        if self.inverse == "algebraic":
            return (z**2 / 4 - SHIFT).astype(Z.dtype, copy=False)
        means, rates = mean_table()
        # E z = 2 √(λ + 1/8) + O(λ^−5/2): there is no term between them
        return np.where(z > means[-1], z**2 / 4 - 1 / 8, np.interp(z, means, rates)).astype(Z.dtype, copy=False)


@cache
def mean_table() -> tuple[Array, Array]:
    """E z = Σₖ 2 √(k + 3/8) e^−λ λᵏ / k! for λ from 0 to 64, evenly in √λ, and those λ."""
    from scipy.special import gammaln

    rates = np.linspace(0, MOST_ROOT, 4001) ** 2
    k = np.arange(250)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = k * np.log(rates[:, None]) - rates[:, None] - gammaln(k + 1)
    logs[0] = np.where(k == 0, 0.0, -np.inf)
    return np.exp(logs) @ (2 * np.sqrt(k + SHIFT)), rates
