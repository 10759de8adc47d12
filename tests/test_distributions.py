"""Distributions as values: against scipy.stats, closed forms, and the laws that conditionals, marginals and posteriors obey."""

from __future__ import annotations

import doctest
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from scipy import sparse, stats
from scipy.special import digamma

import tenfold
from tenfold.core.errors import BadInput, BadParameter, TenfoldError
from tenfold.core.stats import Moments
from tenfold.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    MultivariateGaussian,
    MultivariateT,
    NormalInverseWishart,
)

RNG = np.random.default_rng(0)
MIX = RNG.normal(size=(4, 4))
MEAN, C = np.array([1.0, -2.0, 300.0, 1e-4]), MIX @ MIX.T + np.eye(4)
UNITS = np.array([1.0, 10.0, 1e5, 1e-6])
C = C * UNITS * UNITS[:, None]
X = MEAN + RNG.normal(size=(30, 4)) * UNITS
GAUSSIAN, T = MultivariateGaussian(MEAN, C), MultivariateT(MEAN, C, 3.5)
PRIOR = NormalInverseWishart(MEAN + UNITS, 2.5, C, 6.5)
CLOSE: dict[str, Any] = dict(rtol=1e-10, atol=1e-12)


# --- Gaussians and t ------------------------------------------------------------------------------------------------


def test_log_densities_are_those_of_scipy() -> None:
    """Columns of very different units: in units of their own, where SciPy's are accurate too."""
    Z, log_units = (X - MEAN) / UNITS, np.log(UNITS).sum()
    scaled = C / UNITS / UNITS[:, None]
    np.testing.assert_allclose(GAUSSIAN.log_density(X) + log_units, stats.multivariate_normal(np.zeros(4), scaled).logpdf(Z), **CLOSE)
    np.testing.assert_allclose(T.log_density(X) + log_units, stats.multivariate_t(np.zeros(4), scaled, 3.5).logpdf(Z), **CLOSE)
    np.testing.assert_allclose(GAUSSIAN.entropy(), stats.multivariate_normal(np.zeros(4), scaled).entropy() + log_units, **CLOSE)
    np.testing.assert_allclose(GAUSSIAN.density(X), np.exp(GAUSSIAN.log_density(X)), rtol=0, atol=0)
    inverse = np.linalg.inv(scaled)
    np.testing.assert_allclose(GAUSSIAN.mahalanobis(X), np.sqrt(np.einsum("ij,jk,ik->i", Z, inverse, Z)), **CLOSE)


@pytest.mark.parametrize("joint", [GAUSSIAN, T], ids=["Gaussian", "t"])
def test_conditional_times_marginal_is_joint(joint: Any) -> None:
    for there in ([2], [3, 0], [1, 2, -1]):
        rest = [j for j in range(4) if j not in {j % 4 for j in there}]
        for x in X[:5]:
            both = joint.marginal(there).log_density(x[there] if len(there) > 1 else x[there[0]])
            other = joint.conditional(there, x[there]).log_density(x[rest] if len(rest) > 1 else x[rest[0]])
            np.testing.assert_allclose(both + other, joint.log_density(x), **CLOSE)


def test_conditionals_are_regressions() -> None:
    """m_a + C_ab C_bb⁻¹ (x_b − m_b) and the Schur complement, with columns of the same unit."""
    one = MultivariateGaussian([1.0, 2.0, 3.0], MIX[:3] @ MIX[:3].T)
    found, S = one.conditional([0, 2], [0.3, 0.7]), one.covariance
    weights = np.linalg.solve(S[np.ix_([0, 2], [0, 2])], S[[0, 2], 1])
    np.testing.assert_allclose(found.mean[0], 2 + weights @ [0.3 - 1, 0.7 - 3], **CLOSE)
    np.testing.assert_allclose(found.covariance[0, 0], S[1, 1] - weights @ S[[0, 2], 1], **CLOSE)


