"""Streaming: fits from a Parquet file larger than the memory allowed, compared with fits in memory.

    python -m bench.streaming LEARNER stream|memory FILE RESULT

fits once in this process, writes what was learned to RESULT (.npz) and prints {fit_s, others_s, peak_mb}.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .measure import MEGABYTE, Neighbours, busy_share, reset_peak, status_bytes
from .plan import Entry, Finding, Options, Report, Role, Row, build
from .processes import ProcessFailed, ask_python

NAME = "streaming"
FEATURES = 50
COLUMNS = FEATURES + 1
TARGET = "y"
GROUP_ROWS = 128 * 1024
GROUPS, GROUPS_SLOW = 9, 94  # 0.48 GB and 5.03 GB
MOST_RESIDENT_MB = 600.0
MOST_DIFFERENCE = 1e-10
LIMIT_S, LIMIT_SLOW_S = 150.0, 1800.0
IN_MEMORY_FACTOR = 1.5  # the table, and room for the fit

# name -> (parameters, uses the target, what is compared)
LEARNERS: dict[str, tuple[dict[str, Any], bool, tuple[str, ...]]] = {
    "Ridge": ({}, True, ("coef_", "intercept_")),
    "LogisticRegression": ({}, True, ("coef_", "intercept_")),
    "GaussianNB": ({}, True, ("theta_", "var_", "class_prior_")),
    "PCA": ({"n_components": 10}, False, ("mean_", "components_", "explained_variance_")),
    "KMeans": (
        {"n_clusters": 8, "n_init": 1, "max_iter": 5, "tol": 0},
        False,
        ("cluster_centers_", "inertia_"),
    ),
}


def run(options: Options) -> Report:
    report = Report()
    missing = [name for name in ("pyarrow", "tenfold") if importlib.util.find_spec(name) is None]
    if missing or not options.tenfold:
        report.remarks.append(f"{NAME}: skipped, needs {' and '.join(missing or ['tenfold'])}")
        return report
    groups, group_rows = GROUPS_SLOW if options.slow else GROUPS, max(500, GROUP_ROWS // options.shrink)
    size = groups * group_rows * COLUMNS * 8
    if shutil.disk_usage(tempfile.gettempdir()).free < 1.2 * size:
        report.remarks.append(f"{NAME}: skipped, the temporary folder has no room for {size / 1e9:.1f} GB")
        return report
    in_memory = options.peers and available_memory() > IN_MEMORY_FACTOR * size
    with tempfile.TemporaryDirectory(prefix="tenfold-bench-") as folder:
        file = Path(folder) / "table.parquet"
        write_table(file, groups, group_rows)
        for learner in LEARNERS:
            _compare(learner, file, in_memory, options, report)
    rows = groups * group_rows
    report.remarks.append(f"{NAME}: {rows} rows x {COLUMNS} columns, {size / 1e9:.2f} GB of Parquet")
    if not in_memory:
        report.remarks.append(f"{NAME}: not compared with fits in memory (not asked for, or no room)")
    return report


def _compare(learner: str, file: Path, in_memory: bool, options: Options, report: Report) -> None:
    """Fit one learner from the file, and from memory if that is possible."""
    results: dict[str, Mapping[str, np.ndarray]] = {}
    for mode in ("stream", "memory") if in_memory else ("stream",):
        role: Role = "tenfold" if mode == "stream" else "reference"
        row = Row(NAME, f"tenfold {learner}, {mode}", "tenfold", role)
        report.rows.append(row)
        learned = file.with_name(f"{learner}-{mode}.npz")
        arguments = ["-m", "bench.streaming", learner, mode, str(file), str(learned)]
        try:
            answer = ask_python(arguments, options, limit_s=LIMIT_SLOW_S if options.slow else LIMIT_S)
        except ProcessFailed as failure:
            row.status = f"error: {failure}"
            continue
        row.fit_s, row.memory_mb, row.repeats = answer["fit_s"], answer["peak_mb"], 1
        row.notes.append("memory is the whole process")
        row.busy = busy_share(answer["fit_s"], answer["others_s"])
        results[mode] = dict(np.load(learned))
        if mode == "stream":
            met = row.memory_mb < MOST_RESIDENT_MB
            text = f"resident MB of {learner} from the file"
            report.findings.append(Finding(NAME, text, row.memory_mb, f"< {MOST_RESIDENT_MB:g}", met))
    if results.keys() == {"stream", "memory"}:
        apart = difference(results["stream"], results["memory"])
        text = f"{learner}: relative difference, file and memory"
        met = apart <= MOST_DIFFERENCE
        report.findings.append(Finding(NAME, text, apart, f"<= {MOST_DIFFERENCE:g}", met))


def difference(a: Mapping[str, np.ndarray], b: Mapping[str, np.ndarray]) -> float:
    """The largest difference of any attribute, relative to that attribute's largest value."""
    return max(float(np.max(np.abs(a[name] - b[name])) / np.max(np.abs(b[name]))) for name in b)


