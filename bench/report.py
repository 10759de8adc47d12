"""Tables for people, JSON for programs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .plan import Finding, Options, Report, Row

HEADINGS = ("workload", "who", "fit", "predict", "ratio", "ratio of predict", "MB", "ratio of MB", "quality")
PACKAGES = (
    "tenfold",
    "numpy",
    "scipy",
    "scikit-learn",
    "scikit-learn-intelex",
    "faiss-cpu",
    "statsmodels",
    "joblib",
    "pyarrow",
    "polars",
)


def table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A Markdown table, padded so that it reads well in a terminal too."""
    widths = [max(len(cell) for cell in column) for column in zip(headings, *lines, strict=True)]
    rule = ["-" * width for width in widths]
    padded = ([c.ljust(w) for c, w in zip(line, widths, strict=True)] for line in (headings, rule, *lines))
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def rows_table(rows: Sequence[Row]) -> str:
    return table(HEADINGS, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    who = row.who if row.role != "reference" else f"({row.who})"
    figures = ", ".join(f"{name} {value:.6g}" for name, value in row.quality.items())
    problem = [] if row.ok else [row.status]
    notes = row.notes + [f"others used {row.busy:.0%} of the machine"] * row.disturbed
    remarks = problem + [figures] * bool(figures) + [f"[{note}]" for note in notes]
    return [
        row.workload,
        who,
        seconds(row.fit_s),
        seconds(row.predict_s),
        number(row.ratio),
        number(row.predict_ratio),
        "-" if row.memory_mb is None else f"{row.memory_mb:.1f}",
        number(row.memory_ratio),
        " ".join(remarks),
    ]


def findings_table(findings: Sequence[Finding]) -> str:
    headings = ("workload", "figure", "value", "target", "")
    return table(headings, [(f.workload, f.text, f"{f.value:.3g}", f.target, _verdict(f)) for f in findings])


def _verdict(finding: Finding) -> str:
    verdict = {True: "met", False: "MISSED", None: ""}[finding.met]
    return f"{verdict}? busy machine" if finding.doubtful else verdict


def seconds(value: float | None) -> str:
    """A time with three digits, in the unit that suits it."""
    if value is None:
        return "-"
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        scaled = value * factor
        if scaled >= 0.9995:  # what rounds to 1 of this unit is not 1000 of the next
            return f"{scaled:.3g} {unit}" if scaled < 999.5 else f"{scaled:.0f} {unit}"
    return f"{value * 1e9:.0f} ns"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def machine() -> dict[str, Any]:
    """Where the figures were measured, without which they mean nothing."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "versions": versions,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


def document(reports: Sequence[Report], options: Options) -> dict[str, Any]:
    """All that was measured, as one JSON value."""
    return {
        "machine": machine(),
        "options": asdict(options),
        "rows": [row.record() for report in reports for row in report.rows],
        "findings": [finding.record() for report in reports for finding in report.findings],
        "remarks": [remark for report in reports for remark in report.remarks],
    }


def markdown(reports: Sequence[Report], options: Options) -> str:
    facts = machine()
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items())
    parts = [
        "# Benchmark",
        f"{facts['processor']}, {facts['cores']} cores, {facts['system']}, Python {facts['python']}; "
        f"{versions}; {options.threads} threads each"
        + (f"; tables {options.shrink} times smaller than usual" if options.shrink > 1 else "")
        + ".",
    ]
    findings = [finding for report in reports for finding in report.findings]
    if findings:
        parts += ["## Targets", findings_table(findings)]
    parts += ["## Results", rows_table([row for report in reports for row in report.rows])]
    remarks = [f"- {remark}" for report in reports for remark in report.remarks]
    if remarks:
        parts += ["## Remarks", "\n".join(remarks)]
    return "\n\n".join(parts) + "\n"