def test_one_column() -> None:
    at, u = np.linspace(-3, 3, 7), np.linspace(0.05, 0.95, 7)
    for ours, theirs in (
        (MultivariateGaussian(0.5, 4.0), stats.norm(0.5, 2)),
        (MultivariateT(0.5, 4.0, 3.5), stats.t(3.5, 0.5, 2)),
        (Beta(2.5, 0.7), stats.beta(2.5, 0.7)),
    ):
        np.testing.assert_allclose(ours.cdf(at), theirs.cdf(at), **CLOSE)
        np.testing.assert_allclose(ours.quantile(u), theirs.ppf(u), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.density(u), theirs.pdf(u), **CLOSE)
        np.testing.assert_allclose(ours.log_density(at), theirs.logpdf(at), **CLOSE)
        assert stats.kstest(ours.sample(2000, random_state=1).ravel(), theirs.cdf).pvalue > 0.01
        assert np.ndim(ours.cdf(0.2)) == np.ndim(ours.log_density(0.2)) == 0
    assert MultivariateGaussian(0.0, 1.0).quantile([0.0, 1.0]).tolist() == [-np.inf, np.inf]
    assert MultivariateGaussian(0.0, 1.0).log_density(pandas.Series([0.0, 1.0])).shape == (2,)


def test_numbers_of_any_size() -> None:
    for size in (1e-300, 1e300):
        one = MultivariateGaussian([0.0, 0.0], [[size, size / 2], [size / 2, size]])
        standard = MultivariateGaussian([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]])
        np.testing.assert_allclose(one.log_density([0.0, 0.0]), standard.log_density([0.0, 0.0]) - math.log(size), rtol=1e-13, atol=0)
    for degrees in (1e7, 1e12):  # so many that it is a Gaussian
        np.testing.assert_allclose(MultivariateT(0, 1, degrees).log_density(1.0), stats.norm.logpdf(1), rtol=0, atol=3 / degrees + 1e-12)


def test_draws_have_the_mean_and_the_covariance() -> None:
    for ours, covariance in ((GAUSSIAN, C), (MultivariateT(MEAN, C, 30.0), C * 30 / 28)):
        rows = ours.sample(40_000, random_state=0)
        np.testing.assert_allclose((rows.mean(axis=0) - MEAN) / UNITS, 0, rtol=0, atol=0.05)
        np.testing.assert_allclose(np.cov(rows.T) / UNITS / UNITS[:, None], covariance / UNITS / UNITS[:, None], rtol=0, atol=0.3)
        assert np.array_equal(rows[:3], ours.sample(40_000, random_state=np.random.default_rng(0))[:3])
    np.testing.assert_allclose(MultivariateT(MEAN, C, 30.0).covariance, C * 30 / 28, **CLOSE)


def test_divergences() -> None:
    """Closed forms against the mean of log ratios, and of one column against the integral."""
    wide = MultivariateGaussian(MEAN + UNITS, 2 * C)
    rows = GAUSSIAN.sample(30_000, random_state=0)
    ratios = GAUSSIAN.log_density(rows) - wide.log_density(rows)
    assert abs(ratios.mean() - GAUSSIAN.kl(wide)) < 5 * ratios.std() / math.sqrt(len(rows))
    assert GAUSSIAN.kl(GAUSSIAN) == pytest.approx(0, abs=1e-12)
    at = np.linspace(0, 1, 20_001)[1:-1]
    a, b = Beta(2.0, 3.0), Beta(4.0, 1.5)
    integral = np.trapezoid(a.density(at) * (a.log_density(at) - b.log_density(at)), at)
    np.testing.assert_allclose(a.kl(b), integral, rtol=1e-4, atol=0)
    np.testing.assert_allclose(Dirichlet([2.0, 3.0]).kl(Dirichlet([4.0, 1.5])), a.kl(b), **CLOSE)
    np.testing.assert_allclose(Bernoulli(0.3).kl(Bernoulli(0.6)), stats.entropy([0.3, 0.7], [0.6, 0.4]), **CLOSE)
    one, other = Categorical([0.3, 0.7], ["a", "b"]), Categorical([0.4, 0.6], ["b", "a"])
    np.testing.assert_allclose(one.kl(other), Bernoulli(0.3).kl(Bernoulli(0.6)), **CLOSE)
    assert Bernoulli(0.5).kl(Bernoulli(1.0)) == Categorical([0.5, 0.5], ["a", "b"]).kl(Categorical([1.0], ["a"])) == math.inf


