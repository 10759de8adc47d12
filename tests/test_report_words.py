"""What a page says is true and can be pasted: commands, rules, row numbers, gaps, positive class, pages of `tenfold fit`."""

from __future__ import annotations

import shlex
import warnings
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from reports import explained_of, held_out_of, record_of
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.app.options import OPTIONS
from tenfold.core.errors import TenfoldWarning
from tenfold.report import classes, trust
from tenfold.report.charts import confusion_rows, effect_chart
from tenfold.report.chosen import chosen, learning
from tenfold.report.drivers import failing
from tenfold.report.errors import errors
from tenfold.report.facts import Facts
from tenfold.report.folder import drivers_of
from tenfold.report.page import facts_for, page_of
from tenfold.report.plain_words import sentences
from tenfold.report.race import race
from tenfold.report.read import as_read, target
from tenfold.report.typed import command, pasted
from tenfold.report.uncertainty import uncertainty
from tenfold.report.verdict import trusted, verdict
from tenfold.report.warned import warned
from tenfold.selection.honest.audit import SIGNAL
from tenfold.selection.honest.estimate import half_width_of, half_widths_of
from tenfold.selection.honest.unseen import Unseen
from tenfold.selection.settings import OF_ONE, Settings
from tenfold.table.leaks import ALMOST_PERFECT


def texts_of(section: Any) -> str:
    """All that a section says, its tables and captions too."""
    return "" if section is None else str(section.blocks)


ASKED = Settings(
    metric="auc", folds=4, seed=3, drop=[f"gone {k}" for k in range(30)], keep=["it's"], category=["zip;rm"], effort="quick", time=90,
    prefer="simple", groups="patient id", weights="w", positive="yes", rows=5000, task="classification", monotone="age:+,price:-",
)  # fmt: skip


def parsed(line: str) -> tuple[list[str], dict[str, list[str]]]:
    words = shlex.split(line)
    options: dict[str, list[str]] = {}
    for name, value in zip(words[3::2], words[4::2], strict=True):
        options.setdefault(name, []).append(value)
    return words[:3], options


def test_the_command_is_whole() -> None:
    """Every setting that was asked for comes back from the line as the command reads it."""
    record = record_of(True)
    record["asked"], record["data"]["name"] = ASKED.facts(), "my table.csv"
    record["settings"] |= ASKED.facts()
    (program, what, file), options = parsed(command(Facts(record)))
    assert (program, what, file) == ("tenfold", "select", "my table.csv") and options.pop("--target") == ["left"]
    known = {name.removeprefix("--").replace("-", "_"): values for name, values in options.items()}
    several = {name: known.pop(name) for name in ("drop", "keep", "category", "monotone")}
    numbers = {name: float(known[name][0]) for name in ("time",)} | {name: int(known[name][0]) for name in ("folds", "seed", "rows")}
    assert Settings(**({name: one[0] for name, one in known.items()} | several | numbers)) == ASKED
    everything = set(OPTIONS)
    usual = {field.name for field in fields(Settings) if getattr(ASKED, field.name) == field.default} - {"seed", "effort"}
    assert everything - set(known) - set(several) == usual and {"time_column", "cost"} <= usual  # asked for below
    record["asked"] = replace(ASKED, groups=None, time_column="day", metric=None, cost="FP:1,FN:20", monotone=None).facts()
    _, options = parsed(command(Facts(record)))
    assert options["--time-column"] == ["day"] and options["--cost"] == ["FP:1,FN:20"] and "--metric" not in options


def test_a_run_of_a_frame_is_done_again_in_python() -> None:
    record = record_of(True)
    record["data"]["place"], record["asked"] = None, ASKED.facts()
    line = command(Facts(record))
    assert line.startswith("tenfold.select(table, 'left', ") and "monotone={'age': 1, 'price': -1}" in line
    seen: dict[str, Any] = {}
    eval(line, dict(table=None, tenfold=type("T", (), dict(select=staticmethod(lambda table, target, **more: seen.update(more))))))
    assert Settings(**seen) == ASKED


