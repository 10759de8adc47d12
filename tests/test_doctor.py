"""tenfold models, data and doctor: what they list is what there is, and what is wrong is said."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tenfold
from tenfold.app import doctor
from tenfold.app.commands import run
from tenfold.app.learners import learners, parameters, value_of

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_every_learner_is_listed_with_a_line(capsys: Captured) -> None:
    assert run(["models", "--json"]) == 0
    told = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert {"Ridge", "RandomForestClassifier", "Prepare", "KMeans", "GridSearchCV"} <= set(told)
    assert all(one["says"] and one["family"] for one in told.values())
    assert run(["models", "--for", "numbers"]) == 0
    out = capsys.readouterr().out
    assert "Ridge" in out and "GaussianNB" not in out and "Linear models" in out


def test_the_parameters_are_those_of_the_class(capsys: Captured) -> None:
    for name, kind in learners().items():
        assert run(["models", name, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert [one["name"] for one in told["parameters"]] == [one.name for one in parameters(kind)]
    assert run(["models", "ridge"]) == 0
    out = capsys.readouterr().out
    assert "Ridge   regressor" in out and re.search(r"alpha = 1\.0 +penalty", out) and "--model Ridge --set alpha=1.0" in out
    assert run(["models", "randomforest"]) == 0  # as fit takes it
    out = capsys.readouterr().out
    assert "RandomForestClassifier   classifier" in out and "RandomForestRegressor   regressor" in out
    assert run(["models", "RandomForest", "--json"]) == 0
    assert {one["name"] for one in json.loads(capsys.readouterr().out)} == {"RandomForestClassifier", "RandomForestRegressor"}
    assert run(["models", "Rigde"]) == 2 and "did you mean Ridge" in capsys.readouterr().err


def test_lines_fit_a_terminal(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    from tenfold.app import models

    monkeypatch.setattr(models, "terminal_width", lambda out: 80)
    for arguments in (["models"], ["models", "LogisticRegression"], ["models", "HistGradientBoostingClassifier"]):
        assert run(arguments) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(len(line) for line in lines if "tenfold fit" not in line) <= 80  # a command to be copied is never broken


def test_values_as_they_are_typed() -> None:
    assert [value_of(one) for one in ("3", "0.5", "true", "None", "sqrt", "[1, 2]", "1e-3", "__import__('os')")] == [
        3, 0.5, True, None, "sqrt", [1, 2], 1e-3, "__import__('os')",
    ]  # fmt: skip


def test_a_table_that_is_included(capsys: Captured) -> None:
    assert run(["data"]) == 0 and "penguins   344 rows x 8 columns   target species" in capsys.readouterr().out
    assert run(["data", "penguins"]) == 0 and pl.read_csv("penguins.csv").height == 344
    assert "tenfold select penguins.csv --target species" in capsys.readouterr().out
    assert run(["data", "penguins"]) == 3 and "exists already" in capsys.readouterr().err
    assert run(["data", "iris"]) == 2 and "there are penguins" in capsys.readouterr().err


def test_a_table_is_written_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", no_space)
        assert run(["data", "penguins"]) == 3
        assert "penguins.csv: cannot be written (No space left on device): free some space" in capsys.readouterr().err
        assert not list(Path().iterdir())
    assert run(["data", "penguins"]) == 0


def no_space(number: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_doctor_finds_all_in_order() -> None:
    done = subprocess.run([sys.executable, "-m", "tenfold.app.cli", "doctor"], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == len(doctor.CHECKS) and all(line.startswith("ok ") for line in lines)


def test_the_doctor_knows_every_compiled_module() -> None:
    sources = Path(__file__).resolve().parents[1] / "src"
    assert sorted(doctor.COMPILED) == sorted(path.stem.removeprefix("bind_") for path in sources.glob("bind_*.cpp"))


def test_the_doctor_says_what_is_wrong(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = tenfold.LinearRegression.fit

    def bent(self: Any, *given: Any) -> Any:
        found = fit(self, *given)
        found.coef_ = found.coef_ * (1 + 1e-3)
        return found

    monkeypatch.setattr(tenfold.LinearRegression, "fit", bent)
    monkeypatch.setattr(doctor, "memory", lambda: (1e6, 1e9))
    assert run(["doctor"]) == 1
    out = capsys.readouterr().out
    assert "WRONG  numbers    polynomial: off by" in out and "WRONG  memory" in out
    assert run(["doctor", "--json"]) == 1
    assert {one["check"]: one["ok"] for one in json.loads(capsys.readouterr().out)}["models"] is True


def test_the_certified_values_are_right() -> None:
    """The closed forms of the self-test, by exact arithmetic."""
    from fractions import Fraction

    u, v = [1, 2, 4], [2, 3, 7]
    assert Fraction(sum(a * b for a, b in zip(u, v, strict=True)), sum(a * a for a in u) + 3) == Fraction(36, 24)
    scores = [(0.1, 0), (0.4, 0), (0.35, 1), (0.8, 1), (0.9, 1)]
    pairs = [(a > b) for a, up in scores if up for b, down in scores if not down]
    assert Fraction(sum(pairs), len(pairs)) == Fraction(5, 6) and np.isclose(np.std([1, 2, 3]), np.sqrt(2 / 3), rtol=1e-15)
