"""The commands, and what their failures look like: one sentence on standard error and an exit code.

0 done                    1 a fault in tenfold          2 wrong use
3 the data are unusable   4 nothing could be fitted     130 stopped by Ctrl-C, what was done is saved
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
import warnings
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import typer

import tenfold
from tenfold.app.show import Json, Quiet, Silent, Text, worth_of
from tenfold.app.words import clean, counted, file_size, short
from tenfold.core.errors import BadFile, BadParameter, TenfoldError, TenfoldWarning
from tenfold.core.threads import thread_budget
from tenfold.score.registry import known_score, score_names
from tenfold.selection.outcome import NothingFitted
from tenfold.selection.predictions import write_predictions
from tenfold.selection.reading import read_table
from tenfold.selection.run import coded_regression, select
from tenfold.selection.store import MODEL, check_folder, open_run, record_of

MOST_NAMES = 20
METRICS = [*score_names("classifier"), *score_names("regressor")]
FAULT, WRONG_USE, BAD_DATA, NOTHING_FITTED, STOPPED = 1, 2, 3, 4, 130

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

Out = Annotated[Path | None, typer.Option(help="folder for the model; FILE's name with .tenfold if not given")]
Seed = Annotated[int, typer.Option(min=0, help="the same seed gives the same folds and the same result")]
Folds = Annotated[int | None, typer.Option(min=3, help="folds; 10 up to 2,000 rows, else 5")]
QuietFlag = Annotated[bool, typer.Option("--quiet", help="one line of output")]
JsonFlag = Annotated[bool, typer.Option("--json", help="one JSON object for each event")]


def run(arguments: list[str] | None = None) -> int:
    """Parse, run, and turn every failure into a sentence and a code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without Unicode shows "?" and goes on
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TenfoldWarning)
            warnings.showwarning = _tell
            code = app(args=arguments or ["--help"], prog_name="tenfold", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except NothingFitted as reason:
        return _fail(reason, NOTHING_FITTED)
    except BadParameter as reason:
        return _fail(reason, WRONG_USE)
    except TenfoldError as reason:
        return _fail(reason, BAD_DATA)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("stopped; nothing was written", STOPPED)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of a pipe went away: no complaint about it
        return 0
    except MemoryError:
        return _fail("there is not enough memory for this table: try it with fewer rows or columns (--drop)", BAD_DATA)
    except Exception as wrong:
        if hasattr(wrong, "format_message"):  # the parser's own: unknown option, missing argument
            return _fail(wrong.format_message(), WRONG_USE)
        if os.environ.get("TENFOLD_DEBUG"):
            raise
        return _fail(
            f"a fault in tenfold, not in your table ({type(wrong).__name__}: {wrong}); TENFOLD_DEBUG=1 shows where",
            FAULT,
        )


def _fail(reason: Any, code: int) -> int:
    _tell(reason)
    return code


def _tell(message: Any, *where: Any) -> None:
    """One sentence on standard error; where in the code it comes from is of no use to the user of a command."""
    print(f"tenfold: {clean(' '.join(str(message).split()))}", file=sys.stderr)


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


@app.command("select", short_help="Choose a model for a table, say what it is worth, save it.")
def select_command(
    file: Annotated[Path, typer.Argument(help="a CSV (also .gz) or Parquet file")],
    target: Annotated[str | None, typer.Option(help="the column to predict")] = None,
    out: Out = None,
    seed: Seed = 0,
    folds: Folds = None,
    quiet: QuietFlag = False,
    as_json: JsonFlag = False,
    metric: Annotated[str | None, typer.Option(help=f"what to judge by: {', '.join(METRICS)}")] = None,
    task: Annotated[str | None, typer.Option(help="classes or number, where the guess is wrong")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="leave this column out; may be given again")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="use this column all the same; may be given again")] = None,
) -> int:
    """Try many models on a table, choose one, say what it is worth on new rows, and save it."""
    if target is None:
        names = [short(name, 30) for name in read_table(file).frame.columns]
        if len(names) > MOST_NAMES:
            names = [*names[: MOST_NAMES - 4], "...", *names[-4:]]  # the target is often the last
        raise BadParameter(f"name the column to predict with --target: {file.name} has {', '.join(names)}")
    return _select(file, target, out, seed, folds, quiet, as_json, metric, task, drop or [], keep or [])


