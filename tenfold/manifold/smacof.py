"""Scaling by majorizing a complicated function: steps that never raise the stress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold import _embed, _evaluate
from tenfold.core.data import Array
from tenfold.core.engine import lent_threads
from tenfold.core.errors import BadInput, DataWarning, warn
from tenfold.core.random import legacy_generator
from tenfold.manifold.dissimilarities import table_given
from tenfold.near.measures import measure_of
from tenfold.near.pairs import distances as distances_of_rows


@dataclass(frozen=True)
class Scaling:
    """Where majorization has come to rest."""

    places: Array  # (n, k)
    targets: Array  # (n, n): what the distances should be; of ordinal scaling, disparities
    stress: float  # Σ wᵢ wⱼ (target − distance)², each pair once
    size: float  # Σ wᵢ wⱼ distance²
    n_iter: int
    converged: bool
    history: list[float]  # the stress after each step

    @property
    def normalized(self) -> float:
        """Kruskal's stress-1."""
        return float(np.sqrt(self.stress / self.size)) if self.size > 0 else 0.0


def majorized(D: Array, w: Array, start: Array, *, metric: bool, max_iter: int, eps: float) -> Scaling:
    """From a start: each step is the Guttman transform, xᵢ = Σⱼ wⱼ δᵢⱼ (xᵢ − xⱼ) / dᵢⱼ / Σ w, until the stress falls by less than eps Σ d².

    Ordinal scaling (not metric) finds the disparities δ anew before each step: the sequence nearest to the distances that rises with
    the dissimilarities, of constant size. Either part lowers the stress or leaves it.
    """
    ranks = None if metric else Ranks.of(D, w)
    targets = D if ranks is None else ranks.scaled_dissimilarities()
    x, stress, size, converged, step = start, 0.0, 0.0, False, 0
    history: list[float] = []
    with lent_threads() as threads:
        x = _embed.guttman(targets, x, w, threads)[0]
        for step in range(1, max_iter + 1):
            after, stress, size = _embed.guttman(targets, x, w, threads)
            fell = history[-1] - stress if history else np.inf
            converged = fell <= 0 or fell < eps * size
            history.append(stress)
            if converged or step == max_iter:
                break
            if ranks is None:
                x = after
            else:
                targets = ranks.disparities(x)
                x = _embed.guttman(targets, x, w, threads)[0]
    return Scaling(x, targets, stress, size, step, converged, history)


@dataclass(frozen=True)
class Ranks:
    """The order of the dissimilarities of pairs above 0; those of 0 have disparity 0."""

    shape: int
    first: Array  # of each pair, by rising dissimilarity
    second: Array
    tie: Array  # the number of its dissimilarity
    levels: Array  # the dissimilarities, each once
    weight: Array  # of each pair
    total: float  # the sum of squares that disparities have

    @classmethod
    def of(cls, D: Array, w: Array) -> Ranks:
        first, second = np.triu_indices(len(D), 1)
        away = D[first, second]
        some = np.flatnonzero(away > 0)
        if not len(some):
            raise BadInput("MDS(metric_mds=False): all dissimilarities are 0, and have no order: give rows that differ")
        some = some[np.argsort(away[some], kind="stable")]
        away, first, second = away[some], first[some], second[some]
        new = np.append(False, np.diff(away) > np.finfo(np.float64).eps * away[-1])
        whole = float(w.sum())
        pairs = whole * (whole - 1) if whole > 1 else float(whole**2 - w @ w)
        first, second = first.astype(np.int32), second.astype(np.int32)
        return cls(len(D), first, second, np.cumsum(new), away[np.append(True, new[1:])], w[first] * w[second], pairs / 2)

    def scaled_dissimilarities(self) -> Array:
        return self._table(self.levels)

    def disparities(self, places: Array) -> Array:
        """(n, n): of all that rise with the dissimilarities those nearest to the distances of these places."""
        return self._table(self.pooled(places))

    def pooled(self, places: Array) -> Array:
        """The disparity of each level, before all get the size that is asked for."""
        with lent_threads() as threads:
            away = _embed.pair_distances(np.ascontiguousarray(places), self.first, self.second, threads)
        if len(self.levels) == len(away):  # no two dissimilarities are equal
            return _evaluate.pool_neighbours(away, np.empty(0) if (self.weight == 1).all() else self.weight)
        heavy: Array = np.bincount(self.tie, self.weight)
        return _evaluate.pool_neighbours(np.bincount(self.tie, self.weight * away) / heavy, heavy)

    def _table(self, levels: Array) -> Array:
        values = levels[self.tie]
        squares = float(self.weight @ (values * values))
        if squares > 0:
            values *= np.sqrt(self.total / squares)
        return _embed.table_of_pairs(values, self.first, self.second, self.shape)


