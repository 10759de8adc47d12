"""What the last rows bring: from the loss of models of folds to that of the model of all rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta
from small_portfolio import shrink

from tenfold.app.commands import run
from tenfold.app.estimate import Estimated
from tenfold.report.page import page_of
from tenfold.score.registry import find_score
from tenfold.selection.honest.estimate import Estimate
from tenfold.selection.honest.fewer_rows import PAIRS
from tenfold.selection.honest.growth import FORM, LEAST, SELDOM_MUCH, UNTRIED, Growth, grown
from tenfold.selection.job import Job
from tenfold.selection.race.deadline import Deadline
from tenfold.selection.race.race import Race
from tenfold.selection.record import facts_of
from tenfold.selection.result import Result
from tenfold.selection.search import Replay, Search
from tenfold.selection.settings import Settings


@pytest.mark.parametrize("folds", [3, 5, 10])
def test_a_loss_that_falls_like_one_over_n_is_found_exactly(folds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def loss(share: float) -> float:
        return 0.3 + 0.05 / share

    more, fewer = loss((folds - 1) / folds), loss((folds - 2) / folds)
    monkeypatch.setattr("tenfold.selection.honest.growth.FORM", 0.0)  # the form is known
    found = Growth(more, fewer - more, 0.0, folds, 0.6)
    assert found.share * more == pytest.approx(loss(1.0), rel=1e-9) and found.spread < 1e-9


SEEN = [(0.3, 0.02), (0.3, 0.3), (-0.3, 0.3), (1.8, 2), (0, 0.01), (-9, 1.5), (0, 100), (0.9, 1e-3), (1.3, 0.05), (1e5, 1e4), (7, 3)]


@pytest.mark.parametrize(("seen", "error"), SEEN)
@pytest.mark.parametrize("learned", [0.99, 0.7, 0.2])
@pytest.mark.parametrize("folds", [3, 10])
def test_what_is_expected_of_more_rows_follows_from_the_law_of_gains(seen: float, error: float, learned: float, folds: int) -> None:
    """By the probabilities of a fine grid: a normal law of what is seen, Beta(1, c/r²) before it."""
    ends = np.linspace(0, 1, 400_001) ** 2
    at, before = (ends[1:] + ends[:-1]) / 2, -np.diff(beta(1, SELDOM_MUCH / learned**2).sf(ends))
    log_law = -(((seen - at) / error) ** 2) / 2 + np.log(np.maximum(before, 1e-300))
    law = np.exp(log_law - log_law.max())
    mean = float((law * at).sum() / law.sum())
    spread = float(np.sqrt((law * (at - mean) ** 2).sum() / law.sum()))
    loss = 7.0
    found = Growth(loss, loss * seen / (folds - 2), loss * error / (folds - 2), folds, learned)
    less = mean / folds
    assert 1 - found.share == pytest.approx(less if less > LEAST else 0.0, rel=2e-3)
    assert found.spread == pytest.approx(np.hypot(spread, FORM * mean) / folds / found.share, rel=1e-2)


def test_luck_is_not_taken_for_growth() -> None:
    def shares(error: float, gain: float = 0.2, learned: float = 0.9) -> float:
        return Growth(1.0, gain, error, 5, learned).share

    less = [shares(error) for error in (0.0, 0.01, 0.03, 0.08, 0.2, 1.0, 1e6)]
    assert less == sorted(less) and less[0] == pytest.approx(1 - 0.6 * 0.2)
    assert less[-1] == pytest.approx(1 - 0.9**2 / (SELDOM_MUCH + 0.9**2) / 5, rel=1e-3)  # nothing is known but what is usual
    assert shares(1e-6, -0.1) == shares(0.0, -0.1) == 1 == Growth(0.0, 0.1, 0.0, 5, 0.9).share
    assert shares(0.0, 5.0) == shares(0.0, 1e200) == pytest.approx(0.8)  # never more than all of a loss that falls like 1/n
    assert 0.8 <= shares(1e199, 1e200) < 1 > Growth(1e-200, 1e200, 1e210, 5, 0.9).share >= 0.8
    assert shares(0.0, 0.0016) == 1 > shares(0.0, 0.0017)  # and nothing below a thousandth
    assert Growth(1.0, 0.1, 0.05, 5, 0.9).clear and not Growth(1.0, 0.1, 0.06, 5, 0.9).clear and not Growth(1.0, -0.1, 0.01, 5, 0.9).clear


def test_where_little_is_learned_little_is_expected_of_more_rows() -> None:
    """Nearly all of the loss is noise there: what the rows do not show is not there."""
    less = [1 - Growth(1.0, 0.02, 0.1, 5, learned).share for learned in (0.99, 0.8, 0.6, 0.4, 0.2, 0.02, 1e-9, 0.0, -0.1, -9.0)]
    assert less == sorted(less, reverse=True) and less[0] > 0.02 and less[5:] == [0.0] * 5
    assert 1 - Growth(1.0, 0.2, 1e-4, 5, 0.02).share == pytest.approx(0.6 * 0.2, rel=1e-2)  # but what they show is
    assert Growth(1e-15, 1e-15, 1e-16, 10, 1 - 1e-15).share == 1  # what rounding leaves of a perfect fit


@pytest.mark.parametrize("learned", [0.95, 0.5])
def test_gains_of_many_tables_are_right_on_average(learned: float) -> None:
    """Drawn by the law, seen with errors of every size: neither all of them together nor those that seem large are off."""
    rng = np.random.default_rng(0)
    true = rng.beta(1, SELDOM_MUCH / learned**2, size=20_000)
    error = 10 ** rng.uniform(-3, 1, size=len(true))
    seen = true + error * rng.normal(size=len(true))
    said = 5 * np.array([1 - Growth(3.0, float(g), float(s), 5, learned).share for g, s in zip(seen, error, strict=True)])
    for some in (seen == seen, seen > 0.3, seen < 0.0):
        off = (said - true)[some]
        assert abs(off.mean()) < 3 * off.std() / np.sqrt(some.sum()) + 5 * LEAST


@pytest.mark.parametrize(("name", "role", "value"), [("log_loss", "classifier", 0.4), ("rmse", "regressor", 2.0), ("r2", "regressor", 0.6)])
def test_scores_follow_the_loss_and_ranges_widen(name: str, role: str, value: float) -> None:
    judge, before = find_score(name, role), Estimate(name, value, value - 0.1, value + 0.1, 0.05, "")
    by = Growth({"log_loss": 0.4, "rmse": 4.0, "r2": 7.0}[name], 0.1, 0.01, 5, 0.8)
    after = grown(before, judge, by)
    expected = {"log_loss": value * by.share, "rmse": np.sqrt(4.0 * by.share), "r2": 1 - (1 - value) * by.share}[name]
    assert after.value == pytest.approx(expected, rel=1e-12) and after.low < after.value < after.high
    left = (lambda one: 1 - one) if name == "r2" else (lambda one: one)
    wide = abs(np.log(left(after.high) / left(after.low)))
    assert wide > abs(np.log(left(before.high) / left(before.low)))
    assert grown(before, judge, None) == before == grown(before, judge, Growth(1.0, 0.0, 1e-4, 5, 0.8))


def _checkers(n: int, seed: int = 0) -> tuple[pl.DataFrame, Any]:
    """A board of 6 x 6 fields of two classes: whoever has more rows knows it better."""
    X = np.random.default_rng(seed).uniform(0, 6, size=(n, 2))
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1]}), np.where(np.floor(X).sum(axis=1) % 2 == 0, "black", "white")


def _found(n: int, units: int | None = None, seed: int = 0, fewer: int | None = None) -> Result:
    again = None if units is None else Replay(units, fewer=fewer)
    return Job(lambda event, **facts: None, False, Settings(effort="quick"), replay=again).run(*_checkers(n, seed))


@pytest.mark.parametrize(("n", "nested"), [(400, True), (1500, False)])
def test_select_tells_the_loss_of_the_model_of_all_rows(n: int, nested: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six tables, nested or by models that are fitted besides: on average nearer to the truth than the models of folds, though the loss
    falls faster here, and then ends to fall sooner, than the form of the curve has it."""
    shrink(monkeypatch)
    new, truth = _checkers(20_000, seed=99)
    codes, off = (truth == "white").astype(int), []
    for seed in range(6):
        found = _found(n, seed=seed)
        outcome, growth = found.outcome, found.record["growth"] or dict(share=1.0)
        assert outcome.audit is not None and outcome.audit.nested is nested and bool(outcome.race.less) is not nested
        before = outcome.audit.estimate(outcome.judge, outcome.audit.outputs["best"]).value
        after = outcome.estimates["log_loss"].value
        assert after == pytest.approx(growth["share"] * before, rel=1e-9)
        true = float(-np.log(found.model.predict_proba(new)[np.arange(len(codes)), codes]).mean())
        off.append((np.log(before / true), np.log(after / true)))
    before, after = np.mean(off, axis=0)
    assert before > 0.05 and abs(after) < 0.9 * before, off


