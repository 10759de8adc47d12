"""What was chosen: the saved model and its members, what one of them is made of, settings that were tried, and whether more rows help."""

from __future__ import annotations

import re
from typing import Any

from tenfold.report import curves
from tenfold.report.blocks import STRIP, Code, Figure, Figures, Pairs, Section, Table, Text
from tenfold.report.facts import LONGEST_MODEL, Facts, as_dict, as_list, counted, floats, listed, number
from tenfold.report.plain_words import more_rows, points_of
from tenfold.report.scale import Axis
from tenfold.report.svg import strip
from tenfold.score.words import figure
from tenfold.table.show import shown

SETTING = re.compile(r", ([^,]+) ([-+.\de]+)")  # ", penalty 10.3" behind the name of a family
POWER = "power"  # of chances, which is no setting of a learner
LEAST_TRIED, MOST_CURVES = 3, 4
LONGEST_LEARNER = 400


def chosen(facts: Facts) -> Section | None:
    """The saved model, its members, what the heaviest is, and the simpler one that is as good."""
    if not facts.record.get("chosen"):
        return None
    blocks: list[object] = [Pairs([("saved model", facts.chosen)])]
    tied = as_list(facts.record.get("tied"))
    if tied:
        blocks.append(Text(f"As good within the noise: {listed(tied, 6)}."))
    members = [as_dict(one) for one in as_list(facts.record.get("members"))]
    weights = [(shown(one.get("model", ""), LONGEST_MODEL), number(one.get("weight"))) for one in members]
    known = [(label, weight) for label, weight in weights if weight is not None]
    if len(known) > 1:
        axis = Axis(0.0, max(weight for _, weight in known), 4, STRIP - 6)
        rows = [
            [label, f"{100 * weight:.0f}%", strip(axis, weight, zero=0.0, cls="c0", label=f"{100 * weight:.0f}%")]
            for label, weight in known
        ]
        blocks += [
            Text("A weighted mean of several models, each of which sees something the others miss."),
            Table(["member", "weight", ""], rows, right=(1,), narrow=True),
        ]
    heavy = as_dict(facts.more.get("inside"))
    blocks += _inside(heavy, known[0][0] if known else facts.chosen)
    chosen_simple = facts.record.get("prefer") == "simple"
    simple = as_dict(facts.record.get("best" if chosen_simple else "simple"))
    if simple.get("model") and simple["model"] != facts.record.get("chosen") and not facts.is_guess:
        one = as_dict(as_dict(simple.get("estimate")).get(facts.metric))
        value, low, high = (number(one.get(key)) for key in ("value", "low", "high"))
        span = f", 95% range {facts.figure(low)} to {facts.figure(high)}" if low is not None and high is not None else ""
        worth = f": {facts.metric_name()} {facts.figure(value)}{span}" if value is not None else ""
        hurried = facts.record.get("interrupted") or facts.settings.get("time") is not None  # there may have been no time to save it
        where = "" if hurried else ", and saved beside it"
        blocks.append(Text(f"{'The best' if chosen_simple else 'Simpler'}{where}: {shown(simple['model'], LONGEST_MODEL)}{worth}."))
        within = as_dict(facts.more.get("inside_simple"))
        blocks += [] if within.get("learner") == heavy.get("learner") else _inside(within, shown(simple["model"], LONGEST_MODEL))
    return Section("chosen", "The chosen model", [*blocks, *_tried(facts)])


def _inside(one: dict[str, Any], label: str) -> list[object]:
    """Coefficients, or rules, where there are any; how the learner writes itself."""
    blocks = _coefficients(one, label) + _rules(one, label)
    learner = one.get("learner")
    return [*blocks, Code(shown(learner, LONGEST_LEARNER), summary=f"{label}, as it is written in Python")] if learner else blocks


def _coefficients(one: dict[str, Any], label: str) -> list[object]:
    terms = [(shown(term.get("name", ""), 60), floats(term.get("values"))) for term in map(as_dict, as_list(one.get("terms")))]
    terms = [(name, values) for name, values in terms if values and len(values) == len(terms[0][1])]
    if one.get("kind") != "linear" or not terms:
        return []
    labels = [shown(name, 24) for name in as_list(one.get("classes"))]
    what = f"the log odds of {labels[0]}" if len(labels) == 1 else "the score of each class" if labels else "the prediction"
    step = "one standard deviation of the column" if one.get("scaled") is True else "one unit of the column"
    used, total = (int(number(one.get(key)) or len(terms)) for key in ("used", "total"))
    few = f" {used:,} of {total:,} are not zero." if used < total else ""
    most = max(abs(value) for _, values in terms for value in values) or 1.0
    axis, single = Axis(-most, most, 4, STRIP - 6), len(terms[0][1]) == 1
    rows: list[list[Any]] = []
    for name, values in terms:
        signed = [f"{'+' if value >= 0 else '−'}{figure(abs(value))}" for value in values]
        bar = [strip(axis, values[0], zero=0.0, rule=0.0, cls="c0" if values[0] >= 0 else "c1", label=signed[0])] if single else []
        rows.append([name, *signed, *bar])
    heads = ["column", *(labels if len(labels) == len(terms[0][1]) > 1 else ["coefficient"] * len(terms[0][1])), *([""] if single else [])]
    more = f", the {len(terms)} largest of {used:,}" if used > len(terms) else ""
    return [
        Text(f"{label}: what {step} adds to {what}, all else the same{more}.{few}"),
        Table(heads, rows, right=tuple(range(1, 1 + len(terms[0][1]))), narrow=True),
    ]


