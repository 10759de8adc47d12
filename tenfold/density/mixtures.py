"""What mixtures of Gaussians share: a start, expectation-maximisation, and what they say of rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState
from scipy.special import ndtr

from tenfold.base import check
from tenfold.base.estimator import Density, Estimator, map_rows, softmax
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, group, param
from tenfold.core.random import generator, generator_of, seed_of
from tenfold.core.stats import Centred, Moments, Spread
from tenfold.density import shapes
from tenfold.density.components import Components, Frame, Responsibilities
from tenfold.density.factors import spread_roots
from tenfold.density.starts import Survey, filled, filled_moments, nearest_groups, random_groups, surveyed
from tenfold.solve.em import Ascent, ascend
from tenfold.solve.lloyd import lloyd_in_memory, plus_plus, random_rows
from tenfold.solve.ward import halfway_white, ward_groups

SAMPLE_ROWS = 16_384  # to draw starts from
SAMPLE_BYTES = 1 << 26
COPIES = 7  # of the covariances that are in memory at a time
TREE_ROWS = 2000  # of a hierarchical start


@group
class Mixture(Density, Estimator):
    """Abstract: Gaussians with shares, fitted by expectation-maximisation.

    A learner says what is most likely given the moments of the rows by component (`_maximised`), what that is a maximum of (`_bound`),
    and what of it is told (`_fitted`); `_components` is the model as it is asked for rows.
    """

    weights_: Array = learned("float(k)", "share of each component")
    means_: Array = learned("float(k,p)", "their means")
    covariances_: Array = learned("float(k,p,p)|float(p,p)|float(k,p)|float(k)", "their covariances, as covariance_type holds them")
    precisions_cholesky_: Array = learned("float(k,p,p)|float(p,p)|float(k,p)|float(k)", "factors of the inverses of these")
    converged_: bool = learned("bool", "whether the last step changed the bound by less than tol")
    n_iter_: int = learned("int", "steps taken")
    lower_bound_: float = learned("float", "what is maximised, before the last step")
    lower_bounds_: Array = learned("float(i)", "the same before each step: it never falls")

    missing: ClassVar[bool] = True

    exempt: ClassVar[dict[str, str]] = {
        "column_order": "starts are drawn by a hash of the row, which reads the columns in their order",
    }

    n_components: int = param(default=1, at_least=1, doc="number of Gaussians")
    _: KW_ONLY
    covariance_type: str = param(default="full", one_of=tuple(shapes.NAMED), doc="what covariances may be")
    tol: float = param(default=1e-3, at_least=0, doc="least change of the bound that is worth another step")
    reg_covar: float = param(default=1e-6, at_least=0, doc="added to the diagonal of every covariance")
    max_iter: int = param(default=100, at_least=0, doc="most steps")
    n_init: int = param(default=1, at_least=1, at_most=10_000, doc="starts, side by side; the one that ends highest is kept")
    init_params: str = param(
        default="kmeans",
        one_of=("kmeans", "k-means++", "random", "random_from_data", "hierarchical"),
        doc="where it starts: clusters of k-means, rows nearest to seeds of k-means++ or to random rows, random responsibilities, or "
        "groups of Ward's tree of at most 2,000 rows (further starts of n_init: k-means)",
    )
    random_state: int | RandomState | None = param(default=None, doc="seed of the starts, and of sample()")
    warm_start: bool = param(default=False, doc="begin where the last fit ended")
    verbose: int = param(default=0, doc="no effect: use tenfold.progress()")
    verbose_interval: int = param(default=10, doc="no effect: use tenfold.progress()")

    @property
    def _shape(self) -> str:
        return shapes.NAMED.get(self.covariance_type, self.covariance_type)

    # --- what a learner says ---

    def _looks_at_covariance(self) -> bool:
        """Whether `_prior` does."""
        return False

    def _prior(self, survey: Survey) -> Any:
        """What is fixed by a first look at the rows."""
        return None

    def _maximised(self, moments: Centred, prior: Any) -> Any:
        """A model, with `components` to ask rows with, from the moments of the rows of each component."""
        raise NotImplementedError

    def _bound(self, found: Responsibilities, model: Any, weight: float) -> float:
        raise NotImplementedError

    def _all_given(self) -> bool:
        """Whether the user has given all there is to start from."""
        return False

    def _begun(self, start: Any, p: int) -> Any:
        """A start with what the user has given instead; None where that is all of it."""
        return start

    def _resumed(self) -> Any:
        """The model of the last fit."""
        raise NotImplementedError

    def _fitted_attributes(self, model: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _components(self) -> Components:
        raise NotImplementedError

    # --- fitting ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        k, p = self.n_components, source.n_features
        if source.n_rows is not None and source.n_rows < k:
            raise BadInput(
                f"Expected n_samples >= n_components but got n_components = {k}, n_samples = {source.n_rows}: ask for fewer components"
            )
        if not shapes.is_diagonal(self._shape):
            what = f"{k} covariances of {p:,} columns, and what is computed with them,"
            check_memory(what, COPIES * 8.0 * k * p * p, "set covariance_type='diag', or drop columns")
        rng = generator_of(self)
        most = max(min(SAMPLE_ROWS, SAMPLE_BYTES // (8 * p)), 4 * k)
        survey = yield partial(surveyed, rows=most, seed=seed_of(rng), full=self._looks_at_covariance())
        frame = survey.frame(vars(self).get("feature_names_in_"))
        if frame.gaps and self._looks_at_covariance():
            survey = replace(survey, moments=(yield partial(filled_moments, frame=frame)))
        prior, weight = self._prior(survey), survey.weight
        starts = [self._before["model"]] if self._before else []
        if not starts and self._all_given():
            starts = [self._begun(None, p)]
        given = bool(starts)
        if not given and self.init_params == "hierarchical":
            starts = [self._begun(self._maximised(self._tree_groups(survey, frame, k), prior), p)]
        for _ in range(0 if given else self.n_init - len(starts)):
            moments = yield self._start(survey, frame, rng, k)
            starts.append(self._begun(self._maximised(moments, prior), p))
        best = yield from ascend(
            starts,
            partial(_expect, frame=frame),
            lambda found, model: self._maximised(found.moments, prior),
            lambda found, model: self._bound(found, model, weight),
            self.tol,
            self.max_iter,
            self._before.get("bound", -np.inf),
        )
        return self._fitted(best)

    def _warm(self, source: Source) -> dict[str, Any]:
        fits = self.warm_start and "means_" in vars(self) and self.means_.shape == (self.n_components, source.n_features)
        return dict(model=self._resumed(), bound=self.lower_bound_) if fits else {}

    def _start(self, survey: Survey, frame: Frame, rng: np.random.Generator, k: int) -> Any:
        """A function of blocks: the moments of the rows of each group to start from."""
        full = not shapes.is_diagonal(self._shape)
        if self.init_params == "random":
            return partial(random_groups, k=k, seed=seed_of(rng), full=full, frame=frame)
        rows, weight = filled(survey.sample.rows, frame), survey.sample.weight
        seeds = (random_rows if self.init_params == "random_from_data" else plus_plus)(rows, weight, k, rng)
        if self.init_params in ("kmeans", "hierarchical"):
            close = 1e-4 * float(np.mean(survey.variances))
            seeds = lloyd_in_memory(rows, weight, [seeds], close, 300, replace(survey.sample, rows=rows)).centers
        return partial(nearest_groups, centers=seeds, full=full, frame=frame)

    def _tree_groups(self, survey: Survey, frame: Frame, k: int) -> Centred:
        """Moments of the groups of a tree of some rows, each with one row of the common spread besides: few rows must not collapse."""
        rows, weight = filled(survey.sample.rows[:TREE_ROWS], frame), survey.sample.weight[:TREE_ROWS]
        Z = halfway_white((rows - frame.center) / frame.unit, weight)
        group = ward_groups(Z, weight, min(k, len(rows))) % k
        kind = Spread if shapes.is_diagonal(self._shape) else Moments
        found = kind.by_group(rows, group, weight, k)
        found.scatter += found.scatter.sum(axis=0) / weight.sum()
        return found

    def _fitted(self, best: Ascent) -> dict[str, Any]:
        if not best.converged and self.max_iter:
            warn(
                f"{type(self).__name__}(max_iter={self.max_iter}): Best performing initialization did not converge. Try different init "
                "parameters, or increase max_iter, tol, or check for degenerate data.",
                NotConverged,
                stacklevel=2,
            )
        told = self._fitted_attributes(best.model)
        steps = len(best.bounds) if self.max_iter else 0
        return told | dict(converged_=best.converged, n_iter_=steps, lower_bound_=best.bound, lower_bounds_=np.array(best.bounds))

    def _numbers(self, name: str, shape: tuple[int, ...], called: str) -> Array:
        """A parameter that is an array."""
        try:
            found = np.array(getattr(self, name), dtype=np.float64)
        except (TypeError, ValueError):
            raise BadParameter(f"{type(self).__name__}({name}=...): must be numbers of shape {shape}") from None
        if found.shape != shape or not np.isfinite(found).all():
            raise BadParameter(
                f"{type(self).__name__}({name}=...): The parameter '{called}' should have the shape of {shape}, but got {found.shape}"
                f"{'' if found.shape != shape else ', and be finite'}"
            )
        return found

    def _objection(self) -> str | None:
        (k, p), factors = self.means_.shape, self.precisions_cholesky_
        shape = {"tied": (p, p), "diag": (k, p), "spherical": (k,)}.get(self.covariance_type, (k, p, p))
        if factors.shape != shape or self.covariances_.shape != shape:
            return f"covariances of type {self.covariance_type!r} have the shape {shape}"
        roots = spread_roots(factors, self.covariance_type, k, p)
        diagonals = roots if roots.ndim == 2 else np.diagonal(roots, axis1=1, axis2=2)
        return None if (diagonals > 0).all() else "precisions_cholesky_ are not the roots of covariances"

    # --- what it says of rows ---

    def _log_density(self, X: Any) -> Array:
        return log_sum(self._components().log_joint(X))

    def _cdf(self, X: Array) -> Array:
        """Σₖ πₖ Φ((x − mₖ) / σₖ) of one column."""
        roots = spread_roots(self.precisions_cholesky_, self.covariance_type, *self.means_.shape).reshape(-1)
        return np.asarray(ndtr((X - self.means_[:, 0]) * roots) @ (self.weights_ / self.weights_.sum()))

    def _gaussians(self) -> tuple[Array, Array, Array]:
        model = self._components()
        shares = model.constants - np.log(model.diagonals).sum(axis=1)  # but for what all have in common
        return shares, model.means, model.roots**2 if model.roots.ndim == 2 else model.roots @ model.roots.transpose(0, 2, 1)

    def predict(self, X: Any) -> Array:
        """The number of the most probable component of each row."""
        return map_rows(lambda X: self._components().log_joint(X).argmax(axis=1), check.check_predict(self, X))

    def predict_proba(self, X: Any) -> Array:
        """The probability of each component, given the row."""
        return map_rows(lambda X: softmax(self._components().log_joint(X), X.dtype), check.check_predict(self, X))

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit, and the most probable component of each of the same rows."""
        return self.fit(X, y, sample_weight).predict(X)

    def impute(self, X: Any, draw: bool = False, random_state: Any = None) -> Array:
        """X with its gaps filled by their conditional means given what is observed; `draw`: by a draw from their conditional
        distribution, another one for each seed, for multiple imputation."""
        X = check.check_predict(self, X)
        if not draw:
            return map_rows(self._components().imputed, X)
        rows = map_rows(lambda X: np.asarray(X, dtype=np.float64), X)
        return self._components().imputed(rows, generator(self.random_state if random_state is None else random_state))

    @property
    def precisions_(self) -> Array:
        """The inverses of the covariances, as covariance_type holds them."""
        check.check_fitted(self)
        chol = self.precisions_cholesky_
        return np.asarray(chol**2 if self.covariance_type in ("diag", "spherical") else chol @ np.swapaxes(chol, -1, -2))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Any:
        """Rows drawn from the mixture, component by component, and the component of each."""
        check.check_fitted(self)
        if not isinstance(n_samples, (int, np.integer)) or isinstance(n_samples, bool) or n_samples < 1:
            raise BadParameter(f"Invalid value for 'n_samples': {n_samples!r}. The sampling requires at least one sample")
        return self._drawn(int(n_samples), generator(self.random_state if random_state is None else random_state))

    def _draw(self, n: int, rng: np.random.Generator) -> Array:
        return self._drawn(n, rng)[0]

    def _drawn(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        roots = spread_roots(self.precisions_cholesky_, self.covariance_type, *self.means_.shape)
        counts = rng.multinomial(n, self.weights_ / self.weights_.sum())
        rows, p = [], self.means_.shape[1]
        for mean, root, count in zip(self.means_, roots, counts, strict=True):
            noise = rng.normal(size=(count, p))
            rows.append(mean + (noise / root if root.ndim == 1 else np.linalg.solve(root.T, noise.T).T))
        return np.concatenate(rows), np.repeat(np.arange(len(counts)), counts)


def _expect(block: Block, model: Any, frame: Frame) -> Responsibilities:
    found: Responsibilities = model.components.expect(block, frame)
    return found


def log_sum(values: Array) -> Array:
    """log Σ exp of rows."""
    top = values.max(axis=1)
    return np.asarray(top + np.log(np.exp(values - top[:, None]).sum(axis=1)))
