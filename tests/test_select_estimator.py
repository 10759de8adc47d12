"""`tenfold.Select`: the choice of a model as a learner, alone and inside the tools of others."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator
from small_portfolio import shrink

import tenfold
from tenfold.selection.plan import entries, tree_entries
from tenfold.selection.settings import Settings

Array = np.ndarray[Any, Any]
QUICK: dict[str, Any] = dict(effort="quick", folds=3)
# Tenfold does not import scikit-learn, so it cannot inherit from its base class; the checks say so first.
NO_BASE = "ignore:Estimator .* does not inherit from `sklearn.base.BaseEstimator`:UserWarning"
TOLD = "ignore::tenfold.core.errors.TenfoldWarning"
# Folds divide rows, whatever they weigh; and with fewer than ten rows nothing is chosen.
COPIES = "check_sample_weight_equivalence_on_dense_data"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, trees=5, rounds=(20,))


def numbers(n: int = 60, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, 2 * X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n)


def frame(n: int = 80) -> pandas.DataFrame:
    """Columns of many kinds."""
    rng = np.random.default_rng(1)
    size = rng.normal(size=n)
    return pandas.DataFrame(
        {
            "size": np.where(rng.random(n) < 0.1, np.nan, size),
            "colour": np.array(["red", "green", "blue"], dtype=object)[rng.integers(0, 3, n)],
            "day": pandas.date_range("2024-01-01", periods=n, freq="D"),
            "sold": np.where(size + 0.3 * rng.normal(size=n) > 0, "yes", "no"),
        }
    )


# --- scikit-learn's own checks ---


def checks() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        kinds = [tenfold.Select(**QUICK, task=task) for task in ("classes", "number", None)]
        found = [(learner, check) for kind in kinds for learner, check in estimator_checks_generator(kind)]
    named = [(learner, check, (check.func if isinstance(check, partial) else check).__name__) for learner, check in found]
    left = [one for one in named if one[2] not in (COPIES, "check_array_api_input")]
    return [pytest.param(learner, check, id=f"{learner.task}-{name}") for learner, check, name in left]


@pytest.mark.filterwarnings(NO_BASE, TOLD)
@pytest.mark.parametrize("learner, check", checks())
def test_check(learner: Any, check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_entries, "LEAST_TREE_ROWS", 1000)  # linear models are enough, and quick
    monkeypatch.setattr(entries, "LEAST_BASIS_ROWS", 1000)
    check(learner)


# --- what it is, and what it finds ---


def test_it_has_the_settings_of_select() -> None:
    asked = {field.name for field in fields(Settings)} - {"seed", "weights", "groups"}  # of each row: arguments of fit
    assert set(tenfold.Select().get_params()) == asked | {"random_state"}


def test_costs_decide() -> None:
    X, y = numbers(120)
    labels = np.where(y > 0, "high", "low")
    plain, careful = (tenfold.Select(**QUICK, cost=cost).fit(X, labels) for cost in (None, "high>low:50"))
    assert (careful.predict(X) == "high").mean() > (plain.predict(X) == "high").mean()


def test_it_finds_what_select_finds() -> None:
    X, y = numbers()
    model = tenfold.Select(**QUICK, random_state=3).fit(X, y)
    table = polars.DataFrame({f"x{j}": X[:, j] for j in range(3)}).with_columns(polars.Series("target", y))
    run = tenfold.select(table, "target", **QUICK, seed=3)
    assert model.chosen_ == run.chosen and model.estimate_ == run.estimate and model.leaderboard_[0]["model"] == run.leaderboard[0]["model"]
    np.testing.assert_array_equal(model.predict(X), run.predict(table))
    np.testing.assert_array_equal(model.predict_interval(X), run.predict_interval(table))
    assert model.n_features_in_ == 3 and not hasattr(model, "feature_names_in_") and not hasattr(model, "predict_proba")
    assert model.score(X, y) > 0.9 and model.role == "regressor"


@pytest.mark.parametrize(
    "settings, role",
    [({}, ""), ({"task": "classification"}, "classifier"), ({"task": "number"}, "regressor"), ({"metric": "auc"}, "classifier")],
)
def test_what_it_is_before_it_is_fitted(settings: dict[str, Any], role: str) -> None:
    model = tenfold.Select(**settings)
    assert model.role == role
    assert (is_classifier(model), is_regressor(model)) == (role == "classifier", role == "regressor")


@pytest.mark.parametrize("labels", [[3, 1, 7], ["NA", "b", ""], ["a", "a ", "1"], [False, True, True], [2.0, 1.0, 5.0]])
def test_labels_stay_as_they_are(labels: list[Any]) -> None:
    flowers = load_iris()
    y = np.array(labels)[flowers.target]
    model = tenfold.Select(**QUICK).fit(flowers.data, y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    assert model.role == "classifier" and model.predict(flowers.data).dtype == y.dtype and model.score(flowers.data, y) > 0.9
    shares = model.predict_proba(flowers.data)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(flowers.data))
    np.testing.assert_array_equal(model.predict_log_proba(flowers.data), np.log(shares))


@pytest.mark.parametrize("kind", [lambda table: table, polars.from_pandas], ids=["pandas", "polars"])
def test_frames_of_any_columns(kind: Any) -> None:
    table = frame()
    X, y = kind(table.drop(columns="sold")), table["sold"].to_numpy()
    model = tenfold.Select(**QUICK, category=["colour"]).fit(X, y)
    assert model.feature_names_in_.tolist() == ["size", "colour", "day"] and model.score(X, y) > 0.75
    named = tenfold.Select(**QUICK, category=["colour"]).fit(kind(table), "sold")
    np.testing.assert_array_equal(named.predict(X), model.predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(X[["colour", "size", "day"]])


def test_texts_in_an_array() -> None:
    table = frame()
    X = table[["size", "colour"]].to_numpy(dtype=object)
    model = tenfold.Select(**QUICK).fit(X, table["sold"])
    assert model.score(X, table["sold"]) > 0.75
    new = X[:2].copy()
    new[0, 1] = "never seen"
    with pytest.warns(tenfold.DataWarning, match="never seen"):
        assert model.predict(new).shape == (2,)


def test_a_file(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    table = frame()
    table.to_csv(file, index=False)
    model = tenfold.Select(**QUICK).fit(file, "sold")
    assert model.classes_.tolist() == ["no", "yes"] and model.feature_names_in_.tolist() == ["size", "colour", "day"]
    assert model.predict(file).shape == (80,) and (model.predict(file) == table["sold"]).mean() > 0.75
    with pytest.raises(TypeError, match=r"columns of it: tenfold.select takes their names"):
        model.fit(file, "sold", groups=np.arange(80))


def test_rare_classes_have_no_chance_and_it_is_told() -> None:
    X, _ = numbers(42)
    y = np.array(["a", "b"] * 20 + ["c", "c"])
    with pytest.warns(tenfold.DataWarning, match=r"left out \('c'\): 2 rows, which the estimate does not count: their probability is 0"):
        model = tenfold.Select(**QUICK).fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"] and (model.predict_proba(X)[:, 2] == 0).all()


def test_weights_and_groups() -> None:
    X, y = numbers(90)
    w = np.r_[np.ones(60), np.zeros(30)]
    some, wide = tenfold.Select(**QUICK).fit(X[:60], y[:60]), tenfold.Select(**QUICK).fit(X, y, w)
    np.testing.assert_array_equal(some.predict(X), wide.predict(X))
    grouped = tenfold.Select(**QUICK).fit(X, y, groups=np.repeat(np.arange(9), 10))
    assert grouped.run_.record["settings"]["groups"] == "groups" and "groups" not in grouped.model_.feature_names_in_
    with pytest.raises(ValueError, match="has 2 groups: 3 folds need at least as many"):
        tenfold.Select(**QUICK).fit(X, y, groups=np.arange(90) % 2)


# --- among tools ---


def test_saved_and_loaded_and_pickled(tmp_path: Path) -> None:
    flowers = load_iris(as_frame=True)
    model = tenfold.Select(**QUICK).fit(flowers.data, flowers.target)
    tenfold.save(model, tmp_path / "m.tenfold")
    for again in (tenfold.load(tmp_path / "m.tenfold"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.predict_proba(flowers.data), model.predict_proba(flowers.data))
        assert again.estimate_ == model.estimate_ and again.chosen_ == model.chosen_ and repr(again) == repr(model)
    assert tenfold.load(tmp_path / "m.tenfold").run_.record["settings"] == model.run_.record["settings"]


def test_inside_the_tools_of_scikit_learn() -> None:
    flowers = load_iris()
    model = tenfold.Select(**QUICK, task="classes")
    assert cross_val_score(model, flowers.data, flowers.target, cv=2).mean() > 0.9
    shares = cross_val_predict(model, flowers.data, flowers.target, cv=2, method="predict_proba")
    assert log_loss(flowers.target, shares) < 0.3
    search = GridSearchCV(make_pipeline(StandardScaler(), clone(model)), {"select__prefer": ["simple"]}, cv=2)
    assert search.fit(flowers.data, flowers.target).score(flowers.data, flowers.target) > 0.9


def test_inside_the_tools_of_tenfold(tmp_path: Path) -> None:
    X, y = numbers()
    model = tenfold.Select(**QUICK, task="number")
    piped = tenfold.make_pipeline(tenfold.StandardScaler(), model).fit(X, y)
    assert piped.score(X, y) > 0.9 and piped[-1].chosen_
    assert tenfold.cross_validate(model, X, y, cv=3)["test_score"].mean() > 0.8
    assert tenfold.GridSearchCV(model, {"prefer": ["simple", "fast"]}, cv=2).fit(X, y).score(X, y) > 0.9
    voting = tenfold.VotingRegressor([("chosen", tenfold.Select(**QUICK, task="number")), ("ridge", tenfold.Ridge())])
    assert voting.fit(X, y).score(X, y) > 0.9


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"effort": "some"}, r"Select\(effort='some'\): must be one of 'quick', 'normal', 'thorough'"),
        ({"drop": "x0"}, r"Select\(drop='x0'\): must be Sequence"),
        ({"drop": ["x9"]}, "there is no column 'x9'"),
        ({"metric": "rmsee"}, r"metric='rmsee' is not known: did you mean rmse\?"),
        ({"folds": 2}, "folds=2: must be 3 to 50"),
        ({"task": "classes"}, "Unknown label type"),
        ({"time": 0}, r"Select\(time=0\): must be > 0"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    X, y = numbers(20)
    with pytest.raises(ValueError, match=message):
        tenfold.Select(**{**QUICK, **settings}).fit(X, y)
