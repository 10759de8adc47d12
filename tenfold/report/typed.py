"""Commands as they are typed: the whole of what does a run again, and names that can be pasted whatever is in them."""

from __future__ import annotations

import ast
import shlex
import unicodedata
from dataclasses import fields
from typing import Any

from tenfold.report.facts import Facts, as_dict, as_list
from tenfold.selection.choice.costs import COST, written_cost
from tenfold.selection.settings import OF_ONE, Settings

SHOWN = ("seed", "effort")  # settings that are written also where they are the usual ones
LONGEST_PASTED = 1000  # characters of a name beside a table
SIGNS = {1: "+", -1: "-"}
SPECIAL = ("true", "false", "none")  # words that a parameter is not set to as texts


def pasted(word: Any) -> str:
    """A word for a shell. What steers a terminal or a page cannot be seen in it: such characters are written as $'\\u202e'."""
    text = str(word)
    if not any(unicodedata.category(c)[0] == "C" for c in text):
        return shlex.quote(text)
    return f"$'{''.join(map(_escaped, text))}'"


def _escaped(c: str) -> str:
    if unicodedata.category(c)[0] == "C":
        return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"
    return f"\\{c}" if c in "\\'" else c


def command(facts: Facts) -> str:
    """What was typed, or would be, to do the run again: all that was asked for; of a frame in memory, the call in Python."""
    target = str(facts.settings.get("target", ""))
    if facts.is_fit:
        words = ["tenfold", "fit", str(facts.data.get("name", "table.csv")), "--target", target, *_learner(facts)]
    elif facts.data and facts.data.get("place") is None:
        more = [f"{name}={value!r}" for name, value in asked(facts).items()]
        return f"tenfold.select({', '.join(['table', repr(target), *more])})"
    else:
        words = ["tenfold", "select", str(facts.data.get("name", "table.csv")), "--target", target]
    for name, value in asked(facts).items():
        for one in _values(name, value):
            words += [f"--{name.replace('_', '-')}", one]
    return " ".join(map(pasted, words))


def asked(facts: Facts) -> dict[str, Any]:
    """What was asked for, but for what is usual; of earlier versions, what was used."""
    given = as_dict(facts.record.get("asked")) or {
        name: value for name, value in facts.settings.items() if (name, value) != ("metric", COST)
    }
    usual = {field.name: field.default for field in fields(Settings) if not facts.is_fit or field.name in OF_ONE}
    found = {}
    for name, default in usual.items():
        value = given.get(name)
        if value is None or value in ("", [], {}) or (value == default and name not in SHOWN):
            continue
        found[name] = value
    return found


def _values(name: str, value: Any) -> list[str]:
    """A setting as the values of an option, which may be given again."""
    if name == "cost":
        return [written_cost(value)] if as_list(value) else []
    if name == "monotone":
        return [f"{column}:{SIGNS.get(sign, '+')}" for column, sign in as_dict(value).items()]
    if isinstance(value, (list, tuple)):
        return [str(one) for one in value]
    return [f"{value:g}" if isinstance(value, float) and value == round(value, 4) else str(value)]


def _learner(facts: Facts) -> list[str]:
    """The learner and its parameters as options."""
    found = learner_typed(str(facts.record.get("chosen", "")))
    return [] if found is None else ["--model", found[0], *(word for one in found[1] for word in ("--set", one))]


def learner_typed(text: str) -> tuple[str, list[str]] | None:
    """The name of a learner and its parameters KEY=VALUE, read from how it writes itself: Lasso(alpha=0.1). None where they cannot be."""
    try:
        made = ast.parse(text, mode="eval").body
        assert isinstance(made, ast.Call) and isinstance(made.func, ast.Name)
        given = {str(one.arg): ast.literal_eval(one.value) for one in made.keywords}
    except (SyntaxError, ValueError, AssertionError, RecursionError, MemoryError):
        return None
    plain = [isinstance(value, str) and value.isidentifier() and value.lower() not in SPECIAL for value in given.values()]
    return made.func.id, [f"{name}={value if as_is else repr(value)}" for (name, value), as_is in zip(given.items(), plain, strict=True)]
