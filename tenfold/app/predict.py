"""`tenfold predict`: predictions for the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tenfold.app.options import NewRows, RunFolder
from tenfold.app.words import clean, counted
from tenfold.core.errors import BadParameter
from tenfold.selection.predictions import check_format, write_predictions
from tenfold.selection.store import open_run


def predict_command(
    folder: RunFolder,
    file: NewRows,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help=".csv, .tsv, .parquet or .jsonl; standard output if not given")
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="write labels as they are, also those a spreadsheet would run as formulas"),
    ] = False,
) -> int:
    """Predictions for the rows of a file: the class with its probabilities, or the number with its range.

    Example:  tenfold predict churn.tenfold new.csv --out answers.csv
    """
    if out is not None and out.exists() and file.exists() and out.samefile(file):
        raise BadParameter(f"--out {out} is the table itself: choose another name for the predictions")
    if out is not None:
        check_format(out)
    model = open_run(folder)
    rows = write_predictions(model, file, out, raw)
    if out is not None:
        print(clean(f"{counted(rows, 'prediction')} written to {out}"))
    return 0
