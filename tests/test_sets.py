"""Sets of classes that hold the truth of 90 % of new rows, in every class where there are rows enough; and whether chances are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from golden.make import HERE, rows_for
from small_portfolio import shrink

import tenfold
from bench.worlds import FITTED, REPORTED, table
from tenfold.app.commands import run
from tenfold.app.estimate import Estimated
from tenfold.core.errors import BadFile, BadInput
from tenfold.evaluate import calibration_error
from tenfold.evaluate.validate import spread
from tenfold.selection.honest.estimate import calibration_of, conformal, in_sets, least_of, sets_of
from tenfold.selection.job import Job
from tenfold.selection.model.predictions import predictions
from tenfold.selection.model.store import open_run
from tenfold.selection.run import Run, run_of
from tenfold.selection.settings import Settings

WORLDS = {world.name: world for world in [*REPORTED, *FITTED]}


def rows_of(X: Any, y: Any) -> pl.DataFrame:
    return pl.DataFrame({f"x{j}": column for j, column in enumerate(X.T)}).with_columns(y=pl.Series([f"class {one}" for one in y]))


def drawn(n: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Chances, and classes that come true by them."""
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.full(k, 0.7), n)
    return probabilities, (probabilities.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)


# --- the threshold ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [8, 9, 10, 19, 48, 49])
def test_the_threshold_counts_the_new_row(n: int) -> None:
    """The ⌊α (n + 1)⌋-th smallest chance of the true class; there is none of 8 rows."""
    probabilities, truth = drawn(n, 3)
    true, place = np.sort(probabilities[np.arange(n), truth]), (n + 1) // 10
    least = least_of(probabilities, truth)
    assert (least is None) == (place == 0)
    if least is not None:
        np.testing.assert_array_equal(least, np.full(3, true[place - 1]))
    assert sets_of(probabilities, truth, np.arange(n) % 3, "abc") is None or place


def test_each_class_has_its_own_where_all_have_rows_enough() -> None:
    probabilities, truth = drawn(600, 3)
    rows = [np.flatnonzero(truth == k) for k in range(3)]
    least = least_of(probabilities, truth)
    assert least is not None and len(set(least.tolist())) == 3
    for k, at in enumerate(rows):
        assert least[k] == np.sort(probabilities[at, k])[(len(at) + 1) // 10 - 1]
    few = np.sort(np.concatenate([rows[0], rows[1], rows[2][:49]]))
    one = least_of(probabilities[few], truth[few])
    assert one is not None and len(set(one.tolist())) == 1
    facts = sets_of(probabilities[few], truth[few], few % 5, "abc")
    assert facts is not None and facts["by_class"] is False and sets_of(probabilities, truth, truth * 0, "abc")["by_class"] is True  # type: ignore[index]


def test_by_weight() -> None:
    probabilities, truth = drawn(500, 2, 3)
    w = np.random.default_rng(1).integers(1, 4, 500)
    np.testing.assert_array_equal(least_of(probabilities, truth, np.full(500, 0.5)), least_of(probabilities, truth))
    copies = np.repeat(np.arange(500), w)
    by_weight, by_copies = least_of(probabilities, truth, w.astype(float)), least_of(probabilities[copies], truth[copies])
    assert by_weight is not None and by_copies is not None
    ranks = [np.searchsorted(np.sort(probabilities[truth == k, k]), (by_weight[k], by_copies[k])) for k in (0, 1)]
    assert all(abs(one - other) <= 1 for one, other in ranks)  # a new row is the mean one, or one copy
    heavy = np.where(probabilities[np.arange(500), truth] < 0.5, 1e-9, 1.0)
    found = least_of(probabilities, truth, heavy)
    assert found is not None and (found > 0.5).all()
    shares = sets_of(probabilities, truth, np.arange(500) % 5, "ab", heavy)
    assert shares is not None and shares["coverage"] > 0.88
    assert conformal(np.empty(0), np.empty(0)) is None and conformal(np.arange(3.0), np.array([1.0, 1.0, 50.0])) is None


@pytest.mark.parametrize(("sigma", "rows"), [(1.0, 60), (1.5, 80)])
def test_ranges_by_weight_hold_nine_tenths_of_what_new_rows_weigh(sigma: float, rows: int) -> None:
    """Rows that weigh more are further off, as where rare rows stand for many."""

    def losses(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        z = rng.normal(size=n)
        return np.abs(rng.normal(size=n)) * np.exp(0.4 * z), np.exp(sigma * z)

    new, weighs = losses(np.random.default_rng(0), 200_000)
    order = np.argsort(new)
    share = np.append(0.0, np.cumsum(weighs[order]) / weighs.sum())
    reaches = [conformal(*losses(np.random.default_rng([1, seed]), rows)) for seed in range(500)]
    held = [1.0 if one is None else share[np.searchsorted(new[order], one, "right")] for one in reaches]
    assert np.mean(held) == pytest.approx(0.9, abs=0.012)


def test_a_set_has_the_most_likely_class_and_what_is_likely_enough() -> None:
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.34, 0.33, 0.33]])
    assert in_sets(probabilities, np.array([0.6, 0.9, 0.2])).tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    assert in_sets(probabilities, np.array([0.5 + 1e-16, 0.3, 0.3]))[0].tolist() == [True, True, False]  # a guess, rounded otherwise


