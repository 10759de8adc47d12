"""What `tenfold select` does around a run: notes, folders, pipes, clocks, rows kept apart, plain words."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.selection import job, search
from tenfold.selection.outcome import Outcome
from tenfold.selection.plan import plan
from tenfold.selection.race import checkpoint

Captured = pytest.CaptureFixture[str]
SELECT = ["select", "t.csv", "--target", "y", "--folds", "4"]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checkpoint, "EVERY", 0.0)
    shrink(monkeypatch, 5, (5,))
    table(120).write_csv("t.csv")


def table(rows: int, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    return pl.DataFrame({"x": x, "z": rng.normal(size=rows), "y": x + 0.3 * rng.normal(size=rows)})


def record(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(folder, "run.json").read_text())
    return found


def model(folder: str) -> bytes:
    return Path(folder, "model.tenfold").read_bytes()


def test_what_was_told_of_the_file_is_in_the_record_and_on_the_page(capsys: Captured) -> None:
    """Of lines that are too short nothing was left but a line on standard error."""
    lines = Path("t.csv").read_text().splitlines()
    Path("t.csv").write_text("\n".join([*lines[:-1], lines[-1].rsplit(",", 2)[0]]))
    said = f"'t.csv', line {len(lines)}: 1 field found, 3 expected as in the header; what is not there counts as missing"
    assert run(SELECT) == 0
    told = capsys.readouterr()
    assert f"  ! {said}" in told.out and f"tenfold: {said}" in told.err
    assert record("t.tenfold")["data"]["notes"] == [said]
    assert run(["report", "t.tenfold", "--markdown"]) == 0
    assert "1 field found, 3 expected" in Path("t.tenfold/report.html").read_text()
    assert "1 field found, 3 expected" in Path("t.tenfold/report.md").read_text()


def test_a_run_that_has_a_note_has_a_report_too(stop_after: Callable[[int | None], None], capsys: Captured) -> None:
    assert run([*SELECT, "--quiet"]) == 0
    assert run(["select", "t.csv", "--target", "x", "--folds", "4"]) == 0
    out = capsys.readouterr().out
    assert "so this run is saved in t-x.tenfold/" in out and "report.html" in out
    stop_after(40)
    assert run(SELECT) == 130
    assert "t.tenfold/ keeps its finished model" in capsys.readouterr().out
    for folder in ("t.tenfold", "t-x.tenfold", "t-stopped.tenfold"):
        assert Path(folder, "report.html").stat().st_size > 10_000


def test_a_run_that_goes_on_and_is_stopped_again_leaves_the_finished_one(stop_after: Callable[[int | None], None]) -> None:
    assert run([*SELECT, "--quiet"]) == 0
    before = model("t.tenfold")
    for units, command in ((20, SELECT), (40, ["resume", "t.tenfold"])):
        stop_after(units)
        assert run(command) == 130
        assert model("t.tenfold") == before and record("t.tenfold")["interrupted"] is False
        assert record("t-stopped.tenfold")["interrupted"] is True


def test_a_new_run_does_not_leave_the_race_of_an_earlier_one(stop_after: Callable[[int | None], None], monkeypatch: Any) -> None:
    stop_after(20)
    assert run(SELECT) == 130 and Path("t.tenfold.race").exists()

    def killed(*some: Any) -> None:
        raise SystemError

    for step, left in (("read_sample", True), ("make_folds", False)):  # before anything of it has begun, and after
        with monkeypatch.context() as patched:
            patched.setattr(job, step, killed)
            assert run([*SELECT, "--seed", "1"]) == 1 and Path("t.tenfold.race").exists() is left


def test_who_asks_to_resume_goes_on_or_begins(stop_after: Callable[[int | None], None], capsys: Captured) -> None:
    stop_after(20)
    assert run([*SELECT, "--resume", "--out", "a.tenfold"]) == 130  # there is nothing to go on with
    stop_after(None)
    assert run([*SELECT, "--seed", "1", "--resume", "--out", "a.tenfold"]) == 3
    assert "is of a run with other settings: tenfold resume a.tenfold goes on with those" in capsys.readouterr().err
    assert run([*SELECT, "--resume", "--out", "a.tenfold"]) == 0
    assert run(SELECT) == 0
    assert model("a.tenfold") == model("t.tenfold") and record("a.tenfold")["units"] == record("t.tenfold")["units"]


def test_a_run_is_reproduced_without_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run([*SELECT, "--time", "100", "--quiet"]) == 0
    left, work = list[float | None](), search.Deadline

    def watched(finish_early: bool, seconds: float | None) -> Any:
        left.append(seconds)
        return work(finish_early, seconds)

    monkeypatch.setattr(search, "Deadline", watched)
    assert run(["reproduce", "t.tenfold"]) == 0
    assert set(left) == {None}


def test_a_board_or_a_range_that_differs_is_told(capsys: Captured) -> None:
    assert run([*SELECT, "--quiet"]) == 0
    whole = record("t.tenfold")
    for change, words in (
        (dict(board=[dict(whole["board"][0], score=0.1), *whole["board"][1:]]), "the board is another"),
        (dict(estimate={name: dict(one, low=0.0) for name, one in whole["estimate"].items()}), "the estimate is another"),
    ):
        Path("t.tenfold", "run.json").write_text(json.dumps(whole | change))
        capsys.readouterr()
        assert run(["reproduce", "t.tenfold", "--json"]) == 1
        told = [json.loads(line) for line in capsys.readouterr().out.splitlines()][-1]
        assert told == dict(event="reproduced", same=False, model=whole["chosen"], different=[words])


def test_a_record_that_does_not_say_what_was_done_is_told_before_it_is_done_again(capsys: Captured) -> None:
    assert run(["fit", *SELECT[1:], "--model", "Ridge", "--quiet"]) == 0
    whole = record("t.tenfold")
    wrong = [{key: one for key, one in whole.items() if key != name} for name in ("settings", "prefer", "data", "interrupted", "numpy")]
    wrong += [whole | {name: 5} for name in ("asked", "board")] + [whole | dict(interrupted=True, units="many")]
    refused = [(one, "does not say what was done") for one in wrong] + [(whole | dict(settings=5), "holds no run that can be done again")]
    for one, words in refused:
        Path("t.tenfold", "run.json").write_text(json.dumps(one))
        assert run(["reproduce", "t.tenfold"]) == 3 and words in capsys.readouterr().err, (words, whole.keys() - one.keys())


def test_a_first_heat_that_is_stopped_goes_on_and_is_reproduced(
    stop_after: Callable[[int | None], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "SCREENED_ROWS", 500)
    monkeypatch.setattr(plan, "SCREENED", 300)
    table(600).write_csv("t.csv")
    assert run([*SELECT, "--quiet", "--out", "whole.tenfold"]) == 0
    stop_after(6)
    assert run(SELECT) == 130
    cut = record("t.tenfold")
    assert cut["heat"] is True and cut["units"] == 6 and Path("t.tenfold.race").exists()
    stop_after(None)
    assert run(["reproduce", "t.tenfold"]) == 0
    assert run(["resume", "t.tenfold", "--quiet"]) == 0
    assert model("t.tenfold") == model("whole.tenfold") and record("t.tenfold")["heat"] is False


def test_a_race_that_cannot_be_kept_goes_on(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    def full(path: str) -> Any:
        raise OSError(28, "No space left on device", path)

    monkeypatch.setattr(checkpoint, "replacing", full)
    assert run(SELECT) == 0
    assert "could not be kept while it ran, for tenfold resume: [Errno 28] No space left on device" in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="needs pipes")
@pytest.mark.parametrize("more", [[], ["--json"], ["--quiet"]])
def test_a_reader_who_goes_away_does_not_end_the_run(more: list[str]) -> None:
    script = (
        "import sys, pytest; from small_portfolio import shrink; shrink(pytest.MonkeyPatch(), 5, (5,))\n"
        "from tenfold.app.commands import run; sys.exit(run())"
    )
    env = dict(os.environ, PYTHONPATH=os.pathsep.join([str(Path(__file__).parent), *sys.path]))
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-c", script, *SELECT, *more], env=env, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"") and record("t.tenfold")["interrupted"] is False


def test_targets_that_are_stopped_show_what_they_came_to(stop_after: Callable[[int | None], None], capsys: Captured) -> None:
    both = ["select", "t.csv", "--target", "y,x", "--folds", "4"]
    assert run([*both, "--quiet"]) == 0
    stop_after(40)
    capsys.readouterr()
    assert run(both) == 130
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("  y  "))
    assert line.endswith("t-y-stopped.tenfold/")


def test_a_time_that_is_over_before_anything_is_fitted(capsys: Captured) -> None:
    assert run([*SELECT, "--time", "0.0001"]) == 5
    assert "HONEST ESTIMATE  none" in capsys.readouterr().out and model("t.tenfold")


def test_families_that_have_not_run_are_not_said_to_have_failed(stop_after: Callable[[int | None], None], capsys: Captured) -> None:
    stop_after(3)
    assert run(SELECT) == 130
    assert "failed" not in capsys.readouterr().out and "failed" not in [row["against"] for row in record("t.tenfold")["board"]]


def test_the_guess_alone_is_nothing_that_was_fitted(
    stop_after: Callable[[int | None], None], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    stop_after(1)
    assert run(SELECT) == 130
    assert "HONEST ESTIMATE  none" in capsys.readouterr().out and record("t.tenfold")["board"] == []
    assert run(["reproduce", "t.tenfold", "--quiet"]) == 0
    stop_after(None)
    assert run([*SELECT, "--quiet"]) == 0
    whole = model("t.tenfold")

    class Over(search.Deadline):
        """As at the end of the time."""

        def __exit__(self, *failure: Any) -> bool:
            self.over.set()
            return super().__exit__(*failure)

    monkeypatch.setattr(search, "Deadline", Over)
    stop_after(1)
    assert run([*SELECT, "--replace"]) == 5 and model("t.tenfold") == whole
    told = capsys.readouterr()
    assert "before there was anything to save" in told.out
    assert told.err == "tenfold: the time was over before anything was fitted: give more with --time\n"


def test_what_cannot_be_fitted_in_time_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Outcome, "fit_seconds", lambda self, mix: 1e6 * len(mix.weights))
    assert run([*SELECT, "--time", "100"]) == 0
    assert record("t.tenfold")["prefer"] != "best" and not Path("t.tenfold", "simple.tenfold").exists()
    assert run(["reproduce", "t.tenfold"]) == 0


def test_rows_kept_apart_judge_the_saved_model(capsys: Captured) -> None:
    table(300, seed=1).write_csv("apart.csv")
    assert run([*SELECT, "--holdout", "apart.csv"]) == 0
    out = capsys.readouterr().out
    assert "ROWS     apart.csv   300 rows with a value of 'y'" in out and "VERDICT  As promised" in out
    assert run(["estimate", "t.tenfold", "apart.csv"]) == 0
    judged = capsys.readouterr().out
    assert all(line in out for line in judged.splitlines())
    for name, frame, words in (
        ("t.csv", None, "--holdout t.csv: this is the table itself"),
        ("other.csv", table(9).rename({"y": "other"}), "no column 'y' in other.csv"),
    ):
        if frame is not None:
            frame.write_csv(name)
        assert run([*SELECT, "--holdout", name, "--out", "new.tenfold"]) in (2, 3)
        assert words in capsys.readouterr().err and not Path("new.tenfold").exists()


def test_plain_words_of_two_classes(capsys: Captured) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(1200, 2))
    label = np.where(x[:, 0] + rng.normal(size=1200) > 1, "left", "stayed")
    pl.DataFrame({"tenure": x[:, 0], "noise": x[:, 1], "y": label}).write_csv("t.csv")
    assert run([*SELECT, "--effort", "quick"]) == 0
    out = capsys.readouterr().out
    words = out[out.index("IN PLAIN WORDS") : out.index("SAVED")]
    held = pl.read_parquet("t.tenfold/held_out.parquet").sort("chance of left", descending=True, maintain_order=True)
    hits = (held["truth"][:100] == "left").sum()
    assert f"Of the 100 rows that it ranks highest, {hits} are left; of 100 by chance" in words
    assert "predictable" in words and "Most of it comes from tenure." in words


def test_fit_says_only_what_is_true_of_it(capsys: Captured) -> None:
    assert run(["fit", "t.csv", "--target", "y", "--model", "Ridge", "--folds", "4"]) == 0
    out = capsys.readouterr().out
    saved = next(line for line in out.splitlines() if line.startswith("SAVED"))
    assert all(Path("t.tenfold", name).exists() for name in saved.split()[5:] if "." in name) and "report.html" in saved
    assert run(["fit", "t.csv", "--target", "y", "--model", "ExtraTrees", "--set", "n_estimators=5", "--seed", "3", "--replace"]) == 0
    assert "MODEL    ExtraTreesRegressor(n_estimators=5), 5 folds" in capsys.readouterr().out
    assert run(["reproduce", "t.tenfold", "t.csv"]) == 0
    assert "bit for bit" in capsys.readouterr().out


def leaking(rows: int = 150) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    x = rng.normal(size=rows)
    left = x + rng.normal(size=rows) > 0
    refund = np.where(left, rng.uniform(1, 2, size=rows), rng.uniform(0, 0.9, size=rows))
    return pl.DataFrame({"x": x, "refund date": refund, "y": np.where(left, "left", "stayed")})


def test_a_column_that_gives_the_target_away_is_left_out_unless_somebody_vouches_for_it(capsys: Captured) -> None:
    leaking().write_csv("t.csv")
    assert run(SELECT) == 0
    out = capsys.readouterr().out
    assert "STOP?    Column refund date alone predicts the target almost perfectly (AUC 1.000)." in out
    assert "(--keep 'refund date' if it is known at prediction time)" in out
    without = record("t.tenfold")
    assert without["leaks"] == ["refund date"] and without["estimate"]["accuracy"]["value"] < 0.9
    assert [one["kind"] for one in without["columns"]] == ["number", "leak"]
    assert run(["predict", "t.tenfold", "t.csv", "--out", "said.csv"]) == 0
    assert run([*SELECT, "--keep", "refund date"]) == 0
    out = capsys.readouterr().out
    assert "If it is filled in after the outcome, run again with --drop 'refund date'" in out
    assert record("t.tenfold")["leaks"] == [] and record("t.tenfold")["estimate"]["accuracy"]["value"] > 0.95


def test_where_every_column_gives_the_target_away_all_are_used(capsys: Captured) -> None:
    leaking().select("refund date", "y").write_csv("t.csv")
    assert run(SELECT) == 0
    assert record("t.tenfold")["leaks"] == [] and "run again with --drop" in capsys.readouterr().out


def test_a_leak_is_a_warning_in_python_and_no_matter_to_the_estimator() -> None:
    frame = leaking()
    with pytest.warns(tenfold.DataWarning, match="'refund date' alone predicts the target almost perfectly .*keep="):
        found = tenfold.select(frame, "y", effort="quick", folds=3)
    assert found.model.columns == ["x"]
    model = tenfold.Select(effort="quick", folds=3).fit(frame.drop("y"), frame["y"])
    assert "refund date" in model.model_.columns


def test_a_target_that_is_not_there(capsys: Captured) -> None:
    assert run(["select", "t.csv", "--target", "gone"]) == 2
    told = capsys.readouterr()
    assert "there is no column 'gone'" in told.err and told.err.count("\n") == 1 and "READ" not in told.out
