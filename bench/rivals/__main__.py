"""`python -m bench.rivals run|table`: see `bench.rivals` for the rule."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

import bench.rivals
from bench.rivals.machine import BUSY, taken_by_others
from bench.rivals.results import Key, read, run_all
from bench.rivals.summary import with_remarks, written
from bench.rivals.tools import COMPARED, CORES, TOOLS
from bench.tables import ENDING

SPLITS, SECONDS = "0,1,2,3,4", 60.0


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m bench.rivals", description=bench.rivals.__doc__, formatter_class=form)
    commands = parser.add_subparsers(dest="what", required=True)
    run = commands.add_parser("run", help="run what is not in the file yet")
    run.add_argument("--data", type=Path, default=os.environ.get("TENFOLD_TABLES"), help="folder of NAME.csv.gz, or TENFOLD_TABLES")
    run.add_argument("--results", type=Path, required=True, help="file of lines, added to")
    run.add_argument("--tools", default=",".join(COMPARED), help=f"some of {', '.join(TOOLS)}")
    run.add_argument("--tables", help="names; if not given, all of the folder")
    run.add_argument("--splits", default=SPLITS)
    run.add_argument("--seconds", type=float, default=SECONDS)
    run.add_argument("--python", action="append", default=[], metavar="TOOL=PATH", help="interpreter that has a tool; ours has tenfold")
    run.add_argument("--again", action="store_true", help="also what is in the file")
    run.add_argument("--even-busy", action="store_true", help="begin on a busy machine, though such runs do not count")
    table = commands.add_parser("table", help="what the file comes to")
    table.add_argument("--results", type=Path, required=True)
    table.add_argument("--out", type=Path, help="a Markdown file, whose remarks are kept; if not given, printed")
    table.add_argument("--seconds", type=float, default=SECONDS)
    table.add_argument("--tools", default=",".join(COMPARED))
    asked = parser.parse_args()
    tools = _known(asked.tools.split(","), TOOLS, "tool")
    if asked.what == "table":
        lines = [line for key, line in read(asked.results).items() if key[0] in tools and key[3] == asked.seconds]
        text = written(lines, tools)
        if asked.out is None:
            print(text)
        else:
            asked.out.write_text(with_remarks(text, asked.out.read_text() if asked.out.exists() else "") + "\n")
        return
    if asked.data is None:
        raise SystemExit("name the folder of the tables with --data, or in TENFOLD_TABLES")
    tables = {path.name.removesuffix(ENDING): path for path in sorted(Path(asked.data).glob("*" + ENDING))}
    tables = dict(sorted(tables.items(), key=lambda pair: pair[1].stat().st_size))  # the quickest to read first
    names = list(tables) if asked.tables is None else _known(asked.tables.split(","), tables, "table")
    matters = not asked.even_busy and any(TOOLS[tool].timed for tool in tools)
    taken = taken_by_others(sorted(os.sched_getaffinity(0))[:CORES]) if matters else 0.0
    if taken > BUSY:
        raise SystemExit(f"{taken:.0%} of the cores are taken by other processes: no run would count; wait, or use --even-busy")
    keys: list[Key] = [(t, name, int(k), asked.seconds) for k in asked.splits.split(",") for name in names for t in tools]
    run_all(keys, tables, asked.results, _interpreters(asked.python, tools), asked.again)


def _interpreters(given: list[str], tools: list[str]) -> dict[str, str]:
    """By tool; the beginning of a name is enough, as in autogluon=PATH."""
    found = {tool: sys.executable for tool in tools if TOOLS[tool].ours}
    for text in given:
        begin, _, path = text.partition("=")
        found |= {tool: path for tool in tools if tool.startswith(begin)}
    if absent := [tool for tool in tools if not found.get(tool)]:
        raise SystemExit(f"name the interpreter that has {absent[0]}: --python {absent[0]}=PATH")
    return found


def _known(names: list[str], among: Iterable[str], what: str) -> list[str]:
    if unknown := [name for name in names if name not in set(among)]:
        raise SystemExit(f"no {what} {', '.join(unknown)}: there are {', '.join(among)}")
    return names


if __name__ == "__main__":
    main()
