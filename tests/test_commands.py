"""The commands around select: fit, estimate, compare, watch, by what they print, how they end, and against known answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression as TheirLeastSquares
from sklearn.metrics import log_loss, roc_auc_score
from small_portfolio import shrink

from tenfold.app.commands import app, run
from tenfold.core.errors import BadInput
from tenfold.score.registry import SCORES
from tenfold.selection.model.store import open_run, record_of, sketch_of
from tenfold.selection.monitor import drift as drifts
from tenfold.selection.monitor.labelled import labelled_rows
from tenfold.selection.monitor.paired import contender, difference
from tenfold.selection.monitor.promise import p_value
from tenfold.table.reading import read_table

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def classes(rows: int, seed: int, name: str) -> str:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, rows))
    c = rng.choice(["red", "green", "blue"], rows, p=[0.5, 0.3, 0.2])
    y = np.where(x + (c == "red") + rng.normal(size=rows) > 0.3, "yes", "no")
    pl.DataFrame({"x": x, "z": pl.Series(np.where(rng.random(rows) < 0.1, np.nan, z)).fill_nan(None), "c": c, "y": y}).write_csv(name)
    return name


def numbers(rows: int, seed: int, name: str) -> str:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 3))
    pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": x @ [2.0, 1, 0] + rng.normal(size=rows)}).write_csv(name)
    return name


def fit(file: str, model: str, *more: str) -> int:
    return run(["fit", file, "--target", "y", "--model", model, "--folds", "4", *more])


# --- fit --------------------------------------------------------------------------------------------------------------


def test_fit_is_estimated_on_held_out_rows_and_saved(capsys: Captured) -> None:
    file = classes(300, 0, "t.csv")
    assert fit(file, "logisticregression", "--set", "C=0.5") == 0
    out = capsys.readouterr().out
    assert "MODEL    LogisticRegression(C=0.5)" in out and "HONEST ESTIMATE of this learner" in out
    assert "NEXT     tenfold predict t.tenfold" in out
    record, held = record_of(Path("t.tenfold")), pl.read_parquet("t.tenfold/held_out.parquet")
    assert held.height == 300 and held["row"].to_list() == list(range(300)) and set(held["fold"]) == {0, 1, 2, 3}
    probabilities = held.select("chance of no", "chance of yes").to_numpy()
    by_folds, found = record["growth"]["score"], record["estimate"]["log_loss"]["value"]
    assert by_folds == pytest.approx(log_loss(held["truth"].to_list(), probabilities), rel=1e-9)
    assert found == pytest.approx(by_folds * record["growth"]["share"], rel=1e-9) and found < by_folds
    positive, fold = held["truth"].to_numpy() == "yes", held["fold"].to_numpy()
    areas = [roc_auc_score(positive[fold == k], probabilities[fold == k, 1]) for k in range(4)]
    pairs = [positive[fold == k].sum() * (~positive[fold == k]).sum() for k in range(4)]  # of rows that one model has judged
    assert record["estimate"]["roc_auc"]["value"] == pytest.approx(np.average(areas, weights=pairs), rel=1e-9)
    assert [one["name"] for one in sketch_of(Path("t.tenfold"))["columns"]] == ["x", "z", "c"]
    for line in ("predict", "inspect", "estimate"):
        assert run([line, "t.tenfold", *([] if line == "inspect" else [file])]) == 0
    assert "chance of yes" in capsys.readouterr().out


def test_fit_of_numbers_is_least_squares(capsys: Captured) -> None:
    file = numbers(120, 0, "t.csv")
    assert fit(file, "LinearRegression", "--quiet") == 0
    line = capsys.readouterr().out
    assert line.count("\n") == 1 and "rmse" in line and "saved t.tenfold/" in line
    frame = pl.read_csv(file)
    theirs = TheirLeastSquares().fit(frame.select("a", "b", "c").to_numpy(), frame["y"].to_numpy())
    model = open_run(Path("t.tenfold"))
    assert np.allclose(model.predict(frame), theirs.predict(frame.select("a", "b", "c").to_numpy()), rtol=1e-9)
    held = pl.read_parquet("t.tenfold/held_out.parquet")
    off = (held["truth"] - held["prediction"]).to_numpy()
    record = record_of(Path("t.tenfold"))
    assert record["growth"]["score"] == pytest.approx(np.sqrt((off**2).mean()), rel=1e-9)  # of models of three folds out of four
    assert 0.95 * record["growth"]["score"] < record["estimate"]["rmse"]["value"] < record["growth"]["score"]
    assert model.reach_ == pytest.approx(np.sort(np.abs(off))[int(np.ceil(0.9 * 121)) - 1], rel=1e-12)


def test_what_decisions_cost_is_the_estimate_as_held_out_rows_have_it(capsys: Captured) -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(0, 4, size=(300, 2))
    y = np.where(np.floor(x).sum(axis=1) % 2 == 0, "black", "white")
    pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "y": y}).write_csv("t.csv")
    assert fit("t.csv", "KNeighbors", "--cost", "black>white:3") == 0
    record, out = record_of(Path("t.tenfold")), capsys.readouterr().out
    cost, worth = record["decisions"]["cost"], record["estimate"]["cost"]
    assert cost["decided"] == worth and "for the model of all rows" not in worth["method"]  # steps of decisions are left as they are
    assert "for the model of all rows" in record["estimate"]["log_loss"]["method"]
    assert cost["likely"]["value"] > worth["value"]
    assert f"mean cost of a row {worth['value']:.4f}" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "Rige"], "--model Rige: there is no learner of this name: did you mean Ridge?"),
        (["--model", "Ridge"], "Ridge predicts numbers, and the target holds classes"),
        (["--model", "RandomForestRegressor"], "use RandomForestClassifier"),
        (["--model", "LinearSVC"], "LinearSVC tells classes and no probabilities, which the estimates need: use LogisticRegression"),
        (["--model", "perceptron"], "Perceptron tells classes and no probabilities"),
        (["--model", "Pipeline"], "is made of other learners"),
        (["--model", "StandardScaler"], "it is a transformer"),
        (["--model", "GaussianNB", "--set", "var=1"], "GaussianNB has no parameter 'var': did you mean var_smoothing?"),
        (["--model", "LogisticRegression", "--set", "C=-1"], "--set C=-1: must be"),
        (["--model", "LogisticRegression", "--set", "C"], "give PARAMETER=VALUE"),
        ([], "name the learner with --model"),
        (["--model", "GaussianNB", "--folds", "1"], "--folds 1: must be 3 to 50"),
        (["--model", "GaussianNB", "--metric", "rmse"], "rmse"),
    ],
)
def test_fit_refuses_in_one_sentence(arguments: list[str], says: str, capsys: Captured) -> None:
    file = classes(60, 0, "t.csv")
    assert run(["fit", file, "--target", "y", *arguments]) == 2
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1 and not Path("t.tenfold").exists()


def test_fit_heeds_groups_weights_times_and_costs(capsys: Captured) -> None:
    """Ten rows of one person are alike: without --groups a neighbour of the same person is found, and the estimate is far too good."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(40), 10)
    x, y = rng.normal(size=(40, 3))[who] + 0.01 * rng.normal(size=(400, 3)), rng.choice(["no", "yes"], 40)[who]
    pl.DataFrame(dict(a=x[:, 0], b=x[:, 1], c=x[:, 2], who=who, day=np.arange(400), w=1.0 + (who < 20), y=y)).write_csv("t.csv")
    found, more = {}, ["--drop", "who", "--drop", "day", "--drop", "w"]
    for name, options in dict(alone=more, groups=["--groups", "who", *more[2:]], times=["--time-column", "day", *more[:2]]).items():
        assert fit("t.csv", "KNeighbors", *options, "--out", f"{name}.tenfold", "--quiet") == 0
        found[name] = record_of(Path(f"{name}.tenfold"))
    assert found["alone"]["estimate"]["accuracy"]["value"] > 0.95 > 0.7 > found["groups"]["estimate"]["accuracy"]["value"]
    assert "spans of time" in found["times"]["estimate"]["log_loss"]["method"] and found["groups"]["command"] == "fit"
    capsys.readouterr()
    assert fit("t.csv", "LogisticRegression", *more[:4], "--weights", "w", "--cost", "FP:1,FN:20", "--out", "c.tenfold") == 0
    out, held = capsys.readouterr().out, pl.read_parquet("c.tenfold/held_out.parquet")
    rare = record_of(Path("c.tenfold"))["settings"]["positive"]
    assert "weight" in held.columns and "DECIDES" in out
    np.testing.assert_array_equal((held["decision"] == rare).to_numpy(), (held[f"chance of {rare}"] > 1 / 21).to_numpy())


