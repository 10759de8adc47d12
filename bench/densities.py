"""Densities: fits, and log densities of new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload

COMPONENTS, STEPS = 20, 20


def _mixed(shrink: int) -> Data:
    found = dict(make.gaussian_classes(make.shrunk(100_000, shrink), 20, COMPONENTS, seed=33, apart=0.8))
    rows = np.random.default_rng(34).choice(len(found["X"]), COMPONENTS, replace=False)
    return found | {"start": found["X"][rows].copy()}


def _mixture(module: str) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        import importlib

        precision = np.linalg.inv(np.cov(data["X"].T))
        model = importlib.import_module(module).GaussianMixture(
            COMPONENTS, max_iter=STEPS, tol=0, means_init=data["start"], precisions_init=np.repeat(precision[None], COMPONENTS, axis=0),
            weights_init=np.full(COMPONENTS, 1 / COMPONENTS), init_params="random_from_data", random_state=0,
        )  # fmt: skip
        meter.fit(model.fit, data["X"])
        return {"log likelihood": float(meter.predict(model.score_samples, data["Xt"]).mean())}

    return run


def _daal(data: Data, meter: Meter) -> Quality:
    import daal4py

    spread, shares = np.cov(data["X"].T), np.full((1, COMPONENTS), 1 / COMPONENTS)
    model = daal4py.em_gmm(COMPONENTS, maxIterations=STEPS, accuracyThreshold=1e-300)
    found = meter.fit(model.compute, data["X"], shares, data["start"], [spread.copy() for _ in range(COMPONENTS)])
    parts = zip(found.weights[0], found.means, found.covariances, strict=True)
    joint = [np.log(share) + multivariate_normal(mean, C).logpdf(data["Xt"]) for share, mean, C in parts]
    return {"log likelihood": float(logsumexp(joint, axis=0).mean())}


GMM_FULL = Workload(
    name="gmm_full",
    about="Gaussian mixture, 100k x 20, 20 components with covariances of their own; 20 steps of EM from the same start",
    make=_mixed,
    contenders=(
        Contender("tenfold GaussianMixture", "tenfold", _mixture("tenfold"), "tenfold"),
        Contender("sklearn GaussianMixture", "sklearn", _mixture("sklearn.mixture")),
        Contender("daal4py em_gmm", "daal4py", _daal),
    ),
    judgement=Judgement("log likelihood", higher=True, tolerance=1e-6),
)


# --- kernel densities ---

EXACT = 1e-10  # errors below count as this: no statistic could feel them


def _whitened(n: int, d: int) -> Data:
    """Five blobs, whitened, so that the kernels of all contenders are the same; densities at 200 queries by all pairs."""
    rng = np.random.default_rng(70 + d)
    centers = rng.normal(0, 2, (5, d))
    Z = centers[rng.integers(0, 5, n + n // 10)] + rng.standard_normal((n + n // 10, d))
    root = np.linalg.cholesky(np.atleast_2d(np.cov(Z[:n].T)))
    Z = np.ascontiguousarray(np.linalg.solve(root, (Z - Z[:n].mean(axis=0)).T).T)
    X, Xt, h = Z[:n].copy(), Z[n:].copy(), n ** (-1 / (d + 4))
    squares = np.stack([((X - q) ** 2).sum(axis=1) for q in Xt[:200]])
    exact = np.exp(-squares / (2 * h * h)).mean(axis=1) / (2 * np.pi * h * h) ** (d / 2)
    return {"X": X, "Xt": Xt, "h": np.array([h]), "exact": exact}


def _off(data: Data, densities: Any) -> Quality:
    error = np.abs(densities[: len(data["exact"])] / data["exact"] - 1)
    return {"error": max(float(error.max()), EXACT), "max error": float(error.max()), "median error": float(np.median(error))}


def _kernel(module: str, **parameters: Any) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        import importlib

        model = importlib.import_module(module).KernelDensity(bandwidth=float(data["h"][0]), **parameters)
        return _off(data, np.exp(meter.fit(lambda: model.fit(data["X"]).score_samples(data["Xt"]))))

    return run


def _scipy(data: Data, meter: Meter) -> Quality:
    from scipy.stats import gaussian_kde

    return _off(data, meter.fit(lambda: gaussian_kde(data["X"].T, bw_method=float(data["h"][0]))(data["Xt"].T)))


def _kde(d: int) -> Workload:
    return Workload(
        name=f"kde_d{d}",
        about=f"kernel density, 100k rows x {d}, 10k queries: five blobs, Gaussian kernel, Scott's bandwidth; fit and densities",
        make=lambda shrink: _whitened(make.shrunk(100_000, shrink), d),
        contenders=(
            Contender("tenfold KernelDensity", "tenfold", _kernel("tenfold"), "tenfold"),
            Contender("tenfold rtol=1e-4", "tenfold", _kernel("tenfold", rtol=1e-4), "reference"),
            Contender("scipy gaussian_kde", "scipy", _scipy),
            Contender("sklearn rtol=1e-4", "sklearn", _kernel("sklearn.neighbors", rtol=1e-4)),
            Contender("sklearn KernelDensity", "sklearn", _kernel("sklearn.neighbors"), slow=True),
        ),
        judgement=Judgement("error", higher=False, tolerance=1e-9),
    )


WORKLOADS = (GMM_FULL, _kde(1), _kde(2), _kde(5))
