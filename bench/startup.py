"""Import time in a fresh process, what it is spent on, and what must not be imported at all."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import dataclass

from .plan import Entry, Finding, Options, Report, Role, Row
from .processes import ProcessFailed, ask_python, environment

NAME = "import_time"
MOST_SECONDS = 0.25
FORBIDDEN = ("scipy.stats", "polars", "matplotlib", "dask", "sklearn")
PROBE = """
import json, sys, time
start = time.perf_counter()
{statement}
seconds = time.perf_counter() - start
print(json.dumps([seconds, len(sys.modules), [name for name in {forbidden!r} if name in sys.modules]]))
"""
LIMIT_S = 60.0


@dataclass(frozen=True)
class Import:
    """A statement to time. Tenfold's names load on first use, so that its first model is timed too."""

    statement: str
    library: str


OURS = (Import("import tenfold", "tenfold"), Import("from tenfold import Ridge", "tenfold"))
OTHERS = (Import("import numpy", "numpy"), Import("from sklearn.linear_model import Ridge", "sklearn"))


def run(options: Options) -> Report:
    report = Report()
    rows: dict[Import, Row] = {}
    for timed in OURS * options.tenfold + OTHERS * options.peers:
        if importlib.util.find_spec(timed.library) is None:
            report.remarks.append(f"{NAME}: {timed.library} skipped, it is not installed")
            continue
        role: Role = "tenfold" if timed in OURS else "reference"
        rows[timed] = Row(NAME, timed.statement, timed.library, role)
    loaded: dict[Import, list[str]] = {}
    for _ in range(options.repeats + 2):  # a start is noisier than a fit
        for timed, row in rows.items():
            if row.ok:
                loaded[timed] = _import_once(timed, row, options)
    report.rows = list(rows.values())
    for timed in OURS:
        if timed in rows and rows[timed].ok:
            _judge(timed, rows[timed], loaded[timed], options, report)
    return report


def _judge(timed: Import, row: Row, loaded: list[str], options: Options, report: Report) -> None:
    assert row.fit_s is not None
    row.notes.append("slowest: " + ", ".join(_slowest(timed.statement, options)))
    text = f"seconds of {timed.statement}"
    if timed == OURS[0]:
        met = row.fit_s < MOST_SECONDS
        report.findings.append(Finding(NAME, text, row.fit_s, f"< {MOST_SECONDS:g}", met))
    else:
        report.findings.append(Finding(NAME, text, row.fit_s))
    text = f"needless modules loaded by {timed.statement}" + (f": {', '.join(loaded)}" if loaded else "")
    report.findings.append(Finding(NAME, text, len(loaded), "0", not loaded))


def _import_once(timed: Import, row: Row, options: Options) -> list[str]:
    """Time one import; gives the forbidden modules that came along."""
    probe = PROBE.format(statement=timed.statement, forbidden=FORBIDDEN)
    try:
        seconds, count, loaded = ask_python(["-P", "-c", probe], options, limit_s=LIMIT_S)
    except ProcessFailed as failure:
        row.status = f"error: {failure}"
        return []
    row.fit_s = min(seconds, row.fit_s or float("inf"))
    row.quality = {"modules": float(count)}
    row.repeats += 1
    return list(loaded)


def _slowest(statement: str, options: Options, count: int = 4) -> list[str]:
    """The packages that the import spends most time in, by their own time (python -X importtime)."""
    traced = subprocess.run(
        [sys.executable, "-P", "-X", "importtime", "-c", statement],
        env=environment(options.threads),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
    )
    own: dict[str, int] = {}
    for line in traced.stderr.splitlines():
        fields = line.removeprefix("import time:").split("|")
        if line.startswith("import time:") and fields[0].strip().isdigit():
            package = fields[2].strip().split(".")[0]
            own[package] = own.get(package, 0) + int(fields[0])
    ranked = sorted(own.items(), key=lambda item: -item[1])[:count]
    return [f"{package} {microseconds / 1000:.0f} ms" for package, microseconds in ranked]


ENTRY = Entry(NAME, "import in a fresh process", run)
