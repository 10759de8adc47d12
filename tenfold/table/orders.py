"""Levels with an order: words that people rank, and ranges of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Each scale from its lower end; steps are parted by semicolons, and bars part the words for one step.
SCALES = (
    "none | no | absent ; very low | vl ; low | lo | l ; medium | mid | moderate | med | m ; high | hi | h ; very high | vh",
    "none | absent ; mild | minor | slight ; moderate ; severe | major ; very severe | critical | extreme",
    "tiny | xxs ; extra small | xs ; small | s ; medium | m ; large | l ; extra large | xl ; xxl ; xxxl",
    "very bad | terrible | awful ; bad ; poor ; fair ; average | ok | okay | typical ; good ; very good ; premium ; excellent ; ideal",
    "never ; rarely | seldom ; sometimes | occasionally ; often | frequently ; usually ; always",
    "strongly disagree ; disagree ; somewhat disagree ; neutral | undecided | neither agree nor disagree ; somewhat agree ; "
    "agree ; strongly agree",
    "very dissatisfied ; dissatisfied ; neutral ; satisfied ; very satisfied",
    "january | jan ; february | feb ; march | mar ; april | apr ; may ; june | jun ; july | jul ; august | aug ; september "
    "| sep | sept ; october | oct ; november | nov ; december | dec",
    "monday | mon ; tuesday | tue | tues ; wednesday | wed ; thursday | thu | thurs ; friday | fri ; saturday | sat ; "
    "sunday | sun",
    "first ; second ; third ; fourth ; fifth",
    "junior ; mid ; senior ; lead ; principal",
    "none ; primary | elementary ; secondary | high school ; some college ; college | bachelor | bachelors ; master | masters | "
    "advanced degree ; doctorate | phd",
    "i3 ; i2 ; i1 ; si2 ; si1 ; vs2 ; vs1 ; vvs2 ; vvs1 ; if ; fl",  # grades of diamonds
    "bronze ; silver ; gold ; platinum",
    "freshman ; sophomore ; junior ; senior",
    "cold ; cool ; mild ; warm ; hot",
    "slow ; medium ; fast",
)
STEPS: tuple[dict[str, int], ...] = tuple(
    {word.strip(): i for i, step in enumerate(scale.split(";")) for word in step.split("|")} for scale in SCALES
)
RANGE = re.compile(
    r"(?:(?P<below><=?|under|below|up to|less than)\s*)?(?P<low>-?\d+(?:[.,]\d+)?)\s*[a-z%$€]{0,8}\s*"
    r"(?:(?:-|–|to|<=?\s*x\s*<=?)\s*(?P<high>-?\d+(?:[.,]\d+)?)|(?P<above>\+|and more|or more|and over))?\s*[a-z%$€]{0,8}",
    re.IGNORECASE,
)
AT_LEAST = re.compile(r"(?:>=?|≥|over|above|more than|at least)\s*(-?\d+(?:[.,]\d+)?)\s*[a-z%$€]{0,8}", re.IGNORECASE)
NUMBERED = re.compile(r"\d+[.)]\s+")  # "1. never": the number is not part of the words


def order_of(levels: Sequence[str]) -> tuple[str, ...]:
    """The levels from low to high, where they have an order; empty where they have none."""
    if not 3 <= len(levels) <= 20:
        return ()
    plain = [NUMBERED.sub("", level).strip().lower().replace("_", " ") for level in levels]
    for steps in STEPS:
        places = [steps.get(word) for word in plain]
        if None not in places and len(set(places)) == len(places):
            return tuple(level for _, level in sorted(zip(places, levels, strict=True)))
    return _ranges(levels, plain)


def _ranges(levels: Sequence[str], plain: Sequence[str]) -> tuple[str, ...]:
    """Ranges of numbers, such as <100, 100-500, >=500; beside them at most one word (none, not asked), which comes first."""
    keys = []
    words = 0
    for word in plain:
        at_least, found = AT_LEAST.fullmatch(word), RANGE.fullmatch(word)
        if at_least:
            keys.append((_number(at_least[1]), 2.0))
        elif found and (found["high"] or found["below"] or found["above"]):
            low = _number(found["low"])
            keys.append((low, 0.0) if found["below"] else (low, 1.0))
        else:
            words += 1
            keys.append((float("-inf"), 0.0))
    if words > 1 or len(set(keys)) < len(keys) or len(keys) - words < 2:
        return ()
    return tuple(level for _, level in sorted(zip(keys, levels, strict=True)))


def _number(text: str) -> float:
    return float(text.replace(",", "."))