# --- new rows ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of a score without a sum over rows is drawn hundreds of times: the sets have nothing to do with it."""
    monkeypatch.setattr(spread, "REPLICATES", (2, 2))


def fitted(world: str, rows: int, seed: int) -> tuple[Run, np.ndarray, np.ndarray]:
    """A logistic regression of a table, what it says of new rows, and the codes of their classes."""
    found = table(WORLDS[world], rows, seed, 5000)
    job = Job(lambda event, **facts: None, False, Settings(folds=5), named=lambda role: tenfold.LogisticRegression())
    one = run_of(job.run(rows_of(found.X, found.y), "y"))
    return one, one.model.predict_proba(rows_of(found.new_X, found.new_y)), found.new_y


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize(("world", "rows"), [("two classes", 120), ("two classes, bent", 600), ("four classes", 150), ("rare", 300)])
def test_sets_hold_the_truth_of_new_rows(world: str, rows: int) -> None:
    """Whatever the model is worth: a logistic regression does not see what is bent. Of 5 % in 300 rows there is one threshold for all."""
    held = []
    for seed in range(8):
        one, probabilities, truth = fitted(world, rows, seed)
        sets, facts = one.model.within(probabilities), one.record["sets"]
        held.append(sets[np.arange(len(truth)), truth].mean())
        assert facts["single"] == facts["sizes"][0] == pytest.approx((sets.sum(axis=1) == 1).mean(), abs=0.15)
        assert world != "rare" or facts["worst"]["label"] == "class 1"
        assert facts["coverage"] > 0.85 and sum(facts["sizes"]) == pytest.approx(1) and (facts["by_class"] is False or world != "rare")
    assert 0.88 < np.mean(held) < (0.93 if world != "rare" else 0.97)


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize(("world", "rows"), [("rare", 1800), ("any four classes", 900)])
def test_sets_hold_the_truth_of_new_rows_in_every_class(world: str, rows: int) -> None:
    """A twentieth of the rows is one class: one threshold for all would leave it out of most of its own sets."""
    held, by_one = [], []
    for seed in range(6):
        one, probabilities, truth = fitted(world, rows, seed)
        if not one.record["sets"]["by_class"]:
            continue
        kept, codes = one.held_out.select("^chance of.*$").to_numpy(), np.array([int(name[-1]) for name in one.held_out["truth"]])
        np.testing.assert_array_equal(one.model.least_, least_of(kept, codes))
        least = least_of(kept, codes, by_class=False)
        assert least is not None
        for found, sets in ((held, one.model.within(probabilities)), (by_one, in_sets(probabilities, least))):
            found.append([sets[truth == k, k].mean() for k in range(probabilities.shape[1])])
    share = np.mean(held, axis=0)  # of a class that is always the most likely one all are held
    assert len(held) >= 4 and (share > 0.87).all() and (share < 0.94).sum() >= (1 if world == "rare" else 4)
    assert world != "rare" or np.mean(by_one, axis=0)[1] < 0.6


