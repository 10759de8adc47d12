"""Support vector machines with kernels: the dual objective tells who has solved the problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .plan import Contender, Data, Judgement, Quality, Workload, fit_predict
from .scores import accuracy, r2


def _overlapping(n: int, p: int, spread: float, seed: int) -> Any:
    """Two classes of four Gaussian blobs each, which overlap; one label in twenty is flipped."""

    def made(shrink: int) -> Data:
        rng, rows, test = np.random.default_rng(seed), make.shrunk(n, shrink), make.shrunk(5_000, shrink)
        blob = rng.integers(0, 8, rows + test)
        X = rng.standard_normal((rows + test, p)) + spread * rng.standard_normal((8, p))[blob]
        return make.hold_out(X, ((blob % 2) ^ (rng.random(rows + test) < 0.05)).astype(np.int64), test)

    return made


def _surface(shrink: int) -> Data:
    data = make.friedman(make.shrunk(10_000, shrink), 10, 11, labels=False)
    scale = data["y"].std()
    return dict(data) | {"y": data["y"] / scale, "yt": data["yt"] / scale}


def _dual(model: Any, data: Data) -> float:
    """Σ tᵢ cᵢ − ½ cᵀ K c, from what the model says of its support vectors."""
    c, rows = np.asarray(model.dual_coef_)[0], np.asarray(model.support_)
    said = model.decision_function if hasattr(model, "decision_function") else model.predict
    square = float(c @ (np.asarray(said(data["X"][rows])).ravel() - float(np.ravel(model.intercept_)[0])))
    if hasattr(model, "classes_"):
        return float(np.abs(c).sum()) - 0.5 * square
    return float(c @ data["y"][rows]) - model.epsilon * float(np.abs(c).sum()) - 0.5 * square


def _classes(data: Data, model: Any, predicted: np.ndarray) -> Quality:
    return accuracy(data, model, predicted) | {"objective": _dual(model, data), "vectors": float(np.sum(model.n_support_))}


def _numbers(data: Data, model: Any, predicted: np.ndarray) -> Quality:
    return r2(data, model, predicted) | {"objective": _dual(model, data), "vectors": float(len(model.support_))}


def _race(name: str, about: str, made: Any, kind: str, score: Any) -> Workload:
    return Workload(
        name=name,
        about=about,
        make=made,
        contenders=(
            Contender(f"tenfold {kind}", "tenfold", fit_predict(f"tenfold.{kind}", score), "tenfold"),
            Contender(f"sklearnex {kind}", "sklearnex", fit_predict(f"sklearnex.svm.{kind}", score)),
            Contender(f"sklearn {kind}", "sklearn", fit_predict(f"sklearn.svm.{kind}", score, cache_size=1000), slow=True),
        ),
        judgement=Judgement("objective", higher=True, tolerance=1e-5),
    )


WORKLOADS = (
    _race("svc_rbf_10kx20", "SVC, 10k x 20, Gaussian kernel, C = 1; 5k new rows", _overlapping(10_000, 20, 0.8, 8), "SVC", _classes),
    _race("svc_rbf_20kx50", "SVC, 20k x 50, Gaussian kernel, C = 1; 5k new rows", _overlapping(20_000, 50, 0.5, 9), "SVC", _classes),
    _race("svr_rbf_10kx10", "SVR, 10k x 10, Gaussian kernel, C = 1, epsilon = 0.1; 2k new rows", _surface, "SVR", _numbers),
)
