"""The public surface: names, docstrings, parameters, import time, layers, and what docs/catalog.md says."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from conftest import of_each, public_classes

import tenfold
from tenfold.app.commands import COMMANDS
from tenfold.core.params import domains

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "tenfold"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").glob("*.py"))
LEARNERS = {**public_classes(), "Pipeline": tenfold.Pipeline}
SECTIONS = [
    "Model",
    "Objective",
    "Algorithm",
    "Cost",
    "Fails when",
    "Reference",
    "Example",
    "Parameters",
    "Fitted",
]
# Slow to import, or large: loaded when they are used, not before.
LATE = [
    "scipy.stats",
    "polars",
    "matplotlib",
    "dask",
    "distributed",
    "sklearn",
    "pandas",
    "pyarrow",
    "narwhals",
    "rich",
    "typer",
]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in SOURCES if path.stem != "__main__"}
WITH_EXAMPLES = [module for module, path in MODULES.items() if ">>>" in path.read_text(encoding="utf-8")]


# --- names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", tenfold.PUBLIC)
def test_public_name(name: str) -> None:
    value = getattr(tenfold, name)
    assert name in dir(tenfold) and name in tenfold.__all__
    assert inspect.getdoc(value), f"{name} has no docstring"
    assert value.__module__ == tenfold.PUBLIC[name], f"{name} is defined in {value.__module__}"


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Rigde'"):
        tenfold.Rigde  # noqa: B018


def fresh(code: str) -> str:
    """What a new Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    return done.stdout.strip()


def test_every_name_is_there_without_documentation() -> None:
    """python -OO leaves it out."""
    code = "import tenfold\nfor name in tenfold.PUBLIC: getattr(tenfold, name)"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_import_is_quick() -> None:
    """In time of the processor, the least of several tries: the machine may be busy."""
    code = "import time; began = time.process_time(); import tenfold; print(time.process_time() - began)"
    assert min(float(fresh(code)) for _ in range(5)) < 0.25


@pytest.mark.parametrize(
    "use",
    [
        "",
        "tenfold.Ridge().fit([[1.0], [2.0]], [1.0, 2.0]).predict([[3.0]])",
        "tenfold.KMeans(2, random_state=0).fit([[1.0], [2.0], [9.0]])",
        "tenfold.LogisticRegression().fit([[1.0], [2.0], [3.0]], [0, 1, 0]).predict([[3.0]])",
    ],
)
def test_nothing_large_is_imported(use: str) -> None:
    loaded = set(fresh(f"import sys, tenfold; {use}\nprint(*sys.modules)").split())
    assert not loaded & set(LATE)


# --- documentation ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LEARNERS)
def test_learner(name: str) -> None:
    """Its docstring and its parameters."""
    held = [docstring_follows_the_template, parameters_are_declared]
    if _theirs(name) is not None and name != "Pipeline":  # which is made by steps alone
        held.append(parameters_are_those_of_scikit_learn)
    of_each(held, lambda holds: holds(name))


def docstring_follows_the_template(name: str) -> None:
    text = inspect.cleandoc(LEARNERS[name].__doc__ or "")
    first = text.splitlines()[0]
    assert first.startswith(f"{name}: ") and first.endswith(".")
    found = [line for line in text.splitlines() if line.startswith(tuple(SECTIONS))]
    order = [next(section for section in SECTIONS if line.startswith(section)) for line in found]
    assert order == SECTIONS, f"sections are {order}"
    for line in found[:6]:
        section = next(section for section in SECTIONS if line.startswith(section))
        assert line[len(section) :].strip(), f"{section} says nothing"
    assert re.search(r"\d{4}", next(line for line in found if line.startswith("Reference"))), "a reference has a year"
    examples = doctest.DocTestParser().get_examples(text)
    assert 3 <= len(examples) <= 8


def parameters_are_declared(name: str) -> None:
    cls = LEARNERS[name]
    names = list(inspect.signature(cls).parameters)
    assert names == list(domains(cls))
    for domain in domains(cls).values():
        assert len(domain.doc) > 5 and not domain.doc.endswith("."), f"{name}({domain.name}): {domain.doc!r}"
        if name != "Pipeline":
            assert domain.objection(domain.default) is None, f"the default of {domain.name} is outside its own domain"
        assert f"{domain.name}: " in (cls.__doc__ or "")


