"""Laplace's approximation of a process behind two classes: its mode, the evidence with its gradient, and the average of a sigmoid.

Of rows with classes t (0 or 1) and weights w, the logarithm of the posterior density of the values f = K a of the process is, but for
a constant,  ψ(f) = Σ w log σ(±f) − ½ fᵀ K⁻¹ f.  It is concave; at its mode  a = ∇ log p(t | f) = w (t − σ(f)).  Nothing here divides by
K, which may be singular:  B = I + S K S,  S² = W = w σ(f) (1 − σ(f)),  has no eigenvalue below 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from tenfold.core.data import Array
from tenfold.kernel_machines.evidence import Evidence, NotDefinite
from tenfold.kernels.combined import evaluated, values
from tenfold.solve.tiles import cholesky_in_place, in_rows, inverse_from_lower, solve_both, solve_lower

CLOSE = 1e-18  # squared distance to the mode, in units of the posterior's deviations, for each unit of ψ
STEADY = 1e-10  # by so much the determinant may be off, for each unit of ψ, where the curvature was taken a little before the mode
SLOWER = 0.3  # a factor serves further steps while each is shorter than this share of the one before


class Labels(NamedTuple):
    """The classes of rows, 0 or 1, and the weights of the rows."""

    t: Array
    w: Array


class Mode(NamedTuple):
    """Where the posterior is largest, and its curvature there."""

    f: Array  # the process at the rows, where the curvature was taken
    dual: Array  # a:  f = K a
    root: Array  # S
    L: Array  # of B; what is above the diagonal has no meaning
    log_evidence: float
    converged: bool


def curvature(f: Array, w: Array) -> Array:
    """S: the square root of the second derivative of −w log σ(±f)."""
    return np.asarray(np.sqrt(w * expit(f) * expit(-f)))


def factor(K: Array, root: Array) -> Array | None:
    """L of B = I + S K S, below the diagonal; None where K is no matrix of a kernel."""
    B = np.empty_like(K)

    def fill(rows: slice) -> None:
        part = B[rows, : rows.stop]
        np.multiply(K[rows, : rows.stop], root[: rows.stop], out=part)
        part *= root[rows, None]

    in_rows(len(B), fill)
    B[np.diag_indices(len(B))] += 1.0
    return B if cholesky_in_place(B) else None


@np.errstate(over="ignore", invalid="ignore")  # of a kernel that is too large for these rows: there is no factor, which is told
def mode(K: Array, of: Labels, start: Array | None, max_iter: int) -> Mode | None:
    """The mode by Newton's method on  a − ∇ log p(t | K a) = 0,  whose Jacobian is I + W K = S⁻¹ B S. A factor of B serves further steps
    while these shrink fast; steps that would lead down are halved. None where B has no factor."""
    t, w = of
    sign = 2 * t - 1

    def density(a: Array, f: Array) -> float:
        return float(-(w @ np.logaddexp(0.0, -sign * f)) - 0.5 * (a @ f))

    a, f = np.zeros(len(t)), np.zeros(len(t))
    height = density(a, f)
    if start is not None:
        there = K @ start
        if density(start, there) > height:
            a, f, height = start, there, density(start, there)
    for _ in range(max_iter):
        at, root = f, curvature(f, w)
        made = factor(K, root)
        if made is None or not np.isfinite(height):
            return None
        L = made
        before, done = np.inf, False
        while not done:
            rest = w * (t - expit(f)) - a
            step = rest - root * solve_both(L, (root * (K @ rest))[:, None])[:, 0]
            move = K @ step
            apart, share, found = float(rest @ move), 1.0, density(a + step, f + move)
            while not found >= height - 1e-13 * abs(height) and share > 1e-9:
                share /= 2
                found = density(a + share * step, f + share * move)
            if found >= height - 1e-13 * abs(height):
                a, f, height = a + share * step, f + share * move, found
                done = abs(apart) <= CLOSE * (1 + abs(height))
            else:  # rounding: nothing is higher along the way
                done = True
            if apart > SLOWER**2 * before or share < 1:
                break
            before = apart
        if done and float(np.abs(f - at).sum()) <= STEADY * (1 + abs(height)):
            break
    return Mode(at, a, root, L, height - float(np.log(np.diagonal(L)).sum()), done)


def evidence_of_labels(X: Array, of: Labels, max_iter: int) -> Evidence:
    """The evidence of the classes as a function of the kernel. Each mode is sought from that of the kernel before."""
    last: list[Array] = []

    @np.errstate(over="ignore", invalid="ignore")
    def evidence(kernel: Any, with_gradient: bool) -> Any:
        if with_gradient:
            known = evaluated(kernel, X)
            K = known.K
        else:
            K = values(kernel, X, X)
        found = mode(K, of, last[0] if last else None, max_iter)
        if found is None:
            return (-np.inf, np.zeros(len(kernel.theta))) if with_gradient else -np.inf
        last[:] = [found.dual]
        if not with_gradient:
            return found.log_evidence
        return found.log_evidence, np.array(known.pull(_slopes(K, found)), dtype=np.float64)

    return evidence


def _slopes(K: Array, at: Mode) -> Array:
    """∂ evidence / ∂ Kᵢⱼ = ½ (a aᵀ − R + u aᵀ + a uᵀ),  R = S B⁻¹ S,  u = (I − R K) s,  where s is the change of ½ log |B| with f:
    as S Σ S = I − B⁻¹ for the posterior covariance Σ,  s = −½ (1 − diag B⁻¹) (1 − 2 σ(f)),  free of a division by W."""
    made = inverse_from_lower(at.L)
    s = -0.5 * (1 - np.diagonal(made)) * (expit(-at.f) - expit(at.f))
    both = 0.5 * at.dual + s - at.root * (made @ (at.root * (K @ s)))

    def fill(rows: slice) -> None:
        made[rows] *= -0.5 * at.root[rows, None] * at.root
        made[rows] += 0.5 * np.multiply.outer(both[rows], at.dual) + 0.5 * np.multiply.outer(at.dual[rows], both)

    in_rows(len(made), fill)
    return made


def certain(found: Mode | None, kernel: Any, who: str) -> Mode:
    """The mode, where there is one."""
    if found is None:
        raise NotDefinite(
            f"{who}: the kernel, {kernel}, does not give a positive semidefinite matrix of finite numbers for these rows: scale the "
            "columns first, as with StandardScaler, or look at it with tenfold.kernels.mercer_check"
        )
    return found


def latent(near: Array, own: Array, at: Mode) -> tuple[Array, Array]:
    """Mean and variance of the process at new rows, by their kernels with the rows of the fit and with themselves."""
    inside = solve_lower(at.L, at.root[:, None] * near.T)
    return near @ at.dual, np.maximum(own - np.einsum("ij,ij->j", inside, inside), 0.0)


# --- the average of a sigmoid ---------------------------------------------------------------------------------------

WIDE = 2.0  # deviations up to which a sum over even steps has all digits; beyond, the sigmoid is a step with a correction
_EVEN = np.arange(-44, 45) * 0.25
_EVEN_WEIGHTS = 0.25 * np.exp(-0.5 * _EVEN**2) / np.sqrt(2 * np.pi)
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_NODES, _NODE_WEIGHTS = 20 * (_NODES + 1), 20 * _NODE_WEIGHTS  # of 0 to 40, where exp(−u) ends


def averaged_sigmoid(mean: Array, variance: Array) -> Array:
    """E σ(z) for z ~ N(mean, variance), to 14 digits.

    Where the deviation is small, by the trapezoidal rule, which converges as exp(−2π · π / (deviation · step)) for poles at ±iπ. Where
    it is large, from  σ(z) = [z > 0] − sign(z) σ(−|z|):  Φ(mean / deviation) and an integral whose integrand is smooth and decays.
    """
    deviation = np.sqrt(variance)
    found = np.empty_like(mean)
    narrow = deviation <= WIDE
    m, d = mean[narrow, None], deviation[narrow, None]
    found[narrow] = expit(m + d * _EVEN) @ _EVEN_WEIGHTS
    m, d = mean[~narrow, None], deviation[~narrow, None]
    with np.errstate(over="ignore"):
        bells = np.exp(-0.5 * ((_NODES + m) / d) ** 2) - np.exp(-0.5 * ((_NODES - m) / d) ** 2)
    found[~narrow] = ndtr(m / d)[:, 0] + (bells @ (_NODE_WEIGHTS * expit(-_NODES))) / (d[:, 0] * np.sqrt(2 * np.pi))
    return np.clip(found, 0.0, 1.0)
