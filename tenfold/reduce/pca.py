"""Principal component analysis."""

from __future__ import annotations

from functools import partial, reduce
from operator import add
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base.estimator import Transformer
from tenfold.base.one_pass import OnePass
from tenfold.base.sums import Sums
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source
from tenfold.core.errors import BadInput, BadParameter, Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import generator_of, seed_of
from tenfold.reduce.axes import Axes
from tenfold.reduce.gaps import plane_of, spectrum_of
from tenfold.reduce.number import by_cells, by_fold, minka, parallel, reached, with_sample
from tenfold.reduce.products import leading_axes, narrow, spread_of
from tenfold.reduce.root import Root, Spectrum, oriented
from tenfold.reduce.table import Table
from tenfold.solve.columns import check_magnitude

WIDE = 8192  # columns from which a few components are sought by products: the covariance would take half a gigabyte
PAYS = 32  # times as many rows and columns as vectors, from which passes of products are cheaper than the covariance
PASSES, ROUGH_PASSES = 200, 24
SETTLED, ROUGHLY, FILLED = 1e-12, 1e-6, 1e-8  # tol=0: of products; of "randomized"; of missing cells


@estimator
class PCA(Axes, Transformer, OnePass):
    """PCA: the orthogonal directions of largest variance.

    Model       x ≈ m + Σₖ zₖ vₖ,  z = V (x − m),  V orthonormal rows; as a density, N(m, Vᵀ (Λ − σ² I) V + σ²
                I)
    Objective   max over orthonormal V of the variance of V (x − m); the same as min Σ ‖x − x̂‖²
    Algorithm   as `solver_` says. "covariance_eigh": one pass of centred moments and their leading eigenvectors; "full": merged
                triangles R of the centred rows and their SVD, in one pass if asked for, and in a second one where the moments have lost
                digits of a component; "gram": the products of the rows, while these are fewer than columns; "randomized": block
                Krylov spaces, a pass for each block; "em": expectation-maximisation over missing cells. The largest entry of each
                component is positive
    Cost        O(n p²) time, O(min(n, p) p) memory, one pass; merging O(p²). By products O(n p k) a pass, O(p k) memory
    Fails when  columns have different units (standardise first); with svd_solver="covariance_eigh" variances below about 1e-16 of
                the largest are rounding errors, of all others below 1e-28 (whiten=True then warns Degenerate)
    Reference   Hotelling 1933; density: Tipping & Bishop 1999; n_components="mle": Minka 2000, "parallel": Horn 1965,
                "cv": Bro et al. 2008; triangles: Chan 1982; Krylov spaces: Musco & Musco 2015

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> model = tenfold.PCA(n_components=1).fit(X)
    >>> model.components_.round(4).tolist(), model.explained_variance_ratio_.round(6).tolist()
    ([[0.7071, 0.7071]], [1.0])
    """

    components_: Array = learned("float(k,p)", "principal axes, by falling variance", like_x=True)
    explained_variance_: Array = learned("float(k)", "variance along each axis", like_x=True)
    explained_variance_ratio_: Array = learned("float(k)", "its share of the whole", like_x=True)
    singular_values_: Array = learned("float(k)", "singular values of the centred rows", like_x=True)
    mean_: Array = learned("float(p)", "mean of each column", like_x=True)
    n_components_: int = learned("int", "number of axes")
    n_samples_: int = learned("int", "number of rows")
    noise_variance_: float = learned("float", "mean variance along the axes that were left out")
    solver_: str = learned("str", "how the axes were found", optional=True)
    stats_: Any = learned("Table(p)|Root(p)", "the moments, triangle or few rows: for partial_fit, merge and forget", optional=True)

    sparse: ClassVar[bool] = True
    summary_reads: ClassVar[tuple[str, ...]] = ("svd_solver",)

    n_components: int | float | str | None = param(
        default=None,
        at_least=0,
        one_of=(None, "mle", "parallel", "cv"),
        doc='components kept; below 1: share of the variance; "mle": Minka\'s rule; "parallel": those beyond chance; "cv": those that tell '
        "left out cells best; None: all",
    )
    _: KW_ONLY
    copy: bool = param(default=True, doc="no effect: X is never changed")
    whiten: bool = param(default=False, doc="scale the components of transform to variance 1")
    svd_solver: str = param(
        default="auto",
        one_of=("auto", "full", "covariance_eigh", "arpack", "randomized"),
        doc='"full": merged triangles; "arpack", "randomized": passes of products, where they pay, to all digits or about six; "auto": '
        "moments, then triangles where digits are lost; few components of more than 8,192 columns by products",
    )
    tol: float = param(default=0.0, at_least=0, doc="bound on residuals of products, or on steps of missing cells; 0: as small as pays")
    iterated_power: int | str = param(
        default="auto", at_least=0, one_of=("auto",), doc='most passes beyond the first of svd_solver="randomized"'
    )
    n_oversamples: int = param(default=10, at_least=1, doc="vectors of a block of products beyond n_components")
    power_iteration_normalizer: str = param(
        default="auto", one_of=("auto", "QR", "LU", "none"), doc="no effect: blocks are orthonormal"
    )
    random_state: Any = param(default=None, doc='seed of products, "parallel" and "cv"; None: always the same')
    missing_cells: str = param(
        default="refuse", one_of=("refuse", "em"), doc='"em": NaN is a cell that the others tell of, under the density of the model'
    )

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"n_components": 2, "whiten": True}]

    @property
    def missing(self) -> bool:
        return self.missing_cells == "em"

    def _summarize(self, block: Block) -> Table | Root:
        return Root.of(block) if self.svd_solver == "full" else Table.of(block)

    def _solve(self, stats: Table | Root) -> dict[str, Any]:
        if self.missing or self.n_components in ("parallel", "cv"):
            how = 'missing_cells="em"' if self.missing else f"n_components={self.n_components!r}"
            raise BadParameter(f"PCA({how}): needs all rows at once: use fit, or give a number of components")
        stats.gather()
        fitted = self._components(stats)
        stats.settle()
        return fitted or {}

    # --- passes ---

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if self.missing:
            return (yield from self._by_gaps(source))
        if self._pays(source):
            return (yield from self._by_products(source))
        chosen = None
        if isinstance(self.n_components, str) and self.n_components != "mle":
            stats, chosen = yield from self._chosen()
        else:
            stats = yield self._summarize
        stats.gather()
        fitted = None
        if isinstance(stats, Root) or self.svd_solver != "full":
            again = self.svd_solver == "auto" and source.rereadable
            fitted = self._components(stats, chosen, once=not again)
        if fitted is None:
            fitted = self._components((yield Root.of), chosen)
        stats.settle()
        return dict(fitted or {}, stats_=stats)

    def _chosen(self) -> Learner[tuple[Table, int]]:
        """The number of components that rows which are shuffled, or left out, speak for; and the moments from the same pass."""
        seed = self._seed()
        if self.n_components == "parallel":
            found = yield partial(with_sample, seed=seed)
            stats, k = found["table"], parallel(found["rows"], seed)
        else:
            found = yield partial(by_fold, seed=seed)
            folds = [found[i] for i in sorted(found)]
            k, stats = by_cells(folds, self.n_features_in_), reduce(add, folds)
        if k == 0:
            beyond = "explains more than chance" if self.n_components == "parallel" else "tells cells better than the mean of their column"
            warn(f"PCA(n_components={self.n_components!r}): no component {beyond}: one is kept", Degenerate, stacklevel=2)
        return stats, max(k, 1)

    def _seed(self) -> int:
        return 0 if self.random_state is None else seed_of(generator_of(self))

    def _pays(self, source: Source) -> bool:
        """Whether a few components are sought by products: where the covariance would be too large, or that is asked for and cheaper."""
        k, n, p = self.n_components, source.n_rows, source.n_features
        if not isinstance(k, (int, np.integer)) or k == 0 or not source.rereadable or self.svd_solver in ("full", "covariance_eigh"):
            return False
        least = p if n is None else min(n, p)
        if self.svd_solver == "auto":
            sparse = isinstance(source, Arrays) and ops.is_sparse(source.X)
            return p > WIDE and PAYS * (k + self.n_oversamples) < least and (sparse or n is None or 4 * n > p)
        return PAYS * (k + self.n_oversamples) < least

    def _by_products(self, source: Source) -> Learner[dict[str, Any]]:
        spread = yield spread_of
        n, mean, squares = float(spread.weight[0]), spread.mean[0], spread.scatter[0]
        check_magnitude(mean, squares, vars(self).get("feature_names_in_"))
        most = min(len(mean), int(n + 1e-6))
        k = self._count(n, len(mean), most)
        if not isinstance(k, int):
            return _absent(k or "")
        rough = self.svd_solver == "randomized"
        passes = PASSES if not rough else ROUGH_PASSES if isinstance(self.iterated_power, str) else 1 + int(self.iterated_power)
        tol = self.tol or (ROUGHLY if rough else SETTLED)
        beside, block = self.n_oversamples, None if rough else narrow(source, k + self.n_oversamples)
        found = yield from leading_axes(len(mean), k, mean, self._seed(), tol, beside=beside, block=block, most=passes)
        if not found[2] and not rough:
            message = f"PCA: the components have not settled to {tol:g} in {passes} passes: raise tol, or use svd_solver='covariance_eigh'"
            warn(message, NotConverged, stacklevel=2)
        return self._fitted_attributes(Spectrum(found[0], found[1], "randomized"), k, n, mean, float(squares.sum()), most)

    def _by_gaps(self, source: Source) -> Learner[dict[str, Any]]:
        p, k = source.n_features, self.n_components
        if isinstance(k, str) and k != "mle":
            raise BadParameter(f"PCA(n_components={k!r}, missing_cells='em'): give a number, a share of the variance, or 'mle'")
        size = max(1, min(int(k), p - 1)) if isinstance(k, (int, np.integer)) else p - 1
        plane, found = yield from plane_of(p, size, vars(self).get("feature_names_in_"), self.tol or FILLED)
        values, axes = spectrum_of(found)
        n = float(found.moments.weight)
        most = min(p, int(n + 1e-6))
        k = self._count(n, p, most)
        if isinstance(k, str):
            return _absent(k)
        total = float(values.sum())
        spectrum, kept = Spectrum(values[:most], axes[:most], "em"), self._number(k, values, total, n)
        return self._fitted_attributes(spectrum, kept, n, plane.mean, total, most)

    # --- the solution ---

    def _solved(self, stats: Any, values: list[Any]) -> list[Self] | None:
        if stats is None:
            return None
        stats.gather()
        fitted = self._components(stats, once=self.svd_solver != "auto")
        return None if fitted is None or "absent_" in fitted else [self._fitted_copy(fitted)]

    def _from_sums(self, source: Source) -> Sums | None:
        chosen = isinstance(self.n_components, str) and self.n_components != "mle"
        return None if chosen or self.missing or self._pays(source) else super()._from_sums(source)

    def _components(self, stats: Table | Root, chosen: int | None = None, once: bool = True) -> dict[str, Any] | None:
        """What is fitted; None where digits are lost, unless the rows are read but `once`."""
        n, mean, squares = float(stats.weight), stats.mean, stats.squares()
        check_magnitude(mean, squares, vars(self).get("feature_names_in_"))
        most = min(len(mean), int(n + 1e-6))
        k = self._count(n, len(mean), most) if chosen is None else min(chosen, most)
        if isinstance(k, str):
            return _absent(k)
        total, found = float(squares.sum()), stats.spectrum(k, most)
        k = self._number(k, found.values, total, n)
        if not once and isinstance(stats, Table) and stats.lost(found.values[:k]):
            return None
        return self._fitted_attributes(found, k, n, mean, total, most)

    def _number(self, k: int | None, values: Array, total: float, n: float) -> int:
        """How many components to keep, of a spectrum that is whole where k is None."""
        if k is not None:
            return k
        wanted: Any = self.n_components
        return minka(values / (n - 1), n) if isinstance(wanted, str) else reached(values, total * wanted)

    def _fitted_attributes(self, found: Spectrum, k: int, n: float, mean: Array, total: float, most: int) -> dict[str, Any]:
        """The fitted attributes: k axes of those that were found."""
        values, axes, whole = found.values[:k], oriented(found.axes[:k]), len(found.values) == most
        rest = float(found.values[k:].sum() if whole else total - values.sum()) / (n - 1)
        if total == 0:
            warn("PCA: no column of X varies", Degenerate, stacklevel=2)
        elif self.whiten and k and values[-1] <= 0:
            warn("PCA: the last components have no variance to be scaled to 1: lower n_components", Degenerate, stacklevel=2)
        elif isinstance(self.n_components, (int, np.integer)) and k < most and not values.all():
            rank = int((values > 0).sum())
            warn(f"PCA: n_components={k}, but the centred rows have rank {rank}: other components are arbitrary", Degenerate, stacklevel=2)
        return dict(
            components_=axes,
            explained_variance_=values / (n - 1),
            explained_variance_ratio_=values / (total or 1.0),
            singular_values_=np.sqrt(values),
            mean_=mean,
            n_components_=int(k),
            n_samples_=int(n) if n == int(n) else n,
            noise_variance_=max(rest, 0.0) / (most - k) if k < most else 0.0,
            solver_=found.solver,
        )

    def _count(self, n: float, p: int, most: int) -> int | str | None:
        """How many components to find; None: all, to choose among them; a sentence where rows are too few."""
        k = self.n_components
        if n <= 1:
            return "PCA: 1 sample is not enough (rows count with their weights): give at least two rows"
        if k is None:
            return most
        if isinstance(k, str):
            return None if n >= p else "PCA: n_components='mle' is only supported if n_samples >= n_features"
        if isinstance(k, (int, np.integer)):
            return (
                int(k)
                if k <= most
                else (
                    f"PCA: n_components={k} must be between 0 and min(n_samples, n_features)={most} with svd_solver='full' or any other, "
                    f"the smaller of n_samples={n:g} and n_features={p}: lower it, or give more rows"
                )
            )
        if not 0 < k < 1:
            raise BadParameter(
                f"PCA(n_components={k}): must be a whole number, or a share of the variance between 0 and 1"
            )
        return None

    def _finish(self, source: Source) -> None:
        if "absent_" in vars(self):
            raise BadInput(self.absent_["components_"])

    def _objection(self) -> str | None:
        return None if self.n_components_ == len(self.components_) else "n_components_ is not the number of components"


def _absent(why: str) -> dict[str, Any]:
    return {"absent_": dict.fromkeys(("components_", "mean_", "explained_variance_"), why)}