def test_singular_covariances() -> None:
    """Refused with the columns; or the density on the plane, as SciPy's allow_singular."""
    Z = RNG.normal(size=(20, 3)) @ RNG.normal(size=(3, 5))
    with pytest.raises(BadInput, match=r"as columns 0, 1, 2, 3 and 4 are linearly dependent: leave a column out, .*allow_singular"):
        MultivariateGaussian.from_rows(Z)
    with pytest.raises(BadInput, match="singular, as column 1 does not vary"):
        MultivariateGaussian.from_rows([[1.0, 5.0], [2.0, 5.0]])
    with pytest.raises(BadInput, match="singular, as column 0 does not vary"):
        MultivariateGaussian.from_rows(np.column_stack([np.resize([0.3, 0.1 + 0.2], 20), Z[:, 0]]))  # but for rounding
    ours = MultivariateGaussian.from_rows(Z, allow_singular=True)
    theirs = stats.multivariate_normal(Z.mean(axis=0), np.cov(Z.T, ddof=0), allow_singular=True)
    np.testing.assert_allclose(ours.log_density(Z), theirs.logpdf(Z), rtol=1e-6, atol=0)
    np.testing.assert_allclose(ours.entropy(), theirs.entropy(), rtol=1e-8, atol=0)
    assert ours.log_density(Z[0] + [0, 0, 0, 0, 0.1]) == -np.inf and np.isfinite(ours.log_density(ours.sample(9, 0))).all()
    given = ours.conditional([0, 1, 2], Z[0, :3])
    np.testing.assert_allclose(given.mean, Z[0, 3:], rtol=1e-7, atol=1e-7)
    assert np.abs(given.covariance).max() < 1e-12
    with pytest.raises(BadInput, match=r"columns \[0, 1, 2, 3\] never have the values"):
        ours.conditional([0, 1, 2, 3], Z[0, :4] + [0, 0, 0, 1])
    assert ours.kl(ours) == pytest.approx(0, abs=1e-9)
    assert ours.kl(MultivariateGaussian(ours.mean, np.eye(5))) == MultivariateGaussian(ours.mean, np.eye(5)).kl(ours) == math.inf
    constant = MultivariateGaussian([1.0, 2.0], [[1.0, 0.0], [0.0, 0.0]], allow_singular=True)
    assert constant.log_density([1.0, 2.0]) == MultivariateGaussian(1.0, 1.0).log_density(1.0)
    assert constant.log_density([1.0, 2.1]) == -np.inf


# --- rows -----------------------------------------------------------------------------------------------------------


def halves() -> Any:
    yield X[:13]
    yield X[13:]


def test_rows_by_all_routes(tmp_path: Path) -> None:
    """Most likelihood of arrays, sparse rows, frames, files and streams; a weight counts copies."""
    pandas.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "x.parquet")
    routes = [X, sparse.csr_array(X), pandas.DataFrame(X), str(tmp_path / "x.parquet"), halves]
    expected = np.cov(X.T, ddof=0)
    for rows in routes:
        found = MultivariateGaussian.from_rows(rows)
        np.testing.assert_allclose(found.mean, X.mean(axis=0), **CLOSE)
        np.testing.assert_allclose(found.covariance / UNITS / UNITS[:, None], expected / UNITS / UNITS[:, None], **CLOSE)
        after = PRIOR.posterior(rows)
        np.testing.assert_allclose(after.scale / UNITS / UNITS[:, None], PRIOR.posterior(X).scale / UNITS / UNITS[:, None], **CLOSE)
    w = RNG.integers(0, 4, len(X))
    weighted, copies = (MultivariateGaussian.from_rows(*given) for given in ((X, w), (np.repeat(X, w, axis=0),)))
    np.testing.assert_allclose(weighted.covariance / UNITS / UNITS[:, None], copies.covariance / UNITS / UNITS[:, None], **CLOSE)
    with tenfold.engine(tenfold.Local()):
        assert MultivariateGaussian.from_rows(X) == MultivariateGaussian.from_rows(X)


@pytest.mark.parametrize("covariance", ["full", "diag", "spherical"])
def test_a_fitted_density_is_a_value(covariance: str) -> None:
    model = tenfold.GaussianDensity(covariance).fit(X / UNITS)
    np.testing.assert_allclose(model.distribution().log_density(X / UNITS), model.score_samples(X / UNITS), rtol=1e-10, atol=0)
    with pytest.raises(tenfold.NotFitted):
        tenfold.GaussianDensity().distribution()


