"""Decisions of `tenfold.select`: costs of errors, thresholds that a score is best by, rare classes; and an estimate that counts them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, log_softmax
from sklearn import metrics
from small_portfolio import shrink

import tenfold
from tenfold.app.commands import run
from tenfold.app.decisions import decision_lines
from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import BadInput, BadParameter, TenfoldError
from tenfold.evaluate import minimum_risk, threshold
from tenfold.evaluate.validate.ranges import score_range
from tenfold.report.page import page_of
from tenfold.score.record import Score
from tenfold.score.registry import SCORES
from tenfold.selection.choice import decision
from tenfold.selection.choice.choice import Mix, choose
from tenfold.selection.choice.costs import cheapest, checked_cost, cost_matrix, cost_score, positive_class
from tenfold.selection.choice.decision import (
    at_best,
    best_weights,
    decided,
    of_class,
    rule_for,
    threshold_of,
    weight_costs,
)
from tenfold.selection.honest import decisions
from tenfold.selection.honest.audit import audit
from tenfold.selection.honest.decisions import Decisions
from tenfold.selection.model.store import open_run, plain
from tenfold.selection.plan.candidates import Family
from tenfold.selection.plan.folds import make_folds
from tenfold.selection.plan.guess import FrequencyGuess
from tenfold.selection.race.race import Race
from tenfold.selection.race.rows import Rows
from tenfold.selection.settings import Settings
from tenfold.table.task import Task

DECIDED = [one for one in SCORES.values() if one.of_counts is not None]


def table(n: int, seed: int, shift: float = -2.5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two columns, the chance of "yes", and what came."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    chance = expit(shift + 2 * X[:, 0] + X[:, 1])
    return X, chance, rng.random(n) < chance


def frame_of(X: np.ndarray, y: np.ndarray) -> pl.DataFrame:
    return pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": np.where(y, "yes", "no")})


# --- scores from counts, and the weights that are best by them ------------------------------------------------


@pytest.mark.parametrize("judge", DECIDED, ids=lambda one: one.name)
@pytest.mark.parametrize("k", [2, 4])
def test_scores_from_counts_are_the_scores(judge: Score, k: int) -> None:
    if k > 2 and len(judge.tasks) == 1:
        pytest.skip("a score of two classes")
    rng = np.random.default_rng(k)
    for n in (3, 12, 200):
        truth, scores = rng.integers(0, k, n), rng.normal(size=(n, k))
        said, w = scores.argmax(axis=1), rng.integers(1, 4, n) * 1.0
        right = np.bincount(truth[said == truth], w[said == truth], k)
        assert judge.of_counts is not None
        found = judge.of_counts(right[None], np.bincount(said, w, k)[None], np.bincount(truth, w, k))
        assert found[0] == pytest.approx(judge.of(truth, scores, w), abs=1e-12)


@pytest.mark.parametrize("name", ["f1", "f1_macro", "balanced_accuracy", "matthews_corrcoef", "jaccard"])
def test_the_best_of_all_thresholds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where classes alone count, the threshold is the best there is; else it is on other rows what it seems."""
    monkeypatch.setattr(decision, "SHRINK", 0.0)
    judge = SCORES[name]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = (rng.random(60) < 0.3).astype(np.int64)
        p = np.round(expit(rng.normal(size=60) + truth), 2)  # ties
        scores = np.log(np.column_stack([1 - p, p]))
        every = [judge.of(truth, np.column_stack([~(p > t), p > t]) * 1.0, None) for t in np.append(np.unique(p), -1.0)]
        best = judge.of(truth, at_best(judge, truth, scores), None)
        assert best == pytest.approx(max(every), abs=1e-12)
        weights = best_weights(judge, truth, scores)
        t = threshold_of(weight_costs(weights))
        assert t == pytest.approx(weights[0]) and judge.of(truth, np.column_stack([~(p > t), p > t]) * 1.0, None) == pytest.approx(best)


