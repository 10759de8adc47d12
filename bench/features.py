"""Selection of columns: scores of each, recursive elimination, and one at a time by cross-validation, beside scikit-learn's."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Run, Workload

THEIRS = "sklearn.feature_selection"


def counts(n: int, p: int, k: int, seed: int) -> Data:
    """Numbers from 0 to 1, every fifth column higher for some classes."""
    rng = np.random.default_rng(seed)
    X, y = rng.random((n, p)), rng.integers(0, k, n)
    X[:, ::5] += 0.02 * y[:, None]
    return {"X": X, "y": y}


def scored(library: str, name: str, **options: Any) -> Run:
    """Scores of all columns; the quality is how far they are apart from one another, which two libraries must find the same."""

    def run(data: Data, meter: Meter) -> Quality:
        function = getattr(import_module("tenfold" if library == "tenfold" else THEIRS), name)
        found = meter.fit(function, data["X"], data["y"], **options)
        return {"sum": float(np.sum(found[0] if isinstance(found, tuple) else found))}

    return run


def selected(library: str, make_selector: Callable[[Any, Any], Any]) -> Run:
    """A selector around Ridge; the quality is R² of the rows held out by Ridge on the columns that it keeps."""

    def run(data: Data, meter: Meter) -> Quality:
        here = import_module("tenfold")
        space, models = (here, here) if library == "tenfold" else (import_module(THEIRS), import_module("sklearn.linear_model"))
        chosen = meter.fit(make_selector(space, models.Ridge()).fit, data["X"], data["y"])
        kept = meter.predict(chosen.transform, data["Xt"])
        return {"R2": float(here.Ridge().fit(chosen.transform(data["X"]), data["y"]).score(kept, data["yt"]))}

    return run


def two_tables(n: int, seed: int) -> Data:
    """Two columns, and two that are them with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return {"X": X, "Y": X + rng.normal(size=(n, 2))}


def shared_by_tenfold(data: Data, meter: Meter) -> Quality:
    estimate = import_module("tenfold.distributions").estimate_mutual_information
    return {"nats": meter.fit(estimate, data["X"], data["Y"], base=np.e)}


def shared_by_scipy(data: Data, meter: Meter) -> Quality:
    """Kraskov's estimate by SciPy's trees, in a few lines, as it is done in notebooks."""
    from scipy.spatial import cKDTree
    from scipy.special import digamma

    def estimate(X: Any, Y: Any) -> float:
        X, Y = X / X.std(axis=0), Y / Y.std(axis=0)
        both = np.column_stack([X, Y])
        radius = np.nextafter(cKDTree(both).query(both, k=[4], p=np.inf)[0][:, 0], 0)
        near = [cKDTree(one).query_ball_point(one, radius, p=np.inf, return_length=True) for one in (X, Y)]
        return float(digamma(len(X)) + digamma(3) - digamma(near[0]).mean() - digamma(near[1]).mean())

    return {"nats": meter.fit(estimate, data["X"], data["Y"])}


def pair(title: str, make_run: Callable[[str], Run], slow: bool = False) -> tuple[Contender, ...]:
    return (
        Contender(f"tenfold {title}", "tenfold", make_run("tenfold"), "tenfold"),
        Contender(f"sklearn {title}", "sklearn", make_run("sklearn"), slow=slow),
    )


def _of_columns(name: str, about: str, n: int, p: int, **options: Any) -> Workload:
    return Workload(
        name=name,
        about=about,
        make=lambda shrink: counts(make.shrunk(n, shrink), p, 3, seed=95),
        contenders=pair(name, lambda library: scored(library, name, **options)),
        judgement=Judgement("sum", higher=True, tolerance=1e-8),
    )


ANOVA = _of_columns("f_classif", "F of each column between 3 classes, 1M x 50", 1_000_000, 50)
CHI_SQUARE = _of_columns("chi2", "chi-square of each column against 3 classes, 1M x 50", 1_000_000, 50)
INFORMATION = _of_columns(
    "mutual_info_classif", "mutual information of numbers and 3 classes by neighbours, 20k x 20", 20_000, 20, random_state=0
)
SHARED = Workload(
    name="information_of_rows",
    about="mutual information of two tables of 2 columns each by neighbours, 50k rows",
    make=lambda shrink: two_tables(make.shrunk(50_000, shrink), seed=98),
    contenders=(
        Contender("tenfold estimate", "tenfold", shared_by_tenfold, "tenfold"),
        Contender("scipy trees", "scipy", shared_by_scipy),
    ),
    judgement=Judgement("nats", higher=True, tolerance=1e-8),
)
ELIMINATION = Workload(
    name="rfecv_ridge",
    about="recursive elimination of columns by ridge, their number by 5 folds, 20k x 40",
    make=lambda shrink: make.regression(make.shrunk(20_000, shrink), 40, seed=96),
    contenders=pair("RFECV", lambda library: selected(library, lambda space, ridge: space.RFECV(ridge, cv=5))),
    judgement=Judgement("R2", higher=True, tolerance=1e-6),
)
SEQUENTIAL = Workload(
    name="sequential_ridge",
    about="columns one at a time by ridge and 5 folds, 20 of 40, 5k rows",
    make=lambda shrink: make.regression(make.shrunk(5_000, shrink), 40, seed=97),
    contenders=pair("sequential", lambda library: selected(library, lambda space, one: space.SequentialFeatureSelector(one)), slow=True),
    judgement=Judgement("R2", higher=True, tolerance=1e-6),
)

WORKLOADS = (ANOVA, CHI_SQUARE, INFORMATION, SHARED, ELIMINATION, SEQUENTIAL)
