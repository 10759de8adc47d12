"""The documents: their code runs as it stands, and the files they name exist."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import matplotlib
import numpy as np
import polars as pl
import pytest
from laws import LAWS, SAYS, Place, Table, applies
from sklearn.datasets import load_iris
from small_portfolio import shrink

import tenfold

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def block(page: str, language: str, place: int = 0) -> str:
    """A code block of this language, the first if nothing else is said."""
    return (ROOT / page).read_text(encoding="utf-8").split(f"```{language}\n")[place + 1].split("```")[0]


@pytest.fixture
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """The files that the documents speak of, in the working folder."""
    monkeypatch.chdir(tmp_path)
    shrink(monkeypatch, 5, (5,))
    matplotlib.use("Agg")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    frame = pl.DataFrame({"size": x[:, 0], "age": x[:, 1], "price": x @ [2.0, 1.0] + rng.normal(size=200)})
    frame[:80].write_parquet("part0.parquet")
    frame[80:].write_parquet("part1.parquet")
    frame = frame.with_columns(street=pl.Series([["elm", "oak", None][i % 3] for i in range(200)]))
    frame.write_csv("houses.csv")
    frame.drop("price").write_csv("new.csv")
    frame.rename({"price": "churned"}).write_csv("churn.csv")
    return frame


def test_the_tour_of_the_readme(tables: pl.DataFrame, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = tables.select("size", "age").to_numpy(), tables["price"].to_numpy()
    exec(block("README.md", "python"), {"X": X, "y": y, "frame": tables.drop("price")})
    assert "10 folds" in capsys.readouterr().out
    assert tenfold.load("price.tenfold").predict("houses.csv").shape == (200,)


def test_select_in_python(tables: pl.DataFrame) -> None:
    text = (ROOT / "docs" / "select.md").read_text(encoding="utf-8").split("In Python:\n")[1].split("\n| command")[0]
    known = {"frame": tables.drop("price")}
    exec(textwrap.dedent(text).replace("; run.predict_proba(frame)", "; run.predict(frame)"), known)  # of numbers
    assert known["run"].estimate.low < known["run"].estimate.value < known["run"].estimate.high
    assert Path("churn.tenfold/model.tenfold").exists()


def test_bayes_rule_over_densities() -> None:
    iris = load_iris()
    known = {"X": iris.data, "y": iris.target_names[iris.target]}
    exec(block("docs/densities.md", "python"), known)
    exec(block("docs/densities.md", "python", 1), known)
    assert known["rows"].shape == (5, 4) and set(known["labels"]) == {"versicolor"}
    virginica = known["y"] == "virginica"
    assert (known["dear"].predict(iris.data) == "virginica")[virginica].all() and known["found"][virginica].mean() > 0.9
    assert "rejected" in known["careful"].predict(iris.data)


REGISTERED = ("round_trips", "saved")  # laws of learners that have a number in saved files


@pytest.mark.parametrize(("place", "name"), [(0, "Centerer"), (1, "LeastMeanSquares")])
def test_the_learners_of_contributing_obey_all_laws(place: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("tenfold.reduce.center")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(block("CONTRIBUTING.md", "python", place), vars(module))
    learner = getattr(module, name)()
    laws = [law for law in LAWS if applies(law, learner) and law not in (*learner.exempt, *REGISTERED)]
    assert len(laws) > 12
    for law in laws:
        in_memory = law in SAYS and law != "bounded_memory"
        LAWS[law](learner, Table.of(learner), Place(tenfold.Local()) if in_memory else Place(tenfold.Threads(2), rows=3))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([\w./-]+\.\w+)\)", text)
    paths = re.findall(
        r"`((?:tenfold/|core/|base/|gate/|solve/|saved/|sources/|tests/|src/|bench/|docs/|tools/|\.ci/)[\w./]+)`", text
    )
    missing = [name for name in links if not (page.parent / name).exists()]
    paths = [path for path in paths if "NAME" not in path]
    missing += [name for name in paths if not any((ROOT / start / name).exists() for start in ("", "tenfold"))]
    assert not missing
