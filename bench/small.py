"""Small tables: fit and one-row prediction on iris, Tenfold and scikit-learn taking turns in one process.

    python -m bench.small SECONDS_PER_OPERATION LIBRARY[,LIBRARY] [FOLDER]

prints one JSON list of rows; FOLDER holds another version of Tenfold, to be measured instead of this one. Two versions cannot share a
process: theirs take turns. At this size everything is overhead, so each side gets the best of many calls.
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
from pathlib import Path
from typing import Any

import numpy as np

from .plan import Entry, Finding, Options, Quality, Report, Row, build
from .processes import ProcessFailed, ask_python

NAME = "small"
LEAST_RATIO = 2.0
LEAST_OF_VERSIONS = 0.95  # of the time of another version
SECONDS_PER_OPERATION = 0.6
BURST = 5  # calls of one side before the other's turn
LEAST_TURNS = 6
TURNS_OF_VERSIONS = 4
LIMIT_S = 300.0

Find = Callable[[str, str], Any]  # a class or function of either side, by scikit-learn's module and the name


@dataclass(frozen=True)
class Learner:
    """An estimator with the same name and parameters on both sides."""

    name: str
    module: str  # of scikit-learn
    output: str = "predict"
    target: bool = True
    parameters: dict[str, Any] = field(default_factory=dict)
    inside: Callable[[Find], dict[str, Any]] = lambda find: {}  # parameters that are learners

    def built(self, library: str) -> Any:
        """The estimator of this library."""

        def find(module: str, name: str) -> Any:
            return partial(build, f"tenfold.{name}" if library == "tenfold" else f"sklearn.{module}.{name}")

        return find(self.module, self.name)(**self.parameters, **self.inside(find))


def scaled_ridge(find: Find) -> dict[str, Any]:
    steps = [("scaled", find("preprocessing", "StandardScaler")()), ("ridge", find("linear_model", "Ridge")())]
    return {"steps": steps}


def scaled_columns(find: Find) -> dict[str, Any]:
    return {"transformers": [("scaled", find("preprocessing", "StandardScaler")(), [0, 1]), ("as they are", "passthrough", [2, 3])]}


LEARNERS = (
    Learner("LinearRegression", "linear_model"),
    Learner("Ridge", "linear_model"),
    Learner("Lasso", "linear_model", parameters={"alpha": 0.01}),
    Learner("HuberRegressor", "linear_model"),
    Learner("LogisticRegression", "linear_model"),
    Learner("GaussianNB", "naive_bayes"),
    Learner("LinearDiscriminantAnalysis", "discriminant_analysis"),
    Learner("QuadraticDiscriminantAnalysis", "discriminant_analysis"),
    Learner("NearestCentroid", "neighbors"),
    Learner("DecisionTreeClassifier", "tree", parameters={"random_state": 0}),
    Learner("PCA", "decomposition", "transform", target=False),
    Learner("StandardScaler", "preprocessing", "transform", target=False),
    Learner("KMeans", "cluster", target=False, parameters={"n_clusters": 3, "random_state": 0}),
    Learner("Pipeline", "pipeline", inside=scaled_ridge),
    Learner("ColumnTransformer", "compose", "transform", target=False, inside=scaled_columns),
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
    versions = ["", options.against] if options.against and options.tenfold else [""]
    turns = TURNS_OF_VERSIONS if len(versions) > 1 else 1
    best: dict[str, Row] = {}
    for _ in range(turns):
        for version in versions:
            for row in _asked(options, ["tenfold"] if version else libraries, seconds / turns, version):
                best[row.who] = _better(best.get(row.who), row)
    report.rows = list(best.values())
    for learner in LEARNERS:
        _judge(learner, report, f" of {Path(options.against).name}" if options.against else None)
    return report


def _asked(options: Options, libraries: Sequence[str], seconds: float, version: str) -> list[Row]:
    """The rows that a process of its own measures."""
    arguments = ["-m", "bench.small", str(seconds), ",".join(libraries), *([str(Path(version).resolve())] if version else [])]
    try:
        return [Row(**record) for record in ask_python(arguments, replace(options, threads=1), limit_s=LIMIT_S)]
    except ProcessFailed as failure:
        called = f" of {Path(version).name}" if version else ""
        return [Row(NAME, library + called, library, status=f"error: {failure}") for library in libraries]


def _better(before: Row | None, row: Row) -> Row:
    """The best times of two turns."""
    if before is None or not before.ok or not row.ok:
        return row if before is None or before.ok else before
    assert before.fit_s and row.fit_s and before.predict_s and row.predict_s
    return replace(row, fit_s=min(before.fit_s, row.fit_s), predict_s=min(before.predict_s, row.predict_s))


def _judge(learner: Learner, report: Report, version: str | None) -> None:
    rows = {row.who: row for row in report.rows if row.ok}
    ours = rows.get(f"tenfold {learner.name}")
    targets = {f"sklearn {learner.name}": LEAST_RATIO, f"tenfold {learner.name}{version}": LEAST_OF_VERSIONS}
    for who, least in targets.items():
        theirs = rows.get(who)
        if ours is None or theirs is None:
            continue
        assert ours.fit_s and theirs.fit_s and ours.predict_s and theirs.predict_s
        fit, predict = theirs.fit_s / ours.fit_s, theirs.predict_s / ours.predict_s
        ours.ratio, ours.predict_ratio = min(fit, ours.ratio or fit), min(predict, ours.predict_ratio or predict)
        for operation, ratio in (("fit", fit), (f"{learner.output} of one row", predict)):
            text = f"{operation}: {theirs.who} / {ours.who}"
            report.findings.append(Finding(NAME, text, ratio, f">= {least:g}", ratio >= least))


def measure(learner: Learner, libraries: Sequence[str], seconds: float, version: str = "") -> list[Row]:
    """Rows of one learner, the two sides timed in turns."""
    X, y = iris()
    rows, models = [], {}
    targets = (y,) if learner.target else ()
    for library in libraries:
        ours = library == "tenfold" and not version
        row = Row(NAME, f"{library} {learner.name}{version}", library, "tenfold" if ours else "peer")
        rows.append(row)
        try:
            model = learner.built(library)
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


def use(folder: str) -> str:
    """Measure the Tenfold of this folder; returns what its rows are called."""
    sys.path.insert(0, folder)
    import tenfold

    if not Path(tenfold.__file__).is_relative_to(folder):
        raise ImportError(f"another Tenfold is found before that of {folder}")
    return f" of {Path(folder).name}"


ENTRY = Entry(NAME, "iris, 150 x 4: fit and one-row prediction of fifteen learners against scikit-learn", run)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    chosen, called = sys.argv[2].split(","), use(sys.argv[3]) if len(sys.argv) > 3 else ""
    measured = [row for learner in LEARNERS for row in measure(learner, chosen, float(sys.argv[1]), called)]
    print(json.dumps([row.record() for row in measured]))
