"""How far rows are apart: the measures by name, and how each is searched.

Most are brought to one that the native searches know, by a change of the rows: cosine is the Euclidean distance of directions,
Mahalanobis that of rows times a root of the matrix, weighted Minkowski the plain one of scaled columns. What is left is computed in
blocks, by SciPy or by the user's function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.ops import is_sparse
from tenfold.near.gower import Gower
from tenfold.near.sparse_rows import directions

EUCLIDEAN, MANHATTAN, CHEBYSHEV, MINKOWSKI, HAMMING = range(5)  # as the kernels number them (`Apart` in src/kernels/near)
OTHER_NAMES = {"l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean", "p": "minkowski", "infinity": "chebyshev"}
BY_SCIPY = ("braycurtis", "canberra", "jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule", "jensenshannon")
OF_TRUTH = {"jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"}  # of rows that hold true or false
NAMES = (
    "euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski", "mahalanobis", "seuclidean", "cosine", "correlation", "hamming",
    "haversine", *BY_SCIPY,
)  # fmt: skip
GOWER = "gower"  # of rows with gaps and categories, see `Gower`
OF_SPARSE = ("euclidean", "sqeuclidean", "cosine")
INNER_PRODUCT = "inner_product"  # no metric, see `by_products`


@dataclass(frozen=True)
class Measure:
    """A measure of rows, ready to be searched by."""

    name: str
    apart: int | None = None  # of the native searches; None: `block` is asked
    power: float = 2.0
    rows: Callable[[Array, bool], Array] = lambda X, queried: X  # how rows are changed before; queried: those that are asked for
    to_distances: Callable[[Array], Array] = lambda sums: sums  # the distance of a sum of parts
    summed: Callable[[float], float] = lambda distance: distance  # and back
    block: Callable[[Array, Array], Array] | None = None  # (queries, rows): distances of all pairs
    pairs: Callable[[Array, Array], Array] | None = None  # queries, the rows found for each: what is told instead of their distances

    @property
    def boxed(self) -> bool:
        """Whether a tree knows how far a box is at least."""
        return self.apart in (EUCLIDEAN, MANHATTAN, CHEBYSHEV) or (self.apart == MINKOWSKI and self.power >= 1)


def measure_of(metric: Any, X: Array, p: float = 2.0, params: dict[str, Any] | None = None) -> Measure:
    """The measure of a name, or of a function of two rows; X are the rows, for measures that need their spread."""
    params = dict(params or {})
    if callable(metric):
        return Measure(getattr(metric, "__name__", "function"), block=lambda Q, R: _asked(metric, Q, R, params))
    name = OTHER_NAMES.get(metric, metric) if isinstance(metric, str) else None
    if name not in NAMES and name != GOWER:
        names = ", ".join((*NAMES, GOWER))
        raise BadParameter(f"metric={metric!r}: there is no such metric; choose one of {names}, or a function of two rows")
    w = params.pop("w", None) if name in ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski") else None
    made = _made(name, X, float(params.pop("p", p)) if name == "minkowski" else p, params)
    if params:
        raise BadParameter(f"metric_params: {name!r} takes no {', '.join(map(repr, params))}")
    return made if w is None else _weighted(made, w, X.shape[1])


def _made(name: str, X: Array, p: float, params: dict[str, Any]) -> Measure:
    """The measure, which takes its parameters out of `params`."""
    if name == "minkowski" and not p > 0:
        raise BadParameter(f"p={p!r}: must be above 0")
    if name == "minkowski" and p in (1, 2, np.inf):
        name = {1.0: "manhattan", 2.0: "euclidean"}.get(p, "chebyshev")
    match name:
        case "euclidean":
            return _EUCLID
        case "sqeuclidean":
            return Measure(name, EUCLIDEAN)
        case "manhattan":
            return Measure(name, MANHATTAN, 1.0)
        case "chebyshev":
            return Measure(name, CHEBYSHEV, np.inf)
        case "minkowski":
            return Measure(name, MINKOWSKI, p, to_distances=lambda sums: sums ** (1 / p), summed=lambda d: d**p)
        case "hamming":
            columns = X.shape[1]
            return Measure(name, HAMMING, to_distances=lambda sums: sums / columns, summed=lambda d: d * columns * (1 + 1e-12))
        case "cosine" | "correlation":
            change = _directions if name == "cosine" else _centred_directions
            return Measure(name, EUCLIDEAN, rows=change, to_distances=lambda sums: sums / 2, summed=lambda d: 2 * d)
        case "gower":
            return Measure(name, block=Gower(X, params))
        case "seuclidean":
            V = np.asarray(params.pop("V", X.var(axis=0, ddof=1) if len(X) > 1 else np.ones(X.shape[1])), dtype=np.float64)
            if V.shape != (X.shape[1],) or not (V > 0).all():
                raise BadParameter(f"metric_params: V must hold a variance above 0 for each of {X.shape[1]} columns")
            return _after(_EUCLID, name, lambda rows: rows / np.sqrt(V))
        case "mahalanobis":
            root = _root(X, params)
            return _after(_EUCLID, name, lambda rows: rows @ root)
        case "haversine":
            if X.shape[1] != 2:
                where = "points on a sphere, latitude and longitude in radians"
                raise BadInput(f"metric='haversine' is of {where}: X has {X.shape[1]} columns, not 2")
            return Measure(
                name, EUCLIDEAN,
                rows=lambda X, queried: _on_sphere(X),
                to_distances=lambda sums: 2 * np.arcsin(np.minimum(np.sqrt(sums) / 2, 1)),
                summed=lambda d: float(4 * np.sin(min(d, np.pi) / 2) ** 2),
            )  # fmt: skip
        case _:
            truth = name in OF_TRUTH
            return Measure(name, block=lambda Q, R: _by_scipy(name, Q != 0 if truth else Q, R != 0 if truth else R))


_EUCLID = Measure("euclidean", EUCLIDEAN, to_distances=np.sqrt, summed=lambda d: d * d)


def by_products(X: Array) -> Measure:
    """The nearest rows are those of largest product, and what is told of them is −x·y.

    With a column more, √(M − x·x) of a row and 0 of a query, where M is the largest x·x, |q − x|² = q·q + M − 2 q·x.
    """
    norm2 = (X * X).sum(axis=1)
    most = float(norm2.max())

    def change(rows: Array, queried: bool) -> Array:
        more = np.zeros(len(rows)) if queried else np.sqrt(np.maximum(most - (rows * rows).sum(axis=1), 0))
        return np.column_stack([rows, more])

    def products(Q: Array, found: Array) -> Array:
        return np.asarray(-np.einsum("qp,qkp->qk", Q[:, :-1], found[:, :, :-1]))

    return Measure(INNER_PRODUCT, EUCLIDEAN, rows=change, pairs=products)


def _after(measure: Measure, name: str, change: Callable[[Array], Array]) -> Measure:
    """A measure of changed rows."""
    return Measure(
        name, measure.apart, measure.power, lambda X, queried: change(X), measure.to_distances, measure.summed
    )


def _weighted(measure: Measure, w: Any, columns: int) -> Measure:
    """Σ w |x − y|^p is that of columns times w^(1/p)."""
    w = np.asarray(w, dtype=np.float64)
    if w.shape != (columns,) or not (w >= 0).all():
        raise BadParameter(f"metric_params: w must hold a weight of at least 0 for each of {columns} columns")
    root = w if np.isinf(measure.power) else w ** (1 / measure.power)
    return _after(measure, measure.name, lambda rows: rows * root)


def _root(X: Array, params: dict[str, Any]) -> Array:
    """R with R Rᵀ = VI, the inverse covariance, so that (x − y)ᵀ VI (x − y) = ‖(x − y) R‖²."""
    if "VI" in params:
        VI = np.asarray(params.pop("VI"), dtype=np.float64)
    else:
        V = np.asarray(params.pop("V", np.cov(X, rowvar=False) if len(X) > 1 else np.eye(X.shape[1])), dtype=np.float64)
        VI = np.linalg.pinv(np.atleast_2d(V), hermitian=True)
    if VI.shape != (X.shape[1], X.shape[1]) or not np.isfinite(VI).all() or not np.allclose(VI, VI.T, rtol=1e-8, atol=0):
        raise BadParameter(f"metric_params: VI must be a symmetric matrix of {X.shape[1]} rows and columns")
    values, vectors = np.linalg.eigh(VI)
    if values[0] < -1e-10 * max(values[-1], 0):
        raise BadParameter("metric_params: VI must not have negative eigenvalues: it would give negative distances")
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))


def _directions(X: Any, queried: bool) -> Any:
    """Rows of length one, sparse or dense, so that half the squared distance is 1 − cos. A row of zeros has no direction: it is put one
    unit away from all, by two more columns, one for each side."""
    if is_sparse(X):
        return directions(X, queried)
    size = np.sqrt((X * X).sum(axis=1, keepdims=True))
    largest = np.abs(X).max(axis=1, keepdims=True)
    lost = (size == 0) | ~np.isfinite(size)  # squares that are too small, or too large
    scaled = np.where(lost & (largest > 0), X / np.where(largest > 0, largest, 1.0), X)
    size = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    none = size == 0
    unit = scaled / np.where(none, 1.0, size)
    if not none.any() and not queried:
        return np.asarray(np.hstack([unit, np.zeros((len(X), 2))]))
    sides = [np.zeros_like(none), none] if queried else [none, np.zeros_like(none)]
    return np.hstack([unit, *sides])


def _centred_directions(X: Array, queried: bool) -> Array:
    return np.asarray(_directions(X - X.mean(axis=1, keepdims=True), queried))


def _on_sphere(X: Array) -> Array:
    """Points of latitude and longitude in radians as points in space: the arc follows from the chord."""
    latitude, longitude = X[:, 0], X[:, 1]
    return np.column_stack([np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)])


def _by_scipy(name: str, Q: Array, R: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return _known(np.nan_to_num(cdist(Q, R, name), nan=0.0, posinf=np.inf), name)


def check_symmetric(measure: Measure, X: Array) -> None:
    """Refuse a user's function by which some of the rows are not as far from others as those are from them."""
    assert measure.block is not None
    some = X[np.linspace(0, len(X) - 1, min(len(X), 8)).astype(int)]
    away = measure.block(some, some)
    if not np.allclose(away, away.T, rtol=1e-8, atol=1e-12):
        raise BadInput(f"metric {measure.name}: it is not symmetric, d(x, y) = d(y, x), which clusters need: use max or mean of both")


def _asked(metric: Callable[..., Any], Q: Array, R: Array, params: dict[str, Any]) -> Array:
    """The user's function of all pairs."""
    found = np.array([[metric(q, r, **params) for r in R] for q in Q], dtype=np.float64).reshape(len(Q), len(R))
    return _known(found, getattr(metric, "__name__", "metric"))


def _known(distances: Array, name: str) -> Array:
    if np.isnan(distances).any():
        q, r = np.argwhere(np.isnan(distances))[0]
        raise BadInput(f"metric {name}: the distance of row {q} of the block to row {r} is NaN: a distance must be a number")
    return distances
