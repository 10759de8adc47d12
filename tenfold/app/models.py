"""`tenfold models` and `tenfold data`: what there is to choose from."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from dataclasses import MISSING, dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from tenfold.app.learners import (
    PURPOSE,
    family_of,
    formula,
    learners,
    named,
    parameters,
    predicts_probabilities,
    required,
    role_of,
    says,
)
from tenfold.app.options import JsonResult
from tenfold.app.words import clean, counted, short, terminal_width
from tenfold.base.estimator import Estimator
from tenfold.core.errors import BadFile, BadParameter
from tenfold.saved.writing import replacing
from tenfold.table.reading import read_table

TITLES = {  # what the learners of a folder have in common
    "linear": "Linear models",
    "generative": "Distributions of classes",
    "neighbors": "Nearest rows",
    "density": "Densities",
    "cluster": "Clusters",
    "reduce": "Fewer columns",
    "prepare": "Columns prepared",
    "features": "Columns chosen",
    "text": "Texts",
    "nonlinear": "Curves and neighbourhoods",
    "kernel_machines": "Kernel machines",
    "manifold": "Maps of near rows",
    "tree": "Trees, forests, boosting",
    "compose": "Learners made of learners",
}


def _names(incomplete: str) -> list[str]:
    """For the shell's completion."""
    return [name for name in learners() if name.lower().startswith(incomplete.lower())]


def models_command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="a learner, for its parameters", autocompletion=_names)] = None,
    purpose: Annotated[str | None, typer.Option("--for", metavar="classes|numbers", help="only those that predict this")] = None,
    as_json: JsonResult = False,
) -> int:
    """List the learners, or show the parameters of one with their defaults.

    Example:  tenfold models RandomForestClassifier
    """
    if purpose is not None and purpose not in PURPOSE.values():
        raise BadParameter(f"--for {purpose}: must be classes or numbers")
    lines = _named(name, as_json) if name is not None else _all(purpose, as_json)
    print("\n".join(clean(line) for line in lines))
    return 0


def _all(purpose: str | None, as_json: bool) -> list[str]:
    known = {name: kind for name, kind in learners().items() if purpose is None or PURPOSE.get(role_of(kind)) == purpose}
    if as_json:
        told = [dict(name=name, family=family_of(name), role=role_of(kind), says=says(kind)) for name, kind in known.items()]
        return [json.dumps(told)]
    width = terminal_width(sys.stdout)
    wide = max(map(len, known))
    lines: list[str] = []
    for family, title in TITLES.items():
        some = [(name, kind) for name, kind in known.items() if family_of(name) == family]
        if some:
            lines += ["", title] if lines else [title]
            lines += [piece for name, kind in some for piece in _hung(f"  {name:<{wide}}  {says(kind)}", width, wide + 4)]
    return [*lines, "", f"{counted(len(known), 'learner')}; tenfold models NAME shows the parameters of one"]


def _named(name: str, as_json: bool) -> list[str]:
    found = named(name)
    if as_json:
        told = [_facts_of(one, kind) for one, kind in found.items()]
        return [json.dumps(told[0] if len(told) == 1 else told)]
    lines: list[str] = []
    for one, kind in found.items():
        lines += [*([""] if lines else []), *_one(one, kind)]
    return lines


def _facts_of(name: str, kind: type[Estimator]) -> dict[str, object]:
    told = [
        dict(name=one.name, default=None if one.default is MISSING else repr(one.default), kinds=list(one.kinds), says=one.doc)
        for one in parameters(kind)
    ]
    return dict(name=name, family=family_of(name), role=role_of(kind), says=says(kind), parameters=told)


def _one(name: str, kind: type[Estimator]) -> list[str]:
    domains = parameters(kind)
    width = min(terminal_width(sys.stdout), 120)
    lines = [f"{name}   {role_of(kind)}", *_hung(f"  {says(kind)}", width, 2), ""]
    lines += [piece for line in formula(kind) for piece in _hung(f"  {line}", width, 14)]
    if domains:
        wide = max(len(f"{one.name} = {_shown(one.default)}") for one in domains)
        wide = min(wide, 36)
        lines += ["", "PARAMETERS and their defaults"]
        for one in domains:
            head = f"  {f'{one.name} = {_shown(one.default)}':<{wide}}  "
            values = f" ({' | '.join(repr(choice) for choice in one.one_of)})" if one.one_of else ""
            lines += _hung(f"{head}{one.doc}{values}", width, wide + 4)
    if role_of(kind) in PURPOSE and not required(kind) and predicts_probabilities(kind):
        plain = next((f" --set {one.name}={one.default}" for one in domains if type(one.default) in (int, float)), "")
        lines += ["", f"  tenfold fit FILE --target COLUMN --model {name}{plain}"]
    return lines


def _hung(line: str, width: int, indent: int) -> list[str]:
    """A line in pieces that fit, the others below its text; a table of spaces stays as it is."""
    if len(line) <= width:
        return [line]
    words = textwrap.TextWrapper(
        max(width, indent + 20), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    )
    return [piece.rstrip() for piece in words.wrap(line)]


def _shown(default: object) -> str:
    return "(required)" if default is MISSING else short(repr(default), 24)


@dataclass(frozen=True)
class Included:
    """A table that comes with the package."""

    file: str
    target: str
    says: str


INCLUDED = {
    "penguins": Included("penguins.csv", "species", "three species by their measures, with gaps (Gorman, Williams & Fraser 2014; CC0)"),
}


def data_command(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="a table, to write it to a file")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="where to write it; NAME.csv if not given")] = None,
    as_json: JsonResult = False,
) -> int:
    """List the tables that are included, or write one of them to a file.

    Example:  tenfold data penguins --out penguins.csv
    """
    if name is None:
        listed = [_facts(one) for one in INCLUDED]
        if as_json:
            print(json.dumps(listed))
            return 0
        for one in listed:
            line = f"{one['name']}   {one['rows']:,} rows x {one['columns']} columns   target {one['target']}   {one['says']}"
            print("\n".join(_hung(line, terminal_width(sys.stdout), 2)))
        return 0
    if name not in INCLUDED:
        raise BadParameter(f"there is no table {name!r}: there are {', '.join(INCLUDED)}")
    path = out or Path(f"{name}.csv")
    if path.exists():
        raise BadFile(f"{path} exists already: choose another name with --out")
    content = (resources.files("tenfold") / "data" / INCLUDED[name].file).read_bytes()
    with replacing(os.fspath(path)) as file:
        file.write(content)
    print(clean(f"{path} written; try  tenfold select {path} --target {INCLUDED[name].target}"))
    return 0


def _facts(name: str) -> dict[str, str | int]:
    one = INCLUDED[name]
    with resources.as_file(resources.files("tenfold") / "data" / one.file) as file:
        rows, columns = read_table(file).frame.shape
    return dict(name=name, rows=rows, columns=columns, target=one.target, says=one.says)
