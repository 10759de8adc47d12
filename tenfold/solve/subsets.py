"""Least squares with one column more, or one less: all candidates from one factor, instead of a fit for each.

With A = L Lᵀ of the columns chosen, column j more has V = L⁻¹ A_Sj and the pivot d = A_jj − ‖V‖²; its coefficient is
(b_j − A_jS w) / d, and those of the others move along −A_SS⁻¹ A_Sj. One column less moves them along its column of A_SS⁻¹.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from tenfold.core.data import Array
from tenfold.core.stats import Moments
from tenfold.solve.linalg import cholesky

DEPENDENT = 1e-6  # of A_jj: a column with a smaller pivot is nearly a sum of those chosen, and a fit of its own decides
SMALLEST_SHARE = 1e-6  # of Σ w y²: a squared error from moments that is smaller has lost digits


@dataclass(frozen=True)
class Held:
    """One split: the normal equations A w = b of the training rows with their means, and the moments of the rows held out (one target)."""

    mean: Array  # (p + 1)
    A: Array  # (p, p)
    b: Array  # (p)
    tested: Moments  # of (x, y)
    intercept: bool

    def errors(self, places: Array, more: Array, W: Array, extra: Array) -> Array:
        """Mean squared errors on the rows held out of several models: coefficients W (k, c) of `places`, and extra (c) of one more column
        each; NaN where digits would be lost."""
        S, mean, p = self.tested.scatter, self.tested.mean, len(self.b)
        T = S[np.ix_(places, places)]
        quadratic = np.einsum("kc,kc->c", W, T @ W) + extra * (
            2 * np.einsum("kc,kc->c", S[np.ix_(places, more)], W) + extra * np.diagonal(S)[more]
        )
        products = S[places, p] @ W + extra * S[more, p]
        shift = mean - self.mean if self.intercept else mean
        gap = shift[p] - shift[places] @ W - extra * shift[more]
        explained = quadratic - 2 * products
        total = S[p, p] + explained + self.tested.weight * gap**2
        lost = total <= SMALLEST_SHARE * (S[p, p] + np.abs(explained))
        return np.where(lost, np.nan, total / self.tested.weight)

    def one_more(self, chosen: Array, candidates: Array) -> Array:
        """The error of the fit to the columns chosen and one of the candidates, for each; NaN where a fit of its own must decide."""
        A, b = self.A, self.b
        pivot, rest, U, w = np.diagonal(A)[candidates].copy(), b[candidates].copy(), np.empty((0, len(candidates))), np.empty(0)
        if len(chosen):
            L = cholesky(A[np.ix_(chosen, chosen)])
            if L is None:
                return np.full(len(candidates), np.nan)
            V = solve_triangular(L, A[np.ix_(chosen, candidates)], lower=True, check_finite=False)
            half = solve_triangular(L, b[chosen], lower=True, check_finite=False)
            w = solve_triangular(L, half, lower=True, trans=1, check_finite=False)
            U = solve_triangular(L, V, lower=True, trans=1, check_finite=False)
            pivot -= np.einsum("kc,kc->c", V, V)
            rest -= half @ V
        near = pivot <= DEPENDENT * np.diagonal(A)[candidates]
        extra = rest / np.where(near, 1.0, pivot)
        found = self.errors(chosen, candidates, w[:, None] - U * extra, extra)
        return np.where(near, np.nan, found)

    def one_less(self, chosen: Array) -> Array:
        """The error of the fit to the columns chosen without each of them; NaN where a fit of its own must decide."""
        part = self.A[np.ix_(chosen, chosen)]
        L = cholesky(part)
        if L is None:
            return np.full(len(chosen), np.nan)
        root = solve_triangular(L, np.eye(len(chosen)), lower=True, check_finite=False)
        inverse = root.T @ root
        spread = np.diagonal(inverse)
        w = inverse @ self.b[chosen]
        W = w[:, None] - inverse * (w / spread)  # zero for the column itself
        found = self.errors(chosen, chosen, W, np.zeros(len(chosen)))
        near = bool((1 / spread <= DEPENDENT * np.diagonal(part)).any())
        return np.full(len(chosen), np.nan) if near else found
