"""The page of `tenfold check --html`: one file, nothing loaded from elsewhere, every text escaped, small pictures as inline SVG."""

from __future__ import annotations

import html

import numpy as np
import polars as pl

from tenfold.core.data import Array
from tenfold.table.cells import present
from tenfold.table.flags import Flag
from tenfold.table.show import described, shown, title_of
from tenfold.table.table import Table, TableColumn

WIDTH, HEIGHT = 180, 42  # of a histogram, in pixels
BAR, LABEL = 80, 150  # of the longest bar of a level, and of what is written behind it
BINS = 24
MOST_LEVELS = 8
MOST_FLAGS = 200
MOST_COLUMNS = 500  # in detail; the others are counted
STYLE = """
:root { color-scheme: light dark; --ink: #1c2733; --faint: #64748b; --line: #d8dee6; --bar: #3a6ea5; --gap: #c2571a; --back: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ef; --faint: #9aa7b5; --line: #334050; --bar: #7fb0e0; --gap: #f0a060; --back: #12181f; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--back); }
body { margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin-top: 2rem; } p.about, .faint { color: var(--faint); }
table { border-collapse: collapse; width: 100%; } th { text-align: left; color: var(--faint); font-weight: 500; }
td, th { padding: .45rem .7rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.name { font-weight: 600; overflow-wrap: anywhere; max-width: 16rem; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
li.warning { color: var(--gap); }
svg rect { fill: var(--bar); } svg text { fill: var(--faint); font-size: 10px; } .scroll { overflow-x: auto; }
svg { display: block; } svg rect.gap { fill: var(--gap); } svg rect.whole { fill: var(--line); }
td.number svg { margin: .3rem 0 0 auto; } th.number { text-align: right; } td.said { overflow-wrap: anywhere; min-width: 12rem; }
@media (max-width: 45rem) {
  body { margin-top: 1rem; } ul { padding-left: 1.2rem; } thead { display: none; }
  table, tbody, tr, td { display: block; } td { border: 0; padding: .15rem 0; max-width: none; }
  tr { border-bottom: 1px solid var(--line); padding: .6rem 0; } td.name { max-width: none; } td:empty { display: none; }
  td.number { text-align: left; } td.number:not(:empty)::before { content: "missing "; color: var(--faint); }
  td.number svg { margin-left: 0; } }
"""


def page_of(table: Table) -> str:
    """The whole page."""
    warnings = [flag for flag in table.flags if flag.warning]
    notes = [flag for flag in table.flags if not flag.warning]
    rows = "".join(_row(table, column) for column in table.columns[:MOST_COLUMNS])
    more = len(table.columns) - MOST_COLUMNS
    heads = '<th>column</th><th>kind</th><th>values</th><th class="number">missing</th><th>what was read</th>'
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{_text(table.raw.name, 60)}</title><style>{STYLE}</style></head><body><h1>{_text(table.raw.name, 60)}</h1>"
        f'<p class="about">{_text(" · ".join(title_of(table).split("   ")[1:]))}</p>'
        + _list(f"{len(warnings):,} warning{'s' * (len(warnings) != 1)}" if warnings else "No warnings", warnings)
        + (_list("Worth knowing", notes) if notes else "")
        + f'<h2>Columns</h2><div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
        + (f'<p class="faint">and {more:,} more columns</p>' if more > 0 else "")
        + "</body></html>\n"
    )


def _list(title: str, flags: list[Flag]) -> str:
    kinds = ((flag, "warning" if flag.warning else "note") for flag in flags[:MOST_FLAGS])
    items = "".join(f'<li class="{kind}">{_text(flag.text, 400)}</li>' for flag, kind in kinds)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else f"<h2>{title}</h2>"


def _row(table: Table, column: TableColumn) -> str:
    target = ' <span class="faint">target</span>' if column.name == table.target else ""
    missing = f"{column.missing:,}" if column.missing else ""
    odd = "".join(
        f'<br><span class="faint">{_text(cell.place)}: {_text(cell.text, 40)}{" (bound)" if cell.kind == "censored" else ""}</span>'
        for cell in column.odd[:5]
    )
    return (
        f'<tr><td class="name">{_text(column.name, 80)}{target}</td><td>{column.kind}</td><td>{_picture(table, column)}</td>'
        f'<td class="number">{missing}{_gap(column.missing / table.height)}</td><td class="said">{_text(described(column))}{odd}</td></tr>'
    )


def _picture(table: Table, column: TableColumn) -> str:
    if column.kind in ("constant", "empty", "id", "text"):
        return f'<span class="faint">{_text(", ".join(column.examples), 60)}</span>'
    values = table.values[column.name]
    if values.dtype == pl.String:
        return _bars(values)
    x = present(values)
    return _histogram(x[np.isfinite(x)])


def _histogram(x: Array) -> str:
    if len(x) == 0:
        return ""
    low, high = float(x.min()), float(x.max())
    if not np.isfinite(high - low) or high <= low:
        return ""
    counts = np.bincount(np.minimum(((x - low) / (high - low) * BINS).astype(int), BINS - 1), minlength=BINS)
    step, top = WIDTH / BINS, counts.max()
    bars = "".join(
        f'<rect x="{j * step:.1f}" y="{HEIGHT - h:.1f}" width="{step - 1:.1f}" height="{h:.1f}"/>'
        for j, h in enumerate(counts / top * HEIGHT)
        if h > 0
    )
    label = f"histogram of {len(x):,} values from {low:.4g} to {high:.4g}"
    return f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">{bars}</svg>'


def _bars(texts: pl.Series) -> str:
    """The most frequent levels."""
    counts = texts.drop_nulls().value_counts(sort=True).head(MOST_LEVELS)
    names, sizes = counts.to_series(0).to_list(), counts["count"].to_numpy()
    if len(names) == 0:
        return ""
    line = 13
    bars = "".join(
        f'<rect x="0" y="{j * line + 2}" width="{max(size / sizes[0] * BAR, 1):.1f}" height="9"/>'
        f'<text x="{max(size / sizes[0] * BAR, 1) + 4:.1f}" y="{j * line + 10}">{_text(name, 14)} {size:,}</text>'
        for j, (name, size) in enumerate(zip(names, sizes.tolist(), strict=True))
    )
    height = line * len(names)
    size = f'width="{BAR + LABEL}" height="{height}" viewBox="0 0 {BAR + LABEL} {height}"'
    return f'<svg {size} role="img" aria-label="levels and their rows">{bars}</svg>'


def _gap(share: float) -> str:
    if not share:
        return ""
    return (
        f'<svg width="60" height="6" role="img" aria-label="{100 * share:.0f}% missing"><rect class="whole" width="60" height="6"/>'
        f'<rect class="gap" x="0" y="0" width="{max(60 * share, 1):.1f}" height="6"/></svg>'
    )


def _text(text: object, most: int = 200) -> str:
    return html.escape(shown(text, most), quote=True)
