"""Independent component analysis."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.random import RandomState

from tenfold.base.estimator import Estimator, Transformer
from tenfold.core import ops
from tenfold.core.data import Array, Arrays, Block, Source, Target
from tenfold.core.engine import Threads
from tenfold.core.errors import BadInput, BadParameter, DataWarning, Degenerate, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Kept, Learner, drive
from tenfold.core.memory import check_memory
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.random import legacy_generator
from tenfold.core.stats import Moments
from tenfold.reduce.back import brought_back
from tenfold.reduce.table import GRADED, SMALL, Table
from tenfold.solve.columns import check_magnitude
from tenfold.solve.ica import NAMED, Contrast, Turned, all_together, one_by_one
from tenfold.solve.linalg import SINGULAR, cholesky, eigh_graded, lengths, reciprocal_condition
from tenfold.solve.whitening import ROUNDING

KEPT_BYTES = 1 << 31  # of whitened rows, up to which they are kept rather than made again from the table in every pass
FEW_DIGITS = 1e-20  # of eigenvalues found through a factor: below, vectors of the smallest have lost most of theirs


@estimator
class FastICA(Transformer, Estimator):
    """FastICA: independent sources behind columns that are mixtures of them.

    Model       x = m + A s,  the columns of s independent and, but for one, not Gaussian;  s = C (x − m)
    Objective   orthonormal W with stationary Σₖ E G(wₖ·z) for the whitened rows z = K (x − m);  G' = g: tanh(alpha y) ("logcosh"),
                y exp(−y²/2) ("exp") or y³ ("cube": the kurtosis)
    Algorithm   whitening from merged moments (of the rows themselves while there are fewer of them than columns); then Newton's fixed
                point w ← E g(w·z) z − E g'(w·z) w, all directions together or one by one: a pass of sums each. Sources are ordered by
                the share of the variance of X that they carry, and the largest entry of each column of the mixing is positive
    Cost        O(n p²) time for the whitening and O(n p k) a pass, O(p²) memory; of a table in memory that is no array of floats, has 2 k
                columns or more, or is searched one by one, whitened rows are kept up to 2 GiB: O(n k²) a pass
    Fails when  more than one source is Gaussian (no direction is better than another: warns NotConverged); sources are fewer than
                components (some are split); columns are dependent (fewer components, warns Degenerate)
    Reference   Hyvärinen & Oja 1997; Hyvärinen 1999

    Example
    -------
    >>> import numpy as np, tenfold
    >>> t = np.linspace(0, 8, 2000)
    >>> sources = np.column_stack([np.sin(2 * t), np.sign(np.sin(3 * t))])
    >>> heard = sources @ np.array([[1.0, 1.0], [0.5, 2.0]])
    >>> found = tenfold.FastICA(random_state=0).fit_transform(heard)
    >>> np.abs(np.corrcoef(found.T, sources.T)[:2, 2:]).max(axis=1).round(2)
    array([1., 1.])
    """

    components_: Array = learned("float(k,p)", "what finds the sources: s = components_ (x − mean_)", like_x=True)
    mixing_: Array = learned("float(p,k)", "the sources in the columns, the pseudo-inverse of components_", like_x=True)
    mean_: Array = learned("float(p)", "mean of each column; absent without whitening", optional=True, like_x=True)
    whitening_: Array = learned(
        "float(k,p)", "projection on principal components of length 1; absent without whitening", optional=True, like_x=True
    )
    n_iter_: int = learned("int", "number of steps; one by one: the most that one took")

    sparse: ClassVar[bool] = True
    least_rows: ClassVar[int] = 2
    exempt: ClassVar[dict[str, str]] = {}

    n_components: int | None = param(default=None, at_least=1, doc="number of sources; None: as many as columns, or the rank of the rows")
    _: KW_ONLY
    algorithm: str = param(
        default="parallel", one_of=("parallel", "deflation"), doc="all directions together, or one by one"
    )
    whiten: str | bool = param(
        default="unit-variance",
        one_of=("unit-variance", "arbitrary-variance", False),
        doc="sources of variance 1, or of sum of squares 1; False: the rows are white already, and are not centred",
    )
    fun: str | Callable[..., Any] = param(
        default="logcosh",
        one_of=tuple(NAMED),
        doc="g; or a function of an array (k, n) that gives g and g', the latter as it is or as means over the last axis",
    )
    fun_args: dict[str, Any] | None = param(default=None, doc='"alpha" of "logcosh", between 1 and 2; or what else fun takes')
    max_iter: int = param(default=200, at_least=1, doc="most steps")
    tol: float = param(default=1e-4, at_least=0, doc="bound on 1 − |w·w'| of each direction in the last step")
    w_init: Any = param(default=None, doc="where W begins (k, k); None: drawn from the normal distribution")
    whiten_solver: str = param(default="svd", one_of=("eigh", "svd"), doc="no effect: columns and rows decide")
    random_state: int | RandomState | None = param(default=None, doc="seed of w_init")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [
            {"n_components": 2, "random_state": 0, "tol": 1e-12, "max_iter": 2000},
            {"n_components": 2, "algorithm": "deflation", "fun": "cube", "random_state": 0, "tol": 1e-12, "max_iter": 2000},
        ]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        contrast = self._contrast()
        if self.whiten is False:
            return (yield from self._unwhitened(source, contrast))
        table = yield Table.of
        table.gather()
        weight, mean, squares = table.weight, table.mean, table.squares()
        check_magnitude(mean, squares, vars(self).get("feature_names_in_"))
        whitening, back = self._whitening(table, source)
        K = whitening * np.sqrt(weight)  # z = K (x − m) has variances 1
        found = yield from self._turned(source, contrast, mean, K)
        scale = 1.0 if self.whiten == "unit-variance" else np.sqrt(weight)
        mixing = back @ found.W.T * (scale / np.sqrt(weight))
        order, sign = _convention(mixing)
        return dict(
            components_=((found.W @ K)[order] * sign[:, None]) / scale,
            mixing_=mixing[:, order] * sign,
            mean_=mean,
            whitening_=whitening,
            n_iter_=found.n_iter,
        )

    def _unwhitened(self, source: Source, contrast: Contrast) -> Learner[dict[str, Any]]:
        if self.n_components is not None:
            warn("FastICA: Ignoring n_components with whiten=False.", DataWarning, stacklevel=2)
        p = source.n_features
        found = yield from self._steps(contrast, np.zeros(p), None, p)
        self._warn(found)
        sign = np.where(np.take_along_axis(found.W, np.abs(found.W).argmax(axis=1)[:, None], 1) < 0, -1.0, 1.0)
        return dict(components_=found.W * sign, mixing_=(found.W * sign).T.copy(), n_iter_=found.n_iter)

    def _contrast(self) -> Contrast:
        options = dict(self.fun_args or {})
        alpha = options.get("alpha", 1.0)
        if not isinstance(alpha, (int, float)) or not 1 <= alpha <= 2:
            raise BadParameter(f"FastICA(fun_args=...): alpha must be in [1,2], not {alpha!r}")
        if not callable(self.fun) and not (isinstance(self.fun, str) and self.fun in NAMED):
            raise BadParameter(f"FastICA(fun={self.fun!r}): must be one of {', '.join(map(repr, NAMED))}, or a function")
        return Contrast(self.fun, float(alpha), options)

    # --- whitening ---

    def _whitening(self, table: Table, source: Source) -> tuple[Array, Array]:
        """K (k, p) with K S Kᵀ = I for the scatter S, and its pseudo-inverse: of as many rows as are wanted and there are."""
        mean, weight = table.mean, table.weight
        p = len(mean)
        most = min(p, int(weight + 1e-6)) if source.n_rows is None else min(p, source.n_rows)
        wanted = most if self.n_components is None else min(self.n_components, most)
        whitening, back = whitened(table, wanted, most)
        rank = len(whitening)
        if rank == 0:
            raise BadInput("FastICA: no column of X varies: there is nothing to separate")
        asked = self.n_components or min(most, p if table.moments is not None else most - 1)
        if rank < asked:
            warn(
                f"FastICA: n_components is too large: it will be set to {rank}, which is the rank of the centred rows: no other direction "
                "varies",
                Degenerate,
                stacklevel=2,
            )
        return whitening, back

    # --- steps ---

    def _turned(self, source: Source, contrast: Contrast, mean: Array, K: Array) -> Learner[Turned]:
        """W, from the rows where they are, or from whitened ones."""
        k = len(K)
        if isinstance(source, Arrays) and self._keeps(source, k):
            n = source.n_rows
            check_memory(f"{n:,} whitened rows of {k:,} columns", 8.0 * n * k, "ask for fewer components or give fewer rows")
            kept = yield partial(_rows_of, mean=mean, K=K)
            Z, _, w = kept.arrays()
            rows = Arrays(Z, None, w, Target("none"), {}, trusted=True)
            found = drive(self._steps(contrast, np.zeros(k), None, k), rows, Threads(), "FastICA")
        else:
            found = yield from self._steps(contrast, mean, K, k)
        self._warn(found)
        return found

    def _keeps(self, source: Arrays, k: int) -> bool:
        """Whether whitened rows of a table in memory save more time than they take memory."""
        dear = 2 * k <= source.n_features or not source.plain_rows or self.algorithm == "deflation"
        return dear and 8 * source.n_rows * k <= KEPT_BYTES

    def _steps(self, contrast: Contrast, center: Array, K: Array | None, k: int) -> Learner[Turned]:
        solve = all_together if self.algorithm == "parallel" else one_by_one
        return solve(contrast, center, K, self._start(k), self.tol, self.max_iter)

    def _start(self, k: int) -> Array:
        if self.w_init is None:
            return legacy_generator(self.random_state).normal(size=(k, k))
        try:
            start = np.array(self.w_init, dtype=np.float64)
        except (TypeError, ValueError):
            raise BadParameter(f"FastICA(w_init={self.w_init!r}): must be an array of numbers") from None
        if start.shape != (k, k):
            raise BadParameter(f"FastICA(w_init=...): w_init has invalid shape -- should be {(k, k)}, not {start.shape}")
        if not np.isfinite(start).all():
            raise BadParameter("FastICA(w_init=...): must hold finite numbers")
        return start

    def _warn(self, found: Turned) -> None:
        if found.turned >= self.tol:
            warn(
                "FastICA did not converge. Consider increasing tolerance or the maximum number of iterations: in the last of "
                f"{found.n_iter} steps a direction still turned by {found.turned:.1e}; sources that are Gaussian never settle: ask for "
                "fewer components",
                NotConverged,
                stacklevel=2,
            )

    # --- rows ---

    def _transform(self, X: Any) -> Array:
        X = ops.dense(X)
        rows = X.astype(np.float64, copy=False)
        if self.whiten is not False:
            rows = rows - self.mean_
        return np.asarray((rows @ self.components_.T.astype(np.float64)).astype(X.dtype, copy=False))

    def inverse_transform(self, X: Any) -> Array:
        """Rows of sources back in the original columns."""
        return brought_back(self, X, lambda: len(self.components_), self._mixed)

    def _mixed(self, Z: Array) -> Array:
        rows = Z @ self.mixing_.T.astype(np.float64)
        return np.asarray(rows if self.whiten is False else rows + self.mean_)

    def _names_out(self) -> list[str]:
        return [f"fastica{i}" for i in range(len(self.components_))]

    def _objection(self) -> str | None:
        if self.whiten is not False and "mean_" not in vars(self):
            return "there is no mean_, which whitening leaves"
        return None


def _rows_of(block: Block, mean: Array, K: Array) -> Kept:
    return Kept.of(block.with_X(np.ascontiguousarray((ops.dense(block.X) - mean) @ K.T)))


def _convention(mixing: Array) -> tuple[Array, Array]:
    """The order of the sources, by falling share of the variance, and their signs."""
    order = np.argsort(-(mixing * mixing).sum(axis=0), kind="stable")
    largest = np.take_along_axis(mixing, np.abs(mixing).argmax(axis=0)[None], 0)[0]
    return order, np.where(largest < 0, -1.0, 1.0)[order]


def whitened(table: Table, k: int, most: int) -> tuple[Array, Array]:
    """K (k, p) with K S Kᵀ = I for the centred scatter S, and its pseudo-inverse: principal components divided by their lengths, the
    largest first, without those that are rounding errors. The first entry of each that is not zero is positive.

    Columns may have any units: rank is judged by their correlations.
    """
    p = len(table.mean)
    if table.moments is not None and not (0 < 2 * k < p and p > SMALL):
        moments = table.as_moments()
        flat = np.sqrt(np.diagonal(moments.scatter) / moments.weight) <= ROUNDING * np.abs(moments.mean)
        S = np.where(flat | flat[:, None], 0.0, moments.scatter)
        size = lengths(S)
        correlation = S / size / size[:, None]
        L = None if p > GRADED or flat.any() else cholesky(correlation)
        if L is not None and reciprocal_condition(correlation, L) > SINGULAR * p:
            values, vectors = eigh_graded(S)
            if k < p or values[0] > FEW_DIGITS * values[-1]:
                return _scaled(values[::-1][:k], vectors[:, ::-1].T[:k], np.ones(p))
            values, vectors = eigh_graded(correlation)  # units too different for one decomposition
            return _scaled(values[::-1], vectors[:, ::-1].T, size)
        table = Table(Moments(moments.weight, moments.center, moments.offset, S), ())
    values, axes, _ = table.spectrum(k, most)
    rank = int((values[:k] > 0).sum())
    return _scaled(values[:rank], axes[:rank], np.ones(p))


def _scaled(values: Array, axes: Array, unit: Array) -> tuple[Array, Array]:
    there = np.abs(axes) > 1e-12
    first = np.take_along_axis(axes, there.argmax(axis=1)[:, None], 1)
    axes = axes * np.where(first < 0, -1.0, 1.0)
    length = np.sqrt(values)
    return axes / length[:, None] / unit, (axes.T * length) * unit[:, None]
