"""A large CSV file prepared for a learner: `Prepare` fitted on it and all its blocks made, beside polars that only reads it.

    python -m bench.large_csv prepare|read FILE

does it once in this process and prints {fit_s, cpu_s, others_s, peak_mb, rows}.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from .measure import MEGABYTE, Neighbours, busy_share, reset_peak, status_bytes
from .plan import Entry, Finding, Options, Report, Row
from .processes import ProcessFailed, ask_python

NAME = "large_csv"
ROWS = 7_000_000  # 1.05 GB
AT_ONCE = 200_000  # rows that are written
MOST_TIMES, MOST_RESIDENT_MB = 2.0, 1500.0
LIMIT_S = 900.0
BYTES = 150  # of a row
WAYS = ("prepare", "read")


def run(options: Options) -> Report:
    report = Report()
    rows = ROWS // options.shrink
    missing = [name for name in ("polars", "pyarrow", "tenfold") if importlib.util.find_spec(name) is None]
    if missing or not options.tenfold:
        report.remarks.append(f"{NAME}: skipped, needs {' and '.join(missing or ['tenfold'])}")
        return report
    if shutil.disk_usage(tempfile.gettempdir()).free < 1.2 * BYTES * rows:
        report.remarks.append(f"{NAME}: skipped, the temporary folder has no room for {BYTES * rows / 1e9:.1f} GB")
        return report
    with tempfile.TemporaryDirectory(prefix="tenfold-bench-") as folder:
        file = Path(folder) / "table.csv"
        write_table(file, rows)
        best = _race(file, rows, options, report)
        report.remarks.append(f"{NAME}: {rows} rows x 19 columns of mixed kinds, {file.stat().st_size / 1e9:.2f} GB")
    if best.keys() == set(WAYS):
        for key, what in (("cpu_s", "CPU"), ("fit_s", "wall")):
            times = best["prepare"][key] / best["read"][key]
            text = f"{what} time of Prepare, fit and all blocks, over that of polars' read_csv"
            report.findings.append(Finding(NAME, text, times, f"<= {MOST_TIMES:g}", times <= MOST_TIMES))
        resident = best["prepare"]["peak_mb"]
        report.findings.append(Finding(NAME, "resident MB of Prepare", resident, f"< {MOST_RESIDENT_MB:g}", resident < MOST_RESIDENT_MB))
    return report


def _race(file: Path, rows: int, options: Options, report: Report) -> dict[str, dict[str, float]]:
    """The least times of each, taken in turns."""
    best: dict[str, dict[str, float]] = {}
    shown = {
        "prepare": Row(NAME, "tenfold Prepare, fit and blocks", "tenfold", "tenfold"),
        "read": Row(NAME, "polars read_csv, reads only", "polars", "reference"),
    }
    report.rows += list(shown.values())
    for _ in range(options.repeats):
        for way, row in shown.items():
            if not row.ok:
                continue
            try:
                found = ask_python(["-m", "bench.large_csv", way, str(file)], options, limit_s=LIMIT_S)
            except ProcessFailed as failure:
                row.status = f"error: {failure}"
                continue
            if found["rows"] != rows:
                row.status = f"error: {found['rows']} rows, not {rows}"
                continue
            least = best.setdefault(way, found)
            best[way] = {key: (max if key == "peak_mb" else min)(least[key], found[key]) for key in found}
            row.fit_s, row.memory_mb, row.repeats = best[way]["fit_s"], best[way]["peak_mb"], row.repeats + 1
            row.busy = busy_share(found["fit_s"], found["others_s"])
    for way, found in best.items():
        shown[way].notes.append(f"CPU {found['cpu_s']:.2f} s, memory is the whole process")
    return {way: found for way, found in best.items() if shown[way].ok}


def write_table(file: Path, rows: int) -> None:
    """Decimals, whole numbers, gaps, categories, days and moments."""
    import polars as pl

    rng = np.random.default_rng(71)
    levels = {"colour": ["red", "green", "blue", "brown"], "town": [f"town {i}" for i in range(30)], "member": ["yes", "no"]}
    with open(file, "wb") as out:
        for start in range(0, rows, AT_ONCE):
            n = min(AT_ONCE, rows - start)
            columns = {f"x{j}": pl.Series(np.round(rng.normal(100, 20, n), 4)) for j in range(9)}
            columns["waited"] = pl.Series(np.round(rng.gamma(2.0, size=n), 3)).set(pl.Series(rng.random(n) < 0.05), None)
            columns |= {f"n{j}": pl.Series(rng.integers(0, 2000, n)) for j in range(3)}
            columns |= {name: pl.Series(np.array(some)[rng.integers(0, len(some), n)]) for name, some in levels.items()}
            day = np.datetime64("2015-01-01", "s") + rng.integers(0, 3000 * 86_400, n)
            moment = pl.Series(day.astype("datetime64[us]"))
            columns |= {"day": moment.cast(pl.Date), "moment": moment.dt.strftime("%Y-%m-%d %H:%M:%S")}
            columns["y"] = pl.Series(np.round(rng.normal(size=n), 4))
            pl.DataFrame(columns).write_csv(out, include_header=start == 0)


def once(way: str, file: str) -> dict[str, float]:
    import polars as pl

    import tenfold

    prepare = tenfold.Prepare()
    reset_peak()
    before = time.process_time()
    with Neighbours() as neighbours:
        if way == "read":
            rows = pl.read_csv(file).height
        else:
            rows = sum(len(block) for block in prepare.fit(file).blocks(file))
    cpu = time.process_time() - before
    peak = status_bytes("VmHWM") / MEGABYTE
    return {"fit_s": neighbours.wall_s, "cpu_s": cpu, "others_s": neighbours.cpu_s, "peak_mb": peak, "rows": rows}


ENTRY = Entry(NAME, "Prepare: fit on a CSV file of 1 GB and all its blocks, beside polars' own reading of it", run)

if __name__ == "__main__":
    print(json.dumps(once(*sys.argv[1:])))
