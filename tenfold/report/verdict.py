"""The sections that come first: the verdict, whether its number can be trusted, and what to beware of."""

from __future__ import annotations

import numpy as np

from tenfold.report import trust
from tenfold.report.blocks import STRIP, Figure, Figures, Items, Section, Table, Text, ranges_table
from tenfold.report.facts import Facts, as_dict, as_list, listed, number
from tenfold.report.svg import Axis, Plot, strip
from tenfold.score.words import figure
from tenfold.table.show import shown

CLEAR, SOME = 0.5, 0.15  # of the loss of the guess that is taken away
LEAK = 0.98  # an area, or a share of the variance, from where one column is looked at as giving the target away
MOST_SINGLES = 8
FEW_ROWS = 200


def sentences(facts: Facts) -> list[str]:
    """The verdict in words."""
    signal, target = facts.record.get("signal"), facts.target
    if signal is False:
        best, base = facts.leader, facts.guess
        lines = [f"No usable signal: no model is distinguishable from {facts.chosen}, so that is what was saved."]
        if best and base:
            lines.append(
                f"The best model had {facts.metric_name()} {facts.figure(best.get('score'))}, the guess "
                f"{facts.figure(base.get('score'))}; chance alone does as much.",
            )
        return [*lines, f"Worth trying: more rows than {facts.rows:,}, other columns, or a look at whether {target} is the right target."]
    if signal is None:
        return ["The run was stopped before it was known whether anything beats the guess. The model is the best of what was complete."]
    lines = [f"The target, {target}, is {_how_well(facts)} from the other columns."]
    return [*lines, *_in_rows(facts), *_next(facts)]


def _how_well(facts: Facts) -> str:
    value, base = number(facts.estimate.get("value")), facts.guessed(facts.metric)
    score = facts.judge
    if value is None or base is None or score is None:
        return "predictable"
    if facts.greater:
        top = score.high if np.isfinite(score.high) else None
        share = (value - base) / (top - base) if top is not None and top > base else 0.0
    else:
        share = 1 - value / base if base > 0 else 0.0
    if share >= SOME:
        return "clearly predictable" if share >= CLEAR else "partly predictable"
    return "predictable, but only a little better than by guessing,"


def _in_rows(facts: Facts) -> list[str]:
    accuracy, base = facts.estimates.get("accuracy"), facts.guessed("accuracy")
    if facts.classes and accuracy is not None:
        said = f"Of 100 new rows about {100 * accuracy['value']:.0f} get the right class"
        return [said + (f"; always saying the most frequent one gets {100 * base:.0f} right." if base is not None else ".")]
    reach = number(facts.record.get("reach"))
    if not facts.classes and reach is not None:
        return [f"Nine of ten predictions are off by at most {figure(reach)}."]
    return []


def _next(facts: Facts) -> list[str]:
    lines = []
    drivers = [one["column"] for one in map(as_dict, as_list(facts.more.get("importance"))) if (number(one.get("low")) or 0) > 0][:3]
    if drivers:
        lines.append(f"Most of it comes from {listed(drivers)}.")
    if 0 < facts.rows < FEW_ROWS:
        lines.append(f"With {facts.rows:,} rows the range is wide; more rows would narrow it.")
    return lines


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
    if rows:
        blocks.append(Table(["score on new rows", "estimate", "", "95% range", "the guess"], rows, right=(1, 4), tight=(0, 3)))
        blocks.append(Text("The dot is the estimate with its range, the upright line what the guess scores.", faint=True))
    return Section("verdict", "Verdict", blocks)


def trusted(facts: Facts) -> Section | None:
    """The board's score beside the honest one, folds, and what chance would score."""
    board, estimate = number(facts.leader.get("score")), facts.estimate
    if not estimate:
        return None
    rows: list[tuple[str, float | None, float | None, float | None, str]] = []
    if board is not None:
        rows.append(("best on the board", board, None, None, "chosen because it looked best, so it flatters"))
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
        said = f"learned from {folds - 1:.0f} of {folds:.0f} parts of the rows, and ahead of models of {folds - 2:.0f}: more rows help"
        rows.append(("models of folds", score, number(less.get("low")), number(less.get("high")), said))
    search = as_dict(as_dict(as_dict(facts.record.get("search")).get("estimates")).get(facts.metric))
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
        Text(
            "The board ranks models on the rows it chose them by, so its first place is too good. The honest estimate repeats the whole "
            "choice on rows that had no part in it.",
        ),
        ranges_table(rows, facts.metric, said="how it was made"),
    ]
    gain = as_dict(as_dict(facts.record.get("search")).get("gain"))
    if number(gain.get("value")) is not None:
        low, high = number(gain.get("low")), number(gain.get("high"))
        span = f" (95% range {figure(low)} to {figure(high)})" if low is not None and high is not None else ""
        blocks.append(
            Text(
                f"Against the guess the search gains {figure(gain['value'])} in "
                f"{shown(gain.get('metric', facts.metric_name()), 40)}{span}; a range above zero is what is called a signal.",
            ),
        )
    figures = _folds(facts) + _null(facts)
    if figures:
        blocks.append(Figures(figures))
    return Section("trust", "Can I trust this number?", blocks)


