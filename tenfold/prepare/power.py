"""Power transforms, which make columns look normal."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base.estimator import Estimator, Transformer
from tenfold.core.data import Array, Source
from tenfold.core.errors import BadInput, DataWarning, NotConverged, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.numbers import column_name
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.ordered import in_memory
from tenfold.prepare.power_curves import Curves, Frame
from tenfold.prepare.scale import constant
from tenfold.prepare.scaler import Extremes, brought_back, over

MANY = 10_000  # rows in memory from which the first steps are taken on some of them
TOL, COARSE, PASSES, REACH, STEP = 1e-10, 1e-3, 60, 300.0, 4.0


@estimator
class PowerTransformer(Transformer, Estimator):
    """PowerTransformer: each column raised to the power that makes it most like a normal one.

    Model       Box-Cox: T = (xᵏ − 1) / k for x > 0; Yeo-Johnson: T = ((x + 1)ᵏ − 1) / k for x ≥ 0, and
                −((1 − x)²⁻ᵏ − 1) / (2 − k) for x < 0; logarithms where the power is 0; then mean 0, variance 1
    Objective   the k of largest likelihood: max −½ log Var T + (k − 1) mean(sign(x) log(x + 1)), or log x
    Algorithm   Newton's method within a bracket, on all columns at once: a pass over the rows for each step, of a large
                table in memory first on some of them. Columns of one sign are taken relative to a value in their middle,
                so that large offsets cost no digits
    Cost        O(n p) time a pass, about 4 to 8 passes, O(p) memory
    Fails when  Box-Cox meets values that are not positive (refused); a column is constant: it keeps k = 1; missing values
                are left out and stay missing
    Reference   Box & Cox 1964; Yeo & Johnson 2000

    Example
    -------
    >>> import numpy as np, tenfold
    >>> x = np.exp(np.random.default_rng(0).normal(size=(1000, 1)))
    >>> round(float(tenfold.PowerTransformer("box-cox").fit(x).lambdas_[0]), 2)
    0.02
    """

    lambdas_: Array = learned("real(p)", "the power of each column", like_x=True)
    sides_: Array = learned("int(p)", "1 or −1 where a column has one sign, 0 where it has both")
    references_: Array = learned("float(p)>0", "the value in the middle of a column of one sign that it is taken relative to")
    means_: Array = learned("real(p)", "mean of each column of transformed, relative values")
    scales_: Array = learned("real(p)", "their standard deviation, 1 for a constant")

    missing = True
    double: ClassVar[bool] = True
    invertible: ClassVar[bool] = True

    method: str = param(default="yeo-johnson", one_of=("yeo-johnson", "box-cox"), doc="which family of powers")
    _: KW_ONLY
    standardize: bool = param(default=True, doc="bring transformed columns to mean 0 and variance 1")
    copy: bool = param(default=True, doc="False lets transform write over X")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        return [{}, {"standardize": False}]

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        ends = yield Extremes.of
        frame, varies = self._frame(ends), ends.low < ends.high
        start = np.ones(len(ends.low))
        if in_memory(source) and (source.n_rows or 0) > MANY:
            start, _ = yield from ascent(frame, start, varies, thin=True)
        powers, curves = yield from ascent(frame, start, varies)
        mean, var = curves.mean[0], curves.scatter[0] / np.where(curves.weight > 0, curves.weight, 1.0)
        flat = constant(var, mean, curves.weight) | ~varies
        return dict(
            lambdas_=powers, sides_=frame.side, references_=frame.reference, means_=mean, scales_=np.where(flat, 1.0, np.sqrt(var))
        )

    def _frame(self, ends: Extremes) -> Frame:
        names, known = vars(self).get("feature_names_in_"), ends.low <= ends.high
        low, high = np.where(known, ends.low, 1.0), np.where(known, ends.high, 1.0)
        if self.method == "box-cox":
            self._check_positive(low <= 0, low, names)
            if not known.all():
                where = column_name(names, int(np.flatnonzero(~known)[0]))
                raise BadInput(f"Column must not be all nan: {where} of X has no values; drop it first")
        unit = 0.0 if self.method == "box-cox" else 1.0
        side = np.where(low >= 0, 1, np.where(high <= 0, -1, 0))
        ends_of_side = np.where(side > 0, low, -high) + unit, np.where(side > 0, high, -low) + unit
        reference = np.where(side == 0, 1.0, np.sqrt(np.abs(ends_of_side[0])) * np.sqrt(np.abs(ends_of_side[1])))
        size = np.where(side == 0, np.log1p(np.maximum(-low, high)), np.abs(np.log(np.abs(ends_of_side[1] / reference))))
        return Frame(unit, side.astype(np.int64), reference, np.maximum(size, 1e-12))

    def _check_positive(self, bad: Array, values: Array, names: Any) -> None:
        if bad.any():
            column = int(np.argwhere(bad)[0][-1])
            raise BadInput(
                "The Box-Cox transformation can only be applied to strictly positive data: "
                f"{values[bad][0]:g} in {column_name(names, column)} of X; use method='yeo-johnson'"
            )

    def _known(self) -> tuple[Frame, Array]:
        """How columns are seen, and their powers; powers that the user has set by hand are relative to no value."""
        powers, fitted = np.asarray(self.lambdas_, dtype=np.float64), vars(self)
        unit, ones = (0.0 if self.method == "box-cox" else 1.0), np.ones(len(powers))
        side = fitted.get("sides_", np.full(len(powers), 1 if self.method == "box-cox" else 0))
        return Frame(unit, side, fitted.get("references_", ones), ones), powers

    def transform(self, X: Any) -> Any:
        """The transformed rows; copy=False writes them over X where it is an array of floats."""
        return over(X, super().transform(X), self.copy)

    def inverse_transform(self, X: Any) -> Any:
        """Transformed rows as they were; values that no row is transformed to become missing, with a warning."""
        return over(X, brought_back(self, X), self.copy)

    def _transform(self, X: Array) -> Array:
        if self.method == "box-cox":
            self._check_positive(X <= 0, X, vars(self).get("feature_names_in_"))
        frame, powers = self._known()
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            T = frame.transformed(X.astype(np.float64, copy=False), powers, relative=self.standardize)
            if self.standardize:
                T -= self.means_
                T /= self.scales_
        return T.astype(X.dtype, copy=False)

    def _inverse(self, Z: Array) -> Array:
        (frame, powers), T = self._known(), Z.astype(np.float64)
        if self.standardize:
            T = T * self.scales_ + self.means_
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            X = frame.inverted(T, powers, relative=self.standardize)
        lost = np.isnan(X) & ~np.isnan(Z)
        if lost.any():
            column = int(np.flatnonzero(lost.any(axis=0))[0])
            warn(
                f"Some values in column {column} of the inverse-transformed data are NaN: no value is transformed to what stands there",
                DataWarning,
                stacklevel=4,
            )
        return X.astype(Z.dtype, copy=False)


def ascent(frame: Frame, start: Array, varies: Array, thin: bool = False) -> Learner[tuple[Array, Curves]]:
    """Newton's steps up the likelihood of every column, each within the bracket that the slopes so far have left; with the sums at the
    powers found. A step is at most STEP of the size of the logarithms, and powers stay where no value is beyond e^REACH."""
    powers, unit = start.copy(), 1 / frame.size
    floor, roof = np.minimum(-2.0, -REACH * unit), np.maximum(4.0, REACH * unit)
    curves: Curves
    for _ in range(PASSES):
        curves = yield partial(Curves.of, frame=frame, powers=powers, thin=thin)
        slope, bend = curves.slopes()
        slope = np.where(varies, slope, 0.0)
        floor, roof = np.where(slope > 0, powers, floor), np.where(slope < 0, powers, roof)
        step = np.where(bend < 0, -slope / np.where(bend < 0, bend, 1.0), np.sign(slope) * STEP * unit)
        step = np.clip(step, -STEP * unit, STEP * unit)
        near = (COARSE if thin else TOL) * (np.abs(powers) + unit)
        done = (np.abs(step) <= near) | (roof - floor <= near) | (slope == 0)
        if done.all():
            return powers, curves
        new = powers + step
        new = np.where((new <= floor) | (new >= roof), (floor + roof) / 2, new)
        powers = np.where(done, powers, new)
    if not thin:
        warn("PowerTransformer: the likelihood is too flat for its top to be found; powers are approximate", NotConverged, stacklevel=2)
    return powers, curves
