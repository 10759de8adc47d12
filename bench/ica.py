"""Independent components and robust principal components."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Workload


def _mixed(shrink: int) -> Data:
    rng, n, p = np.random.default_rng(76), make.shrunk(100_000, shrink), 20
    sources = rng.laplace(size=(n, p))
    sources[:, ::2] = rng.uniform(-1, 1, (n, p // 2))
    return {"X": sources @ rng.standard_normal((p, p)), "sources": sources, "start": rng.standard_normal((p, p))}


def _separate(module: str, **solver: str) -> Any:
    def run(data: Data, meter: Meter) -> Quality:
        model = importlib.import_module(module).FastICA(w_init=data["start"], **solver)
        meter.fit(model.fit, data["X"])
        found, p = model.transform(data["X"]), data["X"].shape[1]
        same = np.abs(np.corrcoef(found.T, data["sources"].T)[:p, p:])
        return {"least correlation": float(same.max(axis=0).min())}

    return run


FASTICA = Workload(
    name="fastica",
    about="independent components, 100k x 20, uniform and Laplace sources",
    make=_mixed,
    contenders=(
        Contender("tenfold FastICA", "tenfold", _separate("tenfold"), "tenfold"),
        Contender("sklearn eigh", "sklearn", _separate("sklearn.decomposition", whiten_solver="eigh")),
    ),
    judgement=Judgement("least correlation", higher=True, tolerance=1e-6),
)

WORKLOADS = (FASTICA,)