def best_of(starts: Callable[[], Array], n_init: int, normalized: bool, run: Callable[[Array], Scaling]) -> Scaling:
    """The scaling of least stress over several starts."""
    runs = [run(starts()) for _ in range(n_init)]
    return min(runs, key=lambda one: one.normalized if normalized else one.stress)


def random_start(n: int, k: int, random_state: Any) -> Callable[[], Array]:
    """Draws of places between 0 and 1; with the same seed those of scikit-learn."""
    rng = legacy_generator(random_state)
    return lambda: rng.uniform(size=n * k).reshape(n, k)


def given_start(init: Any, n: int, k: int | None) -> Array:
    """The user's places to start from."""
    try:
        start = np.array(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(f"init must be an array of numbers, not {type(init).__name__}") from None
    if start.ndim != 2 or len(start) != n or (k is not None and start.shape[1] != k):
        raise BadInput(f"init matrix should be of shape ({n}, {'n_components' if k is None else k}), not {start.shape}")
    if not np.isfinite(start).all():
        raise BadInput("init: must hold finite numbers")
    return start


def smacof(
    dissimilarities: Any,
    *,
    metric: bool = True,
    n_components: int = 2,
    init: Any = None,
    n_init: int = 1,
    n_jobs: int | None = None,
    max_iter: int = 300,
    verbose: int = 0,
    eps: float = 1e-6,
    random_state: Any = None,
    return_n_iter: bool = False,
    normalized_stress: bool | str = "auto",
) -> tuple[Array, float] | tuple[Array, float, int]:
    """(places, stress) of a table of dissimilarities, or (places, stress, steps): what `MDS` fits, with scikit-learn's arguments.

    n_jobs, verbose: no effect. random_state: with a seed the starts are those of scikit-learn.

    >>> import tenfold
    >>> places, stress = tenfold.smacof([[0.0, 3, 5], [3, 0, 4], [5, 4, 0]], eps=1e-12, random_state=0)
    >>> round(stress, 6)
    0.0
    """
    table = np.asarray(dissimilarities, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not len(table):
        raise BadInput(f"smacof takes a square table of dissimilarities, and this one has the shape {table.shape}")
    D, normalized = table_given(table, "smacof"), not metric if normalized_stress == "auto" else bool(normalized_stress)
    starts = random_start(len(D), n_components, random_state)
    if init is not None:
        start = given_start(init, len(D), None)
        warn_of_one_start(n_init)
        starts, n_init = lambda: start, 1
    found = best_of(starts, n_init, normalized, lambda x: majorized(D, np.ones(len(D)), x, metric=metric, max_iter=max_iter, eps=eps))
    stress = found.normalized if normalized else found.stress
    return (found.places, stress, found.n_iter) if return_n_iter else (found.places, stress)


def warn_of_one_start(n_init: int) -> None:
    if n_init > 1:
        warn(f"n_init={n_init}: explicit initial positions passed: performing only one init of the MDS", DataWarning, stacklevel=3)


def settled(D: Array, places: Array, w: Array, starts: Array, *, eps: float, max_iter: int) -> Array:
    """Places of new rows among those that stay: min Σⱼ wⱼ (Dⱼ − ‖z − xⱼ‖)² for each row of D (rows, n), by the same steps."""
    euclid, share = measure_of("euclidean", places), w / w.sum()
    z = starts.copy()
    active = np.arange(len(z))
    before = np.full(len(z), np.inf)
    for _ in range(max_iter):
        away = distances_of_rows(euclid, z[active], places)
        stress = ((D[active] - away) ** 2) @ share
        size = (away * away) @ share
        going = before[active] - stress > eps * size
        before[active] = stress
        active, away = active[going], away[going]
        if not len(active):
            break
        ratio = share * np.divide(D[active], away, out=np.zeros_like(away), where=away > 0)
        z[active] = share @ places + z[active] * ratio.sum(axis=1, keepdims=True) - ratio @ places
    return z