def test_names_can_be_pasted_whatever_is_in_them() -> None:
    for name in ("plain", "two words", "it's", "$(rm -rf ~)", "`x`", "a" * 300, "-x", "é", "!!"):
        assert shlex.split(pasted(name)) == [name] and len(pasted(name)) >= len(name)
    assert pasted("a\u202eb\n'c\\") == "$'a\\u202eb\\u000a\\'c\\\\'"
    columns = [dict(name=name, kind="id", note="left out", undo="keep") for name in ("x" * 50, "my column", "a\x1b[31m")]
    section = as_read(Facts(record_of(True) | dict(columns=columns)))
    assert section is not None
    undone = [row[-1] for row in section.blocks[1].rows]  # type: ignore[attr-defined]
    assert undone == [f"--keep {'x' * 50}", "--keep 'my column'", "--keep $'a\\u001b[31m'"]


def test_the_rule_of_a_signal_is_the_one_that_was_used() -> None:
    record = record_of(True)
    record["search"]["gain"] |= dict(value=0.1, low=-0.02, high=0.22, error=0.06)
    text = texts_of(trusted(Facts(record)))
    assert SIGNAL == 1 and "above zero" not in text and "more than 1 standard error" in text and "0.0600" in text


def test_drift_is_told_as_it_was_judged() -> None:
    record, more = record_of(True), explained_of(True)
    assert "--time-column judges by that" in texts_of(warned(Facts(record, None, more)))
    record["settings"]["time_column"] = "x1"
    assert "judges by that" not in texts_of(warned(Facts(record, None, more)))
    more["order"]["drift"] = dict(rows=40, of=1, changed=0, columns=[])
    assert "The last 40 rows are like the first 40: no drift" in texts_of(warned(Facts(record, None, more)))


def test_one_line_of_leakage() -> None:
    """What the transcript does not call a leak the page does not either."""
    more = explained_of(True)
    for strength, leaks in ((0.99, False), (ALMOST_PERFECT, True)):
        more["columns"]["strengths"] = [strength, *[0.6] * 5]
        text = texts_of(warned(Facts(record_of(True) | dict(suspects=[]), None, more)))
        assert ("almost perfectly. That usually" in text) == leaks and ("no sign of leakage" in text) != leaks
        assert str(ALMOST_PERFECT) in text
    more["columns"]["strengths"] = [0.6] * 6
    assert "no sign of leakage" not in texts_of(warned(Facts(record_of(True), None, more)))  # one was named above


def test_rows_are_counted_from_one() -> None:
    for kinds in (2, 0):
        held = Unseen.of(held_out_of(kinds))
        facts = Facts(record_of(kinds > 0), held)
        judge = facts.judge
        assert judge is not None
        worst = int(held.rows[np.argmax(held.losses(judge))])
        table = errors(facts).blocks[-1]  # type: ignore[union-attr]
        assert table.rows[0][0] == f"{worst + 1:,}" and "from 1" in table.summary and "explain" in table.caption


def test_curves_are_of_the_positive_class() -> None:
    held = Unseen.of(held_out_of(2))
    counts = np.bincount(held.truth)
    rare, common = (held.classes[int(k)] for k in (np.argmin(counts), np.argmax(counts)))
    assert held.classes[classes.positive_class(held)] == rare
    for name in (rare, common):
        label = held.classes.index(name)
        assert classes.positive_class(held, name) == label and classes.drawn_classes(held, name) == [label]
        np.testing.assert_allclose(classes.reliability(held, name).share.mean(), (held.truth == label).mean(), atol=0.02, rtol=0)
        record = record_of(True)
        record["settings"]["positive"] = name
        text = texts_of(errors(Facts(record, held)))
        assert f"Of class {name}." in text and f"Threshold for {name}" in text and f"probability of class {name}" in text
    assert held.classes[classes.positive_class(held, "no such class")] == rare


def fanned(n: int = 1200) -> Unseen:
    """Errors that grow with the prediction."""
    rng = np.random.default_rng(5)
    said = rng.uniform(1, 20, n)
    return Unseen(np.arange(n), np.arange(n) % 5, said * (1 + 0.3 * rng.normal(size=n)), [], said[:, None])


