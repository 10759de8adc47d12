"""Learning part by part: one pass of stochastic steps over a long stream, in blocks of 1,000 rows, beside the optimum of the batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Run, Workload, build

BLOCK = 1000
ALPHA = 1e-4
# What the docstring of SGDClassifier says of one pass over many rows.
SETTING: dict[str, Any] = dict(loss="log_loss", alpha=ALPHA, average=10_000, learning_rate="invscaling", eta0=0.1, random_state=0)


def two_classes(n: int, p: int, seed: int) -> Data:
    """Standard Gaussian columns, and a class with logistic noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return {"X": X, "y": (X @ rng.standard_normal(p) / 7 + 0.5 * rng.logistic(size=n) > 0).astype(np.int64)}


def objective(data: Data, model: Any) -> Quality:
    """The mean logistic loss with its penalty: after one pass it is above that of the batch."""
    z = (2 * data["y"] - 1) * (data["X"] @ model.coef_[0] + model.intercept_[0])
    return {"objective": float(np.logaddexp(0, -z).mean() + 0.5 * ALPHA * model.coef_[0] @ model.coef_[0])}


def _part_by_part(path: str) -> Run:
    def run(data: Data, meter: Meter) -> Quality:
        model, X, y = build(path, **SETTING), data["X"], data["y"]

        def learn() -> None:
            for start in range(0, len(y), BLOCK):
                model.partial_fit(X[start : start + BLOCK], y[start : start + BLOCK], classes=[0, 1])

        meter.fit(learn)
        return objective(data, model)

    return run


def _batch(data: Data, meter: Meter) -> Quality:
    model = build("tenfold.LogisticRegression", C=1 / (ALPHA * len(data["y"])))
    meter.fit(model.fit, data["X"], data["y"])
    return objective(data, model)


WORKLOADS = (
    Workload(
        name="sgd_online",
        about="logistic steps by partial_fit on blocks of 1,000 rows, one pass over 1M x 50",
        make=lambda shrink: two_classes(make.shrunk(1_000_000, shrink), 50, seed=95),
        contenders=(
            Contender("tenfold SGDClassifier", "tenfold", _part_by_part("tenfold.SGDClassifier"), "tenfold"),
            Contender("sklearn SGDClassifier", "sklearn", _part_by_part("sklearn.linear_model.SGDClassifier")),
            Contender("tenfold LogisticRegression, the batch", "tenfold", _batch, "reference"),
        ),
        judgement=Judgement("objective", higher=False, tolerance=0.01),
    ),
)
