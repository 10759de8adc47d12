"""Generalised linear models: Poisson regression without a penalty, as every contender has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload, build


def counts(n: int, p: int, seed: int) -> Data:
    """Poisson counts whose logarithmic means have standard deviation 0.7, a third of them zero."""
    rng = np.random.default_rng(seed)
    n_test = n // 10
    X = make.correlated(rng, n + n_test, p)
    signal = X @ rng.standard_normal(p)
    return make.hold_out(X, rng.poisson(np.exp(0.1 + 0.7 * signal / signal.std())).astype(np.float64), n_test)


def mean_loss(data: Data, coef: np.ndarray, intercept: float) -> Quality:
    """Half the mean deviance of the rows fitted, up to a constant: lower is better converged."""
    score = data["X"] @ np.asarray(coef) + intercept
    return {"objective": float((np.exp(score) - data["y"] * score).mean())}


def _fit(name: str, library: str, path: str, role: Any = "peer", slow: bool = False, **parameters: Any) -> Contender:
    def run(data: Data, meter: Meter) -> Quality:
        model = build(path, alpha=0.0, **parameters)
        meter.fit(model.fit, data["X"], data["y"])
        return mean_loss(data, model.coef_, float(model.intercept_))

    return Contender(name, library, run, role, slow)


def _statsmodels(data: Data, meter: Meter) -> Quality:
    import statsmodels.api as sm

    model = sm.GLM(data["y"], sm.add_constant(data["X"]), family=sm.families.Poisson())
    found = meter.fit(model.fit).params
    return mean_loss(data, found[1:], float(found[0]))


POISSON = Workload(
    name="poisson_glm",
    about="Poisson regression, 200k x 50 correlated Gaussian columns, no penalty",
    make=lambda shrink: counts(make.shrunk(200_000, shrink), 50, seed=91),
    contenders=(
        _fit("tenfold PoissonRegressor", "tenfold", "tenfold.PoissonRegressor", "tenfold"),
        _fit("sklearn lbfgs", "sklearn", "sklearn.linear_model.PoissonRegressor"),
        _fit("sklearn newton-cholesky", "sklearn", "sklearn.linear_model.PoissonRegressor", solver="newton-cholesky"),
        _fit("glum irls-ls", "glum", "glum.GeneralizedLinearRegressor", family="poisson"),
        Contender("statsmodels GLM", "statsmodels", _statsmodels),
        _fit("sklearn lbfgs, tol=1e-8", "sklearn", "sklearn.linear_model.PoissonRegressor", "reference", tol=1e-8, max_iter=2000),
    ),
    judgement=Judgement("objective", higher=False, tolerance=1e-6),
)

WORKLOADS = (POISSON,)