def test_ranges_are_told_as_they_are_saved() -> None:
    """By the levels that the model has, each fold by the others; the same half widths as `selection.honest.estimate` would give."""
    held = fanned()
    off = np.abs(held.truth - held.predicted)
    reaches = half_widths_of(held.predicted, off, "mae")
    assert reaches is not None
    by_level, single = trust.coverage(held, reaches[0].tolist()), trust.coverage(held)
    level = np.searchsorted(reaches[0][:-1], held.predicted)
    assert by_level is not None and single is not None and by_level.half is not None and single.half is not None
    for k in range(5):
        others, here = held.fold != k, held.fold == k
        for one in range(reaches.shape[1]):
            assert set(by_level.half[here & (level == one)]) == {half_width_of(off[others & (level == one)], "mae")}
        assert set(single.half[here]) == {half_width_of(off[others], "mae")}
    for one in range(reaches.shape[1]):  # near the widths that are saved
        np.testing.assert_allclose(by_level.half[level == one], reaches[1, one], rtol=0.2)
    assert by_level.kept == pytest.approx(np.mean(off <= by_level.half)) and abs(by_level.kept - 0.9) < 0.03
    low, high = (held.predicted < 5, held.predicted > 16)
    assert by_level.half[low].mean() < 0.4 * by_level.half[high].mean()
    record = record_of(False) | dict(reach=4.0, reaches=reaches.tolist())
    text = texts_of(uncertainty(Facts(record, held)))
    rows = uncertainty(Facts(record, held)).blocks[2].rows  # type: ignore[union-attr]
    assert len(rows) == reaches.shape[1] and sum(int(row[2].replace(",", "")) for row in rows) == 1200
    assert all(80 < float(row[3].rstrip("%")) < 97 for row in rows)
    assert "by level of the prediction" in text
    assert "the same width" in texts_of(uncertainty(Facts(record | dict(reaches=None), held)))


def test_ranges_count_rows_by_their_weights() -> None:
    held, rng = fanned(), np.random.default_rng(6)
    w = rng.uniform(0.1, 2, len(held))
    found, off = trust.coverage(held, (), w), np.abs(held.truth - held.predicted)
    assert found is not None and found.half is not None
    for k in range(5):
        others = held.fold != k
        assert set(found.half[~others]) == {half_width_of(off[others], "mae", w[others])}
    assert found.kept == pytest.approx(np.average(off <= found.half, weights=w))
    frame = pl.DataFrame(dict(row=held.rows, fold=held.fold, truth=[None, *held.truth[1:]], prediction=held.predicted, weight=w))
    facts = facts_for(record_of(False), frame)
    assert facts.weights is not None and facts.held is not None and len(facts.held) == len(held) - 1
    np.testing.assert_array_equal(facts.weights, w[1:])
    assert "by their weights" in texts_of(uncertainty(facts))
    sets = trust.coverage(Unseen.of(held_out_of(2)), (), np.linspace(0.5, 1.5, 400))
    assert sets is not None and abs(sets.kept - 0.9) < 0.05


def test_gaps_are_counted_as_the_run_reads_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5,))
    rng = np.random.default_rng(0)
    n = 90
    size = [f"{one:.2f}" for one in rng.normal(size=n)]
    colour = rng.choice(["red", "blue"], n).tolist()
    size[3], size[7], size[11], size[12] = "NA", "?", "", "oops"
    colour[4], colour[9] = "n/a", "none"  # none may be a level
    y = np.where(rng.normal(size=n) > 0, "yes", "no").tolist()
    key = [f"k{i}" for i in range(n)]
    key[5] = ""
    pl.DataFrame(dict(size=size, colour=colour, key=key, junk=["?"] * n, gone=["", *"x" * (n - 1)], y=y)).write_csv(tmp_path / "t.csv")
    found = tenfold.select(tmp_path / "t.csv", "y", effort="quick", folds=3, drop=["gone"])
    assert found.held_out is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TenfoldWarning)  # of the odd cell, told when the table was read first
        facts = drivers_of(found.model, found.record, found.held_out, tmp_path / "t.csv")
    assert facts["missing"] == dict(size=4, colour=1, key=1, junk=n, gone=1)
    section = as_read(Facts(found.record, None, facts))
    assert section is not None
    cells = {row[0]: row[2] for row in section.blocks[1].rows}  # type: ignore[attr-defined]
    assert cells == dict(size="4", colour="1", key="1", junk="90", gone="1")


