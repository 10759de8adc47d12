"""What a saved run is worth, in lines: what it predicts, with what, and how good that is on new rows."""

from __future__ import annotations

from typing import Any

from tenfold.app.decisions import rule_words
from tenfold.app.words import counted, figure, metric_name, short

Facts = dict[str, Any]


def result_of(record: Facts) -> Facts:
    """A run in one line of a table: what was chosen, and how good that is on new rows."""
    metric = record["settings"]["metric"]
    estimate = record["estimate"].get(metric) or dict.fromkeys(("value", "low", "high"))
    ends = {name: estimate[name] for name in ("value", "low", "high")}
    return dict(model=record["chosen"], signal=record["signal"], metric=metric, **ends)


def worth_of(record: Facts) -> list[tuple[str, str]]:
    """What a saved run predicts, with what, and how good that is on new rows: titles and texts."""
    try:
        data, settings = record["data"], record["settings"]
        lines = [
            ("PREDICTS", f"{short(settings['target'])!r}   {record['chosen']}"),
            ("TRAINED", f"on {short(data['name'])}, {counted(data['rows_used'], 'row')}"),
        ]
        for one in record["estimate"].values():
            value, low, high = (figure(one[key], one["metric"]) for key in ("value", "low", "high"))
            lines.append(("ESTIMATE", f"{metric_name(one['metric'])} {value}, 95% range {low} to {high} on new rows"))
        if record.get("decisions"):
            lines.append(("DECIDES", rule_words(record["decisions"])))
        if record["signal"] is False:
            named = record.get("command") == "fit"
            lines.append(("VERDICT", "worse than guessing" if named else "no usable signal: the model is the guess"))
    except (KeyError, TypeError, ValueError, AttributeError):  # another version, or somebody wrote in it
        return []
    return lines