def test_chances_that_are_right_seem_to_be_off_by_luck() -> None:
    for k in (2, 4):
        probabilities, truth = drawn(800, k, 5)
        sharper = probabilities**3 / (probabilities**3).sum(axis=1, keepdims=True)
        right, bold = calibration_of(probabilities, truth), calibration_of(sharper, truth)
        assert right["off"] <= right["luck"] < 0.07 and bold["off"] > 2 * bold["luck"]
        one = probabilities[:, 1] if k == 2 else probabilities
        assert right["off"] == pytest.approx(calibration_error(truth, one), rel=1e-12)
    assert calibration_of(np.tile([1.0, 0.0], (20, 1)), np.zeros(20, dtype=int)) == dict(off=0.0, luck=0.0)


# --- a run, its file and its words ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def a_run() -> tuple[tenfold.Run, Any]:
    found = table(WORLDS["two classes"], 300, 1, 2000)
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        return tenfold.select(rows_of(found.X, found.y), "y", effort="quick", folds=4), found


def test_a_run_has_sets(a_run: tuple[tenfold.Run, Any], tmp_path: Path) -> None:
    run, found = a_run
    new = rows_of(found.new_X, found.new_y)
    sets = run.predict_set(new)
    assert sets.shape == (2000, 2) and 0.84 < sets[np.arange(2000), found.new_y].mean() < 0.96
    facts = run.record["sets"]
    assert facts["by_class"] is True and facts["single"] == pytest.approx((sets.sum(axis=1) == 1).mean(), abs=0.15)
    assert set(run.record["chances"]) == {"off", "luck"}
    with pytest.raises(BadInput, match="no ranges"):
        run.predict_interval(new)
    run.save(tmp_path / "run")
    again = open_run(tmp_path / "run")
    np.testing.assert_array_equal(again.predict_set(new), sets)
    said = predictions(again, new)
    assert said.columns == ["y", "90% set", "chance of class 0", "chance of class 1"]
    words = np.where(sets.all(axis=1), "class 0 | class 1", np.where(sets[:, 0], "class 0", "class 1"))
    assert said["90% set"].to_list() == words.tolist()


