"""python -m bench.interrupts: `tenfold select` stopped and killed at random moments.

SIGINT or SIGTERM    the command ends within 5 seconds with 130 (or 0, where it was done), leaving a folder that can be loaded and
                     predicts, or, where there was nothing to save yet, one sentence and nothing else
SIGKILL              `tenfold resume` ends with the bits of a run that nobody disturbed; where no race had been written yet, it says so

Moments are seconds of processor time, so that they are spread over a run however busy the machine is; for the same reason the seconds that
a run takes to its end are the lesser of wall clock and processor time.

    nice python -m bench.interrupts --moments 20 --kills 5
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
import psutil

import tenfold

LIMIT = 5.0  # seconds
STARTING = 0.5  # in which a process may not have come to our first line, which is the first to heed signals
TABLE, TARGET, FOLDER = "t.csv", "y", "t.tenfold"


@dataclass
class Case:
    """One run that was disturbed, and what is wrong with how it ended."""

    signal: str
    moment: float  # processor seconds after its start
    code: int = 0
    seconds: float = 0.0  # from the signal to its end
    left: str = ""
    wrong: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        says = "; ".join(self.wrong) or "ok"
        return f"{self.signal:8} at {self.moment:6.2f} s   ended with {self.code:4} after {self.seconds:5.2f} s   {self.left:38} {says}"


def write_table(path: Path, rows: int) -> None:
    """Numbers, a category, gaps, and three classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 8))
    word = rng.integers(0, 4, rows)
    scores = np.column_stack([X[:, 0] * X[:, 1], X[:, 2] + (word == 1), np.sin(2 * X[:, 3])]) + rng.gumbel(size=(rows, 3))
    columns = {f"x{j}": pl.Series(np.where(rng.random(rows) < 0.03, np.nan, X[:, j])).fill_nan(None) for j in range(8)}
    words = pl.Series(["red", "green", "blue", "grey"])[word.tolist()]
    pl.DataFrame({**columns, "word": words, TARGET: pl.Series(["a", "b", "c"])[scores.argmax(axis=1).tolist()]}).write_csv(path)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tenfold.app.cli", *arguments]


def select(place: Path, effort: str) -> subprocess.Popen[str]:
    asked = command("select", TABLE, "--target", TARGET, "--effort", effort)
    return subprocess.Popen(asked, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def used(pid: int) -> float:
    """Processor seconds of a process so far, its workers and those that have ended included."""
    try:
        process = psutil.Process(pid)
        return sum(sum(one.cpu_times()[:4]) for one in (process, *process.children(recursive=True)))  # user, system, both of children
    except psutil.Error:
        return 0.0


def spent_by_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def disturb(place: Path, effort: str, number: signal.Signals, moment: float) -> tuple[Case, str, str]:
    """Start a run, send the signal, and wait for its end; what it said on both outputs comes too."""
    before = spent_by_children()
    process = select(place, effort)
    while process.poll() is None and used(process.pid) < moment:
        time.sleep(0.005)
    spent, sent = used(process.pid), time.perf_counter()
    process.send_signal(number)
    out, err = process.communicate()
    wall, processor = time.perf_counter() - sent, spent_by_children() - before - spent
    return Case(number.name, moment, process.returncode, min(wall, max(processor, 0.0))), out, err


def model_of(place: Path) -> bytes:
    return (place / FOLDER / "model.tenfold").read_bytes()


def resumed(place: Path, case: Case, whole: bytes) -> None:
    """Go on, and compare."""
    done = subprocess.run(command("resume", FOLDER, "--quiet"), cwd=place, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        case.wrong.append(f"resume ended with {done.returncode}: {done.stderr.strip()[-200:]}")
    elif model_of(place) != whole:
        case.wrong.append("resumed, it has other bits")
    case.left += ", resumed"


def check_stopped(place: Path, case: Case, err: str, whole: bytes, go_on: bool) -> None:
    """What a run that was asked to end has left."""
    if case.code in (-signal.SIGINT, -signal.SIGTERM, 1) and case.moment < STARTING and not (place / FOLDER).exists():
        case.left = "nothing: Python itself was starting"
        return
    if case.seconds > LIMIT:
        case.wrong.append(f"took {case.seconds:.1f} s")
    if case.code not in (0, 130):
        case.wrong.append(f"ended with {case.code}: {err.strip()[-300:]}")
    if "Traceback" in err:
        case.wrong.append("a traceback")
    strange = {one.name for one in place.iterdir()} - {TABLE, FOLDER, f"{FOLDER}.race"}
    if strange:
        case.wrong.append(f"left {', '.join(sorted(strange))}")
    if (place / FOLDER).exists():
        record = json.loads((place / FOLDER / "run.json").read_text())
        answers = tenfold.load(place / FOLDER / "model.tenfold").predict(pl.read_csv(place / TABLE).drop(TARGET))
        case.left = "stopped model" if record["interrupted"] else "finished model"
        if not set(map(str, answers)) <= {"a", "b", "c"}:
            case.wrong.append("its answers are no classes of the table")
        if not record["interrupted"] and model_of(place) != whole:
            case.wrong.append("it says it was not stopped, and has other bits")
    else:
        case.left = "nothing"
        lines = [one for one in err.strip().splitlines() if not one.startswith("RACE ")]  # progress
        if len(lines) != 1 or not lines[0].startswith("tenfold: stopped"):
            case.wrong.append(f"nothing is saved, and it says {' '.join(lines)[-200:]!r}")
    if go_on and (place / f"{FOLDER}.race").exists():
        resumed(place, case, whole)


def check_killed(place: Path, case: Case, whole: bytes) -> None:
    """What a run that was killed has left."""
    if (place / f"{FOLDER}.race").exists():
        case.left = "a race"
        resumed(place, case, whole)
    elif (place / FOLDER).exists():
        case.left = "finished model"
        if model_of(place) != whole:
            case.wrong.append("it has other bits")
    else:
        case.left = "nothing"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=20, help="of SIGINT and SIGTERM in turn")
    parser.add_argument("--kills", type=int, default=5, help="of SIGKILL")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--effort", default="quick")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--resume", type=int, default=4, help="every so many stopped runs are resumed")
    asked = parser.parse_args()
    rng, wrong = np.random.default_rng(asked.seed), 0
    with tempfile.TemporaryDirectory() as root:
        first = Path(root) / "whole"
        first.mkdir()
        write_table(first / TABLE, asked.rows)
        select(first, asked.effort).communicate()
        length, whole = spent_by_children(), model_of(first)
        print(f"undisturbed: {length:.1f} s of processor time", flush=True)
        kinds = [(signal.SIGINT, signal.SIGTERM)[k % 2] for k in range(asked.moments)] + [signal.SIGKILL] * asked.kills
        for k, number in enumerate(kinds):
            place = Path(root) / str(k)
            place.mkdir()
            write_table(place / TABLE, asked.rows)
            case, _, err = disturb(place, asked.effort, number, float(rng.uniform(0, 1.05 * length)))
            if number == signal.SIGKILL:
                check_killed(place, case, whole)
            else:
                check_stopped(place, case, err, whole, k % asked.resume == 0)
            wrong += bool(case.wrong)
            print(case, flush=True)
    print(f"{wrong} of {len(kinds)} went wrong")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