def test_posterior_of_two_halves_is_that_of_the_whole() -> None:
    whole = PRIOR.posterior(X)
    parts = Moments.of(X[:13], np.empty((13, 0)), np.ones(13)) + Moments.of(X[13:], np.empty((17, 0)), np.ones(17))
    for other in (PRIOR.posterior(X[:13]).posterior(X[13:]), PRIOR.posterior_of_moments(parts)):
        np.testing.assert_allclose((other.mean - whole.mean) / UNITS, 0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.scale / UNITS / UNITS[:, None], whole.scale / UNITS / UNITS[:, None], **CLOSE)
        assert (other.mean_precision, other.degrees_of_freedom) == (32.5, 36.5)
    flips, labels = np.array([1, 0, 0, 1, 1]), np.array(["a", "c", "a", "b", "c"])
    assert Beta(2, 3).posterior(flips[:2]).posterior(flips[2:]) == Beta(2, 3).posterior(flips) == Beta(5, 5)
    prior = Dirichlet([1, 2, 3], ["c", "a", "b"])
    assert prior.posterior(labels[:2]).posterior(labels[2:]) == prior.posterior(labels) == Dirichlet([3, 4, 4], ["c", "a", "b"])
    assert prior.posterior(labels, [2, 0, 0, 1, 0]) == prior.posterior_of_counts([0, 2, 1])


def test_evidence_is_the_product_of_predictions() -> None:
    """log p(x₁, ..., xₙ) = Σ log p(xᵢ | those before)."""
    prior, total = PRIOR, 0.0
    for x in X[:9]:
        total += prior.predictive().log_density(x)
        prior = prior.posterior(x[None])
    np.testing.assert_allclose(PRIOR.log_evidence(X[:9]), total, rtol=1e-10, atol=0)
    for start, seen in ((Beta(2.0, 0.5), [1, 0, 0, 1]), (Dirichlet([2.0, 0.5, 1.0]), [1, 0, 2, 2, 1])):
        now, total = start, 0.0
        for one in seen:
            total += now.predictive().log_density(one)
            now = now.posterior([one])
        np.testing.assert_allclose(start.log_evidence(seen), total, **CLOSE)


def test_what_follows_from_a_posterior() -> None:
    """MAP is where the density is largest, draws have the expected covariance, and evidence = likelihood x prior / posterior."""
    after = NormalInverseWishart([0.0, 0.0], 1.0, 1.0, 4.0).posterior(RNG.normal(size=(40, 2)))
    best = after.map()
    for _ in range(20):
        step = 1e-3 * RNG.normal(size=(2, 2))
        near = MultivariateGaussian(best.mean + 1e-3 * RNG.normal(size=2), best.covariance + step + step.T)
        assert after.log_density(near) < after.log_density(best)
    drawn = after.sample(500, random_state=0)
    np.testing.assert_allclose(np.mean([one.covariance for one in drawn], axis=0), after.expected().covariance, rtol=0, atol=0.04)
    np.testing.assert_allclose(np.mean([one.mean for one in drawn], axis=0), after.mean, rtol=0, atol=0.02)
    rows = RNG.normal(size=(5, 4)) * UNITS + MEAN
    evidence = GAUSSIAN.log_density(rows).sum() + PRIOR.log_density(GAUSSIAN) - PRIOR.posterior(rows).log_density(GAUSSIAN)
    np.testing.assert_allclose(PRIOR.log_evidence(rows), evidence, rtol=1e-10, atol=0)
    inverse_wishart = stats.invwishart(after.degrees_of_freedom, after.scale).logpdf(best.covariance)
    normal = stats.multivariate_normal(after.mean, best.covariance / after.mean_precision).logpdf(best.mean)
    np.testing.assert_allclose(after.log_density(best), inverse_wishart + normal, **CLOSE)


# --- categories -----------------------------------------------------------------------------------------------------


def test_categories() -> None:
    one = Categorical.from_rows(["b", "a", "b", "b"], [1, 1, 1, 2])
    assert one == Categorical([0.2, 0.8], ["a", "b"]) and one.mode == "b"
    np.testing.assert_allclose(np.exp(one.log_density(["a", "b", "z"])), [0.2, 0.8, 0.0], **CLOSE)
    assert one.entropy() == pytest.approx(stats.entropy([0.2, 0.8]))
    draws = one.sample(5000, random_state=0)
    assert abs((draws == "b").mean() - 0.8) < 0.02
    assert Bernoulli.from_rows([True, False, True], [1, 1, 2]).probability == 0.75
    assert abs(Bernoulli(0.2).sample(5000, random_state=0).mean() - 0.2) < 0.02


def test_shares() -> None:
    a = np.array([2.0, 0.7, 3.1])
    ours, theirs = Dirichlet(a), stats.dirichlet(a)
    rows = ours.sample(500, random_state=0)
    np.testing.assert_allclose(ours.log_density(rows), theirs.logpdf(rows.T / rows.T.sum(axis=0)), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.entropy(), theirs.entropy(), **CLOSE)
    np.testing.assert_allclose(Beta(2.5, 0.7).entropy(), stats.beta(2.5, 0.7).entropy(), rtol=1e-8, atol=0)
    np.testing.assert_allclose(ours.mean, theirs.mean(), **CLOSE)
    assert stats.kstest(rows[:, 1], ours.marginal(1).cdf).pvalue > 0.01
    np.testing.assert_allclose(Dirichlet([3, 1, 2]).map().probabilities, [2 / 3, 0, 1 / 3], **CLOSE)
    assert Beta(3, 1).map() == Bernoulli(1.0)


