"""Decisions as lines of text: by which rule a class is predicted, what that costs, and how many rows of a rare class are found."""

from __future__ import annotations

from typing import Any

from tenfold.app.words import AsItIs, counted, figure, metric_name, percent, short

Facts = dict[str, Any]


def decision_lines(facts: Facts) -> list[str]:
    """What is predicted from the probabilities of the classes, on rows that had not been seen."""
    lines = ["", f"DECIDES  {rule_words(facts)}"]
    if facts["cost"] is not None:
        lines += _costs(facts["cost"])
    rare = [one for one in facts["found"] if one["rare"]]
    if rare:
        most, names = facts["most_frequent"], ", ".join(f"{short(one['label'], 24)} is {percent(one['share'])} of the rows" for one in rare)
        always = f"always predicting {short(most['label'], 24)} is right for {percent(most['share'])}"
        lines.append(f"RARE     {names}: {always} and finds none of them")
    lines += [_found(one) for one in facts["found"]]
    if facts.get("thresholds"):
        lines += _thresholds(facts)
    if rare and facts["by"] == "likely":
        moved = "costs of errors (--cost FP:1,FN:20) or a score of decisions (--metric f1) move the threshold"
        lines.append(f"         Nothing was resampled: {moved}.")
    return lines


def rule_words(facts: Facts) -> str:
    """By which rule a class is predicted."""
    if facts["by"] == "likely":
        return "for the most likely class"
    why = "of least expected cost" if facts["by"] == "given" else f"that {metric_name(facts['metric'])} was best by on held-out rows"
    if "threshold" in facts:
        name, said = short(facts["found"][0]["label"], 24), f"from a probability of {percent(facts['threshold'])} on"
        return f"for {name} {said}: the decision {why}" if facts["by"] == "given" else f"for {name} {said}, the threshold {why}"
    if facts["by"] == "given":
        return f"for the class {why}: another than the most likely in {percent(facts['other_than_likely'])} of the rows"
    weights = [max(row) for row in facts["costs"]]
    named = sorted(zip(facts["classes"], weights, strict=True), key=lambda pair: -pair[1])
    shown = ", ".join(f"{short(label, 24)} {weight / min(weights):.3g}" for label, weight in named[:6])
    return f"by probabilities times weights of the classes {why}: {shown}{', ...' if len(named) > 6 else ''}"


def _costs(cost: Facts) -> list[str]:
    return [
        f"  mean cost of a row {_ranged(cost['decided'])}; of the most likely class {_ranged(cost['likely'])}; "
        f"of always predicting {short(cost['one'], 24)} {figure(cost['always'])}"
    ]


def _ranged(one: Facts) -> str:
    return f"{figure(one['value'])} ({figure(one['low'])} to {figure(one['high'])})"


def _found(one: Facts) -> str:
    name = short(one["label"], 24)
    if one["recall"] is None:
        return f"  no row of {name} was held out"
    text = f"  finds {one['found']:,} of {one['rows']:,} {name}: {_share(one['recall'])}"
    if one["precision"] is None:
        return f"{text}; {name} is never predicted"
    return f"{text}; of {counted(one['said'], 'row')} predicted {name} this many are: {_share(one['precision'])}"


def _share(one: Facts) -> str:
    return f"{percent(one['value'])} ({percent(one['low'])} to {percent(one['high'])})"


def _thresholds(facts: Facts) -> list[str]:
    heads = f"  {short(facts['found'][0]['label'], 16) + ' from':<24}{'recall':>8}{'precision':>12}{'predicted':>12}"
    lines: list[str] = [AsItIs(heads)]
    for one in facts["thresholds"]:
        at = one["at"]
        recall, precision = (percent(one[name]["value"]) if one[name] is not None else "-" for name in ("recall", "precision"))
        lines.append(AsItIs(f"  {f'a probability of {100 * at:g}%':<24}{recall:>8}{precision:>12}{percent(one['flagged']):>12}"))
    return lines