def test_pages_of_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A complete fit of noise was not stopped, nothing was chosen, and the command names the learner and its settings."""
    rng = np.random.default_rng(1)
    pl.DataFrame(dict(a=rng.normal(size=80), b=rng.normal(size=80), y=rng.normal(size=80))).write_csv(tmp_path / "n.csv")
    monkeypatch.chdir(tmp_path)
    more = ["--set", "max_depth=3", "--set", "criterion=squared_error", "--seed", "4", "--drop", "b"]
    assert run(["fit", "n.csv", "--target", "y", "--model", "DecisionTree", "--quiet", *more]) == 0
    assert run(["report", "n.tenfold", "n.csv"]) == 0
    page = Path("n.tenfold/report.html").read_text(encoding="utf-8")
    assert "was stopped" not in page and "is not better than guessing" in page
    assert "The board ranks models" not in page and "the whole choice" not in page
    record = tenfold.selection.model.store.record_of(Path("n.tenfold"))
    (_, what, file), options = parsed(command(Facts(record)))
    assert (what, file) == ("fit", "n.csv") and options["--model"] == ["DecisionTreeRegressor"]
    assert options["--set"] == ["max_depth=3"] and options["--seed"] == ["4"] and options["--drop"] == ["b"]
    assert run([*shlex.split(command(Facts(record)))[1:], "--out", "again.tenfold", "--quiet"]) == 0
    assert Path("again.tenfold/model.tenfold").read_bytes() == Path("n.tenfold/model.tenfold").read_bytes()


def test_the_command_of_a_fit_has_its_own_options_alone() -> None:
    record = record_of(True) | dict(command="fit", chosen="SVC(kernel='poly', C=2.5, class_weight={'a b': 1.0}, tol=None)")
    record["settings"] |= dict(positive="c1", effort="quick")  # what is told of the run, and was not asked for
    _, options = parsed(command(Facts(record)))
    assert options["--set"] == ["kernel=poly", "C=2.5", "class_weight={'a b': 1.0}", "tol=None"] and options["--model"] == ["SVC"]
    assert set(options) <= {"--target", "--model", "--set", *(f"--{name}" for name in OF_ONE)}


def test_places_are_those_of_the_transcript() -> None:
    """The guess has none, nor what was dropped, whose score is that of other folds."""
    record = record_of(True)
    record["board"].insert(1, dict(record["board"][-1]))
    record["board"].append(dict(record["board"][2], model="gone", score=0.3, against="dropped", folds=2))
    section = race(Facts(record))
    assert section is not None
    rows = section.blocks[1].rows
    assert [row[0] for row in rows] == ["1", "", "2", "3", "", ""] and rows[-1][4] == "dropped after 2 folds"
    record["board"][-1]["against"] = "passed over"
    section = race(Facts(record))
    assert section is not None and section.blocks[1].rows[-1][::4] == ["", "passed over"]
    assert "does not lead in the end" in str(section.blocks[2])


def test_the_scale_of_the_board_is_no_narrower_than_its_ranges() -> None:
    """Where nothing beats the guess, models a little behind it are on the scale, with their ranges."""
    record = record_of(True)
    for row, score in zip(record["board"], (0.69, 0.695, 0.70, 0.692), strict=True):
        row |= dict(score=score, error=0.02)
    assert "off the scale" not in texts_of(race(Facts(record)))


def test_without_a_signal_nothing_flatters() -> None:
    """The verdict tells what the whole search is worth, as the transcript does; nothing is said of a simpler model, or of more rows."""
    record, more = record_of(True) | dict(signal=False, chosen="class frequencies"), explained_of(True)
    record["search"]["estimates"]["log_loss"]["value"] = 0.7123
    facts = Facts(record, Unseen.of(held_out_of(2)), more)
    text = "".join(texts_of(make(facts)) for make in (verdict, trusted, chosen, learning))
    assert "the best model has log loss 0.7123, the guess 0.6900" in text and "Simpler" not in text
    assert "Score against rows" not in text and "Would chance do this?" not in text
    hurried = record_of(True) | dict(interrupted=True)
    assert "saved beside it" in texts_of(chosen(Facts(record_of(True)))) and "saved beside it" not in texts_of(chosen(Facts(hurried)))


def test_classes_that_are_many() -> None:
    """Sets of the most frequent classes are told, not of the first by name; of several classes none is chosen by a threshold."""
    rng = np.random.default_rng(0)
    labels = [f"c{k:02}" for k in range(20)]
    codes = np.repeat(np.arange(20), [*[10] * 8, *[60] * 12])
    shares = rng.dirichlet(np.ones(20), len(codes)) + 3 * np.eye(20)[codes]
    held = Unseen(np.arange(len(codes)), rng.integers(0, 5, len(codes)), codes, labels, shares / shares.sum(axis=1, keepdims=True))
    table = next(one for one in uncertainty(Facts(record_of(True), held)).blocks if getattr(one, "heads", [""])[0] == "class")  # type: ignore[union-attr]
    assert [row[0] for row in table.rows] == labels[8:] and table.caption == "8 smaller classes not shown"
    assert "Nothing was resampled." in texts_of(target(Facts(record_of(True), held)))
    named = dict(column="note", outputs=["P(c1)"], grid=[-2.0, 0.0, 2.0], effect=[[-0.2, 0.0, 0.3]], kind="text")
    assert "what the words of note score" in effect_chart(named, "change", (-1, 1))
    _, rows = confusion_rows(["a", "b"], np.array([[997, 3], [0, 10]]))
    assert [cell["small"] for cell in (*rows[0][1:3], *rows[1][1:3])] == [">99%", "<1%", "0%", "100%"]
    few = Unseen.of(held_out_of(2))
    few = replace(few, truth=np.where(np.arange(len(few)) < 20, 1, 0))
    assert "chosen under Errors." in texts_of(target(Facts(record_of(True), few)))


def test_large_numbers_are_written_out() -> None:
    held = Unseen.of(held_out_of(0).with_columns(truth=pl.col("truth") + 100_000, prediction=pl.col("prediction") + 100_000))
    facts = Facts(record_of(False) | dict(reaches=None), held)
    text = texts_of(uncertainty(facts)) + texts_of(target(facts))
    assert "e+05" not in text and "100k" not in text and "predicted 99,99" in text and "half of the rows below 100,00" in text
    flat = replace(held, outputs=np.full((len(held), 1), held.truth.mean()))
    assert "held out" not in texts_of(target(facts))
    part = Facts(facts.record, replace(held, **{name: getattr(held, name)[:280] for name in ("rows", "fold", "truth", "outputs")}))
    assert "In the 280 of 400 rows that were held out." in texts_of(target(part))  # as in order of time
    assert "neither too high nor too low" in texts_of(errors(Facts(record_of(False), flat)))
    off = (held.truth - held.predicted).std() / np.sqrt(len(held))
    for errors_away, told in ((-1.5, "neither too high nor too low"), (3.0, "above the prediction"), (-3.0, "below the prediction")):
        lean = held.truth - held.predicted
        shifted = replace(held, truth=held.truth - lean.mean() + errors_away * off)
        assert told in texts_of(errors(Facts(record_of(False), shifted)))


def test_a_run_that_was_stopped_still_says_so() -> None:
    page = page_of(dict(record_of(True), signal=None, interrupted=True, estimate={}, cut_by_time=False))
    assert "was stopped" in page and "tenfold reproduce" in page


def test_losses_of_squared_errors_are_told_in_the_unit_of_the_target() -> None:
    held = Unseen.of(held_out_of(0))
    more = explained_of(False)
    more["slices"] |= dict(mean=4.0, of="squared error", worse=[more["slices"]["worse"][0] | dict(loss=36.0)])
    rooted = Facts(record_of(False), held, more)
    text = texts_of(failing(rooted))
    assert rooted.metric == "rmse" and "The rmse of all rows is 2.0000" in text and "'6.0000'" in text and "3.0 ×" in text
    assert any("their rmse is 3.0 times that of all rows" in line for line in sentences(rooted))
    record = record_of(False)
    squared = Facts(record | dict(settings=record["settings"] | dict(metric="mse")), held, more)
    assert "The squared error of all rows is 4.0000" in texts_of(failing(squared)) and "9.0 ×" in texts_of(failing(squared))
