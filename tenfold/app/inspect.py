"""`tenfold inspect`: what is inside a saved model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

import tenfold
from tenfold.app.cluster_run import groups_in
from tenfold.app.reduce_run import axes_in
from tenfold.app.unusual_run import unusual_in
from tenfold.app.words import clean, file_size, terminal_width, wrapped
from tenfold.app.worth import worth_of
from tenfold.core.errors import BadFile
from tenfold.selection.model.store import MODEL, record_of


def inspect_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a saved model, or a folder made by tenfold select or tenfold fit")],
) -> int:
    """What is inside a saved model, without loading it; of a folder also what the model predicts, and how well.

    Example:  tenfold inspect churn.tenfold
    """
    if not file.exists():
        raise BadFile(f"there is no {file}: give a saved model, or a folder that tenfold select or tenfold fit has made")
    if file.is_dir() and not (file / MODEL).exists():
        raise BadFile(f"{file} holds no {MODEL}: give a folder that tenfold select or tenfold fit has made")
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
        *groups_in(file),
        *unusual_in(file),
        *axes_in(file),
        ("KIND", f"{inside.kind}" + (f" of {', '.join(inside.parts)}" if inside.parts else "")),
        ("COLUMNS", f"{inside.n_features}: {', '.join(columns)}"),
        ("ROWS", "holds training rows" if inside.holds_training_rows else "holds no training rows"),
        ("SHA-256", inside.sha256),
    ):
        print("\n".join(wrapped(clean(f"{title:<8} {text}"), terminal_width(sys.stdout))))
    return 0
