"""Orthogonal matching pursuit: few columns out of very many."""

from __future__ import annotations

from typing import Any

import numpy as np

from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload, build

ATOMS, ROWS, COLUMNS = 50, 1000, 5000


def atoms(n: int, p: int, k: int, seed: int) -> Data:
    """Gaussian columns of length 1; k of them make the target, with one per cent of noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X /= np.linalg.norm(X, axis=0)
    w = np.zeros(p)
    w[rng.choice(p, k, replace=False)] = rng.choice([-1, 1], k) * rng.uniform(1, 2, k)
    return {"X": X, "y": X @ w + 0.01 * rng.standard_normal(n), "truth": w[None]}


def _quality(data: Data, coef: Any) -> Quality:
    w = data["truth"][0]
    rest = data["y"] - data["X"] @ coef
    return {
        "squares": float(rest @ rest),
        "recall": float(np.mean(coef[w != 0] != 0)),
        "nonzero": float(np.count_nonzero(coef)),
    }


def _count(data: Data) -> int:
    return int(np.count_nonzero(data["truth"]))


def _learner(library: str, role: Any) -> Contender:
    module = "tenfold" if library == "tenfold" else f"{library}.linear_model"

    def run(data: Data, meter: Meter) -> Quality:
        model = build(f"{module}.OrthogonalMatchingPursuit", n_nonzero_coefs=_count(data), fit_intercept=False)
        meter.fit(model.fit, data["X"], data["y"])
        return _quality(data, model.coef_)

    return Contender(f"{library} OrthogonalMatchingPursuit", library, run, role)


def _function(data: Data, meter: Meter) -> Quality:
    from sklearn.linear_model import orthogonal_mp

    return _quality(data, meter.fit(orthogonal_mp, data["X"], data["y"], n_nonzero_coefs=_count(data)))


OMP = Workload(
    name="omp",
    about="orthogonal matching pursuit, 1k x 5k columns of length 1, 50 of them matter, noise 1 %",
    make=lambda shrink: atoms(ROWS // min(shrink, 4), COLUMNS // min(shrink, 10), ATOMS // min(shrink, 5), seed=85),
    contenders=(
        _learner("tenfold", "tenfold"),
        _learner("sklearn", "peer"),
        Contender("sklearn orthogonal_mp", "sklearn", _function),
    ),
    judgement=Judgement("squares", higher=False, tolerance=1e-8),
)

WORKLOADS = (OMP,)
