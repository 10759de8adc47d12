"""`tenfold explain`: why this row, how this column acts, what if."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from tenfold.app.failures import print_message
from tenfold.app.options import Columns, JsonResult, RunFolder, columns_of
from tenfold.app.words import AsItIs, counted, figure, short, terminal_width, wrapped
from tenfold.core.errors import BadParameter
from tenfold.selection.explain.reasons import (
    Answer,
    Effect,
    Reasons,
    altered,
    answer_of,
    effect,
    movers,
    reasons,
    row_of,
)
from tenfold.selection.model.store import open_run, plain, record_of, sketch_of, table_of
from tenfold.selection.model.unlike import Unlike
from tenfold.table.reading import Raw, pl, read_table

MOST_SHOWN = 12
BAR = 24  # characters on each side of nothing


def explain_command(
    folder: RunFolder,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="the rows; those that the run was made from, looked for by name, if not given")
    ] = None,
    row: Annotated[int | None, typer.Option(metavar="N", help="why this row, counted from 1, gets its prediction")] = None,
    column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="how predictions change along this column", autocompletion=columns_of)
    ] = None,
    change: Annotated[
        Columns, typer.Option("--set", metavar="COLUMN=VALUE", help="with --row: what if this cell were another; may be given again")
    ] = None,
    label: Annotated[str | None, typer.Option("--class", metavar="LABEL", help="the class whose chance is explained")] = None,
    as_json: JsonResult = False,
) -> int:
    """Say why a row gets its prediction, how a column acts, or what another cell would change; without an option, which columns matter.

    What a column adds is its Shapley value against up to 500 rows of FILE, exact for trees whose answers are sums, else by sampling: the
    contributions sum to the prediction.
    Effects of a column are accumulated local effects, which ask only about rows that can be.

    Example:  tenfold explain churn.tenfold --row 17

              tenfold explain churn.tenfold new.csv --row 17 --set contract=yearly
    """
    if row is not None and column is not None:
        raise BadParameter("give --row or --column, not both")
    if change and row is None:
        raise BadParameter("--set alters one row: name it with --row")
    if label is not None and row is None and column is None:
        raise BadParameter("--class says what is explained of a row or along a column: give --row or --column with it")
    model, record = open_run(folder), record_of(folder)
    raw = read_table(file or table_of(folder, record, "tenfold explain"), known=model.columns)
    model.check_columns(raw.frame.columns, raw.name)
    if file is None and raw.digest != record["data"].get("sha256"):
        print_message(f"{raw.name} has changed since the run was made: its rows may be others")
    facts: dict[str, Any]
    if row is not None:
        at = row_of(raw, row)
        given = _changes(change or [], raw.frame.columns)
        before = reasons(model, raw, at, label)
        meant = before.answer.what if model.role == "classifier" else None
        rows = [raw.frame[at : at + 1], *([altered(model, raw, at, given)] if given else [])]
        after = answer_of(model, rows[1], meant) if given else None
        unlike = [_unlike(one, folder) for one in rows]
        what_if = None if after is None else asdict(after) | dict(unlike=unlike[1])
        facts = dict(row=row, reasons=asdict(before), unlike=unlike[0], what_if=what_if)
        lines = _of_row(raw, row, before, given, after, model.role == "classifier", unlike)
    elif column is not None:
        found = effect(model, raw, column, label)
        facts, lines = asdict(found), _of_column(found, model.role == "classifier")
    else:
        moved = movers(model, raw)
        facts = dict(columns=[dict(column=name, change=size) for name, size in moved])
        lines = _of_all(moved, model.role == "classifier")
    if as_json:
        print(json.dumps(plain(facts), ensure_ascii=True, default=str))
        return 0
    width = terminal_width(sys.stdout)
    print("\n".join(piece for line in lines for piece in wrapped(line, width)))
    return 0


def _changes(given: list[str], columns: list[str]) -> dict[str, str]:
    """The cells that are altered; a name may hold a = itself."""
    found = {}
    for one in given:
        name = max((column for column in columns if one.startswith(f"{column}=")), key=len, default=one.partition("=")[0])
        if not name or name == one:
            raise BadParameter(f"--set {one}: give COLUMN=VALUE, such as age=40; nothing after = is a missing value")
        found[name] = one[len(name) + 1 :]
    return found


def _unlike(row: pl.DataFrame, folder: Path) -> str | None:
    """What in a row is unlike the training table, as `tenfold predict --mark` says it."""
    found = Unlike(sketch_of(folder)).look(row)
    return None if found is None else found[0]


def _of_row(
    raw: Raw, row: int, found: Reasons, given: dict[str, str], after: Answer | None, classes: bool, unlike: list[str | None]
) -> list[str]:
    lines = [f"ROW      {row} of {short(raw.name)}   {_prediction(found.answer, classes)}"]
    strange = [[f"         unlike the training table: {one}"] if one else [] for one in unlike]
    lines += strange[0]
    shown = found.columns[:MOST_SHOWN]
    largest = max((abs(value) for _, _, value, _ in shown), default=0.0) or 1.0
    cells = [(short(column, 24), short(_cell(cell), 20)) for column, cell, _, _ in shown]
    wide, cell_wide = (max((len(pair[k]) for pair in cells), default=0) for k in (0, 1))
    rows = f"{counted(found.beside, 'row')} of the file"
    beside = f"the {rows}" if found.beside == raw.frame.height else f"{rows}, drawn by chance,"
    lines += ["", f"WHY      {beside} get {_amount(found.base, classes)} on average; from there"]
    for (column, cell), (_, _, value, error) in zip(cells, shown, strict=True):
        bar = f"{_bar(value, largest)}{_unsure(value, error)}".rstrip()
        lines.append(AsItIs(f"  {column:<{wide}} = {cell:<{cell_wide}}  {_signed(value, classes):>12}  {bar}"))
    others = sum(value for _, _, value, _ in found.columns[MOST_SHOWN:]) + found.rest
    if len(found.columns) > MOST_SHOWN or found.rest:
        lines.append(f"  all other columns together {_signed(others, classes)}")
    for column, words in found.words.items():
        told = ", ".join(f"{short(word, 24)!r} {amount:+.3g}" for word, amount in words) or "holds no word that the model knows"
        lines.append(f"  in {short(column, 24)}, what its words add to its score: {told}")
    what = f"the chance of {short(found.answer.what, 24)}" if classes else "the prediction"
    lines.append(f"  which makes {what} {_amount(found.answer.value, classes)}")
    if after is not None:
        changes = ", ".join(f"{short(key, 24)} = {short(value, 20) or 'missing'}" for key, value in given.items())
        moved = _signed(after.value - found.answer.value, classes)
        lines += ["", f"WHAT IF  {changes}: {_prediction(after, classes)} ({moved})", *strange[1]]
    return lines


def _cell(value: Any) -> str:
    """A cell as it is read; of long numbers six digits."""
    text = "missing" if value is None else str(value)
    try:
        return f"{float(text):.6g}" if len(text) > 10 and math.isfinite(float(text)) else text
    except ValueError:
        return text


def _of_column(found: Effect, classes: bool) -> list[str]:
    what = f"the chance of {short(found.what, 24)}" if classes else "the prediction"
    rows = counted(found.rows, "row")
    lines = [f"COLUMN   {short(found.column, 40)}   how {what} changes along it, other columns as they are, over {rows}", ""]
    if not found.rows:
        lines = [f"COLUMN   {short(found.column, 40)}   the words that say most about {what}: the score of each alone", ""]
    largest = max((abs(value) for _, value in found.points), default=0.0) or 1.0
    if not found.points:
        return [*lines, f"  No word of it says anything about {what}."]
    wide = max(len(short(point, 24)) for point, _ in found.points)
    for point, value in found.points:
        size = _signed(value, classes) if found.rows else f"{value:+.3g}"
        lines.append(AsItIs(f"  {short(point, 24):>{wide}}  {size:>12}  {_bar(value, largest).rstrip()}"))
    return lines


def _of_all(moved: list[tuple[str, float]], classes: bool) -> list[str]:
    what = "chances" if classes else "predictions"
    lines = [f"COLUMNS  by how much {what} change when the cells of a column are shuffled among the rows", ""]
    shown = moved[:MOST_SHOWN]
    largest = max((value for _, value in shown), default=0.0) or 1.0
    wide = max(len(short(name, 30)) for name, _ in shown)
    for name, value in shown:
        bar = "#" * round(BAR * value / largest)
        lines.append(AsItIs(f"  {short(name, 30):<{wide}}  {_amount(value, classes, points=True):>12}  {bar}".rstrip()))
    if len(moved) > MOST_SHOWN:
        lines.append(f"  and {counted(len(moved) - MOST_SHOWN, 'more column', 'more columns')}: --json gives all")
    return lines


def _prediction(answer: Answer, classes: bool) -> str:
    if not classes:
        return f"prediction {figure(answer.value)}"
    chance = _amount(answer.value, True)
    other = f" with chance {chance}" if answer.what == answer.said else f", chance of {short(answer.what, 24)} {chance}"
    return f"prediction {short(answer.said, 24)}{other}"


def _amount(value: float, classes: bool, points: bool = False) -> str:
    if not classes:
        return figure(value)
    return f"{100 * value:.1f} points" if points else f"{100 * value:.1f}%"


def _signed(value: float, classes: bool) -> str:
    if classes:
        return f"{round(100 * value, 1) + 0.0:+.1f} points"  # no minus before nothing
    return f"{'+' if value >= 0 else '-'}{figure(abs(value))}"


def _bar(value: float, largest: float) -> str:
    """A bar from the middle to the left or to the right."""
    size = round(BAR / 2 * abs(value) / largest)
    half = BAR // 2
    return (" " * (half - size) + "-" * size + "|").ljust(BAR + 1) if value < 0 else (" " * half + "|" + "+" * size).ljust(BAR + 1)


def _unsure(value: float, error: float) -> str:
    """Where sampling leaves the sign open."""
    return "  (may be nothing)" if abs(value) < 2 * error else ""
