"""Classes that a training set, a first heat or a part of a fold is without, in `tenfold.select`."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.score.registry import SCORES
from tenfold.selection.plan import plan
from tenfold.selection.plan.candidates import Family
from tenfold.selection.plan.entries import Shape
from tenfold.selection.plan.folds import Division
from tenfold.selection.plan.guess import FrequencyGuess
from tenfold.selection.plan.plan import Plan
from tenfold.selection.race.race import Race
from tenfold.selection.race.rows import Rows
from tenfold.table.task import find_task


@pytest.fixture(autouse=True)
def few_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same race, with fewer trees."""
    shrink(monkeypatch, 5, (5,))


def in_groups(labels: Any = ("a", "b", "c", "d"), n: int = 240) -> pl.DataFrame:
    """Classes by a column; all rows of the last class are in one group of twelve."""
    rng = np.random.default_rng(0)
    k = len(labels)
    group, code = np.arange(n) % 12, rng.integers(0, k - 1, n)
    code[(group == 5) & (np.arange(n) % 24 == 5)] = k - 1
    X = rng.normal(size=(n, 3))
    X[:, 0] += 1.5 * code
    return pl.DataFrame(X, schema=list("xyz")).with_columns(g=pl.Series(group), target=pl.Series([labels[one] for one in code]))


@pytest.mark.parametrize("metric", ["log_loss", "f1_macro"])
def test_a_class_of_one_group_is_judged_by_models_that_do_not_know_it(metric: str) -> None:
    found = tenfold.select(in_groups(), "target", groups="g", effort="quick", folds=3, metric=metric)
    assert found.signal and found.held_out is not None and found.record["failures"] == {}
    chance = found.held_out.filter(pl.col("truth") == "d")["chance of d"].to_numpy()
    assert (chance > 0).all() and (chance < 0.01).all()
    np.testing.assert_allclose(found.held_out.select(pl.col("^chance of .*$")).sum_horizontal().to_numpy(), 1, rtol=1e-9)


def classes_of(fold: Any, code: Any, labels: Any = None, seed: int = 0) -> Rows:
    """Rows of these folds and classes, which lie apart."""
    rng = np.random.default_rng(seed)
    code, X = np.asarray(code), rng.normal(size=(len(code), 3))
    X[:, 0] += 2 * code
    return Rows(X, code, Division(np.asarray(fold)), pl.DataFrame(X, schema=list("xyz")), list("xyz"), labels=labels)


