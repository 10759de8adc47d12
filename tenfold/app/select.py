"""`tenfold select` and `tenfold demo`: a model for a table, chosen, estimated and saved."""

from __future__ import annotations

import contextlib
import shlex
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import tenfold
from tenfold.app.failures import STOPPED, UNUSABLE, Stopped, print_message
from tenfold.app.options import JsonFlag, Out, QuietFlag, Replace, Table, Targets, with_settings
from tenfold.app.show import Json, Quiet, Silent, Text, result_of
from tenfold.app.words import file_size, short
from tenfold.core.errors import BadFile, BadParameter, TenfoldError, TenfoldWarning
from tenfold.core.threads import thread_budget
from tenfold.report.folder import report_run
from tenfold.selection.checkpoint import Checkpoint
from tenfold.selection.job import Job
from tenfold.selection.run import run_of
from tenfold.selection.settings import Settings
from tenfold.selection.store import MODEL, UNSAFE, check_folder, is_finished, record_of, stopped_folder, usual_folder
from tenfold.selection.targets import columns_in, named_targets, settings_of
from tenfold.table.reading import first_line, place_of, read_table

MOST_NAMES = 20
LONG_TO_READ, WIDE = 50_000_000, 2000  # cells of a table, and columns
SPENT = 0.8  # of the time that was given, from where it is not spent on looking into the model


@with_settings(Settings)
def select_command(
    file: Table,
    settings: Settings,
    target: Targets = None,
    out: Out = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
    replace: Replace = False,
) -> int:
    """Try many models on a table, choose one, estimate how good it is on new rows, and save it.

    Example:  tenfold select churn.csv --target churned
    """
    names = target or [named_target(file, None)]
    if len(names) > 1 or "," in names[0]:
        names = named_targets(names, columns_in(file))
    if len(names) > 1:
        return _select_each(file, names, out, replace, quiet, as_json, settings)
    return _select(file, names[0], out, replace, quiet, as_json, settings)


@with_settings(Settings, "seed", "folds", "effort", effort="quick")
def demo_command(
    settings: Settings, out: Out = None, quiet: QuietFlag = False, as_json: JsonFlag = False, replace: Replace = False
) -> int:
    """The same on a table that is included, three species of penguins, with little effort: --effort normal tries more.

    Example:  tenfold demo
    """
    with resources.as_file(resources.files("tenfold") / "data" / "penguins.csv") as file:
        return _select(file, "species", out, replace, quiet, as_json, settings)


def named_target(file: Path, target: str | None) -> str:
    """The target that was named; where none was, say which columns there are."""
    if target is not None:
        return target
    names = [short(name, 30) for name in read_table(file).frame.columns]
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 4], "...", *names[-4:]]  # the target is often the last
    raise BadParameter(f"name the column to predict with --target: {file.name} has {', '.join(names)}")


def _select(file: Path, target: str, out: Path | None, replace: bool, quiet: bool, as_json: bool, settings: Settings) -> int:
    folder, note = folder_for(file, target, out, replace)
    return run_select(file, target, folder, note, replace, quiet, as_json, settings)


def _select_each(
    file: Path, targets: list[str], out: Path | None, replace: bool, quiet: bool, as_json: bool, settings: Settings
) -> int:
    """One target after another, each in a folder of its own; what is done stays, whatever becomes of the others."""
    asked = {target: settings_of(settings, target, targets) for target in targets}
    folders = {target: folder_for(file, target, place, replace)[0] for target, place in _folders(file, targets, out).items()}
    show: Silent = Json() if as_json else Quiet() if quiet else Text()
    rows, code = list[dict[str, Any]](), 0
    try:
        for target, folder in folders.items():
            show("target", target=target, targets=targets)
            row: dict[str, Any] = dict(target=target, folder=None)
            rows.append(row)
            try:
                ended = run_select(file, target, folder, None, replace, quiet, as_json, asked[target])
            except TenfoldError as reason:
                print_message(f"{short(target)}: {first_line(reason)}")
                row["reason"], code = first_line(reason), UNUSABLE
                continue
            row |= dict(folder=str(folder), **result_of(record_of(folder)))
            if ended == STOPPED:
                return STOPPED
    finally:
        show("results", rows=rows, left=targets[len(rows) :])
        show.close()
    return code


def _folders(file: Path, targets: list[str], out: Path | None) -> dict[str, Path]:
    """A folder for each target: below the one that was named, or beside the table's name."""
    if out is not None:
        if record_of(out):
            raise BadFile(f"{out} holds a run: name a folder for the runs of all targets with --out")
        out.mkdir(exist_ok=True)
    found, taken = dict[str, Path](), set[str]()
    for target in targets:
        name = UNSAFE.sub("_", target)[:40]
        while name in taken:
            name += "_"
        taken.add(name)
        found[target] = Path(f"{stem_of(file)}-{name}.tenfold") if out is None else out / f"{name}.tenfold"
    return found


