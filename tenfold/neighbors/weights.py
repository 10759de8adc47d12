"""How much each neighbour counts: all the same, by its distance, by a kernel, or as a function of the user says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.neighbors.search import Near

KERNELS: dict[str, Callable[[Array], Array]] = {
    "gaussian": lambda u: np.exp(-u * u / 2),
    "epanechnikov": lambda u: 1 - u * u,
    "triangular": lambda u: 1 - u,
    "tricube": lambda u: (1 - u**3) ** 3,
}
WEIGHTS = ("uniform", "distance", *KERNELS, None)
Weights = str | Callable[[Array], Any] | None


def check_weights(learner: str, weights: Any) -> None:
    if weights is not None and not isinstance(weights, str) and not callable(weights):
        raise BadParameter(f"{learner}(weights={weights!r}): must be one of {', '.join(map(repr, WEIGHTS))}, or a function of distances")


def needs_further(weights: Weights) -> bool:
    """Whether the neighbour beyond the last one has a say: kernels are as wide as it is far."""
    return isinstance(weights, str) and weights in KERNELS


def same_for_all_k(weights: Weights) -> bool:
    """Whether what a neighbour counts depends on its own distance alone (and on whether the nearest is at no distance at all)."""
    return weights in ("uniform", "distance", None) if not callable(weights) else False


def weigh(weights: Weights, near: Near, k: int) -> tuple[Array, Array]:
    """(queries, j): how much each of the first rows counts as one of k neighbours, and which rows these are."""
    if near.copies is None:
        distances, rows, counts = near.distances[:, :k], near.rows[:, :k], None
        beyond = near.distances[:, min(k, near.distances.shape[1] - 1)]
    else:  # the last one may count in part
        total = np.cumsum(near.copies, axis=1)
        counts = np.clip(k - (total - near.copies), 0.0, near.copies)
        last = int((counts > 0).sum(axis=1).max(initial=1))
        place = np.minimum((total <= k * (1 + 1e-12)).sum(axis=1), near.distances.shape[1] - 1)
        distances, rows, counts = near.distances[:, :last], near.rows[:, :last], counts[:, :last]
        beyond = near.distances[np.arange(len(place)), place]
    share = _shares(weights, distances, beyond[:, None], counts)
    return share if counts is None else share * counts, rows


def _shares(weights: Weights, distances: Array, width: Array, counts: Array | None) -> Array:
    if weights is None or (isinstance(weights, str) and weights == "uniform"):
        return np.ones(distances.shape)
    if not isinstance(weights, str):
        return asked(weights, distances)
    if weights == "distance":
        return only_infinite(inverse(distances))
    share = kernel(weights, distances, width)
    total = (share if counts is None else share * counts).sum(axis=1, keepdims=True)
    return np.where(total > 0, share, 1.0)  # all as far as the next one: the same for all


def inverse(distances: Array) -> Array:
    """1 / d, infinite at no distance."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.asarray(1 / distances)


def only_infinite(share: Array) -> Array:
    """Where some weights of a row are infinite, these alone count, and the same."""
    endless = np.isinf(share)
    return np.where(endless.any(axis=1, keepdims=True), endless, share) if endless.any() else share


def kernel(name: str, distances: Array, width: Any) -> Array:
    """K(d / width); at no width all count the same."""
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.where(width > 0, distances / width, 0.0)
    return np.maximum(KERNELS[name](np.minimum(u, 1.0)), 0.0)


def asked(weights: Callable[[Array], Any], distances: Array) -> Array:
    """What a function of the user says of distances."""
    try:
        said = weights(distances)
        if said is None:
            return np.ones(distances.shape)
        share = np.array(np.broadcast_to(np.asarray(said, dtype=np.float64), distances.shape))
    except (TypeError, ValueError) as failure:
        raise BadInput(f"weights: of distances of the shape {distances.shape} the function must give as many numbers ({failure})") from None
    bad = np.isnan(share) | (share < 0)
    if bad.any():
        place = tuple(np.argwhere(bad)[0])
        raise BadInput(f"weights: of the distance {distances[place]:g} the function gives {share[place]}: it must give numbers >= 0")
    return only_infinite(share)


def check_some(total: Array) -> None:
    """Refuse neighbours that together count nothing."""
    if not (total > 0).all():
        raise BadInput(
            "All neighbors of some sample is getting zero weights. Please modify 'weights' to avoid this case if you are using a "
            "user-defined function."
        )
