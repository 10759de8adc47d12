"""Learners by name, as they say themselves: what they are for, and their parameters."""

from __future__ import annotations

import ast
import difflib
import inspect
from dataclasses import MISSING
from typing import Any

import tenfold
from tenfold.base.estimator import Estimator
from tenfold.core.errors import BadParameter
from tenfold.core.params import Domain, domains

ROLES = ("classifier", "regressor")
PURPOSE = {"classifier": "classes", "regressor": "numbers"}
WORDS = {"true": True, "false": False, "none": None}


def learners() -> dict[str, type[Estimator]]:
    """Every public learner, in the order of its family."""
    found = {}
    for family in tenfold.FAMILIES:
        prefix = f"tenfold.{family}."
        for name, module in tenfold.PUBLIC.items():
            if module.startswith(prefix):
                one = getattr(tenfold, name)
                if inspect.isclass(one) and issubclass(one, Estimator):
                    found[name] = one
    return found


def family_of(name: str) -> str:
    return tenfold.PUBLIC[name].split(".")[1]


def says(learner: type[Estimator]) -> str:
    """The first line of its documentation, without its name."""
    first = (inspect.getdoc(learner) or "").partition("\n")[0]
    return first.partition(": ")[2].rstrip(".") or first


def formula(learner: type[Estimator]) -> list[str]:
    """The lines of its documentation that say what it is: model, objective, cost, reference."""
    lines = (inspect.getdoc(learner) or "").splitlines()[2:]
    end = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
    return lines[:end]


def role_of(learner: type[Estimator]) -> str:
    """What it does, in a word; learners made of others do what those do."""
    role: Any = learner.role
    return role if isinstance(role, str) else "as the learner inside"


def parameters(learner: type[Estimator]) -> list[Domain]:
    return list(domains(learner).values())


def required(learner: type[Estimator]) -> list[str]:
    """Parameters without a default."""
    return [one.name for one in parameters(learner) if one.default is MISSING]


def named(name: str) -> dict[str, type[Estimator]]:
    """Learners by a name, in upper or lower case: one, or where the ending Classifier or Regressor is left out those that it could be. A
    wrong name is answered with the one that was probably meant."""
    known = learners()
    exact = {one: kind for one, kind in known.items() if one.lower() == name.lower()}
    meant = exact or {one: kind for one, kind in known.items() if one.lower().removesuffix(str(role_of(kind))) == name.lower()}
    if meant:
        return meant
    raise BadParameter(f"there is no learner {name!r}: {_meant(name, list(known))}")


def predictor(name: str, role: str, given: list[str]) -> Estimator:
    """The learner of a name for a role, with parameters KEY=VALUE; the ending Classifier or Regressor may be left out."""
    fitting = {one: kind for one, kind in learners().items() if role_of(kind) == role and not required(kind)}
    known = {one.lower(): one for one in fitting}
    stems = {one.removesuffix(role): found for one, found in known.items() if predicts_probabilities(fitting[found])}
    found = known.get(name.lower()) or stems.get(name.lower())
    if found is None:
        raise BadParameter(f"--model {name}: {_why_not(name, role, list(fitting))}")
    learner = with_parameters(found, fitting[found], given)
    if not predicts_probabilities(learner):
        use = "use LogisticRegression, or, from Python, CalibratedClassifierCV around it"
        raise BadParameter(f"--model {name}: {found} tells classes and no probabilities, which the estimates need: {use}")
    return learner


def predicts_probabilities(learner: Any) -> bool:
    """Whether it predicts numbers, or classes with their probabilities."""
    return role_of(learner) != "classifier" or bool(learner.has_probabilities)


def check_predictor(name: str) -> None:
    """Refuse a name that no learner has, whatever it predicts, before a table is read."""
    everything = learners()
    stems = {one.lower().removesuffix(role) for one, kind in everything.items() for role in ROLES if role_of(kind) == role}
    if name.lower() not in stems | {one.lower() for one in everything}:
        able = [one for one, kind in everything.items() if role_of(kind) in ROLES and not required(kind)]
        raise BadParameter(f"--model {name}: there is no learner of this name: {_meant(name, able)}")


def with_parameters(name: str, learner: type[Estimator], given: list[str]) -> Estimator:
    """A learner with parameters that are written KEY=VALUE, each looked at before any work is done."""
    known, values = domains(learner), dict[str, Any]()
    for one in given:
        key, mark, text = one.partition("=")
        if not mark or not key:
            raise BadParameter(f"--set {one}: give PARAMETER=VALUE, such as {next(iter(known), 'alpha')}=1")
        if key not in known:
            raise BadParameter(f"--set {one}: {name} has no parameter {key!r}: {_meant(key, list(known))}")
        values[key] = value_of(text)
        wrong = known[key].objection(values[key])
        if wrong is not None:
            raise BadParameter(f"--set {one}: {wrong} ({known[key].doc})")
    return learner(**values)


def value_of(text: str) -> Any:
    """A value as it is typed: numbers, lists, true, false, none; anything else is a text."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _why_not(name: str, role: str, fitting: list[str]) -> str:
    everything = {one.lower(): (one, kind) for one, kind in learners().items()}
    one, kind = everything.get(name.lower(), ("", None))
    if kind is None:
        return f"there is no learner of this name for {PURPOSE[role]}: {_meant(name, fitting)}"
    does = role_of(kind)
    if does in ROLES and does != role:
        stem = one.removesuffix(does.capitalize())
        sibling = next((other for other in fitting if other == f"{stem}{role.capitalize()}"), None)
        use = f"use {sibling}" if sibling else "tenfold models lists the others"
        return f"{one} predicts {PURPOSE[does]}, and the target holds {PURPOSE[role]}: {use}"
    if required(kind) or does not in (*ROLES, "transformer", "clusterer"):
        return f"{one} is made of other learners: use it from Python"
    return f"{one} predicts nothing, it is a {does}: tenfold models lists those that do"


def _meant(name: str, known: list[str]) -> str:
    lower = {one.lower(): one for one in known}
    near = difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.5)
    inside = [lower[one] for one in lower if name.lower() in one][:3] if len(name) > 2 else []
    found = list(dict.fromkeys([*(lower[one] for one in near[:1]), *inside]))[:3]
    if found:
        return f"did you mean {' or '.join(found)}?"
    return "tenfold models lists them" if len(known) > 12 else f"there are {', '.join(known)}"
