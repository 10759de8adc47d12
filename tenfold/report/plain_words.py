"""What a run comes to, for somebody who knows the table and not the method: the verdict of the page, and plain words in the terminal."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.report.facts import Facts, as_dict, as_list, counted, listed, number
from tenfold.score.words import figure
from tenfold.selection.honest.unseen import Unseen
from tenfold.table.reading import pl
from tenfold.table.show import shown

CLEAR, SOME = 0.5, 0.15  # of the loss of the guess that is taken away
FEW_ROWS = 200  # up to here ranges are wide
HIGHEST, MANY_ROWS = 100, 1000  # rows that are ranked highest; below so many rows a tenth of them
LITTLE = 0.01  # of a score, which further rows hardly change
MUCH = 1.5  # of the mean loss, from which a group is named
UNKNOWN = "cannot tell"


def words_of(record: dict[str, Any], held_out: pl.DataFrame | None = None, explained: dict[str, Any] | None = None) -> list[str]:
    """The sentences for a run with a signal; without one the verdict of the transcript has said all that there is."""
    facts = Facts(record, None if held_out is None else Unseen.of(held_out), explained or {})
    return sentences(facts) if facts.record.get("signal") is True else []


def sentences(facts: Facts) -> list[str]:
    """What a run comes to in words, the most important first."""
    signal, target = facts.record.get("signal"), facts.target
    if facts.is_fit and signal is not True and not facts.record.get("interrupted"):
        how = "worse" if signal is False else "not better"
        worth = f"On these rows {facts.chosen} is {how} than guessing, beyond what chance explains."
        return [worth, "Worth trying: tenfold select, which tries many models, more rows, or other columns."]
    if signal is False:
        searched, base = number(facts.search.get("value")), number(facts.guess.get("score"))
        lines = [f"No usable signal: no model is distinguishable from {facts.chosen}, so that is what was saved."]
        if searched is not None and base is not None:  # not that of the board, which flatters
            lines.append(
                f"On rows that had no part in the choice the best model has {facts.metric_name()} {facts.figure(searched)}, the guess "
                f"{facts.figure(base)}: chance alone does as much.",
            )
        return [*lines, f"Worth trying: more rows than {facts.rows:,}, other columns, or a look at whether {target} is the right target."]
    if signal is None:
        return ["The run was stopped before it was known whether anything beats the guess. The model is the best of what was complete."]
    lines = [f"The target, {target}, is {_how_well(facts)} from the other columns.", *_in_rows(facts), *_ranked(facts), *_next(facts)]
    more = more_rows(facts)
    return [*lines, *([more] if more is not None and UNKNOWN not in more else []), *_worst_group(facts)]


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


def _ranked(facts: Facts) -> list[str]:
    """Of two classes, how many of the rows that are ranked highest are of the positive one."""
    held, positive = facts.held, str(facts.settings.get("positive"))
    if held is None or len(held.classes) != 2 or positive not in held.classes or len(held) < FEW_ROWS:
        return []
    label = held.classes.index(positive)
    most = HIGHEST if len(held) >= MANY_ROWS else len(held) // 10
    first = np.argsort(-held.outputs[:, label], kind="stable")[:most]
    hits, share = int((held.truth[first] == label).sum()), float((held.truth == label).mean())
    return [f"Of the {most} rows that it ranks highest, {hits} are {shown(positive, 30)}; of {most} by chance {most * share:.0f} would be."]


def more_rows(facts: Facts) -> str | None:
    """Whether more rows would help, by what the last ones have brought; None where that was not looked at."""
    one, own = points_of(facts.more.get("sizes")), points_of(facts.record.get("curve"))
    told = own if len(own) > 1 else one
    if len(told) < 2:
        return None
    last, before = told[-1], told[-2]
    gain = (last["score"] - before["score"]) * (1 if facts.greater else -1)
    low, high = number(last.get("low")), number(last.get("high"))
    noise = (high - low) / 2 if low is not None and high is not None else 0.0
    ahead, error = number(last.get("gain")), number(last.get("error"))
    if ahead is not None and error is not None:  # on the same rows, which tells more than two ranges
        gain, noise = ahead, 1.96 * error
    span = f"From {before['rows']:,} to {last['rows']:,} rows the score"
    if gain > noise:
        return f"{span} still gets better by more than its uncertainty: more rows would probably help."
    if as_dict(facts.record.get("growth")).get("clear") is True:
        return "Models of all folds but one are ahead of models of all but two, beyond chance: more rows would probably help."
    if gain + noise < LITTLE * abs(last["score"]):
        return f"{span} changes by less than its uncertainty, which is small: more rows would change little."
    return f"{span} changes by less than its uncertainty: these rows {UNKNOWN} whether more of them would help."


def points_of(value: Any) -> list[dict[str, Any]]:
    """The points of a learning curve, by their rows."""
    found = [as_dict(one) for one in as_list(value)]
    found = [one for one in found if (number(one.get("rows")) or 0) > 0 and number(one.get("score")) is not None]
    return sorted(found, key=lambda one: float(one["rows"]))


def _worst_group(facts: Facts) -> list[str]:
    """The group of rows that it fails most, where one stands out beyond chance."""
    found = as_dict(facts.more.get("slices"))
    worse, mean = [as_dict(one) for one in as_list(found.get("worse"))], number(found.get("mean"))
    if not worse or not mean or not (number(worse[0].get("loss")) or 0) > MUCH * mean:
        return []
    one = worse[0]
    here, usual = facts.loss(number(one["loss"])), facts.loss(mean)
    if here is None or not usual:
        return []
    where = f"{shown(one.get('column', ''), 30)} {shown(one.get('group', ''), 30)}"
    rows = counted(int(number(one.get("rows")) or 0), "row")
    name = facts.loss_name(found.get("of"))
    return [f"Lean less on rows with {where} ({rows}): their {name} is {here / usual:.1f} times that of all rows."]
