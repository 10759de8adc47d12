"""The words that stand for a missing value, in lower case."""

from __future__ import annotations

# What no class is called: a missing value also where the other cells are texts.
MISSING = (
    "na", "n/a", "#n/a", "#na", "n.a.", "<na>", "nan", "-nan", "nat", "null", "(null)", "?", "#value!", "#ref!",
    "#div/0!", "#num!", "#name?", "#null!",
)  # fmt: skip
MISSING_IN_NUMBERS = (
    *MISSING, "none", "nil", "missing", "unknown", "undefined", "not available", "not applicable", "n.d.", "blank",
    "(blank)", "-", "--", "---", "–", "—", ".", "..", "...", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity", "∞", "+∞", "-∞",
)  # fmt: skip
# Where rows pass by as a stream, an infinite number is refused, as one in an array is.
WORDS_OF_STREAMS = ["", *(word for word in MISSING_IN_NUMBERS if "inf" not in word and "∞" not in word)]
