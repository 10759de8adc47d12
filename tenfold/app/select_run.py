"""One run of `tenfold select` from the first line to the last: work, show, save, report, and hold against rows kept apart."""

from __future__ import annotations

import contextlib
import shlex
import signal
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import tenfold
from tenfold.app.failures import STOPPED, TOO_LITTLE_TIME, Stopped, print_message
from tenfold.app.show import Silent
from tenfold.app.words import file_size
from tenfold.core.errors import BadFile, BadParameter, TenfoldError, TenfoldWarning
from tenfold.core.memory import memory
from tenfold.core.threads import thread_budget
from tenfold.report.folder import explained_of, report_run
from tenfold.report.plain_words import words_of
from tenfold.selection.job import Job
from tenfold.selection.model.store import BEST, HELD_OUT, MODEL, RECORD, REPORT, SIMPLE, is_finished, stopped_folder
from tenfold.selection.monitor.labelled import labelled_rows
from tenfold.selection.monitor.promise import kept
from tenfold.selection.race.checkpoint import Checkpoint
from tenfold.selection.race.deadline import Deadline
from tenfold.selection.run import Run, run_of
from tenfold.selection.settings import Settings
from tenfold.selection.targets import columns_in
from tenfold.table.columns import check_name
from tenfold.table.reading import first_line

LONG_TO_READ, WIDE = 50_000_000, 2000  # cells of a table, and columns
SPENT = 0.8  # of the time that was given, from where it is not spent on looking into the model


@dataclass(frozen=True)
class Request:
    """A run that is asked for: the table, what to predict, and where what comes of it goes."""

    file: Path
    target: str
    folder: Path
    settings: Settings
    note: str | None = None  # why the folder is not the usual one
    replace: bool = False
    holdout: Path | None = None  # rows that are kept apart, to judge the saved model by
    others: Sequence[str] = ()  # columns that other runs predict

    def check_holdout(self) -> None:
        """Refuse, before any work is done, rows kept apart that cannot be judged by."""
        if self.holdout is None:
            return
        if self.holdout.exists() and self.file.exists() and self.holdout.samefile(self.file):
            raise BadParameter(f"holdout={str(self.holdout)!r}: this is the table itself; give rows that are not in it")
        check_name(self.target, columns_in(self.holdout), f" in {self.holdout.name}, to judge predictions by")

    @property
    def asked(self) -> dict[str, Any]:
        """What a checkpoint keeps of it."""
        where = dict(file=str(self.file.absolute()), replace=self.replace)
        return dict(settings=self.settings.facts(), target=self.target, others=list(self.others), **where)


@dataclass(frozen=True)
class Ended:
    """How a run ended: the exit code, and the folder that it was saved in."""

    code: int
    folder: Path | None


def run_select(request: Request, show: Silent, checkpoint: Checkpoint | None = None) -> Ended:
    """Run, show and save; from a checkpoint, go on where that was."""
    began, folder, settings = time.perf_counter(), request.folder, request.settings
    resumed, saved = checkpoint is not None, False
    try:
        request.check_holdout()
        show("start", **start_facts(settings.seed), effort=settings.effort, time=settings.time)
        if checkpoint is None:
            checkpoint = Checkpoint(folder, dict(request.asked, sha256=None))
        found = run_of(Job(show, True, settings, checkpoint, others=request.others).run(request.file, request.target))
        notes = [] if request.note is None else [request.note]
        keeps = f"{folder}/ keeps its finished model; this one was stopped"
        if not found.leaderboard and (found.interrupted or found.record["cut_by_time"]) and is_finished(folder):
            show("kept", note=f"{keeps} before there was anything to save")
            return _ended(found, None)
        if found.interrupted and is_finished(folder) and (resumed or not request.replace):
            notes = [keeps]
            folder = stopped_folder(folder, found.record)
        with undisturbed():
            _save(found, folder, request.replace, checkpoint)
            saved = True
        if not (found.interrupted or found.record["cut_by_time"]):
            checkpoint.forget()
        _report_and_judge(request, show, found, folder, notes, began)
        _show_saved(request, show, folder, notes, checkpoint)
        show("done", seconds=time.perf_counter() - began, of=settings.time)
    except KeyboardInterrupt:
        if saved:
            raise Stopped(f"stopped; the model is saved in {folder}/") from None
        if checkpoint is not None and checkpoint.path.exists():
            raise Stopped(f"stopped; nothing was saved: tenfold resume {shlex.quote(str(checkpoint.folder))} goes on") from None
        raise
    finally:
        show.close()
    return _ended(found, folder)


def _save(found: Run, folder: Path, replace: bool, checkpoint: Checkpoint) -> None:
    """Save the run; where that cannot be done, what the race has come to need not be lost."""
    try:
        found.save(folder, replace)
    except BadFile as reason:
        if not checkpoint.path.exists():
            raise
        again = f"tenfold resume {shlex.quote(str(checkpoint.folder))}"
        raise BadFile(f"{reason}; then {again} goes on, where a new run would begin anew") from None


