"""Arguments and options that several commands share."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from tenfold.core.errors import TenfoldError
from tenfold.score.registry import score_names
from tenfold.table.chunks import is_large
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
Target = Annotated[str | None, typer.Option(metavar="COLUMN", help="the column to predict", autocompletion=columns_of)]
Out = Annotated[
    Path | None, typer.Option(metavar="DIR", help="folder for the model; FILE's name with .tenfold if not given")
]
Seed = Annotated[int, typer.Option(metavar="N", help="the same seed gives the same folds and the same result")]
Metric = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="what to judge by: log_loss, accuracy, auc, f1_macro, rmse, mae, r2, ...", autocompletion=_scores
    ),
]
TaskName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="classification or regression, where the one that is taken is wrong"),
]
Columns = list[str] | None
Drop = Annotated[
    Columns, typer.Option(metavar="COLUMN", help="leave this column out; may be given again", autocompletion=columns_of)
]
Keep = Annotated[
    Columns, typer.Option(metavar="COLUMN", help="use this column all the same; may be given again", autocompletion=columns_of)
]
Category = Annotated[
    Columns,
    typer.Option(
        metavar="COLUMN", help="the numbers of this column are names of categories; may be given again", autocompletion=columns_of
    ),
]
Replace = Annotated[
    bool,
    typer.Option("--replace", help="replace the model in the folder, also one for another target or from another file"),
]
QuietFlag = Annotated[bool, typer.Option("--quiet", help="one line of output")]
JsonFlag = Annotated[bool, typer.Option("--json", help="one JSON object for each event")]
JsonResult = Annotated[bool, typer.Option("--json", help="one JSON object instead of lines of text")]
