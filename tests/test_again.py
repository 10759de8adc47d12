"""Runs of `tenfold select` that are stopped, killed, resumed and reproduced."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

from tenfold.app.commands import run
from tenfold.selection import checkpoint
from tenfold.selection.race import Race

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    shrink(monkeypatch, 5, (5,))
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    pl.DataFrame({"x": x, "z": rng.normal(size=120), "y": x + 0.3 * rng.normal(size=120)}).write_csv("t.csv")


@pytest.fixture
def stop_after(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """The next runs are interrupted after so many units."""
    work = Race._unit

    def arrange(units: int | None) -> None:
        def unit(self: Race, number: int, held: Any) -> None:
            if len(self.done) == units:
                raise KeyboardInterrupt
            work(self, number, held)

        monkeypatch.setattr(Race, "_unit", unit)

    return arrange


def model(folder: str) -> bytes:
    return Path(folder, "model.tenfold").read_bytes()


@pytest.mark.parametrize("units", [1, 17, 60])
def test_a_stopped_run_goes_on_and_ends_as_if_nothing_had_happened(
    units: int, stop_after: Callable[[int | None], None], capsys: Captured
) -> None:
    arguments = ["select", "t.csv", "--target", "y", "--folds", "4", "--quiet"]
    assert run([*arguments, "--out", "whole.tenfold"]) == 0
    assert not Path("whole.tenfold.race").exists()
    stop_after(units)
    assert run(arguments) == 130 and Path("t.tenfold.race").exists()
    stop_after(None)
    assert run(["resume", "t.tenfold", "--quiet"]) == 0
    assert model("t.tenfold") == model("whole.tenfold") and not Path("t.tenfold.race").exists()
    records = [json.loads(Path(one, "run.json").read_text()) for one in ("t.tenfold", "whole.tenfold")]
    for name in ("estimate", "chosen", "units", "trace", "search"):
        assert records[0][name] == records[1][name], name
    capsys.readouterr()
    assert run(["resume", "t.tenfold"]) == 3 and "only a run that was stopped" in capsys.readouterr().err


def test_a_race_of_another_table_is_refused(stop_after: Callable[[int | None], None], capsys: Captured) -> None:
    stop_after(3)
    assert run(["select", "t.csv", "--target", "y", "--folds", "4", "--quiet"]) == 130
    stop_after(None)
    text = Path("t.csv").read_text()
    Path("t.csv").write_text(text.replace(text.splitlines()[1], "0.5,0.5,0.5"))
    assert run(["resume", "t.tenfold"]) == 3
    assert "t.csv has changed since the run was stopped" in capsys.readouterr().err
    Path("t.csv").write_text(text)
    for content in (b"", b"PK\x03\x04nonsense", Path("t.tenfold.race").read_bytes()[:-200]):
        Path("t.tenfold.race").write_bytes(content)
        assert run(["resume", "t.tenfold"]) == 3
        assert capsys.readouterr().err.count("\n") == 1


def test_a_run_is_reproduced_to_the_bit(stop_after: Callable[[int | None], None], capsys: Captured) -> None:
    assert run(["select", "t.csv", "--target", "y", "--folds", "4", "--quiet"]) == 0
    assert run(["reproduce", "t.tenfold"]) == 0
    assert "bit for bit" in capsys.readouterr().out
    stop_after(20)
    assert run(["select", "t.csv", "--target", "y", "--folds", "4", "--quiet", "--out", "cut.tenfold"]) == 130
    stop_after(None)
    assert run(["reproduce", "cut.tenfold"]) == 0  # ends after the same unit of work
    with open("t.csv", "a") as file:
        file.write("0,0,0\n")
    capsys.readouterr()
    assert run(["reproduce", "t.tenfold"]) == 1
    assert capsys.readouterr().out.startswith("DIFFERS  the table has changed")
    Path("t.csv").rename("elsewhere.csv")
    assert run(["reproduce", "t.tenfold"]) == 3
    assert "tenfold reproduce t.tenfold path/to/t.csv" in capsys.readouterr().err
    assert run(["reproduce", "t.tenfold", "elsewhere.csv"]) == 1


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_killed_run_goes_on() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(700, 3))
    pl.DataFrame({**{f"x{j}": X[:, j] for j in range(3)}, "y": X[:, 0] * X[:, 1] + rng.normal(size=700)}).write_csv("k.csv")
    script = (
        "import sys; from tenfold.selection import checkpoint; checkpoint.EVERY = 0\n"
        "from tenfold.app.commands import run; sys.exit(run())"
    )
    arguments = ["select", "k.csv", "--target", "y", "--effort", "quick", "--quiet"]
    process = subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(600):
        if Path("k.tenfold.race").exists() or process.poll() is not None:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert Path("k.tenfold.race").exists() and not Path("k.tenfold").exists()
    done = subprocess.run([sys.executable, "-c", script, "resume", "k.tenfold", "--quiet"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    whole = [sys.executable, "-c", script, *arguments, "--out", "whole.tenfold"]
    assert subprocess.run(whole, capture_output=True, check=False).returncode == 0
    assert model("k.tenfold") == model("whole.tenfold")
