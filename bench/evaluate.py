"""Scores of many rows: the area under a ROC curve, and all scores of a classifier's labels."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from . import data as make
from .measure import Meter
from .plan import Contender, Data, Judgement, Quality, Run, Workload


def ranked(n: int, seed: int) -> Data:
    """Scores of two overlapping normals one standard deviation apart, a fifth positive, with some ties."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.2).astype(np.int64)
    return {"y": y, "scores": np.round(rng.standard_normal(n) + y, 6)}


def labelled(n: int, k: int, seed: int) -> Data:
    """Labels of k classes of different sizes, of which two thirds are predicted right."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(3 / k, n) - 1, k - 1)
    return {"y": y, "predicted": np.where(rng.random(n) < 2 / 3, y, rng.integers(0, k, n))}


def _area(score: Callable[[np.ndarray, np.ndarray], float]) -> Run:
    def run(data: Data, meter: Meter) -> Quality:
        return {"AUC": float(meter.fit(score, data["y"], data["scores"]))}

    return run


def _by_path(path: str) -> Callable[..., Any]:
    """A function by its dotted path, imported when it is called, so that a process loads only its own
    library.
    """
    module, name = path.rsplit(".", 1)
    return lambda *arguments: getattr(importlib.import_module(module), name)(*arguments)


def _by_sorting(y: np.ndarray, scores: np.ndarray) -> float:
    """Both classes sorted, and every positive looked up among the negatives."""
    negative, positive = np.sort(scores[y == 0]), np.sort(scores[y == 1])
    won = np.searchsorted(negative, positive, "left").sum() + np.searchsorted(negative, positive, "right").sum()
    return float(won / 2 / len(negative) / len(positive))


def _by_ranks(y: np.ndarray, scores: np.ndarray) -> float:
    from scipy.stats import rankdata

    return _from_rank_sum(rankdata(scores), y)


def _by_polars(y: np.ndarray, scores: np.ndarray) -> float:
    import polars

    return _from_rank_sum(polars.Series(scores).rank("average").to_numpy(), y)


def _from_rank_sum(ranks: np.ndarray, y: np.ndarray) -> float:
    m = int(y.sum())
    return float((ranks[y == 1].sum() - m * (m + 1) / 2) / (m * (len(y) - m)))


AUC = Workload(
    name="auc",
    about="area under the ROC curve of 10M float64 scores: two overlapping normals, 20% positive, some ties",
    make=lambda shrink: ranked(make.shrunk(10_000_000, shrink), seed=80),
    contenders=(
        Contender("tenfold roc_auc_score", "tenfold", _area(_by_path("tenfold.evaluate.roc_auc_score")), "tenfold"),
        Contender("numpy sort, searchsorted", "numpy", _area(_by_sorting)),
        Contender("sklearnex roc_auc_score", "sklearnex", _area(_by_path("sklearnex.metrics.roc_auc_score"))),
        Contender("sklearn roc_auc_score", "sklearn", _area(_by_path("sklearn.metrics.roc_auc_score")), slow=True),
        Contender("scipy rankdata", "scipy", _area(_by_ranks), slow=True),
        Contender("polars rank", "polars", _area(_by_polars)),
    ),
    judgement=Judgement("AUC", higher=True, tolerance=1e-12),
)


def _ours(data: Data, meter: Meter) -> Quality:
    report = meter.fit(_by_path("tenfold.evaluate.classification_report"), data["y"], data["predicted"])
    return {"macro F1": report["macro avg"]["f1-score"]}


def _theirs(data: Data, meter: Meter) -> Quality:
    from sklearn.metrics import classification_report

    report = meter.fit(classification_report, data["y"], data["predicted"], output_dict=True)
    return {"macro F1": report["macro avg"]["f1-score"]}


REPORT = Workload(
    name="report_1m",
    about="classification report of 1M rows and 20 classes: scores of each class, averages, accuracy",
    make=lambda shrink: labelled(make.shrunk(1_000_000, shrink), 20, seed=81),
    contenders=(
        Contender("tenfold classification_report", "tenfold", _ours, "tenfold"),
        Contender("sklearn classification_report", "sklearn", _theirs),
    ),
    judgement=Judgement("macro F1", higher=True, tolerance=1e-12),
)


def rising(n: int, seed: int) -> Data:
    """Zeros and ones, the ones ever more frequent: what a calibration by isotonic regression sees."""
    rng = np.random.default_rng(seed)
    p = np.sort(rng.random(n))
    return {"p": p, "y": (rng.random(n) < p).astype(np.int64)}


def _monotone(path: str) -> Run:
    def run(data: Data, meter: Meter) -> Quality:
        fitted = meter.fit(_by_path(path), data["y"].astype(np.float64))
        return {"squared error": float(np.mean((fitted - data["y"]) ** 2))}

    return run


def _curve(path: str) -> Run:
    def run(data: Data, meter: Meter) -> Quality:
        shares, _ = meter.fit(lambda y, p: _by_path(path)(y, p), data["y"], data["p"])
        return {"highest share": float(np.max(shares))}

    return run


ISOTONIC = Workload(
    name="isotonic_1m",
    about="isotonic regression of 1M zeros and ones, the ones ever more frequent",
    make=lambda shrink: rising(make.shrunk(1_000_000, shrink), seed=82),
    contenders=(
        Contender(
            "tenfold isotonic_regression", "tenfold", _monotone("tenfold.evaluate.isotonic_regression"), "tenfold"
        ),
        Contender("sklearn isotonic_regression", "sklearn", _monotone("sklearn.isotonic.isotonic_regression")),
    ),
    judgement=Judgement("squared error", higher=False, tolerance=1e-9),
)
CALIBRATION = Workload(
    name="calibration_1m",
    about="calibration curve of 1M probabilities in 5 bins",
    make=lambda shrink: rising(make.shrunk(1_000_000, shrink), seed=83),
    contenders=(
        Contender("tenfold calibration_curve", "tenfold", _curve("tenfold.evaluate.calibration_curve"), "tenfold"),
        Contender("sklearn calibration_curve", "sklearn", _curve("sklearn.calibration.calibration_curve")),
    ),
    judgement=Judgement("highest share", higher=True, tolerance=1e-9),
)


def grouped(n: int, p: int, k: int, seed: int) -> Data:
    """Rows around k centres, and the centre of each."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    return {"X": rng.standard_normal((n, p)) + 2 * rng.standard_normal((k, p))[labels], "labels": labels}


def _silhouette(path: str) -> Run:
    def run(data: Data, meter: Meter) -> Quality:
        return {"silhouette": float(meter.fit(_by_path(path), data["X"], data["labels"]))}

    return run


SILHOUETTE = Workload(
    name="silhouette_10kx50",
    about="mean silhouette of 10,000 rows of 50 columns in 8 groups",
    make=lambda shrink: grouped(make.shrunk(10_000, shrink), 50, 8, seed=84),
    contenders=(
        Contender("tenfold silhouette_score", "tenfold", _silhouette("tenfold.evaluate.silhouette_score"), "tenfold"),
        Contender("sklearn silhouette_score", "sklearn", _silhouette("sklearn.metrics.silhouette_score")),
    ),
    judgement=Judgement("silhouette", higher=True, tolerance=1e-9),
)

WORKLOADS = (AUC, REPORT, ISOTONIC, CALIBRATION, SILHOUETTE)
