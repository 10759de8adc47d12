"""Generative classifiers (QDA, LDA, Gaussian naive Bayes): one fit, and ten-fold cross-validation."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, OwnCost, Quality, Workload, build, fit_predict
from .scores import accuracy

FOLDS = 10
DISCRIMINANT = "sklearn.discriminant_analysis"
Parameters = dict[str, Any]
# Folds are drawn differently by each library, so accuracies agree only to their sampling error.
SAME_ACCURACY = Judgement("accuracy", higher=True, tolerance=2e-3)


@cache
def _classes(shrink: int) -> Data:
    """Ten classes, 500k x 50; kept, because six workloads race on the same table."""
    return make.gaussian_classes(make.shrunk(500_000, shrink), 50, 10, seed=50)


@contextmanager
def _worker_processes() -> Iterator[None]:
    """One worker process a thread, each with single-threaded BLAS."""
    import joblib

    workers = int(os.environ["OMP_NUM_THREADS"])
    with joblib.parallel_config(backend="loky", n_jobs=workers, inner_max_num_threads=1):
        yield


def _cross_validated(path: str, processes: bool, parameters: Parameters) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        from sklearn.model_selection import cross_val_score

        model = build(path, **parameters)
        with _worker_processes() if processes else nullcontext():
            scores = meter.fit(cross_val_score, model, data["X"], data["y"], cv=FOLDS)
        return {"accuracy": float(np.mean(scores))}

    return run


def _tenfold_cross_validated(name: str) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        import tenfold

        X, y = data["X"], data["y"]
        result = meter.fit(tenfold.cross_validate, build(f"tenfold.{name}"), X, y, folds=FOLDS)
        return {"accuracy": float(np.mean(result.predictions == y))}

    return run


def _tenfold_once(name: str) -> Any:
    """One fit, and the prediction of every row once: what cross-validation also has to do."""

    def run(data: Data, meter: Meter) -> Quality:
        model = build(f"tenfold.{name}")
        meter.fit(model.fit, data["X"], data["y"])
        return {"accuracy": float(np.mean(meter.predict(model.predict, data["X"]) == data["y"]))}

    return run


def _pair(short: str, name: str, peers: tuple[tuple[str, str, Parameters, bool], ...]) -> tuple[Workload, Workload]:
    """The workload of one fit and that of cross-validation; peers are (label, path, parameters, slow)."""
    once = f"tenfold {name}, fit and predict"
    single = Workload(
        name=short,
        about=f"{name}, 500k x 50, ten overlapping Gaussian classes; fit, and predict 50k rows",
        make=_classes,
        contenders=(
            Contender(f"tenfold {name}", "tenfold", fit_predict(f"tenfold.{name}", accuracy), "tenfold"),
            *(
                Contender(label, "sklearn", fit_predict(path, accuracy, **parameters))
                for label, path, parameters, _ in peers
            ),
        ),
        judgement=SAME_ACCURACY,
    )
    repeated = Workload(
        name=f"{short}_cv10",
        about=f"{name}, ten-fold cross-validation on the data of {short}",
        make=_classes,
        contenders=(
            Contender("tenfold cross_validate", "tenfold", _tenfold_cross_validated(name), "tenfold"),
            Contender(once, "tenfold", _tenfold_once(name), "reference"),
            *(
                Contender(
                    f"{label}, {'worker processes' if processes else 'one process'}",
                    "sklearn",
                    _cross_validated(path, processes, parameters),
                    slow=slow,
                    processes=processes,
                )
                for label, path, parameters, slow in peers
                for processes in (True, False)
            ),
        ),
        judgement=SAME_ACCURACY,
        own_cost=OwnCost(once, at_most=3.0),
    )
    return single, repeated


WORKLOADS = (
    *_pair(
        "qda",
        "QuadraticDiscriminantAnalysis",
        (
            (
                "sklearn QDA eigen",
                f"{DISCRIMINANT}.QuadraticDiscriminantAnalysis",
                {"solver": "eigen"},
                False,
            ),
            ("sklearn QDA svd", f"{DISCRIMINANT}.QuadraticDiscriminantAnalysis", {}, True),
        ),
    ),
    *_pair(
        "lda",
        "LinearDiscriminantAnalysis",
        (
            ("sklearn LDA lsqr", f"{DISCRIMINANT}.LinearDiscriminantAnalysis", {"solver": "lsqr"}, False),
            ("sklearn LDA svd", f"{DISCRIMINANT}.LinearDiscriminantAnalysis", {}, True),
        ),
    ),
    *_pair(
        "gaussian_nb",
        "GaussianNB",
        (("sklearn GaussianNB", "sklearn.naive_bayes.GaussianNB", {}, False),),
    ),
)
