"""python -m bench: run workloads against their peers and print times, quality, memory and ratios."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from .catalog import CATALOG, RACES
from .plan import Entry, Options, Report
from .report import document, findings_table, markdown, rows_table

QUICK_SHRINK = 20


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    asked = parser.parse_args(arguments)
    entries = _chosen(asked.only, parser)
    if asked.list:
        for entry in entries:
            _describe(entry)
        return 0
    options = Options(
        shrink=QUICK_SHRINK if asked.quick else asked.shrink,
        slow=asked.slow,
        peers=asked.peers,
        tenfold=asked.tenfold,
        peer=asked.peer,
        threads=asked.threads,
        repeats=asked.repeats,
        against=asked.against,
    )
    reports: list[Report] = []
    for entry in entries:
        report = entry.run(options)
        reports.append(report)
        _show(entry, report)
        if asked.json:  # after every workload, so that an interrupted run keeps what it has
            Path(asked.json).write_text(json.dumps(document(reports, options), indent=1))
        if asked.md:
            Path(asked.md).write_text(markdown(reports, options))
    findings = [finding for report in reports for finding in report.findings]
    if len(reports) > 1 and findings:
        print("\nAll targets:\n\n" + findings_table(findings))
    return 1 if any(not row.ok for report in reports for row in report.rows) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", metavar="NAME[,NAME]", help="workloads to run, or the beginnings of their names")
    parser.add_argument("--list", action="store_true", help="describe the workloads and stop")
    parser.add_argument("--quick", action="store_true", help=f"the same as --shrink {QUICK_SHRINK}")
    parser.add_argument("--shrink", type=_positive, default=1, metavar="N", help="tables N times smaller")
    parser.add_argument("--slow", action="store_true", help="also peers that take minutes; streams 5 GB")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="only Tenfold")
    parser.add_argument("--no-tenfold", dest="tenfold", action="store_false", help="only the peers")
    parser.add_argument("--peer", default="", metavar="TEXT", help="only the peers whose name contains this")
    parser.add_argument("--threads", type=_positive, default=2, metavar="N", help="threads of each contender (2)")
    parser.add_argument("--repeats", type=_positive, default=3, metavar="N", help="best of at least so many (3)")
    parser.add_argument(
        "--against", default="", metavar="FOLDER", help="race another version of Tenfold too: a checkout with its modules compiled"
    )
    parser.add_argument("--json", metavar="OUT", help="write everything measured to this file")
    parser.add_argument("--md", metavar="OUT", help="write the tables to this file")
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} must be 1 or more")
    return value


def _chosen(only: str | None, parser: argparse.ArgumentParser) -> list[Entry]:
    if only is None:
        return list(CATALOG.values())
    chosen = []
    for name in only.split(","):
        matching = [name] if name in CATALOG else [known for known in CATALOG if known.startswith(name)]
        if not matching:
            parser.error(f"no workload is called {name!r}; there are {', '.join(CATALOG)}")
        chosen += [CATALOG[known] for known in matching if CATALOG[known] not in chosen]
    return chosen


def _describe(entry: Entry) -> None:
    print(f"{entry.name}: {entry.about}")
    if entry.name in RACES:
        for contender in RACES[entry.name].contenders:
            remarks = [contender.role] * (contender.role == "reference") + ["--slow"] * contender.slow
            print(f"    {contender.name}" + (f" ({', '.join(remarks)})" if remarks else ""))


def _show(entry: Entry, report: Report) -> None:
    print(f"\n{entry.name}: {entry.about}\n", flush=True)
    if report.rows:
        print(rows_table(report.rows))
    if report.findings:
        print("\n" + findings_table(report.findings))
    for remark in report.remarks:
        print(remark)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
