"""Kernel ridge regression."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.estimator import Regressor
from tenfold.base.sklearn_api import fresh
from tenfold.core import ops
from tenfold.core.data import Array, Block, Source
from tenfold.core.engine import current_engine
from tenfold.core.errors import BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Keep, Kept, Learner, drive
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Stats
from tenfold.core.threads import patiently
from tenfold.kernel_machines.dual import System
from tenfold.kernel_machines.kernelized import Kernelized, mirrored
from tenfold.kernel_machines.landmarks import drawn, root_inverse
from tenfold.solve.linalg import rounding
from tenfold.solve.sketch import Sample

EXACT_ROWS = 20_000  # up to which all rows are kept, unless asked otherwise
LANDMARKS = 1_000  # beyond


@estimator
class KernelRidge(Regressor, Kernelized):
    """KernelRidge: ridge regression on all features that a kernel stands for.

    Model       f(x) = Σᵢ cᵢ k(x, xᵢ) over the rows of the fit
    Objective   min over f of  Σᵢ sᵢ (yᵢ − f(xᵢ))² + alpha ‖f‖²,  ‖f‖² = cᵀ K c
    Algorithm   (K + alpha S⁻¹) c = y by Cholesky, tile by tile on all threads; all penalties of a path from one eigendecomposition, or
                from a factor of few columns where the kernel has a low rank to working precision
    Cost        O(n² p + n³ / 3) time, 8 n² bytes; keeps all rows. Rows left out, one or a fold at a time, follow from the one
                decomposition, for every penalty: with G = (K + alpha S⁻¹)⁻¹ and c = G y,  y_F − f₋F(x_F) = (G_FF)⁻¹ c_F.
                Beyond 20,000 rows f is sought among kernels with m = 1,000 drawn rows (Nystrom; told), in O(n m (m + p)) time
    Fails when  n² numbers do not fit in memory; alpha = 0 and rows are repeated (returns the solution of least norm and warns Degenerate)
    Reference   Saunders, Gammerman & Vovk 1998; leave-one-out: Rifkin & Lippert 2007

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.linspace(0, 3, 31)[:, None]
    >>> model = tenfold.KernelRidge(alpha=1e-6, kernel="rbf", gamma=1.0).fit(x, np.sin(x[:, 0]))
    >>> model.predict([[1.0], [2.0]]).round(3)
    array([0.841, 0.909])
    """

    dual_coef_: Array = learned("float(n,q)", "c: what each row of the fit counts")
    X_fit_: Any = learned("float(n,p)", "the rows of the fit; of a table of kernels that table", rows=True)

    kind: ClassVar[str] = "keeps rows"
    sparse: ClassVar[bool] = True
    multi_output: ClassVar[bool] = True
    double: ClassVar[bool] = True
    path: ClassVar[str | None] = "alpha"

    alpha: float | Sequence[float] | Array = param(
        default=1.0, at_least=0, doc="penalty strength, or one for each target", before="kernel"
    )

    _: KW_ONLY
    landmarks: int | None = param(
        default=None, at_least=1, doc="rows whose kernels the solution is made of, drawn by a hash; None: all up to 20,000 rows, else 1,000"
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{"alpha": 0.5, "kernel": "rbf", "gamma": 0.1}, {"alpha": 2.0}, {"kernel": "poly", "degree": 2, "gamma": 0.2}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        return (yield from self._kept(source, None))[0]

    def _kept(self, source: Source, alphas: list[float] | None) -> Learner[list[dict[str, Any]]]:
        """The fits of some penalties from the rows, or that of the own one."""
        self._check_kernel()
        if self.landmarks is not None and self.accepts == "rows":
            return (yield from self._by_landmarks(alphas, None))
        if self.accepts == "rows" and (source.n_rows is None or source.n_rows > EXACT_ROWS):
            found = yield few_or_drawn
            if found.kept is None:
                return (yield from self._by_landmarks(alphas, found))
            X, y, w = found.kept.arrays()
        else:
            X, y, w = yield Keep()
        rows = np.array(X, dtype=np.float64)  # the user may change the array that was given
        system = System(lambda: self._lower(rows), y.astype(np.float64), w, min(alphas or [0.0]))
        if alphas is not None:
            duals = [system.at(alpha) for alpha in alphas]
        else:
            duals = [self._by_target(system)]
        return [dict(X_fit_=rows, dual_coef_=one[:, 0].copy() if self._flat else one) for one in duals]

    def _by_landmarks(self, alphas: list[float] | None, many: FewOrDrawn | None) -> Learner[list[dict[str, Any]]]:
        """f among Σⱼ cⱼ k(x, lⱼ): ridge regression on z(x) = M^(−1/2) k(x, l), Mᵢⱼ = k(lᵢ, lⱼ), whose squared norm is that of f."""
        if many is None:
            rows = (yield partial(drawn, rows=self.landmarks or LANDMARKS, seed=0)).rows
        else:
            rows = many.sample.rows
            warn(
                f"KernelRidge: there are {many.n:,} rows, more than {EXACT_ROWS:,}: the solution is sought among kernels with "
                f"{len(rows):,} rows that are drawn; landmarks=... says how many",
                DataWarning,
                stacklevel=2,
            )
        root = root_inverse(mirrored(self._lower(rows)))
        moments = yield partial(_products, learner=self, rows=rows, root=root)
        system = Normal(moments, root)
        duals = [system.at(alpha) for alpha in alphas] if alphas is not None else [self._by_target(system)]
        return [dict(X_fit_=rows, dual_coef_=one[:, 0].copy() if self._flat else one) for one in duals]

    def _by_target(self, system: System | Normal) -> Array:
        penalties = np.atleast_1d(np.asarray(self.alpha, dtype=np.float64))
        targets = system.targets
        if len(penalties) not in (1, targets) or (penalties < 0).any() or not np.isfinite(penalties).all():
            raise BadParameter(
                f"KernelRidge(alpha=...): Number of targets and number of penalties do not correspond: {len(penalties)} != {targets}, "
                "or one of them is below 0"
            )
        if (penalties == penalties[0]).all():
            return system.solved(float(penalties[0]))
        return np.column_stack([system.at(float(alpha))[:, j] for j, alpha in enumerate(np.broadcast_to(penalties, targets))])

    def _predict(self, X: Any) -> Array:
        found = self._between(ops.dense(X).astype(np.float64, copy=False), self.X_fit_) @ self.dual_coef_
        return np.asarray(found.astype(X.dtype, copy=False))

    def _objection(self) -> str | None:
        return self._misfit(self.X_fit_)

    # --- many penalties, rows left out ---

    def _fit_path(self, source: Source, name: str, values: list[Any]) -> list[Self]:
        if name != "alpha" or not all(np.ndim(one) == 0 for one in values):
            return super()._fit_path(source, name, values)
        template = fresh(self)
        fits = template._driven(lambda one: template._kept(one, [float(value) for value in values]), source)
        return [template._fitted_copy(fit | {"_flat": template._flat}, alpha=value) for value, fit in zip(values, fits, strict=True)]

    def _left_out_along(self, models: list[Any], source: Source) -> Iterator[Array] | None:
        found = self._folds_along(models, source, None)
        return None if found is None else (one[0] for one in found)

    def _folds_along(self, models: list[Any], source: Source, parts: list[Array] | None) -> Iterator[list[Array]] | None:
        exact = len(self.X_fit_) == source.n_rows and self.landmarks is None
        if not exact or not all(np.ndim(one.alpha) == 0 and one.alpha > 0 for one in models):
            return None
        _, y, w = drive(kept_rows(), source, current_engine(source), "KernelRidge")
        system = System(lambda: self._lower(self.X_fit_), y.astype(np.float64), w, min(float(one.alpha) for one in models))
        if not all(system.knows(float(one.alpha)) for one in models):
            return None
        return (system.left_out(float(one.alpha), parts) for one in models)


@dataclass(slots=True)
class FewOrDrawn(Stats):
    """The rows while they are few, some of them, and their number."""

    kept: Kept | None
    sample: Sample
    n: int

    def __add__(self, other: FewOrDrawn) -> FewOrDrawn:
        n = self.n + other.n
        kept = self.kept + other.kept if n <= EXACT_ROWS and self.kept is not None and other.kept is not None else None
        return FewOrDrawn(kept, self.sample + other.sample, n)


def few_or_drawn(block: Block) -> FewOrDrawn:
    kept = Kept.of(block) if len(block) <= EXACT_ROWS else None
    return FewOrDrawn(kept, drawn(block, LANDMARKS, 0), len(block))


def _products(block: Block, learner: KernelRidge, rows: Array, root: Array) -> Products:
    Z = learner._between(ops.dense(block.X).astype(np.float64, copy=False), rows) @ root
    weighed = block.w[:, None] * Z
    return Products(weighed.T @ Z, weighed.T @ block.y)


@dataclass(slots=True)
class Products(Stats):
    """Σ w z zᵀ and Σ w z yᵀ."""

    zz: Array
    zy: Array

    def __add__(self, other: Products) -> Products:
        return Products(self.zz + other.zz, self.zy + other.zy)


class Normal:
    """The normal equations of ridge regression on the features of landmarks."""

    def __init__(self, sums: Products, root: Array) -> None:
        self.sums, self.root, self.targets = sums, root, int(sums.zy.shape[1])

    def solved(self, alpha: float) -> Array:
        return self.at(alpha)

    @cached_property
    def spectrum(self) -> tuple[Array, Array]:
        values, vectors = patiently(np.linalg.eigh, self.sums.zz)
        return np.maximum(values, 0.0), vectors

    def at(self, alpha: float) -> Array:
        values, vectors = self.spectrum
        shifted = values + alpha
        sound = shifted > rounding(len(shifted)) * float(shifted.max(initial=0.0))
        inverse = np.divide(1.0, shifted, out=np.zeros_like(shifted), where=sound)
        return np.asarray(self.root @ (vectors @ (inverse[:, None] * (vectors.T @ self.sums.zy))))


def kept_rows() -> Learner[Any]:
    """The rows of a source, as the fit keeps them."""
    return (yield Keep())
