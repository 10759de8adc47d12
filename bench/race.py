"""One race: each contender in a process of its own, repeats interleaved so that noise hits all alike."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from .data import save
from .judge import judge
from .measure import busy_share
from .plan import Contender, Options, Report, Row, Workload
from .processes import environment, last_line

CALL_LIMIT_S, CALL_LIMIT_SLOW_S = 150.0, 900.0  # a call that takes longer is stopped and recorded as such
START_LIMIT_S = 120.0
END_LIMIT_S = 10.0
ENOUGH_S = 10.0  # a contender that has used this much is not called again
MOST_REPEATS = 15
SHORT_RACE_S = 4.0  # short races go on beyond the repeats asked for, up to this much; less on shrunk tables


def race(workload: Workload, options: Options) -> Report:
    report = Report()
    entrants = []
    for contender in filter(options.admits, workload.contenders):
        if importlib.util.find_spec(contender.library) is None:
            lacking = f"{contender.library} is not installed"
            report.remarks.append(f"{workload.name}: {contender.name} skipped, {lacking}")
        else:
            entrants.append(contender)
    if not entrants:
        report.remarks.append(f"{workload.name}: nobody to run")
        return report
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tenfold-bench-")))
        save(workload.make(options.shrink), folder)
        racers = [stack.enter_context(Racer(workload, c, folder, options)) for c in entrants]
        if options.against:
            ours = [c for c in entrants if c.role == "tenfold"]
            racers += [stack.enter_context(Racer(workload, c, folder, options, options.against)) for c in ours]
        for racer in racers:
            racer.wait_until_ready()
        rounds, spent, short = 0, 0.0, SHORT_RACE_S / options.shrink**0.5
        while rounds < options.repeats or (rounds < MOST_REPEATS and spent < short):
            spent += sum(racer.run_once() for racer in racers)
            rounds += 1
        report.rows = [racer.row for racer in racers]
    judge(workload, report)
    return report


class Racer:
    """The parent's side of a contender: its process, and the row that its runs fill.

    `version` is the folder of another version of Tenfold, whose own benchmark runs the contender; it then counts as a peer.
    """

    def __init__(
        self, workload: Workload, contender: Contender, folder: Path, options: Options, version: str = ""
    ) -> None:
        self.row = Row(workload.name, contender.name, contender.library, contender.role)
        if version:
            self.row = Row(workload.name, f"{contender.name} of {Path(version).name}", contender.library, "peer")
        self.limit_s = CALL_LIMIT_SLOW_S if options.slow else CALL_LIMIT_S
        self.used_s = 0.0
        self.wall_s, self.others_s = 0.0, 0.0
        self.stopped = False
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by _stop)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.child", workload.name, contender.name, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment(options.threads) | ({"PYTHONPATH": version} if version else {}),
            cwd=version or None,
            start_new_session=True,  # so that its own worker processes end with it
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._dismiss()
        self.row.busy = busy_share(self.wall_s, self.others_s)

    def wait_until_ready(self) -> None:
        self._receive(START_LIMIT_S)

    def run_once(self) -> float:
        """One more run, unless the contender failed or has used its time; gives the seconds it took."""
        if not self.row.ok or self.used_s > ENOUGH_S:
            return 0.0
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # a process that died is told by what it does not answer
            self.process.stdin.write(b"run\n")
            self.process.stdin.flush()
        answer = self._receive(self.limit_s)
        if answer is None:
            return 0.0
        self._take(answer)
        seconds: float = answer["fit_s"] + (answer["predict_s"] or 0.0)
        self.used_s += seconds
        return seconds

    def _take(self, answer: dict[str, Any]) -> None:
        row = self.row
        if row.fit_s is None or answer["fit_s"] < row.fit_s:
            row.fit_s = answer["fit_s"]
        if answer["predict_s"] is not None:
            row.predict_s = min(answer["predict_s"], row.predict_s or float("inf"))
        if answer["memory_mb"] is not None:
            row.memory_mb = answer["memory_mb"]
        row.quality = answer["quality"]
        row.notes += [note for note in answer["notes"] if note not in row.notes]
        row.repeats += 1
        self.wall_s += answer["wall_s"]
        self.others_s += answer["others_s"]

    def _receive(self, limit_s: float) -> dict[str, Any] | None:
        """The next message; None, and a status that says why, if there is none."""
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], limit_s)
        line = self.process.stdout.readline() if readable else b""
        if line:
            message: dict[str, Any] = json.loads(line)
            return message
        reason = f"error: {self._last_words()}" if readable else f"stopped after {limit_s:.0f} s"
        if self.row.repeats == 0:
            self.row.status = reason
        else:  # what was measured before stays measured
            self.row.notes.append(f"a later run: {reason}")
            self.used_s = float("inf")
        self._stop()
        return None

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=10)
        self.errors.seek(0)
        complaint = last_line(self.errors.read().decode(errors="replace"))
        return complaint[:200] or f"exit status {self.process.returncode}"

    def _dismiss(self) -> None:
        """Let it end by itself, which cleans up after its worker processes; stop it if it does not."""
        if not self.stopped:
            assert self.process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=END_LIMIT_S)
        self._stop()

    def _stop(self) -> None:
        if self.stopped:  # its number may by now belong to somebody else
            return
        self.stopped = True
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self.errors.close()
