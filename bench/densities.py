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

WORKLOADS = (GMM_FULL,)
