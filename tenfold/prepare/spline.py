"""B-splines of each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, Transformer
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter, Degenerate, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Stats
from tenfold.prepare.basis import ordered
from tenfold.solve.columns import Distinct, quantiles


@dataclass(slots=True)
class Range(Stats):
    """The least and the largest value of each column."""

    low: Array
    high: Array

    @classmethod
    def of(cls, block: Block) -> Range:
        low, high = block.X.min(axis=0).astype(np.float64), block.X.max(axis=0).astype(np.float64)
        if np.isnan(low).any():  # without what is missing; a column without values has none
            there = ~np.isnan(block.X)
            low, high = (np.where(there, block.X, end).astype(np.float64) for end in (np.inf, -np.inf))
            low, high = low.min(axis=0), high.max(axis=0)
        return cls(low, high)

    def __add__(self, other: Range) -> Range:
        return Range(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def distinct(block: Block) -> Distinct:
    there = ~np.isnan(block.X)
    return Distinct.of(block.X, block.w, None if there.all() else there)


@estimator
class SplineTransformer(Transformer, Estimator):
    """SplineTransformer: each column as B-splines, which add up to one.

    Model       zⱼ = (B₁(xⱼ), ..., B_m(xⱼ)),  m = n_knots + degree − 1 (n_knots − 1 where periodic)
    Objective   none: knots are spread evenly over the range of a column, or at its weighted quantiles
    Algorithm   one pass for the ranges or the distinct values; the degree + 1 splines not zero at x
                by de Boor's recursion
    Cost        O(n p (degree² + m)) time; ranges take O(p) memory, quantiles every distinct value
    Fails when  a column is constant (a warning); rows lie beyond the knots: see extrapolation; values are missing,
                unless handle_missing="zeros"
    Reference   de Boor 1978, ch. X; Eilers & Marx 1996

    Example
    -------
    >>> import numpy as np, tenfold
    >>> spline = tenfold.SplineTransformer(n_knots=2, degree=1).fit([[0.0], [4.0]])
    >>> spline.transform([[1.0]]).tolist()
    [[0.75, 0.25]]
    """

    knots_: Array = learned("float(p,k)", "knots of each column, with those beyond its range")
    n_features_out_: int = learned("int", "number of new columns")

    least_rows: ClassVar[int] = 2
    exempt: ClassVar[dict[str, str]] = {
        "column_order": "the splines of a column stand together, so other columns first give another order"
    }

    n_knots: int = param(default=5, at_least=2, at_most=100_000, doc="knots of each column, its ends included")
    degree: int = param(default=3, at_least=0, at_most=50, doc="degree of the polynomials between knots")
    _: KW_ONLY
    knots: object = param(default="uniform", doc="'uniform', 'quantile', or the knots, one column for each column of X")
    extrapolation: str = param(
        default="constant",
        one_of=("error", "constant", "linear", "continue", "periodic"),
        doc="what to do with rows beyond the knots",
    )
    include_bias: bool = param(default=True, doc="keep the last spline of each column, so that they add up to one")
    order: str = param(default="C", one_of=("C", "F"), doc="order of dense rows in memory: by rows, or by columns ('F')")
    handle_missing: str = param(
        default="error", one_of=("error", "zeros"), doc="refuse missing values, or make all splines of them 0"
    )
    sparse_output: bool = param(default=False, doc="give sparse rows")

    @property
    def missing(self) -> bool:
        """Missing values pass where the user says what becomes of them."""
        return self.handle_missing == "zeros"

    @property
    def bsplines_(self) -> list[Any]:
        """The splines of each column as objects of SciPy."""
        from scipy.interpolate import BSpline

        check.check_fitted(self)
        d, m = self.degree, self.knots_.shape[1] - self.degree - 1
        coefficients = np.eye(m - d if self.extrapolation == "periodic" else m)
        if self.extrapolation == "periodic":
            coefficients = np.concatenate([coefficients, coefficients[:d]])
        beyond = self.extrapolation in ("periodic", "continue")
        return [BSpline.construct_fast(knots, coefficients, d, extrapolate=beyond) for knots in self.knots_]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the knots of each column."""
        try:
            return super().fit(X, y, sample_weight)
        except BadInput as wrong:
            if "Input X contains NaN" not in str(wrong):
                raise
            raise BadInput(
                "Input X contains NaN values and `SplineTransformer` is configured to error in this case (handle_missing='error'): "
                f"set handle_missing='zeros', or fill them ({wrong})"
            ) from None

    def transform(self, X: Any) -> Any:
        """The splines of each column."""
        return ordered(super().transform(X), self.order)

    @property
    def kind(self) -> str:
        """Quantiles need every distinct value."""
        return "keeps rows" if self._chosen() == "quantile" else "many passes"

    def _chosen(self) -> str:
        return self.knots if isinstance(self.knots, str) else "given"

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if self._chosen() not in ("uniform", "quantile", "given"):
            raise BadParameter(
                f"SplineTransformer(knots={check.short(self.knots)}): must be 'uniform', 'quantile' or a table of knots"
            )
        if self.extrapolation == "periodic" and self.degree >= self.n_knots and self._chosen() != "given":
            raise BadParameter(
                f"SplineTransformer(degree={self.degree}): periodic splines need n_knots above the degree"
            )
        stats = yield (distinct if self._chosen() == "quantile" else Range.of)
        base = self._base(stats)
        if self.extrapolation == "periodic" and self.degree >= len(base):
            raise BadParameter(
                f"SplineTransformer(degree={self.degree}): periodic splines need more knots than the degree"
            )
        knots = np.ascontiguousarray(np.array([self._extended(column) for column in base.T]))
        m = self._splines(len(base))
        return dict(knots_=knots, n_features_out_=(m - (not self.include_bias)) * self.n_features_in_)

    def _splines(self, n_knots: int) -> int:
        return n_knots - 1 if self.extrapolation == "periodic" else n_knots + self.degree - 1

    def _base(self, stats: Any) -> Array:
        """(n_knots, p) knots within the range."""
        p = self.n_features_in_
        if self._chosen() == "given":
            return self._given(p)
        if self._chosen() == "quantile":
            shares = np.linspace(0, 1, self.n_knots)
            pairs = zip(stats.values, stats.weights, strict=True)
            base = np.column_stack([quantiles(v, w, shares) if len(v) else np.zeros(self.n_knots) for v, w in pairs])
        else:
            there = stats.low <= stats.high
            base = np.linspace(np.where(there, stats.low, 0.0), np.where(there, stats.high, 0.0), self.n_knots)
        size = np.abs(base).max(axis=0)
        flat = base[-1] - base[0] <= np.maximum(1e-12 * size, 1e-200)  # quotients of less overflow
        if flat.any():
            name = column_name(vars(self).get("feature_names_in_"), int(np.flatnonzero(flat)[0]))
            warn(
                f"SplineTransformer: {name} is constant; its knots are spread around its value",
                Degenerate,
                stacklevel=3,
            )
            around = np.linspace(-1, 1, self.n_knots)[:, None] * np.maximum(size, 1e-3)
            base = np.where(flat, base[:1] + around, base)
        return base

    def _given(self, p: int) -> Array:
        try:
            base = np.asarray(self.knots, dtype=np.float64)
        except (TypeError, ValueError):
            base = np.empty(0)
        wrong = None
        if base.ndim == 2 and base.shape[0] < 2:
            wrong = "Number of knots, knots.shape[0], must be >= 2."
        elif base.ndim != 2 or base.shape[1] != p:
            wrong = "knots.shape[1] == n_features is violated."
        elif not (np.diff(base, axis=0) > 0).all():
            wrong = "knots must be sorted without duplicates."
        if wrong:
            raise BadParameter(
                f"SplineTransformer(knots={check.short(self.knots)}): {wrong} They must be 'uniform', 'quantile' or a "
                f"table of at least 2 rows and {p} columns (one for each of X), each rising from row to row"
            )
        return base

    def _extended(self, base: Array) -> Array:
        """`degree` more knots on each side, as far apart as the outermost, or as one period away."""
        d = self.degree
        if self.extrapolation == "periodic":
            period = base[-1] - base[0]
            return np.concatenate([base[-d - 1 : -1] - period if d else [], base, base[1 : d + 1] + period])
        below = base[0] - (base[1] - base[0]) * np.arange(d, 0, -1)
        above = base[-1] + (base[-1] - base[-2]) * np.arange(1, d + 1)
        return np.concatenate([below, base, above])

    def _objection(self) -> str | None:
        k, p = self.knots_.shape[1] - 2 * self.degree, self.n_features_in_
        if k < 2 or self.n_features_out_ != (self._splines(k) - (not self.include_bias)) * p:
            return "there are not as many knots as the new columns need"
        return None if (np.diff(self.knots_, axis=1) >= 0).all() else "the knots of a column do not rise"

    def _sparse_row(self) -> tuple[float, int] | None:
        return ((self.degree + 1) * self.n_features_in_, int(self.n_features_out_)) if self.sparse_output else None

    def _transform(self, X: Array) -> Any:
        parts = [self._column(X[:, j].astype(np.float64), knots, j) for j, knots in enumerate(self.knots_)]
        Z = np.hstack(parts).astype(X.dtype, copy=False)
        if not self.sparse_output:
            return Z
        from scipy import sparse

        return sparse.csr_matrix(Z)

    def _column(self, x: Array, knots: Array, j: int) -> Array:
        """The splines of one column; zeros where it is missing."""
        blank = np.isnan(x)
        if not blank.any():
            return self._values(x, knots, j)
        Z = self._values(np.where(blank, knots[self.degree], x), knots, j)
        Z[blank] = 0.0
        return Z

    def _values(self, x: Array, knots: Array, j: int) -> Array:
        d = self.degree
        low, high = knots[d], knots[-d - 1]
        if self.extrapolation == "periodic":
            x = low + np.mod(x - low, high - low)
        elif self.extrapolation == "error" and ((x < low) | (x > high)).any():
            row = int(np.flatnonzero((x < low) | (x > high))[0])
            raise BadInput(
                f"Out of bounds: `X` contains values beyond the limits of the knots: X contains {x[row]:g} in column {j}, row {row}, "
                f"beyond the knots ({low:g} to {high:g}): choose another extrapolation"
            )
        inside = np.clip(x, low, high) if self.extrapolation in ("constant", "linear") else x
        Z = splines(inside, knots, d)
        if self.extrapolation == "linear" and d > 0 and (x != inside).any():
            Z += (x - inside)[:, None] * slopes(inside, knots, d)
        if self.extrapolation == "periodic" and d:
            Z[:, :d] += Z[:, -d:]
            Z = Z[:, :-d]
        return Z if self.include_bias else Z[:, :-1]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that `transform` returns."""
        old = super().get_feature_names_out(input_features)
        m = self.n_features_out_ // len(old)
        return np.array([f"{name}_sp_{k}" for name in old for k in range(m)], dtype=object)


def splines(x: Array, knots: Array, degree: int) -> Array:
    """(n, len(knots) − degree − 1): all B-splines at x; beyond the inner knots polynomials go on."""
    m = len(knots) - degree - 1
    span = np.clip(np.searchsorted(knots, x, side="right") - 1, degree, m - 1)
    while (empty := (knots[span] == knots[span + 1]) & (span > degree)).any():
        span = span - empty
    values = np.zeros((degree + 1, len(x)))
    values[0] = 1.0
    for k in range(1, degree + 1):
        carried = np.zeros(len(x))
        for i in range(k):
            right, left = knots[span + i + 1], knots[span + i + 1 - k]
            width = right - left
            share = np.divide(values[i], width, out=np.zeros(len(x)), where=width > 0)
            values[i] = carried + (right - x) * share
            carried = (x - left) * share
        values[k] = carried
    out = np.zeros((len(x), m))
    out[np.arange(len(x))[:, None], (span - degree)[:, None] + np.arange(degree + 1)] = values.T
    return out


def slopes(x: Array, knots: Array, degree: int) -> Array:
    """Derivatives of the B-splines: d (Bᵢ / (tᵢ₊d − tᵢ) − Bᵢ₊₁ / (tᵢ₊d₊₁ − tᵢ₊₁)) of the degree below."""
    lower = np.zeros((len(x), len(knots) - degree))
    inner = splines(x, knots[1:-1], degree - 1)  # the outermost of the lower degree are zero within the range
    lower[:, 1:-1] = inner
    width = knots[degree:] - knots[:-degree]
    lower = degree * np.divide(lower, width, out=np.zeros_like(lower), where=width > 0)
    return np.asarray(lower[:, :-1] - lower[:, 1:])
