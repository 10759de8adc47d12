"""The lasso and the elastic net with penalties chosen by cross-validation."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.linear import lasso
from tenfold.linear.folds import splits_of
from tenfold.linear.lasso import SparseRegressor, SweepOptions, as_float64
from tenfold.linear.lasso_folds import ByMoments, ByRows
from tenfold.linear.penalties import positive_numbers


@group
class CrossValidated(SweepOptions, SparseRegressor):
    """Mixin: a grid of penalties, the held-out error of each, and the exact fit of the best."""

    alpha_: float = learned("float", "the penalty chosen")
    alphas_: Array = learned("float(a)|float(r,a)", "penalties tried; where they were not given, for several l1_ratio a row for each")
    mse_path_: Array = learned("float(a,f)|float(r,a,f)", "mean squared error for each penalty and fold")

    _: KW_ONLY
    eps: float = param(
        default=1e-3,
        at_least=1e-12,
        at_most=1,
        doc="last penalty of the grid as a share of the first",
        before="fit_intercept",
    )
    alphas: Any = param(default=100, doc="how many penalties, or the penalties themselves", before="fit_intercept")
    precompute: Any = param(default="auto", doc="no effect: cross-products are formed where they are cheaper")
    cv: Any = param(
        default=None,
        doc="number of folds (None: 5), a splitter, or pairs of row numbers (train, test)",
        before="positive",
    )
    verbose: Any = param(default=False, doc="no effect: see tenfold.monitor", before="positive")
    n_jobs: int | None = param(default=None, doc="no effect: see tenfold.threads", before="positive")

    kind: ClassVar[str] = "keeps rows"
    sparse: ClassVar[bool] = True
    least_rows: ClassVar[int] = 2
    exempt: ClassVar[dict[str, str]] = {
        "row_order": "folds are cut by row number, as in scikit-learn",
        "weight_is_copies": "folds are cut by row number, and copies of a row count as rows",
    }

    def _ratios(self) -> Array:
        return np.ones(1)

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        given, ratios = given_alphas(self), self._ratios()
        X, y, w = as_float64((yield Keep(sparse=True)))
        y = np.ascontiguousarray(y[:, 0])
        splits = splits_of(self, self.cv, X, y, getattr(source, "rows", None))
        few_rows = X.shape[1] > max(500, 2 * len(y)) or X.shape[1] > lasso.WIDE
        if few_rows and given is not None and not (given.min() * ratios.min() > 0):
            raise BadParameter(f"{type(self).__name__}: penalties of 0 need fewer columns, or more rows: use RidgeCV")
        form = ByRows(self, X, y, w) if few_rows else ByMoments(self, X, y, w)
        alphas = np.array([given if given is not None else self._grid(form.top / ratio) for ratio in ratios])
        errors = np.array([form.errors(splits, row, float(r)) for row, r in zip(alphas, ratios, strict=True)])
        which, at = np.unravel_index(errors.mean(axis=2).argmin(), errors.shape[:2])
        alpha, ratio = float(alphas[which, at]), float(ratios[which])
        found = form.exact(alpha, ratio)
        self._warn(found, form.yy, alpha)
        fitted = self._attributes(form.mean, [found], form.weight)
        return dict(fitted, alpha_=alpha, **self._searched(alphas, errors, ratio))

    def _searched(self, alphas: Array, errors: Array, ratio: float) -> dict[str, Any]:
        """What was looked at, of each mixture, and the mixture of least error, as fitted attributes."""
        return dict(alphas_=alphas[0], mse_path_=errors[0])

    def _grid(self, top: float) -> Array:
        """From the smallest penalty with no coefficient at all down to eps of it, evenly in the logarithm."""
        count = int(self.alphas)
        if top <= np.finfo(float).resolution:
            return np.full(count, np.finfo(float).resolution)
        return np.geomspace(top, top * self.eps, count)


def given_alphas(model: Estimator) -> Array | None:
    """The penalties that were given, largest first; None where only their number was."""
    alphas = model.alphas
    name = type(model).__name__
    if isinstance(alphas, (int, np.integer)) and not isinstance(alphas, bool):
        if not 1 <= alphas <= 1_000_000:
            raise BadParameter(f"{name}(alphas={alphas!r}): must be a number of penalties >= 1, or the penalties")
        return None
    return np.sort(positive_numbers(name, "alphas", alphas, zero=True))[::-1].copy()


@estimator
class LassoCV(CrossValidated, Estimator):
    """LassoCV: the lasso with the penalty of least cross-validated error.

    Model       y ≈ X w + b
    Objective   that of Lasso, at the alpha_ whose mean squared error on held-out rows is least
    Algorithm   moments of all rows and of each fold; a training set is merged from the other folds;
                coordinate descent down the grid in each; exact solution for the best.
                More columns than twice the rows: folds go down in step and share products with all columns
    Cost        O(n p²) time for all folds together, O(p²) memory a fold; where the folds would take more than 512 MiB, of few
                folds only, and O(n p² log folds) time; by rows O(n p) a step
    Fails when  there are fewer rows than folds; the best alpha is the last of the grid (lower eps)
    Reference   Friedman, Hastie & Tibshirani 2010; screening by violation: Tibshirani et al. 2012

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = 3 * X[:, 0] + 0.1 * rng.normal(size=100)
    >>> tenfold.LassoCV().fit(X, y).coef_.round(1)[0]
    np.float64(3.0)
    """

    _: KW_ONLY
    copy_X: bool = param(default=True, doc="no effect: X is never changed", before="cv")

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"alphas": 10}

    def _at_choice(self) -> lasso.Lasso:
        return lasso.Lasso(self.alpha_, fit_intercept=self.fit_intercept)


@estimator
class ElasticNetCV(CrossValidated, Estimator):
    """ElasticNetCV: the elastic net with penalty and mixture of least cross-validated error.

    Model       y ≈ X w + b
    Objective   that of ElasticNet, at the alpha_ and l1_ratio_ of least mean squared error on held-out rows
    Algorithm   as LassoCV, once for each l1_ratio
    Cost        as LassoCV, once for each l1_ratio
    Fails when  as LassoCV; l1_ratio = 0 (there the grid would begin at infinity: use RidgeCV or Ridge)
    Reference   Zou & Hastie 2005; Friedman, Hastie & Tibshirani 2010

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = 3 * X[:, 0] + 0.1 * rng.normal(size=100)
    >>> tenfold.ElasticNetCV(l1_ratio=[0.5, 1.0]).fit(X, y).l1_ratio_
    1.0
    """

    l1_ratio_: float = learned("float", "the mix of penalties chosen")

    _: KW_ONLY
    l1_ratio: Any = param(
        default=0.5, doc="share of the L1 penalty, or several to choose from; 0 with given alphas only", before="eps"
    )
    copy_X: bool = param(default=True, doc="no effect: X is never changed", before="verbose")
    verbose: Any = param(default=0, doc="no effect: see tenfold.monitor")

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"alphas": 10}

    def _at_choice(self) -> lasso.ElasticNet:
        return lasso.ElasticNet(self.alpha_, l1_ratio=self.l1_ratio_, fit_intercept=self.fit_intercept)

    def _ratios(self) -> Array:
        ratios = positive_numbers("ElasticNetCV", "l1_ratio", self.l1_ratio, zero=True)
        if ratios.max() > 1:
            raise BadParameter(f"ElasticNetCV(l1_ratio={self.l1_ratio!r}): must be from 0 to 1")
        if ratios.min() < 1e-6 and given_alphas(self) is None:
            raise BadParameter(
                f"ElasticNetCV(l1_ratio={self.l1_ratio!r}): Automatic alpha grid generation is not supported for l1_ratio=0. Please "
                "supply a grid by providing your estimator with the appropriate `alphas=` argument."
            )
        return ratios

    def _searched(self, alphas: Array, errors: Array, ratio: float) -> dict[str, Any]:
        one = super()._searched(alphas, errors, ratio)
        if np.ndim(self.l1_ratio):
            one = dict(alphas_=alphas if given_alphas(self) is None else alphas[0], mse_path_=errors)
        return dict(one, l1_ratio_=ratio)
