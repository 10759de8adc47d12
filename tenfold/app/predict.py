"""`tenfold predict`: predictions for the rows of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tenfold.app.cluster_run import open_model
from tenfold.app.failures import print_message
from tenfold.app.options import Cost, NewRows
from tenfold.app.piped import as_file
from tenfold.app.reduce_run import open_axes
from tenfold.app.unusual_run import open_rarity
from tenfold.app.words import clean, counted
from tenfold.core.errors import BadFile, BadParameter
from tenfold.selection.model.predictions import check_format, write_predictions
from tenfold.selection.model.store import check_outside, record_of, sketch_of
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.model.unlike import Unlike


def predict_command(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="a folder made by tenfold select, fit, cluster, unusual or reduce")],
    file: NewRows,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help=".csv, .tsv, .parquet or .jsonl; standard output if not given")
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="write labels as they are, also those a spreadsheet would run as formulas"),
    ] = False,
    mark: Annotated[
        bool, typer.Option("--mark", help="a column more that says of each row what is unlike the training table")
    ] = False,
    cost: Cost = None,
) -> int:
    """Predictions for the rows of a file: the class with its probabilities, the number with its range, the number of the group,
    how usual the row is (its p-value), or its scores on the axes of a table.

    Rows that look unlike the training table (levels that are new, numbers outside the range that was seen) are told on standard error.
    Large files are read in parts; the predictions are written whole or not at all. FILE may be - for standard input. With --cost the
    class of least expected cost is predicted, whatever the run decides by: the chances stay the same.

    Example:  tenfold predict churn.tenfold new.csv --out answers.csv
              zcat new.csv.gz | tenfold predict churn.tenfold -
    """
    if out is not None and out.exists() and file.exists() and out.samefile(file):
        raise BadParameter(f"--out {out} is the table itself: choose another name for the predictions")
    if out is not None:
        check_format(out)
        check_outside(out, folder)
    model: Any = open_rarity(folder) or open_axes(folder) or open_model(folder)
    looked = Unlike(sketch_of(folder))
    if cost is not None:
        if not isinstance(model, TableModel):
            raise BadParameter(f"--cost is for classes, and {folder} predicts none: leave it out")
        model.decide_by(cost, (record_of(folder).get("settings") or {}).get("positive"))
    if mark and not looked.sketched:
        raise BadFile(f"{folder} keeps no sketch of its training table, as runs of earlier versions: run tenfold select again")
    with as_file(file) as table:
        rows = write_predictions(model, table, out, raw, looked, mark)
    told = looked.sentence()
    if told is not None:
        print_message(told)
    if out is not None:
        print(clean(f"{counted(rows, 'prediction')} written to {out}"))
    return 0
