"""The file of results: one line for each run, only added to, so that it can be made in pieces."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from bench.rivals.child import ABSENT, pinned
from bench.rivals.machine import BUSY, MARK, Watch
from bench.rivals.tools import CORES, TOOLS

ROOT = Path(__file__).resolve().parents[2]
PATIENCE, GRACE = 5, 60  # times its time, and seconds: then a run is ended;
LONGEST = 7200.0  # seconds of one that has no time given
Key = tuple[str, str, int, float]  # tool, table, split, seconds
Line = dict[str, Any]


def key_of(line: Line) -> Key:
    return line["tool"], line["table"], int(line["split"]), float(line["seconds"])


def read(path: Path) -> dict[Key, Line]:
    """Of each run the last line that counts, else the last one."""
    found: dict[Key, Line] = {}
    for text in path.read_text().splitlines() if path.exists() else []:
        with suppress(ValueError):  # half a line of a run that was killed
            line = json.loads(text)
            if not line["busy"] or key_of(line) not in found or found[key_of(line)]["busy"]:
                found[key_of(line)] = line
    return found


def counts(line: Line | None) -> bool:
    return line is not None and not line["busy"]


def add(path: Path, line: Line) -> None:
    """At the end, on a line of its own whatever was left there before."""
    with open(path, "a+b") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            broken = file.read(1) != b"\n"
        else:
            broken = False
        file.write(b"\n" * broken + json.dumps(line).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def run_one(key: Key, table: Path, python: str, cores: list[int]) -> Line:
    """One run in a process of its own, on these cores, with who else used them."""
    tool, name, split, seconds = key
    mark = uuid.uuid4().hex
    line: Line = dict(tool=tool, table=name, split=split, seconds=seconds, date=time.strftime("%Y-%m-%d"), cores=len(cores))
    with tempfile.TemporaryDirectory(prefix="rivals-") as place:
        out = Path(place) / "run.json"
        command = [python, "-m", "bench.rivals.child", tool, str(table.absolute()), str(split), str(seconds), str(out)]
        environment = pinned() | {MARK: mark, "TMPDIR": place}
        with open(Path(place) / "log", "w+b") as log, Watch(cores, mark) as watch:
            child = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=lambda: os.sched_setaffinity(0, cores),
            )  # fmt: skip
            try:
                code = child.wait(PATIENCE * seconds + GRACE if TOOLS[tool].timed else LONGEST)
                if code == ABSENT:
                    raise SystemExit(_last_line(Path(place) / "log"))
                why = "" if out.exists() else f"its process ended with {code}: {_last_line(Path(place) / 'log')}"
            except subprocess.TimeoutExpired:
                why = f"not over after {PATIENCE} times its time and {GRACE} seconds"
            finally:  # also on Ctrl-C
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
        line |= json.loads(out.read_text()) if not why else dict(failure=why, error=None, guess=None)
    return line | dict(wall=watch.seconds, others=round(watch.others, 4), busy=TOOLS[tool].timed and watch.others > BUSY)


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1][:200] if lines else "it said nothing"


def run_all(
    keys: Iterable[Key], tables: dict[str, Path], results: Path, pythons: dict[str, str], again: bool = False
) -> None:
    """All runs that have no line that counts yet, one after another, told as they come."""
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    done = read(results)
    for key in keys:
        tool, name, split, _ = key
        if counts(done.get(key)) and not again:
            continue
        line = run_one(key, tables[name], pythons[tool], cores)
        add(results, line)
        error = "     -     " if line["error"] is None else f"{line['error']:11.5g}"
        notes = [f"others took {line['others']:.0%}: to be repeated"] * line["busy"] + [line["failure"]] * bool(line["failure"])
        print(f"{name:20} {split} {tool:17} {error}  {line['wall']:6.1f} s  {'; '.join(notes)}", flush=True)
