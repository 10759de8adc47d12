"""Non-negative factorisation: counts by the Kullback-Leibler divergence, and by squares."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload


def _counts(shrink: int) -> Data:
    rng, n = np.random.default_rng(41), max(100, make.shrunk(2000, shrink))
    return {"X": rng.poisson(rng.gamma(0.5, 1, (n, 20)) @ rng.gamma(0.5, 1, (20, n))).astype(float)}


def _factorise(module: str, **more: Any) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        model = importlib.import_module(module).NMF(20, random_state=0, **more)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # steps are limited
            W = meter.fit(model.fit_transform, data["X"])
        X, Y = data["X"], np.maximum(W @ model.components_, 1e-12)
        if model.beta_loss == "frobenius":
            return {"mean square": float(((X - Y) ** 2).mean()), "steps": float(model.n_iter_)}
        logs = np.where(X > 0, X * np.log(np.maximum(X, 1e-12) / Y), 0.0)
        return {"KL/n": float((logs - X + Y).mean()), "steps": float(model.n_iter_)}

    return run


STEPS: dict[str, Any] = dict(beta_loss="kullback-leibler", solver="mu", max_iter=100, tol=0, init="random")
NMF_KL = Workload(
    name="nmf_kl",
    about="non-negative factorisation of 2k x 2k Poisson counts, 20 components, 100 multiplicative steps",
    make=_counts,
    contenders=(
        Contender("tenfold NMF", "tenfold", _factorise("tenfold", **STEPS), "tenfold"),
        Contender("sklearn NMF", "sklearn", _factorise("sklearn.decomposition", **STEPS)),
    ),
    judgement=Judgement("KL/n", higher=False, tolerance=1e-6),
)
NMF_SQUARES = Workload(
    name="nmf_squares",
    about="the same by squares, coordinate descent until it settles",
    make=_counts,
    contenders=(
        Contender("tenfold NMF", "tenfold", _factorise("tenfold", init="random"), "tenfold"),
        Contender("sklearn NMF", "sklearn", _factorise("sklearn.decomposition", init="random")),
    ),
    judgement=Judgement("mean square", higher=False, tolerance=1e-4),
)

WORKLOADS = (NMF_KL, NMF_SQUARES)
