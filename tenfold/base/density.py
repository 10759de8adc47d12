"""The role of densities: log densities of rows; where rows can be drawn also `sample`, and for one column `cdf` and `quantile`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.by_rows import map_rows
from tenfold.base.quantiles import solve_quantiles
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.core.threads import single_blas

if TYPE_CHECKING:  # Python need not know what a mixin stands beside
    from tenfold.base.estimator import Estimator as _Beside
else:
    _Beside = object


class Density(_Beside):
    """Mixin: estimates a density."""

    role: ClassVar[str] = "density_estimator"
    has_samples: ClassVar[bool] = True  # False: no distribution stands behind it, from which rows could be drawn
    score_is_total: ClassVar[bool] = False  # `score` is the sum over the rows, as that of scikit-learn's class of the same name
    unnormalised: ClassVar[str] = ""  # why exp(`score_samples`) does not integrate to 1; "": it does

    def _log_density(self, X: Any) -> Array:
        raise NotImplementedError

    def _draw(self, n: int, rng: np.random.Generator) -> Array:
        raise NotImplementedError

    def _cdf(self, X: Any) -> Array:
        """The share of the distribution at or below each row of one column."""
        raise NotImplementedError

    def _quantile(self, q: Array) -> Array:
        """x with cdf(x) = q, for flat 0 < q < 1: by a root search, where there is no formula."""
        low, high = self._support()
        return solve_quantiles(
            q, lambda x: self._cdf(x[:, None]), lambda x: np.exp(self._log_density(x[:, None])), float(low[0]), float(high[0])
        )

    def _support(self) -> tuple[Array, Array]:
        """The least and the largest value of each column (p,) with a box around all places where the density is not zero."""
        p: int = self.n_features_in_
        return np.full(p, -np.inf), np.full(p, np.inf)

    def _gaussians(self) -> tuple[Array, Array, Array] | None:
        """Of a sum of Gaussians: logarithms of their shares, means (k, p), and precisions (k, p, p) or (k, p); None for all others."""
        return None

    def _kinks(self) -> list[Array]:
        """For each column, where the density is not smooth along it: integrals are split there."""
        return [np.empty(0)] * self.n_features_in_

    def score_samples(self, X: Any) -> Array:
        """The logarithm of the density at each row."""
        return map_rows(self._log_density, check.check_predict(self, X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """The mean of `score_samples`: the log-likelihood of a row; where the class says so (`score_is_total`), their sum."""
        found = self.score_samples(X)
        weights = check.as_weights(sample_weight, len(found))
        if self.score_is_total:
            return float(found.sum() if weights is None else found @ weights)
        return float(np.average(found, weights=weights))

    @available(lambda model: model.has_samples)
    def cdf(self, X: Any) -> Array:
        """The probability of a value at or below that of each row, for a density of one column."""
        rows = check.check_predict(self, X)
        self._check_one_column("cdf")
        return map_rows(lambda X: self._cdf(ops.dense(X)), rows)

    @available(lambda model: model.has_samples)
    def quantile(self, q: Any) -> Any:
        """Where `cdf` is q, a probability or an array of them, for a density of one column; of 0 and 1 the ends of the support."""
        check.check_fitted(self)
        self._check_one_column("quantile")
        try:
            asked = np.asarray(q, dtype=np.float64)
        except (TypeError, ValueError):
            raise BadParameter(f"quantile({check.short(q)}): must be probabilities, numbers from 0 to 1") from None
        wrong = ~((asked >= 0) & (asked <= 1))
        if wrong.any():
            raise BadParameter(f"quantile(q): must be probabilities, numbers from 0 to 1, and holds {asked[wrong].flat[0]:g}")
        low, high = self._support()
        found = np.where(asked == 0, low[0], high[0])
        inner = (asked > 0) & (asked < 1)
        with single_blas:
            found[inner] = self._quantile(asked[inner])
        return found if found.ndim else float(found)

    def _check_one_column(self, verb: str) -> None:
        if self.n_features_in_ != 1:
            raise BadInput(
                f"{verb}: is of a density of one column, and this {type(self).__name__} was fitted on {self.n_features_in_}: fit it on one"
            )

    @available(lambda model: model.has_samples)
    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Rows drawn from the density."""
        check.check_fitted(self)
        if not isinstance(n_samples, (int, np.integer)) or isinstance(n_samples, bool) or n_samples < 1:
            raise BadParameter(f"sample(n_samples={n_samples!r}): must be a whole number of at least 1")
        return self._draw(int(n_samples), generator(random_state))