def test_models_of_fewer_rows_have_seen_neither_fold_and_count_as_units(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)
    found = _found(700)
    race = found.outcome.race
    (c, o), output = next(iter(race.less.items()))
    number = race.families.index(race.settings[c].family)
    again = race.fits.unit(number, next(pair for pair in PAIRS if o in pair))
    assert any(k == o and race.places[number][place] == c and (one == output).all() for place, k, one, _ in again.results)
    assert found.record["fewer"] == race.less_units > 0 and found.record["units"] == len(race.done) == race.units_done - race.less_units
    same = _found(700, units=found.record["units"], fewer=found.record["fewer"])
    assert same.record["growth"] == found.record["growth"] and same.record["estimate"] == found.record["estimate"]
    less = _found(700, units=len(race.done), fewer=0)  # as a run that was cut there
    assert less.record["growth"] is None and not less.outcome.race.less
    assert less.record["chosen"] == found.record["chosen"]  # it changes what is said of the model, not the model


@pytest.mark.parametrize("effort", ["quick", "normal"])
def test_what_the_clock_cuts_off_is_not_the_growth(effort: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is over when all folds have run, before variants and pairs of folds: what the last rows bring is still looked at, and again
    when the run is done again."""
    shrink(monkeypatch)
    deadlines: list[Deadline] = []

    def over(self: Search, race: Race, variants: Any) -> None:
        deadlines[0].over.set()
        raise KeyboardInterrupt

    monkeypatch.setattr("tenfold.selection.search.Deadline", lambda *asked: deadlines.append(Deadline(*asked)) or deadlines[-1])
    asked, events = Settings(effort=effort, time=60.0), list[str]()
    with monkeypatch.context() as clock:
        clock.setattr(Search, "_refine", over)
        cut = Job(lambda event, **facts: events.append(event), True, asked).run(*_checkers(700))
    race = cut.outcome.race
    assert cut.record["cut_by_time"] and not cut.record["interrupted"] and events.count("interrupted") == 1
    assert cut.record["fewer"] == race.less_units > 0 and cut.record["growth"] is not None and not cut.record["untried"]
    assert cut.record["units"] == len(race.done) and not race.complete_rounds
    until = Replay(cut.record["units"], fewer=cut.record["fewer"])
    again = Job(lambda event, **facts: None, False, asked, replay=until).run(*_checkers(700))
    for name in ("estimate", "growth", "chosen", "units", "fewer"):
        assert again.record[name] == cut.record[name], name


def test_no_models_of_fewer_rows_in_order_of_time_or_without_room(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)
    frame, y = _checkers(700)
    job = Job(lambda event, **facts: None, False, Settings(effort="quick", time_column="t"))
    assert not job.run(frame.with_columns(t=pl.Series(np.arange(700.0))), y).outcome.race.less
    monkeypatch.setattr("tenfold.selection.plan.plan.ONCE_MORE", 0.0)
    found = _found(700)
    assert not found.outcome.race.less and found.record["untried"]
    assert "whether models of all rows are better was not seen" in " ".join(Estimated(**facts_of(found.outcome)).lines())
    assert UNTRIED in page_of(found.record, found.outcome.held_out)


def test_the_terminal_and_the_page_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shrink(monkeypatch)
    monkeypatch.chdir(tmp_path)
    frame, y = _checkers(1500)
    frame.with_columns(colour=pl.Series(y)).write_csv("board.csv")
    assert run(["select", "board.csv", "--target", "colour", "--effort", "quick"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Models of 4 of 5 folds score" in told and "the estimate is for all of them" in told
    assert "learned from 4 of 5 parts of the rows" in Path("board.tenfold/report.html").read_text()
