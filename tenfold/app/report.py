"""`tenfold report`: the page of a run, written again."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from tenfold.app.words import clean, file_size
from tenfold.core.errors import BadFile
from tenfold.report.folder import report_run


def report_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="a folder made by tenfold select")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="the training table, to find out anew what drives the model and where it fails")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="where to write it; report.html in the folder if not given")] = None,
    show: Annotated[bool, typer.Option("--open", help="open it in the browser")] = False,
) -> int:
    """Write the report of a run: one HTML file with the verdict, errors, what drives the model, the race; it loads nothing.

    Example:  tenfold report churn.tenfold --open
    """
    if not folder.is_dir():
        raise BadFile(f"there is no folder {folder}: give one that tenfold select has made")
    path = report_run(folder, file, out)
    print(clean(f"{path} written, {file_size(path.stat().st_size)}"))
    if show:
        webbrowser.open(path.resolve().as_uri())
    return 0