def test_a_learner_that_cannot_be_fitted_is_told_with_its_reason(capsys: Captured) -> None:
    file = numbers(60, 0, "t.csv")
    pl.read_csv(file).with_columns(pl.col("y") - 100).write_csv("t.csv")
    assert run(["fit", "t.csv", "--target", "y", "--model", "PoissonRegressor", "--folds", "3"]) == 4
    error = capsys.readouterr().err
    assert "PoissonRegressor() could not be fitted: Some value(s) of y are out of the valid range" in error
    assert error.count("\n") == 1 and not Path("t.tenfold/model.tenfold").exists()


def test_fit_divides_rows_as_select_does(capsys: Captured) -> None:
    """Few groups, and few rows of a class that a score needs in every fold."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(600) % 75 == 0, "yes", "no")
    pl.DataFrame(dict(x=rng.normal(size=600) + (y == "yes"), shop=np.arange(600) % 6, y=y)).write_csv("t.csv")
    named = ["fit", "t.csv", "--target", "y", "--model", "GaussianNB", "--quiet", "--replace"]
    assert run([*named, "--metric", "auc"]) == 0 and run([*named, "--groups", "shop"]) == 0
    assert "AUC" in capsys.readouterr().out
    pl.read_csv("t.csv").with_columns(shop=pl.col("shop") % 4).write_csv("t.csv")
    assert run([*named, "--groups", "shop"]) == 0 and record_of(Path("t.tenfold"))["settings"]["folds"] == 4
    pl.read_csv("t.csv").with_columns(shop=pl.col("shop") % 2).write_csv("t.csv")
    assert run([*named, "--groups", "shop"]) == 3
    assert "has 2 groups: 3 folds need at least as many" in capsys.readouterr().err
    pl.DataFrame(dict(x=rng.normal(size=60), shop=np.arange(60) // 10, y=np.arange(60) // 10 == 2)).write_csv("t.csv")
    assert run([*named, "--groups", "shop"]) == 4
    assert "GaussianNB() could not be fitted: GaussianNB needs samples of at least 2 classes" in capsys.readouterr().err


def test_a_fit_takes_the_place_of_a_run_that_was_stopped() -> None:
    Path("t.tenfold.race").write_bytes(b"left behind")
    assert fit(classes(100, 0, "t.csv"), "GaussianNB", "--quiet") == 0
    assert not Path("t.tenfold.race").exists()


def test_a_learner_that_says_what_the_guess_says_is_not_worse_than_it(capsys: Captured) -> None:
    assert fit(numbers(120, 0, "t.csv"), "Lasso", "--set", "alpha=1e9") == 0
    out = capsys.readouterr().out
    assert "this learner cannot be told from guessing" in out and "always guessing" in out


def test_a_learner_that_is_worse_than_the_guess_is_saved_and_told(capsys: Captured) -> None:
    rng = np.random.default_rng(0)
    pl.DataFrame(dict(a=rng.normal(size=300), b=rng.normal(size=300), y=rng.normal(size=300))).write_csv("t.csv")
    assert fit("t.csv", "DecisionTree") == 0
    assert "this learner is worse than guessing" in capsys.readouterr().out
    found = {row["model"]: row["against"] for row in record_of(Path("t.tenfold"))["board"]}
    assert found["DecisionTreeRegressor()"] == "best" and "baseline" in found.values()
    assert run(["inspect", "t.tenfold"]) == 0 and "worse than guessing" in capsys.readouterr().out
    assert "is worse than guessing, beyond what chance explains" in Path("t.tenfold/report.html").read_text()


def test_noise_is_said_to_be_noise(capsys: Captured) -> None:
    rng = np.random.default_rng(3)
    pl.DataFrame({"x": rng.normal(size=80), "y": rng.choice(["a", "b"], 80)}).write_csv("t.csv")
    assert fit("t.csv", "GaussianNB") == 0
    assert "VERDICT  On these rows this learner cannot be told from guessing" in capsys.readouterr().out


# --- estimate ---------------------------------------------------------------------------------------------------------


def test_a_promise_kept_and_one_broken(capsys: Captured) -> None:
    assert fit(classes(400, 0, "t.csv"), "LogisticRegression", "--quiet") == 0
    assert run(["estimate", "t.tenfold", classes(300, 1, "new.csv")]) == 0
    out = capsys.readouterr().out
    assert "300 rows with a value of 'y'" in out and "VERDICT  As promised" in out and "promised 0." in out
    frame = pl.read_csv("new.csv")
    frame.with_columns(y=frame["y"].shuffle(seed=0)).write_csv("broken.csv")
    assert run(["estimate", "t.tenfold", "broken.csv", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["verdict"] == "worse than promised" and facts["scores"][0]["p_value"] < 0.001
    model = open_run(Path("t.tenfold"))
    theirs = log_loss(pl.read_csv("broken.csv")["y"].to_list(), model.predict_proba("broken.csv"))
    assert facts["scores"][0]["value"] == pytest.approx(theirs, rel=1e-9)


def test_the_training_table_itself_is_told(capsys: Captured) -> None:
    assert fit(classes(100, 0, "t.csv"), "GaussianNB", "--quiet") == 0
    run(["estimate", "t.tenfold", "t.csv"])
    assert "this is the table that the model was fitted to" in capsys.readouterr().out


def test_rows_without_truth_and_new_classes(capsys: Captured) -> None:
    assert fit(classes(200, 0, "t.csv"), "GaussianNB", "--quiet") == 0
    frame = pl.read_csv(classes(50, 1, "new.csv"))
    y = [None, "maybe", *frame["y"].to_list()[2:]]
    frame.with_columns(y=pl.Series(y)).write_csv("new.csv")
    run(["estimate", "t.tenfold", "new.csv"])
    out = capsys.readouterr().out
    assert "48 rows with a value" in out and "1 row without a value of 'y' left out" in out and "never seen (such as 'maybe')" in out
    frame.with_columns(y=pl.lit("maybe")).write_csv("new.csv")
    assert run(["estimate", "t.tenfold", "new.csv"]) == 3 and "is none of no, yes" in capsys.readouterr().err
    frame.drop("y").write_csv("new.csv")
    assert run(["estimate", "t.tenfold", "new.csv"]) == 2 and "there is no column 'y'" in capsys.readouterr().err


def test_the_test_against_the_promise_has_its_level() -> None:
    """Means of n rows against a promise of m rows: 5 % of true promises are called broken."""
    rng = np.random.default_rng(0)
    judge = SCORES["mse"]
    broken = 0
    for _ in range(1000):
        means = [(x.mean(), 1.96 * x.std() / 200**0.5) for x in rng.normal(size=(2, 200)) ** 2]
        parts = [dict(value=mean, low=mean - half, high=mean + half) for mean, half in means]
        broken += p_value(*parts, judge.sign) < 0.05
    assert stats.binomtest(broken, 1000, 0.05).pvalue > 0.001


# --- compare ----------------------------------------------------------------------------------------------------------


def make_run(folder: str, truth: Any, output: Any, labels: list[str] | None = None, rows: Any = None) -> None:
    Path(folder).mkdir()
    n = len(truth)
    said = np.asarray(output)
    answers = dict(prediction=said) if labels is None else {f"chance of {label}": said[:, k] for k, label in enumerate(labels)}
    places = dict(row=np.arange(n) if rows is None else rows, fold=np.arange(n) % 5, truth=np.asarray(truth))
    pl.DataFrame(places | answers).write_parquet(f"{folder}/held_out.parquet")
    record = dict(made_by="tenfold select", chosen=f"{folder} model", settings=dict(target="y"), data=dict(rows=n))
    Path(folder, "run.json").write_text(json.dumps(record))


def test_the_better_model_is_found(capsys: Captured) -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    make_run("a", y, y + 0.5 * rng.normal(size=300))
    make_run("b", y, y + 1.0 * rng.normal(size=300))
    assert run(["compare", "a", "b"]) == 0
    out = capsys.readouterr().out
    assert "COMPARED by rmse on 300 rows that no model had seen" in out and "Against b: a is better by" in out and "p < 0.001" in out
    found = difference(contender(Path("b")), contender(Path("a")), SCORES["mse"])
    losses = [((y - pl.read_parquet(f"{one}/held_out.parquet")["prediction"].to_numpy()) ** 2) for one in "ab"]
    assert found.value == pytest.approx(losses[0].mean() - losses[1].mean(), rel=1e-9) and found.verdict == "worse"
    theirs = stats.ttest_rel(*losses)
    assert found.p_value > theirs.pvalue  # wider, as the models share training rows
    make_run("c", y, y + 0.5 * rng.normal(size=300))
    assert run(["compare", "a", "c", "--quiet"]) == 0 and "cannot be separated" in capsys.readouterr().out


def test_classes_in_another_order_and_rows_in_another(capsys: Captured) -> None:
    rng = np.random.default_rng(1)
    y = rng.choice(["no", "yes"], 200)
    p = np.where(y == "yes", 0.7, 0.3)
    make_run("a", y, np.column_stack([1 - p, p]), ["no", "yes"])
    order = rng.permutation(200)
    make_run("b", y[order], np.column_stack([p, 1 - p])[order], ["yes", "no"], order)
    assert run(["compare", "a", "b", "--json"]) == 0
    (facts,) = json.loads(capsys.readouterr().out)
    assert facts["value"] == pytest.approx(0, abs=1e-12) and facts["verdict"] == "as good" and facts["rows"] == 200


def test_against_predictions_of_somebody_else(capsys: Captured) -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=100)
    make_run("a", y, y + rng.normal(size=100))
    pl.DataFrame({"prediction": y}).write_csv("theirs.csv")
    assert run(["compare", "a", "theirs.csv"]) == 0
    out = capsys.readouterr().out
    assert "Against theirs.csv: a is worse by" in out and "without seeing the row" in out
    order = rng.permutation(100)
    pl.DataFrame({"row": order, "y": y[order]}).write_csv("theirs.csv")
    assert run(["compare", "a", "theirs.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["second"] == 0
    for frame, says in (
        (pl.DataFrame({"prediction": y[:50]}), "has 50 rows, but a has 100"),
        (pl.DataFrame({"guess": y}), "has no column 'prediction' or 'y'"),
        (pl.DataFrame({"row": np.arange(1, 101), "y": y}), "has no row 0"),
        (pl.DataFrame({"y": [None, *y[1:]]}), "no usable prediction for row 0"),
    ):
        frame.write_csv("theirs.csv")
        assert run(["compare", "a", "theirs.csv"]) == 3 and says in capsys.readouterr().err


def test_the_truth_is_nobodys_prediction(capsys: Captured) -> None:
    """The training table was taken for perfect predictions, and the run was "worse"."""
    for make, model in ((classes, "GaussianNB"), (numbers, "Ridge")):
        Path("t.csv").unlink(missing_ok=True)
        assert fit(make(100, 0, "t.csv"), model, "--quiet", "--replace") == 0
        assert run(["compare", "t.tenfold", "t.csv"]) == 3
        assert "t.csv is the table that t.tenfold was made from, and holds no predictions: give a file" in capsys.readouterr().err
        frame = pl.read_csv("t.csv")
        frame.write_parquet("same.parquet")
        assert run(["compare", "t.tenfold", "same.parquet"]) == 3
        assert "same.parquet has the columns that t.tenfold was made from, and 'y' in it is the truth" in capsys.readouterr().err
        frame.with_columns(y=frame["y"].shuffle(seed=0)).write_csv("theirs.csv")  # predicted beside the columns
        assert run(["compare", "t.tenfold", "theirs.csv", "--quiet"]) == 0 and "better" in capsys.readouterr().out


def test_nothing_is_written_into_a_run(capsys: Captured) -> None:
    """Predictions called held_out.parquet took the place of what compare reads."""
    assert fit(classes(100, 0, "t.csv"), "GaussianNB", "--quiet") == 0
    before = Path("t.tenfold/held_out.parquet").read_bytes()
    for given in ("t.tenfold", "t.tenfold/model.tenfold"):
        assert run(["predict", given, "t.csv", "--out", "./t.tenfold/held_out.parquet"]) == 2
        assert "lies in t.tenfold, which holds nothing but what tenfold has made" in capsys.readouterr().err
    assert Path("t.tenfold/held_out.parquet").read_bytes() == before
    for command in ("unusual", "reduce"):
        assert run([command, "t.csv", "--save", "new.tenfold", "--out", "new.tenfold/p.csv"]) == 2
        assert "--out new.tenfold/p.csv lies in new.tenfold" in capsys.readouterr().err and not Path("new.tenfold").exists()


def test_weights_and_groups_of_rows_count(capsys: Captured) -> None:
    """Rows of a group err alike: a difference of four groups is no certain one, however many rows they have."""
    rng = np.random.default_rng(4)
    y, group, weight = rng.normal(size=200), np.arange(200) % 4, rng.uniform(0.1, 3.0, 200)
    said = [y + np.array([0.5, 0.4, 0.9, 0.2])[group], y + np.array([0.8, 0.3, 1.0, 0.7])[group]]
    for folder, output in zip("ab", said, strict=True):
        make_run(folder, y, output)
    plain = difference(contender(Path("a")), contender(Path("b")), SCORES["mse"])
    for folder in "ab":
        frame = pl.read_parquet(f"{folder}/held_out.parquet").with_columns(weight=pl.Series(weight), unit=pl.Series(group))
        frame.write_parquet(f"{folder}/held_out.parquet")
    found = difference(contender(Path("a")), contender(Path("b")), SCORES["mse"])
    gap = (y - said[1]) ** 2 - (y - said[0]) ** 2
    assert found.value == pytest.approx(np.average(gap, weights=weight), rel=1e-9)
    assert found.second == pytest.approx(np.average((y - said[1]) ** 2, weights=weight), rel=1e-9)
    assert plain.p_value < 1e-6 < 0.05 < found.p_value
    pl.DataFrame({"prediction": said[1]}).write_csv("theirs.csv")
    assert run(["compare", "a", "theirs.csv", "--metric", "mse", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["value"] == pytest.approx(found.value, rel=1e-9)  # of a file by those of the run
    pl.read_parquet("b/held_out.parquet").with_columns(weight=pl.lit("much")).write_parquet("b/held_out.parquet")
    assert run(["compare", "a", "b"]) == 3 and "has a column 'weight' that is not one of numbers" in capsys.readouterr().err


def test_areas_under_the_curve_are_of_rows_of_one_model() -> None:
    """Models of two folds that say the same on other scales are as good: each ranks its own rows."""
    rng = np.random.default_rng(5)
    y, fold = rng.integers(0, 2, 100), np.arange(100) % 5
    score = 1.5 * y + rng.normal(size=100)
    for folder, shift in (("a", 0.0), ("b", 2.0)):
        p = 1 / (1 + np.exp(-(score + shift * fold)))
        make_run(folder, y.astype(str), np.column_stack([1 - p, p]), ["0", "1"])
    found = difference(contender(Path("a")), contender(Path("b")), SCORES["roc_auc"])
    assert found.value == 0 and found.first == found.second > 0.8 and found.verdict == "as good"


def test_a_run_keeps_the_weights_and_groups_of_its_rows(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    shrink(monkeypatch, 3, (3,))
    rng = np.random.default_rng(6)
    x, group = rng.normal(size=120), np.arange(120) % 15
    frame = pl.DataFrame(dict(x=x, g=group, w=rng.uniform(0.5, 2.0, 120), y=x + rng.normal(size=120)))
    frame.write_csv("t.csv")
    for name, more in (("a", ["--prefer", "simple"]), ("b", ["--prefer", "fast"])):
        asked = ["--groups", "g", "--weights", "w", "--effort", "quick", "--folds", "3", "--out", name, *more]
        assert run(["select", "t.csv", "--target", "y", *asked]) == 0
    notes = {one["name"]: one["note"] for one in record_of(Path("a"))["columns"]}  # nobody asked to leave them out
    assert notes["g"] == "groups of rows, not used to predict" and notes["w"] == "weights of rows, not used to predict"
    assert "! g   groups of rows, not used to predict" in capsys.readouterr().out
    kept = pl.read_parquet("a/held_out.parquet")
    row, w = kept["row"].to_numpy(), frame["w"].to_numpy()
    np.testing.assert_allclose(kept["weight"].to_numpy(), w[row] / w.mean(), rtol=1e-12)
    assert len(np.unique(kept["unit"])) == 15 and (np.unique(kept["unit"].to_numpy() * 15 + group[row]).size == 15)
    assert run(["compare", "a", "b"]) == 0 and run(["report", "a"]) == 0


def test_what_cannot_be_compared(capsys: Captured) -> None:
    y = np.arange(20.0)
    make_run("a", y, y)
    make_run("b", y + 1, y)
    make_run("c", ["u", "v"] * 10, np.full((20, 2), 0.5), ["u", "v"])
    Path("d").mkdir()
    for other, says in (("b", "different truths in row 0"), ("c", "predict different things"), ("d", "holds no held_out.parquet")):
        assert run(["compare", "a", other]) == 3 and says in capsys.readouterr().err
    assert run(["compare", "a"]) == 2 and "at least two" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("edited", "says"),
    [
        (pl.lit(None, pl.Int64).alias("row"), "a column 'row' that is not one of numbers"),
        (pl.lit(-1).alias("fold"), "a column 'fold' that is not one of numbers"),
        (pl.col("fold").cast(pl.String), "a column 'fold' that is not one of numbers"),
        (pl.col("prediction").cast(pl.String), "a column 'prediction' that is not one of numbers"),
        (pl.lit("x").alias("truth"), "a column 'truth' that is not one of numbers"),
        (pl.lit(-1.0).alias("weight"), "a column 'weight' that is not one of numbers"),
        (pl.lit(float("nan")).alias("prediction"), "no row that was judged"),
        (None, "no column 'row'"),
    ],
)
def test_held_out_rows_that_somebody_wrote_in_are_refused(edited: Any, says: str, capsys: Captured) -> None:
    y = np.arange(20.0)
    make_run("a", y, y + 1)
    make_run("b", y, y)
    frame = pl.read_parquet("b/held_out.parquet")
    (frame.drop("row") if edited is None else frame.with_columns(edited)).write_parquet("b/held_out.parquet")
    for command in (["compare", "a", "b"], ["report", "b"]):
        assert run(command) == 3
        err = capsys.readouterr().err
        assert err.startswith("tenfold: b/held_out.parquet h") and says in err and "not written by tenfold" in err


def test_equal_models_are_told_apart_at_their_level() -> None:
    """Two models with errors of one size: called different in no more than 5 % of tables."""
    rng = np.random.default_rng(0)
    from tenfold.selection.monitor.labelled import LabelledRows
    from tenfold.selection.monitor.paired import Contender

    different = 0
    for _ in range(400):
        y = rng.normal(size=(150, 1))
        pair = [Contender(name, np.arange(150), LabelledRows(y, y + rng.normal(size=(150, 1))), {}) for name in "ab"]
        different += difference(pair[0], pair[1], SCORES["rmse"]).p_value < 0.05
    assert different <= stats.binom.ppf(0.999, 400, 0.05)


# --- watch ------------------------------------------------------------------------------------------------------------


def test_watch_finds_what_has_moved(capsys: Captured) -> None:
    assert fit(classes(400, 0, "t.csv"), "GaussianNB", "--quiet") == 0
    assert run(["watch", "t.tenfold", classes(300, 5, "same.csv")]) == 0
    assert "VERDICT  No sign of drift." in capsys.readouterr().out
    frame = pl.read_csv("same.csv").with_columns(pl.col("x") + 1, c=pl.lit("violet"), z=pl.lit(None, pl.Float64)).drop("y")
    frame.write_csv("moved.csv")
    assert run(["watch", "t.tenfold", "moved.csv", "--against", "t.csv"]) == 1
    out = capsys.readouterr().out
    assert "DRIFTED  3 columns of 3" in out and "300 'violet' is new" in out and "missing in 100.0%" in out and "AUC" in out
    frame.drop("x").write_csv("moved.csv")
    assert run(["watch", "t.tenfold", "moved.csv"]) == 2 and "there is no column 'x'" in capsys.readouterr().err
    Path("t.tenfold/sketch.json").unlink()
    assert run(["watch", "t.tenfold", "same.csv"]) == 3 and "keeps no sketch" in capsys.readouterr().err


def test_cells_that_cannot_be_read_are_no_drift(capsys: Captured) -> None:
    """Written in another way a column was said to be missing in every row, and to have drifted strongly."""
    assert fit(classes(400, 0, "t.csv"), "GaussianNB", "--quiet") == 0
    frame = pl.read_csv(classes(300, 5, "new.csv"), schema_overrides=dict(x=pl.String))
    frame.with_columns(x="$" + pl.col("x")).write_csv("new.csv")
    said = f"no row can be read in the column 'x': '${frame['x'][0]}' in 'x' is not a number as in training; write the values in that way"
    assert run(["predict", "t.tenfold", "new.csv"]) == 3 and said in capsys.readouterr().err
    assert run(["watch", "t.tenfold", "new.csv", "--against", "t.csv"]) == 1
    out = " ".join(capsys.readouterr().out.split())
    assert f"! {said}" in out and "DRIFTED" not in out and "NEVER SEEN" not in out
    assert "VERDICT 'x' cannot be read: write the values as in training. Of the others: no sign of drift." in out
    assert run(["watch", "t.tenfold", "new.csv", "--json"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert facts["notes"] == [said] and facts["unread"] == ["x"] and not facts["drifted"]
    assert [one["name"] for one in facts["columns"]] != [] and "x" not in [one["name"] for one in facts["columns"]]
    few = pl.Series([f"${one}" if i < 100 else one for i, one in enumerate(frame["x"])])
    frame.with_columns(x=few).write_csv("new.csv")
    assert run(["watch", "t.tenfold", "new.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"] == [
        f"column 'x': 100 cells such as '${frame['x'][0]}' are not a number, and count as missing"
    ]


def test_columns_that_only_together_have_drifted(capsys: Captured) -> None:
    rng = np.random.default_rng(0)
    for name, sign in (("t.csv", 1), ("new.csv", -1)):
        x = rng.normal(size=400)
        pl.DataFrame({"a": x, "b": sign * x + 0.3 * rng.normal(size=400), "y": rng.choice(["u", "v"], 400)}).write_csv(name)
    assert fit("t.csv", "GaussianNB", "--quiet") == 0
    capsys.readouterr()
    assert run(["watch", "t.tenfold", "new.csv", "--against", "t.csv"]) == 1
    assert "but together they have" in capsys.readouterr().out
    found = drifts.together(sketch_of(Path("t.tenfold")), read_table("t.csv").frame, read_table("t.csv").frame)
    assert found.value == pytest.approx(0.5, abs=0.1)  # copies do not give the other table away


def test_copies_of_rows_are_no_more_evidence() -> None:
    from tenfold.table.columns import look_at_columns
    from tenfold.table.sketch import sketch

    false = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 80])
        before, now = (pl.DataFrame(rng.normal(size=(rows, 4)), schema=list("abcd"))[np.repeat(np.arange(rows), 4)] for rows in (80, 50))
        columns, used = look_at_columns(before, True)
        found = drifts.together(sketch(used, columns), before, now)
        assert found is not None
        false += found.drifted
    assert false <= stats.binom.ppf(0.99, 60, 0.05)


def test_the_tests_of_columns_agree_with_scipy() -> None:
    rng = np.random.default_rng(0)
    before, now = rng.integers(5, 60, size=(2, 6)).astype(float)
    assert drifts.chi_square(np.array([before, now])) == pytest.approx(stats.chi2_contingency([before, now]).pvalue, rel=1e-9)
    x, y = rng.normal(size=400), rng.normal(0.2, 1, 300)
    cuts = np.sort(np.concatenate([x, y]))
    cells = [np.bincount(np.searchsorted(cuts, one, side="left"), minlength=len(cuts) + 1).astype(float) for one in (x, y)]
    theirs = stats.ks_2samp(x, y, method="asymp").pvalue
    assert drifts.smirnov(*cells) == pytest.approx(theirs, rel=0.2)  # scipy corrects for small samples
    p = rng.random(20) ** 3
    assert np.allclose(drifts.holm(p), _step_down(p), rtol=1e-12)


def _step_down(p: Any) -> list[float]:
    """Holm's rule by its words: the adjusted value of a p is the largest (m − j + 1) p₍ⱼ₎ of those up to it."""
    ordered = sorted(p)
    return [min(1.0, max((len(p) - j) * q for j, q in enumerate(ordered) if q <= one)) for one in p]


