"""`tenfold reduce`: the few axes along which the rows of a table differ, in words, and the rows along them."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from tenfold.app.options import (
    KINDS,
    Columns,
    JsonResult,
    QuietFlag,
    Replace,
    Rows,
    Seed,
    Without,
    columns_of,
    every_row,
    only_columns,
    result_folder,
)
from tenfold.app.reduce_methods import METHODS, Asked, method_named, method_names
from tenfold.app.reduce_run import KEPT, AxisModel, Reduced, axes_model, framed, new_scores, reduce_file, write_axes
from tenfold.app.reduce_words import Axis, listed
from tenfold.app.run_folder import left_out, saved_in
from tenfold.app.select import stem_of
from tenfold.app.table_lines import check_given, check_out, head_lines, saved_lines, teller
from tenfold.app.words import counted, short, terminal_width, wrapped
from tenfold.core.errors import BadParameter
from tenfold.selection.model.predictions import write_frame
from tenfold.selection.model.store import plain

NO_AXES = 1  # exit code
MOST_AXES, MOST_READ = 8, 8  # told
NOTHING = "Nothing is saved. --components N makes axes all the same; they would hardly say more than the columns themselves."


def reduce_command(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help=f"the table: {KINDS}; or a folder that this command has made")],
    components: Annotated[
        str | None, typer.Option(metavar="N", help="so many axes; or a share of the variance (0.9); if not given, by parallel analysis")
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="NAME", help=", ".join(METHODS) + ": see above", autocompletion=method_names)
    ] = "pca",
    color: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="colours the pictures, and is left out of the axes", autocompletion=columns_of)
    ] = None,
    columns: Annotated[Columns, only_columns("axes of")] = None,
    without: Without = None,
    new: Annotated[Path | None, typer.Option(metavar="FILE", help="the scores of these rows instead, on the axes of FILE")] = None,
    out: Annotated[Path | None, every_row("the scores")] = None,
    save: Annotated[Path | None, result_folder("model and page", "axes")] = None,
    rows: Rows = None,
    seed: Seed = 0,
    quiet: QuietFlag = False,
    as_json: JsonResult = False,
    replace: Replace = False,
) -> int:
    check_given(seed, rows)
    folder = file if file.is_dir() else save or Path(f"{stem_of(file)}-axes.tenfold")
    check_out(out, folder, file, new)
    if file.is_dir():
        if new is None:
            raise BadParameter(f"{file} is a folder: name the rows that are to be scored with --new FILE")
        KEPT.refuse_given(ctx, "components", "method", "color", "columns", "without", "save", "rows", "seed", "replace")
        return _scored(axes_model(file), new, out, as_json)
    asked = Asked.of(components, method_named(method))
    if new is not None and not METHODS[method].new:
        raise BadParameter(f"--new: {method} places only the rows it was fitted to; run it on all rows together")
    tell = teller(quiet or as_json)
    KEPT.check_place(folder, file, replace)
    found = reduce_file(file, method, asked, columns or [], without or [], color, rows, seed, tell)
    if found.axes:
        write_axes(folder, found, file, seed, _next(folder, found))
    tell("")
    with saved_in(folder if found.axes else None):
        if found.scores is not None and out is not None and new is None:
            write_frame(framed(found.table, found.scores), out)
        if as_json:
            facts = found.facts() | dict(columns=found.prepare._used, left_out=dict(left_out(found.prepare)))
            print(json.dumps(plain(facts | dict(folder=str(folder) if found.axes else None)), ensure_ascii=True))
        else:
            width = terminal_width(sys.stdout)
            for line in [_verdict(found)] if quiet else _lines(found, folder, None if new is not None else out, seed):
                print("\n".join(wrapped(line, width)))
        if new is not None and found.axes:
            return _scored(AxisModel(found.model), new, out, as_json=False, silent=as_json)
    return 0 if found.axes else NO_AXES


reduce_command.__doc__ = f"""Find the few axes along which the rows of a table differ, and say in words which columns are behind each.

    Numbers, dates, categories and gaps are prepared so that every column counts alike; ids, texts and constants are left out. The number
    of axes is that of those which explain more than chance makes of the same columns, shuffled; it may be none. Shares come with
    ranges, and halves of the rows tell whether other rows would give the same axes. What is saved, tenfold predict takes: it gives new
    rows their scores.

    Methods:  {"; ".join(f"{name}, {way.says}" for name, way in METHODS.items())}.

    Ends with 0 where axes were found and saved, with 1 where the columns have nothing in common: --components N makes some all the same.

    Example:  tenfold reduce houses.csv --color district
    """


def _scored(model: AxisModel, new: Path, out: Path | None, as_json: bool, silent: bool = False) -> int:
    """New rows on axes that others gave."""
    scores, fits = new_scores(model, new)
    if out is not None:
        write_frame(scores, out)
    told = "" if fits is None else f"   the axes explain {100 * fits:.0f} % of their variance"
    if as_json:
        kept = scores.drop([name for name in scores.columns if name != "row" and not name.startswith("axis ")])
        print(json.dumps(plain(dict(rows=scores.height, explained=fits, scores=kept.to_dict(as_series=False))), ensure_ascii=True))
    elif not silent:
        where = "   --out FILE writes their scores" if out is None else f"   scores written to {out}"
        print("\n".join(wrapped(f"NEW      {counted(scores.height, 'row')} of {short(new.name)}{told}{where}", terminal_width(sys.stdout))))
    return 0


def _verdict(found: Reduced) -> str:
    if not found.axes:
        return f"no axes: {found.why}"
    if found.map is not None:
        return f"a map of {counted(len(found.axes), 'axis', 'axes')}: {100 * found.map.kept:.0f} % of the nearest rows stay nearest"
    return f"{counted(len(found.axes), 'axis', 'axes')} with {100 * found.together:.0f} % of the variance: {found.why}"


def _lines(found: Reduced, folder: Path, out: Path | None, seed: int) -> list[str]:
    lines = head_lines(found.table, found.prepare, seed, bool(found.axes))
    if found.colour is not None and found.colour.name not in found.prepare._used:
        lines += [f"  ! {short(found.colour.name, 30)}   colours the pictures, and is left out of the axes"]
    if found.missing:
        lines += [f"  ! {counted(found.missing, 'cell')} without a value: a number counts as the mean of its column, a category as a level"]
    lines += [f"  ! {one}" for one in found.warnings]
    if not found.axes:
        return [*lines, "", f"AXES     none: {found.why}", "", NOTHING]
    if found.map is not None:
        lines += _map(found)
    else:
        lines += ["", f"AXES     {len(found.axes)} with {100 * found.together:.0f} % of the variance: {found.why}"]
        lines += [line for one in found.axes[:MOST_AXES] for line in _axis(one)]
    more = len(found.axes) - MOST_AXES
    lines += [f"    and {counted(more, 'more axis', 'more axes')}: all are on the page"] if more > 0 and found.map is None else []
    if out is not None:
        lines += ["", f"WRITTEN  {out}   the scores of {counted(found.table.height, 'row')}"]
    return [*lines, *saved_lines(folder, _next(folder, found))]


def _axis(axis: Axis) -> list[str]:
    span = "" if axis.low is None or axis.high is None else f" ({100 * axis.low:.0f} to {100 * axis.high:.0f} %)"
    firm = "" if axis.firm is None else f"   {axis.firm}"
    ends = [f"{word}: row{'s' * (len(some) > 1)} {listed(some)}" for word, some in (("low", axis.lowest), ("high", axis.highest))]
    return ["", f"  {axis.number}   {100 * axis.share:.0f} %{span}{firm}", f"      {axis.words}", f"      {'   '.join(ends)}"]


def _map(found: Reduced) -> list[str]:
    """What can be read off a map."""
    assert found.map is not None
    told = [f"{short(name, 30)} {100 * max(share, 0):.0f} %" for name, share in found.map.columns.items()]
    dots = ", ..." if len(told) > MOST_READ else ""
    return [
        "",
        f"MAP      {counted(len(found.axes), 'axis', 'axes')}   {METHODS[found.method].says}",
        f"         of the {found.map.neighbours} nearest rows of a row {100 * found.map.kept:.0f} % are among the nearest on the map",
        f"         read off it by the nearest rows: {', '.join(told[:MOST_READ])}{dots}",
    ]


def _next(folder: Path, found: Reduced) -> list[str]:
    """What to type next, ready to paste."""
    there = shlex.quote(str(folder))
    some = [f"tenfold predict {there} FILE     the scores of new rows"] if METHODS[found.method].new else []
    return [*some, f"tenfold inspect {there}     what is inside"]
