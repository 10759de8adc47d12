"""Circles and spheres through points."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, Transformer, map_rows
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Moments
from tenfold.solve.linalg import solve_spd
from tenfold.solve.row_space import in_row_space, is_wide

TINY, FAR = 1e-300, 1e150  # a centre beyond it has distances that cannot be squared


def mean_terms(block: Block) -> Moments:
    """Where the points are: sums of squares are taken from there."""
    return Moments.of(block.X, np.zeros((len(block), 1)), block.w)


def algebraic_terms(block: Block, center: Array) -> Moments:
    """Moments of (x − m, ‖x − m‖²)."""
    X = block.X - center
    return Moments.of(X, (X**2).sum(axis=1, keepdims=True), block.w)


def geometric_terms(block: Block, center: Array) -> Moments:
    """Moments of (u, d): the direction and the distance of each point from the centre.

    The linear model of the distances around c is d(c + δ) ≈ d − u·δ, so that a Gauss-Newton step for centre
    and radius is the regression of d on u with an intercept, and the intercept is the radius.
    """
    apart = block.X - center
    d = np.sqrt((apart**2).sum(axis=1, keepdims=True))
    return Moments.of(np.divide(apart, d, out=np.zeros_like(apart), where=d > 0), d, block.w)


@estimator
class CircleFit(Transformer, Estimator):
    """CircleFit: the circle, sphere or hypersphere nearest to points.

    Model       ‖x − c‖ ≈ r
    Objective   geometric: min over c, r of Σᵢ sᵢ (‖xᵢ − c‖ − r)²;  algebraic: Σᵢ sᵢ (‖xᵢ − c‖² − r²)², which
                counts far points more and makes short arcs too small
    Algorithm   algebraic: least squares in 2c and r² − ‖c‖², two passes. Geometric: from there,
                Levenberg-Marquardt from moments of directions and distances, a pass for each step
    Cost        O(n p²) for each pass, O(p²) memory; of few rows O(n² p) and O(n p), in the space that they span
    Fails when  the points lie on a line or plane (warns Degenerate) or nearly so: the radius then runs away
                (warns NotConverged)
    Reference   Kåsa 1976 (algebraic); Gander, Golub & Strebel 1994 (geometric)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> angle = np.linspace(0, 2, 20)
    >>> points = np.column_stack([3 + 2 * np.cos(angle), 1 + 2 * np.sin(angle)])
    >>> circle = tenfold.CircleFit().fit(points)
    >>> circle.center_.round(6).tolist(), round(circle.radius_, 6)
    ([3.0, 1.0], 2.0)
    """

    center_: Array = learned("float(p)", "the centre")
    radius_: float = learned("float", "the radius")
    rms_: float = learned("float", "root mean square distance from the circle")
    certificate_: float = learned("float", "share of the distances that another step would explain")
    n_iter_: int = learned("int", "passes over the rows")

    method: str = param(default="geometric", one_of=("geometric", "algebraic"), doc="which error is squared")
    _: KW_ONLY
    max_iter: int = param(default=1000, at_least=1, doc="most steps of the geometric fit")
    tol: float = param(default=1e-12, at_least=0, doc="bound on the certificate")

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if not is_wide(source):
            return (yield from self._passes(source))
        space, fitted = yield from in_row_space(self, source, centre=True)  # the nearest centre is in the plane of the rows
        return dict(fitted, center_=space.origin + space.V @ fitted["center_"])

    def _passes(self, source: Source) -> Learner[dict[str, Any]]:
        p = source.n_features
        where = yield mean_terms
        mean = where.mean[:p]
        squares = yield partial(algebraic_terms, center=mean)
        S = squares.scatter
        shift = solve_spd(S[:p, :p], S[:p, p:], "CircleFit")[:, 0] / 2
        center = _within_reach(mean + shift)
        if self.method == "algebraic":
            radius = float(np.sqrt(squares.mean[p] - 2 * shift @ squares.mean[:p] + shift @ shift))
            around = yield partial(geometric_terms, center=center)
            return self._found(center, radius, around, 0.0, 0)
        return (yield from self._geometric(center))

    def _geometric(self, center: Array) -> Learner[dict[str, Any]]:
        """Damped Gauss-Newton; the radius is at its optimum, the mean distance, at every centre."""
        p = len(center)
        at = yield partial(geometric_terms, center=center)
        damping, certificate = 1e-4, 1.0
        for n_iter in range(1, self.max_iter + 1):
            A, b, rest = at.scatter[:p, :p], at.scatter[:p, p], at.scatter[p, p]
            scale = np.maximum(np.diagonal(A), TINY)
            explained = float(b @ _solve(A, b, scale, 0.0))
            size = float(at.weight) * float(at.mean[p]) ** 2
            certificate = float(np.sqrt(max(explained, 0.0) / max(rest, TINY)))
            if certificate <= self.tol or rest <= 1e-28 * size or explained <= 1e-30 * size:
                return self._found(center, float(at.mean[p]), at, certificate, n_iter)
            new = _within_reach(center + _solve(A, b, scale, damping))
            then = yield partial(geometric_terms, center=new)
            if then.scatter[p, p] <= rest * (1 + 1e-14):
                if np.array_equal(new, center):
                    return self._found(center, float(at.mean[p]), at, certificate, n_iter)
                center, at, damping = new, then, damping / 10 if damping > 1e-15 else 0.0
            else:
                if damping > 1e12:
                    break
                damping = max(10 * damping, 1e-6)
        warn(
            f"CircleFit: after {n_iter} steps the certificate is {certificate:.1e}: the points may "
            "be as near to a line as to a circle; take more max_iter or method='algebraic'",
            NotConverged,
            stacklevel=2,
        )
        return self._found(center, float(at.mean[p]), at, certificate, n_iter)

    def _found(self, center: Array, radius: float, at: Moments, certificate: float, n_iter: int) -> dict[str, Any]:
        p = len(center)
        rms = np.sqrt(max(at.scatter[p, p], 0.0) / at.weight + (at.mean[p] - radius) ** 2)
        return dict(center_=center, radius_=radius, rms_=float(rms), certificate_=certificate, n_iter_=n_iter)

    def _transform(self, X: Array) -> Array:
        """The nearest point of the circle; of its centre, the one along the first axis."""
        apart = X.astype(np.float64) - self.center_
        d = np.sqrt((apart**2).sum(axis=1, keepdims=True))
        along = np.divide(apart, d, out=np.zeros_like(apart), where=d > 0)
        along[d[:, 0] == 0, 0] = 1.0
        return np.asarray((self.center_ + self.radius_ * along).astype(X.dtype, copy=False))

    def decision_function(self, X: Any) -> Array:
        """The distance of each row from the circle: above zero outside, below zero inside."""
        return map_rows(self._distances, check.check_predict(self, X))

    def _distances(self, X: Array) -> Array:
        return np.asarray(np.sqrt(((X - self.center_) ** 2).sum(axis=1)) - self.radius_)


def _within_reach(center: Array) -> Array:
    if not np.abs(center).max() < FAR:
        raise BadInput(
            "CircleFit: the points are so flat that their centre lies beyond 1e150: drop the column that hardly varies, or rescale it"
        )
    return center


def _solve(A: Array, b: Array, scale: Array, damping: float) -> Array:
    """(A + λ diag A)⁻¹ b, by eigenvalues of the scaled matrix; directions without spread are left alone."""
    root = np.sqrt(scale)
    values, vectors = np.linalg.eigh(A / root[:, None] / root)
    kept = values > len(b) * np.finfo(float).eps * max(values[-1], TINY)
    V = vectors[:, kept]
    return np.asarray((V @ ((V.T @ (b / root)) / (values[kept] + damping))) / root)
