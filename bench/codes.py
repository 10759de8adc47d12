"""Categories, bins and gaps as numbers: fit, then transform the same rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Run, Workload, build, fit_predict

ROWS = 1_000_000


def levels(n: int) -> Data:
    """20 columns of 100 levels each, as whole numbers."""
    X = np.random.default_rng(71).integers(0, 100, size=(n, 20)).astype(np.float64)
    return {"X": X, "Xt": X}


def numbers(n: int) -> Data:
    X = np.random.default_rng(72).normal(size=(n, 50))
    return {"X": X, "Xt": X}


def gaps(n: int, p: int) -> Data:
    """5 % of the values are missing."""
    rng = np.random.default_rng(73)
    X = rng.normal(size=(n, p))
    X[rng.random(X.shape) < 0.05] = np.nan
    return {"X": X, "Xt": X}


def size(data: Data, model: Any, transformed: Any) -> Quality:
    """The mean size of transformed values, over the first rows."""
    return {"mean |z|": float(np.abs(transformed[:20_000]).mean())}


def race_of(name: str, module: str, what: str, about: str, table: Callable[[int], Data], rows: int, **setting: Any) -> Workload:
    def contender(library: str, path: str, role: Any = "peer") -> Contender:
        return Contender(f"{library} {name}", library, fit_predict(path, size, method="transform", target=False, **setting), role)

    return Workload(
        name=f"codes_{what}",
        about=about,
        make=lambda shrink: table(make.shrunk(rows, shrink)),
        contenders=(contender("tenfold", f"tenfold.{name}", "tenfold"), contender("sklearn", f"sklearn.{module}.{name}")),
        judgement=Judgement("mean |z|", higher=False, tolerance=1e-6),
    )


def of_texts(path: str) -> Run:
    """The same levels as texts in an array of objects, as frames and readers of files give them."""
    words = np.array([f"level {i}" for i in range(100)], dtype=object)

    def run(data: Data, meter: Meter) -> Quality:
        model, X = build(path), words[data["X"].astype(np.int64)]
        meter.fit(model.fit, X)
        return size(data, model, meter.predict(model.transform, X))

    return run


TEXTS = Workload(
    name="codes_onehot_text",
    about="one-hot, 1M x 20 columns of 100 levels that are texts in an array of objects",
    make=lambda shrink: levels(make.shrunk(ROWS, shrink)),
    contenders=(
        Contender("tenfold OneHotEncoder", "tenfold", of_texts("tenfold.OneHotEncoder"), "tenfold"),
        Contender("sklearn OneHotEncoder", "sklearn", of_texts("sklearn.preprocessing.OneHotEncoder"), "peer"),
    ),
    judgement=Judgement("mean |z|", higher=False, tolerance=1e-6),
)

WORKLOADS = (
    TEXTS,
    race_of("OneHotEncoder", "preprocessing", "onehot", "one-hot, 1M x 20 columns of 100 levels", levels, ROWS),
    race_of("KBinsDiscretizer", "preprocessing", "bins", "five bins of equal weight, 1M x 50", numbers, ROWS, random_state=0),
    race_of("SimpleImputer", "impute", "median", "medians for gaps, 1M x 50", lambda n: gaps(n, 50), ROWS, strategy="median"),
    race_of("SimpleImputer", "impute", "mean", "means for gaps, 1M x 50", lambda n: gaps(n, 50), ROWS),
    race_of("KNNImputer", "impute", "neighbours", "gaps by 5 neighbours, 20k x 20", lambda n: gaps(n, 20), 20_000),
)
