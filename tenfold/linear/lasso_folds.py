"""Held-out errors of the penalties of the lasso, and its exact solution at one: by cross-products of all columns, or by rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.core import ops
from tenfold.core.data import Array, block_rows
from tenfold.core.engine import each
from tenfold.core.stats import Moments, merge
from tenfold.linear.affine import centred
from tenfold.linear.folds import batched, without_each
from tenfold.linear.lasso import columns_of
from tenfold.solve.coordinate import (
    Products,
    Solution,
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


class ByMoments:
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

    def exact(self, alpha: float, ratio: float) -> Solution:
        l1, l2 = alpha * ratio * self.weight, alpha * (1 - ratio) * self.weight
        if l1 == 0:
            return without_l1(self.problem, l2, self.model.positive, self.name)
        options = dict(positive=self.model.positive, tol=self.model.tol, most=self.model.max_iter)
        rough = descend(self.problem, np.array([l1]), np.array([l2]), **options)[0]
        return finish(self.problem, l1, l2, rough, self.model.positive)


class ByRows:
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

    def exact(self, alpha: float, ratio: float) -> Solution:
        self.whole.enter(self.supports[alpha, ratio])
        l1, l2 = alpha * ratio * self.weight, alpha * (1 - ratio) * self.weight
        return wide_exact(self.whole, l1, l2, self.model.tol, self.model.max_iter)