def test_shares_of_most_likelihood() -> None:
    for a, b in ((2.0, 5.0), (0.05, 0.2), (300.0, 2.0)):
        rows = np.clip(Beta(a, b).sample(400, random_state=0), 1e-12, 1 - 1e-12)
        found = Beta.from_rows(rows)
        np.testing.assert_allclose([found.a, found.b], stats.beta.fit(rows, floc=0, fscale=1)[:2], rtol=1e-5, atol=0)
    rows = Dirichlet([0.5, 3.0, 10.0]).sample(500, random_state=0)
    w = np.arange(500) % 3
    frame = pandas.DataFrame(rows, columns=["a", "b", "c"])
    ours = Dirichlet.from_rows(frame, w)
    slope = digamma(ours.concentration.sum()) - digamma(ours.concentration) + w @ np.log(rows) / w.sum()
    assert np.abs(slope).max() < 1e-12 and ours.categories.tolist() == ["a", "b", "c"]  # the certificate: the gradient is zero
    np.testing.assert_allclose(ours.concentration, [0.5, 3.0, 10.0], rtol=0.2, atol=0)
    np.testing.assert_allclose(Dirichlet.from_rows(np.repeat(rows, w, axis=0)).concentration, ours.concentration, rtol=1e-9, atol=0)


# --- values, and what is refused ------------------------------------------------------------------------------------

ALL = [GAUSSIAN, T, PRIOR, Bernoulli(0.5), Beta(1, 2), Categorical([0.5, 0.5], np.array(["a", "b"], dtype=object)), Dirichlet([1, 2])]


@pytest.mark.parametrize("one", ALL, ids=lambda one: type(one).__name__)
def test_values(one: Any) -> None:
    """Equal to their copies, of no use as something to write to, and told as a formula."""
    copy = pickle.loads(pickle.dumps(one))
    assert copy == one and hash(copy) == hash(one) and one != "one" and len({one, copy}) == 1
    with pytest.raises(AttributeError):
        one.mean = 1
    for part in vars(one).values():
        assert not isinstance(part, np.ndarray) or not part.flags.writeable
    assert repr(one).endswith(")") and len(repr(one)) < 160
    for bad in (0, -1, 1.5, True, "x"):
        with pytest.raises(BadParameter, match="sample"):
            one.sample(bad)
    with pytest.raises(BadParameter, match="random_state"):
        one.sample(1, "x")


def test_the_guide() -> None:
    page = Path(__file__).resolve().parents[1] / "docs" / "distributions.md"
    text = page.read_text(encoding="utf-8").replace("```python\n", "").replace("```\n", "\n")
    found = doctest.DocTestRunner().run(doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0))
    assert found.failed == 0 and found.attempted > 20


def test_repr_of_many_columns() -> None:
    assert repr(MultivariateGaussian(np.zeros(50), 1.0)) == "N(x; (50), (50 x 50))"
    assert repr(Categorical(np.full(20, 0.05))) == "Categorical(x; 20 categories)"


