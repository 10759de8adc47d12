"""The model that `tenfold.select` leaves, in use: explained, scored, cloned, fitted anew, pickled, saved and loaded with its run."""

from __future__ import annotations

import pickle
from datetime import date, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from small_portfolio import shrink

import tenfold
from tenfold.core.errors import BadFile, BadInput
from tenfold.evaluate import attributions, partial_dependence, permutation_importance
from tenfold.prepare.indicators import folded, unfolded
from tenfold.selection.coded import coder_for
from tenfold.selection.model.table_model import TableModel
from tenfold.table.columns import look_at_columns

N = 240


@cache
def table() -> pl.DataFrame:
    """Numbers with missing cells, categories with missing cells and rare levels, dates; the target needs all but `noise`."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=N)
    colour = rng.choice(["red", "green", "blue"], N)
    day = rng.integers(0, 1000, N)
    height = 2 * size + 3.0 * (colour == "red") + day / 300 + 0.3 * rng.normal(size=N)
    city = np.where(np.arange(N) % 60 == 0, "Rare", rng.choice(["Rome", "Oslo"], N))
    return pl.DataFrame(
        {
            "size": np.where(np.arange(N) % 12 == 0, np.nan, size),
            "colour": [None if i % 15 == 0 else value for i, value in enumerate(colour)],
            "city": city,
            "when": [date(2020, 1, 1) + timedelta(days=int(d)) for d in day],
            "noise": rng.normal(size=N),
            "height": height,
            "tall": np.where(height > np.median(height), "yes", "no"),
        }
    ).with_columns(pl.col("size").fill_nan(None))


KINDS = {
    "ridge": ("height", tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.StandardScaler(), tenfold.Ridge())),
    "boosting": ("height", tenfold.HistGradientBoostingRegressor(max_iter=20, early_stopping=False)),
    "logistic": (
        "tall",
        tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.StandardScaler(), tenfold.LogisticRegression()),
    ),
    "forest": ("tall", tenfold.RandomForestClassifier(20, min_samples_leaf=5, random_state=0)),
}


@cache
def fitted(kind: str) -> TableModel:
    """A model as `select` makes it."""
    target, learner = KINDS[kind]
    used = look_at_columns(table().drop("height", "tall"), typed=True)
    coder = coder_for(*used)
    rows = coder.frame(used[1]) if learner.categorical else coder.transform(used[1])
    return TableModel.of(coder, clone(learner).fit(rows, table()[target].to_numpy()), target)


def parts(kind: str) -> tuple[TableModel, pl.DataFrame, np.ndarray]:
    model = fitted(kind)
    return model, table().drop("height", "tall"), table()[model.target_].to_numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_attributions_of_the_columns_of_the_table(kind: str) -> None:
    model, X, _ = parts(kind)
    found = attributions(model, X)
    assert found.columns == ["size", "colour", "city", "when", "noise"]
    assert set(np.argsort(-found.importances)[:3].tolist()) == {0, 1, 3}
    predicted = model.predict(X) if model.role == "regressor" else model.predict_proba(X)[:, 1]
    total = found.base + found.values.sum(axis=1)
    if kind == "logistic":
        total = 1 / (1 + np.exp(-total))
    np.testing.assert_allclose(total, predicted, rtol=1e-9, atol=1e-9)
    labels = [text.get_text() for text in found.plot(row=1).get_yticklabels()]
    assert f"colour = {table()['colour'][1]}" in labels and f"city = {table()['city'][1]}" in labels


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folds", [None, 3])
def test_importance_of_the_columns_of_the_table(kind: str, folds: int | None) -> None:
    """folds=None shuffles for the model as it is; else its pipeline is fitted anew in each fold."""
    model, X, y = parts(kind)
    before = model.predict(X)
    found = permutation_importance(model, X, y, folds=folds, n_repeats=2)
    assert found.columns == ["size", "colour", "city", "when", "noise"]
    assert set(np.argsort(-found.importances_mean)[:3].tolist()) == {0, 1, 3}
    assert np.array_equal(before, model.predict(X))
    if folds is None:
        assert found.baseline == pytest.approx(model.score(table()), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_dependence_on_a_column_of_the_table(kind: str) -> None:
    model, X, _ = parts(kind)
    colours = partial_dependence(model, X, "colour")
    high = dict(zip(colours.grid_values[0].tolist(), colours.average[0].tolist(), strict=True))
    assert {"red", "green", "blue"} <= set(high) and high["red"] > max(high["green"], high["blue"])
    assert "Rare" not in partial_dependence(model, X, "city").grid_values[0].tolist()
    size = partial_dependence(model, X, "size", grid_resolution=5).average[0]
    assert size[0] < size[-1]
    days = partial_dependence(model, X, "when", grid_resolution=5).average[0]
    assert days[0] < days[-1]


def test_dependence_is_the_mean_prediction_of_altered_tables() -> None:
    for kind in KINDS:
        model, X, _ = parts(kind)
        found = partial_dependence(model, X, "colour")
        for value, mean in zip(found.grid_values[0].tolist(), found.average[0].tolist(), strict=True):
            altered = X.with_columns(pl.lit(None if value == "(missing)" else value, pl.String).alias("colour"))
            predicted = model.predict(altered) if model.role == "regressor" else model.predict_proba(altered)[:, 1]
            assert predicted.mean() == pytest.approx(mean, rel=1e-9)


def test_indicators_fold_and_unfold() -> None:
    coder = fitted("ridge").coder
    frame = table()
    matrix = coder.transform(frame)
    np.testing.assert_array_equal(unfolded(coder, folded(coder, matrix)), matrix)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_is_a_learner_as_others_are(kind: str, tmp_path: Path) -> None:
    """Tags, score, clone and fit, cross-validation, pickle, save and load: the same predictions to the bit."""
    model, X, y = parts(kind)
    assert (is_classifier if kind in ("logistic", "forest") else is_regressor)(model)
    tags = model.__sklearn_tags__()
    assert (
        tags.input_tags.allow_nan
        and tags.input_tags.categorical
        and tags.input_tags.string
        and tags.target_tags.required
    )
    whole = table()
    right = np.mean(model.predict(X) == y) if model.role == "classifier" else None
    assert model.score(X, y) == model.score(whole) == model.score(whole, model.target_)
    assert right is None or model.score(X, y) == right
    whole.write_csv(tmp_path / "table.csv")
    assert model.score(tmp_path / "table.csv") == pytest.approx(model.score(whole), rel=1e-12)
    copy = clone(model)
    assert not copy.__sklearn_is_fitted__() and repr(copy) == repr(model)
    tenfold.save(model, tmp_path / "m.tenfold")
    loaded = tenfold.load(tmp_path / "m.tenfold")
    again = [copy.fit(X, y), clone(model).fit(whole, model.target_), pickle.loads(pickle.dumps(model)), loaded]
    for other in again:
        assert np.array_equal(other.predict(X), model.predict(X))
    assert repr(loaded) == repr(model) and loaded.get_params(deep=False).keys() == {"coder", "pipeline", "costs", "texts"}
    assert tenfold.cross_validate(model, X, y, folds=3).mean > 0.7
    if model.role == "classifier":
        assert model.classes_.tolist() == ["no", "yes"] and model.predict_proba(X).shape == (N, 2)
    else:
        assert not hasattr(model, "classes_")


def test_a_truth_that_is_missing_is_named() -> None:
    model, _, _ = parts("ridge")
    whole = table().with_columns(pl.when(pl.int_range(N) == 7).then(None).otherwise(pl.col("height")).alias("height"))
    with pytest.raises(BadInput, match="'height' has no usable value in row 7"):
        model.score(whole)
    with pytest.raises(ValueError, match="there is no column 'height'"):
        model.score(table().drop("height"))


def test_the_folder_of_a_run_is_loaded_and_inspected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 5, (5,))
    run = tenfold.select(table().drop("tall"), "height", folds=3)
    run.save(tmp_path / "run")
    model = tenfold.load(tmp_path / "run")
    assert isinstance(model, TableModel) and np.array_equal(model.predict(table()), run.predict(table()))
    assert tenfold.inspect(tmp_path / "run").kind == "TableModel"
    with pytest.raises(BadFile, match="holds no model"):
        tenfold.load(tmp_path)
