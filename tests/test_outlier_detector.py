"""Outliers of any density: the rate of false alarms where the law is known, p-values against counting, tails, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.neighbors
from scipy.stats import chi2, genpareto, multivariate_normal
from statsmodels.stats.multitest import multipletests

import tenfold
from tenfold.core.errors import DataWarning
from tenfold.evaluate.calibrate.null import NullLaw, tail_of
from tenfold.evaluate.explain.surprises import of_any

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3)) @ RNG.normal(size=(3, 3))
NEW = RNG.normal(size=(50, 3)) * 3


@pytest.mark.parametrize(("rows", "rate"), [(50, 0.1), (150, 0.04)])
def test_usual_rows_are_flagged_at_the_stated_rate_and_not_by_scores_of_the_same_rows(rows: int, rate: float) -> None:
    """Rates of tables are independent: their mean has a standard error."""
    rng = np.random.default_rng(rows)
    rates = np.empty((30, 2))
    for found in rates:
        table, new = rng.normal(size=(rows, 5)), rng.normal(size=(500, 5))
        model = tenfold.OutlierDetector(false_alarm_rate=rate).fit(table)
        inside = NullLaw.of(model.density_.score_samples(table), None)
        found[:] = (model.predict(new) == -1).mean(), (inside.pvalues(model.score_samples(new)) <= rate).mean()
    honest, naive = rates.mean(axis=0)
    error = rates.std(axis=0, ddof=1) / np.sqrt(len(rates))
    assert 0.5 * rate < honest < rate + 2 * error[0]
    assert naive > rate + 3 * error[1]


def test_pvalues_count_held_out_rows() -> None:
    model = tenfold.OutlierDetector(tenfold.GaussianMixture(), false_alarm_rate=0.1, cv=5).fit(X)
    held_out = np.empty(len(X))
    for fold in np.array_split(np.arange(len(X)), 5):
        held_out[fold] = tenfold.GaussianMixture().fit(np.delete(X, fold, axis=0)).score_samples(X[fold])
    np.testing.assert_allclose(model.held_out_scores_, held_out, rtol=1e-9)
    scores = tenfold.GaussianMixture().fit(X).score_samples(NEW)
    counted = np.array([(1 + np.sum(held_out <= one)) / (1 + len(X)) for one in scores])
    np.testing.assert_allclose(model.pvalues(NEW), counted, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(NEW) == -1, counted <= 0.1)
    np.testing.assert_allclose(model.pvalues_, (held_out.argsort().argsort() + 1) / len(X), rtol=1e-12)
    found = multipletests(counted, 0.2, method="fdr_bh")[0]
    np.testing.assert_array_equal(model.flagged(NEW, fdr=0.2), found)
    assert found.any()


def test_a_row_of_weight_three_is_three_rows() -> None:
    w = RNG.integers(0, 4, len(X))
    for calibration in ("rows", "tail"):
        weighted = tenfold.OutlierDetector(calibration=calibration).fit(X, None, w)
        copied = tenfold.OutlierDetector(calibration=calibration).fit(np.repeat(X, w, axis=0))
        np.testing.assert_allclose(weighted.pvalues(NEW), copied.pvalues(NEW), rtol=1e-9)
        np.testing.assert_allclose(np.repeat(weighted.pvalues_, w[w > 0]), copied.pvalues_, rtol=1e-9)


def test_the_tail_is_that_of_the_law_whatever_the_lowest_rows_are() -> None:
    rng = np.random.default_rng(1)
    clean = -0.5 * chi2(4).rvs(20_000, random_state=rng)
    spoiled = np.append(clean[200:], np.full(200, -1e6))
    for scores in (clean, spoiled):
        tail = tail_of(NullLaw.of(scores, None))
        assert tail is not None
        at = -0.5 * chi2(4).ppf([0.99, 0.999, 0.9999])
        np.testing.assert_allclose(tail.below(at), [0.01, 0.001, 0.0001], rtol=2.0)
    heavy = tail_of(NullLaw.of(-genpareto(0.5).rvs(20_000, random_state=rng), None))
    assert heavy is not None and heavy.shape == pytest.approx(0.5, abs=0.2)
    assert heavy.below(np.array([heavy.quantile(1e-5)])) == pytest.approx(1e-5)


def test_scores_that_many_rows_have_are_no_tail() -> None:
    """A level that one row in ten has is not unusual, however far its score lies from those of the others."""
    scores = np.repeat([-9.0, -3.0, -2.5, -2.0, -1.0], [20, 30, 40, 50, 60])
    law = NullLaw.of(scores, None)
    tail = tail_of(law)
    assert tail is not None and NullLaw.of(scores, None, tail).pvalues(np.array([-9.0]))[0] == pytest.approx(21 / 201)
    assert NullLaw.of(scores, None, tail).pvalues(np.array([-90.0]))[0] <= 1 / 201


def test_a_tail_finds_the_outliers_that_the_fit_holds_and_flags_few_others() -> None:
    table = np.vstack([RNG.normal(size=(970, 4)), RNG.normal(size=(30, 4)) * 0.5 + 8 * RNG.choice([-1, 1], (30, 4))])
    found = tenfold.OutlierDetector(calibration="tail").fit(table).pvalues_ <= 0.01
    assert found[970:].mean() > 0.9 and found[:970].mean() < 0.02
    assert (tenfold.OutlierDetector().fit(table).pvalues_ <= 0.01).sum() == 10  # by ranks alone it is always one of a hundred


def test_any_score_will_do() -> None:
    far = np.array([[0.0, 0, 0], [50.0, -50, 50]])
    for density in (
        tenfold.LocalOutlierFactor(novelty=True),
        tenfold.BayesianGaussianMixture(random_state=0),
        sklearn.neighbors.KernelDensity(kernel="epanechnikov", bandwidth=3.0),
    ):
        model = tenfold.OutlierDetector(density, false_alarm_rate=0.05).fit(X)
        assert model.predict(far).tolist() == [1, -1] and model.decision_function(far)[1] < 0
        assert model.pvalues(far)[1] <= 0.05


def test_what_is_told_and_refused() -> None:
    with pytest.warns(DataWarning, match="50 rows cannot tell so low a rate, and nothing is flagged. Give at least 99"):
        model = tenfold.OutlierDetector().fit(X[:50])
    assert (model.predict(1e6 * NEW) == 1).all() and model.offset_ == -np.inf
    assert (tenfold.OutlierDetector(calibration="tail").fit(X[:60]).predict(1e6 * NEW) == -1).all()
    refused: list[tuple[Any, str]] = [
        (tenfold.Ridge(), "is a Ridge, which has no score_samples"),
        (tenfold.GaussianMixture, "an instance is needed"),
        ("density", "has no fit"),
    ]
    for density, words in refused:
        with pytest.raises(tenfold.BadParameter, match=words):
            tenfold.OutlierDetector(density).fit(X)
    with pytest.raises(tenfold.BadInput, match="all rows are equal"):
        tenfold.OutlierDetector().fit(np.ones((10, 2)))
    for fdr in (0, 1, "a", True):
        with pytest.raises(tenfold.BadParameter, match="above 0 and below 1"):
            tenfold.OutlierDetector(false_alarm_rate=0.1).fit(X).flagged(NEW, fdr=fdr)


def test_surprises_of_gaussians_are_exact() -> None:
    """Against the conditional law of each cell by quadrature of SciPy's densities."""
    model = tenfold.OutlierDetector(tenfold.GaussianMixture(2, random_state=0), false_alarm_rate=0.1).fit(X * [1, 2, 1] + [0, 0, 5])
    rows = X[:2] * [1, 2, -1]
    found, mixture = model.surprises(rows), model.density_
    parts = [multivariate_normal(m, C) for m, C in zip(mixture.means_, mixture.covariances_, strict=True)]
    grid = np.linspace(-40, 40, 40_001)
    for i, j in [(0, 0), (1, 1), (0, 2)]:
        cells = np.tile(rows[i], (len(grid), 1))
        cells[:, j] = grid
        density = sum(share * part.pdf(cells) for share, part in zip(mixture.weights_, parts, strict=True))
        at = sum(share * part.pdf(rows[i]) for share, part in zip(mixture.weights_, parts, strict=True))
        law = np.cumsum(density) / density.sum()
        assert found.gain[i, j] == pytest.approx(np.log(density.max() / at), abs=1e-3)
        ends = grid[np.searchsorted(law, [0.1, 0.9])]
        np.testing.assert_allclose([found.low[i, j], found.high[i, j]], ends, atol=3e-3)


