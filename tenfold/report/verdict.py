"""The sections that come first: the verdict, and whether its number can be trusted."""

from __future__ import annotations

import numpy as np

from tenfold.report import trust
from tenfold.report.blocks import STRIP, Figure, Figures, Section, Table, Text, ranges_table
from tenfold.report.facts import Facts, as_dict, number
from tenfold.report.plain_words import sentences
from tenfold.report.scale import Axis, places
from tenfold.report.svg import Plot, strip
from tenfold.score.words import figure
from tenfold.selection.honest.audit import SIGNAL, needed
from tenfold.selection.honest.growth import UNTRIED
from tenfold.table.show import shown

CHOSEN = (
    "The board ranks models on the rows it chose them by, so its first place is too good. The honest estimate repeats the whole "
    "choice on rows that had no part in it."
)
NAMED = "One learner was named: no choice among models flatters what it scores on rows that it had not seen."


def headline(facts: Facts) -> tuple[str, str] | None:
    """The one number of the page, and its range and what it is compared with in words."""
    one, base = facts.estimate, facts.guessed(facts.metric)
    if facts.is_guess:
        return "No usable signal", f"{facts.metric_name()} of the guess {facts.figure(one['value'])}" if one else ""
    if not one:
        return None
    low, high = number(one.get("low")), number(one.get("high"))
    words = f"{facts.metric_name()} on new rows"
    words += f", 95% range {facts.figure(low)} to {facts.figure(high)}" if low is not None and high is not None else ""
    return facts.figure(one["value"]), words + ("" if base is None else f"; the guess: {facts.figure(base)}")


def verdict(facts: Facts) -> Section:
    """The estimate with its range against the guess, and the other scores."""
    blocks: list[object] = [Text(" ".join(sentences(facts)))]
    rows = []
    for name, one in facts.estimates.items():
        value, low, high, base = number(one["value"]), number(one.get("low")), number(one.get("high")), facts.guessed(name)
        known = [x for x in (value, low, high, base) if x is not None]
        axis = Axis(min(known), max(known), 6, STRIP - 6, pad=0.04)
        span = f"{figure(low, name)} to {figure(high, name)}" if low is not None and high is not None else ""
        picture = strip(axis, value, low, high, rule=base, label=f"{figure(value, name)}, range {span}, the guess {figure(base, name)}")
        rows.append([facts.metric_name(name), figure(value, name), picture, span, figure(base, name)])
    guessed = any(facts.guessed(name) is not None for name in facts.estimates)
    if rows:
        heads = ["score on new rows", "estimate", "", "95% range", "the guess"]
        blocks.append(Table(heads if guessed else heads[:-1], rows if guessed else [row[:-1] for row in rows], right=(1, 4), tight=(0, 3)))
        line = ", the upright line what the guess scores" if guessed else ""
        blocks.append(Text(f"The dot is the estimate with its range{line}.", faint=True, picture=True))
    return Section("verdict", "Verdict", blocks)


def trusted(facts: Facts) -> Section | None:
    """The board's score beside the honest one, folds, and what chance would score."""
    board, estimate = number(facts.leader.get("score")), facts.estimate
    if not estimate:
        return None
    rows: list[tuple[str, float | None, float | None, float | None, str]] = []
    if board is not None:
        rows.append(("on the board", board, None, None, "chosen by this very score, so it flatters"))
    rows.append(
        (
            "honest estimate",
            estimate["value"],
            number(estimate.get("low")),
            number(estimate.get("high")),
            shown(estimate.get("method", ""), 160),
        ),
    )
    less = as_dict(facts.record.get("growth"))
    if (folds := number(less.get("folds"))) is not None and (score := number(less.get("score"))) is not None:
        more = f", and ahead of models of {folds - 2:.0f}: more rows help" if less.get("clear") is True else "; the estimate is for all"
        said = f"learned from {folds - 1:.0f} of {folds:.0f} parts of the rows{more}"
        rows.append(("models of folds", score, number(less.get("low")), number(less.get("high")), said))
    again = as_dict(facts.record.get("copied"))
    if (worth := number(again.get("value"))) is not None and (some := number(again.get("rows"))) is not None:
        said = f"{int(some):,} rows have copies: what it is worth if as many new rows repeat known ones"
        rows.append(("with copies", worth, number(again.get("low")), number(again.get("high")), said))
    search = facts.search
    if facts.is_guess and number(search.get("value")) is not None:
        rows.append(
            (
                "the whole search",
                search["value"],
                number(search.get("low")),
                number(search.get("high")),
                "what the search would have been worth",
            ),
        )
    for name, other in as_dict(facts.record.get("opinions")).items():
        if number(as_dict(other).get("value")) is not None:
            rows.append(
                (
                    shown(name, 40),
                    other["value"],
                    number(other.get("low")),
                    number(other.get("high")),
                    shown(other.get("method", "second opinion"), 160),
                ),
            )
    base = facts.guessed(facts.metric)
    if base is not None:
        rows.append(("the guess", base, None, None, "learns nothing from the columns"))
    blocks: list[object] = [
        Text(NAMED if facts.is_fit else CHOSEN),
        ranges_table(rows, facts.metric, said="how it was made"),
        *([Text(UNTRIED)] if facts.record.get("untried") is True else []),
    ]
    gain = as_dict(as_dict(facts.record.get("search")).get("gain"))
    if number(gain.get("value")) is not None:
        low, high = number(gain.get("low")), number(gain.get("high"))
        span = f" (95% range {figure(low)} to {figure(high)})" if low is not None and high is not None else ""
        value = f"{figure(gain['value'])} in {shown(gain.get('metric', facts.metric_name()), 40)}{span}"
        called = f" It is called a signal where this is more than {_errors(facts, number(gain.get('error')))} above nothing."
        who = "it" if facts.is_fit else "the search"
        whose = " by models of folds" if less else ""
        blocks.append(Text(f"Against the guess {who} gains {value}{whose}.{'' if facts.is_fit else called}"))
    figures = _steps(facts, board) + _folds(facts) + _null(facts)
    if figures:
        blocks.append(Figures(figures))
    return Section("trust", "Can I trust this number?", blocks)


