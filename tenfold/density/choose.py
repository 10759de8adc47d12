"""How many Gaussians, and of what shapes: every model of a family, and the one of the best BIC or ICL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter, kept_warnings
from tenfold.density import shapes
from tenfold.density.mixture import GaussianMixture

CRITERIA = ("bic", "icl", "aic")
STEPS, CLOSE, STARTS = 1000, 1e-6, 2  # of each fit: most of them, the least change, and how many starts: a tree's, and one of k-means
PARAMETERS = 2  # rows for each free number, at least


@dataclass(frozen=True, repr=False)
class MixtureChoice:
    """The mixture of the best criterion; `print` shows all that were tried.

    model                        the fitted mixture
    n_components, covariance_type   what was chosen
    scores                       (covariance_type, n_components) -> criterion, the lower the better; NaN where no fit was possible
    """

    model: GaussianMixture
    criterion: str
    scores: dict[tuple[str, int], float]

    @property
    def n_components(self) -> int:
        return self.model.n_components

    @property
    def covariance_type(self) -> str:
        return self.model.covariance_type

    def __str__(self) -> str:
        kinds = list(dict.fromkeys(kind for kind, _ in self.scores))
        numbers = sorted({k for _, k in self.scores})
        best = (self.covariance_type, self.n_components)
        score = f"{self.criterion.upper()} {self.scores[best]:.1f}, the lower the better"
        lines = [f"MIXTURE  {self.n_components} x {self.covariance_type}   {score}", ""]
        lines.append("  ".join([f"{'':<9}", *(f"{k:>10}" for k in numbers)]))
        for kind in kinds:
            cells = [_cell(self.scores.get((kind, k), np.nan), (kind, k) == best) for k in numbers]
            lines.append("  ".join([f"{kind:<9}", *cells]))
        return "\n".join(lines)

    __repr__ = __str__


def choose_mixture(
    X: Any,
    n_components: Sequence[int] = range(1, 10),
    covariance_types: Sequence[str] = tuple(shapes.SHAPES),
    *,
    criterion: str = "bic",
    random_state: Any = 0,
) -> MixtureChoice:
    """Gaussian mixtures of every number of components and every shape of their covariances, and the one of the best criterion.

        BIC = −2 Σ log p(x) + parameters · log n      consistent for the number of components
        ICL = BIC − 2 Σ log max probability           prefers components that are told apart: clusters
        AIC = −2 Σ log p(x) + 2 parameters            prefers the better density

    X is rows that can be read again. Models of more than half a parameter for each row are left out, and those that collapse.
    Reference: Fraley & Raftery 2002; Biernacki, Celeux & Govaert 2000.

    >>> import numpy as np, tenfold
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (100, 2)), rng.normal(7, 1, (100, 2))])
    >>> found = tenfold.choose_mixture(X, range(1, 4), ["EII", "VVV"])
    >>> found.n_components, found.covariance_type
    (2, 'EII')
    """
    if criterion not in CRITERIA:
        raise BadParameter(f"choose_mixture(criterion={criterion!r}): choose one of {', '.join(map(repr, CRITERIA))}")
    wrong = [kind for kind in covariance_types if kind not in (*shapes.NAMED, *shapes.SHAPES)]
    if wrong or not covariance_types:
        known = ", ".join((*shapes.NAMED, *shapes.SHAPES))
        raise BadParameter(f"choose_mixture(covariance_types=...): {wrong[0] if wrong else 'nothing'!r} is not one of {known}")
    numbers = list(n_components)
    if not numbers or not all(isinstance(k, (int, np.integer)) and not isinstance(k, bool) and k >= 1 for k in numbers):
        raise BadParameter(f"choose_mixture(n_components={n_components!r}): must be whole numbers of at least 1")
    with kept_warnings():
        rows = len(GaussianMixture(1, covariance_type="spherical", reg_covar=1.0).fit(X).score_samples(X))
    tasks = [(kind, int(k)) for kind in covariance_types for k in numbers]
    fits = each(lambda task: _fitted(task, X, rows, criterion, random_state), tasks)
    scores = {task: score for task, (score, _) in zip(tasks, fits, strict=True)}
    found = [(score, model) for score, model in fits if model is not None and np.isfinite(score)]
    if not found:
        raise BadInput(f"none of {len(tasks)} mixtures can be fitted to {rows} rows: ask for fewer components, or for simpler covariances")
    return MixtureChoice(min(found, key=lambda one: one[0])[1], criterion, scores)


def _fitted(task: tuple[str, int], X: Any, rows: int, criterion: str, random_state: Any) -> tuple[float, GaussianMixture | None]:
    """A criterion and its model; none where the rows are too few, or a component has collapsed."""
    kind, k = task
    start: dict[str, Any] = dict(n_init=STARTS, init_params="hierarchical") if k > 1 else {}
    model = GaussianMixture(
        k, covariance_type=kind, tol=CLOSE, max_iter=STEPS, reg_covar=0.0, random_state=random_state, **start
    )
    try:
        with kept_warnings():
            model.fit(X)
    except BadInput:
        return np.nan, None
    if PARAMETERS * model.n_parameters_ > rows:
        return np.nan, None
    return float(getattr(model, criterion)(X)), model


def _cell(score: float, best: bool) -> str:
    return f"{'-' if np.isnan(score) else f'{score:.1f}' + ('<' if best else ''):>10}"
