"""The language of what a saved model may hold: which values an attribute may have. A form is

    float, int, bool, str, none, names      a number, a text, nothing, a dict of texts
    setting, kernel                         a dict of values of parameters by name; a kernel of tenfold.kernels
    learner, part                           a fitted learner of the same p columns, or of any
    float(q,p)                              an array of finite numbers; real(...) may hold NaN and infinities
    int(n)  int(n)<K  bool(p)               whole numbers, numbers of classes 0, ..., K − 1, truth values
    label(K)  text(p)                       class labels; an array of texts
    [float(p,*)](K)                         a list of K arrays
    [levels](p)                             a list of p: the categories of a column, or nothing for one of numbers
    Moments(p+q)                            a statistic, with the shape of its leading array
    int:p                                   a number that fixes the size p
    float(g)>=0  float>0                    numbers of at least, or above, 0

Sizes are numbers, letters or sums of them; a letter means one size throughout a model, `*` any size. K is the number of classes, M that of
scores: 1 for numbers and for two classes, else K. q is the number of targets: where the target was one column (`_flat`), q is 1 and
arrays do not have this axis, so that `float(q,p)` is then `float(p)`, and `float(q)` a number.
`a|b` is either form, `name?` may be absent, and `;` separates whole variants.

A size that is only stated (`int:p`) and that no array, list or learner has is bounded by UNSEEN: a few bytes must not ask for gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from tenfold.kernels.kernel import Kernel
from tenfold.saved.statistics import LEADING, statistic_number

Sizes = dict[str, int]
UNSEEN = 1 << 20  # the largest size that a number alone may claim
FLAT = "flat"  # among the sizes: there is no axis for targets
SEEN = "="  # before the letters of sizes that something has
SCALARS: dict[str, Callable[[Any], bool]] = {
    "float": lambda v: isinstance(v, (float, int, np.floating)) and v is not True and bool(np.isfinite(v)),
    "int": lambda v: isinstance(v, (int, np.integer)) and not isinstance(v, bool),
    "bool": lambda v: isinstance(v, (bool, np.bool_)),
    "str": lambda v: isinstance(v, str),
    "none": lambda v: v is None,
    "inf": lambda v: v == np.inf,
    "levels": lambda v: v is None or _are_categories(v),
    "pieces": lambda v: isinstance(v, tuple) and all(map(_is_piece, v)),
    "names": lambda v: isinstance(v, dict) and all(isinstance(x, str) for pair in v.items() for x in pair),
    "kernel": lambda v: isinstance(v, Kernel),
    "setting": lambda v: isinstance(v, dict) and all(isinstance(name, str) for name in v),
}
ARRAYS: dict[str, Callable[[Any], bool]] = {
    "float": lambda a: a.dtype in (np.float32, np.float64) and bool(np.isfinite(a).all()),
    "real": lambda a: a.dtype in (np.float32, np.float64),
    "int": lambda a: a.dtype in (np.int32, np.int64),
    "hash": lambda a: a.dtype == np.uint64,
    "byte": lambda a: a.dtype == np.uint8,
    "bool": lambda a: a.dtype == np.bool_,
    "text": lambda a: a.dtype == object,
    "label": lambda a: a.dtype.kind in "OUbif" and _different(a),
}
FORM = re.compile(
    r"(?P<list>\[)?(?P<kind>\w+)(:(?P<binds>\w))?(\((?P<shape>[^)]*)\))?"
    r"(<(?P<below>\w))?(?P<sign>>=?0)?(\]\((?P<length>\w)\))?"
)


def objection(attributes: dict[str, Any], forms: str) -> str | None:
    """Why these attributes are not of one of the variants of `forms`, or None if they are."""
    reason = None
    for variant in forms.split(";"):
        reason = _variant_objection(attributes, variant)
        if reason is None:
            return None
    return reason


def _variant_objection(attributes: dict[str, Any], variant: str) -> str | None:
    sizes: Sizes = {"q": 1, FLAT: 1} if attributes.get("_flat") is True else {}
    left, stated = set(attributes), dict[str, str]()
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
            known = ", ".join(f"{letter} = {size}" for letter, size in sizes.items() if len(letter) == 1)
            return f"{name} is not {forms.replace('|', ' or ')} where {known}"
        if forms.startswith("int:"):
            stated[forms[4:]] = name
    for letter, name in stated.items():
        if sizes[letter] > UNSEEN and SEEN + letter not in sizes:
            return f"{name} is {sizes[letter]:,}, but nothing there has that size"
    return f"{min(left)} does not belong there" if left else None


def _has_form(value: Any, form: str, sizes: Sizes) -> bool:
    """Whether the value has the form; letters that are met for the first time are entered into `sizes`."""
    parts = FORM.fullmatch(form)
    assert parts is not None, form
    kind, shape = parts["kind"], parts["shape"]
    if shape is not None and FLAT in sizes and "q" in shape.split(","):
        shape = ",".join(dim for dim in shape.split(",") if dim != "q") or None
    if parts["list"]:
        inner = form[1 : form.index("]")]
        return (
            isinstance(value, list)
            and _agrees(len(value), parts["length"], sizes, seen=True)
            and all(_has_form(one, inner, sizes) for one in value)
        )
    if kind == "part":
        return "n_features_in_" in getattr(value, "__dict__", {})
    if kind == "learner":
        return "n_features_in_" in getattr(value, "__dict__", {}) and _agrees(value.n_features_in_, "p", sizes, seen=True)
    if shape is None:
        if not SCALARS[kind](value) or not _has_sign(value, parts["sign"]):
            return False
        return parts["binds"] is None or (value >= 1 and _agrees(int(value), parts["binds"], sizes))
    if kind in LEADING:
        if statistic_number(value) is None or type(value).__name__ != kind:
            return False
        kind, value = "real", LEADING[kind](value)
    dims = shape.split(",")
    if not isinstance(value, np.ndarray) or value.ndim != len(dims):
        return False
    if not all(_agrees(size, dim, sizes, seen=True) for size, dim in zip(value.shape, dims, strict=True)):
        return False
    if parts["below"] and value.size and not (value.min() >= 0 and value.max() < sizes[parts["below"]]):
        return False
    return ARRAYS[kind](value) and _has_sign(value, parts["sign"])


def _has_sign(value: Any, sign: str | None) -> bool:
    return sign is None or bool(np.all(value > 0) if sign == ">0" else np.all(value >= 0))


def _agrees(size: int, dim: str, sizes: Sizes, seen: bool = False) -> bool:
    """Whether a size is the one that the form asks for; `seen`: something is there that has it."""
    if seen:
        sizes[SEEN + dim] = size
    if dim == "*":
        return True
    if dim.isalpha():
        if dim == "M":
            return sizes.get("K", 2) >= 2 and size == _n_scores(sizes)
        return sizes.setdefault(dim, size) == size
    known = sum(int(part) if part.isdigit() else _n_scores(sizes) if part == "M" else sizes[part] for part in dim.split("+"))
    return known == size


def _n_scores(sizes: Sizes) -> int:
    """M."""
    n_classes = sizes.get("K", 2)
    return 1 if n_classes == 2 else n_classes


def _different(labels: Any) -> bool:
    return len(np.unique(labels)) == labels.size and not (labels.dtype.kind == "f" and np.isnan(labels).any())


def _are_categories(value: Any) -> bool:
    """Different texts, truth values or numbers; numbers in rising order."""
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "Obfi":
        return False
    if value.dtype.kind == "O":
        return len(set(value.tolist())) == len(value)
    return bool(np.isfinite(value).all() and (np.diff(value.astype(np.float64)) > 0).all())


def _is_piece(piece: Any) -> bool:
    """Rows of finite numbers with their weights."""
    sizes: Sizes = {}
    return (
        isinstance(piece, tuple)
        and len(piece) == 2
        and _has_form(piece[0], "float(n,m)", sizes)
        and _has_form(piece[1], "float(n)", sizes)
    )