def write_table(file: Path, groups: int, group_rows: int) -> None:
    """Columns with twelve factors of separate strengths, so that components are well determined; y is 0 or 1.

    Written a row group at a time, uncompressed, so that the file is as large as its numbers.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(70)
    strength = np.geomspace(4, 0.5, 12)
    loadings = np.linalg.qr(rng.standard_normal((FEATURES, 12)))[0].T * strength[:, None]
    slope, center = rng.standard_normal(FEATURES) / 10, rng.standard_normal(FEATURES)
    names = [f"x{j}" for j in range(FEATURES)] + [TARGET]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(file, schema, compression="none", use_dictionary=False) as writer:
        for _ in range(groups):
            X = rng.standard_normal((group_rows, FEATURES)) * 0.5
            X += rng.standard_normal((group_rows, 12)) @ loadings
            chance = 1 / (1 + np.exp(-X @ slope))
            y = (rng.random(group_rows) < chance).astype(np.float64)
            columns = [pa.array(column) for column in np.asfortranarray(X + center).T] + [pa.array(y)]
            writer.write_table(pa.table(columns, names=names), row_group_size=group_rows)


def start_centers() -> np.ndarray:
    return np.random.default_rng(71).standard_normal((LEARNERS["KMeans"][0]["n_clusters"], COLUMNS))


def fit_one(learner: str, mode: str, file: Path, learned: Path) -> dict[str, float]:
    parameters, uses_target, attributes = LEARNERS[learner]
    if learner == "KMeans":
        parameters = parameters | {"init": start_centers()}
    model = build(f"tenfold.{learner}", **parameters)
    # Without a target the model takes every column of the file, y among them.
    arguments: tuple[Any, ...] = (str(file), *((TARGET,) if uses_target else ()))
    if mode == "memory":
        arguments = read_table(file, uses_target)
    reset_peak()
    with Neighbours() as neighbours:
        model.fit(*arguments)
    peak = status_bytes("VmHWM")
    np.savez(learned, **{name: np.asarray(getattr(model, name)) for name in attributes})
    return {"fit_s": neighbours.wall_s, "others_s": neighbours.cpu_s, "peak_mb": peak / MEGABYTE}


def read_table(file: Path, with_target: bool) -> tuple[np.ndarray, ...]:
    """The rows of the file as (X, y), or as one array of all columns; by batches, to hold them only once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    reader = pq.ParquetFile(file, pre_buffer=False)
    n = reader.metadata.num_rows
    X, y = np.empty((n, FEATURES if with_target else COLUMNS)), np.empty(n)
    start = 0
    for batch in reader.iter_batches(batch_size=65_536):
        rows = slice(start, start + len(batch))
        for j in range(X.shape[1]):
            X[rows, j] = batch.column(j).to_numpy()
        y[rows] = batch.column(TARGET).to_numpy()
        start = rows.stop
    pa.default_memory_pool().release_unused()  # else buffers as large as the file would stay resident
    return (X, y) if with_target else (X,)


def available_memory() -> int:
    import psutil

    return int(psutil.virtual_memory().available)


ENTRY = Entry(NAME, "five learners from a Parquet file: 0.5 GB, or 5 GB with --slow", run)

if __name__ == "__main__":
    print(json.dumps(fit_one(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))))
