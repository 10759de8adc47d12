"""Kernel machines: fits, and predictions of new rows."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload


def _smooth(shrink: int) -> Data:
    rng, n = np.random.default_rng(74), make.shrunk(5_000, shrink)
    X = rng.standard_normal((2 * n, 20))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + np.tanh(X[:, 3:8].sum(axis=1)) + 0.3 * rng.standard_normal(2 * n)
    return make.hold_out(X, y, n)


def _few_columns(shrink: int) -> Data:
    rng, n = np.random.default_rng(75), make.shrunk(2_000, shrink)
    X = rng.uniform(-2, 2, (2 * n, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] / 2 + np.cos(X[:, 3] + X[:, 4]) + 0.2 * rng.standard_normal(2 * n)
    return make.hold_out(X, y, n)


def _two_classes(shrink: int) -> Data:
    rng, n = np.random.default_rng(76), make.shrunk(1_000, shrink)
    X = rng.uniform(-2, 2, (2 * n, 5))
    lead = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] / 2 + np.cos(X[:, 3] + X[:, 4]) + 0.5 * rng.standard_normal(2 * n)
    return make.hold_out(X, (lead > 0.5).astype(np.int64), n)


def _blobs(shrink: int) -> Data:
    rng, n = np.random.default_rng(52), make.shrunk(5_000, shrink)
    return {"X": 3.0 * rng.standard_normal((10, 20))[rng.integers(0, 10, n)] + rng.standard_normal((n, 20))}


def _components(module: str, **solver: str) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        model = importlib.import_module(module).KernelPCA(10, kernel="rbf", gamma=1 / 20, **solver)
        meter.fit(model.fit, data["X"])
        return {"eigenvalues": float(model.eigenvalues_.sum())}

    return run


def _r2(data: Data, predicted: np.ndarray) -> float:
    rest = data["yt"] - predicted
    return float(1 - (rest @ rest) / ((data["yt"] - data["yt"].mean()) ** 2).sum())


def _ridge(module: str) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        model = importlib.import_module(module).KernelRidge(alpha=0.1, kernel="rbf", gamma=0.05)
        meter.fit(model.fit, data["X"], data["y"])
        return {"R2": _r2(data, meter.predict(model.predict, data["Xt"]))}

    return run


def _process(module: str, kernels: str) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        space = importlib.import_module(kernels)
        kernel = space.ConstantKernel() * space.RBF() + space.WhiteKernel()
        model = importlib.import_module(module).GaussianProcessRegressor(kernel, normalize_y=True)
        meter.fit(model.fit, data["X"], data["y"])
        return {"R2": _r2(data, meter.predict(model.predict, data["Xt"])), "evidence": float(model.log_marginal_likelihood_value_)}

    return run


def _many_rows(shrink: int) -> Data:
    rng, n = np.random.default_rng(77), make.shrunk(100_000, shrink)
    X = rng.uniform(-2, 2, (n + 5_000, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] / 2 + np.cos(X[:, 3] + X[:, 4]) + 0.2 * rng.standard_normal(n + 5_000)
    return make.hold_out(X, y, 5_000)


def _sparse_process(data: Data, meter: Meter) -> Quality:
    import tenfold

    model = tenfold.SparseGaussianProcessRegressor(normalize_y=True)
    meter.fit(model.fit, data["X"], data["y"])
    return {"R2": _r2(data, meter.predict(model.predict, data["Xt"])), "bound": float(model.lower_bound_)}


def _process_of_some(module: str, kernels: str, rows: int) -> Any:
    """There is no other of all the rows: the exact process of some of them."""
    whole = _process(module, kernels)

    def run(data: Data, meter: Meter) -> Quality:
        return {"R2": whole({**data, "X": data["X"][:rows], "y": data["y"][:rows]}, meter)["R2"]}

    return run


def _process_of_classes(module: str, kernels: str) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        space = importlib.import_module(kernels)
        model = importlib.import_module(module).GaussianProcessClassifier(space.ConstantKernel() * space.RBF())
        meter.fit(model.fit, data["X"], data["y"])
        chances = meter.predict(model.predict_proba, data["Xt"])[np.arange(len(data["yt"])), data["yt"]]
        return {"evidence": float(model.log_marginal_likelihood_value_), "log loss": float(-np.log(chances).mean())}

    return run


KRR = Workload(
    name="krr",
    about="kernel ridge, 5k x 20, Gaussian kernel; 5k new rows",
    make=_smooth,
    contenders=(
        Contender("tenfold KernelRidge", "tenfold", _ridge("tenfold"), "tenfold"),
        Contender("sklearn KernelRidge", "sklearn", _ridge("sklearn.kernel_ridge")),
    ),
    judgement=Judgement("R2", higher=True, tolerance=1e-6),
)
GPR = Workload(
    name="gpr",
    about="Gaussian process, 2k x 5, c * RBF + noise, the evidence maximised; 2k new rows",
    make=_few_columns,
    contenders=(
        Contender("tenfold GaussianProcessRegressor", "tenfold", _process("tenfold", "tenfold.kernels"), "tenfold"),
        Contender(
            "sklearn GaussianProcessRegressor", "sklearn", _process("sklearn.gaussian_process", "sklearn.gaussian_process.kernels")
        ),
    ),
    judgement=Judgement("evidence", higher=True, tolerance=1e-4),
)
GPC = Workload(
    name="gpc",
    about="Gaussian process of two classes, 1k x 5, c * RBF, the evidence maximised; 1k new rows",
    make=_two_classes,
    contenders=(
        Contender("tenfold GaussianProcessClassifier", "tenfold", _process_of_classes("tenfold", "tenfold.kernels"), "tenfold"),
        Contender(
            "sklearn GaussianProcessClassifier",
            "sklearn",
            _process_of_classes("sklearn.gaussian_process", "sklearn.gaussian_process.kernels"),
        ),
    ),
    judgement=Judgement("evidence", higher=True, tolerance=1e-4),
)

KERNEL_PCA = Workload(
    name="kernel_pca",
    about="kernel principal components, 5k x 20, 10 blobs, Gaussian kernel, 10 components",
    make=_blobs,
    contenders=(
        Contender("tenfold KernelPCA", "tenfold", _components("tenfold"), "tenfold"),
        Contender("sklearn arpack", "sklearn", _components("sklearn.decomposition", eigen_solver="arpack")),
    ),
    judgement=Judgement("eigenvalues", higher=True, tolerance=1e-6),
)

SGPR = Workload(
    name="sgpr",
    about="Gaussian process by 600 points, 100k x 5, the bound maximised; beside exact ones of some of the rows; 5k new rows",
    make=_many_rows,
    contenders=(
        Contender("tenfold SparseGaussianProcessRegressor", "tenfold", _sparse_process, "tenfold"),
        Contender("tenfold, exact, of 2,000 rows", "tenfold", _process_of_some("tenfold", "tenfold.kernels", 2_000)),
        Contender(
            "sklearn, exact, of 2,000 rows",
            "sklearn",
            _process_of_some("sklearn.gaussian_process", "sklearn.gaussian_process.kernels", 2_000),
        ),
    ),
    judgement=Judgement("R2", higher=True, tolerance=0.01),
)

WORKLOADS = (KRR, GPR, SGPR, GPC, KERNEL_PCA)
