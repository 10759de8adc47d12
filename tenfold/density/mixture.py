"""Gaussian mixtures by expectation-maximisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadParameter, Degenerate, warn
from tenfold.core.params import KW_ONLY, domains, estimator, param
from tenfold.core.stats import Centred
from tenfold.density import shapes
from tenfold.density.components import Components, Responsibilities, ill_defined
from tenfold.density.factors import held, inverse, spread_roots
from tenfold.density.mixtures import Mixture
from tenfold.solve.linalg import cholesky

NO_ROWS = 10 * np.finfo(np.float64).eps  # weight of a component without rows: it stays a component
COLLAPSED = 2.0  # a variance of no more than so many times reg_covar is made of that
HELD_UP = 0.01  # a reg_covar above its default, of such a share of the variance of the columns or more, is there to hold variances up


@estimator
class GaussianMixture(Mixture):
    """GaussianMixture: a density that is a sum of Gaussians, and the groups that they are.

    Model       p(x) = Σₖ πₖ N(x; mₖ, Cₖ)
    Objective   max Σ w log p(x) / Σ w      (a local maximum: it depends on the start); then Cₖ ← Cₖ + reg_covar I
    Algorithm   expectation-maximisation: rₖ(x) = πₖ N(x; mₖ, Cₖ) / p(x); πₖ, mₖ and Cₖ from the moments of the rows weighted by rₖ,
                one pass a step. covariance_type is one of scikit-learn's four, or a name of mclust's: volume, shape and orientation,
                each E(qual), V(ariable), or I(dentity), as in "VEV". Missing cells count by their conditional moments given what is
                observed of the row, whatever the shape; densities of rows are then the marginal ones of what is observed
    Cost        O(n k p²) time a pass, and O(k c³) for each pattern of c gaps; O(k p²) memory, and a sample for the start
    Fails when  a component collapses onto a few rows (held back by reg_covar, and told: Degenerate), or groups are not elliptic
    Reference   Dempster, Laird & Rubin 1977; Celeux & Govaert 1995; Scrucca, Fop, Murphy & Raftery 2016; Ghahramani & Jordan 1994

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[1.0, 2], [2, 4], [1, 0], [10, 2], [11, 4], [10, 0]])
    >>> model = tenfold.GaussianMixture(n_components=2, random_state=0).fit(X)
    >>> np.sort(model.means_[:, 0]).round(3).tolist()
    [1.333, 10.333]
    """

    _: KW_ONLY
    covariance_type: str = param(
        default="full", one_of=(*shapes.NAMED, *shapes.SHAPES), doc="what covariances may be: see the algorithm above"
    )
    weights_init: Any = param(default=None, before="random_state", doc="shares to start from")
    means_init: Any = param(default=None, before="random_state", doc="means to start from")
    precisions_init: Any = param(
        default=None, before="random_state", doc="inverse covariances to start from, as covariance_type holds them"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        plain = {"n_components": 2, "random_state": 0, "tol": 1e-2}
        return [plain, plain | {"covariance_type": "diag", "n_init": 2}, plain | {"covariance_type": "VEV"}]

    @classmethod
    def _small_example(cls) -> dict[str, Any]:
        return {"n_components": 2, "random_state": 0, "reg_covar": 1e-2}

    def _maximised(self, moments: Centred, prior: Any) -> Components:
        weight = moments.weight + NO_ROWS
        try:
            found = shapes.covariances(self._shape, weight, moments.scatter)
        except np.linalg.LinAlgError:  # where a shape needs the inverse of a common covariance
            raise ill_defined() from None
        found = found + (self.reg_covar if found.ndim == 2 else self.reg_covar * np.eye(found.shape[1]))
        return Components.of(weight / weight.sum(), moments.mean, found)

    def _bound(self, found: Responsibilities, model: Components, weight: float) -> float:
        return found.log_likelihood / weight

    def _all_given(self) -> bool:
        return not any(one is None for one in (self.weights_init, self.means_init, self.precisions_init))

    def _begun(self, start: Components | None, p: int) -> Components:
        k, empty = self.n_components, np.empty(0)
        shares, means, roots = (start.shares, start.means, start.roots) if start else (empty, empty, empty)
        if self.weights_init is not None:
            shares = self._numbers("weights_init", (k,), "weights")
            if (shares < 0).any() or (shares > 1).any():
                raise BadParameter(
                    f"GaussianMixture(weights_init=...): must be in the range [0, 1], not {shares.min():g} to {shares.max():g}"
                )
            if abs(shares.sum() - 1) > 1e-6:
                raise BadParameter(
                    "GaussianMixture(weights_init=...): The parameter 'weights' should be normalized, but got sum(weights) = "
                    f"{shares.sum():.5f}"
                )
        if self.means_init is not None:
            means = self._numbers("means_init", (k, p), "means")
        if self.precisions_init is not None:
            shape = {"tied": (p, p), "diag": (k, p), "spherical": (k,)}.get(self.covariance_type, (k, p, p))
            roots = self._roots(self._numbers("precisions_init", shape, f"{self.covariance_type} precision"), p)
        return Components(shares, means, roots)

    def _roots(self, precisions: Array, p: int) -> Array:
        """A with A Aᵀ = P for each component."""
        if self.covariance_type in ("diag", "spherical"):
            if not (precisions > 0).all():
                raise BadParameter(f"GaussianMixture(precisions_init=...): '{self.covariance_type} precision' should be positive")
            return spread_roots(np.sqrt(precisions), self.covariance_type, self.n_components, p)
        every = spread_roots(precisions, self.covariance_type, self.n_components, p)
        found = [cholesky(one) if np.allclose(one, one.T) else None for one in every]
        if any(L is None for L in found):
            raise BadParameter(
                f"GaussianMixture(precisions_init=...): '{self.covariance_type} precision' should be symmetric, positive-definite"
            )
        roots = np.array(found)
        return np.diagonal(roots, axis1=1, axis2=2).copy() if shapes.is_diagonal(self._shape) else roots

    def _resumed(self) -> Components:
        model = self._components()
        if model.roots.ndim == 3 and shapes.is_diagonal(self._shape):
            return Components(model.shares, model.means, np.diagonal(model.roots, axis1=1, axis2=2).copy())
        return model

    def _fitted_attributes(self, model: Components) -> dict[str, Any]:
        factors = held(model.roots, self.covariance_type)
        narrow = [k for k, root in enumerate(model.roots) if self.reg_covar and is_narrow(root, COLLAPSED * self.reg_covar)]
        if len(narrow) and not self._holds_up(model):
            one = narrow[0]
            others = f", and {len(narrow) - 1} more" if len(narrow) > 1 else ""
            warn(
                f"GaussianMixture: component {one} ({model.shares[one]:.1%} of the rows{others}) has collapsed: in some direction its "
                "variance is that of reg_covar alone, so the likelihood says little. Ask for fewer components, drop constant columns, "
                f"{'' if shapes.is_diagonal(self._shape) else 'set covariance_type=' + repr('diag') + ', '}or raise reg_covar",
                Degenerate,
                stacklevel=2,
            )
        return dict(
            weights_=model.shares, means_=model.means, covariances_=inverse(factors, self.covariance_type), precisions_cholesky_=factors
        )

    def _holds_up(self, model: Components) -> bool:
        """Whether reg_covar was raised to a part of the variance of the columns, about its mean over all rows and columns."""
        if self.reg_covar <= domains(self)["reg_covar"].default:
            return False
        own = 1.0 / model.roots**2 if model.roots.ndim == 2 else (np.linalg.inv(model.roots) ** 2).sum(axis=1)
        apart = model.means - model.shares @ model.means
        return bool(self.reg_covar >= HELD_UP * float(np.mean(model.shares @ (own + apart**2))))

    def _components(self) -> Components:
        roots = spread_roots(self.precisions_cholesky_, self.covariance_type, *self.means_.shape)
        return Components(self.weights_, self.means_, roots)

    # --- how many, and of what kind ---

    @property
    def n_parameters_(self) -> int:
        """Free numbers: of shares, means and covariances."""
        k, p = self.means_.shape
        return int(k - 1 + k * p + shapes.n_parameters(self._shape, k, p))

    def bic(self, X: Any) -> float:
        """−2 Σ log p(x) + n_parameters_ · log n: the lower, the better."""
        found = self.score_samples(X)
        return float(-2 * found.sum() + self.n_parameters_ * np.log(len(found)))

    def aic(self, X: Any) -> float:
        """−2 Σ log p(x) + 2 n_parameters_: the lower, the better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self.n_parameters_)

    def icl(self, X: Any) -> float:
        """BIC − 2 Σ log of the probability of the most probable component: the lower, the better, and the clearer the groups."""
        return self.bic(X) - 2 * float(np.log(self.predict_proba(X).max(axis=1)).sum())


def is_narrow(root: Array, variance: float) -> bool:
    """Whether the variance is no larger than this in some direction: where I − variance · C⁻¹ is not positive definite."""
    if root.ndim == 1:
        return bool((variance * root**2 >= 1).any())
    if variance * float((root * root).sum(axis=1).max()) >= 1:  # along a column
        return True
    return cholesky(np.eye(len(root)) - variance * (root @ root.T)) is None