def test_no_drift_is_found_in_tables_that_have_none() -> None:
    from tenfold.table.columns import look_at_columns
    from tenfold.table.sketch import sketch

    rng = np.random.default_rng(7)

    def table(rows: int) -> pl.DataFrame:
        x = {f"x{j}": rng.normal(size=rows) for j in range(6)}
        return pl.DataFrame({**x, **{f"c{j}": rng.choice(list("abcd"), rows) for j in range(4)}})

    false = 0
    for _ in range(150):
        columns, used = look_at_columns(table(200), True)
        false += any(one.drifted for one in drifts.drift(sketch(used, columns), table(150)))
    assert false <= stats.binom.ppf(0.999, 150, 0.05)


@pytest.mark.parametrize(("levels", "before", "now"), [(150, 600, 600), (150, 600, 6_000), (300, 2_000, 500), (400, 4_000, 1_000)])
def test_levels_that_luck_has_named_are_no_drift(levels: int, before: int, now: int) -> None:
    from tenfold.table.columns import look_at_columns
    from tenfold.table.sketch import sketch

    rng, names = np.random.default_rng(1), np.array([f"town {k}" for k in range(2 * levels)])

    def table(rows: int, first: int = 0) -> pl.DataFrame:
        return pl.DataFrame({"town": names[first + rng.integers(0, levels, rows)]})

    false = found = 0
    for _ in range(40):
        columns, used = look_at_columns(table(before), True)
        sketched = sketch(used, columns)
        assert sketched["columns"][0]["rare"] > 0
        false += drifts.drift(sketched, table(now))[0].drifted
        found += drifts.drift(sketched, table(now, levels // 2))[0].drifted  # half of the towns are others
    assert false <= stats.binom.ppf(0.999, 40, 0.05) and found > 30


# --- as a process -----------------------------------------------------------------------------------------------------


def test_as_a_process_with_exit_codes() -> None:
    file = classes(80, 0, "t.csv")
    command = [sys.executable, "-m", "tenfold.app.cli"]
    done = subprocess.run([*command, "fit", file, "--target", "y", "--model", "GaussianNB"], capture_output=True, text=True)
    assert done.returncode == 0 and "HONEST ESTIMATE" in done.stdout and not done.stderr
    pl.read_csv(file).with_columns(pl.col("x") + 5).write_csv("moved.csv")
    done = subprocess.run([*command, "watch", "t.tenfold", "moved.csv"], capture_output=True, text=True)
    assert done.returncode == 1 and "x" in done.stdout


def test_every_help_has_an_example() -> None:
    from typer.testing import CliRunner

    from tenfold.app.commands import COMMANDS, function_of

    overview = CliRunner().invoke(app, ["--help"]).output
    for purpose, some in COMMANDS.items():
        assert f"{purpose}:" in overview
        for name, module, line in some:
            assert line in overview and f"Example:  tenfold {name}" in (function_of(name, module).__doc__ or "")
            shown = CliRunner().invoke(app, [name, "--help"]).output
            assert f"Example:  tenfold {name}" in shown


def test_answers_of_a_frame_in_memory() -> None:
    assert fit(classes(100, 0, "t.csv"), "GaussianNB", "--quiet") == 0
    model, frame = open_run(Path("t.tenfold")), pl.read_csv("t.csv")
    assert labelled_rows(model, frame).rows == 100
    with pytest.raises(BadInput, match="holds nothing"):
        labelled_rows(model, frame.with_columns(y=pl.lit(None, pl.String)))


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("tenfold est", ["estimate"]),
        ("tenfold fit t.csv --model Rid", ["Ridge", "RidgeCV", "RidgeClassifier", "RidgeClassifierCV"]),
        ("tenfold fit t.csv --target ", ["x", "z", "c", "y"]),
        ("tenfold explain t.tenfold t.csv --column x", ["x"]),
        ("tenfold select t.csv --metric log", ["log_loss"]),
        ("tenfold fit none.csv --target a", []),
    ],
)
def test_the_shell_completes(typed: str, offered: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    classes(30, 0, "t.csv")
    monkeypatch.setenv("_TENFOLD_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split(" ")) - 1))
    with pytest.raises(SystemExit, match="0"):
        run([])
    assert capsys.readouterr().out.split() == offered


def test_completion_can_be_shown(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda *where: ("bash", "bash"))  # also where the suite was not started by one
    with pytest.raises(SystemExit, match="0"):
        run(["--show-completion", "bash"])
    assert "_TENFOLD_COMPLETE=complete_bash" in capsys.readouterr().out