REFUSED = {
    "variance below zero": (lambda: MultivariateGaussian(0.0, -1.0), r"covariance\)\[0, 0\] is -1"),
    "indefinite": (lambda: MultivariateGaussian([0, 0], [[1, 2], [2, 1]]), "no covariance: columns 0, 1 would have"),
    "covariance of a constant": (lambda: MultivariateGaussian([0, 0], [[1, 1], [1, 0]]), "column 1 has no variance, but covariances"),
    "not symmetric": (lambda: MultivariateGaussian([0, 0], [[1, 0.5], [0, 1]]), r"not symmetric: \[0, 1\] is 0.5, but \[1, 0\] is 0"),
    "shape": (lambda: MultivariateGaussian([0, 0], np.eye(3)), r"of shape \(3, 3\): give \(2, 2\)"),
    "neither": (lambda: MultivariateGaussian(0, 1, allow_singular="no"), "must be True or False"),
    "text": (lambda: MultivariateGaussian(["a"], 1.0), "must be made of numbers"),
    "NaN mean": (lambda: MultivariateGaussian([0, np.nan], 1.0), r"mean\)\[1\] is nan"),
    "infinite covariance": (lambda: MultivariateGaussian([0, 0], [[1, np.inf], [np.inf, 1]]), r"\[0, 1\] is inf"),
    "NaN point": (lambda: GAUSSIAN.log_density([[1, 2, np.nan, 4]]), "NaN in column 2, row 0: fill or drop"),
    "width": (lambda: GAUSSIAN.log_density(X[:, :3]), "the points have 3 columns, but MultivariateGaussian has 4"),
    "text point": (lambda: GAUSSIAN.log_density([["a", 1, 2, 3]]), "'a'"),
    "cdf of four": (lambda: GAUSSIAN.cdf(0.0), r"cdf is of one column, and there are 4: take .marginal\(\[j\]\)"),
    "share": (lambda: MultivariateGaussian(0, 1).quantile(1.5), r"quantile\(1.5\): a share lies between 0 and 1"),
    "no such column": (lambda: GAUSSIAN.marginal([4]), "there is no column 4, they are 0 to 3"),
    "column twice": (lambda: GAUSSIAN.marginal([0, -4]), "each once"),
    "column by name": (lambda: GAUSSIAN.marginal("a"), "must be places of columns"),
    "all given": (lambda: GAUSSIAN.conditional([0, 1, 2, 3], X[0]), "leave at least one column"),
    "values": (lambda: GAUSSIAN.conditional([0, 1], [1.0]), "1 values for 2 of 4 columns"),
    "one row": (lambda: MultivariateGaussian.from_rows([[1.0, 2.0]]), "singular, as column 0 does not vary"),
    "gap": (lambda: MultivariateGaussian.from_rows([[1.0], [np.nan]]), "NaN in column 0, row 1"),
    "divergence": (lambda: GAUSSIAN.kl(MultivariateGaussian(0, 1)), "of 4 and 1 columns"),
    "covariance of t": (lambda: MultivariateT(0, 1, 2).covariance, "needs more than 2"),
    "degrees of t": (lambda: MultivariateT(0, 1, 0), "degrees_of_freedom.*must be a finite number, above 0"),
    "degrees": (lambda: NormalInverseWishart([0, 0], 1, 1, 1), "must be a finite number, above 1"),
    "precision": (lambda: NormalInverseWishart([0, 0], 0, 1, 3), "mean_precision"),
    "expectation": (lambda: NormalInverseWishart([0, 0], 1, 1, 3).expected(), "take more than 3"),
    "columns": (lambda: PRIOR.posterior([[1.0]]), "the rows have 1 columns, but the prior is of 4"),
    "density of a number": (lambda: PRIOR.log_density(1.0), "of a MultivariateGaussian of 4 columns"),
    "probability": (lambda: Bernoulli(1.5), "at least 0 and at most 1"),
    "two": (lambda: Bernoulli.from_rows([0, 1, 2]), "zeros and ones .* not of 2"),
    "nothing": (lambda: Bernoulli.from_rows([]), "no values"),
    "a": (lambda: Beta(0, 1), "above 0"),
    "share of one": (lambda: Beta.from_rows([0.5, 1.0]), "below 1, and there is 1 at place 1"),
    "constant shares": (lambda: Beta.from_rows([0.3, 0.3]), "do not vary"),
    "rows of shares": (lambda: Dirichlet.from_rows([[0.5, 0.5], [0.5, 0.4]]), "row 1 is .* with sum 1"),
    "flat": (lambda: Beta(1, 1).map(), "no single largest density"),
    "sum": (lambda: Categorical([0.5, 0.6]), "their sum is 1.1"),
    "label twice": (lambda: Categorical([0.5, 0.5], ["a", "a"]), "2 different labels"),
    "unknown label": (lambda: Dirichlet([1, 1], ["a", "b"]).posterior(["a", "z"]), "label 'z' in row 1 is none of"),
    "missing label": (lambda: Categorical.from_rows(["a", None]), "NaN in row 1"),
    "one category": (lambda: Dirichlet([1.0]), "at least two"),
    "no mode": (lambda: Dirichlet([0.5, 2]).map(), "no single largest density"),
    "no shares": (lambda: Dirichlet([1, 2]).log_density([0.5, 0.6]), "have sum 1"),
    "other categories": (lambda: Dirichlet([1, 2]).kl(Dirichlet([1, 2], ["a", "b"])), "same categories"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    call, message = REFUSED[case]
    with pytest.raises(TenfoldError, match=message):
        call()
