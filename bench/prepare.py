"""Scaling and transforming columns, 1 million rows x 50 columns: fit, then transform the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload, build, fit_predict

ROWS, COLUMNS = 1_000_000, 50


def columns(n: int, seed: int = 70) -> Data:
    """Normal and skewed columns, side by side."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n, COLUMNS))
    X[:, ::2] = rng.normal(size=(n, COLUMNS // 2)) * 3 + 1
    return {"X": X, "Xt": X}


def size(data: Data, model: Any, transformed: np.ndarray) -> Quality:
    """The mean size of transformed values, over the first rows."""
    return {"mean |z|": float(np.abs(transformed[:20_000]).mean())}


def race_of(name: str, what: str, tolerance: float = 1e-6) -> Workload:
    def contender(library: str, path: str, role: Any = "peer") -> Contender:
        return Contender(f"{library} {name}", library, fit_predict(path, size, method="transform", target=False), role)

    return Workload(
        name=f"prepare_1m_{what}",
        about=f"{name}: fit and transform, 1M x {COLUMNS}, normal and skewed columns",
        make=lambda shrink: columns(make.shrunk(ROWS, shrink)),
        contenders=(
            contender("tenfold", f"tenfold.{name}", "tenfold"),
            contender("sklearn", f"sklearn.preprocessing.{name}"),
        ),
        judgement=Judgement("mean |z|", higher=False, tolerance=tolerance),
    )


def race_back(name: str, what: str, tolerance: float = 1e-6) -> Workload:
    """Fit, then the rows that were transformed brought back."""

    def contender(library: str, path: str, role: Any = "peer") -> Contender:
        def run(data: Data, meter: Meter) -> Quality:
            model = build(path)
            meter.fit(model.fit, data["X"])
            return size(data, model, meter.predict(model.inverse_transform, model.transform(data["X"])))

        return Contender(f"{library} {name}", library, run, role)

    return Workload(
        name=f"prepare_1m_{what}_back",
        about=f"{name}: fit, then inverse_transform of transformed rows, 1M x {COLUMNS}",
        make=lambda shrink: columns(make.shrunk(ROWS, shrink)),
        contenders=(
            contender("tenfold", f"tenfold.{name}", "tenfold"),
            contender("sklearn", f"sklearn.preprocessing.{name}"),
        ),
        judgement=Judgement("mean |z|", higher=False, tolerance=tolerance),
    )


WORKLOADS = (
    race_of("StandardScaler", "standard"),
    race_of("MinMaxScaler", "minmax"),
    race_of("MaxAbsScaler", "maxabs"),
    race_of("RobustScaler", "robust"),
    race_of("QuantileTransformer", "quantile", tolerance=0.02),  # other rows are looked at
    race_of("PowerTransformer", "power"),
    race_of("Normalizer", "normalize"),
    race_back("StandardScaler", "standard"),
    race_back("MinMaxScaler", "minmax"),
    race_back("RobustScaler", "robust"),
    race_back("QuantileTransformer", "quantile", tolerance=0.02),
    race_back("PowerTransformer", "power"),
)
