"""Powers of probabilities: settings of a family that cost no fit, chosen as all others, and part of what is saved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from small_portfolio import shrink

import tenfold
from tenfold.base.estimator import softmax
from tenfold.core.errors import BadFile
from tenfold.score.registry import SCORES
from tenfold.selection.choice.choice import _ensemble
from tenfold.selection.choice.floor import floor_of, floored
from tenfold.selection.model.blend import BlendClassifier
from tenfold.selection.plan.candidates import Family
from tenfold.selection.plan.folds import make_folds
from tenfold.selection.plan.guess import FrequencyGuess
from tenfold.selection.plan.tree_entries import SHARPER
from tenfold.selection.race.race import Race
from tenfold.selection.race.rows import Rows

POWERS = (1.0, 2.0, 0.5)


def rings(n: int, seed: int) -> tuple[Any, Any]:
    """Eight classes without any overlap, which votes of trees are too cautious about."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, 6))
    return X, (X[:, 0] > 0) + 2 * (X[:, 1] > 0) + 4 * (X[:, 2] > 0)


def small_race(families: list[Family]) -> Race:
    X, y = rings(240, 0)
    rows = Rows(X, y, make_folds(y, 4, 0, "classifier", None), pl.DataFrame(X))
    race = Race(rows, [Family("class frequencies", FrequencyGuess(), 0), *families], [SCORES["log_loss"]])
    race.run()
    return race


def forest(**more: Any) -> Family:
    return Family("forest", tenfold.RandomForestClassifier(20, random_state=0), 6, powers=POWERS, **more)


def test_every_value_is_heard_with_every_power() -> None:
    """Outputs are log p^a / Σ p^a behind the floor, with the p of the same model."""
    race = small_race([forest(name="min_samples_leaf", values=(1, 5), shown="rows of a leaf")])
    labels = [setting.label for setting in race.settings[1:]]
    assert labels[:3] == ["forest, rows of a leaf 1", "forest, rows of a leaf 1, power 2", "forest, rows of a leaf 1, power 0.5"]
    assert [setting.place for setting in race.settings[1:]] == [0, 0, 0, 1, 1, 1]
    assert [setting.learner.min_samples_leaf for setting in race.settings[1:]] == [1, 1, 1, 5, 5, 5]
    floor = floor_of(240, 8)
    for first in (1, 4):
        plain = (np.exp(race.outputs[first]) - floor) / (1 - 8 * floor)  # the shares, before the floor
        for k, power in enumerate(POWERS):
            expected = floored(plain**power / (plain**power).sum(axis=1, keepdims=True), floor)
            np.testing.assert_allclose(np.exp(race.outputs[first + k]), expected, rtol=1e-6, atol=1e-12)
    assert race.fits_to_do == 4 * 2  # powers are no fits


def test_an_ensemble_has_each_model_with_its_best_power_alone() -> None:
    race = small_race([forest(), Family("linear", tenfold.LinearDiscriminantAnalysis(), 3)])
    held, rows = race.held_out(), np.arange(240)
    useful = held.utilities(rows)
    sharper = 2
    assert race.settings[sharper].power == 2 and useful[sharper] == useful.max()  # votes were too cautious
    mix = _ensemble(race.settings, held, rows, useful, sharper)
    assert not set(mix.weights) & {1, 3}


def test_powers_of_members_are_in_the_model(tmp_path: Path) -> None:
    X, y = rings(150, 1)
    members: list[Any] = [tenfold.GaussianNB().fit(X, y), tenfold.RandomForestClassifier(10, random_state=0).fit(X, y)]
    blend = BlendClassifier.of(members, [0.25, 0.75], powers=[0.5, 3.0])
    new, _ = rings(40, 2)
    one, other = (member.predict_proba(new) ** a for member, a in zip(members, (0.5, 3.0), strict=True))
    expected = 0.25 * one / one.sum(axis=1, keepdims=True) + 0.75 * other / other.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(blend.predict_proba(new), expected, rtol=1e-12)
    tenfold.save(blend, tmp_path / "blend.tenfold")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "blend.tenfold").predict_proba(new), blend.predict_proba(new))


@pytest.mark.parametrize("powers", [[1.0], [1.0, 0.0], [1.0, -2.0], [1.0, float("inf")], [[1.0], [1.0]]])
def test_a_file_with_other_powers_is_refused(powers: Any, tmp_path: Path) -> None:
    X, y = rings(60, 1)
    members = [tenfold.GaussianNB().fit(X, y), tenfold.NearestCentroid().fit(X, y)]
    tenfold.save(BlendClassifier.of(members, [0.5, 0.5], powers=powers), tmp_path / "blend.tenfold")
    with pytest.raises(BadFile, match="power"):
        tenfold.load(tmp_path / "blend.tenfold")


def test_select_sharpens_votes_and_saves_what_it_has_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The saved model says of new rows what the forest says, to the power, behind the floor."""
    shrink(monkeypatch, 40)
    X, y = rings(400, 3)
    table = pl.DataFrame(X, schema=[f"x{i}" for i in range(6)]).with_columns(y=pl.Series([f"class {one}" for one in y]))
    run = tenfold.select(table, "y", prefer="fast", metric="log_loss")
    name, _, power = run.chosen.rpartition(", power ")
    if not name:  # something else leads: then ask the board for the forests
        pytest.fail(f"votes are not sharpened: {run.chosen}")
    assert float(power) in SHARPER
    blend: Any = run.model.pipeline
    assert isinstance(blend, BlendClassifier) and blend.powers == [float(power)]
    new, _ = rings(50, 4)
    rows = pl.DataFrame(new, schema=[f"x{i}" for i in range(6)])
    votes = blend.members[0].predict_proba(rows)
    shares = softmax(float(power) * np.log(np.maximum(votes, 1e-300)))
    np.testing.assert_allclose(run.predict_proba(rows), floored(shares, floor_of(400, 8)), rtol=1e-9)
    run.save(tmp_path / "run.tenfold")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "run.tenfold").predict_proba(rows), run.predict_proba(rows))