def test_surprises_of_any_density_come_near_and_say_it_in_words() -> None:
    table = pandas.DataFrame(X, columns=["a", "b", "weight"])
    model = tenfold.OutlierDetector(tenfold.GaussianDensity(), false_alarm_rate=0.1).fit(table)
    rows = table[:4].copy()
    rows.loc[2, "weight"] += 30
    exact = model.surprises(rows)
    tried = of_any(model._normality, np.ascontiguousarray(rows), model.column_values_, exact.names, True)
    inside = exact.gain < 20  # where the best value lies among those of the column
    np.testing.assert_allclose(tried.gain[inside], exact.gain[inside], atol=0.3)
    assert exact.columns(2)[0] == tried.columns(2)[0] == 2
    words = exact.words(2)[0]
    assert words.startswith("weight ") and words.endswith(" were expected given the others") and " where " in words
    by_factor = tenfold.OutlierDetector(tenfold.LocalOutlierFactor(novelty=True), false_alarm_rate=0.1).fit(table).surprises(rows)
    assert by_factor.columns(2)[0] == 2 and (by_factor.low <= by_factor.high).all() and (by_factor.gain >= 0).all()
    gap = rows.to_numpy().copy()
    gap[0, 1] = np.nan
    mixture = tenfold.OutlierDetector(tenfold.GaussianMixture(), false_alarm_rate=0.1).fit(X)
    assert mixture.surprises(gap).gain[0, 1] == 0 and np.isfinite(mixture.surprises(gap).gain).all()
