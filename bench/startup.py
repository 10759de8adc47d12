"""Import time in a fresh process, what it is spent on, and what must not be imported at all."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

from .plan import Entry, Finding, Options, Report, Row
from .processes import ProcessFailed, ask_python, environment

NAME = "import_time"
MOST_SECONDS = 0.25
FORBIDDEN = ("scipy.stats", "polars", "matplotlib", "dask", "sklearn")
PEERS = ("numpy", "sklearn.linear_model")
PROBE = """
import json, sys, time
start = time.perf_counter()
import {module}
seconds = time.perf_counter() - start
print(json.dumps([seconds, len(sys.modules), [name for name in {forbidden!r} if name in sys.modules]]))
"""
LIMIT_S = 60.0


def run(options: Options) -> Report:
    report = Report()
    modules = ("tenfold",) * options.tenfold + PEERS * options.peers
    rows = {m: Row(NAME, f"import {m}", m.split(".")[0], "reference") for m in modules}
    loaded: list[str] = []
    for _ in range(options.repeats + 2):  # a start is noisier than a fit
        for module, row in rows.items():
            if row.ok:
                loaded = _import_once(module, row, options) or loaded
    report.rows = list(rows.values())
    ours = rows.get("tenfold")
    if ours is not None:
        ours.role = "tenfold"
    if ours is not None and ours.ok and ours.fit_s is not None:
        ours.notes.append("slowest: " + ", ".join(_slowest("tenfold", options)))
        met = ours.fit_s < MOST_SECONDS
        text = "seconds of import tenfold"
        report.findings.append(Finding(NAME, text, ours.fit_s, f"< {MOST_SECONDS:g}", met))
        text = "modules loaded that should wait" + (f": {', '.join(loaded)}" if loaded else "")
        report.findings.append(Finding(NAME, text, len(loaded), "0", not loaded))
    return report


def _import_once(module: str, row: Row, options: Options) -> list[str]:
    """Time one import; for tenfold, the forbidden modules that came along."""
    if importlib.util.find_spec(row.library) is None:
        row.status = "not installed"
        return []
    probe = PROBE.format(module=module, forbidden=FORBIDDEN)
    try:
        seconds, count, loaded = ask_python(["-c", probe], options, limit_s=LIMIT_S)
    except ProcessFailed as failure:
        row.status = f"error: {failure}"
        return []
    row.fit_s = min(seconds, row.fit_s or float("inf"))
    row.quality = {"modules": float(count)}
    row.repeats += 1
    return loaded if module == "tenfold" else []


def _slowest(module: str, options: Options, count: int = 4) -> list[str]:
    """The packages that the import spends most time in, by their own time (python -X importtime)."""
    traced = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"import {module}"],
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
