"""Bayes' rule where the truth is known: pens, triangles, one prototype of each class; posteriors that no small density spoils."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_softmax, logsumexp

import tenfold
from tenfold.core.errors import BadInput, Degenerate
from tenfold.distributions import Beta, Categorical, MultivariateGaussian
from tenfold.draw import draw_posteriors
from tenfold.evaluate import bayes_error, cover_hart, posterior, simulated_bayes_error

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "decisions.py"
FALLING, RISING = Beta(1, 2), Beta(2, 1)  # 2 − 2x and 2x on [0, 1]


def test_pens() -> None:
    """Half are red; 2/7 of the red ones are ballpens, 5/7 of the black ones: a ballpen is red with probability 2/7."""
    kinds = ["ballpen", "fineliner"]
    colours = Categorical([2 / 7, 5 / 7], kinds), Categorical([5 / 7, 2 / 7], kinds)
    found = posterior([0.5, 0.5], np.column_stack([one.log_density(kinds) for one in colours]))
    np.testing.assert_allclose(found.probabilities, [[2 / 7, 5 / 7], [5 / 7, 2 / 7]], rtol=1e-14, atol=0)
    np.testing.assert_allclose(np.exp(found.log_evidence), [0.5, 0.5], rtol=1e-14, atol=0)
    assert found.map.tolist() == found.maximum_likelihood.tolist() == [1, 0]
    rare = posterior([0.99, 0.01], found.log_likelihoods)
    assert rare.map.tolist() == [0, 0] and rare.maximum_likelihood.tolist() == [1, 0]


def test_triangles() -> None:
    """The posterior is x; the best rule errs in 1/4, a rule at t in 1/4 + (t − 1/2)²; one prototype of each class in 7/20."""
    x = np.linspace(0, 1, 101)
    found = posterior([0.5, 0.5], np.column_stack([FALLING.log_density(x), RISING.log_density(x)]))
    np.testing.assert_allclose(found.probabilities[:, 1], x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.log_evidence, 0, rtol=0, atol=1e-12)
    assert bayes_error([FALLING.density, RISING.density], [0.5, 0.5], 0, 1) == pytest.approx(0.25, abs=1e-9)
    samplers = [lambda rng, n: FALLING.sample(n, rng), lambda rng, n: RISING.sample(n, rng)]
    drawn = simulated_bayes_error(samplers, [FALLING.log_density, RISING.log_density], [0.5, 0.5], draws=20_000)
    assert abs(drawn.estimate - 0.25) < 4 * drawn.standard_error < 0.01
    node, weight = (np.polynomial.legendre.leggauss(40)[i] / 2 + 0.5 * (1 - i) for i in (0, 1))
    a, b = np.meshgrid(node, node)  # on either side of a = b the error is a polynomial: half the square each
    exact = 0.0
    for first, second, turned in ((a * b, b, False), (b, a * b, True)):  # (u v, v): below the diagonal
        t = (first + second) / 2
        error = 0.75 - (t - 0.5) ** 2 if turned else 0.25 + (t - 0.5) ** 2
        exact += (np.outer(weight, weight) * b * FALLING.density(first) * RISING.density(second) * error).sum()
    assert exact == pytest.approx(7 / 20, abs=1e-12)
    assert cover_hart(1 / 3).low == pytest.approx(0.2113, abs=1e-4)  # the nearest neighbour's with ever more rows: ∫ 2x(1 − x) dx


def test_the_example(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    numbers = runpy.run_path(str(EXAMPLE))["main"]([str(tmp_path / "picture.png"), "--trials", "40"])
    assert numbers["red"] == pytest.approx(2 / 7) and numbers["bayes"] == pytest.approx(0.25, abs=1e-9)
    assert abs(numbers["nearest"] - 0.35) < 0.04 and abs(numbers["many"] - 1 / 3) < 0.03
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    assert "say black" in capsys.readouterr().out


def test_small_and_large_densities() -> None:
    """Log densities of any size: as a softmax of logits, the evidence a log-sum-exp."""
    logs = np.random.default_rng(0).normal(size=(50, 3)) * np.array([[1.0], [1e3], [1e-3], [50.0], [1e5]]).repeat(10, axis=0) - 1e6
    priors = np.array([0.2, 0.5, 0.3])
    found = posterior(priors, logs)
    np.testing.assert_allclose(found.probabilities, np.exp(log_softmax(logs + np.log(priors), axis=1)), rtol=1e-9, atol=0)
    np.testing.assert_allclose(found.log_evidence, logsumexp(logs, b=priors, axis=1), rtol=1e-14, atol=0)
    one = posterior(priors, logs[0])
    assert one.probabilities.shape == (3,) and one.map == found.map[0] and one.log_evidence == found.log_evidence[0]


def test_cases_that_no_class_can_have() -> None:
    logs = [[-np.inf, -np.inf], [-np.inf, -3.0]]
    with pytest.warns(Degenerate, match="no class can have row 0"):
        found = posterior([0.3, 0.7], logs)
    assert found.probabilities.tolist() == [[0.3, 0.7], [0.0, 1.0]] and found.log_evidence[0] == -np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert posterior([0.0, 1.0], [5.0, 1.0]).probabilities.tolist() == [0.0, 1.0]


def test_gaussians_are_discriminant_analysis() -> None:
    """Priors, means and covariances of most likelihood, in Bayes' rule: what quadratic discriminant analysis says."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.normal(size=(200, 2)) * (1 + y[:, None]) + y[:, None]
    n = np.bincount(y)
    parts = [MultivariateGaussian.from_rows(X[y == k]) for k in range(3)]
    found = posterior(n / n.sum(), np.column_stack([one.log_density(X) for one in parts]))
    expected = tenfold.QuadraticDiscriminantAnalysis().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(found.probabilities, expected, rtol=1e-9, atol=1e-12)
    theirs = sum(n[k] / n.sum() * stats.multivariate_normal(one.mean, one.covariance).pdf(X) for k, one in enumerate(parts))
    np.testing.assert_allclose(np.exp(found.log_evidence), theirs, rtol=1e-10, atol=0)


def test_picture() -> None:
    above, below = draw_posteriors([FALLING.density, RISING.density], [0.5, 0.5], 0, 1, names=["falling", "rising"])
    assert above.get_title() == "Bayes error 0.25"
    assert [text.get_text() for text in above.get_legend().get_texts()] == ["error", "falling", "rising"]
    x, chance = below.lines[1].get_data()
    np.testing.assert_allclose(chance, x, rtol=0, atol=1e-9)
    gap = draw_posteriors([stats.uniform(0, 1).pdf, stats.uniform(2, 1).pdf], [0.5, 0.5], -1, 4)[1]
    assert np.isnan(gap.lines[0].get_ydata()[0])
    with pytest.raises(BadInput, match="1 names for 2 classes"):
        draw_posteriors([FALLING.density, RISING.density], [0.5, 0.5], 0, 1, names=["one"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([0.5, 0.6], [[0.0, 0.0]]), "with sum 1"),
        (([0.5, np.nan], [[0.0, 0.0]]), "priors"),
        (([1.0], [[0.0]]), "at least two classes"),
        (([0.5, 0.5], [[0.0, 0.0, 0.0]]), "each of 2 classes"),
        (([0.5, 0.5], [["a", "b"]]), "give a number"),
        (([0.5, 0.5], [[0.0, 0.0], [np.nan, 0.0]]), "class 0 in row 1 is nan"),
        (([0.5, 0.5], [[0.0, np.inf]]), "class 1 in row 0 is inf"),
    ],
)
def test_refused(given: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        posterior(*given)
