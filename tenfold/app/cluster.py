"""`tenfold cluster`: the groups of a table, their number with the evidence, and what sets them apart."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from tenfold.app.cluster_run import KEPT, Groups, groups_of, next_commands, write_groups
from tenfold.app.options import (
    Columns,
    JsonResult,
    QuietFlag,
    Replace,
    Rows,
    Seed,
    Table,
    Without,
    only_columns,
    result_folder,
)
from tenfold.app.run_folder import left_out, saved_in
from tenfold.app.select import stem_of
from tenfold.app.table_lines import check_given, head_lines, saved_lines
from tenfold.app.words import counted, terminal_width, wrapped
from tenfold.core.errors import BadParameter
from tenfold.selection.model.store import plain

NO_GROUPS = 1  # exit code


def cluster_command(
    file: Table,
    clusters: Annotated[
        int | None, typer.Option(metavar="K", help="so many groups; if not given, as many as the rows show, or none")
    ] = None,
    columns: Annotated[Columns, only_columns("group by")] = None,
    without: Without = None,
    out: Annotated[Path | None, result_folder("the groups", "clusters")] = None,
    rows: Rows = None,
    seed: Seed = 0,
    quiet: QuietFlag = False,
    as_json: JsonResult = False,
    replace: Replace = False,
) -> int:
    """Find the groups of a table, how many there are and whether they are real, and say in words what sets each of them apart.

    Numbers, dates, categories and gaps are prepared so that every column counts alike; ids, texts and constants are left out. The number
    of groups comes with its evidence, and may be none. Halves of the rows tell whether new rows would give the same groups. What is
    saved, tenfold predict takes: it gives new rows the number of their group.

    Ends with 0 where groups were found and saved, with 1 where the rows show none: --clusters K makes some all the same.

    Example:  tenfold cluster customers.csv --without churned
    """
    if clusters is not None and clusters < 2:
        raise BadParameter(f"--clusters {clusters}: ask for at least 2")
    check_given(seed, rows)
    folder = out or Path(f"{stem_of(file)}-clusters.tenfold")
    KEPT.check_place(folder, file, replace)
    found = groups_of(file, clusters, columns or [], without or [], rows, seed)
    if found.model is not None:
        write_groups(folder, found, file, seed)
    with saved_in(None if found.model is None else folder):
        if as_json:
            _print_json(found, folder)
        else:
            width = terminal_width(sys.stdout)
            for line in _one_line(found, folder) if quiet else _lines(found, folder, file, seed):
                print("\n".join(wrapped(line, width)))
    return 0 if found.groups else NO_GROUPS


def _print_json(found: Groups, folder: Path) -> None:
    columns_used = dict(columns=found.prepare._used, left_out=dict(left_out(found.prepare)))
    facts = found.facts() | columns_used | dict(folder=None if found.model is None else str(folder))
    print(json.dumps(plain(facts), ensure_ascii=True))


def _one_line(found: Groups, folder: Path) -> list[str]:
    if not found.groups:
        return [f"no groups: {found.choice.why}"]
    sizes = ", ".join(f"{group.rows:,}" for group in found.groups)
    agreement = "" if found.stability is None else f"   agreement of halves {found.stability.agreement:.2f}"
    return [f"{len(found.groups)} groups of {sizes} rows{agreement}   saved {folder}/"]


def _lines(found: Groups, folder: Path, file: Path, seed: int) -> list[str]:
    lines = [*head_lines(found.table, found.prepare, seed, bool(found.groups)), "", *_number(found), ""]
    if not found.groups:
        return [*lines, "Nothing is saved. --clusters K groups the rows all the same; such groups are a division, not a discovery."]
    if found.stability is not None:
        lines += [f"STABLE?  {found.stability}   (adjusted Rand index {found.stability.agreement:.2f} between groupings of halves)", ""]
    for group in found.groups:
        again = "" if group.again != group.again else f"   found again {100 * group.again:.0f} %"
        lines.append(f"  {group.number}   {counted(group.rows, 'row')} ({100 * group.share:.0f} %){again}")
        lines += [f"      {one}" for one in group.traits] or ["      nothing sets it apart by itself"]
    return [*lines, *saved_lines(folder, next_commands(folder, file))]


def _number(found: Groups) -> list[str]:
    """How many groups, and what speaks for it."""
    choice = found.choice
    if found.asked is None:
        lines = [f"GROUPS   {choice.clusters if choice.clusters > 1 else 'none'}   {choice.why}"]
    else:
        say = "no groups" if choice.clusters == 1 else counted(choice.clusters, "group")
        fewer = f"; only {len(found.groups)} have rows, there are no more different ones" if len(found.groups) < found.asked else ""
        lines = [f"GROUPS   {found.asked}, as asked{fewer}", f"         the rows themselves show {say}: {choice.why}"]
    said = [f"{one.rule}: {one.clusters}" for one in choice.rules if one.clusters is not None]
    return lines + ([f"         {'   '.join(said)}"] if said else [])
