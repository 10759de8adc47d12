"""Bayesian logistic regression: a posterior of the coefficients, and probabilities that know how sure it is."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base import check
from tenfold.base.estimator import Estimator
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, BadParameter, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator, generator_of
from tenfold.linear.class_scores import LinearScores
from tenfold.linear.far import far_shift, shifted
from tenfold.linear.jaakkola import tightest
from tenfold.linear.laplace import Peak, Problem, most_evident, peak_at, rows_of
from tenfold.linear.logistic import survey_of
from tenfold.linear.logistic_terms import Setting
from tenfold.solve.linalg import eigh

AT_ONCE = 1 << 22  # values that are predicted at a time from drawn coefficients


@estimator
class BayesianLogisticRegression(LinearScores, Estimator):
    """BayesianLogisticRegression: logistic regression averaged over all coefficients that the rows leave possible.

    Model       P(class k | x, w) ∝ exp(wₖ·x + bₖ),  w ~ N(0, I/λ),  b broad;  predicts P(k | x) = E[P(k | x, w) | rows]
    Objective   λ of largest evidence p(y | λ); then w, b | y ~ N(peak, sigma_), sigma_⁻¹ = Σ s ∇² log(1 / P(y | x, w)) + prior
    Algorithm   laplace: Newton or L-BFGS to the peak; the zero of the exact derivative of the evidence by log λ
                variational (two classes): Jaakkola and Jordan's bound, row by row; coordinate ascent, so that it never falls
                predictive  probit: σ(μ / √(1 + π v / 8)), μ and v mean and variance of the score; for many classes of the
                difference of each two; sampling: the mean over n_samples coefficients drawn from the posterior; map: at the peak
    Cost        O(n p² K²) time for each λ tried (about ten, each some passes), O(p² K²) memory
    Fails when  columns have very different units, as one λ serves all (standardise them); the posterior is skewed: few rows, rare classes
    Reference   MacKay 1992; Spiegelhalter & Lauritzen 1990; Jaakkola & Jordan 2000; Bishop 2006, 4.5 and 10.6

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    >>> model = tenfold.BayesianLogisticRegression(prior_precision=1.0).fit(X, [0, 0, 1, 1])
    >>> model.predict_proba([[1.0], [100.0]]).round(2)  # far away it is less sure than the coefficients alone would be
    array([[0.32, 0.68],
           [0.08, 0.92]])
    """

    sigma_: Array = learned("float(*,*)", "covariance of [w b], class after class; b is the constant at offset_")
    offset_: Array = learned("float(p)", "where the columns are centred for sigma_: zeros, unless they lie far from zero")
    prior_precision_: float = learned("float>0", "precision of the prior of the weights, λ")
    log_evidence_: float = learned("float", "log p(y | λ); variational: a lower bound of it")
    bounds_: Array = learned("float(*)", "variational: the bound after each step; it never falls", optional=True)
    samples_: Array = learned("float(s,M,*)", "[w b] drawn from the posterior, with predictive='sampling'", optional=True)
    n_iter_: int = learned("int", "passes over the rows")

    lean: ClassVar[bool] = False

    _: KW_ONLY
    method: str = param(default="laplace", one_of=("laplace", "variational"), doc="how the posterior is approximated")
    predictive: str = param(default="probit", one_of=("probit", "sampling", "map"), doc="how probabilities are averaged over it")
    prior_precision: float | None = param(default=None, above=0, doc="λ; None: the one of largest evidence")
    intercept_precision: float = param(default=1e-4, above=0, doc="precision of the prior of the constants")
    fit_intercept: bool = param(default=True, doc="fit b, or fix it at zero")
    tol: float = param(default=1e-6, above=0, doc="bound on max |gradient| / Σ s; variational: on the last step, in posterior deviations")
    max_iter: int = param(default=1000, at_least=1, doc="most passes for one λ; variational: in all")
    n_samples: int = param(default=1000, at_least=1, doc="coefficients drawn with predictive='sampling'")
    random_state: int | RandomState | None = param(default=None, doc="seed of these draws")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"tol": 1e-12}, {"prior_precision": 0.5, "fit_intercept": False, "predictive": "map"}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        K, q = len(self.classes_), source.n_features + 1
        if self.method == "variational" and K > 2:
            raise BadInput(
                f"BayesianLogisticRegression(method='variational'): the bound is of two classes and there are {K}: use method='laplace', "
                "or OneVsRestClassifier around it"
            )
        shape = (1 if K == 2 else K, q)
        size = shape[0] * q
        check_memory(f"the covariance of {size:,} parameters", 32.0 * size * size, "give fewer columns")
        survey = yield survey_of(K)
        setting = Setting(None, far_shift(survey.spread, self.fit_intercept), self.fit_intercept)
        problem = Problem(setting, shape, float(self.intercept_precision), self.tol, self.max_iter)
        peak, bounds = yield from self._posterior(problem)
        self._warn(peak)
        theta, sigma = shifted(peak.theta, setting.shift, -1), peak.sigma
        if not self.fit_intercept:
            sigma[q - 1 :: q] = 0.0
            sigma[:, q - 1 :: q] = 0.0
        fitted = dict(
            coef_=np.ascontiguousarray(theta[:, :-1]),
            intercept_=np.ascontiguousarray(theta[:, -1]),
            sigma_=sigma,
            offset_=np.zeros(q - 1) if setting.shift is None else setting.shift,
            prior_precision_=float(peak.precision),
            log_evidence_=peak.log_evidence,
            n_iter_=int(peak.n_pass),
        )
        if self.method == "variational":
            fitted["bounds_"] = np.array(bounds)
        if self.predictive == "sampling":
            fitted["samples_"] = drawn(peak.theta, sigma, int(self.n_samples), generator_of(self))
        return fitted

    def _posterior(self, problem: Problem) -> Learner[tuple[Peak, list[float]]]:
        given = None if self.prior_precision is None else float(self.prior_precision)
        if self.method == "variational":
            return (yield from tightest(problem, given or 1.0, fixed=given is not None))
        if given is not None:
            return (yield from peak_at(problem, given, None)), []
        at = yield partial(problem.terms, theta=np.zeros(problem.shape), curvature="diagonal")
        start = float(at.curvature[:, :-1].mean() / at.weight) * problem.shape[0]
        return (yield from most_evident(problem, start if start > 0 else 1.0)), []

    def _warn(self, peak: Peak) -> None:
        if not peak.converged:
            warn(
                f"BayesianLogisticRegression: not converged to tol={self.tol:g} within max_iter={self.max_iter} passes: raise max_iter, or "
                "standardise the columns",
                NotConverged,
                stacklevel=2,
            )

    # --- probabilities ---

    def _scores(self, X: Any) -> Array:
        """The logarithm of the predictive probabilities, up to a constant in each row."""
        if self.predictive == "map":
            return super()._scores(X)
        found = self._by_sampling(X) if self.predictive == "sampling" else self._by_probit(X)
        return found.astype(np.float32) if X.dtype == np.float32 else found

    def _by_probit(self, X: Any) -> Array:
        Z, theta = self._rows(X), self._theta()
        M, q = theta.shape
        sigma = self.sigma_.reshape(M, q, M, q)
        mean = Z @ theta.T
        if M == 1:
            score = _moderated(mean[:, 0], np.einsum("ij,ij->i", Z @ sigma[0, :, 0], Z))
            return np.column_stack([np.zeros_like(score), score])
        spread = np.empty((len(Z), M, M))
        for k in range(M):
            for j in range(k + 1):
                spread[:, k, j] = spread[:, j, k] = np.einsum("ij,ij->i", Z @ sigma[k, :, j], Z)
        own = np.einsum("ikk->ik", spread)
        lead = _moderated(mean[:, :, None] - mean[:, None], own[:, :, None] + own[:, None] - 2 * spread)
        return np.asarray(-np.logaddexp.reduce(-lead, axis=2))

    def _by_sampling(self, X: Any) -> Array:
        Z, S = self._rows(X), self.samples_
        s, M = S.shape[:2]
        size = max(1, AT_ONCE // (s * max(M, 2)))
        return np.concatenate([_averaged(Z[i : i + size], S) for i in range(0, max(len(Z), 1), size)])

    def _rows(self, X: Any) -> Array:
        return rows_of(X, self.offset_ if self.offset_.any() else None, self.fit_intercept)

    def _theta(self) -> Array:
        """The centre of the posterior that sigma_ is of."""
        theta = np.column_stack([self._coefficients(), self.intercept_]).astype(np.float64)
        return shifted(theta, self.offset_, 1) if self.offset_.any() else theta

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """(n_samples, M, p + 1): coefficients drawn from the posterior, each row with its constant last."""
        check.check_fitted(self)
        if not isinstance(n_samples, (int, np.integer)) or isinstance(n_samples, bool) or n_samples < 1:
            raise BadParameter(f"sample(n_samples={n_samples!r}): must be a whole number of at least 1")
        found = drawn(self._theta(), self.sigma_, int(n_samples), generator(random_state))
        found[:, :, -1] -= found[:, :, :-1] @ self.offset_
        return found

    def _objection(self) -> str | None:
        size = len(self.coef_) * (self.n_features_in_ + 1)
        if self.sigma_.shape != (size, size):
            return f"sigma_ is no covariance of {size} parameters"
        if self.predictive == "sampling" and vars(self).get("samples_", np.empty((0, 0, 0))).shape[2:] != (self.n_features_in_ + 1,):
            return "samples_ are none of its coefficients"
        return None


def drawn(theta: Array, sigma: Array, n: int, rng: np.random.Generator) -> Array:
    """n draws from N(θ, σ), of the shape of θ."""
    values, vectors = eigh(sigma)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T  # the symmetric one, which rounding does not turn
    return np.asarray(theta + (rng.standard_normal((n, theta.size)) @ root).reshape(n, *theta.shape))


def _moderated(mean: Array, variance: Array) -> Array:
    """The score whose sigmoid is nearly the mean sigmoid of a normal score."""
    return np.asarray(mean / np.sqrt(1 + np.pi / 8 * np.maximum(variance, 0.0)))


def _averaged(Z: Array, samples: Array) -> Array:
    """log E[P(k | x)] of some rows over drawn coefficients."""
    s, M, q = samples.shape
    scores = (Z @ samples.reshape(s * M, q).T).reshape(len(Z), s, M)
    if M == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=2)
    scores -= np.logaddexp.reduce(scores, axis=2, keepdims=True)
    return np.asarray(np.logaddexp.reduce(scores, axis=1) - np.log(s))