@pytest.mark.parametrize("labels", [None, np.array(["a", "b", "c"]), np.array([0, 2, 5]), np.array([1, 2, 3])])
@pytest.mark.parametrize("gone", [0, 1, 2])
def test_scores_stay_with_their_classes_where_one_is_absent(gone: int, labels: Any) -> None:
    """Of a class that is in the first fold alone the models of the other folds say the floor, and of the others what they say alone; the
    support vector machine has one more column, the class that it decides for."""
    code = np.arange(180) % 3
    fold = np.where(code == gone, 0, np.arange(180) // 3 % 4)
    learners = dict(
        machine=tenfold.SVC(probability=True), bayes=tenfold.GaussianNB(), neighbors=tenfold.KNeighborsClassifier(),
        discriminant=tenfold.LinearDiscriminantAnalysis(), logistic=tenfold.LogisticRegression(),
    )  # fmt: skip
    families = [Family("guess", FrequencyGuess(), 0), *(Family(name, one, 1) for name, one in learners.items())]
    families.append(Family("tree", tenfold.DecisionTreeClassifier(min_samples_leaf=5), 2))
    rows = classes_of(fold, code, labels)
    race = Race(rows, families, [SCORES["log_loss"]], drops=False)
    race.run()
    assert race.failures == {}
    seen, out = np.flatnonzero(fold != 0), np.flatnonzero(fold == 0)
    known = np.delete(np.arange(3), gone)
    for c, family in enumerate(families):
        said = np.exp(race.outputs[c, out])
        np.testing.assert_allclose(said.sum(axis=1), 1, rtol=1e-12)
        if family.is_guess:
            continue
        learner = family.learner if family.raw else tenfold.make_pipeline(tenfold.StandardScaler(), family.learner)
        alone = learner.fit(rows.X[seen], code[seen]).predict_proba(rows.X[out])
        assert said[:, gone] == pytest.approx(race.fits.floor)
        np.testing.assert_allclose(said[:, known], (1 - 3 * race.fits.floor) * alone + race.fits.floor, rtol=1e-3, atol=1e-6)


def test_a_model_that_can_say_nothing_of_a_fold_has_failed() -> None:
    """The first fold has nearly all rows: of the others there are fewer than neighbours are asked for."""
    code = np.arange(120) % 2
    rows = classes_of(np.where(np.arange(120) < 90, 0, 1 + code), code[::-1] ^ (np.arange(120) % 3 == 0))
    families = [Family("guess", FrequencyGuess(), 0), Family("neighbours", tenfold.KNeighborsClassifier(40), 1)]
    race = Race(rows, families, [SCORES["log_loss"]], drops=False)
    race.run()
    assert "n_neighbors = 40" in race.failures["neighbours"] and np.isfinite(race.outputs[0]).all()


# --- the first heat ---------------------------------------------------------------------------------------


def test_a_first_heat_has_some_rows_of_every_class() -> None:
    shape = Shape("classifier", 30_000, 4, 4)
    heat = Plan(5, [], False, 10_000, shape, 1.0)
    even = np.arange(30_000) % 4
    rare = np.where(np.arange(30_000) < 5, 3, np.where(np.arange(30_000) < 50, 2, even % 2))
    before = np.sort(np.random.default_rng(7).permutation(30_000)[:10_000])
    np.testing.assert_array_equal(heat.sample(30_000, 7), before)
    np.testing.assert_array_equal(heat.sample(30_000, 7, even), before)
    drawn = heat.sample(30_000, 7, rare)
    np.testing.assert_array_equal(drawn, heat.sample(30_000, 7, rare))
    counts = np.bincount(rare[drawn])
    assert counts[3] == 5 and counts[2] >= 30 and 10_000 <= len(drawn) < 10_035
    assert set(before) <= set(drawn) and len(np.unique(drawn)) == len(drawn)
    many = np.arange(30_000) // 3  # of 10,000 classes all rows
    assert len(heat.sample(30_000, 7, many)) == 30_000


def test_a_first_heat_without_a_class_is_run_and_judged_by_log_loss() -> None:
    """Rows of the last class lie in other folds than the first, or are not among the rows of the heat at all."""
    code = np.where(np.arange(200) % 50 == 3, 2, np.arange(200) % 2)  # of each fold one row is of the last class
    families = [Family("guess", FrequencyGuess(), 0), Family("bayes", tenfold.GaussianNB(), 1)]
    whole = Race(classes_of(np.arange(200) // 2 % 4, code, np.array(["a", "b", "c"])), families, [SCORES["roc_auc"], SCORES["log_loss"]])
    for rows in (np.flatnonzero(code < 2), np.flatnonzero((code < 2) | (whole.fold > 0))):
        heat = whole.some(rows)
        heat.run(singles=1)
        assert heat.judges[0].name == "log_loss" and heat.outputs.shape[2] == 3 and len(heat.order()) == 1
    assert whole.some(np.arange(200)).judges[0].name == "roc_auc"
    assert "outputs" not in vars(whole)  # a race that is only planned takes no memory


@pytest.mark.parametrize("metric", ["log_loss", "roc_auc", "average_precision"])
def test_a_long_table_with_a_rare_class(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SCREENED_ROWS", 400)
    monkeypatch.setattr(plan, "SCREENED", 200)
    code = np.where(np.arange(500) % 200 == 7, 1, 2 * (np.arange(500) % 2))  # three rows are "b"
    X = np.random.default_rng(2).normal(size=(500, 3)) + code[:, None]
    chance = (np.random.default_rng(seed).permutation(500)[:200] for seed in range(100))
    seed = next(seed for seed, drawn in enumerate(chance) if 1 not in code[drawn])
    asked = dict(folds=3, effort="quick", metric=metric, seed=seed)
    found = tenfold.select(pl.DataFrame(X, schema=list("xyz")), np.array(["a", "b", "c"])[code], **asked)
    assert found.signal and set(found.model.classes_) == {"a", "b", "c"}


# --- a first fold alone -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("rare", "method"), [(12, "each third of the rows of one fold"), (4, None)])
def test_a_run_that_is_stopped_in_its_first_fold_is_saved(rare: int, method: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fold has 3 or 1 of the positive rows: an area under the curve has no more parts to be judged on."""
    work = Race._record

    def heard(self: Race, number: int, held: Any, unit: Any) -> None:
        if len(self.done) == 6:
            raise KeyboardInterrupt
        work(self, number, held, unit)

    monkeypatch.setattr(Race, "_record", heard)
    ill = np.arange(400) % (400 // rare) == 1
    ill[np.cumsum(ill) > rare] = False
    X = np.random.default_rng(3).normal(size=(400, 3)) + 2 * ill[:, None]
    frame, y = pl.DataFrame(X, schema=list("xyz")), np.where(ill, "ill", "well")
    found = tenfold.select(frame, y, metric="average_precision", folds=4, effort="quick", finish_early=True)
    assert found.interrupted and len(found.predict(frame)) == 400
    if method is None:
        assert found.estimate is None and found.signal is None
    else:
        assert found.estimate is not None and method in found.estimate.method and found.estimate.value > 0.1


# --- classes of one or two rows ----------------------------------------------------------------------------


def with_tiny(labels: tuple[str, ...] = ("a", "b", "c"), tiny: tuple[str, ...] = ("d", "e", "e"), n: int = 150) -> pl.DataFrame:
    """Classes that lie apart, and a few rows of others beside them."""
    y = np.concatenate([np.array(labels)[np.arange(n) % len(labels)], np.array(tiny)])
    code = np.unique(y, return_inverse=True)[1]
    X = np.random.default_rng(5).normal(size=(len(y), 3)) + 2 * code[:, None]
    return pl.DataFrame(X, schema=list("xyz")).with_columns(when=pl.Series(np.arange(len(y)) * 7 % 100), target=pl.Series(y))


@pytest.mark.parametrize("metric", ["log_loss", "accuracy", "brier"])
def test_classes_of_a_row_or_two_count_in_the_estimate(metric: str) -> None:
    """A row of a class that no other row has is judged by models that do not know it: what it costs is in the estimate."""
    found = tenfold.select(with_tiny(), "target", metric=metric, effort="quick")
    assert found.signal and set(found.model.classes_) == set("abcde")
    assert found.held_out is not None and found.held_out.height == 153
    alone = found.held_out.filter(pl.col("truth") == "d")
    assert alone.height == 1 and alone["chance of d"][0] == pytest.approx(found.record["floor"])
    shares = found.held_out.select(pl.col("^chance of .*$")).to_numpy()
    truth = np.searchsorted(found.model.classes_, found.held_out["truth"].to_numpy())
    by_rows = -np.log(shares[np.arange(len(truth)), truth])
    if metric == "log_loss" and found.record["growth"] is None:
        assert found.estimate is not None and found.estimate.value == pytest.approx(by_rows.mean(), rel=1e-6)
    assert len(found.predict(with_tiny())) == 153


@pytest.mark.parametrize(
    ("frame", "asked"),
    [
        (with_tiny(("a", "b"), ("yes",)), {}),  # two classes stay two
        (with_tiny(tiny=("d", "e", "f", "g")), {}),  # more of them than of others
        (with_tiny(), dict(metric="roc_auc")),  # which every fold must be able to give
        (with_tiny(), dict(metric="f1_macro")),  # of which one row would be a fifth
        (with_tiny(), dict(time_column="when")),
    ],
)
def test_classes_of_a_row_or_two_are_left_out_and_told(frame: pl.DataFrame, asked: dict[str, Any]) -> None:
    found = tenfold.select(frame, "target", effort="quick", **asked)
    assert set(found.model.classes_) <= {"a", "b", "c"}
    notes = find_task(frame["target"]).notes
    assert len(notes) == 1 and "left out" in notes[0] and "which the estimate does not count" in notes[0]


def test_copies_of_rows_of_a_tiny_class_do_not_part_other_copies() -> None:
    frame = with_tiny(n=300)
    twice = pl.concat([frame, frame[:40]])
    assert tenfold.select(twice.drop("when"), "target", effort="quick").record["copies"] == 40


@pytest.mark.parametrize("learner", [tenfold.LogisticRegression, tenfold.GaussianNB, tenfold.RandomForestClassifier, tenfold.SVC])
def test_learners_of_a_race_take_classes_of_one_row(learner: Any) -> None:
    code = np.concatenate([np.arange(120) % 3, [3]])
    fold = np.arange(121) % 4
    more = dict(probability=True) if learner is tenfold.SVC else {}
    race = Race(classes_of(fold, code), [Family("guess", FrequencyGuess(), 0), Family("one", learner(**more), 1)], [SCORES["log_loss"]])
    race.run()
    assert race.failures == {} and np.isfinite(race.outputs).all()
