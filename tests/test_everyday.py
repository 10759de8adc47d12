"""Everyday scripts of users of scikit-learn: each runs as it is, and again with only the imports changed, and says the same.

A script of tests/everyday leaves a dict `result`; `rtol` and `atol`, where it sets them, are how near the two must be (the default is
1e-7 relative; what draws at random is compared loosely).
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenfold

SCRIPTS = sorted((Path(__file__).parent / "everyday").glob("*.py"))
WHERE = {name: f"tenfold.{space}" for space in ("score", "evaluate") for name in getattr(tenfold, space).PUBLIC}
WHERE |= {name: "tenfold" for name in tenfold.PUBLIC}


def changed(text: str) -> tuple[str, list[str]]:
    """The script with each import from scikit-learn that Tenfold can serve changed, and the names that were."""
    tree, ours = ast.parse(text), list[str]()
    body: list[ast.stmt] = []
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom) or not str(node.module).startswith("sklearn"):
            body.append(node)
            continue
        for one in node.names:
            place = WHERE.get(one.name, str(node.module))
            ours += [one.name] if place.startswith("tenfold") else []
            body.append(ast.ImportFrom(place, [one], 0))
    return ast.unparse(ast.fix_missing_locations(ast.Module(body, []))), ours


def run(text: str, name: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), space)
    return space


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_only_the_import_changes(script: Path) -> None:
    text = script.read_text()
    translated, ours = changed(text)
    assert ours, "the script uses nothing that Tenfold has"
    theirs, mine = run(text, script.name), run(translated, script.name)
    assert mine["result"].keys() == theirs["result"].keys()
    for key, expected in theirs["result"].items():
        found, expected = np.asarray(mine["result"][key]), np.asarray(expected)
        if expected.dtype.kind == "f":
            near = {"rtol": theirs.get("rtol", 1e-7), "atol": theirs.get("atol", 1e-12)}
            np.testing.assert_allclose(found, expected, **near, err_msg=key)
        else:
            np.testing.assert_array_equal(found, expected, err_msg=key)


def test_there_are_scripts_for_every_day() -> None:
    assert len(SCRIPTS) >= 40
    served = {name for script in SCRIPTS for name in changed(script.read_text())[1]}
    assert {"Pipeline", "GridSearchCV", "StackingRegressor", "ColumnTransformer", "cross_val_score", "make_scorer"} <= served