def _folds(facts: Facts) -> list[Figure]:
    if facts.held is None or facts.judge is None:
        return []
    scores = trust.fold_scores(facts.held, facts.judge)
    if len(scores) < 2:
        return []
    known = [*scores, *[one for one in (number(facts.estimate.get(end)) for end in ("low", "high", "value")) if one is not None]]
    marks = [(float(k), str(k)) for k in range(1, len(scores) + 1, max(1, len(scores) // 10))]
    plot = Plot(
        "score of each fold",
        (0.5, len(scores) + 0.5),
        (min(known), max(known)),
        x_title="fold",
        y_title=facts.metric_name(),
        x_ticks=marks,
        pad=0.05,
    )
    low, high = number(facts.estimate.get("low")), number(facts.estimate.get("high"))
    if low is not None and high is not None:
        plot.band([0.5, len(scores) + 0.5], [low, low], [high, high])
    plot.level(facts.estimate["value"], "estimate")
    plot.dots(np.arange(1, len(scores) + 1), scores, "c0", 4.0)
    return [Figure("Fold by fold", plot.svg(), "Each dot is the score of the rows of one fold; the band is the range of the estimate.")]


def _null(facts: Facts) -> list[Figure]:
    if facts.held is None or facts.judge is None:
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
    return [Figure("Would chance do this?", plot.svg(), f"Grey: the same predictions with the truth dealt out anew. {said}")]


def warned(facts: Facts) -> Section | None:
    """What to beware of: columns left out, suspects, failures, and what each column says alone."""
    warnings = [
        f"{shown(one[0], 60)} gives the target away almost alone ({shown(one[1], 120)}): is it known when predictions are made?"
        for one in as_list(facts.record.get("suspects"))
        if len(as_list(one)) > 1
    ]
    if facts.record.get("interrupted"):
        warnings.append("The run was stopped: what follows is from what was complete.")
    warnings += [shown(note, 300) for note in as_list(facts.record.get("notes"))]
    for source, what in (("warnings", "warned"), ("failures", "failed")):
        found = as_dict(facts.record.get(source))
        warnings += [f"{shown(title, 60)} {what}: {shown(text, 240)}" for title, text in list(found.items())[:20]]
    copies = number(facts.record.get("copies"))
    if copies:
        said = "1 row repeats another" if copies == 1 else f"{int(copies):,} rows repeat others"
        warnings.append(f"{said}; copies were kept in the same fold.")
    blocks: list[object] = [Items(warnings, warning=True)] if warnings else []
    blocks += _singles(facts)
    return Section("warnings", "What to beware of", blocks) if blocks else None


def _singles(facts: Facts) -> list[object]:
    columns = as_dict(facts.more.get("columns"))
    pairs = [(name, number(one)) for name, one in zip(as_list(columns.get("names")), as_list(columns.get("strengths")), strict=False)]
    known = sorted(((name, one) for name, one in pairs if one is not None), key=lambda pair: -pair[1])[:MOST_SINGLES]
    if not known:
        return []
    unit = str(facts.more.get("strength_is", "strength"))
    base = 0.5 if unit == "AUC" else 0.0
    axis = Axis(base, 1.0, 6, STRIP - 6)
    rows = [
        [
            shown(name, 60),
            f"{one:.3f}",
            strip(axis, max(one, base), zero=base, rule=LEAK, cls="warn" if one >= LEAK else "c0", label=f"{unit} {one:.3f}"),
        ]
        for name, one in known
    ]
    above = [name for name, one in known if one >= LEAK]
    said = (
        f"{listed(above)} alone {'predict' if len(above) > 1 else 'predicts'} the target almost perfectly. That usually means a column is "
        "filled in after the outcome: leave it out with --drop if so."
        if above
        else "No column alone predicts the target almost perfectly, so there is no sign of leakage."
    )
    return [
        Text(said),
        Table(
            ["one column alone", unit, ""],
            rows,
            right=(1,),
            narrow=True,
            caption=f"The upright line at {LEAK} is where a leak is suspected.",
        ),
    ]
