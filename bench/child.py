"""The process of one contender: load the data, warm up, then run once for every line read.

    python -m bench.child WORKLOAD CONTENDER FOLDER

Speaks JSON lines on what was its standard output; whatever the libraries print goes to standard error.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from .catalog import RACES
from .data import load
from .measure import Meter, Neighbours
from .plan import Contender, Data

WARM_UP_ROWS = 4000


def main(workload: str, contender: str, folder: str) -> None:
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(**message: Any) -> None:
        channel.write(json.dumps(message) + "\n")
        channel.flush()

    chosen = RACES[workload].contender(contender)
    data = load(Path(folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Imports, thread pools and worker processes are there from now on.
        chosen.run(head(data), Meter(with_memory=False))
    say(ready=True)
    for number, _ in enumerate(sys.stdin):
        say(**measured_run(chosen, data, first=number == 0))


def head(data: Data) -> Data:
    return {name: array[:WARM_UP_ROWS] for name, array in data.items()}


def measured_run(contender: Contender, data: Data, *, first: bool) -> dict[str, Any]:
    """One run; the first also measures memory, because later ones reuse what the allocator kept."""
    meter = Meter(with_memory=first and not contender.processes)
    fallbacks = Fallbacks()
    with Neighbours() as neighbours, warnings.catch_warnings(record=True) as caught, fallbacks:
        warnings.simplefilter("always")
        quality = contender.run(data, meter)
    told = sorted({warning.category.__name__ for warning in caught} | fallbacks.seen)
    return {
        "fit_s": meter.fit_s,
        "predict_s": meter.predict_s,
        "memory_mb": meter.memory_mb,
        "quality": {name: float(value) for name, value in quality.items()},
        "notes": told,
        "wall_s": neighbours.wall_s,
        # Worker processes of the contender itself would pass for others.
        "others_s": 0.0 if contender.processes else neighbours.cpu_s,
    }


class Fallbacks(logging.Handler):
    """Notes when scikit-learn-intelex hands a call back to scikit-learn: it is then not a peer of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.logger = logging.getLogger("sklearnex")

    def emit(self, record: logging.LogRecord) -> None:
        if "fallback" in record.getMessage():
            self.seen.add("fell back to sklearn")

    def __enter__(self) -> Fallbacks:
        self.logger.setLevel(logging.INFO)
        self.logger.propagate = False
        self.logger.addHandler(self)
        return self

    def __exit__(self, *exception: object) -> None:
        self.logger.removeHandler(self)


if __name__ == "__main__":
    main(*sys.argv[1:])
