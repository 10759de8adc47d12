"""Densities by the distance to the k-th nearest row."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from tenfold.base import check
from tenfold.base.estimator import Density
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import estimator, param
from tenfold.near.given import effective
from tenfold.neighbors.kept import KeptRows
from tenfold.neighbors.search import Near, among_themselves, check_room

POWERS = {"manhattan": 1.0, "euclidean": 2.0, "chebyshev": np.inf}  # of the metrics that are norms of differences
MOST = 200  # neighbours that are tried at most, and no more than 4 √n


@estimator
class NeighborDensity(Density, KeptRows):
    """NeighborDensity: k rows over all rows and the volume of the ball that reaches to the k-th nearest.

    Model       p(x) = k / (n V(r)), r the distance of x to its k-th nearest row, V(r) = (2 r Γ(1 + 1/p))^d / Γ(1 + d/p) the volume of the
                ball of the p-norm in d columns; a row of weight w is w rows. Of the rows of the fit themselves (score_samples without X)
                with each left out in its turn: k / ((n − 1) V(r))
    Objective   none: rows are kept; n_neighbors="cv" is the k, up to 4 √n and 200, with the largest Σ log p of the rows, each left out
    Algorithm   the search of NeighborIndex; all k from one search
    Cost        that of NearestNeighbors: O(log n) a row in few columns, O(n d) in many; rows are kept
    Fails when  it is taken for a density: its tails fall like 1 / r^d, so that its integral is infinite, no rows can be drawn from it, and
                it has no cdf; k rows or more are equal: the log density there is inf (and "cv" passes over such k)
    Reference   Loftsgaarden & Quesenberry 1965; volume: Wang 2005

    Example
    -------
    >>> import numpy as np, tenfold
    >>> model = tenfold.NeighborDensity(n_neighbors=2).fit([[0.0], [1.0], [3.0]])
    >>> np.exp(model.score_samples([[0.0], [2.0]])).round(3).tolist()  # 2 of 3 rows within 1 on either side
    [0.333, 0.333]
    """

    n_neighbors_: int = learned("int", "neighbours that are asked")

    accepts: ClassVar[str] = "rows"  # a table of distances says nothing of volumes
    has_samples: ClassVar[bool] = False
    unnormalised: ClassVar[str] = "far away it falls like 1 / r^d, which has no finite integral"

    n_neighbors: int | str = param(
        default=5,
        at_least=1,
        one_of=("cv",),
        doc="neighbours that are asked; 'cv': by leaving out one row after the other",
        before="algorithm",
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"n_neighbors": "cv", "p": 1}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_neighbors": 2}

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        power = self._power(*effective(self.metric, self.p, self.metric_params))
        fitted = yield from super()._learn(source)
        rows, w = fitted["_fit_X"], fitted.get("_row_weights")
        whole = float(len(rows) if w is None else w.sum()) * (1 + 1e-12)
        if not isinstance(self.n_neighbors, str):
            if self.n_neighbors > whole:
                raise BadInput(
                    f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {self.n_neighbors}, n_samples = {whole:g}: ask for at most "
                    f"{int(whole)} neighbours"
                )
            return fitted | dict(n_neighbors_=int(self.n_neighbors))
        most = min(int(whole) - 1, MOST, int(4 * np.sqrt(whole)))
        if most < 1:
            raise BadInput("NeighborDensity(n_neighbors='cv'): needs at least two rows, of which one can be left out: give a number")
        check_room(len(rows), most)
        near = among_themselves(self._search[1], rows, w, most)
        radii = np.array([_kth_distance(near, k) for k in range(1, most + 1)])
        usable = (radii > 0).all(axis=1)
        if not usable.any():
            raise BadInput(
                f"NeighborDensity(n_neighbors='cv'): a row is there more than {most} times, so that every density around it is infinite: "
                "give a larger number, or drop copies of rows"
            )
        k = np.flatnonzero(usable) + 1
        weights = np.ones(len(rows)) if w is None else w
        likelihood = [weights @ _log_density(one, radii[one - 1], whole - 1, rows.shape[1], power) for one in k.tolist()]
        return fitted | dict(n_neighbors_=int(k[np.argmax(likelihood)]))

    def _power(self, metric: Any, params: dict[str, Any]) -> float:
        if isinstance(metric, str):
            if metric in POWERS and not params:
                return POWERS[metric]
            if metric == "minkowski" and params.keys() == {"p"}:
                return float(params["p"])
        raise self._no_volume()

    def _no_volume(self) -> BadParameter:
        return BadParameter(
            f"NeighborDensity(metric={check.short(self.metric)}, metric_params={check.short(self.metric_params)}): the volume of its balls "
            "is not known: give 'minkowski' with a power p, 'euclidean', 'manhattan' or 'chebyshev'"
        )

    def score_samples(self, X: Any = None) -> Array:
        """The logarithm of the density at each row; without X at the rows of the fit, each of which is left out in its turn."""
        if X is not None:
            return super().score_samples(X)
        check.check_fitted(self)
        w, k = vars(self).get("_row_weights"), self.n_neighbors_
        whole = float(self.n_samples_fit_ if w is None else w.sum())
        if k > (whole - 1) * (1 + 1e-12):
            raise BadInput(f"score_samples(): of {whole:g} rows {whole - 1:g} are left when one is left out, and n_neighbors = {k}: give X")
        near = among_themselves(self._searched(), self._fit_X, w, k)
        return self._density_within(_kth_distance(near, k), whole - 1)

    def _log_density(self, X: Any) -> Array:
        w, k = vars(self).get("_row_weights"), self.n_neighbors_
        return self._density_within(_kth_distance(self._near(X, k), k), float(self.n_samples_fit_ if w is None else w.sum()))

    def _density_within(self, radius: Array, n: float) -> Array:
        power = self._power(self.effective_metric_, self.effective_metric_params_)
        return _log_density(self.n_neighbors_, radius, n, self._fit_X.shape[1], power)

    def _objection(self) -> str | None:
        try:
            self._power(self.effective_metric_, self.effective_metric_params_)
        except BadParameter:
            return "the volume of balls of its metric is not known"
        return super()._objection() or (None if self.n_neighbors_ >= 1 else "n_neighbors_ is not a number of neighbours")


def _kth_distance(near: Near, k: int) -> Array:
    """The distance of each row to its k-th nearest, where one of weight 2 is two of them."""
    if near.copies is None:
        return np.asarray(near.distances[:, k - 1], dtype=np.float64)
    place = (np.cumsum(near.copies, axis=1) < k * (1 - 1e-12)).sum(axis=1)
    return np.asarray(near.distances[np.arange(len(place)), np.minimum(place, near.rows.shape[1] - 1)], dtype=np.float64)


def _log_density(k: int, radius: Array, n: float, d: int, power: float) -> Array:
    """log k − log n − log V(r)."""
    unit = d * (np.log(2) + gammaln(1 + 1 / power)) - gammaln(1 + d / power)  # of the ball of radius 1; for p = ∞ the limit, 2^d
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(k / n) - unit - d * np.log(radius))
