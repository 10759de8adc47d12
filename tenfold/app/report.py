"""`tenfold report`: the page of a run, written again."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from tenfold.app.options import columns_of
from tenfold.app.words import clean, file_size
from tenfold.core.errors import BadFile, BadParameter
from tenfold.report.folder import PAGES, report_run
from tenfold.report.printed import browser, print_page


def report_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="a folder made by tenfold select or tenfold fit")],
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="the training table, to find out anew what drives the model and where it fails")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="where to write it; report.html in the folder if not given")] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="with FILE: errors by the groups of this column, is it fair to all of them?", autocompletion=columns_of
        ),
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="the same as a text beside it, report.md: card, sentences, tables")] = False,
    pdf: Annotated[bool, typer.Option("--pdf", help="the same as report.pdf, printed by a Chromium or Chrome on the PATH")] = False,
    show: Annotated[bool, typer.Option("--open", help="open it in the browser")] = False,
) -> int:
    """Write the report of a run: one HTML file with the verdict, errors, what drives the model, the race; it loads nothing.

    Example:  tenfold report churn.tenfold --open
    """
    if not folder.is_dir():
        raise BadFile(f"there is no folder {folder}: give one that tenfold select or tenfold fit has made")
    if by is not None and file is None:
        raise BadParameter(f"--by {by}: groups are told from the training table, name it too: tenfold report {folder} FILE --by {by}")
    if out is not None and out.suffix.lower() not in PAGES:
        raise BadParameter(f"--out {out}: this is where the page goes, with what --markdown and --pdf write beside it: end it in .html")
    if pdf:
        browser()  # none is said at once
    path = report_run(folder, file, out, by, markdown)
    written = [path, *([path.with_suffix(".md")] if markdown else []), *([print_page(path, path.with_suffix(".pdf"))] if pdf else [])]
    for one in written:
        print(clean(f"{one} written, {file_size(one.stat().st_size)}"))
    if show:
        webbrowser.open(path.resolve().as_uri())
    return 0
