"""Trees of clusters: all merges of a table, by the linkages that people use."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Run, Workload


def _blobs(n: int, seed: int = 35) -> Data:
    """Ten overlapping Gaussian blobs in ten dimensions."""
    rng = np.random.default_rng(seed)
    owner = rng.integers(0, 10, n)
    return {"X": rng.standard_normal((n, 10)) + 1.2 * rng.standard_normal((10, 10))[owner]}


def _tree(path: str, linkage: str) -> Run:
    """A function of rows and the name of a linkage that gives SciPy's table."""

    def run(data: Data, meter: Meter) -> Quality:
        module, _, name = path.rpartition(".")
        function: Any = getattr(__import__(module, fromlist=[name]), name)
        return {"sum of heights": float(meter.fit(function, data["X"], linkage)[:, 2].sum())}

    return run


def _sklearn(linkage: str) -> Run:
    def run(data: Data, meter: Meter) -> Quality:
        from sklearn.cluster import AgglomerativeClustering

        model = AgglomerativeClustering(10, linkage=linkage, compute_full_tree=True, compute_distances=True)
        meter.fit(model.fit, data["X"])
        return {"sum of heights": float(model.distances_.sum())}

    return run


def _workload(linkage: str, n: int) -> Workload:
    vectors = (Contender("fastcluster linkage_vector", "fastcluster", _tree("fastcluster.linkage_vector", linkage)),)
    return Workload(
        name=f"hier_{linkage}",
        about=f"the tree of {linkage} linkage, {n // 1000}k x 10, ten overlapping blobs",
        make=lambda shrink: _blobs(make.shrunk(n, shrink)),
        contenders=(
            Contender("tenfold linkage", "tenfold", _tree("tenfold.linkage", linkage), "tenfold"),
            *(vectors if linkage in ("single", "ward") else ()),
            Contender("fastcluster linkage", "fastcluster", _tree("fastcluster.linkage", linkage)),
            Contender("scipy linkage", "scipy", _tree("scipy.cluster.hierarchy.linkage", linkage)),
            Contender("sklearn", "sklearn", _sklearn(linkage)),
        ),
        judgement=Judgement("sum of heights", higher=False, tolerance=1e-9),
    )


WORKLOADS = (_workload("single", 20_000), _workload("average", 10_000), _workload("complete", 10_000), _workload("ward", 10_000))
