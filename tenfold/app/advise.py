"""`tenfold advise`: which regression for a table, and why."""

from __future__ import annotations

from typing import Annotated

import typer

import tenfold
from tenfold.app.options import Table, columns_of
from tenfold.app.words import clean
from tenfold.core.errors import BadInput
from tenfold.selection.coded import coded_regression
from tenfold.table.task import NotANumber


def advise_command(
    file: Table,
    target: Annotated[str, typer.Option(metavar="COLUMN", help="the column to predict, a number", autocompletion=columns_of)],
    x_noisy: Annotated[bool, typer.Option("--x-noisy", help="the other columns are measured with errors too")] = False,
) -> int:
    """Which regression for a table, and why: linear, what noise, outliers, enough rows.

    Example:  tenfold advise concrete.csv --target strength
    """
    try:
        X, y, notes = coded_regression(file, target)
    except NotANumber as reason:
        raise BadInput(f"{reason}; advise is about regressions, for classes use tenfold select") from None
    for line in [*notes, *str(tenfold.advise(X, y, x_noisy=x_noisy or None)).splitlines()]:
        print(clean(line))
    return 0
