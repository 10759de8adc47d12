"""What the runs come to, as Markdown: ranks, errors beside the best, what each tool says of itself beside what is true."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from scipy.stats import rankdata

from bench.rivals.results import Line

Z = 1.959964
SMALL = 500  # training rows
COPIED = dict(reported="value", low="low", high="high")
REMARKS = "## Remarks"  # what follows is written by hand
Cells = dict[tuple[str, int], dict[str, Line]]  # by table and split, the run of each tool


def complete(lines: list[Line], tools: list[str]) -> tuple[Cells, int]:
    """The tables and splits of which every tool has a run that counts, and how many have some but not all.

    A run that was ended has the error of the guess, which is that of the other tools' lines.
    """
    cells: Cells = defaultdict(dict)
    for line in lines:
        if not line["busy"]:
            cells[line["table"], line["split"]][line["tool"]] = line
    whole: Cells = {}
    for where, cell in cells.items():
        guesses = [line["guess"] for line in cell.values() if line["guess"] is not None]
        if set(tools) <= set(cell) and guesses:
            judged = {t: guesses[0] if cell[t]["error"] is None else cell[t]["error"] for t in tools}
            whole[where] = {t: cell[t] | dict(guess=guesses[0], error=judged[t]) for t in tools}
    return dict(sorted(whole.items())), len(cells) - len(whole)


def errors_of(cells: Cells, tools: list[str]) -> dict[str, tuple[Any, Any]]:
    """By table: test errors (splits, tools), and those of the guess (splits,)."""
    tables = defaultdict(list)
    for (table, _), cell in cells.items():
        tables[table].append(([cell[t]["error"] for t in tools], next(iter(cell.values()))["guess"]))
    return {name: (np.array([e for e, _ in rows]), np.array([g for _, g in rows])) for name, rows in tables.items()}


def ranks(errors: dict[str, tuple[Any, Any]]) -> Any:
    """(tables, tools): the mean over splits."""
    return np.array([np.mean([rankdata(row) for row in one], axis=0) for one, _ in errors.values()])


def beside_best(errors: dict[str, tuple[Any, Any]]) -> tuple[Any, Any]:
    """(tables, tools): geometric mean over splits of error / least error; and the mean share lost of what is to be gained."""
    ratio, lost = [], []
    for found, guess in errors.values():
        least = found.min(axis=1, keepdims=True)
        ratio.append(np.exp(np.mean(np.log(np.maximum(found, 1e-300) / np.maximum(least, 1e-300)), axis=0)))
        gained = np.maximum(guess[:, None] - least, 1e-12)
        lost.append(np.mean(np.minimum((found - least) / gained, 1.0), axis=0))
    return np.array(ratio), np.array(lost)


def covered(line: Line) -> bool | None:
    """Whether the range holds the test error, both having an error; None where there is no range."""
    if line["failure"] or line.get("low") is None or line["reported"] is None:
        return None
    error, value = line["error"], line["reported"]
    end = line["low"] if error < value else line["high"]
    return bool(abs(error - value) <= np.hypot(value - end, Z * line["standard_error"]))


def by_copies(tool: str, mine: list[Line]) -> list[tuple[str, list[Line]]]:
    """Of a tool that says two figures where many rows are copies: the runs with the one for rows that repeat known ones as often, as test
    rows do; those that say two with the one for rows that are no copies, beside the test rows that are none; and with the other one,
    beside all."""
    both = [line for line in mine if line.get("copied") and line.get("apart")]
    if not both:
        return []
    alone = [line | {name: line["apart"][name] for name in ("error", "standard_error")} for line in both]
    parts = {"copies counted": [_with_copies(line) for line in mine], "rows that are no copies": alone}
    return [(f"{tool}: {what}", lines) for what, lines in (parts | {"rows with copies": [_with_copies(line) for line in both]}).items()]


def _with_copies(line: Line) -> Line:
    return line | {to: line["copied"][name] for to, name in COPIED.items()} if line.get("copied") else line


def biases(mine: list[Line]) -> dict[str, tuple[float, bool]]:
    """By table (sum of reported - sum of true) / sum of true over splits, and whether the table is small; of runs that did not fail."""
    tables = defaultdict(list)
    for line in mine:
        if not line["failure"] and line.get("reported") is not None:
            tables[line["table"]].append((line["reported"], line["error"], line["rows"] < SMALL))
    sums = {name: np.sum([row[:2] for row in rows], axis=0) for name, rows in tables.items()}
    return {name: (float(said / true - 1), tables[name][0][2]) for name, (said, true) in sums.items() if true > 0}


def leads(errors: dict[str, tuple[Any, Any]]) -> list[tuple[int, int, float, float]]:
    """Of the first tool against each other one: splits on which its error is lower and higher, and by how much its rank is ahead, the mean
    over tables of that over their splits, with its standard error over tables."""
    rank, found = ranks(errors), []
    every = np.concatenate([one for one, _ in errors.values()])
    for j in range(1, rank.shape[1]):
        ahead = rank[:, j] - rank[:, 0]
        error = float(ahead.std(ddof=1) / np.sqrt(len(ahead))) if len(ahead) > 1 else float("nan")
        found.append((int((every[:, 0] < every[:, j]).sum()), int((every[:, 0] > every[:, j]).sum()), float(ahead.mean()), error))
    return found


def with_remarks(page: str, before: str) -> str:
    """The page, and what somebody has written below the figures of the page before it."""
    begin = before.find(f"\n{REMARKS}\n")
    return page if begin < 0 else f"{page}\n{before[begin:].rstrip()}"


def written(lines: list[Line], tools: list[str]) -> str:
    """The page; what is not complete is told, and not counted."""
    cells, partly = complete(lines, tools)
    if not cells:
        return f"No table and split has a run of all of {', '.join(tools)} that counts ({partly} have some)."
    errors = errors_of(cells, tools)
    rank, (ratio, lost) = ranks(errors), beside_best(errors)
    runs = {t: [cell[t] for cell in cells.values()] for t in tools}
    versions = {t: sorted({line.get("version") or "unknown" for line in runs[t]}) for t in tools}
    text = [
        "# Beside FLAML and AutoGluon",
        "",
        f"{len(errors)} tables, {len(cells)} splits into 70 % to learn from and 30 % to judge by, {lines[0]['seconds']:g} seconds and 2 "
        f"cores for each tool; {partly} splits without a run of every tool that counts are left out. The rule, fixed before the first "
        "run, is the docstring of `bench/rivals/__init__.py`.",
        "",
        "| tool | version | mean rank | first | error / least: median, mean | lost of the gain | fit: mean, most | prediction | failed |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for j in np.argsort(rank.mean(axis=0)):
        mine = runs[tools[j]]
        fit = np.array([line.get("fit_seconds") or line["wall"] for line in mine])
        told = np.median([line["predict_seconds"] for line in mine if line.get("predict_seconds") is not None] or [np.nan])
        wins = float(np.mean(np.concatenate([found[:, j] <= found.min(axis=1) for found, _ in errors.values()])))
        parts = [tools[j], ", ".join(versions[tools[j]]), f"{rank[:, j].mean():.2f}", f"{wins:.0%}"]
        parts += [f"{np.median(ratio[:, j]):.3f}, {ratio[:, j].mean():.3f}", f"{lost[:, j].mean():.1%}"]
        parts += [f"{fit.mean():.0f}, {fit.max():.0f} s", f"{told:.2g} s", f"{sum(bool(line['failure']) for line in mine)} of {len(mine)}"]
        text.append("| " + " | ".join(parts) + " |")
    text += ["", *_leads(errors, tools), "", *_honesty(runs), "", *_tables(errors, cells, tools), *_failures(runs)]
    return "\n".join(text)


def _leads(errors: dict[str, tuple[Any, Any]], tools: list[str]) -> list[str]:
    lines = [f"| {tools[0]} against | error lower | higher | rank ahead by |", "|---|---:|---:|---:|"]
    for tool, (lower, higher, ahead, error) in zip(tools[1:], leads(errors), strict=True):
        lines.append(f"| {tool} | {lower} | {higher} | {ahead:+.2f} ± {error:.2f} |")
    what = "Splits on which the error is lower and higher, and the difference of mean ranks with its standard error over tables."
    return [what, "", *lines]


def _honesty(runs: dict[str, list[Line]]) -> list[str]:
    lines = [
        "## What each tool says of itself, beside what is true",
        "",
        "Bias on a table: sum of reported less sum of true over sum of true of its splits, below zero where the tool flatters itself; "
        f"small tables have less than {SMALL} training rows. Where hardly a row is misjudged, a table has more luck than all others "
        "together: so also the mean of log(reported / true), with its standard error over tables. Where more than a twentieth of the rows "
        "are copies of others, `select` says two figures: the one that counts by the rule is for new rows that are no copies; in "
        '"copies counted" the other one stands in its place, for rows that repeat known ones as often as those of the table, as test '
        "rows do. Below it are these runs alone: each of the two beside the test rows that it is for.",
        "",
        "| tool | tables | mean bias | median | log(reported / true) | mean of small | flatters by more than 10 % | its range covers |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    beside = [one for tool, mine in runs.items() for one in by_copies(tool, mine)]
    for name, some in [*runs.items(), *beside]:
        known = biases(some).values()
        found, small = np.array([one for one, _ in known]), np.array([one for one, is_small in known if is_small])
        held = [one for line in some if (one := covered(line)) is not None]
        share = f"{np.mean(held):.1%} of {len(held)}" if held else "says none"
        if not len(found):
            lines.append(f"| {name} | 0 | | | | | | {share} |")
            continue
        little = f"{small.mean():+.1%}" if len(small) else ""
        logs = np.log1p(found)
        off = float(logs.std(ddof=1) / np.sqrt(len(logs))) if len(logs) > 1 else float("nan")
        parts = [name, str(len(found)), f"{found.mean():+.1%}", f"{np.median(found):+.1%}", f"{logs.mean():+.3f} ± {off:.3f}", little]
        lines.append("| " + " | ".join([*parts, f"{(found < -0.1).mean():.0%}", share]) + " |")
    return lines


def _tables(errors: dict[str, tuple[Any, Any]], cells: Cells, tools: list[str]) -> list[str]:
    """Of each table, the mean test error of each tool, and what it reports."""
    lines = ["## Table by table", "", "Mean over splits of the test error (reported by the tool); the least is bold.", ""]
    lines += ["| table | score | splits | guess | " + " | ".join(tools) + " |", "|---|---|---:|---:|" + "---:|" * len(tools)]
    for table, (found, guess) in errors.items():
        mine = [cell for (name, _), cell in cells.items() if name == table]
        metric = next((line["metric"] for cell in mine for line in cell.values() if "metric" in line), "")
        parts = []
        for j, tool in enumerate(tools):
            said = [cell[tool]["reported"] for cell in mine if cell[tool].get("reported") is not None]
            mean = f"{found[:, j].mean():.4g}"
            mean = f"**{mean}**" if found[:, j].mean() <= found.mean(axis=0).min() else mean
            parts.append(f"{mean} ({np.mean(said):.4g})" if said else mean)
        lines.append(f"| {table} | {metric} | {len(found)} | {guess.mean():.4g} | " + " | ".join(parts) + " |")
    return lines


def _failures(runs: dict[str, list[Line]]) -> list[str]:
    failed = [line for mine in runs.values() for line in mine if line["failure"]]
    if not failed:
        return []
    return ["", "## Failures", "", *(f"- {line['tool']}, {line['table']}, split {line['split']}: {line['failure']}" for line in failed)]
