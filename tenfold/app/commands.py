"""The commands of the command line."""

from __future__ import annotations

import shlex
import signal
import sys
import time
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

import tenfold
from tenfold.app.check import check, given_kinds
from tenfold.app.failures import STOPPED, guarded
from tenfold.app.show import Json, Quiet, Silent, Text, worth_of
from tenfold.app.words import clean, counted, file_size, short
from tenfold.core.errors import BadFile, BadInput, BadParameter
from tenfold.core.threads import thread_budget
from tenfold.selection.predictions import check_format, write_predictions
from tenfold.selection.run import MOST_FOLDS, checked_settings, coded_regression, select
from tenfold.selection.store import (
    MODEL,
    check_folder,
    is_finished,
    open_run,
    record_of,
    stopped_folder,
    usual_folder,
)
from tenfold.table.reading import place_of, read_table
from tenfold.table.task import NotANumber

MOST_NAMES = 20

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=dict(help_option_names=["-h", "--help"]),
)

Table = Annotated[Path, typer.Argument(metavar="FILE", help="a CSV (also .gz) or Parquet file")]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="folder for the model; FILE's name with .tenfold if not given")
]
Seed = Annotated[int, typer.Option(metavar="N", help="the same seed gives the same folds and the same result")]
Folds = Annotated[
    int | None,
    typer.Option(metavar="N", help=f"folds, 3 to {MOST_FOLDS}; if not given, 10 up to 2,000 rows, else 5"),
]
Columns = list[str] | None
Replace = Annotated[
    bool,
    typer.Option("--replace", help="replace the model in the folder, also one for another target or from another file"),
]
QuietFlag = Annotated[bool, typer.Option("--quiet", help="one line of output")]
JsonFlag = Annotated[bool, typer.Option("--json", help="one JSON object for each event")]


