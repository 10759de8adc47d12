"""Stochastic neighbour embedding with Student's t."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold import _embed
from tenfold.core import ops
from tenfold.core.data import Array, Source
from tenfold.core.engine import lent_threads
from tenfold.core.errors import BadInput, BadParameter, BadType, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Learner
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import legacy_generator
from tenfold.manifold.affinity import SMALL, Joint, joint, principal_start, shares
from tenfold.manifold.embedding import Embedding, as_rows
from tenfold.manifold.smacof import given_start
from tenfold.near.given import PRECOMPUTED, Distances, known, usable

FEW = 512  # rows up to which all pairs are summed sooner than cells are made
EXPLORED, LOOK = 250, 50  # steps with exaggeration; steps after which it is looked at whether to go on
NEW_STEPS, REST = 200, 1e-7  # of new rows, and the step (of the spread of the map) below which they rest
ROWS_A_THREAD = 1000  # fewer are done sooner than another thread is awake
BY_PAIR = 60  # bytes: the distance, the row, its order and probability, with those of the other side


@estimator
class TSNE(Embedding):
    """TSNE: a map in which rows that are neighbours stay neighbours.

    Model       Pᵢⱼ: the chance that i and j are neighbours, by a Gaussian around each row wide enough for `perplexity` neighbours;
                Qᵢⱼ ∝ wᵢ wⱼ (1 + ‖yᵢ − yⱼ‖² / v)^(−(v+1)/2) of places, Student's t with v = max(n_components − 1, 1)
    Objective   min KL(P ‖ Q) = Σ Pᵢⱼ log(Pᵢⱼ / Qᵢⱼ); "barnes_hut" has the 3 perplexity nearest rows in P, "exact" all
    Algorithm   gradient steps with momentum and gains, the first 250 with P times early_exaggeration. Cells of far places count as one
                (Barnes and Hut), in lists that near places share; up to 512 rows, or with angle 0 or "exact", all pairs are summed. The
                same bits for any number of threads. New rows: where a row of vanishing weight lowers the objective most while the others
                stay, from the better of two starts; rows of the fit have their places
    Cost        O(n log n) a step (exact O(n²)), the search for neighbours beside it; a new row O(n) a step; keeps all rows
    Fails when  distances between groups, their sizes or their density are read off the map: it keeps neighbours alone. The objective
                has many minima: other starts and other machines give other maps
    Reference   van der Maaten & Hinton 2008; van der Maaten 2014; Belkina et al. 2019 (learning rate); Kobak & Berens 2019 (start)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> groups = np.concatenate([rng.normal(size=(40, 5)), rng.normal(size=(40, 5)) + 9])
    >>> model = tenfold.TSNE(perplexity=10, max_iter=500).fit(groups)
    >>> places = model.embedding_
    >>> bool(np.linalg.norm(places[0] - places[:40], axis=1).max() < np.linalg.norm(places[0] - places[40:], axis=1).min())
    True
    >>> model.transform([[9.0] * 5]).shape  # a new row
    (1, 2)
    """

    kl_divergence_: float = learned("float", "the objective at `embedding_`")
    n_iter_: int = learned("int", "the number of the last step, from 0")
    learning_rate_: float = learned("float>0", "size of a step")
    _fit_X: Array = learned("float(n,p)", "the rows of the fit, where X was none of distances", rows=True, optional=True)
    _row_weights: Array = learned("float(n)>0", "the weights of the rows, where they differ", optional=True)
    _mass: float = learned("float>=0", "Σ of the similarities of pairs of places")

    exempt: ClassVar[dict[str, str]] = {
        "weight_is_copies": "the nearest neighbour of a copy is the row itself, which leaves fewer others",
        "row_order": "the steps magnify rounding: sums in another order lead to another map, as good a one",
        "column_order": "the steps magnify rounding: sums in another order lead to another map, as good a one",
    }
    least_rows: ClassVar[int] = 2

    n_components: int = param(default=2, at_least=1, doc="dimensions of the map")
    _: KW_ONLY
    perplexity: float = param(default=30.0, above=0, doc="about how many neighbours a row has; fewer than rows")
    early_exaggeration: float = param(default=12.0, at_least=1, doc="by how much P is multiplied in the first 250 steps")
    learning_rate: float | str = param(
        default="auto", above=0, one_of=("auto",), doc="size of a step; 'auto': n / early_exaggeration / 4, at least 50"
    )
    max_iter: int = param(default=1000, at_least=250, doc="most steps")
    n_iter_without_progress: int = param(default=300, at_least=-1, doc="steps without a lower objective after which it ends")
    min_grad_norm: float = param(default=1e-7, at_least=0, doc="norm of the gradient at which it ends")
    metric: str | Callable[..., Any] = param(
        default="euclidean",
        doc="a metric of NeighborIndex by name, a function of two rows, or 'precomputed': X is a table of distances",
    )
    metric_params: dict[str, Any] | None = param(default=None, doc="what the metric takes besides: p, w, V, VI")
    init: Any = param(default="pca", doc="where it starts: 'pca' (principal components), 'random', or places (n, n_components)")
    verbose: int | bool = param(default=0, doc="no effect: use tenfold.progress()")
    random_state: int | RandomState | None = param(default=None, doc="seed of a random start")
    method: str = param(default="barnes_hut", one_of=("barnes_hut", "exact"), doc="far places by cells, or one by one")
    angle: float = param(default=0.5, at_least=0, at_most=1, doc="width of a cell by its distance up to which it is far")
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)")

    @property
    def accepts(self) -> str:
        """Rows, or a table of distances."""
        return "pairs" if isinstance(self.metric, str) and self.metric == PRECOMPUTED else "rows"

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        few: dict[str, Any] = dict(max_iter=250, learning_rate=2.0)  # long steps magnify the rounding of float32
        return [{"perplexity": 8.0, **few}, {"perplexity": 20.0, "method": "exact", "early_exaggeration": 4.0, **few}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"perplexity": 2.0, "max_iter": 250, "learning_rate": 2.0}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        X, _, w = yield Keep(sparse=self.accepts == "pairs")
        n = X.shape[0]
        self._check_sizes(n, ops.is_sparse(X))
        w = np.asarray(w, dtype=np.float64) / np.mean(w)
        k = n - 1 if self.method == "exact" else min(n - 1, int(3 * self.perplexity + 1))
        check_memory(f"TSNE(method={self.method!r}): {k:,} neighbours of {n:,} rows", float(BY_PAIR * n * k), self._remedy())
        rows = None if self.accepts == "pairs" else as_rows(X)
        search = Distances(np.asarray(known(X), dtype=np.float64)) if rows is None else self._searched(rows)
        away, near = search.nearest(None, k)
        if (away < 0).any():
            raise BadInput("All distances should be positive, the metric given is not correct: no distance is below 0")
        pairs = joint(away, near, w, float(self.perplexity))
        fitted = self._descended(pairs, self._start(n, rows, w))
        return fitted | ({} if rows is None else {"_fit_X": rows}) | ({"_row_weights": w} if (w != 1).any() else {})

    def _check_sizes(self, n: int, sparse: bool) -> None:
        if self.accepts == "pairs" and isinstance(self.init, str) and self.init == "pca":
            raise BadParameter('The parameter init="pca" cannot be used with metric="precomputed". Use init="random", or give places')
        if self.method == "exact" and self.accepts == "pairs" and sparse:
            raise BadType('TSNE(method="exact") takes no sparse table of distances: use method="barnes_hut", or give the whole table')
        if self.method == "barnes_hut" and self.n_components > 3:
            raise BadParameter(
                f"TSNE(n_components={self.n_components}): 'n_components' should be inferior to 4 for the barnes_hut algorithm: use "
                "method='exact'"
            )
        if self.perplexity >= n:
            raise BadInput(f"perplexity ({self.perplexity:g}) must be less than n_samples ({n}): decrease it, or give more rows")

    def _remedy(self) -> str:
        if self.method == "exact":
            return "use method='barnes_hut'"
        return "decrease perplexity, or fit some rows and place the others by transform"

    def _searched(self, rows: Array) -> Any:
        return self._index(rows, metric=self.metric, metric_params=self.metric_params)

    def _start(self, n: int, rows: Array | None, w: Array) -> Array:
        rng = legacy_generator(self.random_state)
        if not isinstance(self.init, str):
            return given_start(self.init, n, self.n_components)
        if self.init == "random":
            return np.asarray(SMALL * rng.standard_normal((n, self.n_components)))
        if self.init != "pca" or rows is None:
            raise BadParameter(f"TSNE(init={self.init!r}): must be 'pca', 'random' or places of the rows")
        start = principal_start(rows, w, self.n_components, rng)
        if not start.any():
            warn("TSNE: all rows are the same, and so are their places: give rows that differ, or init='random'", DataWarning, stacklevel=2)
        return start

    def _descended(self, pairs: Joint, places: Array) -> dict[str, Any]:
        """The schedule: with exaggeration and little momentum, then without and with more."""
        rate = max(len(places) / self.early_exaggeration / 4, 50.0) if isinstance(self.learning_rate, str) else float(self.learning_rate)
        found = Descent(self, pairs, np.ascontiguousarray(places), rate)
        found.run(EXPLORED, exaggeration=float(self.early_exaggeration), momentum=0.5, patience=EXPLORED)
        if found.done < self.max_iter:
            found.run(self.max_iter, exaggeration=1.0, momentum=0.8, patience=self.n_iter_without_progress)
        if not np.isfinite(found.places).all():
            raise BadInput(f"TSNE(learning_rate={self.learning_rate!r}): the places have left all bounds: decrease learning_rate")
        return dict(
            embedding_=found.places, kl_divergence_=found.divergence, n_iter_=found.done - 1, learning_rate_=rate, _mass=found.mass
        )

    def _transform(self, X: Any) -> Array:
        n, places = len(self.embedding_), np.ascontiguousarray(self.embedding_, dtype=np.float64)
        w = np.asarray(vars(self).get("_row_weights", np.ones(n)))
        away, near = self._around(X, n if self.method == "exact" else min(n, int(3 * self.perplexity + 1)))
        share = shares(away, w[near], float(self.perplexity))
        spread = float(np.abs(places - places.mean(axis=0)).max())
        near, strength = np.ascontiguousarray(near, dtype=np.int64), float(w.sum() / self._mass) if self._mass > 0 else 0.0
        freedom = max(places.shape[1] - 1, 1)
        with lent_threads() as threads:
            starts = np.einsum("ij,ijk->ik", share, places[near]), places[near[:, 0]]
            how = freedom, NEW_STEPS, REST * spread, threads
            runs = [_embed.placed(np.ascontiguousarray(one), places, w, near, share, strength, *how) for one in starts]
        found = np.where((runs[0][1] <= runs[1][1])[:, None], runs[0][0], runs[1][0])
        found = np.where(away[:, :1] == 0, places[near[:, 0]], found)  # rows of the fit have their places
        return np.asarray(found.astype(X.dtype, copy=False))

    def _around(self, X: Any, k: int) -> tuple[Array, Array]:
        """(distances, rows): the nearest rows of the fit, the nearest first."""
        if self.accepts == "rows":
            found: tuple[Array, Array] = self._searched(self._fit_X).nearest(ops.dense(X).astype(np.float64, copy=False), k)
            return found
        table = usable(np.asarray(known(X), dtype=np.float64))
        near = np.argsort(table, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(table, near, axis=1), near

    def _objection(self) -> str | None:
        return "_fit_X is missing" if self.accepts == "rows" and "_fit_X" not in vars(self) else None


class Descent:
    """Places on their way down."""

    def __init__(self, model: TSNE, pairs: Joint, places: Array, rate: float) -> None:
        self.places, self.pairs, self.rate, self.done = places, pairs, rate, 0
        self.divergence, self.mass = np.inf, 0.0
        self._constant, self._least = -pairs.entropy, float(model.min_grad_norm)
        self._angle = 0.0 if model.method == "exact" or len(places) <= FEW else float(model.angle)

    def run(self, until: int, *, exaggeration: float, momentum: float, patience: int) -> None:
        """Steps up to number `until`, unless the objective has not fallen for `patience` steps or the gradient vanishes."""
        moves, gains = np.zeros_like(self.places), np.ones_like(self.places)
        best, best_at, pairs = np.inf, self.done, self.pairs
        freedom = max(self.places.shape[1] - 1, 1)
        while self.done < until:
            steps = min(LOOK - self.done % LOOK, until - self.done)
            with lent_threads() as threads:
                threads = min(threads, 1 + len(self.places) // ROWS_A_THREAD)
                self.places, moves, gains, norm, spread, self.mass = _embed.descended(
                    self.places, moves, gains, pairs.start, pairs.to, pairs.p, pairs.weight, freedom, self._angle,
                    (exaggeration, momentum, self.rate), steps, threads,
                )  # fmt: skip
            self.done += steps
            self.divergence = self._constant + spread + float(np.log(self.mass)) if self.mass > 0 else 0.0
            if self.divergence < best:
                best, best_at = self.divergence, self.done
            elif self.done - best_at > patience:
                break
            if norm <= self._least or not np.isfinite(norm):
                break
