"""Models without a target: k-means from given centres, medoids, principal components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload, fit_predict, only_when_slow
from .scores import clusters, explained, inertia

LLOYD_STEPS = 20


def _same_start(data: Data) -> dict[str, Any]:
    return {"n_clusters": len(data["start"]), "init": data["start"]}


def _kmeans(name: str, path: str, role: Any = "peer", slow: bool = False, **parameters: Any) -> Contender:
    run = fit_predict(
        path,
        clusters,
        target=False,
        parameters=_same_start,
        n_init=1,
        max_iter=LLOYD_STEPS,
        tol=0,
        **parameters,
    )
    return Contender(name, path.split(".")[0], run, role, slow)


def _faiss(data: Data, meter: Meter) -> Quality:
    """faiss works in float32 only; the conversion is not timed."""
    import faiss

    X, start = data["X"].astype(np.float32), data["start"].astype(np.float32)
    model = faiss.Kmeans(
        X.shape[1],
        len(start),
        niter=LLOYD_STEPS,
        max_points_per_centroid=len(X),  # otherwise it trains on a sample
        min_points_per_centroid=1,
    )
    meter.fit(model.train, X, init_centroids=start)
    meter.predict(model.index.search, data["Xt"].astype(np.float32), 1)
    return inertia(data, np.asarray(model.centroids))


KMEANS = (
    _kmeans("tenfold KMeans", "tenfold.KMeans", "tenfold"),
    _kmeans("sklearn lloyd", "sklearn.cluster.KMeans"),
    _kmeans("sklearnex lloyd", "sklearnex.cluster.KMeans"),
    Contender("faiss, float32", "faiss", _faiss),
    _kmeans("sklearn elkan", "sklearn.cluster.KMeans", slow=True, algorithm="elkan"),
)
# Rounding sends a few rows on the border of two clusters to one side or the other, and Lloyd's steps
# spread such differences: equal work, not equal bits.
SAME_INERTIA = Judgement("inertia", higher=False, tolerance=1e-3)

KMEANS_SMALL = Workload(
    name="kmeans_500kx20_k50",
    about="k-means, 500k x 20, k=50 on 100 overlapping blobs; 20 Lloyd steps from the same rows",
    make=lambda shrink: make.blobs(make.shrunk(500_000, shrink), 20, n_blobs=100, n_clusters=50, seed=31),
    contenders=KMEANS,
    judgement=SAME_INERTIA,
)

KMEANS_LARGE = Workload(
    name="kmeans_100kx100_k1000",
    about="k-means, 100k x 100, k=1000 on 1000 blobs in 20 latent dimensions; 20 Lloyd steps",
    make=lambda shrink: make.blobs(make.shrunk(100_000, shrink), 100, n_blobs=1000, n_clusters=1000, seed=32),
    contenders=only_when_slow(KMEANS, "faiss, float32"),
    judgement=SAME_INERTIA,
)


N_MEDOIDS = 20


def _tenfold_medoids(data: Data, meter: Meter) -> Quality:
    import tenfold

    model = tenfold.KMedoids(N_MEDOIDS, random_state=0)
    meter.fit(model.fit, data["X"])
    return {"loss": model.inertia_}


def _medoids(name: str, **parameters: Any) -> Callable[[Data, Meter], Quality]:
    """The package takes distances, which are made in the time of the fit; in float32, with which it is faster."""

    def run(data: Data, meter: Meter) -> Quality:
        import kmedoids
        from sklearn.metrics import pairwise_distances

        def fit(X: Any) -> Any:
            return getattr(kmedoids, name)(pairwise_distances(X).astype(np.float32), N_MEDOIDS, random_state=0, **parameters)

        return {"loss": float(meter.fit(fit, data["X"]).loss)}

    return run


KMEDOIDS = Workload(
    name="kmedoids",
    about="k-medoids, 5k x 10, k=20 on 20 overlapping blobs, Euclidean, distances included",
    make=lambda shrink: make.blobs(make.shrunk(5_000, shrink), 10, n_blobs=20, n_clusters=20, seed=37),
    contenders=(
        Contender("tenfold KMedoids", "tenfold", _tenfold_medoids, "tenfold"),
        Contender("kmedoids fasterpam", "kmedoids", _medoids("fasterpam", n_cpu=1)),
        Contender("kmedoids fasterpam, 2 threads", "kmedoids", _medoids("fasterpam", n_cpu=2)),
        Contender("kmedoids fastpam1", "kmedoids", _medoids("fastpam1"), slow=True),
    ),
    judgement=Judgement("loss", higher=False, tolerance=1e-2),  # local minima: which one depends on where a fit begins
)


def _pca(name: str, path: str, role: Any = "peer", slow: bool = False, **parameters: Any) -> Contender:
    run = fit_predict(path, explained, method="transform", target=False, **parameters)
    return Contender(name, path.split(".")[0], run, role, slow)


SKLEARN_PCA = "sklearn.decomposition.PCA"
PCA = Workload(
    name="pca",
    about="top 20 of 500 principal components, 100k x 500, 30 decaying factors under unit noise",
    make=lambda shrink: make.factors(make.shrunk(100_000, shrink), 500, seed=40),
    contenders=(
        _pca("tenfold PCA", "tenfold.PCA", "tenfold", n_components=20),
        _pca("sklearn covariance_eigh", SKLEARN_PCA, n_components=20, svd_solver="covariance_eigh"),
        _pca(
            "sklearnex covariance_eigh",
            "sklearnex.decomposition.PCA",
            n_components=20,
            svd_solver="covariance_eigh",
        ),
        _pca("sklearn arpack", SKLEARN_PCA, slow=True, n_components=20, svd_solver="arpack"),
        # Approximate, so it may not set the pace; told for comparison.
        _pca("sklearn randomized", SKLEARN_PCA, "reference", True, n_components=20, svd_solver="randomized"),
    ),
    judgement=Judgement("explained by 20", higher=True, tolerance=1e-8),
)

WORKLOADS = (KMEANS_SMALL, KMEANS_LARGE, KMEDOIDS, PCA)
