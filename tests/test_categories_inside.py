"""Learners made of other learners pass categories on to those that take them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tenfold

rng = np.random.default_rng(0)
N = 240
COLOUR = rng.choice(["red", "blue", "green", "white"], N)
FRAME = pl.DataFrame(
    {
        "size": np.where(rng.random(N) < 0.1, np.nan, rng.normal(size=N)),
        "colour": [None if i % 17 == 0 else one for i, one in enumerate(COLOUR.tolist())],
    }
).fill_nan(None)
LABELS = np.where(np.isin(COLOUR, ["red", "white"]) ^ (rng.random(N) < 0.05), "yes", "no")
NUMBERS = np.where(LABELS == "yes", 2.0, 0.0) + rng.normal(size=N) / 10
NEW = FRAME[:20].with_columns(pl.when(pl.arange(20) < 3).then(pl.lit("violet")).otherwise("colour").alias("colour"))


def _pipe(last: Any) -> Any:
    coder = tenfold.OneHotEncoder(categorical_features="from_dtype", handle_unknown="ignore")
    return tenfold.make_pipeline(coder, tenfold.SimpleImputer(), last)


MEMBERS: dict[str, Any] = {
    "tree": lambda: tenfold.DecisionTreeClassifier(max_depth=3),
    "boosting": lambda: tenfold.HistGradientBoostingClassifier(max_iter=3),
    "rules": lambda: tenfold.C45Classifier(),
    "pipeline": lambda: _pipe(tenfold.LogisticRegression()),
    "stumps": lambda: tenfold.AdaBoostClassifier(n_estimators=6),
    "filled": lambda: tenfold.make_pipeline(
        tenfold.SimpleImputer(strategy="most_frequent"), tenfold.DecisionTreeClassifier(max_depth=3)
    ),
}
OUTER: dict[str, Any] = {
    "bagging": lambda one: tenfold.BaggingClassifier(one, n_estimators=2, random_state=0),
    "columns": lambda one: tenfold.BaggingClassifier(one, n_estimators=6, max_features=1, random_state=0),
    "adaboost": lambda one: tenfold.AdaBoostClassifier(one, n_estimators=2),
    "calibrated": lambda one: tenfold.CalibratedClassifierCV(one, cv=3),
    "calibrated bag": lambda one: tenfold.CalibratedClassifierCV(
        tenfold.BaggingClassifier(one, n_estimators=2, random_state=0), cv=2
    ),
    "cascade": lambda one: tenfold.CascadeClassifier([one], max_miss=0.2, random_state=0),
}


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("outer", OUTER)
def test_categories_reach_the_member(outer: str, member: str, tmp_path: Path) -> None:
    model = OUTER[outer](MEMBERS[member]())
    assert model.categorical
    model.fit(FRAME, LABELS)
    assert model.categories_[1].tolist() == ["blue", "green", "red", "white"]
    assert np.mean(model.predict(FRAME) == LABELS) > 0.75
    said = model.predict_proba(NEW)
    assert np.isfinite(said).all()
    tenfold.save(model, tmp_path / "model")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "model").predict_proba(NEW), said)


def test_a_cascade_of_stumps_takes_text() -> None:
    model = tenfold.CascadeClassifier(max_miss=0.2, random_state=0).fit(FRAME, LABELS)
    assert np.mean(model.predict(FRAME)[LABELS == "yes"] == "yes") > 0.8
    assert model.costs(FRAME).min() >= 2


@pytest.mark.parametrize("kind", [tenfold.BaggingRegressor, tenfold.AdaBoostRegressor])
def test_numbers_from_a_pipeline(kind: Any) -> None:
    model = kind(_pipe(tenfold.Ridge()), n_estimators=3, random_state=0).fit(FRAME, NUMBERS)
    assert model.score(FRAME, NUMBERS) > 0.5


def test_an_order_that_was_given_is_kept() -> None:
    """blue < green < red < white as text; the order that tells is another one."""
    order = ["blue", "red", "white", "green"]
    coder = tenfold.OrdinalEncoder(categories=[order], encoded_missing_value=-1)
    stump = tenfold.make_pipeline(coder, tenfold.DecisionTreeRegressor(max_leaf_nodes=3))
    target = np.isin(COLOUR, ["red", "white"]).astype(float)
    model = tenfold.BaggingRegressor(stump, n_estimators=2, random_state=0).fit(COLOUR[:, None].astype(object), target)
    np.testing.assert_allclose(
        model.predict(np.array([[one] for one in order], dtype=object)), [0, 1, 1, 0], atol=1e-12
    )


def test_what_does_not_take_them_says_so() -> None:
    for outer in OUTER.values():
        assert not outer(tenfold.GaussianNB()).categorical
    with pytest.raises(tenfold.BadInput, match=r"'colour' holds String .* OneHotEncoder"):
        tenfold.BaggingClassifier(tenfold.GaussianNB()).fit(FRAME, LABELS)
