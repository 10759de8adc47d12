"""The comparison with other tools: its splits, its judgement, its file and its page, on results made up; no other tool is run."""

from __future__ import annotations

import gzip
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss, root_mean_squared_error

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # last, so that the installed package wins over the sources beside it

from bench.rivals import machine, results, summary  # noqa: E402
from bench.rivals.__main__ import main  # noqa: E402
from bench.rivals.split import apart, guess, judged, losses, split  # noqa: E402


def written(folder: Path, name: str, target: list[Any]) -> Path:
    rows = [f"{k % 7},{'' if k % 5 == 0 else 'abc'[k % 3]},{one}" for k, one in enumerate(target)]
    path = folder / f"{name}.csv.gz"
    path.write_bytes(gzip.compress("\n".join(["x,word,target", *rows, ""]).encode()))
    return path


def test_a_split_has_every_class_its_share_and_is_the_same_twice(tmp_path: Path) -> None:
    path = written(tmp_path, "some", ["a"] * 70 + ["b"] * 20 + ["c"] * 2 + ["d"])
    one, again, other = split(path, 0), split(path, 0), split(path, 1)
    counts = one.train["target"].value_counts()
    assert dict(counts) == {"a": 49, "b": 14, "c": 1, "d": 1} and len(one.test) == 28  # a class of one row stays for training
    assert one.train.equals(again.train) and not one.train.equals(other.train)
    assert one.metric == "log_loss" and "target" not in one.test
    numbers = split(written(tmp_path, "numbers", [k / 3 for k in range(50)]), 0)
    assert numbers.classes is None and len(numbers.test) == 15 and numbers.train["x"].dtype == np.int64
    assert split(written(tmp_path, "digits", list(range(5)) * 10), 0).metric == "log_loss"  # classes that are written as numbers


def test_errors_are_those_of_scikit_learn(tmp_path: Path) -> None:
    found = split(written(tmp_path, "some", ["no", "yes", "no", "perhaps"] * 20), 3)
    shares = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], len(found.test))
    error, spread = judged(found, losses(found, shares[:, ::-1], ["yes", "perhaps", "no"]))
    assert error == pytest.approx(log_loss(found.truth, shares, labels=["no", "perhaps", "yes"]), rel=1e-3)
    assert spread == pytest.approx(losses(found, shares[:, ::-1], ["yes", "perhaps", "no"]).std(ddof=1) / np.sqrt(len(shares)))
    assert np.isfinite(losses(found, np.ones((len(found.test), 1)), ["no"])).all()  # a tool that knows one class only
    assert judged(found, losses(found, *guess(found)))[0] == pytest.approx(1.04, abs=0.02)
    numbers = split(written(tmp_path, "numbers", [k / 3 for k in range(50)]), 0)
    answers = np.arange(15.0)
    assert judged(numbers, losses(numbers, answers))[0] == pytest.approx(root_mean_squared_error(numbers.truth, answers), rel=1e-9)


def line(tool: str, table: str, error: float | None, k: int = 0, **more: Any) -> dict[str, Any]:
    said = dict(tool=tool, table=table, split=k, seconds=60.0, error=error, guess=2.0, standard_error=0.1, failure=None, busy=False)
    told = dict(reported=error, low=None, high=None, rows=100, metric="rmse", wall=61.0, fit_seconds=60.0, predict_seconds=0.1)
    return said | told | dict(version="1.0") | more


def test_ranks_gains_and_failures() -> None:
    lines = [line("tenfold", "a", 1.0), line("flaml", "a", 1.0), line("tenfold", "a", 1.0, 1), line("flaml", "a", 1.5, 1)]
    lines += [line("tenfold", "b", 1.2), line("flaml", "b", None, failure="not over", guess=None), line("tenfold", "c", 9.0)]
    lines += [line("flaml", "c", 1.0, busy=True)]  # does not count, so c is left out
    tools = ["tenfold", "flaml"]
    cells, partly = summary.complete(lines, tools)
    assert list(cells) == [("a", 0), ("a", 1), ("b", 0)] and partly == 1
    errors = summary.errors_of(cells, tools)
    np.testing.assert_allclose(summary.ranks(errors), [[1.25, 1.75], [1.0, 2.0]], rtol=1e-12)
    ratio, lost = summary.beside_best(errors)
    np.testing.assert_allclose(ratio, [[1.0, 1.5**0.5], [1.0, 2.0 / 1.2]], rtol=1e-12)
    np.testing.assert_allclose(lost, [[0.0, 0.25], [0.0, 1.0]], atol=1e-12)
    page = summary.written(lines, tools)
    assert "| tenfold | 1.0 | 1.12 | 100% |" in page and "flaml, b, split 0: not over" in page and "1 of 3" in page
    assert "No table" in summary.written(lines[-2:], tools)


