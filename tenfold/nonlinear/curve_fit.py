"""Fitting any function to rows by least squares."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Regressor
from tenfold.base.sklearn_api import SklearnApi
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, Degenerate, NotConverged, TenfoldWarning, not_fitted, warn
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.nonlinear.user_function import UserFunction
from tenfold.solve.levenberg import LOSSES, Point, Problem, covariance, least_squares

EPS = float(np.finfo(float).eps)


@estimator
class CurveFit(Regressor, SklearnApi):
    """CurveFit: the parameters of any function, by non-linear least squares.

    Model       y ≈ f(x, b₁, ..., b_k); x goes to f as it was given
    Objective   min over b of  Σᵢ sᵢ c² ρ(rᵢ² / c²),  rᵢ = (yᵢ − f(xᵢ, b)) / σᵢ,  within bounds;
                c is f_scale, ρ the loss
    Algorithm   Levenberg-Marquardt with Marquardt's scaling in a trust region, begun again with shorter steps
                where a parameter is lost; at the end undamped steps. Jacobian given, by complex step, or by
                differences
    Cost        O(n k²) and one Jacobian for each step; x and y are held in memory
    Fails when  the start is in the valley of another minimum (try several); a parameter does not matter at
                the optimum (warns Degenerate); steps run out (warns NotConverged)
    Reference   Marquardt 1963; trust region: Moré 1978; certificate: Bates & Watts 1981;
                complex step: Squire & Trapp 1998

    Fitted      params_ (k,), params_covariance_ (k, k), params_std_ (k,), residual_std_, dof_, cost_,
                certificate_ (the cosine between the residuals and the tangent plane: 0 at an optimum),
                held_ (k,) parameters at a bound, counted as known, converged_, n_iter_, jacobian_ (how it was
                made), robust_weights_ (n,)

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.linspace(0, 4, 30)
    >>> y = 2.5 * np.exp(-1.3 * x)
    >>> model = tenfold.CurveFit(lambda x, a, b: a * np.exp(-b * x), start=[1.0, 1.0]).fit(x, y)
    >>> model.params_.round(6)
    array([2.5, 1.3])
    """

    sparse: ClassVar[bool] = True  # whatever x is, it is the function that takes it
    missing: ClassVar[bool] = True
    multi_output: ClassVar[bool] = False

    function: object = param(default=None, doc="f(x, b1, ..., bk): one number for each row of x")
    start: object = param(default=None, doc="k numbers where the search begins; must be given")
    _: KW_ONLY
    bounds: Any = param(
        default=None, doc="(lower, upper): numbers or k numbers each; None leaves the parameters free"
    )
    jacobian: object = param(
        default=None,
        doc="function giving (n, k) derivatives, 'complex' or 'difference'; None: the best that works",
    )
    method: str = param(
        default="levenberg", one_of=("levenberg", "gauss-newton"), doc="damped steps, or plain ones halved"
    )
    loss: str = param(default="linear", one_of=tuple(LOSSES), doc="ρ, with SciPy's names")
    f_scale: float = param(default=1.0, above=0, doc="size of residuals from which a robust loss counts them less")
    absolute_sigma: bool = param(default=False, doc="sigma holds true deviations, not only their ratios")
    max_iter: int = param(default=1000, at_least=1, doc="most steps of a search")
    tol: float = param(default=1e-12, at_least=0, doc="bound on the certificate")

    def fit(  # type: ignore[override]  # x is whatever the function takes, not a table, and y is needed
        self, x: Any, y: Any, sample_weight: Any = None, *, sigma: Any = None
    ) -> Self:
        """Fit to rows. Weight k is k copies of a row; sigma (n,) are deviations of y, up to a factor."""
        check.check_params(self)
        start, lower, upper = self._box()
        target = check.as_column(y)
        if target.ndim != 1:
            raise BadInput(f"y should be a 1d array, got an array of shape {target.shape} instead: flatten it")
        y = check.real_target(target, len(target))[:, 0]
        w = check.as_weights(sample_weight, len(y))
        w = np.ones(len(y)) if w is None else w
        inverse = 1 / _deviations(sigma, len(y))
        f = UserFunction(self.function, self.jacobian, x, len(y), (start, lower, upper))
        f.check_start(start)
        rounding = 1e3 * len(y) * EPS**2 * float(np.sum(w * (inverse * y) ** 2))
        problem = Problem(
            lambda b: inverse * (f(b) - y),
            lambda b: inverse[:, None] * f.jacobian(b),
            w, lower, upper, self.loss, self.f_scale, rounding,
        )  # fmt: skip
        with np.errstate(all="ignore"):  # a trial step may well overflow; what is not finite is not taken
            found = self._search(problem, start)
            if not f.agrees(found.b):  # the complex step was right at the start but is not here: |b|, max(b, 0)
                f.use_differences()
                found = self._search(problem, found.b)
            fitted = self._fitted(problem, found)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        vars(self).update(fitted, jacobian_=f.kind)
        return self

    def _search(self, problem: Problem, start: Array) -> Point:
        return least_squares(problem, start, damped=self.method == "levenberg", tol=self.tol, max_iter=self.max_iter)

    def _box(self) -> tuple[Array, Array, Array]:
        """Start and bounds as arrays."""
        if not callable(self.function):
            raise BadParameter(f"CurveFit(function={self.function!r}): must be a function f(x, b1, ..., bk)")
        if self.start is None:
            raise BadParameter("CurveFit(start=None): give one number for each parameter of the function")
        start = _numbers("start", self.start)
        if start.ndim != 1 or not len(start):
            raise BadParameter(f"CurveFit(start): must be a list of numbers, got shape {start.shape}")
        lower, upper = np.full(len(start), -np.inf), np.full(len(start), np.inf)
        if self.bounds is not None:
            pair = list(self.bounds)
            if len(pair) != 2 or any(np.size(side) not in (1, len(start)) for side in pair):
                raise BadParameter(f"CurveFit(bounds): must be (lower, upper), each a number or {len(start)} numbers")
            lower, upper = (
                np.broadcast_to(_numbers("bounds", side, infinite=True).reshape(-1), len(start)).copy() for side in pair
            )
        if not (lower < upper).all():
            j = int(np.flatnonzero(~(lower < upper))[0])
            raise BadParameter(f"CurveFit(bounds): lower {lower[j]:g} is not below upper {upper[j]:g} (parameter {j})")
        outside = (start < lower) | (start > upper)
        if outside.any():
            j = int(np.flatnonzero(outside)[0])
            raise BadParameter(
                f"CurveFit(start): parameter {j} starts at {start[j]:g}, outside its bounds "
                f"[{lower[j]:g}, {upper[j]:g}]"
            )
        return start, lower, upper

    def _fitted(self, problem: Problem, at: Point) -> dict[str, Any]:
        """Spread at the optimum: s² (JᵀWJ)⁻¹, for robust losses s² = Σ w ψ² / dof / mean(ψ')² (Huber)."""
        k, w = len(at.b), problem.w
        rows = float(w.sum())
        free = int(at.free.sum())
        _, slope, bend = problem.rho(at.r)
        C = np.zeros((k, k))
        inner, rank = covariance(np.sqrt(w)[:, None] * at.J[:, at.free])
        C[np.ix_(at.free, at.free)] = inner
        if rank < free:
            _warn(
                Degenerate,
                "the rows do not determine all parameters at the optimum; standard errors leave those directions out",
            )
        elif not at.converged:
            _warn(
                NotConverged,
                f"after {at.n_iter} steps the certificate is {at.certificate:.1e}: try another start or more max_iter",
            )
        dof = rows - free
        squares = float(w @ (slope * at.r) ** 2)
        flatness = float(w @ (slope + 2 * (at.r / problem.scale) ** 2 * bend)) / float(w.sum())
        if dof > 0 and flatness > 0:
            variance = squares / dof / flatness**2
        else:
            variance = np.nan
            reason = "there are no more rows than parameters" if dof <= 0 else "most rows count as outliers"
            _warn(Degenerate, f"{reason}: the spread of the parameters is not known (NaN)")
        C *= 1.0 if self.absolute_sigma else variance
        return dict(
            params_=at.b, params_covariance_=C, params_std_=np.sqrt(np.diagonal(C)), held_=~at.free, dof_=dof,
            residual_std_=float(np.sqrt(variance)), cost_=at.cost, certificate_=at.certificate,
            converged_=at.converged, n_iter_=at.n_iter, robust_weights_=slope,
        )  # fmt: skip

    # --- after the fit ---

    def predict(self, x: Any) -> Array:
        """f(x, params_)."""
        return self._at(x)(self.params_)

    def intervals(self, level: float = 0.95) -> Array:
        """(k, 2): the interval of each parameter, by Student's t."""
        self._need_fit()
        reach = self._quantile(level) * self.params_std_
        return np.column_stack([self.params_ - reach, self.params_ + reach])

    def band(self, x: Any, level: float = 0.95, kind: str = "confidence") -> tuple[Array, Array]:
        """Lower and upper limits of the curve at x ("confidence"), or of a new row there ("prediction")."""
        if kind not in ("confidence", "prediction"):
            raise BadParameter(f"band(kind={kind!r}): must be 'confidence' or 'prediction'")
        f = self._at(x)
        center, J = f(self.params_), f.jacobian(self.params_)
        variance = np.einsum("ij,jk,ik->i", J, self.params_covariance_, J)
        if kind == "prediction":
            variance = variance + (1.0 if self.absolute_sigma else self.residual_std_**2)
        reach = self._quantile(level) * np.sqrt(variance)
        return center - reach, center + reach

    def summary(self, level: float = 0.95) -> str:
        """A table of the parameters with standard errors and intervals."""
        limits = self.intervals(level)
        lines = [f"{'':6s}{'estimate':>16s}{'std. error':>14s}{f'{100 * level:g} % interval':>32s}"]
        for j, (value, spread, (low, high)) in enumerate(zip(self.params_, self.params_std_, limits, strict=True)):
            held = "  at a bound" if self.held_[j] else ""
            lines.append(f"b{j + 1:<5d}{value:16.8g}{spread:14.4g}{low:16.6g}{high:16.6g}{held}")
        state = "converged" if self.converged_ else "NOT converged"
        lines.append(
            f"residual std. {self.residual_std_:.6g} on {self.dof_:g} degrees of freedom; {state} "
            f"after {self.n_iter_} steps, certificate {self.certificate_:.1e}, Jacobian: {self.jacobian_}"
        )
        return "\n".join(lines)

    def _quantile(self, level: float) -> float:
        if not 0 < level < 1:
            raise BadParameter(f"level={level!r}: must be between 0 and 1")
        from scipy.special import ndtri, stdtrit

        upper = (1 + level) / 2
        return float(ndtri(upper) if self.absolute_sigma else stdtrit(self.dof_, upper)) if self.dof_ > 0 else np.nan

    def _at(self, x: Any) -> UserFunction:
        """The function on rows to predict; bounds keep differences inside."""
        self._need_fit()
        f = UserFunction(self.function, self.jacobian, x, None, self._box())
        if self.jacobian_ == "difference":
            f.use_differences()
        return f

    def _need_fit(self) -> None:
        if "params_" not in vars(self):
            raise not_fitted(type(self).__name__)

    def __sklearn_is_fitted__(self) -> bool:
        return "params_" in vars(self)

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            raise not_fitted(type(self).__name__)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _numbers(name: str, values: Any, infinite: bool = False) -> Array:
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadParameter(f"CurveFit({name}={check.short(values)}): must hold numbers") from None
    if np.isnan(array).any() or (not infinite and np.isinf(array).any()):
        raise BadParameter(f"CurveFit({name}={check.short(values)}): must hold finite numbers")
    return array


def _deviations(sigma: Any, n: int) -> Array:
    """Deviations of the rows: finite and above zero."""
    if sigma is None:
        return np.ones(n)
    values = check.real_target(check.as_column(sigma), n)[:, 0]
    if not (values > 0).all():
        row = int(np.flatnonzero(~(values > 0))[0])
        raise BadInput(
            f"sigma is {values[row]:g} in row {row}: deviations must be above zero; drop rows that are exact"
        )
    return values


def _warn(category: type[TenfoldWarning], text: str) -> None:
    warn(f"CurveFit: {text}", category, stacklevel=4)