def start_facts(seed: int) -> dict[str, Any]:
    """What the first line tells."""
    return dict(version=tenfold.__version__, seed=seed, cores=thread_budget(), free=memory()[0])


def _ended(found: Run, folder: Path | None) -> Ended:
    """How the run ended; that nothing was fitted in time is told as the failures of other commands are."""
    if found.interrupted:
        return Ended(STOPPED, folder)
    if not found.record["cut_by_time"] or found.leaderboard:
        return Ended(0, folder)
    print_message("the time was over before anything was fitted: give more with --time")
    return Ended(TOO_LITTLE_TIME, folder)


def _report_and_judge(request: Request, show: Silent, found: Run, folder: Path, notes: list[str], began: float) -> None:
    """What comes after the model is saved, and cannot harm it: the report, plain words, and rows that were kept apart."""
    notes += report_into(folder, request.file, found.record, began)
    words = words_of(found.record, found.held_out, explained_of(folder))
    if words:
        show("words", lines=words)
    if request.holdout is None:
        return
    try:
        labelled = labelled_rows(found.model, request.holdout, found.record["data"]["sha256"], found.record["settings"])
        scores = [asdict(one) for one in kept(labelled, found.record)]
        show("holdout", file=request.holdout.name, rows=labelled.rows, target=request.target, notes=labelled.notes, scores=scores)
    except TenfoldError as reason:
        notes.append(f"{request.holdout.name} was not judged: {first_line(reason)}")


def _show_saved(request: Request, show: Silent, folder: Path, notes: list[str], checkpoint: Checkpoint) -> None:
    stopped = checkpoint.folder if checkpoint.path.exists() else None
    if checkpoint.trouble is not None:
        notes.append(f"the run could not be kept while it ran, for tenfold resume: {checkpoint.trouble}")
    show("saved", **saved_facts(folder), commands=next_commands(folder, request.file, stopped), notes=notes)


def saved_facts(folder: Path) -> dict[str, Any]:
    """What there is in the folder of a run."""
    size = file_size((folder / MODEL).stat().st_size)
    rows = tenfold.inspect(folder / MODEL).holds_training_rows
    files = sorted(entry.name for entry in folder.iterdir() if entry.name in (RECORD, HELD_OUT, REPORT, SIMPLE, BEST))
    return dict(folder=str(folder), size=size, rows=rows, files=files)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """A moment in which neither Ctrl-C nor a request to end is heeded."""
    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def report_into(folder: Path, file: Path, record: dict[str, Any], began: float) -> list[str]:
    """Write the report into the folder; why there is none, where it cannot be written. The model is saved by now, whatever comes.

    What drives the model takes the table again: not of one that is long to read or wide, of a run that was stopped, or where the time is
    nearly up, and no longer than that lasts; `tenfold report DIR FILE` finds it out later.
    """
    limit, columns = record["settings"].get("time"), record["data"]["columns"]
    large = columns > WIDE or record["data"]["rows"] * columns > LONG_TO_READ
    left = None if limit is None else limit - (time.perf_counter() - began)
    without = large or record["interrupted"] or (left is not None and left < (1 - SPENT) * limit)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TenfoldWarning)  # of the table, told when it was read first
            with Deadline(False, None if without else left) as deadline:
                report_run(folder, None if without else file)
            if deadline.cut:
                without = True
                report_run(folder)
    except Exception as reason:  # whatever it is: the model is saved, and the run ends as it should
        return [f"no report was written: {first_line(reason) or type(reason).__name__}"]
    except KeyboardInterrupt:
        return [f"the report was stopped: tenfold report {shlex.quote(str(folder))} writes it"]
    again = f"tenfold report {shlex.quote(str(folder))} {shlex.quote(str(file))}"
    nothing = record.get("signal") is False or not record.get("board", True)  # drives a guess
    return [f"the report does not tell what drives the model, which takes longer: {again} finds it out"] if without and not nothing else []


def next_commands(folder: Path, file: Path, stopped: Path | None = None) -> list[str]:
    """What to type next, ready to paste."""
    there, table = shlex.quote(str(folder)), shlex.quote(str(file))
    return [
        *([] if stopped is None else [f"tenfold resume {shlex.quote(str(stopped))}     go on where it was stopped"]),
        f"tenfold predict {there} {table}     predictions for the rows of a file",
        f"tenfold report {there} --open     the report in the browser",
        f"tenfold explain {there} {table} --row 1     why a row gets its prediction",
        f"tenfold reproduce {there} {table}     the same again, bit for bit",
    ]


def checkpoint_of(request: Request) -> Checkpoint | None:
    """Where a run of the same table, target and settings was stopped; None where there is none."""
    try:
        found = Checkpoint.found(request.folder)
    except BadFile:
        return None
    wanted, other = request.asked, {name: found.asked[name] for name in request.asked}
    if Settings.of(other["settings"]) != request.settings or any(other[name] != wanted[name] for name in ("target", "file")):
        raise BadFile(
            f"{found.path} is of a run with other settings: tenfold resume {shlex.quote(str(request.folder))} goes on with those, "
            "and without --resume this one begins anew"
        )
    return found
