"""The lasso and the elastic net with penalties chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, Source, block_rows
from tenfold.core.engine import each
from tenfold.core.errors import BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.core.stats import Moments, merge
from tenfold.linear import lasso
from tenfold.linear.affine import centred
from tenfold.linear.folds import batched, splits_of, without_each
from tenfold.linear.lasso import SparseRegressor, SweepOptions, as_float64, columns_of
from tenfold.linear.penalties import positive_numbers
from tenfold.solve.coordinate import (
    Found,
    Products,
    Wide,
    descend,
    finish,
    largest_correlation,
    wide_exact,
    wide_path,
    without_l1,
)

Pair = tuple[Array, Array]
BATCH = 6  # problems that share one product of all columns; fixed, because batches are part of the bits
KEPT = 1 << 29  # bytes of the moments of single folds that are kept


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
        form = _ByRows(self, X, y, w) if few_rows else _ByMoments(self, X, y, w)
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


class _ByMoments:
    """Cross-products of all columns; those of a training set are merged from the other folds, never subtracted."""

    def __init__(self, model: Estimator, X: Array, y: Array, w: Array) -> None:
        self.model, self.X, self.y, self.w = model, X, y, w
        self.name = f"{type(model).__name__} without an L1 penalty"
        self.total = self._moments(slice(None))
        self.mean, self.weight = self.total.mean, float(self.total.weight)
        self.problem = self._products(self.total)
        self.yy = self.problem.yy
        self.top = largest_correlation(self.problem.q, model.positive) / self.weight

    def _moments(self, rows: Any) -> Moments:
        X, y, w = self.X[rows], self.y[rows, None], self.w[rows]
        size = block_rows(X.shape[1])
        starts = range(0, X.shape[0], size)
        total: Moments | None = None
        for some in batched(starts, BATCH):  # few of them at a time: each is as large as the cross-products
            found = merge(each(lambda i: Moments.of(X[i : i + size], y[i : i + size], w[i : i + size]), some))
            total = found if total is None else total + found
        assert total is not None
        return total

    def _products(self, stats: Moments) -> Products:
        p, free = self.X.shape[1], self.model.fit_intercept
        _, Sxx, Sxy = centred(stats, p, free)
        extra = 0.0 if free else stats.weight * float(stats.mean[p]) ** 2
        return Products(np.ascontiguousarray(Sxx), np.ascontiguousarray(Sxy[:, 0]), float(stats.scatter[p, p]) + extra)

    def errors(self, splits: list[Pair], alphas: Array, ratio: float) -> Array:
        """Mean squared error on the held-out rows, (alphas, folds)."""
        order = np.argsort(-alphas, kind="stable")

        def fold(part: tuple[Moments, Array]) -> Array:
            stats, test = part
            l1, l2 = alphas[order] * ratio * stats.weight, alphas[order] * (1 - ratio) * stats.weight
            options = dict(positive=self.model.positive, tol=self.model.tol, most=self.model.max_iter)
            problem, some = self._products(stats), int((l1 > 0).sum())
            found = descend(problem, l1[:some], l2[:some], **options)
            found += [without_l1(problem, float(one), self.model.positive, self.name) for one in l2[some:]]
            W = np.array([one.w for one in found])
            mean, p = stats.mean, self.X.shape[1]
            b = mean[p] - W @ mean[:p] if self.model.fit_intercept else np.zeros(len(W))
            rest = self.y[test, None] - self.X[test] @ W.T - b
            return np.average(rest**2, axis=0, weights=self.w[test])

        pairs = zip(self._trainings(splits), (test for _, test in splits), strict=True)
        found = np.array([one for some in batched(pairs, BATCH) for one in each(fold, some)]).T
        return found[np.argsort(order, kind="stable")]

    def _trainings(self, splits: list[Pair]) -> Iterator[Moments]:
        """The moments of each training set: of all test sets but one, where those make up the rows.

        Those of single folds are kept where they fit in KEPT bytes, and else summed again for each half, quarter, ... of the folds.
        """
        n, tests = len(self.y), [test for _, test in splits]
        every = np.concatenate(tests)
        if len(every) != n or len(np.unique(every)) != n or any(len(a) + len(b) != n for a, b in splits):
            yield from (self._moments(train) for train, _ in splits)
        elif len(tests) * (self.X.shape[1] + 1) ** 2 * 8 <= KEPT:
            by_fold = [self._moments(test) for test in tests]
            yield from without_each(lambda some: merge(by_fold[k] for k in some), range(len(tests)))
        else:
            yield from without_each(
                lambda some: self._moments(np.concatenate([tests[k] for k in some])), range(len(tests))
            )

    def exact(self, alpha: float, ratio: float) -> Found:
        l1, l2 = alpha * ratio * self.weight, alpha * (1 - ratio) * self.weight
        if l1 == 0:
            return without_l1(self.problem, l2, self.model.positive, self.name)
        options = dict(positive=self.model.positive, tol=self.model.tol, most=self.model.max_iter)
        rough = descend(self.problem, np.array([l1]), np.array([l2]), **options)[0]
        return finish(self.problem, l1, l2, rough, self.model.positive)


class _ByRows:
    """Far more columns than rows: the folds go down the path in step and share products with all columns."""

    def __init__(self, model: Estimator, X: Any, y: Array, w: Array) -> None:
        self.model, self.y, self.w = model, y, w
        self.weight = float(w.sum())
        self.columns, center = columns_of(X, w, model.fit_intercept)
        self.whole = self._problem(w)
        self.mean, self.yy = np.append(center + self.whole.mean, self.whole.level), self.whole.yy
        self.top = largest_correlation(self.whole.q, model.positive) / self.weight
        self.supports: dict[tuple[float, float], Array] = {}

    def _problem(self, w: Array) -> Wide:
        return Wide(self.columns, self.y, w, self.model.fit_intercept, self.model.positive)

    def errors(self, splits: list[Pair], alphas: Array, ratio: float) -> Array:
        """Mean squared error on the held-out rows, (alphas, folds)."""
        order = np.argsort(-alphas, kind="stable")

        def batch(some: list[Pair]) -> tuple[Array, list[Any]]:
            problems, penalties = [], []
            for train, _ in some:
                w = np.zeros(len(self.w))
                w[train] = self.w[train]
                problems.append(self._problem(w))
                scaled = alphas[order] * w.sum()
                penalties.append((scaled * ratio, scaled * (1 - ratio)))
            paths = wide_path(problems, penalties, self.model.tol, self.model.max_iter)
            errors = np.array([self._error(*one) for one in zip(problems, some, paths, strict=True)])
            return errors, paths

        done = each(batch, [splits[i : i + BATCH] for i in range(0, len(splits), BATCH)])
        for i, k in enumerate(order):
            parts = [path[i][0] for _, paths in done for path in paths]
            self.supports[float(alphas[k]), ratio] = np.unique(np.concatenate(parts))
        found = np.concatenate([errors for errors, _ in done]).T
        return found[np.argsort(order, kind="stable")]

    def _error(self, problem: Wide, split: Pair, path: list[Any]) -> Array:
        test = split[1]
        used = np.unique(np.concatenate([columns for columns, _, _ in path]))
        W = np.zeros((len(path), len(used)))
        for row, (columns, w, _) in zip(W, path, strict=True):
            row[np.searchsorted(used, columns)] = w
        held = ops.dense(self.columns[used][:, test]) - problem.mean[used, None]
        rest = self.y[test] - problem.level - W @ held
        return np.average(rest**2, axis=1, weights=self.w[test])

    def exact(self, alpha: float, ratio: float) -> Found:
        self.whole.enter(self.supports[alpha, ratio])
        l1, l2 = alpha * ratio * self.weight, alpha * (1 - ratio) * self.weight
        return wide_exact(self.whole, l1, l2, self.model.tol, self.model.max_iter)


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