def test_weights_of_several_classes_come_near_the_best_there_are() -> None:
    """For balanced accuracy the best weights are known where probabilities are right: one over the frequencies."""
    rng = np.random.default_rng(0)
    prior = np.array([0.7, 0.2, 0.07, 0.03])
    truth = rng.choice(4, 6000, p=prior)
    x = rng.normal(size=(6000, 4)) + 1.5 * np.eye(4)[truth]
    logs = log_softmax(1.5 * x + np.log(prior), axis=1)
    judge = SCORES["balanced_accuracy"]
    known = judge.of(truth, logs - np.log(prior), None)
    found = judge.of(truth, at_best(judge, truth, logs), None)
    assert judge.of(truth, logs, None) + 0.1 < known <= found + 0.003
    for name in ("f1_macro", "matthews_corrcoef"):
        score = SCORES[name]
        assert score.of(truth, at_best(score, truth, logs), None) >= score.of(truth, logs, None)


@pytest.mark.parametrize("slope", [1.0, 1.5, 0.7])
def test_few_rows_do_not_choose_by_luck(slope: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights from 60 rows, on many others: better than the most likely class, and than by the classes of these rows alone."""
    judge, prior = SCORES["f1_macro"], np.array([0.6, 0.25, 0.1, 0.05])

    def draw(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        truth = rng.choice(4, n, p=prior)
        logs = 1.3 * (rng.normal(size=(n, 4)) + 1.3 * np.eye(4)[truth]) + np.log(prior)
        return truth, log_softmax(slope * logs, axis=1)  # probabilities are right where it is 1

    truth, logs = draw(20_000, 99)
    found = {}
    for shrink_to in (100.0, 0.0):
        monkeypatch.setattr(decision, "SHRINK", shrink_to)
        chosen = [best_weights(judge, *draw(60, seed)) for seed in range(20)]
        found[shrink_to] = np.mean([judge.of(truth, logs + np.log(weights), None) for weights in chosen])
    assert found[100.0] > judge.of(truth, logs, None) + 0.005 and found[100.0] > found[0.0] + 0.02


def test_scores_that_need_no_rule_have_none() -> None:
    truth, scores = np.array([0, 1, 1, 0]), np.array([[0.0, -1.0], [0.0, -1.0], [-1.0, 0.0], [0.0, -2.0]])
    for name in ("accuracy", "log_loss", "roc_auc", "recall", "precision", "f1_micro", "brier"):
        assert rule_for(SCORES[name], truth, scores, np.zeros(4)) is None
        assert at_best(SCORES[name], truth, scores) is scores
    assert decided(scores, None) is scores


def test_a_guess_has_one_decision_for_all_rows() -> None:
    """Frequencies differ a little from fold to fold: a threshold between them would be luck."""
    truth, fold = np.array([0] * 90 + [1] * 10), np.tile([0, 1], 50)
    share = np.where(fold == 0, 0.1001, 0.0999)
    scores = np.log(np.column_stack([1 - share, share]))
    rule = rule_for(SCORES["f1"], truth, scores, fold)
    assert set(decided(scores, rule)[:, 2]) == {1.0}  # always "yes" has an F1 of 2π/(1 + π), always "no" of 0


def test_one_class_and_one_row() -> None:
    for truth in (np.zeros(5, dtype=np.int64), np.ones(1, dtype=np.int64)):
        weights = best_weights(SCORES["f1"], truth, np.zeros((len(truth), 2)))
        np.testing.assert_array_equal(weights, [0.5, 0.5])


def test_a_score_of_the_first_class(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    truth, scores = rng.integers(0, 2, 80), rng.normal(size=(80, 2))
    said = scores.argmax(axis=1)
    assert of_class(SCORES["f1"], 0).of(truth, scores, None) == pytest.approx(metrics.f1_score(truth, said, pos_label=0))
    chance = np.exp(log_softmax(scores, axis=1))[:, 0]
    found = of_class(SCORES["average_precision"], 0).of(truth, scores, None)
    assert found == pytest.approx(metrics.average_precision_score(truth, chance, pos_label=0))
    monkeypatch.setattr(decision, "SHRINK", 0.0)
    turned = of_class(SCORES["f1"], 0)
    best = turned.of(truth, at_best(turned, truth, scores), None)
    assert best == pytest.approx(max(metrics.f1_score(truth, chance < t, pos_label=0) for t in np.append(chance, 2.0)))
    assert of_class(SCORES["roc_auc"], 0) is SCORES["roc_auc"] and of_class(SCORES["f1"], 1) is SCORES["f1"]


def test_of_several_classes_none_is_the_positive_one() -> None:
    rng = np.random.default_rng(1)
    code = np.arange(150) % 3
    X = rng.normal(size=(150, 2)) + code[:, None]
    task = Task("classes", "y", np.array(["a", "b", "c"])[code], np.arange(150), None, [])
    assert Decisions.of(task).judge(SCORES["average_precision"]) is SCORES["average_precision"]
    found = tenfold.select(pl.DataFrame(X, schema=["u", "v"]), task.y, metric="average_precision", effort="quick", folds=3)
    held = found.held_out
    assert found.signal and found.estimate is not None and held is not None
    probabilities = held.select(pl.col("^chance of .*$")).to_numpy()
    theirs = metrics.average_precision_score(np.eye(3)[code[held["row"].to_numpy()]], probabilities)
    assert found.estimate.value == pytest.approx(theirs, rel=1e-6)


# --- costs ----------------------------------------------------------------------------------------------


def test_costs_as_they_are_written(tmp_path: Path) -> None:
    by_name = np.array([[0.0, 20.0], [1.0, 0.0]])  # "bad" is positive
    for cost in ("FP:1,FN:20", "fn:20", dict(FP=1, FN=20), "bad>good:20, good>bad:1", {("bad", "good"): 20}):
        named = checked_cost(cost)
        assert named is not None and checked_cost(json.loads(json.dumps(named))) == named  # as run.json has it
        np.testing.assert_array_equal(cost_matrix(named, ["bad", "good"], 0), by_name)
    file = tmp_path / "costs.csv"
    file.write_text("truth,c,a,b\na,3,0,1\nb,1.5,2,-1\nc,0,9,4\n")
    named = checked_cost(file)
    assert named == checked_cost(str(file)) and named is not None
    np.testing.assert_array_equal(cost_matrix(named, ["a", "b", "c"], 2), [[0, 1, 3], [2, -1, 1.5], [9, 4, 0]])
    assert positive_class(np.array([0, 1, 1]), ["bad", "good"], None) == 0
    assert positive_class(np.array([0, 1]), ["bad", "good"], None) == 1
    assert positive_class(np.array([0, 1, 1]), ["0", "1"], "1.0") == 1


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        ("FP", "write FP:1,FN:20"),
        ("", "write FP:1,FN:20"),
        ("FP:x", "the cost of 'FP' is 'x'"),
        ("FP:1,FP:2", "FP is there twice"),
        ("FP:1,a>b:2", "write FP:1,FN:20"),
        ("a>b>c:2", "'a>b>c' is no error"),
        ("FP:inf", "give a number"),
        ("FP:nan", "give a number"),
        (3, "write FP:1,FN:20"),
        ({"FP": True}, "give a number"),
        ("no_such.csv", "no_such.csv"),
        ("yes>maybe:3", "'maybe' is no class of the target, whose classes are no, yes"),
        ("FP:0,FN:20", "deciding for 'yes' never costs more than anything else: give a cost above 0 to no>yes"),
    ],
)
def test_costs_that_cannot_be_read(cost: Any, words: str) -> None:
    with pytest.raises(TenfoldError, match=words.replace(">", ".")):
        cost_matrix(checked_cost(cost) or [], ["no", "yes"], 1)


def test_costs_with_commas_before_decimals(tmp_path: Path) -> None:
    file = tmp_path / "c.csv"
    file.write_text("truth;a;b\na;0;1,5\nb;2,25;0\n")
    assert cost_matrix(checked_cost(file) or [], ["a", "b"], 1).tolist() == [[0.0, 1.5], [2.25, 0.0]]


def test_files_of_costs_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "c.csv"
    for text, words in (
        ("truth,a,b\na,0,1\nb,,0\n", "no cost of deciding for 'a' where 'b' is true"),
        ("truth,a,b\na,0,1\na,1,0\n", "two lines for the class 'a'"),
        ("a,b\n0,1\n", "no matrix of costs"),
    ):
        file.write_text(text)
        with pytest.raises(BadInput, match=words):
            checked_cost(file)


def test_settings_that_do_not_go_together() -> None:
    with pytest.raises(BadParameter, match="both say which class is decided for"):
        Settings(cost="FP:1,FN:5", metric="f1")
    settings = Settings(cost="FP:1,FN:5", metric="auc", positive=1)
    assert Settings.of(json.loads(json.dumps(settings.facts()))) == settings
    X, _, y = table(60, 0)
    with pytest.raises(BadParameter, match="cost is for classes, and 'a' is a number"):
        tenfold.select(frame_of(X, y), "a", cost="FP:1,FN:5")
    with pytest.raises(BadParameter, match="positive: 'maybe' is no class"):
        tenfold.select(frame_of(X, y), "y", positive="maybe")


def test_the_cheapest_class_is_that_of_least_risk() -> None:
    rng = np.random.default_rng(0)
    p, costs = rng.dirichlet(np.ones(4), 300), rng.uniform(0, 5, (4, 4))
    np.testing.assert_array_equal(cheapest(p, costs), minimum_risk(p, costs))
    given = np.array([[0.0, 1.0], [20.0, 0.0]])
    assert threshold_of(given) == pytest.approx(threshold(1, 20)) and threshold_of(given.T[::-1, ::-1], 0) == pytest.approx(20 / 21)
    truth = rng.integers(0, 4, 300)
    judge = cost_score(costs)
    assert judge.of(truth, np.log(p), None) == pytest.approx(costs[truth, minimum_risk(p, costs)].mean())
    assert cost_score(costs, likely=True).of(truth, np.log(p), None) == pytest.approx(costs[truth, p.argmax(axis=1)].mean())
    sure = np.where(np.eye(2)[truth % 2] > 0, 0.0, -9.0)  # no error in 300 rows: about 3/300 at most, each of 20
    found = score_range(cost_score(given), truth % 2, sure)
    assert found.estimate == found.low == 0 and 0.1 < found.high < 0.5


# --- the whole ------------------------------------------------------------------------------------------


def small_race(X: np.ndarray, y: np.ndarray, judge: Score, folds: int = 3) -> Race:
    """A guess and two learners that follow from sums: quick enough to be run a hundred times."""
    families = [
        Family("frequencies", FrequencyGuess(), 0),
        Family("discriminant", tenfold.LinearDiscriminantAnalysis(), 1),
        Family("naive Bayes", tenfold.GaussianNB(), 2),
    ]
    rows = Rows(X, y.astype(np.int64), make_folds(y.astype(np.int64), folds, 0, "classifier", None))
    race = Race(rows, families, [judge], pairs=True)
    race.run()
    return race


def test_the_estimate_counts_what_choosing_the_threshold_costs() -> None:
    """F1 with a chosen threshold over 100 small tables: the estimate against the truth on many new rows, and the board, which flatters."""
    judge = SCORES["f1"]
    X_new, _, y_new = table(20_000, 999, -1.8)
    estimates, boards, truths, plain = [], [], [], []
    for seed in range(100):
        X, _, y = table(100, seed, -1.8)
        race = small_race(X, y, judge)
        found = audit(race)
        assert found is not None
        estimates.append(found.held.score(found.outputs["fast"], found.rows))  # the value of the estimate, without its range
        held, rows = race.held_out(), np.arange(len(y))
        leader = choose(race.settings, held, rows).leader
        boards.append(held.score(held.decided(held.outputs[leader], rows), rows))
        rule = held.rule(held.outputs[leader], rows)
        model = race.settings[leader].learner.fit(X, y.astype(np.int64))
        scores = np.log(np.maximum(model.predict_proba(X_new), 1e-12))
        truths.append(metrics.f1_score(y_new, decided(scores, rule)[:, 2]))
        plain.append(metrics.f1_score(y_new, scores.argmax(axis=1)))
    bias, error = np.mean(estimates) - np.mean(truths), np.std(np.subtract(estimates, truths)) / 10
    assert abs(bias) < max(2.5 * error, 0.02), (bias, error)
    assert np.mean(boards) - np.mean(truths) > 0.03  # what would be said without the replay
    assert np.mean(truths) > np.mean(plain) + 0.02  # and the threshold is worth choosing


def test_costs_recover_the_decisions_of_the_law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decisions of least expected cost are nearly as cheap on new rows as those by the true chances; the rest is told and saved."""
    shrink(monkeypatch, 5, (5,))
    X, _, y = table(500, 1)
    heard: dict[str, Any] = {}
    found = tenfold.select(
        frame_of(X, y), "y", cost="FP:1,FN:20", effort="quick", folds=3, listen=lambda event, **facts: heard.setdefault(event, facts)
    )
    X_new, chance, y_new = table(20_000, 7)
    new = frame_of(X_new, y_new).drop("y")
    cost = np.array([[0.0, 1.0], [20.0, 0.0]])
    said = found.predict(new)
    np.testing.assert_array_equal(said == "yes", found.predict_proba(new)[:, 1] > 1 / 21)
    truth = y_new.astype(int)
    by_law, by_model = (cost[truth, one.astype(int)].mean() for one in (chance > 1 / 21, said == "yes"))
    likely = cost[truth, (found.predict_proba(new)[:, 1] > 0.5).astype(int)].mean()
    assert by_law <= by_model < 1.15 * by_law < 0.7 * likely
    worth = found.others["cost"]
    assert worth.low < by_model < worth.high
    told = heard["decisions"]
    assert told["by"] == "given" and told["threshold"] == pytest.approx(1 / 21)
    assert told["cost"]["decided"]["value"] == pytest.approx(worth.value) and told["cost"]["likely"]["value"] > worth.value
    assert told["cost"]["one"] == "yes" and told["cost"]["always"] == pytest.approx(float((~y).mean()))
    assert found.held_out is not None
    assert metrics.accuracy_score(found.held_out["truth"], found.held_out["decision"]) == pytest.approx(found.others["accuracy"].value)
    found.save(tmp_path / "run")
    again = open_run(tmp_path / "run")
    np.testing.assert_array_equal(again.predict(new), said)
    assert again.score(frame_of(X_new, y_new)) == pytest.approx(float(np.mean((said == "yes") == y_new)))
    frame_of(X_new, y_new).write_csv(tmp_path / "new.csv")
    assert run(["predict", str(tmp_path / "run"), str(tmp_path / "new.csv"), "--out", str(tmp_path / "out.csv")]) == 0
    written = pl.read_csv(tmp_path / "out.csv")
    assert written.columns == ["y", "90% set", "chance of no", "chance of yes"] and written["y"].to_list() == said.tolist()
    other = ["predict", str(tmp_path / "run"), str(tmp_path / "new.csv"), "--out", str(tmp_path / "out.csv"), "--cost"]
    assert run([*other, "FN:3"]) == 0  # a false alarm costs 1
    written = pl.read_csv(tmp_path / "out.csv")
    np.testing.assert_array_equal((written["y"] == "yes").to_numpy(), (written["chance of yes"] > 0.25).to_numpy())
    assert run([*other, "FN:x"]) == 2
    page = page_of(json.loads(json.dumps(plain(found.record))), found.held_out)
    assert "least expected cost, as saved" in page and "is predicted from a probability of 4.8% on" in page


def test_the_positive_class_of_a_fit_is_the_rarer_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where it is the first by name: FP and FN, F1 and what `estimate` says of it are those of `select`."""
    monkeypatch.chdir(tmp_path)
    X, _, y = table(400, 8)
    frame_of(X, ~y).write_csv("t.csv")  # "no" is what happens rarely
    fit = ["fit", "t.csv", "--target", "y", "--model", "LogisticRegression", "--metric", "f1", "--folds", "3", "--quiet"]
    assert run(fit) == 0
    record, held = json.loads(Path("t.tenfold/run.json").read_text()), pl.read_parquet("t.tenfold/held_out.parquet")
    assert record["settings"]["positive"] == "no"
    assert record["estimate"]["f1"]["value"] == pytest.approx(metrics.f1_score(held["truth"], held["decision"], pos_label="no"))
    capsys.readouterr()
    assert run(["estimate", "t.tenfold", "t.csv", "--json"]) == 0
    same = metrics.f1_score(frame_of(X, ~y)["y"], open_run(Path("t.tenfold")).predict(frame_of(X, ~y)), pos_label="no")
    assert f"{same:.12g}"[:10] in capsys.readouterr().out
    asked = ["predict", "t.tenfold", "t.csv", "--out", "out.csv", "--cost", "FP:1,FN:20"]
    assert run(asked) == 0
    written = pl.read_csv("out.csv")
    np.testing.assert_array_equal((written["y"] == "no").to_numpy(), (written["chance of no"] > 1 / 21).to_numpy())
    del record["settings"]["positive"]  # as an earlier version wrote it
    Path("t.tenfold/run.json").write_text(json.dumps(record))
    capsys.readouterr()
    assert run(asked) == 2
    assert "which of 'no' and 'yes' is the positive class is not known of this run" in capsys.readouterr().err
    assert run([*asked[:-1], "no>yes:20,yes>no:1"]) == 0  # where the errors are named it does not matter
    assert pl.read_csv("out.csv").equals(written)


def test_a_threshold_for_f1_is_chosen_saved_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shrink(monkeypatch, 5, (5,))
    monkeypatch.chdir(tmp_path)
    X, _, y = table(300, 3, -3.2)
    frame_of(X, y).write_csv("t.csv")
    assert run(["select", "t.csv", "--target", "y", "--metric", "f1", "--effort", "quick", "--folds", "3"]) == 0
    out = capsys.readouterr().out
    assert "DECIDES  for yes from a probability of" in out and "the threshold that F1 was best by" in out
    record = json.loads(Path("t.tenfold/run.json").read_text())
    model, told = open_run(Path("t.tenfold")), record["decisions"]
    assert record["settings"]["positive"] == "yes" and told["by"] == "chosen" and 0.02 < told["threshold"] < 0.6
    assert run(["reproduce", "t.tenfold", "--quiet"]) == 0 and "SAME" in capsys.readouterr().out
    new = frame_of(*table(500, 4, -3.2)[::2])
    np.testing.assert_array_equal(model.predict(new) == "yes", model.predict_proba(new)[:, 1] > told["threshold"])
    held = pl.read_parquet("t.tenfold/held_out.parquet")
    assert metrics.f1_score(held["truth"], held["decision"], pos_label="yes") == pytest.approx(record["estimate"]["f1"]["value"])
    new.write_csv("new.csv")
    assert run(["estimate", "t.tenfold", "new.csv", "--json"]) in (0, 1)
    scores = {one["metric"]: one["value"] for one in json.loads(capsys.readouterr().out)["scores"]}
    assert scores["f1"] == pytest.approx(metrics.f1_score(new["y"], model.predict(new), pos_label="yes"))
    assert run(["inspect", "t.tenfold"]) == 0
    assert "DECIDES" in capsys.readouterr().out
    refitted = fresh(model).fit(new.drop("y"), new["y"].to_numpy())
    assert refitted.costs == model.costs


def test_f1_is_of_the_rarer_class_or_of_the_one_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5,))
    X, _, y = table(200, 5, -1.0)
    frame = frame_of(X, ~y)  # "no" is the rarer one
    found = {name: tenfold.select(frame, "y", metric="f1", effort="quick", folds=3, positive=name) for name in (None, "yes")}
    for name, label in ((None, "no"), ("yes", "yes")):
        held = found[name].held_out
        assert held is not None and found[name].estimate is not None and found[name].record["settings"]["positive"] == label
        assert metrics.f1_score(held["truth"], held["decision"], pos_label=label) == pytest.approx(found[name].estimate.value)


def test_a_rare_class_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5,))
    X, _, y = table(500, 2, -5.0)
    heard: dict[str, Any] = {}
    found = tenfold.select(
        frame_of(X, y), "y", effort="quick", folds=3, listen=lambda event, **facts: heard.setdefault(event, facts)
    )
    told = heard["decisions"]
    share = float(y.mean())
    assert share < 0.1 and told["by"] == "likely" and told["most_frequent"] == dict(label="no", share=pytest.approx(1 - share))
    assert "average_precision" in found.others and found.model.costs is None
    assert found.held_out is not None
    chance, truth = found.held_out["chance of yes"].to_numpy(), found.held_out["truth"].to_numpy() == "yes"
    for one in told["thresholds"]:
        said = chance >= one["at"]
        assert one["found"] == (said & truth).sum() and one["flagged"] == pytest.approx(said.mean())
        assert one["recall"]["value"] == pytest.approx(metrics.recall_score(truth, said))
        assert one["recall"]["low"] < one["recall"]["value"] < one["recall"]["high"] or one["recall"]["value"] in (0, 1)
    text = "\n".join(decision_lines(told))
    assert f"RARE     yes is {100 * share:.1f}% of the rows: always predicting no is right for {100 - 100 * share:.1f}%" in text
    assert "Nothing was resampled" in text
    even = tenfold.select(frame_of(*table(200, 2, 0.0)[::2]), "y", effort="quick", folds=3)
    assert even.record["decisions"] is None and even.held_out is not None and "decision" not in even.held_out.columns


def test_several_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5,))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.array(["a", "b", "c"])[(X + rng.gumbel(size=(400, 3)) + [2.0, 0.0, -1.0]).argmax(axis=1)]
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(3)} | dict(y=y))
    cheap = tenfold.select(frame, "y", cost="c>a:30,c>b:30", effort="quick", folds=3)
    costs = np.array([[0.0, 1, 1], [1, 0, 1], [30, 30, 0]])
    np.testing.assert_array_equal(cheap.predict(frame), np.array(["a", "b", "c"])[minimum_risk(cheap.predict_proba(frame), costs)])
    assert (cheap.predict(frame) == "c").mean() > 2 * (y == "c").mean()
    even = tenfold.select(frame, "y", metric="balanced_accuracy", effort="quick", folds=3)
    assert even.estimate is not None and even.model.rule is not None
    weights = even.model.rule.max(axis=1)
    assert weights[0] < weights[1] and weights[0] < weights[2]  # the frequent class counts less
    told = even.record["decisions"]
    assert "by probabilities times weights of the classes" in "\n".join(decision_lines(told))
    with pytest.raises(BadParameter, match="FN:5 is for two classes, and there are 3: write a>b:5"):
        tenfold.select(frame, "y", cost="FN:5")


def test_saved_costs_must_suit_the_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5,))
    X, _, y = table(120, 0, 0.0)
    model = tenfold.select(frame_of(X, y), "y", effort="quick", folds=3, cost="FN:3").model
    assert model._objection() is None
    for costs in ([[0.0, 1.0]], [[0.0, 1.0], [float("nan"), 0.0]], [["a", "b"], ["c", "d"]]):
        model.costs = costs
        assert "no matrix of numbers for 2 classes" in str(model._objection())


def test_what_is_found_of_rows_that_belong_together_is_known_as_of_fewer() -> None:
    """Of ten people with twelve positive rows each all are found, or none."""
    who = np.repeat(np.arange(10), 12)
    true, said = np.ones(120, dtype=bool), who < 5
    alone, together = (decisions._found(true, said, "yes", False, unit)["recall"] for unit in (None, who))
    assert alone is not None and together is not None and alone["value"] == together["value"] == 0.5
    assert alone["high"] - alone["low"] < 0.2 and together["high"] - together["low"] > 0.5
    each = decisions._found(true, said, "yes", False, np.arange(120))["recall"]
    assert each is not None and each["low"] == pytest.approx(alone["low"], abs=0.002)


def test_a_mix_decides_by_its_own_rule() -> None:
    X, _, y = table(100, 0, -1.8)
    race = small_race(X, y, SCORES["f1"])
    held, rows = race.held_out(), np.arange(100)
    outputs = Mix({1: 0.5, 2: 0.5}).outputs(held, rows)
    assert held.decided(outputs, rows).shape == (100, 3)
    assert held.score(held.decided(outputs, rows), rows) >= held.score(outputs, rows)
