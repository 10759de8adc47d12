"""The benchmark of honesty: its worlds, its arithmetic on made-up claims, and one table of each procedure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import log_loss, root_mean_squared_error
from small_portfolio import shrink

import tenfold

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))  # last, so that the installed package wins over the sources beside it

from bench.honesty import comparisons, run_one, show, summary  # noqa: E402
from bench.regret import frame_of, in_hindsight, regrets  # noqa: E402
from bench.worlds import FITTED, RARE, REGRESSION, REPORTED, World, table  # noqa: E402


@pytest.mark.parametrize("world", [*REPORTED, *FITTED], ids=lambda world: world.name)
def test_worlds_draw_the_same_table_twice_and_every_class(world: World) -> None:
    one, again = (table(world, 80, 3, 500) for _ in range(2))
    np.testing.assert_array_equal(one.X, again.X)
    np.testing.assert_array_equal(one.new_y, again.new_y)
    assert one.X.shape[0] == 80 and one.new_X.shape == (500, one.X.shape[1])
    if world.kind != REGRESSION:
        assert np.bincount(one.y).min() >= 2


def test_new_rows_have_the_frequencies_of_the_tables_that_are_taken() -> None:
    (rare,) = (world for world in REPORTED if world.kind == RARE)
    drawn = [table(rare, 40, seed, 4000) for seed in range(150)]
    shares = [one.y.mean() for one in drawn]
    expected = np.mean([np.average(one.new_y, weights=one.new_w) for one in drawn])
    assert abs(np.mean(shares) - expected) < 4 * np.std(shares) / np.sqrt(150) and expected > 0.06


def _claim(truth: float, estimate: float, half: float, **more: Any) -> dict[str, Any]:
    said = dict(learner="ridge", score="rmse", estimate=estimate, low=estimate - half, high=estimate + half, truth=truth)
    return said | dict(before=None, p_values=None) | more


def test_coverage_bias_and_width_of_claims_made_up() -> None:
    errors = np.random.default_rng(0).normal(0.01, 0.1, size=400)
    claims = {f"cross_validate|linear|80|{k}": [_claim(2.0, 2.0 * (1 + e), 2 * 1.96 * 0.1)] for k, e in enumerate(errors)}
    ((procedure, rows, kind, count, covered, bias, wide, *_),) = summary(claims)
    assert (procedure, rows, kind, count) == ("cross_validate", 80, REGRESSION, 400)
    assert covered == np.mean(np.abs(errors) <= 0.196) and bias == pytest.approx(errors.mean(), rel=1e-9)
    assert wide == pytest.approx(0.1 / errors.std(ddof=1), rel=1e-9)
    pair = dict(learner="ridge, no difference", p_values=(0.01, 0.2))
    (found,) = comparisons({"compare|noise|80|0": [_claim(0.0, 0.0, 1.0, **pair)]})
    assert found == ("no difference", 80, 1, 1.0, 1.0, 0.0)
    assert "| cross_validate | 80 | regression | 400 |" in show(claims)


@pytest.mark.parametrize("procedure", ["cross_validate", "nested_cross_validate", "compare"])
@pytest.mark.parametrize("world", ["linear", "rare"])
def test_a_procedure_claims_what_can_be_checked(procedure: str, world: str) -> None:
    _, claims = run_one((procedure, world, 80, 1))
    assert claims and all(one["low"] <= one["estimate"] <= one["high"] and np.isfinite(one["truth"]) for one in claims)


@pytest.mark.parametrize("world", ["linear", "two classes"])
def test_regret_is_the_error_of_what_is_saved_beside_the_best_in_hindsight(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch, 3, (5,))
    (law,) = (one for one in REPORTED if one.name == world)
    drawn = table(law, 60, 0, 400)
    found = in_hindsight(drawn)
    run = tenfold.select(frame_of(drawn.X), drawn.y, task="number" if law.kind == REGRESSION else "classes", effort="quick")
    new = frame_of(drawn.new_X)
    truth = drawn.new_y
    true = root_mean_squared_error(truth, run.predict(new)) if law.kind == REGRESSION else log_loss(truth, run.predict_proba(new))
    assert found["saved"] == pytest.approx(true, rel=1e-9) and found["settings"] > 10
    assert found["best"] <= min(found["fast"], found["simple"])


def test_regrets_of_claims_made_up() -> None:
    claims = {f"regret|linear|80|{k}": [_claim(2.0, 2.0 * (1 + one), 0.1, learner="saved")] for k, one in enumerate((0.0, 0.008, 0.04))}
    every, kind = regrets(claims)
    assert every[:4] == ("saved", 80, "all", 3) and kind[2] == REGRESSION
    np.testing.assert_allclose(every[4:], [0.008, 0.016, 0.0368, 2 / 3], rtol=1e-9, atol=0)
    assert "| saved | 80 | all | 3 | 0.8% |" in show(claims) and not list(summary(claims))
