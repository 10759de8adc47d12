"""python -m bench.sizes: how long `tenfold select` takes on small, long, wide and very long tables, and how much memory.

Effort normal, two cores, the report included. The target is a sum of effects and products of the first ten columns, with noise of half its
spread; larger tables are Parquet files. Memory is the most that the command and its processes had resident together.

    python -m bench.sizes                        # all of them
    python -m bench.sizes --only 1000x20,50000x50
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import psutil

TARGET = "y"
BLOCK = 1_000_000  # rows that are drawn at once
EVERY = 0.2  # seconds between looks at the memory


@dataclass(frozen=True)
class Size:
    """A table, and what its run may take."""

    rows: int
    columns: int
    seconds: float
    gigabytes: float | None = None

    @property
    def name(self) -> str:
        return f"{self.rows}x{self.columns}"


SIZES = (
    Size(1_000, 20, 20),
    Size(50_000, 50, 180),
    Size(1_000, 5_000, 300, 2.0),
    Size(10_000_000, 20, 900, 4.0),
)


def drawn(rows: int, columns: int, seed: int = 0) -> pl.DataFrame:
    """A table, the same for the same seed."""
    parts = []
    for start in range(0, rows, BLOCK):
        rng = np.random.default_rng([seed, start])
        X = rng.standard_normal((min(BLOCK, rows - start), columns))
        signal = X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] / 2 + np.abs(X[:, 4]) + X[:, 5:10].sum(axis=1) / 4
        y = signal + signal.std() / 2 * rng.standard_normal(len(X))
        parts.append(pl.DataFrame(X, schema=[f"x{j}" for j in range(columns)]).with_columns(pl.Series(TARGET, y)))
    return pl.concat(parts)


def resident(process: psutil.Process) -> int:
    """Bytes that a process and those it has started hold."""
    total = 0
    with contextlib.suppress(psutil.Error):
        for one in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                total += one.memory_info().rss
    return total


def run(size: Size, folder: Path) -> tuple[float, float, str]:
    """Seconds, gigabytes, and the last words of the command."""
    long = size.rows * size.columns > 5_000_000
    file = folder / f"{size.name}.{'parquet' if long else 'csv'}"
    table = drawn(size.rows, size.columns)
    if long:
        table.write_parquet(file)
    else:
        table.write_csv(file)
    del table
    out = folder / f"{size.name}.tenfold"
    command = [sys.executable, "-m", "tenfold.app.cli", "select", str(file), "--target", TARGET, "--quiet", "--out", str(out)]
    began, most = time.perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as child:
        process = psutil.Process(child.pid)
        while child.poll() is None:
            most = max(most, resident(process))
            time.sleep(EVERY)
        seconds = time.perf_counter() - began
        said = (child.stdout.read() if child.stdout is not None else "").strip().splitlines()
    file.unlink()
    if child.returncode != 0:
        raise SystemExit(f"{size.name}: ended with {child.returncode}: {said[-1] if said else ''}")
    return seconds, most / 1e9, said[0] if said else ""


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.sizes", description=__doc__, formatter_class=form)
    parser.add_argument("--only", help=f"some of {', '.join(size.name for size in SIZES)}")
    only = parser.parse_args().only
    wanted = {size.name for size in SIZES} if only is None else set(only.split(","))
    missed = False
    with tempfile.TemporaryDirectory(prefix="tenfold-sizes-") as folder:
        for size in SIZES:
            if size.name not in wanted:
                continue
            seconds, gigabytes, said = run(size, Path(folder))
            late = seconds > size.seconds or (size.gigabytes is not None and gigabytes > size.gigabytes)
            missed |= late
            limit = f"{'missed: ' if late else ''}at most {size.seconds:.0f} s"
            limit += "" if size.gigabytes is None else f", {size.gigabytes:g} GB"
            print(f"{size.name:>12}  {seconds:6.1f} s  {gigabytes:5.2f} GB  ({limit})  {said}", flush=True)
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