def _errors(facts: Facts, error: float | None) -> str:
    """What a gain must exceed, in words."""
    times = SIGNAL if facts.judge is None else needed(facts.judge)
    return f"{times:g} standard error{'s' if times != 1 else ''}" + ("" if error is None else f" ({figure(times * error)})")


def _steps(facts: Facts, board: float | None) -> list[Figure]:
    """From the score of the board to the honest estimate, step by step: what the choosing flattered, and what all rows bring."""
    value, folds = number(facts.estimate.get("value")), number(as_dict(facts.record.get("growth")).get("score"))
    if board is None or value is None or facts.is_guess:
        return []
    before = value if folds is None else folds
    steps = [("the board", None, board), ("choosing", board, before), *([("all rows", before, value)] if folds is not None else [])]
    steps.append(("estimate", None, value))
    low, high = min(board, before, value), max(board, before, value)
    room = 0.3 * (high - low) or 0.1 * abs(high) or 1.0
    floor = low - 2 * room
    plot = Plot(
        "from the board to the estimate",
        (0.4, len(steps) + 0.6),
        (floor, high + room),
        y_title=facts.metric_name(),
        x_ticks=[(float(k), name) for k, (name, _, _) in enumerate(steps, 1)],
        pad=0.0,
        left=62,
    )
    for k, (_, start, end) in enumerate(steps, 1):
        worse = start is not None and (end - start) * (1 if facts.greater else -1) < 0
        plot.box(k - 0.32, k + 0.32, floor if start is None else start, end, "c0 soft" if start is None else "warn" if worse else "c2")
        said = facts.figure(end) if start is None else f"{'+' if end >= start else '−'}{figure(abs(end - start))}"
        plot.note(float(k), max(end, end if start is None else start), said, "up mid")
    more = ", the third what all rows bring beyond those of the folds" if folds is not None else ""
    words = f"The second step is what choosing by these very scores flatters{more}. The axis does not begin at zero."
    return [Figure("From the board to the estimate", plot.svg(), words)]


def _folds(facts: Facts) -> list[Figure]:
    if facts.held is None or facts.judge is None:
        return []
    scores = trust.fold_scores(facts.held, facts.judge)
    if len(scores) < 2:
        return []
    grown = as_dict(facts.record.get("growth"))
    level = number(grown.get("score", facts.estimate["value"]))
    low, high = (number((grown or facts.estimate).get(end)) for end in ("low", "high"))
    known = [*scores, *[one for one in (level, low, high) if one is not None]]
    marks = [(float(k), str(k)) for k in range(1, len(scores) + 1, max(1, len(scores) // 10))]
    plot = Plot(
        "score of each fold",
        places(len(scores)),
        (min(known), max(known)),
        x_title="fold",
        y_title=facts.metric_name(),
        x_ticks=marks,
        pad=0.05,
    )
    if low is not None and high is not None:
        plot.band([0.5, len(scores) + 0.5], [low, low], [high, high])
    if level is not None:
        plot.level(level, "all folds" if grown else "estimate")
    plot.dots(np.arange(1, len(scores) + 1), scores, "c0", 4.0)
    whose = "of all of them together; the estimate is for the model of all rows" if grown else "of the estimate"
    return [Figure("Fold by fold", plot.svg(), f"Each dot is the score of the rows of one fold; the band is the range {whose}.")]


def _null(facts: Facts) -> list[Figure]:
    if facts.held is None or facts.judge is None or facts.is_guess:  # the guess is by chance
        return []
    null = trust.shuffled_scores(facts.held, facts.judge)
    if len(null) < 20:
        return []
    value = facts.held.score(facts.judge)
    edges = np.linspace(min(null), max(null), 21) if max(null) > min(null) else np.array([null[0] - 0.5, null[0] + 0.5])
    counts, _ = np.histogram(null, edges)
    low, high = min(value, float(edges[0])), max(value, float(edges[-1]))
    plot = Plot(
        "scores with shuffled truth",
        (low, high),
        (0, float(counts.max())),
        x_title=facts.metric_name(),
        y_title="shuffles",
        pad=0.04,
    )
    plot.columns(edges, counts, "quiet")
    plot.upright(value, f"the model {facts.figure(value)}", "best")
    beaten = sum((one >= value) if facts.greater else (one <= value) for one in null)
    said = f"{beaten} of {len(null)} shuffles score as well." if beaten else f"None of {len(null)} shuffles scores as well."
    words = (
        f"Grey: these very predictions, held against the truth dealt out to the rows anew. {said} No model was fitted to shuffled truth: "
        "this is what luck makes of these predictions, not what a search would find in noise."
    )
    return [Figure("Would chance do this?", plot.svg(), words)]
