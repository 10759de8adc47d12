"""Embeddings: fits, and places of new rows."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload


def _roll(rows: int) -> Any:
    def made(shrink: int) -> Data:
        rng, n = np.random.default_rng(81), make.shrunk(rows, shrink)
        turn, width = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n)), 21 * rng.uniform(size=n)
        return {"X": np.column_stack([turn * np.cos(turn), width, turn * np.sin(turn)])}

    return made


def _trust(X: np.ndarray, places: np.ndarray) -> float:
    from sklearn.manifold import trustworthiness

    some = np.random.default_rng(0).permutation(len(X))[:2000]
    return float(trustworthiness(X[some], places[some], n_neighbors=5))


def _embedded(module: str, name: str, **options: Any) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        model = getattr(importlib.import_module(module), name)(**options)
        meter.fit(model.fit, data["X"])
        meter.predict(model.transform, data["X"][:500] + 0.01)
        return {"trust": _trust(data["X"], model.embedding_)}

    return run


LLE = Workload(
    name="lle",
    about="locally linear embedding, a roll of 5k x 3, 12 neighbours; 500 new rows",
    make=_roll(5_000),
    contenders=(
        Contender(
            "tenfold LocallyLinearEmbedding",
            "tenfold",
            _embedded("tenfold", "LocallyLinearEmbedding", n_neighbors=12),
            "tenfold",
        ),
        Contender(
            "sklearn arpack",
            "sklearn",
            _embedded(
                "sklearn.manifold", "LocallyLinearEmbedding", n_neighbors=12, eigen_solver="arpack", random_state=0
            ),
        ),
    ),
    judgement=Judgement("trust", higher=True, tolerance=1e-3),
)
ISOMAP = Workload(
    name="isomap",
    about="Isomap, a roll of 2k x 3, 10 neighbours; 500 new rows",
    make=_roll(2_000),
    contenders=(
        Contender("tenfold Isomap", "tenfold", _embedded("tenfold", "Isomap", n_neighbors=10), "tenfold"),
        Contender("sklearn Isomap", "sklearn", _embedded("sklearn.manifold", "Isomap", n_neighbors=10)),
    ),
    judgement=Judgement("trust", higher=True, tolerance=1e-3),
)


def _cloud(rows: int, columns: int) -> Any:
    def made(shrink: int) -> Data:
        rng, n = np.random.default_rng(82), make.shrunk(rows, shrink)
        return {"X": rng.normal(size=(n, columns)) * np.geomspace(5, 1, columns)}

    return made


def _scaled(module: str, **options: Any) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        model = importlib.import_module(module).MDS(**options)
        meter.fit(model.fit, data["X"])
        return {"stress": float(model.stress_)}

    return run


STEPS: dict[str, Any] = dict(init="random", n_init=1, max_iter=100, eps=0.0, random_state=0)
SCALING = Workload(
    name="mds",
    about="metric scaling, 1.5k x 20, 100 steps from the same start",
    make=_cloud(1_500, 20),
    contenders=(
        Contender("tenfold MDS", "tenfold", _scaled("tenfold", **STEPS), "tenfold"),
        Contender("sklearn MDS", "sklearn", _scaled("sklearn.manifold", **STEPS)),
    ),
    judgement=Judgement("stress", higher=False, tolerance=1e-6),
)


def _groups(rows: int, columns: int, spread: float) -> Any:
    def made(shrink: int) -> Data:
        rng, n = np.random.default_rng(83), make.shrunk(rows, shrink)
        return {"X": rng.normal(size=(10, columns))[rng.integers(0, 10, n)] * spread + rng.normal(size=(n, columns))}

    return made


def _mapped(module: str, **options: Any) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        model = importlib.import_module(module).TSNE(**options)
        meter.fit(model.fit, data["X"])
        if hasattr(model, "transform"):
            meter.predict(model.transform, data["X"][:500] + 0.01)
        return {"divergence": float(model.kl_divergence_)}

    return run


def _open_tsne(data: Data, meter: Meter) -> Quality:
    made = importlib.import_module("openTSNE").TSNE(n_jobs=2, random_state=0, initialization="pca")
    found: list[Any] = []
    meter.fit(lambda X: found.append(made.fit(X)), data["X"])
    return {"divergence": float(found[0].kl_divergence)}


def _neighbours(name: str, about: str, data: Any) -> Workload:
    return Workload(
        name=name,
        about=about,
        make=data,
        contenders=(
            Contender("tenfold TSNE", "tenfold", _mapped("tenfold"), "tenfold"),
            Contender("sklearn TSNE", "sklearn", _mapped("sklearn.manifold", n_jobs=2)),
            Contender("openTSNE", "openTSNE", _open_tsne),
        ),
        judgement=Judgement("divergence", higher=False, tolerance=0.03),
    )


TSNE = _neighbours("tsne", "t-SNE, ten groups, 1,797 x 64; 500 new rows", _groups(1_797, 64, 0.5))
TSNE_10K = _neighbours("tsne_10k", "t-SNE, ten groups, 10k x 20; 500 new rows", _groups(10_000, 20, 2.0))

WORKLOADS = (LLE, ISOMAP, SCALING, TSNE, TSNE_10K)
