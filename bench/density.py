"""Clusters of dense rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .plan import Contender, Data, Judgement, Quality, Workload, fit_predict


def _grouped(data: Data, model: Any, output: Any) -> Quality:
    """How well the groups are the blobs, by pairs of rows; how many there are, and the share of rows in none."""
    from sklearn.metrics import adjusted_rand_score

    labels = np.asarray(model.labels_)
    return {
        "ARI": float(adjusted_rand_score(data["y"], labels)),
        "clusters": float(labels.max() + 1),
        "noise": float(np.mean(labels < 0)),
    }


def _contender(name: str, path: str, role: Any = "peer", slow: bool = False, **parameters: Any) -> Contender:
    return Contender(name, path.split(".")[0], fit_predict(path, _grouped, method=None, target=False, **parameters), role, slow)


def _blobs(n: int, p: int, n_blobs: int, spread: float, seed: int) -> Data:
    """Gaussian blobs of deviation one about centres of deviation `spread`, and which row is of which."""
    rng = np.random.default_rng(seed)
    centers, owner = rng.normal(0, spread, (n_blobs, p)), rng.integers(0, n_blobs, n)
    X = centers[owner] + rng.standard_normal((n, p))
    return {"X": X, "y": owner, "Xt": X[:10]}


def _overlapping(n: int) -> Data:
    rng = np.random.default_rng(36)
    owner = rng.integers(0, 8, n)
    X = rng.standard_normal((n, 2)) + 3 * rng.standard_normal((8, 2))[owner]
    return {"X": X, "y": owner, "Xt": X[:10]}


EXACT = {"approx_min_span_tree": False, "core_dist_n_jobs": 2}  # the shortest tree, as the others find it
SAME_GROUPS = Judgement("ARI", higher=True, tolerance=1e-9)

DBSCAN = Workload(
    name="dbscan",
    about="DBSCAN, 100k x 2, 20 blobs; eps 0.1, 10 rows",
    make=lambda shrink: _blobs(make.shrunk(100_000, shrink), 2, 20, 8.0, 35),
    contenders=(
        _contender("tenfold DBSCAN", "tenfold.DBSCAN", "tenfold", eps=0.1, min_samples=10),
        _contender("sklearn", "sklearn.cluster.DBSCAN", eps=0.1, min_samples=10, n_jobs=2),
        _contender("sklearnex", "sklearnex.cluster.DBSCAN", slow=True, eps=0.1, min_samples=10, n_jobs=2),
    ),
    judgement=SAME_GROUPS,
)

MEAN_SHIFT = Workload(
    name="mean_shift",
    about="mean shift, 10k x 2, 8 overlapping blobs; flat kernel, bandwidth 1.2, all rows as seeds",
    make=lambda shrink: _overlapping(make.shrunk(10_000, shrink)),
    contenders=(
        _contender("tenfold MeanShift", "tenfold.MeanShift", "tenfold", bandwidth=1.2),
        _contender("sklearn", "sklearn.cluster.MeanShift", bandwidth=1.2, n_jobs=2),
        _contender("sklearn, seeds from a grid", "sklearn.cluster.MeanShift", slow=True, bandwidth=1.2, bin_seeding=True, n_jobs=2),
    ),
    judgement=SAME_GROUPS,
)



def _hdbscan(name: str, n: int, p: int) -> Workload:
    options = {"min_cluster_size": 20, "min_samples": 10}
    return Workload(
        name=name,
        about=f"HDBSCAN, {n // 1000}k x {p}, 20 blobs; clusters of 20 rows, neighbourhoods of 10",
        make=lambda shrink: _blobs(make.shrunk(n, shrink), p, 20, 8.0, 37),
        contenders=(
            _contender("tenfold HDBSCAN", "tenfold.HDBSCAN", "tenfold", **options),
            _contender("sklearn", "sklearn.cluster.HDBSCAN", slow=n > 20_000, copy=False, n_jobs=2, **options),
            _contender("hdbscan", "hdbscan.HDBSCAN", min_cluster_size=20, min_samples=9, **EXACT),  # 9: without the row itself
            _contender("hdbscan, approximate tree", "hdbscan.HDBSCAN", slow=True, min_cluster_size=20, min_samples=9, core_dist_n_jobs=2),
        ),
        judgement=Judgement("ARI", higher=True, tolerance=0.01),  # rows at ties of distances may go either way
    )


WORKLOADS = (DBSCAN, MEAN_SHIFT, _hdbscan("hdbscan", 50_000, 2), _hdbscan("hdbscan_d10", 10_000, 10))
