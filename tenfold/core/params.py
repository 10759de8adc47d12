"""Parameters: declared once, with default, domain and one line of documentation.

A learner writes

    @estimator
    class Ridge(...):
        alpha: float = param(default=1.0, at_least=0, doc="penalty strength")
        _: KW_ONLY
        fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")

and gets its constructor, its `get_params`, its checks and its documentation from these lines. The constructor
only stores what it is given: scikit-learn's `clone` relies on that, and `core.check` looks at the values when
`fit` is called.

What several learners share stands in a class with `@group`, which they inherit. A parameter that is declared again keeps
its place; a new one comes last, or `before` another.
"""

from __future__ import annotations

import inspect
import math
import numbers
import re
from copy import copy
from dataclasses import KW_ONLY, MISSING, Field, dataclass, field, fields, replace
from typing import Any, TypeVar, cast, dataclass_transform

import numpy as np

from tenfold.core.learned import described, learned, learned_by

__all__ = ["KW_ONLY", "Domain", "domains", "estimator", "group", "param", "written_domains"]

Class = TypeVar("Class", bound=type)

# What a word of an annotation admits. An annotation with another word in it is not checked by type.
KINDS: dict[str, tuple[type, ...]] = {
    "float": (numbers.Real, np.floating, np.integer),
    "int": (numbers.Integral, np.integer),
    "bool": (bool, np.bool_),
    "str": (str,),
    "dict": (dict,),
    "Sequence": (list, tuple),
    "Array": (np.ndarray,),
    "None": (type(None),),
}


@dataclass(frozen=True)
class Domain:
    """The values a parameter may take, and what it means."""

    name: str
    default: Any
    kinds: tuple[str, ...]
    at_least: float | None
    above: float | None
    at_most: float | None
    one_of: tuple[Any, ...] | None
    doc: str

    def objection(self, value: Any) -> str | None:
        """Why `value` is not in the domain, or None if it is."""
        if self.one_of is not None and (value is None or isinstance(value, (str, bool))):
            if any(value is choice or value == choice for choice in self.one_of):
                return None
            if not self._fits(value):
                return f"must be one of {', '.join(map(repr, self.one_of))}"
        elif not self._fits(value):
            return f"must be {' or '.join(self.kinds)}"
        if isinstance(value, KINDS["float"]) and not isinstance(value, KINDS["bool"]):
            return self._out_of_range(value)
        return None

    def _fits(self, value: Any) -> bool:
        if self.one_of is not None and isinstance(value, str):
            return False
        if any(kind not in KINDS for kind in self.kinds):
            return True
        if isinstance(value, KINDS["bool"]):
            return "bool" in self.kinds
        return any(isinstance(value, KINDS[kind]) for kind in self.kinds)

    def _out_of_range(self, value: Any) -> str | None:
        if value != value:  # allowed where it is the default, or named
            named = any(choice != choice for choice in (self.default, *(self.one_of or ())))
            return None if named else "must not be NaN"
        if hasattr(value, "__index__") and not -(2**63) <= value < 2**63:
            return "must be a number of at most 64 bits"
        value = float(value)
        if abs(value) > 1e100 and self.at_most != math.inf:
            return "must be finite, and at most 1e100 in size"
        if self.at_least is not None and value < self.at_least:
            return f"must be >= {self.at_least:g}"
        if self.above is not None and value <= self.above:
            return f"must be > {self.above:g}"
        if self.at_most is not None and value > self.at_most:
            return f"must be <= {self.at_most:g}"
        return None


def param(
    *,
    doc: str,
    default: Any = MISSING,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    one_of: tuple[Any, ...] | None = None,
    before: str | None = None,
) -> Any:
    """A constructor parameter of a learner, required where it has no default. Numbers must be finite, unless `at_most` is infinite."""
    domain = dict(at_least=at_least, above=above, at_most=at_most, one_of=one_of, doc=doc)
    return field(default=default, metadata={"domain": domain, "before": before})


@dataclass_transform(field_specifiers=(param, learned))
def group(cls: Class) -> Class:
    """Class decorator: parameters that several learners share. The learners that inherit them make them their own."""
    return cls


@dataclass_transform(field_specifiers=(param, learned))
def estimator(cls: Class) -> Class:
    """Class decorator: generate the constructor from the declared parameters, and the documentation of these and of the fit."""
    own, declared = inspect.get_annotations(cls), _gathered(cls)
    cls.__annotations__ = {name: kind for name, (kind, _) in declared.items()}
    for name, (_, one) in declared.items():
        setattr(cls, name, one)
    made: Any = dataclass(eq=False, repr=False)(cls)
    made.__annotations__ = own
    made._domains = {f.name: _domain_of(f) for f in fields(made)}
    lines = [f"    {d.name}: {' | '.join(d.kinds)}{_shown_default(d)}\n        {d.doc}" for d in made._domains.values()]
    if lines and made.__doc__:
        made.__doc__ = f"{made.__doc__.rstrip()}\n\n    Parameters\n" + "\n".join(lines) + "\n    "
    if learned_by(made) and made.__doc__:
        made.__doc__ = f"{made.__doc__.rstrip()}\n\n    Fitted\n" + "\n".join(described(made)) + "\n    "
    return cast(Class, made)


def _shown_default(domain: Domain) -> str:
    return "" if domain.default is MISSING else f" = {domain.default!r}"


def _gathered(cls: Any) -> dict[str, tuple[Any, Any]]:
    """Type and field of each parameter that a class and its groups declare, in the order of the constructor."""
    found: dict[str, tuple[Any, Any]] = {}
    for base in reversed(cls.__mro__):
        keyword = False
        for name, kind in inspect.get_annotations(base).items():
            keyword = keyword or kind in (KW_ONLY, "KW_ONLY")
            declared = vars(base).get(name)
            if not isinstance(declared, Field):
                continue
            declared = copy(declared)  # each learner completes its own
            declared.kw_only = keyword
            place = declared.metadata["before"]
            after = list(found)[list(found).index(place) :] if place is not None and name not in found else []
            found[name] = kind, declared
            found |= {other: found.pop(other) for other in after}
    return found


def _domain_of(declared: Any) -> Domain:
    plain = re.sub(r"\[[^\[\]]*\]", "", re.sub(r"\[[^\[\]]*\]", "", str(declared.type)))  # dict[str, Any] is a dict
    kinds = tuple(word.strip() for word in plain.split("|"))
    return Domain(declared.name, declared.default, kinds, **declared.metadata["domain"])


def written_domains(cls: Any) -> dict[str, Domain]:
    """The parameters of a class whose constructor is written by hand; those with names that are declared above keep their checks."""
    found = {}
    for one in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        default = MISSING if one.default is one.empty else one.default
        above = cls._domains.get(one.name) or Domain(one.name, default, ("Any",), None, None, None, None, "")
        found[one.name] = replace(above, default=default)
    return found


def domains(learner: Any) -> dict[str, Domain]:
    """The declared parameters of a learner or of its class, in order."""
    found: dict[str, Domain] = learner._domains
    return found