def run_select(
    file: Path,
    target: str,
    folder: Path,
    note: str | None,
    replace: bool,
    quiet: bool,
    as_json: bool,
    settings: Settings,
    checkpoint: Checkpoint | None = None,
) -> int:
    """Run, show and save; from a checkpoint, go on where that was."""
    began = time.perf_counter()
    show: Silent = Json() if as_json else Quiet() if quiet else Text()
    saved: Path | None = None
    try:
        show("start", version=tenfold.__version__, seed=settings.seed, cores=thread_budget())
        if checkpoint is None:
            checkpoint = Checkpoint(folder, dict(settings=settings.facts(), target=target, file=str(file.absolute()), sha256=None))
        found = run_of(Job(show, True, settings, checkpoint).run(file, target))
        if found.interrupted and is_finished(folder) and not replace:
            finished, folder = folder, stopped_folder(folder, found.record)
            note = f"{finished}/ keeps its finished model; this one was stopped"
        if note is not None and found.interrupted and not found.leaderboard:
            show("kept", note=f"{note} before there was anything to save")
            return STOPPED
        with undisturbed():
            saved = found.save(folder, replace)
        if not (found.interrupted or found.record["cut_by_time"]):
            checkpoint.forget()
        note = note or _report(folder, file, found.record, began)
        size = file_size((folder / MODEL).stat().st_size)
        rows = tenfold.inspect(folder / MODEL).holds_training_rows
        commands = next_commands(folder, file, checkpoint.folder if checkpoint.path.exists() else None)
        show("saved", folder=str(folder), size=size, rows=rows, commands=commands, note=note)
        show("done", seconds=time.perf_counter() - began)
    except KeyboardInterrupt:
        if saved is not None:
            raise Stopped(f"stopped; the model is saved in {saved}/") from None
        if checkpoint is not None and checkpoint.path.exists():
            raise Stopped(f"stopped; nothing was saved: tenfold resume {shlex.quote(str(checkpoint.folder))} goes on") from None
        raise
    finally:
        show.close()
    return STOPPED if found.interrupted else 0


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


def _report(folder: Path, file: Path, record: dict[str, Any], began: float) -> str | None:
    """Write the report into the folder; why there is none, where it cannot be written. The model is saved by now, whatever comes.

    What drives the model takes the table again: not of one that is long to read or wide, of a run that was stopped, or where the time is
    up; `tenfold report DIR FILE` finds it out later.
    """
    limit, columns = record["settings"].get("time"), record["data"]["columns"]
    large = columns > WIDE or record["data"]["rows"] * columns > LONG_TO_READ
    late = limit is not None and time.perf_counter() - began > SPENT * limit
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TenfoldWarning)  # of the table, told when it was read first
            report_run(folder, None if late or large or record["interrupted"] else file)
    except (TenfoldError, ImportError, MemoryError) as reason:
        return f"no report was written: {first_line(reason)}"
    except KeyboardInterrupt:
        return f"the report was stopped: tenfold report {shlex.quote(str(folder))} writes it"
    return None


def folder_for(file: Path, target: str, out: Path | None, replace: bool) -> tuple[Path, str | None]:
    """Where a run is saved, and a note where that is not the usual place; refused before any work is done."""
    known = dict(settings=dict(target=target), data=dict(name=file.name, place=place_of(file)))
    usual = Path(f"{stem_of(file)}.tenfold")
    folder, note = usual_folder(stem_of(file), known) if out is None and not replace else (out or usual, None)
    check_folder(folder, known, replace)
    return folder, note


def stem_of(file: Path) -> str:
    """churn.csv.gz -> churn."""
    name = file.name
    for end in (".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq"):
        name = name[: -len(end)] if name.lower().endswith(end) and len(name) > len(end) else name
    return name


def next_commands(folder: Path, file: Path, stopped: Path | None = None) -> list[str]:
    """What to type next, ready to paste."""
    there = shlex.quote(str(folder))
    return [
        *([] if stopped is None else [f"tenfold resume {shlex.quote(str(stopped))}     go on where it was stopped"]),
        f"tenfold predict {there} {shlex.quote(str(file))}     predictions for the rows of a file",
        f"tenfold report {there} --open     the report in the browser",
        f"tenfold inspect {there}     what is inside",
        f"tenfold reproduce {there} {shlex.quote(str(file))}     the same again, bit for bit",
    ]