def run(arguments: list[str] | None = None) -> int:
    """Parse and run; the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows "?" and goes on
    return guarded(lambda: app(args=arguments or ["--help"], prog_name="tenfold", standalone_mode=False))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"tenfold {tenfold.__version__}")
        raise typer.Exit()


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    """Choose a model for a table, honestly."""


@app.command("select", short_help="Choose a model for a table, estimate how good it is, save it.")
def select_command(
    file: Table,
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="the column to predict")] = None,
    out: Out = None,
    seed: Seed = 0,
    folds: Folds = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
    metric: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="what to judge by: log_loss, accuracy, auc, f1_macro, rmse, mae, r2, ..."),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="classification or regression, where the one that is taken is wrong"),
    ] = None,
    drop: Annotated[Columns, typer.Option(metavar="COLUMN", help="leave this column out; may be given again")] = None,
    keep: Annotated[
        Columns, typer.Option(metavar="COLUMN", help="use this column all the same; may be given again")
    ] = None,
    category: Annotated[
        Columns,
        typer.Option(metavar="COLUMN", help="the numbers of this column are names of categories; may be given again"),
    ] = None,
    replace: Replace = False,
) -> int:
    """Try many models on a table, choose one, estimate how good it is on new rows, and save it."""
    if target is None:
        names = [short(name, 30) for name in read_table(file).frame.columns]
        if len(names) > MOST_NAMES:
            names = [*names[: MOST_NAMES - 4], "...", *names[-4:]]  # the target is often the last
        raise BadParameter(f"name the column to predict with --target: {file.name} has {', '.join(names)}")
    columns = dict(drop=drop or [], keep=keep or [], category=category or [])
    return _select(
        file, target, out, replace, quiet, as_json, seed=seed, folds=folds, metric=metric, task=task, **columns
    )


@app.command("demo", short_help="The same on a table that is included.")
def demo_command(
    out: Out = None,
    seed: Seed = 0,
    folds: Folds = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
    replace: Replace = False,
) -> int:
    """The same on a table that is included: three species of penguins."""
    with resources.as_file(resources.files("tenfold") / "data" / "penguins.csv") as file:
        return _select(file, "species", out, replace, quiet, as_json, seed=seed, folds=folds)


@app.command("predict", short_help="Predictions for the rows of a file.")
def predict_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="a folder made by tenfold select")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="the rows to predict, CSV or Parquet")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help=".csv, .tsv, .parquet or .jsonl; standard output if not given")
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="write labels as they are, also those a spreadsheet would run as formulas"),
    ] = False,
) -> int:
    """Predictions for the rows of a file: the class with its probabilities, or the number with its range."""
    if out is not None and out.exists() and file.exists() and out.samefile(file):
        raise BadParameter(f"--out {out} is the table itself: choose another name for the predictions")
    if out is not None:
        check_format(out)
    model = open_run(folder)
    rows = write_predictions(model, file, out, raw)
    if out is not None:
        print(clean(f"{counted(rows, 'prediction')} written to {out}"))
    return 0


@app.command("check", short_help="A table as it is read: kinds, missing values, warnings.")
def check_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, TSV, Parquet, Arrow, JSON lines, Excel, SQLite; also .gz, .zst, .zip")],
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="the column to predict: others are looked at for giving it away")
    ] = None,
    kind: Annotated[
        Columns, typer.Option(metavar="COLUMN=KIND", help="the kind of a column, such as zip=nominal; may be given again")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="write a page with small pictures")] = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
) -> int:
    """A table as it is read: the kind of each column with the evidence, missing values, odd cells with their lines, copies, ids, leaks.

    Ends with 0 where there is nothing to warn of, 1 with warnings, 2 where the file cannot be read or the command is wrong.
    """
    return check(file, target, given_kinds(kind or []), html, as_json, quiet)


@app.command("advise", short_help="Which regression for a table, and why.")
def advise_command(
    file: Table,
    target: Annotated[str, typer.Option(metavar="COLUMN", help="the column to predict, a number")],
    x_noisy: Annotated[bool, typer.Option("--x-noisy", help="the other columns are measured with errors too")] = False,
) -> int:
    """Which regression for a table, and why: linear, what noise, outliers, enough rows."""
    try:
        X, y, notes = coded_regression(file, target)
    except NotANumber as reason:
        raise BadInput(f"{reason}; advise is about regressions, for classes use tenfold select") from None
    for line in [*notes, *str(tenfold.advise(X, y, x_noisy=x_noisy or None)).splitlines()]:
        print(clean(line))
    return 0


@app.command("inspect", short_help="What is inside a saved model.")
def inspect_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a saved model, or a folder made by tenfold select")],
) -> int:
    """What is inside a saved model, without loading it; of a folder also what the model predicts, and how well."""
    if not file.exists():
        raise BadFile(f"there is no {file}: give a saved model, or a folder that tenfold select has made")
    if file.is_dir() and not (file / MODEL).exists():
        raise BadFile(f"{file} holds no {MODEL}: give a folder that tenfold select has made")
    inside = tenfold.inspect(file / MODEL if file.is_dir() else file)
    columns = (
        ["not named"]
        if inside.columns is None
        else [*inside.columns[:12], *(["..."] if len(inside.columns) > 12 else [])]
    )
    for title, text in (
        (
            "FILE",
            f"{inside.path}   {file_size(inside.size)}   format {inside.format_version}, "
            f"written by tenfold {inside.written_by}",
        ),
        *worth_of(record_of(file) if file.is_dir() else {}),
        ("KIND", f"{inside.kind}" + (f" of {', '.join(inside.parts)}" if inside.parts else "")),
        ("COLUMNS", f"{inside.n_features}: {', '.join(columns)}"),
        ("ROWS", "holds training rows" if inside.holds_training_rows else "holds no training rows"),
        ("SHA-256", inside.sha256),
    ):
        print(clean(f"{title:<8} {text}"))
    return 0


def _select(
    file: Path, target: str, out: Path | None, replace: bool, quiet: bool, as_json: bool, **settings: Any
) -> int:
    began = time.perf_counter()
    settings = checked_settings(**settings)
    known = dict(settings=dict(target=target), data=dict(name=file.name, place=place_of(file)))
    folder, note = usual_folder(_stem(file), known) if out is None and not replace else (out or _usual(file), None)
    check_folder(folder, known, replace)
    show: Silent = Json() if as_json else Quiet() if quiet else Text()
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # asked to end: as on Ctrl-C
    try:
        show("start", version=tenfold.__version__, seed=settings["seed"], cores=thread_budget())
        found = select(file, target, listen=show, finish_early=True, **settings)
        if found.interrupted and is_finished(folder) and not replace:
            finished, folder = folder, stopped_folder(folder, found.record)
            note = f"{finished}/ keeps its finished model; this one was stopped"
        if note is not None and found.interrupted and not found.leaderboard:
            show("kept", note=f"{note} before there was anything to save")
            return STOPPED
        found.save(folder, replace)
        size = file_size((folder / MODEL).stat().st_size)
        show("saved", folder=str(folder), size=size, commands=_next(folder, file), note=note)
        show("done", seconds=time.perf_counter() - began)
    finally:
        show.close()
        signal.signal(signal.SIGTERM, before)
    return STOPPED if found.interrupted else 0


def _usual(file: Path) -> Path:
    return Path(f"{_stem(file)}.tenfold")


def _stem(file: Path) -> str:
    """churn.csv.gz -> churn."""
    name = file.name
    for end in (".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq"):
        name = name[: -len(end)] if name.lower().endswith(end) and len(name) > len(end) else name
    return name


def _next(folder: Path, file: Path) -> list[str]:
    there = shlex.quote(str(folder))
    return [
        f"tenfold predict {there} {shlex.quote(str(file))}     predictions for the rows of a file",
        f"tenfold inspect {there}     what is inside",
    ]
