"""`tenfold select` and `tenfold demo`: a model for a table, chosen, estimated and saved."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

from tenfold.app.failures import STOPPED, UNUSABLE, print_message, typed
from tenfold.app.options import JsonFlag, Out, QuietFlag, Replace, Table, Targets, with_settings
from tenfold.app.select_run import Request, checkpoint_of, run_select
from tenfold.app.show import Json, Quiet, Silent, Text
from tenfold.app.words import short
from tenfold.app.worth import result_of
from tenfold.core.errors import BadFile, BadParameter, TenfoldError
from tenfold.selection.model.store import UNSAFE, check_folder, record_of, usual_folder
from tenfold.selection.settings import Settings
from tenfold.selection.targets import columns_in, settings_of
from tenfold.table.columns import typed_names
from tenfold.table.reading import first_line, place_of, read_table

MOST_NAMES = 20


@with_settings()
def select_command(
    file: Table,
    settings: Settings,
    target: Targets = None,
    out: Out = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
    replace: Replace = False,
    holdout: Annotated[
        Path | None, typer.Option(metavar="FILE", help="rows kept apart, with the target: the saved model is judged by them too")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="go on where the same run was stopped, if it was")] = False,
) -> int:
    """Try many models on a table, choose one, estimate how good it is on new rows, and save it.

    Example:  tenfold select churn.csv --target churned
    """
    names = target or [named_target(file, None)]
    if len(names) > 1 or "," in names[0]:
        names = typed_names(names, columns_in(file))
    show = listener(quiet, as_json)
    if len(names) == 1:
        folder, note = folder_for(file, names[0], out, replace)
        request = Request(file, names[0], folder, settings, note, replace, holdout)
        return run_select(request, show, checkpoint_of(request) if resume else None).code
    asked = {name: settings_of(settings, name, names) for name in names}
    folders = {name: folder_for(file, name, place, replace)[0] for name, place in _folders(file, names, out).items()}
    requests = [
        Request(file, name, folders[name], asked[name], None, replace, holdout, [one for one in names if one != name]) for name in names
    ]
    return _select_each(requests, show, resume)


@with_settings("seed", "folds", "effort", effort="quick")
def demo_command(
    settings: Settings, out: Out = None, quiet: QuietFlag = False, as_json: JsonFlag = False, replace: Replace = False
) -> int:
    """The same on a table that is included, three species of penguins, with little effort: --effort normal tries more.

    Example:  tenfold demo
    """
    with resources.as_file(resources.files("tenfold") / "data" / "penguins.csv") as file:
        folder, note = folder_for(file, "species", out, replace)
        return run_select(Request(file, "species", folder, settings, note, replace), listener(quiet, as_json)).code


def listener(quiet: bool, as_json: bool) -> Silent:
    """Who tells what happens: in JSON, in one line, or in full."""
    return Json() if as_json else Quiet() if quiet else Text()


def named_target(file: Path, target: str | None) -> str:
    """The target that was named; where none was, say which columns there are."""
    if target is not None:
        return target
    names = [short(name, 30) for name in read_table(file).frame.columns]
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 4], "...", *names[-4:]]  # the target is often the last
    raise BadParameter(f"name the column to predict with --target: {file.name} has {', '.join(names)}")


def _select_each(requests: list[Request], show: Silent, resume: bool) -> int:
    """One target after another, each in a folder of its own; what is done stays, whatever becomes of the others."""
    targets, rows, code = [request.target for request in requests], list[dict[str, Any]](), 0
    try:
        for request in requests:
            show("target", target=request.target, targets=targets)
            row: dict[str, Any] = dict(target=request.target, folder=None)
            rows.append(row)
            try:
                ended = run_select(request, show, checkpoint_of(request) if resume else None)
            except TenfoldError as reason:
                why = typed(first_line(reason))
                print_message(f"{short(request.target)}: {why}")
                row["reason"], code = why, UNUSABLE
                continue
            if ended.folder is not None:
                row |= dict(folder=str(ended.folder), **result_of(record_of(ended.folder)))
            if ended.code == STOPPED:
                return STOPPED
            code = code or ended.code
    finally:
        show("results", rows=rows, left=targets[len(rows) :])
        show.close()
    return code


def _folders(file: Path, targets: list[str], out: Path | None) -> dict[str, Path]:
    """A folder for each target: below the one that was named, or beside the table's name."""
    if out is not None:
        if record_of(out):
            raise BadFile(f"{out} holds a run: name a folder for the runs of all targets with --out")
        if not out.parent.is_dir():
            raise BadFile(f"there is no folder {out.parent} to write {out.name} into: make it first")
        out.mkdir(exist_ok=True)
    found, taken = dict[str, Path](), set[str]()
    for target in targets:
        name = UNSAFE.sub("_", target)[:40]
        while name in taken:
            name += "_"
        taken.add(name)
        found[target] = Path(f"{stem_of(file)}-{name}.tenfold") if out is None else out / f"{name}.tenfold"
    return found


def folder_for(file: Path, target: str, out: Path | None, replace: bool) -> tuple[Path, str | None]:
    """Where a run is saved, and a note where that is not the usual place; refused before any work is done."""
    known = known_of(file, target)
    usual = Path(f"{stem_of(file)}.tenfold")
    folder, note = usual_folder(stem_of(file), known) if out is None and not replace else (out or usual, None)
    check_folder(folder, known, replace)
    return folder, note


def known_of(file: Path, target: str) -> dict[str, Any]:
    """What a record says of the table and the target, before there is one."""
    return dict(settings=dict(target=target), data=dict(name=file.name, place=place_of(file)))


def stem_of(file: Path) -> str:
    """churn.csv.gz -> churn."""
    name = file.name
    for end in (".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq"):
        name = name[: -len(end)] if name.lower().endswith(end) and len(name) > len(end) else name
    return name