def test_what_is_said_of_copies_is_held_against_the_rows_that_it_is_for(tmp_path: Path) -> None:
    found = split(written(tmp_path, "some", ["a", "b"] * 30), 0)  # of 60 rows 35 are different ones
    known = set(found.train[["x", "word"]].fillna("").itertuples(index=False, name=None))
    seen = [row in known for row in found.test[["x", "word"]].fillna("").itertuples(index=False, name=None)]
    assert apart(found).tolist() == [not one for one in seen] and 0 < apart(found).sum() < len(seen)
    alone = dict(error=1.5, standard_error=0.1, rows=20)
    twice: Any = dict(low=1.4, high=1.6, copied=dict(value=1.1, low=1.0, high=1.2), apart=alone)
    lines = [line("tenfold", "a", 1.0, reported=1.5, **twice), line("tenfold", "b", 2.0, low=1.9, high=2.1, copied=None, apart=alone)]
    told = dict(summary.by_copies("tenfold", lines))
    assert [len(one) for one in told.values()] == [2, 1, 1] and not summary.by_copies("flaml", [line("flaml", "a", 1.0)])
    counted, alone_there, with_copies = told.values()
    assert [one["reported"] for one in counted] == [1.1, 2.0] and [summary.covered(one) for one in counted] == [True, True]
    assert summary.biases(alone_there)["a"][0] == 0.0 and summary.biases(with_copies)["a"][0] == pytest.approx(0.1)
    assert not summary.covered(lines[0]) and "tenfold: copies counted | 2 | +5.0%" in summary.written(lines, ["tenfold"])


def test_leads_are_counted_by_splits_and_weighed_by_tables() -> None:
    errors = [("a", 0, 1.0, 2.0), ("a", 1, 1.0, 0.5), ("b", 0, 1.0, 3.0), ("b", 1, 1.0, 1.0)]
    lines = [line(tool, table, e, k) for table, k, *both in errors for tool, e in zip(("tenfold", "flaml"), both, strict=True)]
    cells, _ = summary.complete(lines, ["tenfold", "flaml"])
    found = summary.leads(summary.errors_of(cells, ["tenfold", "flaml"]))
    assert found == [(2, 1, pytest.approx(0.25), pytest.approx(0.25))]  # ahead by 0 on table a and by 1/2 on b
    assert "| flaml | 2 | 1 | +0.25 ± 0.25 |" in summary.written(lines, ["tenfold", "flaml"])


def test_remarks_are_kept_when_a_page_is_made_again() -> None:
    page = "# Page\n\nfigures"
    assert summary.with_remarks(page, "") == page == summary.with_remarks(page, "# Page\n\nold figures\n")
    remarked = summary.with_remarks(page, "# Page\n\nold figures\n\n## Remarks\n\nOf luck.\n")
    assert remarked == "# Page\n\nfigures\n\n## Remarks\n\nOf luck."
    assert summary.with_remarks("# New", remarked) == "# New\n\n## Remarks\n\nOf luck."


def test_a_range_covers_with_the_error_of_the_test_rows() -> None:
    inside = dict(reported=1.0, low=0.9, high=1.2, standard_error=0.1)
    for error, held in ((1.15, True), (1.27, True), (1.29, False), (0.79, True), (0.77, False)):
        assert summary.covered(line("tenfold", "a", error, **inside)) is held  # 1.96 * 0.1 in quadrature with 0.2 above, 0.1 below
    assert summary.covered(line("flaml", "a", 1.0)) is None


def test_bias_is_that_of_a_table_over_its_splits() -> None:
    lines = [line("flaml", "a", 2.0, reported=1.5), line("flaml", "a", 1.0, 1, reported=1.2), line("flaml", "a", 1.0, 2, failure="no")]
    lines += [line("flaml", "b", 4.0, reported=5.0, rows=900)]
    assert summary.biases(lines) == {"a": (pytest.approx(-0.1), True), "b": (pytest.approx(0.25), False)}


def test_the_file_is_added_to_and_the_last_line_that_counts_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results"
    path.write_text('{"tool": "flaml", "tab')  # of a run that was killed
    for error, busy in ((1.0, True), (2.0, False), (3.0, True)):
        results.add(path, line("flaml", "a", error, busy=busy))
    assert [one["error"] for one in results.read(path).values()] == [2.0]
    assert results.read(tmp_path / "none") == {}


def test_a_run_is_one_process_and_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, "some", ["a", "b", "b"] * 20)
    command = ["rivals", "run", "--data", str(tmp_path), "--results", str(tmp_path / "out"), "--even-busy", "--splits", "0"]
    monkeypatch.setattr(sys, "argv", [*command, "--tools", "guess"])
    main()
    (found,) = results.read(tmp_path / "out").values()
    assert found["error"] == found["guess"] == pytest.approx(0.6365, abs=1e-3) and found["failure"] is None
    results.add(tmp_path / "out", found | dict(busy=False))
    before = (tmp_path / "out").read_text()
    main()
    assert (tmp_path / "out").read_text() == before  # what counts is not run again
    monkeypatch.setattr(sys, "argv", [*command, "--tools", "flaml", "--python", f"flaml={sys.executable}"])
    if importlib.util.find_spec("flaml") is None:
        with pytest.raises(SystemExit, match="cannot import flaml"):  # not a failure of the tool
            main()
    assert (tmp_path / "out").read_text() == before


def test_work_of_others_is_told_from_that_of_a_run() -> None:
    busy = "import time; end = time.process_time() + 0.8\nwhile time.process_time() < end: pass"
    with machine.Watch([0, 1], "mine") as watch:
        subprocess.run([sys.executable, "-c", busy], env={machine.MARK: "mine"}, check=True)
    assert watch.seconds > 0.7 and 0.0 <= watch.others <= 1.0
    assert sum(watch.seen.values()) > 0.1  # found by its mark
