"""What `Prepare` does to a column, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tenfold.prepare.coder import OTHER
from tenfold.prepare.indicators import widths
from tenfold.prepare.table_dates import PARTS, WORDS
from tenfold.table.dates import written_dates
from tenfold.table.reading import pl

if TYPE_CHECKING:
    from tenfold.prepare.prepare import Prepare

MOST_LEVELS = 6  # named in a sentence
LONGEST = 24  # characters of a level


def sentence_of(prepare: Prepare, column: int) -> str:
    """One line on one column of the table."""
    coder, name = prepare.coder_, str(prepare.feature_names_in_[column])
    kind, note = prepare.kinds_[column], prepare.notes_[column]
    used = [str(one) for one in coder.feature_names_in_]
    if name in prepare.texts_:
        words = prepare.words_[prepare.texts_.tolist().index(name)]
        return f"text: its length, and a column 0/1 for each of {len(words)} words" + (f" such as {words[0]!r}" if len(words) else "")
    if name not in used:
        return f"{kind}: {note or 'left out'}"
    i = used.index(name)
    done = _levels(prepare, i) if coder.category_[i] else _number(prepare, i)
    return f"{kind}: " + "; ".join(filter(None, [note, done]))


def _number(prepare: Prepare, i: int) -> str:
    coder = prepare.coder_
    cycles = prepare._cycles.get(str(coder.feature_names_in_[i]), [])
    if prepare.purpose == "trees":
        return "as it is" + (f", and its {', '.join(PARTS[one] for one in cycles)}" if cycles else "")
    start = sum(prepare._widths()[:i])
    mean, scale = prepare.mean_[start] / coder.scale_[i], prepare.scale_[start] / coder.scale_[i]
    form = coder.form_of(i)
    if "%" in form:
        day = written_dates(pl.Series([float(np.round(mean))]), form)[0]
        done = f"days since {day} (form {form.replace('%', '')}), divided by {scale:.4g}"
        done += f", and sine and cosine of its place in {' and '.join(WORDS[one] for one in cycles)}" if cycles else ""
    else:
        done = f"minus its mean {mean:.4g}, divided by {scale:.4g}"
    gap = f", and 1 in {str(coder.feature_names_in_[i]) + ' is missing'!r}" if coder.blank_[i] else ""
    return f"{done}; 0 where missing{gap}"


def _levels(prepare: Prepare, i: int) -> str:
    coder = prepare.coder_
    levels = [_shown(level) for level in coder.levels_[i]] + ([OTHER] if coder.pooled_[i] else [])
    reference = _shown(coder.reference_[i])
    if prepare.purpose == "trees":
        return f"as it is, {len(levels) + 1} levels" + (", rare ones together" if coder.pooled_[i] else "")
    shown = ", ".join(levels[:MOST_LEVELS]) + (f" and {len(levels) - MOST_LEVELS} more" if len(levels) > MOST_LEVELS else "")
    if prepare.purpose == "neighbors":
        return f"a column for each of {reference}, {shown}, {1 / 2**0.5:.4g} in its own"
    width = widths(coder)[i]
    many = "a column" if width == 1 else f"{width} columns"
    return f"{many} 0/1, centred and scaled, for {shown}; none of them is {reference}"


def _shown(level: str) -> str:
    text = str(level) or "(missing)"
    return repr(text if len(text) <= LONGEST else text[: LONGEST - 1] + "…") if level else text