@app.command("demo", short_help="The same on a table that comes along.")
def demo_command(
    out: Out = None, seed: Seed = 0, folds: Folds = None, quiet: QuietFlag = False, as_json: JsonFlag = False
) -> int:
    """The same on a table that comes along: three species of penguins."""
    with resources.as_file(resources.files("tenfold") / "data" / "penguins.csv") as file:
        return _select(file, "species", out, seed, folds, quiet, as_json, None, None, [], [])


@app.command("predict", short_help="Answers for the rows of a file.")
def predict_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="a folder made by tenfold select")],
    file: Annotated[Path, typer.Argument(help="the rows to answer for")],
    out: Annotated[Path | None, typer.Option(help="CSV file for the answers; standard output if not given")] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="write labels as they are, also those a spreadsheet would run as formulas"),
    ] = False,
) -> int:
    """Answers for the rows of a file: the class with its probabilities, or the number."""
    if out is not None and out.exists() and file.exists() and out.samefile(file):
        raise BadParameter(f"--out {out} is the table itself: choose another name for the answers")
    model = open_run(folder)
    rows = write_predictions(model, file, out, raw)
    if out is not None:
        print(clean(f"{counted(rows, 'answer')} written to {out}"))
    return 0


@app.command("advise", short_help="Which regression for a table, and why.")
def advise_command(
    file: Annotated[Path, typer.Argument(help="a CSV or Parquet file")],
    target: Annotated[str, typer.Option(help="the column to predict, a number")],
    x_noisy: Annotated[bool, typer.Option("--x-noisy", help="the other columns are measured with errors too")] = False,
) -> int:
    """Which regression for a table, and why: linear, what noise, outliers, enough rows."""
    X, y, notes = coded_regression(file, target)
    for line in [*notes, *str(tenfold.advise(X, y, x_noisy=x_noisy or None)).splitlines()]:
        print(clean(line))
    return 0


@app.command("inspect", short_help="What is inside a saved model.")
def inspect_command(
    file: Annotated[Path, typer.Argument(help="a saved model, or a folder made by tenfold select")],
) -> int:
    """What is inside a saved model, without loading it; of a folder also what the model answers, and what it is worth."""
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
    file: Path,
    target: str,
    out: Path | None,
    seed: int,
    folds: int | None,
    quiet: bool,
    as_json: bool,
    metric: str | None,
    task: str | None,
    drop: list[str],
    keep: list[str],
) -> int:
    began = time.perf_counter()
    folder = out or Path(_stem(file) + ".tenfold")
    if metric is not None and known_score(metric) is None:
        raise BadParameter(f"--metric {metric} is not known: choose one of {', '.join(METRICS)}")
    check_folder(folder)
    show: Silent = Json() if as_json else Quiet() if quiet else Text()
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # asked to end: as on Ctrl-C
    try:
        show("start", version=tenfold.__version__, seed=seed, cores=thread_budget())
        run = select(
            file,
            target,
            task=task,
            metric=metric,
            folds=folds,
            seed=seed,
            drop=drop,
            keep=keep,
            listen=show,
            finish_early=True,
        )
        run.save(folder)
        size = file_size((folder / MODEL).stat().st_size)
        show("saved", folder=str(folder), size=size, commands=_next(folder, file))
        show("done", seconds=time.perf_counter() - began)
    finally:
        show.close()
        signal.signal(signal.SIGTERM, before)
    return STOPPED if run.interrupted else 0


def _stem(file: Path) -> str:
    """churn.csv.gz -> churn."""
    name = file.name
    for end in (".gz", ".csv", ".tsv", ".txt", ".parquet", ".pq"):
        name = name[: -len(end)] if name.lower().endswith(end) and len(name) > len(end) else name
    return name


def _next(folder: Path, file: Path) -> list[str]:
    there = shlex.quote(str(folder))
    return [
        f"tenfold predict {there} {shlex.quote(str(file))}     answers for the rows of a file",
        f"tenfold inspect {there}     what is inside",
    ]
