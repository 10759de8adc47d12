"""What to beware of: columns left out, leaks, failures; rows that belong together, that are in the order of time, or that change."""

from __future__ import annotations

from tenfold.report.blocks import STRIP, Items, Section, Table, Text
from tenfold.report.facts import Facts, as_dict, as_list, counted, listed, number
from tenfold.report.scale import Axis
from tenfold.report.svg import strip
from tenfold.report.typed import LONGEST_PASTED, pasted
from tenfold.table.leaks import ALMOST_PERFECT
from tenfold.table.show import shown

MOST_SINGLES = 8


def warned(facts: Facts) -> Section | None:
    """What to beware of: columns left out, suspects, failures, and what each column says alone."""
    warnings = [
        f"{shown(one[0], 60)} gives the target away almost alone ({shown(one[1], 120)}): is it known when predictions are made?"
        for one in as_list(facts.record.get("suspects"))
        if len(as_list(one)) > 1
    ]
    if facts.record.get("interrupted"):
        warnings.append("The run was stopped: what follows is from what was complete.")
    used, known = number(facts.data.get("rows_used")), number(facts.record.get("rows_known"))
    if used is not None and known is not None and used < known:
        warnings.append(f"The models learned from {int(used):,} of {int(known):,} rows: there was no time for more.")
    warnings += [shown(note, 300) for note in (*as_list(facts.data.get("notes")), *as_list(facts.record.get("notes")))]
    for source, what in (("warnings", "warned"), ("failures", "failed")):
        found = as_dict(facts.record.get(source))
        warnings += [f"{shown(title, 60)} {what}: {shown(text, 240)}" for title, text in list(found.items())[:20]]
    copies = number(facts.record.get("copies"))
    if copies:
        said = "1 row repeats another" if copies == 1 else f"{int(copies):,} rows repeat others"
        warnings.append(f"{said}; copies were kept in the same fold.")
    warnings += _order(facts)
    blocks: list[object] = [Items(warnings, warning=True)] if warnings else []
    blocks += _changed(facts) + _singles(facts)
    return Section("warnings", "What to beware of", blocks) if blocks else None


def _order(facts: Facts) -> list[str]:
    """Columns by which rows belong together, and columns in whose order they are, where the run was not told."""
    order = as_dict(facts.more.get("order"))
    groups, times = ([str(name) for name in as_list(order.get(what))] for what in ("groups", "time"))
    return [
        *(
            f"Rows with the same {shown(name, 60)} may belong together. If new rows will have others, the estimate is too good: "
            f"keep them in one fold with --groups {pasted(name)}."
            for name in groups
            if len(name) <= LONGEST_PASTED
        ),
        *(
            f"The rows are in the order of {shown(name, 60)}. If the future is to be predicted, the estimate is too good: judge every span "
            f"by what was known before it with --time-column {pasted(name)}."
            for name in times
            if len(name) <= LONGEST_PASTED
        ),
    ]


def _changed(facts: Facts) -> list[object]:
    """The columns that are otherwise in the last rows than in the first."""
    found = as_dict(as_dict(facts.more.get("order")).get("drift"))
    columns, count = [as_dict(one) for one in as_list(found.get("columns"))], int(number(found.get("changed")) or 0)
    rows, of = (int(number(found.get(key)) or 0) for key in ("rows", "of"))
    if not found:
        return []
    if not columns:
        each = f" in each of {of:,} columns" if of > 1 else ""
        return [Text(f"The last {rows:,} rows are like the first {rows:,}{each}: no drift along the table.")]
    words = f"The last {rows:,} rows differ from the first {rows:,} in {count:,} of {counted(of, 'column')}. In a file that is sorted this "
    words += "says nothing; where the order is one of time, rows to come will differ too"
    words += "." if facts.settings.get("time_column") else ", and --time-column judges by that."
    cells = [
        [f"{shown(one.get('column', ''), 60)}{' (the target)' if one.get('target') is True else ''}", shown(one.get("size", ""), 20),
         shown(one.get("how", ""), 120)]
        for one in columns
    ]  # fmt: skip
    more = f"and {count - len(columns):,} more" if count > len(columns) else ""
    return [Text(words), Table(["column", "change", "in the last rows"], cells, narrow=True, caption=more)]


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
            strip(
                axis,
                max(one, base),
                zero=base,
                rule=ALMOST_PERFECT,
                cls="warn" if one >= ALMOST_PERFECT else "c0",
                label=f"{unit} {one:.3f}",
            ),
        ]
        for name, one in known
    ]
    above = [name for name, one in known if one >= ALMOST_PERFECT]
    said = (
        f"{listed(above)} alone {'predict' if len(above) > 1 else 'predicts'} the target almost perfectly. That usually means a column is "
        "filled in after the outcome: leave it out with --drop if so."
        if above
        else "" if as_list(facts.record.get("suspects"))  # named above, by their levels or their gaps
        else "No column alone predicts the target almost perfectly, so there is no sign of leakage."
    )
    return [
        *([Text(said)] if said else []),
        Table(
            ["one column alone", unit, ""],
            rows,
            right=(1,),
            narrow=True,
            caption=f"From {ALMOST_PERFECT} on a leak is suspected.",
        ),
        Text(f"The upright line is at {ALMOST_PERFECT}.", faint=True, picture=True),
    ]
