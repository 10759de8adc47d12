"""What a saved model may hold: a number for each kind, and the form of each of its fitted attributes.

A file names a kind by its number and nothing else, so it cannot name code. Numbers are for ever. A form is

    float, int, bool, str, none, names      a number, a text, nothing, a dict of texts
    float(q,p)                              an array of finite numbers; real(...) may hold NaN and infinities
    int(n)  int(n)<K  bool(p)               whole numbers, numbers of classes 0, ..., K − 1, truth values
    label(K)  text(p)                       class labels; an array of texts
    [float(p,*)](K)                         a list of K arrays
    Moments(p+q)                            a statistic, with the shape of its leading array
    int:p                                   a number that fixes the size p

Sizes are numbers, letters or sums of them; a letter means one size throughout a model, `*` any size.
`a|b` is either form, `name?` may be absent, and `;` separates whole variants.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from tenfold.core import sketch, stats

FACTS = " n_features_in_=int:p feature_names_in_?=text(p) absent_?=names _output?=str "

# Number -> public name, forms of the fitted attributes.
LEARNERS: dict[int, tuple[str, str]] = {
    2: ("Ridge", "_flat=bool coef_=float(p) intercept_=float n_iter_=int stats_?=Moments(p+1);"
                 "_flat=bool coef_=float(q,p) intercept_=float|float(q) n_iter_=int stats_?=Moments(p+q)"),
    3: ("LogisticRegression", "classes_=label(K) coef_=float(K,p) intercept_=float(K) n_iter_=int(*);"
                              "classes_=label(2) coef_=float(1,p) intercept_=float(1) n_iter_=int(*)"),
    12: ("Pipeline", "classes_?=label(K) _flat?=bool"),
}

# Number -> statistic, forms of its fields. Rows and Sample are training rows.
STATISTICS: dict[int, tuple[type[Any], str]] = {
    1: (stats.Moments, "weight=float center=float(m) offset=float(m) scatter=float(m,m);"
                       "weight=float(g) center=float(g,m) offset=float(g,m) scatter=float(g,m,m)"),
    2: (stats.Spread, "weight=float(g) center=float(g,m) offset=float(g,m) scatter=float(g,m)"),
    3: (stats.Triangle, "weight=float R=float(r,m)"),
    4: (stats.Counts, "weight=float(g)"),
    5: (stats.Clusters, "weight=float(g) sum=float(g,m) inertia=float"),
    6: (sketch.Sample, "hash=hash(n) rows=real(n,m) weight=float(n) k=int total=float"),
}
LEADING = {"Moments": "center", "Spread": "center", "Triangle": "R", "Counts": "weight", "Clusters": "sum",
           "Sample": "rows"}
ROW_KEEPERS = {"Sample", "Rows"}

NUMBER_OF_LEARNER = {name: number for number, (name, _) in LEARNERS.items()}
NUMBER_OF_STATISTIC = {cls: number for number, (cls, _) in STATISTICS.items()}

Sizes = dict[str, int]
SCALARS: dict[str, Callable[[Any], bool]] = {
    "float": lambda v: isinstance(v, (float, int, np.floating)) and v is not True and bool(np.isfinite(v)),
    "int": lambda v: isinstance(v, (int, np.integer)) and not isinstance(v, bool),
    "bool": lambda v: isinstance(v, (bool, np.bool_)),
    "str": lambda v: isinstance(v, str),
    "none": lambda v: v is None,
    "names": lambda v: isinstance(v, dict) and all(isinstance(x, str) for pair in v.items() for x in pair),
}
ARRAYS: dict[str, Callable[[Any], bool]] = {
    "float": lambda a: a.dtype in (np.float32, np.float64) and bool(np.isfinite(a).all()),
    "real": lambda a: a.dtype in (np.float32, np.float64),
    "int": lambda a: a.dtype in (np.int32, np.int64),
    "hash": lambda a: a.dtype == np.uint64,
    "bool": lambda a: a.dtype == np.bool_,
    "text": lambda a: a.dtype == object,
    "label": lambda a: a.dtype.kind in "OUbif",
}
FORM = re.compile(r"(?P<list>\[)?(?P<kind>\w+)(:(?P<binds>\w))?(\((?P<shape>[^)]*)\))?"
                  r"(<(?P<below>\w))?(\]\((?P<length>\w)\))?")


def objection(attributes: dict[str, Any], forms: str) -> str | None:
    """Why these attributes are not of one of the variants of `forms`, or None if they are."""
    reason = None
    for variant in forms.split(";"):
        reason = _variant_objection(attributes, variant)
        if reason is None:
            return None
    return reason


def _variant_objection(attributes: dict[str, Any], variant: str) -> str | None:
    sizes: Sizes = {}
    left = set(attributes)
    for item in variant.split():
        name, _, forms = item.partition("=")
        optional, name = name.endswith("?"), name.rstrip("?")
        if name not in attributes:
            if not optional:
                return f"{name} is missing"
            continue
        left.discard(name)
        for form in forms.split("|"):
            found = dict(sizes)
            if _has_form(attributes[name], form, found):
                sizes = found
                break
        else:
            known = ", ".join(f"{letter} = {size}" for letter, size in sizes.items())
            return f"{name} is not {forms.replace('|', ' or ')} where {known}"
    return f"{min(left)} does not belong there" if left else None


def _has_form(value: Any, form: str, sizes: Sizes) -> bool:
    """Whether the value has the form; letters that are met for the first time are entered into `sizes`."""
    parts = FORM.fullmatch(form)
    assert parts is not None, form
    kind, shape = parts["kind"], parts["shape"]
    if parts["list"]:
        inner = form[1 : form.index("]")]
        return (isinstance(value, list) and _agrees(len(value), parts["length"], sizes)
                and all(_has_form(one, inner, sizes) for one in value))
    if shape is None:
        if not SCALARS[kind](value):
            return False
        return parts["binds"] is None or (value >= 1 and _agrees(int(value), parts["binds"], sizes))
    if kind in LEADING:
        if type(value).__name__ != kind or not is_dataclass(value):
            return False
        kind, value = "real", getattr(value, LEADING[kind])
    dims = shape.split(",")
    if not isinstance(value, np.ndarray) or value.ndim != len(dims):
        return False
    if not all(_agrees(size, dim, sizes) for size, dim in zip(value.shape, dims, strict=True)):
        return False
    if parts["below"] and value.size and not (value.min() >= 0 and value.max() < sizes[parts["below"]]):
        return False
    return ARRAYS[kind](value)


def _agrees(size: int, dim: str, sizes: Sizes) -> bool:
    if dim == "*":
        return True
    if dim.isalpha():
        return sizes.setdefault(dim, size) == size
    known = sum(int(part) if part.isdigit() else sizes[part] for part in dim.split("+"))
    return known == size


def forms_of(number: int) -> str:
    """The forms of a kind of learner, with those that all learners share."""
    return ";".join(FACTS + variant for variant in LEARNERS[number][1].split(";"))


def fields_of(value: Any) -> dict[str, Any]:
    """The fields of a statistic by name."""
    return {f.name: getattr(value, f.name) for f in fields(value)}
