"""Fresh Python processes with one thread budget for everybody."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from .plan import Options


class ProcessFailed(Exception):
    """A measuring process ended without an answer; the text is its last line of complaint."""


def environment(threads: int) -> dict[str, str]:
    """The variables every contender is started with.

    OpenBLAS workers that spin after a call stall the next small call for whole scheduler slices on a
    machine with few cores; sleeping at once (4) makes NumPy and scikit-learn several times faster there.
    """
    pools = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")
    budget = {f"{pool}_NUM_THREADS": str(threads) for pool in pools}
    budget |= {"POLARS_MAX_THREADS": str(threads), "TENFOLD_THREADS": str(threads)}
    budget |= {"LOKY_MAX_CPU_COUNT": str(threads), "OPENBLAS_THREAD_TIMEOUT": "4"}
    return os.environ | budget


def ask_python(arguments: list[str], options: Options, *, limit_s: float) -> Any:
    """Run `python ARGUMENTS` to its end and read the JSON value in the last line it prints."""
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            env=environment(options.threads),
            capture_output=True,
            text=True,
            timeout=limit_s,
        )
    except subprocess.TimeoutExpired as late:
        raise ProcessFailed(f"stopped after {limit_s:.0f} s") from late
    if done.returncode != 0:
        raise ProcessFailed(last_line(done.stderr) or f"exit status {done.returncode}")
    return json.loads(last_line(done.stdout))


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
