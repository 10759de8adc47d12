"""The board of a race as lines of text, with as many columns as the terminal is wide."""

from __future__ import annotations

from typing import Any

from tenfold.app.words import AsItIs, clean, figure, folded, metric_name, seconds, short
from tenfold.selection.board import DROPPED, PASSED_OVER
from tenfold.table.reading import cut_after_word

BAR = 21  # characters for the interval of a score
LONGEST_MODEL, SHORTEST_MODEL = 44, 20
MOST_PLACES, MOST_DROPPED = 12, 4  # shown on the board, and named under it
NARROW = 100  # characters, below which columns stand closer
SCORE, AGAINST, OTHER, TIME = 12, 15, 10, 11  # characters of the columns
Facts = dict[str, Any]


def board_lines(
    rows: list[Facts], metric: str, greater_is_better: bool, notes: dict[str, str], width: int
) -> list[str]:
    """A line for each place. Besides model, score and "against #1", what the width leaves room for: other scores, the bar, the time."""
    first, indent = (9, 5) if width >= NARROW else (5, 1)
    least = first + SCORE + AGAINST
    name = min(max(len(clean(row["model"])) for row in rows), LONGEST_MODEL, max(width - least, SHORTEST_MODEL))
    left = width - least - name
    others = list(rows[0]["others"])[: max(min(2, left // OTHER), 0)]
    left -= OTHER * len(others)
    bar = BAR if left >= BAR + 2 else 0
    time = left - (bar + 2 if bar else 0) >= TIME
    better = "higher is better" if greater_is_better else "lower is better"

    def line(place: str, model: str, score: str, interval: str, against: str, more: list[str], fit: str) -> AsItIs:
        shown = f"  {interval:<{bar}}" if bar else ""
        beside = "".join(f"{one:>{OTHER}}" for one in more)
        text = f"{place:<{first}}{model:<{name}}{score:>{SCORE}}{shown}  {against:<13}{beside}"
        return AsItIs(f"{text}   {fit}" if time else text.rstrip())

    heads = [metric_name(one) for one in others]
    lines = ["", line("RACE", "", metric_name(metric), better, "against #1", heads, "one fit")]
    place = 0
    gone, passed = ([row for row in rows if row["against"] == how] for how in (DROPPED, PASSED_OVER))
    rows = [row for row in rows if row["against"] not in (DROPPED, PASSED_OVER)]
    running = [row for row in rows if row["rank"] > 0 and row["against"] != "failed"]
    hidden = running[MOST_PLACES:]
    rows = [row for row in rows if row not in hidden]
    for row, interval in zip(rows, intervals(rows), strict=True):
        model = folded(row["model"], name)
        if row["against"] == "failed":
            lines.append(
                f"{'':{first}}{model:<{name}}{'failed':>{SCORE}}  {cut_after_word(clean(row['reason'] or ''), 110)}"
            )
            continue
        place += row["rank"] > 0
        number = f"{'':{indent}}{place:>2}" if row["rank"] > 0 else ""
        more = [figure(row["others"][one], one) for one in others]
        score = figure(row["score"], metric)
        lines.append(line(number, model, score, interval, row["against"], more, seconds(row["seconds"])))
    if hidden:
        lines.append(f"  behind these: {len(hidden)} more, all in run.json")
    if gone:
        when = [f" after {row['folds']} folds" for row in gone]
        lines.append(f"  dropped: {_named(gone, when, metric)}")
    if passed:
        lines.append(f"  passed over, as what they refine does not lead in the end: {_named(passed, [''] * len(passed), metric)}")
    if not bar:
        lines.append(AsItIs(f"  {metric_name(metric)}: {better}."))
    lines += [f"  note: {short(title)}: {first_part(text)}" for title, text in notes.items()]
    return [*lines, "  This board is for ranking. It flatters whoever comes first; the next number does not."]


def _named(rows: list[Facts], when: list[str], metric: str) -> str:
    """Families that are not on the board, with their scores."""
    named = [f"{short(row['model'])} ({figure(row['score'], metric)}{after})" for row, after in zip(rows, when, strict=True)]
    return ", ".join(named[:MOST_DROPPED]) + (f" and {len(rows) - MOST_DROPPED} more" if len(rows) > MOST_DROPPED else "")


def first_part(warning: str) -> str:
    """Of "Learner: what; what was done about it: remedy" what it is: the settings of a race are not the user's to mend."""
    what = (warning.partition(": ")[2] or warning).partition("; ")[0]
    text = clean((what.rpartition(": ")[0] or what).replace(" of X ", " "))
    return cut_after_word(text[:1].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text, 140)


def intervals(rows: list[Facts]) -> list[str]:
    """For each row `|--o--|`: score ± one error, on a scale that all share."""
    shown = [row for row in rows if row["score"] == row["score"]]
    front = shown[: max(2, len(shown) // 2 + 1)]  # a hopeless last place must not squeeze the others together
    low: float = min(row["score"] - _error(row) for row in front)
    high: float = max(row["score"] + _error(row) for row in front)
    if not high > low:
        return [""] * len(rows)

    def place(value: float) -> int:
        share: float = min(max((value - low) / (high - low), -1.0), 2.0)
        return round(share * (BAR - 1))

    bars = []
    for row in rows:
        if row["score"] != row["score"] or not 0 <= place(row["score"]) < BAR:
            bars.append("")
            continue
        left, right = (min(max(place(row["score"] + sign * _error(row)), 0), BAR - 1) for sign in (-1, 1))
        line = [" "] * BAR
        line[left : right + 1] = "-" * (right - left + 1)
        line[left] = line[right] = "|"
        line[place(row["score"])] = "o"
        bars.append("".join(line).rstrip())
    return bars


def _error(row: Facts) -> float:
    return float(row["error"]) if row["error"] == row["error"] else 0.0
