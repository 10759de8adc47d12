"""Nearest neighbours: building an index and asking it, timed together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload

K = 10
RECALL = 0.95  # of searches that find most of the nearest only
CHECKED = 300  # queries whose neighbours are known from all distances


def _data(columns: int, shrink: int) -> Data:
    found = dict(make.blobs(make.shrunk(100_000, shrink), columns, n_blobs=20, n_clusters=2, seed=10 + columns))
    some, X = found["Xt"][:CHECKED], found["X"]
    away = np.stack([((X - q) ** 2).sum(axis=1) for q in some])
    return found | {"known": np.sort(np.partition(away, K - 1, axis=1)[:, :K], axis=1)}


def _searched(search: Callable[[Any, Any], Any]) -> Callable[[Data, Meter], Quality]:
    """search(X, queries) gives the numbers of the rows that it found."""

    def run(data: Data, meter: Meter) -> Quality:
        rows = np.asarray(meter.fit(search, data["X"], data["Xt"]))[:CHECKED]
        some = data["Xt"][: len(rows)]
        away = np.sort(((data["X"][rows] - some[:, None, :]) ** 2).sum(axis=2), axis=1)
        return {"recall": float(np.mean(away <= data["known"][:, -1:] * (1 + 1e-9)))}

    return run


def _tenfold(X: Any, Q: Any) -> Any:
    import tenfold

    return tenfold.NeighborIndex(X).nearest(Q, K)[1]


def _sklearn(module: str, algorithm: str) -> Callable[[Any, Any], Any]:
    def search(X: Any, Q: Any) -> Any:
        import importlib

        make = importlib.import_module(f"{module}.neighbors").NearestNeighbors
        return make(n_neighbors=K, algorithm=algorithm, n_jobs=2).fit(X).kneighbors(Q)[1]

    return search


def _scipy(X: Any, Q: Any) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(X).query(Q, k=K, workers=2)[1]


def _workload(columns: int) -> Workload:
    few = columns <= 10
    contenders = [
        Contender("tenfold NeighborIndex", "tenfold", _searched(_tenfold), "tenfold"),
        Contender("sklearn brute", "sklearn", _searched(_sklearn("sklearn", "brute")), slow=few),
        Contender("sklearn kd_tree", "sklearn", _searched(_sklearn("sklearn", "kd_tree")), slow=not few),
        Contender("sklearnex brute", "sklearnex", _searched(_sklearn("sklearnex", "brute"))),
        Contender("sklearnex kd_tree", "sklearnex", _searched(_sklearn("sklearnex", "kd_tree")), slow=not few),
        Contender("scipy cKDTree", "scipy", _searched(_scipy), slow=not few),
    ]
    return Workload(
        name=f"knn_d{columns}",
        about=f"the {K} nearest of 100k rows for 10k queries, {columns} columns, 20 blobs; index and queries together",
        make=lambda shrink: _data(columns, shrink),
        contenders=tuple(contenders),
        judgement=Judgement("recall", higher=True, tolerance=1e-9),
    )


def _graph(X: Any, Q: Any) -> Any:
    import tenfold

    return tenfold.NeighborIndex(X, method="graph", recall=RECALL).nearest(Q, K)[1]


def _faiss(links: int, width: int) -> Callable[[Any, Any], Any]:
    """efConstruction is faiss's own default; the width is the least of 16, 24, 32, 48, ... that reaches the recall here."""

    def search(X: Any, Q: Any) -> Any:
        import faiss

        faiss.omp_set_num_threads(2)
        index = faiss.IndexHNSWFlat(X.shape[1], links)
        index.add(X.astype(np.float32))
        index.hnsw.efSearch = width
        return index.search(Q.astype(np.float32), K)[1]

    return search


def _pynndescent(X: Any, Q: Any) -> Any:
    from pynndescent import NNDescent

    index = NNDescent(X.astype(np.float32), n_jobs=2, random_state=0)
    index.prepare()
    return index.query(Q.astype(np.float32), k=K)[0]


def _approximate(columns: int, widths: dict[int, int]) -> Workload:
    return Workload(
        name=f"near_graph_d{columns}",
        about=f"{RECALL:.0%} of the {K} nearest of 100k rows for 10k queries, {columns} columns, 20 blobs; index and queries together",
        make=lambda shrink: _data(columns, shrink),
        contenders=(
            Contender("tenfold graph", "tenfold", _searched(_graph), "tenfold"),
            *(Contender(f"faiss HNSW{links}", "faiss", _searched(_faiss(links, width))) for links, width in widths.items()),
            Contender("pynndescent", "pynndescent", _searched(_pynndescent)),
        ),
        judgement=Judgement("recall", higher=True, tolerance=0.05),
    )


WORKLOADS = (
    *(_workload(columns) for columns in (3, 10, 50, 200)),
    _approximate(50, {16: 32, 32: 16}),
    _approximate(200, {16: 48, 32: 16}),
)