def parameters_are_those_of_scikit_learn(name: str) -> None:
    """Same names, same order where they may be given by place, same defaults; ours may have more."""
    theirs = inspect.signature(_theirs(name)).parameters
    ours = inspect.signature(LEARNERS[name]).parameters
    assert set(theirs) <= set(ours), f"missing: {set(theirs) - set(ours)}"
    for parameter in theirs.values():
        if parameter.name == "probability":  # theirs is about to go
            continue
        assert ours[parameter.name].default == parameter.default or (
            ours[parameter.name].default != ours[parameter.name].default and parameter.default != parameter.default
            if parameter.name not in ("dtype", "score_func")  # by name, as a file cannot hold a type or a function
            else ours[parameter.name].default == parameter.default.__name__
        ), f"{parameter.name} is {ours[parameter.name].default!r}, theirs {parameter.default!r}"
    by_place = [p.name for p in theirs.values() if p.kind is not p.KEYWORD_ONLY]
    assert [p.name for p in ours.values() if p.kind is not p.KEYWORD_ONLY][: len(by_place)] == by_place


@cache
def _all_theirs() -> dict[str, Any]:
    from sklearn.utils import all_estimators

    return dict(all_estimators())


def _theirs(name: str) -> Any:
    return _all_theirs().get(name)


@pytest.mark.filterwarnings("error")
def test_every_module_can_be_imported() -> None:
    for module in MODULES:
        importlib.import_module(module)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_examples(module: str) -> None:
    """Every example in every docstring runs and prints what it says."""
    failed, _ = doctest.testmod(importlib.import_module(module), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


# --- structure ----------------------------------------------------------------------------------------------


def test_layers() -> None:
    check = runpy.run_path(str(ROOT / "tools" / "check_layers"))
    assert check["violations"](PACKAGE) == []
    assert check["objection"]("core", "tenfold.solve.linalg", "") == "core is below solve"
    assert check["objection"]("linear", "tenfold.reduce.pca", "") == "families do not import one another"
    who = "__sklearn_tags__ and get_metadata_routing and router and routed"
    assert check["objection"]("linear", "sklearn.utils", "fit") == f"only {who} may"
    assert check["objection"]("selection", "tenfold.core.data", "") is None
    assert check["room_objection"](Path("selection/plan/plan.py"), "tenfold.selection.race.race") == "plan is below race"
    assert check["room_objection"](Path("selection/race/race.py"), "tenfold.selection.plan.plan") is None


def calls(tree: ast.AST, *names: str) -> list[ast.Call]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) in names]


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def test_one_gate() -> None:
    """Errors are ours; types and shapes of input are looked at in the gate; behind it nobody asks."""
    of_each(SOURCES, check_gate)
    assert set(LOOKS_ITSELF) <= {path.relative_to(PACKAGE).as_posix() for path in SOURCES}


BARE = ("ValueError", "TypeError", "RuntimeError", "Exception")
BEHIND_THE_GATE = (
    "linear", "nonlinear", "kernel_machines", "generative", "density", "neighbors", "cluster", "reduce", "manifold", "prepare", "features",
    "text", "tree", "solve", "near",
)  # fmt: skip
CLEAN = "makes another type of what the gate has let through"
OUTPUTS = "takes back what it has returned, of another width than the table: the gate knows the table alone"
KIND = "asks whether y is numbers or labels, to tell the gate which"
BEFORE = "takes what the gate does not: "
LOOKS_ITSELF = {  # files behind the gate that look at X, y or weights, and why
    "density/components.py": CLEAN,
    "density/copula.py": CLEAN,
    "density/mixtures.py": CLEAN,
    "neighbors/classify.py": "y beside the rows of the fit, which are not given again",
    "neighbors/learned_metric.py": CLEAN,
    "manifold/embedding.py": "which weights are 0, after the fit that has checked them",
    "kernel_machines/gaussian_classifier.py": CLEAN,
    "kernel_machines/pair_machine.py": CLEAN,
    "kernel_machines/svr.py": CLEAN,
    "tree/boosting/boosting.py": "tells rows in files from rows in memory, as the gate returns them",
    "tree/forest/forest.py": CLEAN,
    "tree/single/roles.py": CLEAN,
    "tree/structure/view.py": "nodes as scikit-learn's `tree_`, which code for theirs asks with plain arrays",
    "features/correlation.py": KIND,
    "features/univariate.py": KIND,
    "features/selector.py": OUTPUTS,
    "prepare/dates.py": BEFORE + "dates",
    "prepare/function.py": BEFORE + "whatever the function takes",
    "prepare/functions.py": "functions: axes, vectors and shapes, before a learner is asked",
    "prepare/gaps.py": BEFORE + "any mark of a missing value",
    "prepare/impute.py": OUTPUTS,
    "prepare/label_values.py": BEFORE + "labels alone",
    "prepare/power_curves.py": CLEAN,
    "prepare/prepare.py": BEFORE + "the name of a column",
    "prepare/table_rows.py": BEFORE + "tables as they are read",
    "text/counts.py": OUTPUTS,
    "text/hashing.py": BEFORE + "documents",
    "text/reading.py": BEFORE + "documents",
}  # fmt: skip


