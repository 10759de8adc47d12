"""Arguments and options that several commands share, and an option for each setting of a run."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import typer

from tenfold.core.errors import TenfoldError
from tenfold.score.registry import score_names
from tenfold.selection.settings import LEAST_FOLDS, MOST_FOLDS, Settings
from tenfold.selection.targets import columns_in
from tenfold.table.chunks import is_large
from tenfold.table.columns import typed_names
from tenfold.table.reading import read_table


def columns_of(ctx: typer.Context, incomplete: str) -> list[str]:
    """The columns of the table that was named before, for the shell's completion."""
    given = [ctx.params.get("file"), *ctx.args]  # what is not yet taken for an argument is among the others
    file = next((Path(one) for one in given if one is not None and Path(one).is_file()), None)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            names = [] if file is None or is_large(file) else read_table(file).frame.columns
    except (TenfoldError, OSError):
        return []
    return [name for name in names if name.startswith(incomplete)]


def _scores(incomplete: str) -> list[str]:
    """Names of scores, for the shell's completion."""
    return [name for role in ("classifier", "regressor") for name in score_names(role) if name.startswith(incomplete)]


KINDS = "CSV, TSV, Parquet, Arrow, JSON lines, Excel, SQLite; also .gz, .zst, .zip"

Table = Annotated[Path, typer.Argument(metavar="FILE", help=f"the table: {KINDS}")]
NewRows = Annotated[Path, typer.Argument(metavar="FILE", help=f"the rows: {KINDS}")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="a folder made by tenfold select or tenfold fit")]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target", metavar="COLUMN", help="the column to predict; several, given again or with commas between, one after another",
        autocompletion=columns_of,
    ),
]  # fmt: skip
Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="the column to predict", autocompletion=columns_of)]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="folder for the model; FILE's name with .tenfold if not given")
]
Columns = list[str] | None
Without = Annotated[
    Columns, typer.Option(metavar="COLUMN", help="leave this column out, such as a target; may be given again", autocompletion=columns_of)
]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="replace the model in the folder, also one for another target or from another file"),
]
QuietFlag = Annotated[bool, typer.Option("--quiet", help="one line of output")]
JsonFlag = Annotated[bool, typer.Option("--json", help="one JSON object for each event")]
JsonResult = Annotated[bool, typer.Option("--json", help="one JSON object instead of lines of text")]


def only_columns(what: str) -> Any:
    return typer.Option(metavar="COLUMN", help=f"{what} these columns only; given again or with commas between", autocompletion=columns_of)


def every_row(what: str) -> Any:
    return typer.Option(metavar="FILE", help=f"{what} of every row: .csv, .tsv, .parquet or .jsonl")


def result_folder(what: str, ending: str) -> Any:
    return typer.Option(metavar="DIR", help=f"folder for {what}; FILE's name with -{ending}.tenfold if not given")


# --- the settings of a run ---

Effort = Annotated[
    str, typer.Option(metavar="NAME", help="quick, normal or thorough: how much is tried, where --time does not say so")
]
Limit = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="plan for so many seconds, and finish with what is complete when they are over")
]
Prefer = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="best (may be an ensemble), fast (the best single model), simple (the simplest that is as good as that)"
    ),
]
Honest = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="how the choice is repeated for the estimate: nested (models that have not seen the fold), folds, or auto"
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(metavar="COSTS", help="what errors cost: FP:1,FN:20, or a>b:5,b>a:1, or a file with a matrix; the cheapest class is said"),
]
Positive = Annotated[str | None, typer.Option(metavar="CLASS", help="which of two classes is the positive one; the rarer if not given")]
Rows = Annotated[
    int | None, typer.Option(metavar="N", help="draw so many rows of a longer table; if not given, as many as make 20 million cells")
]
Seed = Annotated[int, typer.Option(metavar="N", help="the same seed gives the same result")]
Metric = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="what to judge by: log_loss, accuracy, auc, f1_macro, rmse, mae, r2, ...", autocompletion=_scores
    ),
]
TaskName = Annotated[
    str | None, typer.Option(metavar="NAME", help="classification or regression, where the one that is taken is wrong")
]


Monotone = Annotated[
    Columns,
    typer.Option(metavar="COLUMN:+", help="where this column grows, predictions never fall (+) or rise (-): age:+,price:-"),
]


def _column(what: str) -> Any:
    often = "several: given again, or with commas between"
    return Annotated[Columns, typer.Option(metavar="COLUMN", help=f"{what}; {often}", autocompletion=columns_of)]


def _role(what: str) -> Any:
    return Annotated[str | None, typer.Option(metavar="COLUMN", help=what, autocompletion=columns_of)]


LISTS = ("drop", "keep", "category")
OPTIONS: dict[str, Any] = dict(  # by the name of the setting, in the order of the help
    seed=Seed,
    folds=Annotated[int | None, typer.Option(metavar="N", help=f"folds, {LEAST_FOLDS} to {MOST_FOLDS}; if not given, by the rows")],
    metric=Metric,
    task=TaskName,
    drop=_column("leave this column out"),
    keep=_column("use this column all the same"),
    category=_column("the numbers of this column are names of categories"),
    effort=Effort,
    time=Limit,
    prefer=Prefer,
    honest=Honest,
    groups=_role("rows of one value stay together: new rows will have other values (patients, shops)"),
    weights=_role("how much each row counts, in fits and in scores"),
    rows=Rows,
    monotone=Monotone,
    time_column=_role("dates or numbers: judge every span of time by what was known before it, as for the future"),
    cost=Cost,
    positive=Positive,
)


def with_settings(*only: str, **instead: Any) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A command that takes an option for each setting, or only for some; it gets `settings`, checked before any work is done.

    instead: other values where an option is not given.
    """
    known = {name: one for name, one in OPTIONS.items() if not only or name in only}
    usual = {field.name: None if field.default == () else field.default for field in fields(Settings)} | instead

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(command)
        def with_options(**given: Any) -> int:
            asked = {name: value for name in known if (value := given.pop(name)) is not None}
            lists = [name for name in LISTS if any("," in one for one in asked.get(name, ()))]
            if lists and (file := given.get("file")) is not None:
                columns = columns_in(file)
                asked |= {name: typed_names(asked[name], columns) for name in lists}
            return command(**given, settings=Settings(**asked))

        own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "settings"]
        named = inspect.Parameter.KEYWORD_ONLY
        added = [inspect.Parameter(name, named, default=usual[name], annotation=option) for name, option in known.items()]
        vars(with_options)["__signature__"] = inspect.Signature([*(one.replace(kind=named) for one in own), *added])
        return with_options

    return decorate
