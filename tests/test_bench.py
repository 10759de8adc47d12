"""The benchmark measures what it says: one tiny race end to end, and its arithmetic on made-up rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # last, so that the installed package wins over the sources beside it

from bench import large_csv, race, small, streaming  # noqa: E402
from bench.judge import judge  # noqa: E402
from bench.linear import OLS, RIDGE_CV  # noqa: E402
from bench.measure import MEGABYTE, Meter, peak_growth, sampled_peak  # noqa: E402
from bench.plan import Contender, Judgement, Options, Report, Row  # noqa: E402
from bench.report import findings_table, rows_table, seconds  # noqa: E402

PEER = "sklearn LinearRegression"


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=100
    )


def test_a_race_measures_both_sides_and_their_ratio(tmp_path: Path) -> None:
    out, page = tmp_path / "out.json", tmp_path / "out.md"
    done = bench("--only", "ols", "--shrink", "50", "--peer", PEER, "--json", str(out), "--md", str(page))
    assert done.returncode == 0, done.stdout + done.stderr
    measured = json.loads(out.read_text())
    ours, theirs = measured["rows"]
    assert (ours["who"], theirs["who"]) == ("tenfold LinearRegression", PEER)
    assert ours["quality"]["R2"] == pytest.approx(theirs["quality"]["R2"], rel=1e-9)
    assert ours["repeats"] >= 3 and theirs["repeats"] >= 3
    assert ours["ratio"] == theirs["fit_s"] / ours["fit_s"]
    assert min(ours["fit_s"], theirs["fit_s"], ours["predict_s"]) > 0
    assert theirs["memory_mb"] >= 4000 * 100 * 8 / MEGABYTE  # scikit-learn copies the table
    assert {finding["target"] for finding in measured["findings"]} == {">= 1", "< 0.5"}
    assert page.read_text().count("| ols") >= 4
    assert measured["machine"]["versions"]["tenfold"] != "not installed"


def test_an_unknown_workload_is_refused_with_the_known_ones() -> None:
    done = bench("--only", "olz")
    assert done.returncode == 2
    assert "'olz'" in done.stderr and "ridge_cv" in done.stderr


def made_up(who: str, library: str, role: str, fit_s: float, quality: float, memory_mb: float | None) -> Row:
    return Row("ols", who, library, role, fit_s=fit_s, quality={"R2": quality}, memory_mb=memory_mb)  # type: ignore[arg-type]


def test_ratios_are_against_the_fastest_peer_and_references_do_not_count() -> None:
    report = Report(
        [
            made_up("tenfold", "tenfold", "tenfold", 2.0, 0.5, 10.0),
            made_up("sklearn", "sklearn", "peer", 8.0, 0.5, 100.0),
            made_up("other", "other", "peer", 3.0, 0.5, 1.0),
            made_up("shortcut", "sklearn", "reference", 0.1, 0.5, 0.0),
        ]
    )
    judge(OLS, report)
    assert report.rows[0].ratio == 1.5
    assert report.rows[0].memory_ratio == 0.1
    assert [finding.met for finding in report.findings] == [True, True]


def test_a_fast_but_worse_result_misses_its_target() -> None:
    report = Report(
        [
            made_up("tenfold", "tenfold", "tenfold", 1.0, 0.49, 1.0),
            made_up("sklearn", "sklearn", "peer", 8.0, 0.5, 100.0),
        ]
    )
    judge(OLS, report)
    assert report.findings[0].met is False and "R2 is worse" in report.findings[0].text


def test_a_busy_machine_makes_a_ratio_doubtful() -> None:
    report = Report(
        [
            made_up("tenfold", "tenfold", "tenfold", 1.0, 0.5, None),
            made_up("sklearn", "sklearn", "peer", 8.0, 0.5, None),
        ]
    )
    report.rows[1].busy = 0.6
    judge(OLS, report)
    assert [finding.doubtful for finding in report.findings] == [True]
    assert "met? busy machine" in findings_table(report.findings)
    assert "others used 60% of the machine" in rows_table(report.rows)


@pytest.mark.parametrize(("path_s", "met"), [(0.19, True), (0.21, False)])
def test_own_cost_is_a_multiple_of_one_fit(path_s: float, met: bool) -> None:
    report = Report(
        [
            made_up("tenfold validation_path(Ridge)", "tenfold", "tenfold", path_s, 0.5, None),
            made_up("tenfold Ridge, one fit", "tenfold", "reference", 0.1, 0.5, None),
        ]
    )
    judge(RIDGE_CV, report)
    assert [finding.met for finding in report.findings] == [met]


def test_quality_is_compared_in_the_right_direction_and_nan_is_worse() -> None:
    loss, gain = Judgement("f", higher=False, tolerance=0.01), Judgement("f", higher=True, tolerance=0.01)
    assert loss.worse({"f": 1.02}, {"f": 1.0}) and not loss.worse({"f": 1.005}, {"f": 1.0})
    assert gain.worse({"f": 0.98}, {"f": 1.0}) and not gain.worse({"f": 2.0}, {"f": 1.0})
    assert loss.worse({"f": float("nan")}, {"f": 1.0})


def test_memory_of_a_fit_is_its_peak_not_its_end() -> None:
    def needy() -> None:
        np.ones(8_000_000).sum()  # 64 MB, gone when the call ends

    meter = Meter(with_memory=True)
    meter.fit(needy)
    assert meter.memory_mb == pytest.approx(64, abs=8)
    with peak_growth() as growth:
        sum(range(1000))
    assert growth[0] < 8 * MEGABYTE


def test_the_sampling_fallback_sees_the_same_peak() -> None:
    with sampled_peak() as samples:
        for _ in range(10):
            np.ones(8_000_000).sum()
    assert max(samples) - samples[0] > 40 * MEGABYTE


def test_a_contender_that_dies_is_told_in_its_row(tmp_path: Path) -> None:
    stranger = Contender("nobody", "numpy", OLS.contenders[-1].run)
    with race.Racer(OLS, stranger, tmp_path, Options()) as racer:
        racer.wait_until_ready()
        assert racer.row.status == "error: StopIteration"
        assert racer.run_once() == 0.0


def test_a_contender_that_hangs_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "START_LIMIT_S", 0.01)
    with race.Racer(OLS, OLS.contenders[0], tmp_path, Options()) as racer:
        racer.wait_until_ready()
        assert racer.row.status == "stopped after 0 s"
        assert racer.process.returncode is not None


def test_a_csv_file_of_mixed_kinds_is_prepared_and_read(tmp_path: Path) -> None:
    large_csv.write_table(tmp_path / "table.csv", 2000)
    for way in large_csv.WAYS:
        found = large_csv.once(way, str(tmp_path / "table.csv"))
        assert found["rows"] == 2000 and found["cpu_s"] > 0 and found["peak_mb"] > 10


def test_streaming_compares_the_file_with_the_same_rows_in_memory(tmp_path: Path) -> None:
    file = tmp_path / "table.parquet"
    streaming.write_table(file, groups=3, group_rows=700)
    X, y = streaming.read_table(file, with_target=True)
    (table,) = streaming.read_table(file, with_target=False)
    np.testing.assert_array_equal(table, np.column_stack([X, y]))
    assert X.shape == (2100, streaming.FEATURES) and set(np.unique(y)) == {0.0, 1.0}
    learned = {}
    for mode in ("stream", "memory"):
        measured = streaming.fit_one("Ridge", mode, file, tmp_path / f"{mode}.npz")
        assert measured["fit_s"] > 0 and measured["peak_mb"] > 10
        learned[mode] = dict(np.load(tmp_path / f"{mode}.npz"))
    assert streaming.difference(learned["stream"], learned["memory"]) <= streaming.MOST_DIFFERENCE
    shifted = {name: array + 1 for name, array in learned["memory"].items()}
    assert streaming.difference(learned["stream"], shifted) > 0.1


def test_times_are_printed_in_a_unit_that_suits_them() -> None:
    printed = [seconds(value) for value in (None, 1234.5, 1.5, 0.0123, 0.0009997, 2.5e-6)]
    assert printed == ["-", "1234 s", "1.5 s", "12.3 ms", "1 ms", "2.5 us"]


def test_small_fits_race_another_version_too(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = {"tenfold": [2.0, 1.0], "sklearn": [3.0, 3.0], "tenfold of old": [0.9, 1.8]}

    def measured(arguments: list[str], options: Options, *, limit_s: float) -> list[dict[str, Any]]:
        version = " of old" if len(arguments) > 4 else ""
        rows = []
        for library in arguments[3].split(","):
            took = seconds[library + version].pop(0) if seconds[library + version] else 9.0
            rows.append(Row("small", f"{library} Ridge{version}", library, fit_s=took, predict_s=took).record())
        return rows

    monkeypatch.setattr(small, "ask_python", measured)
    report = small.run(Options(against="somewhere/old"))
    ours, theirs, old = report.rows
    assert (ours.fit_s, theirs.fit_s, old.fit_s) == (1.0, 3.0, 0.9)  # the best of the turns
    assert ours.ratio == ours.predict_ratio == 0.9  # of the fastest
    assert {one.text.removeprefix("fit: "): (one.value, one.met) for one in report.findings[::2]} == {
        "sklearn Ridge / tenfold Ridge": (3.0, True),
        "tenfold Ridge of old / tenfold Ridge": (0.9, False),
    }


@pytest.mark.parametrize("library", ["tenfold", "sklearn"])
@pytest.mark.parametrize("learner", small.LEARNERS, ids=lambda one: one.name)
def test_small_fits_are_of_the_same_learners_on_both_sides(learner: small.Learner, library: str) -> None:
    model = learner.built(library)
    assert type(model).__name__ == learner.name and type(model).__module__.startswith(library)
