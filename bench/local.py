"""Local regression: a line around every point."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload, build

BANDWIDTH = [0.3, 0.3]


def wavy(n: int, seed: int) -> Data:
    """A wave in two columns, under noise; the wave without noise to judge by."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    wave = np.sin(2 * X[:, 0]) + X[:, 1] ** 2
    return {"X": X, "y": wave + 0.1 * rng.standard_normal(n), "wave": wave}


def _judged(data: Data, predicted: Any) -> Quality:
    return {"error": float(np.sqrt(np.mean((predicted - data["wave"]) ** 2)))}


def _tenfold(data: Data, meter: Meter) -> Quality:
    model = build("tenfold.KernelRegressor", bandwidth=BANDWIDTH)
    return _judged(data, meter.fit(lambda: model.fit(data["X"], data["y"]).predict(data["X"])))


def _statsmodels(data: Data, meter: Meter) -> Quality:
    def run() -> Any:
        kernel = build(
            "statsmodels.nonparametric.kernel_regression.KernelReg", endog=data["y"], exog=data["X"], var_type="cc",
            reg_type="ll", bw=BANDWIDTH, rng=np.random.default_rng(0),
        )  # fmt: skip
        return kernel.fit(data["X"])[0]

    return _judged(data, meter.fit(run))


LOCAL_LINES = Workload(
    name="local_lines",
    about="local lines at all of 3k points in two columns, Gaussian kernel of given bandwidth",
    make=lambda shrink: wavy(make.shrunk(3000, shrink), seed=87),
    contenders=(
        Contender("tenfold KernelRegressor", "tenfold", _tenfold, "tenfold"),
        Contender("statsmodels KernelReg", "statsmodels", _statsmodels),
    ),
    judgement=Judgement("error", higher=False, tolerance=1e-6),
)

WORKLOADS = (LOCAL_LINES,)
