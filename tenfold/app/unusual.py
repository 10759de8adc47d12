"""`tenfold unusual`: the rows of a table that are unlike the others, at a stated rate of false alarms, and why."""

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
    every_row,
    only_columns,
    result_folder,
)
from tenfold.app.run_folder import left_out, saved_in
from tenfold.app.select import stem_of
from tenfold.app.table_lines import check_given, check_out, head_lines, saved_lines, teller
from tenfold.app.unusual_run import FDR, KEPT, Law, Verdict, judge_file, judged, law_in, law_of, save_law, write_table
from tenfold.app.words import counted, short, terminal_width, wrapped
from tenfold.core.errors import BadParameter
from tenfold.report.unusual import Picture
from tenfold.selection.model.store import plain

TINY = 1e-9


def unusual_command(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help=f"the table: {KINDS}; or a folder that this command has made")],
    new: Annotated[Path | None, typer.Option(metavar="FILE", help="judge these rows instead, by what is usual in FILE")] = None,
    rate: Annotated[float, typer.Option(metavar="RATE", help="share of usual rows that may be flagged")] = 0.01,
    top: Annotated[int, typer.Option(metavar="N", help="tell so many rows, the most unusual first")] = 20,
    columns: Annotated[Columns, only_columns("judge by")] = None,
    without: Without = None,
    out: Annotated[Path | None, every_row("the p-value")] = None,
    save: Annotated[Path | None, result_folder("model and page", "unusual")] = None,
    rows: Rows = None,
    seed: Seed = 0,
    quiet: QuietFlag = False,
    as_json: JsonResult = False,
    replace: Replace = False,
) -> int:
    """Find the rows of a table that are unlike the others, and say which of their cells make them so.

    Numbers, dates, categories and gaps are prepared so that every column counts alike; ids, texts and constants are left out. Of a few
    densities the one is taken that tells rows best from rows with an exchanged cell. Every row is judged by a density that has not seen
    it. Its p-value is the share of usual rows that are as unusual; so the rate says how many rows of a table without anything unusual
    would be flagged all the same. What is saved judges new rows: tenfold unusual customers-unusual.tenfold --new march.csv

    Example:  tenfold unusual customers.csv --out p_values.csv
    """
    if not 0 < rate <= 0.5:
        raise BadParameter(f"--rate {rate:g}: must be above 0 and at most 0.5")
    if top < 1:
        raise BadParameter(f"--top {top}: must be at least 1")
    check_given(seed, rows)
    folder = file if file.is_dir() else save or Path(f"{stem_of(file)}-unusual.tenfold")
    check_out(out, folder, file, new)
    tell = teller(quiet or as_json)
    if file.is_dir():
        if new is None:
            raise BadParameter(f"{file} is a folder: name the rows that are to be judged with --new FILE")
        KEPT.refuse_given(ctx, "rate", "columns", "without", "save", "rows", "seed", "replace")
        law, made, own = law_in(file), None, None
    else:
        made = folder
        KEPT.check_place(folder, file, replace)
        law, table, Z, p_values = law_of(file, columns or [], without or [], rows, rate, seed, tell)
        tell("reasons")
        own = judged(law, table, Z, p_values, top)
        picture = Picture.of(Z, own.p_values, own.unusual, [(row.place, row.number) for row in own.rows], seed)
        save_law(folder, law, own, picture, file, _next(folder))
    with saved_in(made):
        verdict = own if new is None else judge_file(law, new, top)
        assert verdict is not None  # a folder comes with new rows
        tell("")
        if out is not None:
            write_table(verdict, out)
        if as_json:
            _print_json(law, verdict, made)
        else:
            width = terminal_width(sys.stdout)
            for line in [_verdict(verdict)] if quiet else _lines(law, verdict, made, out):
                print("\n".join(wrapped(line, width)))
    return 0


def _print_json(law: Law, verdict: Verdict, folder: Path | None) -> None:
    facts = verdict.facts() | dict(score=law.score, tried=law.tried, columns=law.prepare._used, left_out=dict(left_out(law.prepare)))
    print(json.dumps(plain(facts | dict(folder=None if folder is None else str(folder))), ensure_ascii=True))


def _lines(law: Law, verdict: Verdict, folder: Path | None, out: Path | None) -> list[str]:
    lines = head_lines(verdict.table, law.prepare, law.seed, folder is not None)
    tried = [f"{name} {100 * area:.0f} %" for name, area in law.tried.items()]
    lines += ["", f"SCORE    {law.score}   tells rows from those with an exchanged cell: {', '.join(tried)}"]
    lines += ["", f"UNUSUAL  {_verdict(verdict)}"]
    if verdict.sure:
        sure = f"{verdict.sure:,} of them stand{'s' if verdict.sure == 1 else ''} out so far"
        lines += [f"         {sure} that at most one in {1 / FDR:.0f} of such is expected to be a false alarm"]
    for row in verdict.rows:
        label = "" if row.label is None else f" ({short(row.label, 30)})"
        words = [one.words for one in row.reasons] or ["no column by itself"]
        lines += ["", f"  row {row.number:,}{label}   {_p(row.p_value)}", *(f"      {one}" for one in words)]
    more = int(verdict.unusual.sum()) - len(verdict.rows)
    lines += ["", f"    and {more:,} more: --top N tells more of them, --out FILE has all"] if more > 0 else []
    if out is not None:
        lines += ["", f"WRITTEN  {out}   the p-values of {counted(len(verdict.p_values), 'row')}"]
    return lines if folder is None else [*lines, *saved_lines(folder, _next(folder))]


def _verdict(verdict: Verdict) -> str:
    """How many, beside what chance would flag."""
    n, found, expected = len(verdict.p_values), int(verdict.unusual.sum()), verdict.expected
    chance = f"about {expected:.0f}" if expected >= 0.95 else "not one"
    usual = "without anything unusual" if found else "of that size"
    return f"{found:,} of {counted(n, 'row')} at a rate of {verdict.rate:g}; {chance} would be flagged in a table {usual}"


def _p(value: float) -> str:
    """A p-value; how small a tiny one is, nobody knows."""
    return f"p = {value:.2g}" if value >= TINY else f"p under {TINY:g}"


def _next(folder: Path) -> list[str]:
    """What to type next, ready to paste."""
    there = shlex.quote(str(folder))
    return [f"tenfold unusual {there} --new FILE     judge new rows", f"tenfold predict {there} FILE     the p-value of each row of a file"]
