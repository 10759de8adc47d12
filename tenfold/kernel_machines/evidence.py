"""The evidence of a Gaussian process: how probable the targets are under a kernel, its gradient, and the kernel that makes it largest."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, NotConverged, warn
from tenfold.kernels.between import own_noise
from tenfold.kernels.combined import evaluated, values
from tenfold.solve.tiles import cholesky_in_place, inverse_from_lower, solve_both

NEAR_BOUND = 1e-4  # of a logarithm
Evidence = Callable[[Any, bool], Any]  # of a kernel: its evidence, with True also the gradient; −∞ where there is none


class NotDefinite(BadInput, np.linalg.LinAlgError):
    """The kernels of the rows, with their noise, have no Cholesky factor."""


class Rows(NamedTuple):
    """What the evidence is of: rows, targets, the variance of their noise beyond the kernel's, and weights."""

    X: Array
    y: Array  # (n, q)
    noise: Array  # (n,)
    w: Array  # (n,)

    @property
    def weighted(self) -> bool:
        return bool((self.w != 1).any())


class Posterior(NamedTuple):
    """The factor of K + noise, (K + noise)⁻¹ y, and the logarithm of the density of y.

    A row of weight w is w rows with the same target and noise v of their own: one row with noise v / w, and a factor of the evidence,
    (2π v)^(−(w − 1)/2) w^(−1/2), for the w − 1 targets that are known from it.
    """

    L: Array  # (n, n); what is above the diagonal has no meaning
    dual: Array  # (n, q)
    log_evidence: float


def posterior(kernel: Any, rows: Rows, K: Array | None = None) -> Posterior | None:
    """None where K + noise is not positive definite; K is written to."""
    K = np.array(values(kernel, rows.X, rows.X)) if K is None else K
    (n, q), noise, copies = rows.y.shape, rows.noise, 0.0
    if rows.weighted:
        own = own_noise(kernel, rows.X)
        v, w = rows.noise + own, rows.w
        noise = rows.noise / w - own * (1 - 1 / w)
        copies = -0.5 * q * float(np.sum((w - 1) * np.log(2 * np.pi * np.where(v > 0, v, 1.0)) + np.log(w)))
    K[np.diag_indices(n)] += noise
    if not cholesky_in_place(K):
        return None
    dual = solve_both(K, rows.y)
    fit = -0.5 * float(np.sum(rows.y * dual)) - q * float(np.log(np.diagonal(K)).sum() + 0.5 * n * np.log(2 * np.pi))
    return Posterior(K, dual, fit + copies)


def evidence_of(rows: Rows) -> Evidence:
    """The evidence of these rows, as a function of the kernel."""

    def evidence(kernel: Any, with_gradient: bool) -> Any:
        if with_gradient:
            return evidence_and_gradient(kernel, rows)
        known = posterior(kernel, rows)
        return -np.inf if known is None else known.log_evidence

    return evidence


def evidence_and_gradient(kernel: Any, rows: Rows) -> tuple[float, Array]:
    """log p(y | X, θ), and its gradient with respect to θ:  ½ tr((Σ α αᵀ − q (K + noise)⁻¹) ∂K/∂θ)."""
    found = evaluated(kernel, rows.X)
    known = posterior(kernel, rows, found.K.copy())
    if known is None:
        return -np.inf, np.zeros(len(kernel.theta))
    q = rows.y.shape[1]
    W = known.dual @ known.dual.T - q * inverse_from_lower(known.L)
    gradient = np.array(found.pull(W), dtype=np.float64)
    if rows.weighted:  # the kernel's own noise is divided by the weights
        v, step = rows.noise + own_noise(kernel, rows.X), 1e-5
        along = -np.diagonal(W) * (1 - 1 / rows.w) - q * np.divide(rows.w - 1, v, out=np.zeros_like(v), where=v > 0)
        for t, move in enumerate(step * np.eye(len(kernel.theta))):
            ends = [own_noise(kernel.clone_with_theta(kernel.theta + sign * move), rows.X) for sign in (1, -1)]
            gradient[t] += along @ (ends[0] - ends[1]) / (2 * step)
    return known.log_evidence, 0.5 * gradient


def most_probable(kernel: Any, evidence: Evidence, optimizer: Any, restarts: int, rng: np.random.Generator, who: str) -> Any:
    """The kernel of the largest evidence, from its own parameters and from some drawn evenly between the bounds of their
    logarithms."""
    bounds = np.asarray(kernel.bounds)

    def objective(theta: Array, eval_gradient: bool = True) -> Any:
        found = evidence(kernel.clone_with_theta(theta), eval_gradient)
        if eval_gradient:
            value, gradient = found
            return (-value, -gradient) if np.isfinite(value) else (1e100, np.zeros_like(gradient))
        return -found if np.isfinite(found) else 1e100

    starts = [np.asarray(kernel.theta)]
    if restarts:
        if not np.isfinite(bounds).all():
            raise BadParameter("Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are finite.")
        starts += [rng.uniform(bounds[:, 0], bounds[:, 1]) for _ in range(restarts)]
    ends = [_optimum(optimizer, objective, start, bounds, who) for start in starts]
    theta, _ = min(ends, key=lambda end: end[1])
    best = kernel.clone_with_theta(theta)
    warn_of_bounds(best)
    return best