def check_gate(path: Path) -> None:
    text, place = path.read_text(encoding="utf-8"), path.relative_to(PACKAGE)
    behind = place.parts[0] in BEHIND_THE_GATE
    if not behind and not re.search(rf"\b({'|'.join(BARE)})\s*\(", text):
        return  # nothing to look for in it
    tree = ast.parse(text)
    raised = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]
    raw = [
        f"line {exc.lineno}"
        for exc in raised
        if isinstance(exc, ast.Call) and _called(exc) in BARE
    ]
    assert not raw, f"{path} raises a bare error in {raw}: use one of core.errors"
    if behind:
        looked = [
            f"line {call.lineno}"
            for call in calls(tree, "isinstance", "asarray")
            if call.args and getattr(call.args[0], "id", "") in ("X", "y", "sample_weight")
        ]
        if place.as_posix() in LOOKS_ITSELF:
            assert looked, f"{path} does not look at input: take it from LOOKS_ITSELF"
        else:
            assert not looked, f"{path} checks input behind the gate in {looked}"


def test_tolerances_are_named() -> None:
    """`assert_allclose(a, b, 4)` is a tolerance of 400 %: rtol and atol are keywords, and always there."""
    for path in TESTS:
        for call in calls(ast.parse(path.read_text(encoding="utf-8")), "assert_allclose", "allclose", "isclose"):
            names = {keyword.arg for keyword in call.keywords}
            assert len(call.args) <= 2 and names & {"rtol", "atol", None}, f"{path.name}, line {call.lineno}"


# --- the catalog --------------------------------------------------------------------------------------------

ROW = re.compile(
    r"^\| (?P<id>[A-Z]+\d+[a-z]?) \| (?P<what>[^|]+) \| (?P<names>[^|]+) "
    r"\| (?P<test>[^|]+) \| (?P<bench>[^|]+) \|$"
)


def catalog() -> list[dict[str, str]]:
    lines = (ROOT / "docs" / "catalog.md").read_text(encoding="utf-8").splitlines()
    lines = lines[: lines.index("## All learners")]
    rows = [line for line in lines if line.startswith("|") and not line.startswith(("| id", "|--"))]
    matches = [ROW.match(line) for line in rows]
    assert all(matches), f"not a row: {[row for row, match in zip(rows, matches, strict=True) if not match]}"
    return [match.groupdict() for match in matches if match]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_catalog_claims_what_exists() -> None:
    from bench.catalog import CATALOG

    rows = catalog()
    assert len({row["id"] for row in rows}) == len(rows), "an id occurs twice"
    for row in rows:
        where = f"{row['id']}: "
        for name in quoted(row["names"]):
            public = name.split("(")[0].split(".")[0].removeprefix("tenfold ").strip()
            if public in tenfold.NAMESPACES:
                assert name.split(".")[1] in getattr(tenfold, public).PUBLIC, where + name
            else:
                assert public in tenfold.PUBLIC or public in _commands(), where + name
        tests = quoted(row["test"])
        assert tests and all((ROOT / "tests" / test).is_file() for test in tests), where + row["test"]
        for workload in quoted(row["bench"]):
            assert workload in CATALOG, where + workload


def _commands() -> list[str]:
    """The subcommands of the command line."""
    return [name for commands in COMMANDS.values() for name, _, _ in commands]


def test_catalog_is_complete() -> None:
    whole = {name.split("(")[0] for row in catalog() for name in quoted(row["names"])}
    named = {name.split(".")[0] for name in whole}
    errors = {name for name in tenfold.PUBLIC if tenfold.PUBLIC[name] == "tenfold.core.errors"}
    text = (ROOT / "docs" / "catalog.md").read_text(encoding="utf-8")
    learners = set(re.findall(r"^\| `(\w+)` \|", text.partition("## All learners")[2], re.MULTILINE))  # generated
    assert not set(tenfold.PUBLIC) - errors - named - learners, "public names that docs/catalog.md does not mention"
    for space in tenfold.NAMESPACES:
        shown = "evaluate" if space == "score" else space  # scores stand in the catalog under evaluate, which has them all
        missing = {f"{shown}.{name}" for name in getattr(tenfold, space).PUBLIC if name not in tenfold.PUBLIC} - whole
        assert not missing, "names that no row of docs/catalog.md mentions"