def _rules(one: dict[str, Any], label: str) -> list[object]:
    if one.get("kind") != "tree":
        return []
    leaves, text = int(number(one.get("leaves")) or 0), str(one.get("text") or "")
    if not text:
        return [Text(f"{label}: one tree of {counted(leaves, 'leaf', 'leaves')}, too many to read.")]
    lines = "\n".join(shown(line, 160) for line in text.splitlines()[:100])
    return [Text(f"{label}: one tree of {counted(leaves, 'leaf', 'leaves')}."), Code(lines)]


def _tried(facts: Facts) -> list[object]:
    """The score along the setting of each family that was taken, where it has an order."""
    tried = [as_dict(one) for one in as_list(facts.record.get("tried"))]
    taken = [as_dict(one) for one in as_list(facts.record.get("members"))]
    simple = str(as_dict(facts.record.get("simple")).get("model") or "")
    labels = [*(str(one.get("model")) for one in taken), simple]
    families = [*(str(one.get("family")) for one in taken), *(str(one.get("family")) for one in tried if one.get("label") == simple)]
    figures = []
    for family in dict.fromkeys(families):
        curve = settings_tried(tried, family)
        if len(curve) >= LEAST_TRIED:
            used = [value for value, _, _, label in curve if label in labels]
            setting = setting_of(family, curve[0][3])
            assert setting is not None
            svg = curves.validation_chart([one[:3] for one in curve], used, setting[0], facts.metric_name(), facts.greater)
            figures.append(Figure(shown(family, LONGEST_MODEL), svg))
    if not figures:
        return []
    words = (
        "Settings that were tried, of the families that were taken: the mean score over folds with one standard error to either side. The "
        "broken line is one standard error from the best, so settings on its better side are as good; uprights mark what was taken."
    )
    return [Text(words, picture=True), Figures(figures[:MOST_CURVES])]


def setting_of(family: str, label: str) -> tuple[str, float] | None:
    """What the setting of a family is called and its value, read from its label; none where there is none, or more than one."""
    found = SETTING.fullmatch(label[len(family) :]) if label.startswith(family) else None
    try:
        return None if found is None or found[1] == POWER else (found[1], float(found[2]))
    except ValueError:
        return None


def settings_tried(tried: list[dict[str, Any]], family: str) -> list[tuple[float, float, float, str]]:
    """Value, score, standard error and label of each setting of a family, by value."""
    found = []
    for one in tried:
        label, score = str(one.get("label")), number(one.get("score"))
        setting = setting_of(family, label) if one.get("family") == family else None
        if setting is not None and score is not None:
            found.append((setting[1], score, number(one.get("error")) or 0.0, label))
    return sorted(found)


def learning(facts: Facts) -> Section | None:
    """The score against the number of rows: of one model fitted to more and more of them, and of the run's own models."""
    one, own = points_of(facts.more.get("sizes")), points_of(facts.record.get("curve"))
    words = more_rows(facts)
    if words is None or facts.is_guess:
        return None
    several = len(as_list(facts.record.get("members"))) > 1
    names = ("the heaviest member alone", "the saved model") if several else ("judged on a part of the rows", "judged on all folds")
    series = [points for points in (one, own) if len(points) > 1]
    keys = [text for text, points in zip(names, (one, own), strict=True) if len(points) > 1]
    caption = "The band is the range at each number of rows, as far as there is room for it."
    if len(series) > 1:
        caption += " The first line is judged on a quarter of the rows, at most 750, the second on all folds."
    elif series[0] is one:
        caption += f" It is the {'heaviest member alone' if several else 'saved model'}; all sizes are judged on the same rows."
    picture = Figure("Score against rows", curves.learning_chart(series, facts.metric_name()), caption, keys if len(keys) > 1 else ())
    return Section("learning", "Would more rows help?", [Text(words), Figures([picture])])