def known_optimizer(optimizer: Any, who: str) -> bool:
    """Whether there is one; refuses what is none."""
    if optimizer is None:
        return False
    if not (isinstance(optimizer, str) and optimizer == "fmin_l_bfgs_b") and not callable(optimizer):
        raise BadParameter(f"{who}: Unknown optimizer {str(optimizer)[:60]!r}: 'fmin_l_bfgs_b', None or a function")
    return True


def own_kernel(kernel: Any, default: Any, who: str) -> Any:
    """A copy of the kernel that the user gave, or the default one."""
    if kernel is None:
        return default
    if not callable(getattr(kernel, "clone_with_theta", None)):
        raise BadParameter(f"{who}(kernel={str(kernel)[:60]}): must be a kernel of tenfold.kernels, or None")
    with np.errstate(divide="ignore", invalid="ignore"):
        sound = np.isfinite(np.asarray(kernel.theta, dtype=np.float64)).all()
    if not sound:
        raise BadParameter(f"{who}(kernel={str(kernel)[:60]}): its parameters must be numbers above 0, and finite")
    return deepcopy(kernel)


def kernel_objection(kernel: Any, X: Array) -> str | None:
    """Why a kernel from a file does not suit rows from a file, or None."""
    try:
        with np.errstate(all="ignore"):
            found = np.shape(values(kernel, X[:1], X[:1].copy()))
    except (ValueError, AttributeError, ArithmeticError) as problem:
        return f"the kernel does not take the rows ({problem})"
    return None if found == (1, 1) else "the kernel gives several values for two rows"


def _optimum(optimizer: Any, objective: Callable[..., Any], start: Array, bounds: Array, who: str) -> tuple[Array, float]:
    if callable(optimizer):
        try:
            theta, least = optimizer(objective, start, bounds=bounds)
            return np.asarray(theta, dtype=np.float64), float(least)
        except (TypeError, ValueError) as problem:
            raise BadParameter(f"{who}(optimizer=...): must give (theta, value) of the minimum ({problem})") from problem
    from scipy.optimize import minimize

    found = minimize(objective, start, method="L-BFGS-B", jac=True, bounds=bounds)
    if found.status == 1:
        warn(
            f"{who}: lbfgs failed to converge after {found.nit} steps ({found.message}): scale the columns, or give "
            "other bounds of the kernel's parameters",
            NotConverged,
            stacklevel=2,
        )
    return found.x, float(found.fun)


def warn_of_bounds(kernel: Any) -> None:
    """Of parameters that end at a bound: there may be better ones beyond."""
    at, theta, bounds = 0, kernel.theta, np.asarray(kernel.bounds)
    for one in kernel.hyperparameters:
        for i in range(0 if one.fixed else one.n_elements):
            for side, which in ((0, "lower"), (1, "upper")):
                if abs(bounds[at, side] - theta[at]) <= NEAR_BOUND:
                    warn(
                        f"The optimal value found for dimension {i} of parameter {one.name} is close to the specified {which} bound "
                        f"{one.bounds[i, side]}. {'Decreasing' if side == 0 else 'Increasing'} the bound and calling fit again may "
                        "find a better value.",
                        NotConverged,
                        stacklevel=2,
                    )
            at += 1


def noise_of(alpha: Any, n: int) -> Array:
    """The variance of the noise of each row."""
    given = np.asarray(alpha, dtype=np.float64)
    if given.ndim > 1 or given.size not in (1, n):
        raise BadParameter(
            "GaussianProcessRegressor(alpha=...): alpha must be a scalar or an array with same number of entries as y. "
            f"({given.size} != {n})"
        )
    if not np.isfinite(given).all() or (given < 0).any():
        raise BadParameter("GaussianProcessRegressor(alpha=...): must be numbers of at least 0")
    return np.broadcast_to(given.reshape(-1), n).copy()


def definite(found: Posterior | None, kernel: Any) -> Posterior:
    """The posterior, where there is one."""
    if found is None:
        raise NotDefinite(
            f"The kernel, {kernel}, is not returning a positive definite matrix. Try gradually increasing the 'alpha' parameter of your "
            "GaussianProcessRegressor estimator."
        )
    return found


def drawn_functions(mean: Array, covariance: Array, n: int, rng: np.random.Generator) -> Array:
    """(rows, n), or (rows, targets, n)."""
    if mean.ndim == 1:
        return np.asarray(rng.multivariate_normal(mean, covariance, n, method="eigh").T)
    draws = [rng.multivariate_normal(mean[:, j], covariance[..., j], n, method="eigh").T[:, None] for j in range(mean.shape[1])]
    return np.hstack(draws)
