"""One run, in a process of its own: `python -m bench.rivals.child TOOL PATH SEED SECONDS OUT`."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from bench.rivals.split import Split, apart, guess, judged, losses, split
from bench.rivals.tools import CORES, TOOLS, Tool

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TENFOLD_THREADS")

ABSENT = 3  # exit code


def run(tool: Tool, found: Split, seconds: float, seed: int) -> dict[str, Any]:
    """What a tool says, and what is true; of one that fails, why, and the error of the guess."""
    base, base_error = judged(found, losses(found, *guess(found)))
    facts: dict[str, Any] = dict(metric=found.metric, rows=len(found.train), test_rows=len(found.test), guess=base, failure=None)
    began = time.perf_counter()
    try:
        fitted = tool.fit(found, seconds, seed)
        facts["fit_seconds"] = time.perf_counter() - began
        began = time.perf_counter()
        answers = fitted.answer(found.test)
        facts["predict_seconds"] = time.perf_counter() - began
        row_losses, rows = losses(found, *answers), apart(found)
        error, standard_error = judged(found, row_losses)
        if rows.sum() > 1:  # the same of the test rows that are no copies of training rows
            alone = judged(found, row_losses[rows])
            facts["apart"] = dict(rows=int(rows.sum()), error=alone[0], standard_error=alone[1])
        if error != error:
            raise ValueError("its answers are not all numbers")
    except Exception as reason:  # whatever another library may raise: the run has failed, and says why
        traceback.print_exc()
        failed = f"{type(reason).__name__}: {str(reason).strip().splitlines()[0] if str(reason).strip() else ''}"[:300]
        return facts | dict(error=base, standard_error=base_error, failure=failed, fit_seconds=time.perf_counter() - began)
    said = dict(model=fitted.model, reported=fitted.reported, low=fitted.low, high=fitted.high, **fitted.more)
    return facts | said | dict(error=error, standard_error=standard_error)


def main(name: str, path: str, seed: str, seconds: str, out: str) -> None:
    warnings.simplefilter("ignore")
    tool = TOOLS[name]
    try:
        version = tool.version
    except ImportError as reason:  # not the tool's failure
        print(f"{sys.executable} cannot import {name}: {reason}")
        raise SystemExit(ABSENT) from None
    facts = run(tool, split(Path(path), int(seed)), float(seconds), int(seed))
    Path(out).write_text(json.dumps(facts | dict(version=version)))


def pinned() -> dict[str, str]:
    """The environment of a run: no library starts more threads than there are cores for it."""
    return {**os.environ, **dict.fromkeys(THREADS, str(CORES))}


if __name__ == "__main__":
    main(*sys.argv[1:])
