"""Small tables: fit and one-row prediction on iris, Tenfold and scikit-learn taking turns in one process.

    python -m bench.small SECONDS_PER_OPERATION LIBRARY[,LIBRARY]

prints one JSON list of rows. At this size everything is overhead, so each side gets the best of many calls.
Both sides have one thread: scikit-learn's k-means splits even 150 rows, and then waits for its second thread
by whole scheduler slices on a busy machine, which would flatter us.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from .plan import Entry, Finding, Options, Quality, Report, Row, build
from .processes import ProcessFailed, ask_python

NAME = "small"
LEAST_RATIO = 2.0
SECONDS_PER_OPERATION = 0.6
BURST = 5  # calls of one side before the other's turn
LEAST_TURNS = 6
LIMIT_S = 300.0


@dataclass(frozen=True)
class Learner:
    """An estimator with the same name and parameters on both sides."""

    name: str
    module: str  # of scikit-learn
    output: str = "predict"
    target: bool = True
    parameters: dict[str, Any] = field(default_factory=dict)


LEARNERS = (
    Learner("LinearRegression", "linear_model"),
    Learner("Ridge", "linear_model"),
    Learner("LogisticRegression", "linear_model"),
    Learner("GaussianNB", "naive_bayes"),
    Learner("LinearDiscriminantAnalysis", "discriminant_analysis"),
    Learner("QuadraticDiscriminantAnalysis", "discriminant_analysis"),
    Learner("NearestCentroid", "neighbors"),
    Learner("PCA", "decomposition", "transform", target=False),
    Learner("StandardScaler", "preprocessing", "transform", target=False),
    Learner("KMeans", "cluster", target=False, parameters={"n_clusters": 3, "random_state": 0}),
)


def run(options: Options) -> Report:
    report = Report()
    wanted = [("tenfold", options.tenfold), ("sklearn", options.peers)]
    libraries = [library for library, asked in wanted if asked and importlib.util.find_spec(library)]
    report.remarks += [
        f"{NAME}: {library} skipped, it is not installed"
        for library, asked in wanted
        if asked and library not in libraries
    ]
    if not libraries:
        return report
    seconds = SECONDS_PER_OPERATION / options.shrink**0.5
    try:
        arguments = ["-m", "bench.small", str(seconds), ",".join(libraries)]
        records = ask_python(arguments, replace(options, threads=1), limit_s=LIMIT_S)
    except ProcessFailed as failure:
        report.rows = [Row(NAME, library, library, status=f"error: {failure}") for library in libraries]
        return report
    report.rows = [Row(**record) for record in records]
    for learner in LEARNERS:
        _judge(learner, report)
    return report


def _judge(learner: Learner, report: Report) -> None:
    pair = {row.library: row for row in report.rows if row.who.endswith(" " + learner.name) and row.ok}
    if pair.keys() != {"tenfold", "sklearn"}:
        return
    ours, theirs = pair["tenfold"], pair["sklearn"]
    assert ours.fit_s and theirs.fit_s and ours.predict_s and theirs.predict_s
    ours.ratio, ours.predict_ratio = theirs.fit_s / ours.fit_s, theirs.predict_s / ours.predict_s
    for operation, ratio in (("fit", ours.ratio), (f"{learner.output} of one row", ours.predict_ratio)):
        text = f"{operation}: {theirs.who} / {ours.who}"
        report.findings.append(Finding(NAME, text, ratio, f">= {LEAST_RATIO:g}", ratio >= LEAST_RATIO))


def measure(learner: Learner, libraries: Sequence[str], seconds: float) -> list[Row]:
    """Rows of one learner, the two sides timed in turns."""
    X, y = iris()
    rows, models = [], {}
    targets = (y,) if learner.target else ()
    for library in libraries:
        ours = library == "tenfold"
        path = f"tenfold.{learner.name}" if ours else f"sklearn.{learner.module}.{learner.name}"
        row = Row(NAME, f"{library} {learner.name}", library, "tenfold" if ours else "peer")
        rows.append(row)
        try:
            model = build(path, **learner.parameters)
            model.fit(X, *targets)
            row.quality = quality(learner, model, X, y)
            models[row.who] = model
        except Exception as error:  # one missing or broken learner must not hide the others
            row.status = f"error: {type(error).__name__}: {error}"
    fits = best_of_many({who: partial(model.fit, X, *targets) for who, model in models.items()}, seconds)
    one = X[75:76].copy()
    outputs = {who: partial(getattr(model, learner.output), one) for who, model in models.items()}
    predictions = best_of_many(outputs, seconds)
    for row in rows:
        row.fit_s, row.predict_s = fits.get(row.who), predictions.get(row.who)
    return rows


def best_of_many(calls: Mapping[str, Callable[[], Any]], seconds: float) -> dict[str, float]:
    """The fastest call of each, in bursts that alternate until each has had about `seconds`."""
    best = dict.fromkeys(calls, float("inf"))
    end, turns = time.perf_counter() + seconds * len(calls), 0
    while turns < LEAST_TURNS or time.perf_counter() < end:
        turns += 1
        for who, call in calls.items():
            for _ in range(BURST):
                start = time.perf_counter()
                call()
                best[who] = min(best[who], time.perf_counter() - start)
    return best


def iris() -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    return X, y


def quality(learner: Learner, model: Any, X: np.ndarray, y: np.ndarray) -> Quality:
    """A figure that both sides should share."""
    if hasattr(model, "inertia_"):
        return {"inertia": float(model.inertia_)}
    if learner.output == "transform":
        return {"variance": float(np.var(model.transform(X), axis=0, ddof=1).sum())}
    predicted = model.predict(X)
    if hasattr(model, "classes_"):
        return {"accuracy": float(np.mean(predicted == y))}
    return {"R2": float(1 - np.mean((y - predicted) ** 2) / np.var(y))}


ENTRY = Entry(NAME, "iris, 150 x 4: fit and one-row prediction of ten learners against scikit-learn", run)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    chosen = sys.argv[2].split(",")
    measured = [row for learner in LEARNERS for row in measure(learner, chosen, float(sys.argv[1]))]
    print(json.dumps([row.record() for row in measured]))