def test_the_guess_of_a_run_that_was_stopped_leaves_no_class_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says a little less of a class than the guesses of folds: by those the class would be in no set at all."""
    shrink(monkeypatch, 3, (3,))
    guesses = 0
    for seed in range(4):
        found = table(WORLDS["coin"], 400, seed, 50)

        def stop(event: str, **facts: Any) -> None:
            if event == "progress" and facts["done"] >= 10:
                raise KeyboardInterrupt

        run = tenfold.select(found.X, found.y.astype(str), effort="quick", folds=5, listen=stop, finish_early=True)
        if run.chosen == "guessing the class frequencies":
            guesses += 1
            assert run.interrupted and run.predict_set(found.new_X).all() and run.record["sets"]["sizes"] == [0.0, 1.0]
    assert guesses


def test_the_command_writes_sets(a_run: tuple[tenfold.Run, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made, found = a_run
    made.save(tmp_path / "run")
    rows_of(found.new_X, found.new_y)[:300].write_csv("new.csv")
    for end in ("csv", "parquet", "jsonl"):
        assert run(["predict", "run", "new.csv", "--out", f"a.{end}"]) == 0
    first = pl.read_csv("a.csv")
    assert set(first["90% set"]) == {"class 0", "class 1", "class 0 | class 1"}
    assert pl.read_parquet("a.parquet")["90% set"].to_list() == first["90% set"].to_list()
    assert [json.loads(line)["90% set"] for line in Path("a.jsonl").read_text().splitlines()] == first["90% set"].to_list()


@pytest.mark.parametrize("spoiled", [[0.5], [0.5, 1.5], [-0.1, 0.5], [np.nan, 0.5], [0.1, 0.1, 0.1], []])
def test_a_file_with_bad_thresholds_is_refused(spoiled: list[float], a_run: tuple[tenfold.Run, Any], tmp_path: Path) -> None:
    a_run[0].save(tmp_path / "run")
    model = open_run(tmp_path / "run")
    vars(model)["least_"] = np.array(spoiled, dtype=np.float64)
    with pytest.raises((BadFile, BadInput), match="least"):
        tenfold.save(model, tmp_path / "m.tenfold")
        tenfold.load(tmp_path / "m.tenfold")


def test_a_file_of_an_earlier_version_has_no_sets() -> None:
    model = tenfold.load(HERE / "v1-TableModel.tenfold")
    assert isinstance(model, tenfold.TableModel) and "90% set" not in predictions(model, rows_for("TableModel")).columns
    with pytest.raises(BadInput, match="no sets"):
        model.predict_set(rows_for("TableModel"))


def test_numbers_have_no_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 3, (3,))
    X = np.random.default_rng(0).normal(size=(60, 2))
    found = tenfold.select(X, X[:, 0], effort="quick", folds=3)
    assert found.record["sets"] is None and found.record["chances"] is None
    with pytest.raises(BadInput, match="no sets"):
        found.predict_set(X)


def told(**more: Any) -> list[str]:
    one = dict(metric="log_loss", value=0.4, low=0.3, high=0.5, error=0.05, method="")
    facts: dict[str, Any] = dict(
        estimates=[one], metric="log_loss", signal=True, board=0.4, guess=dict(log_loss=0.6), guess_labels=dict(log_loss="guessing"),
        search=one, gain=one, rounds=5, rows=300, settings=20,
    )  # fmt: skip
    return Estimated(**facts | more).lines()[3:]


@pytest.mark.parametrize(
    ("sizes", "says"),
    [
        ([0.88, 0.12], "one class for 88% of rows, either for 12%."),
        ([0.88, 0.1, 0.015, 0.005], "one class for 88% of rows, two for 10%, more for 2%."),
        ([0.997, 0.003, 0.0], "one class for more than 99% of rows, two for less than 1%."),
        ([1.0, 0.0], "one class for every row."),
        ([0.0, 1.0], "either for every row."),
    ],
)
def test_sets_in_words(sizes: list[float], says: str) -> None:
    facts = dict(sizes=sizes, by_class=True, worst=dict(label="yes", coverage=0.5))
    line = f"  In at least 90% of new rows the truth is in the set: {says}"
    assert told(sets=facts)[0] == told(sets=facts | dict(by_class=False, worst=dict(label="yes", coverage=0.85)))[0] == line
    few = told(sets=facts | dict(by_class=False))[0]
    assert few == f"{line} Of rows of yes, too few for a bound of their own, in 50%."


def test_chances_in_words() -> None:
    assert told(chances=dict(off=0.009, luck=0.02))[0] == (
        "  Chances are off by 0.9 points on average, as right ones may seem to be on 300 rows."
    )
    assert told(chances=dict(off=0.09, luck=0.02))[0] == (
        "  Chances are off by 9.0 points on average; right ones would seem to be by 2.0 at most."
    )
    assert not any("Chances" in line or "set" in line.split() for line in told())


def test_the_learner_has_sets_of_its_own_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 3, (3,))
    found = table(WORLDS["two classes"], 150, 2, 500)
    model = tenfold.Select(effort="quick", folds=3).fit(found.X, np.where(found.y, 7, 3))
    sets = model.predict_set(found.new_X)
    assert sets.dtype == bool and sets.shape == (500, 2) and sets[np.arange(500), found.new_y].mean() > 0.8
    assert sets[np.arange(500), model.predict_proba(found.new_X).argmax(axis=1)].all()
    rare = np.where(found.y, 7, 3)
    rare[:2] = 5  # too few rows to be learned
    with pytest.warns(tenfold.DataWarning, match="1 class with fewer than 3 rows left out .*: their probability is 0"):
        model = tenfold.Select(effort="quick", folds=3).fit(found.X, rare)
    assert not model.predict_set(found.new_X)[:, 1].any()
