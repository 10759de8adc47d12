"""Maps from what a classifier says of rows to calibrated probabilities.

    temperature   softmax(s / T)                             one number for all classes
    sigmoid       1 / (1 + exp(−(a f + b)))                  f: the log-odds of a class, or its probability
    beta          1 / (1 + exp(−(a ln p − b ln(1 − p) + c)))  p: the probability of a class; a, b ≥ 0
    isotonic      any function of f that never falls

The last three are made for each class against the rest, and the probabilities of a row divided by their sum. A classifier with a
`decision_function` says scores s, and f = sₖ − log Σⱼ≠ₖ exp(sⱼ); one without says probabilities, and f is that of the class: log-odds of
shares (of trees that all agree) are as large as one likes, and no line through them is of use.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, logsumexp

from tenfold.base.estimator import log_softmax, softmax
from tenfold.base.sklearn_api import SklearnApi
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter
from tenfold.evaluate.calibrate.isotonic import isotonic_map
from tenfold.score.probability_inputs import truth_and_probabilities

METHODS = ("sigmoid", "isotonic", "temperature", "beta")
STEEPEST = 1e3  # bound on 1/T and on log-odds: classes that are separated perfectly ask for infinity
SMALLEST = 1e-12  # added to probabilities whose logarithm is taken
SCORES, PROBABILITIES = "scores", "probabilities"  # what a classifier says of each class
ZERO = {  # maps to a probability of zero
    "sigmoid": np.array([0.0, -STEEPEST]), "beta": np.array([0.0, 0.0, -STEEPEST]), "isotonic": np.zeros((2, 1)),
}  # fmt: skip
WEAK = 1e-9  # share of the curvature added, so that a map that is not unique is one of the least


@dataclass(frozen=True)
class Calibrator:
    """A fitted map. `calibrator(probabilities)` gives new ones; `parameters` are what was fitted."""

    method: str
    parameters: list[Array] = field(repr=False)  # of each class, or one for all; isotonic: knots and values (2, k)
    n_classes: int
    unit: str = SCORES

    def __call__(self, probabilities: Any) -> Array:
        """Calibrated probabilities, of the same shape: (n, k), or (n,) for the second of two classes."""
        p = np.asarray(probabilities, dtype=np.float64)
        found = self.probabilities(np.column_stack([1 - p, p]) if p.ndim == 1 else p)
        return found[:, 1] if p.ndim == 1 else found

    def probabilities(self, said: Array) -> Array:
        """From scores or probabilities of the classes (n, k): calibrated probabilities."""
        f = inputs_of(self.method, np.asarray(said, dtype=np.float64), self.unit)
        if self.method == "temperature":
            return softmax(self.parameters[0] * f)
        if self.n_classes == 2:
            second = apply_map(self.method, self.parameters[0], f[:, 1])
            P = np.column_stack([1 - second, second])
        else:
            columns = [apply_map(self.method, one, f[:, k]) for k, one in enumerate(self.parameters)]
            P = np.column_stack(columns)
            P[P.sum(axis=1) == 0] = 1.0  # no class is believed in: all alike
            P /= P.sum(axis=1, keepdims=True)
        return P

    def log_probabilities(self, said: Array) -> Array:
        """Their logarithms, finite."""
        return np.asarray(np.log(np.maximum(self.probabilities(said), np.finfo(float).tiny)))


class ClassMap(SklearnApi):
    """The fitted map of one class, or of all by one temperature, read as scikit-learn's: `predict` of what a classifier says, and the
    numbers it has found, of 1 / (1 + exp(a f + b)) or softmax(beta logits)."""

    role: ClassVar[str] = "regressor"
    target: ClassVar[str] = "real"
    multi_output = sparse = missing = categorical = False

    def __init__(self, calibrator: Calibrator, place: int) -> None:
        self.calibrator, self._fitted = calibrator, calibrator.parameters[place]
        method, two = calibrator.method, calibrator.n_classes == 2 and calibrator.unit == SCORES
        if method == "sigmoid":
            self.a_, self.b_ = -self._fitted[0], -self._fitted[1]
        elif method == "temperature":
            self.beta_ = self._fitted[0] / (2 if two else 1)  # of logits (-f, f)
        else:
            self.coef_ = self._fitted

    def fit(self, f: Any, y: Any, sample_weight: Any = None) -> ClassMap:
        """A map has been fitted with its classifier: it is fitted anew by a new `CalibratedClassifierCV`."""
        return self

    def predict(self, f: Any) -> Array:
        """The calibrated probability of each row from the log-odds or probability of the class; by temperature from all of them."""
        f = np.asarray(f, dtype=np.float64)
        if self.calibrator.method == "temperature":
            return self.calibrator.probabilities(np.column_stack([np.zeros(len(f)), f]) if f.ndim == 1 else f)
        return apply_map(self.calibrator.method, self._fitted, f.reshape(-1))

    def __sklearn_is_fitted__(self) -> bool:
        return True


def fit_calibrator(
    y_true: Any, y_proba: Any, method: str = "temperature", *, sample_weight: Any = None, labels: Any = None
) -> Calibrator:
    """A map that calibrates probabilities, from rows that the classifier has not learned.

    method: "temperature" (keeps the predicted classes), "sigmoid" (Platt's), "beta", or "isotonic" (needs some thousand rows; gives
    no less than 1/(n + 2)). y_proba: (n, k), or (n,) for the second of two classes.

    >>> import numpy as np
    >>> from tenfold.evaluate import fit_calibrator
    >>> rng = np.random.default_rng(0); p = rng.random(2000); y = (rng.random(2000) < p).astype(int)
    >>> boasting = p**3 / (p**3 + (1 - p) ** 3)
    >>> round(1 / fit_calibrator(y, boasting).parameters[0].item())
    3
    """
    if method not in METHODS:
        raise BadParameter(f"method={method!r}: must be one of {', '.join(METHODS)}")
    checked = truth_and_probabilities(y_true, y_proba, sample_weight, labels)
    p = checked.scores.astype(np.float64)
    w = np.ones(len(p)) if checked.w is None else checked.w
    found = calibrator_of(method, checked.truth, p, w, PROBABILITIES)
    return floored(found, 1 / (float(w.sum()) + 2)) if method == "isotonic" else found


def calibrator_of(
    method: str, codes: Array, said: Array, w: Array, unit: str = SCORES, absent: Collection[int] = ()
) -> Calibrator:
    """The map of a method from scores or probabilities of the classes (n, k) and true classes; `absent` are classes that the classifier
    has never met, whose probability is zero."""
    k, f = said.shape[1], inputs_of(method, said, unit)
    if method == "temperature":
        return Calibrator(method, [np.array([inverse_temperature(codes, f, w)])], k, unit)
    chosen = [1] if k == 2 else list(range(k))
    maps = [ZERO[method].copy() if k > 2 and c in absent else fit_map(method, f[:, c], codes == c, w) for c in chosen]
    return Calibrator(method, maps, k, unit)


def floored(calibrator: Calibrator, least: float) -> Calibrator:
    """An isotonic map that says neither 0 nor 1: a stretch without a row of the class has not shown that there is none.

    One row of it later would cost infinitely much in log loss. (`CalibratedClassifierCV` does as scikit-learn does.)
    """
    maps = [np.stack([knots, np.clip(level, least, 1 - least)]) for knots, level in calibrator.parameters]
    return replace(calibrator, parameters=maps)


def inputs_of(method: str, said: Array, unit: str) -> Array:
    """(n, k): what the map of each class is a function of."""
    if unit == PROBABILITIES:
        if method in ("sigmoid", "isotonic"):
            return said
        said = np.log(said + SMALLEST)
    return said if method == "temperature" else log_odds(said)


def log_odds(scores: Array) -> Array:
    """ln p/(1 − p) of each class: its score less the log of the sum of the others."""
    if scores.shape[1] == 2:
        lead = scores[:, 1] - scores[:, 0]
        odds = np.column_stack([-lead, lead])
    else:
        odds = scores - np.column_stack([logsumexp(np.delete(scores, k, axis=1), axis=1) for k in range(scores.shape[1])])
    return np.asarray(np.nan_to_num(odds, nan=0.0, posinf=STEEPEST, neginf=-STEEPEST))


def temperature(outputs: Any, truth: Any, weights: Any = None) -> float:
    """The T > 0 for which softmax(s / T) has the least log loss on held-out rows, of two classes or many.

    outputs: class scores s (n, k), as logits or log probabilities; of two classes also (n,), the score of the second less that of
    the first. truth: the numbers 0, ..., k − 1 of the true classes. Every row counts for 1/(n + 2) of a row as if its class were drawn
    evenly, so that classes that are separated perfectly do not ask for T = 0:

        min over T of  Σ w (log Σₖ exp(sₖ/T) − Σₖ qₖ sₖ/T),  q = (1 − ε) e_y + ε/k,  ε = 1/(Σw + 2)

    >>> import numpy as np
    >>> from tenfold.evaluate import temperature
    >>> rng = np.random.default_rng(0); s = rng.normal(size=4000); y = (rng.random(4000) < 1 / (1 + np.exp(-s))).astype(int)
    >>> round(temperature(3 * s, y), 1)
    3.0
    """
    s, codes = np.asarray(outputs, dtype=np.float64), np.asarray(truth).reshape(-1)
    s = np.column_stack([np.zeros(len(s)), s]) if s.ndim == 1 else s
    w = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=np.float64)
    if s.ndim != 2 or s.shape[1] < 2 or len({len(s), len(codes), len(w)}) != 1 or not len(s):
        raise BadInput(
            f"outputs of shape {np.shape(outputs)}, {len(codes)} classes and {len(w)} weights: give scores (n, k) or (n,) of the same rows"
        )
    scored = np.isfinite(s.max(axis=1)).all() and np.isin(codes, np.arange(s.shape[1])).all()
    if not scored or not (w >= 0).all() or not 0 < w.sum() < np.inf:
        raise BadInput(
            f"scores must be numbers, one of each row finite and none +inf, classes numbers 0 to {s.shape[1] - 1}, and weights not "
            "negative with a finite sum above 0"
        )
    s = s - s.max(axis=1, keepdims=True)
    s = np.maximum(s, float(s[np.isfinite(s)].min()) + np.log(SMALLEST))  # classes that were given up for good
    return 1 / max(inverse_temperature(codes.astype(np.int64), s, w, 1 / (float(w.sum()) + 2)), 1 / STEEPEST)


def inverse_temperature(codes: Array, scores: Array, w: Array, even: float = 0.0) -> float:
    """1/T with the least log loss:  min over β of  Σ w (log Σₖ exp(β sₖ) − β s_y),  by Newton inside a bracket.

    `even` is the share of every row whose class is drawn evenly.
    """
    two = scores.shape[1] == 2
    lead = scores[:, 1] - scores[:, 0] if two else scores - scores.max(axis=1, keepdims=True)
    own = lead * codes if two else lead[np.arange(len(codes)), codes]
    own = own if even == 0 else (1 - even) * own + even * (lead / 2 if two else lead.mean(axis=1))
    low, high, beta = 0.0, STEEPEST, 1.0
    for _ in range(100):
        if two:
            p = expit(beta * lead)
            mean, spread = p * lead, p * (1 - p) * lead**2
        else:
            P = np.exp(log_softmax(beta * lead))
            mean = (P * lead).sum(axis=1)
            spread = (P * lead**2).sum(axis=1) - mean**2
        slope, curvature = w @ (mean - own), w @ spread
        if slope < 0:
            low = beta
        else:
            high = beta
        step = beta - slope / curvature if curvature > 0 else np.inf
        new = step if low < step < high else (low + high) / 2
        if abs(new - beta) <= 1e-8 * beta:  # Newton doubles the digits: what is left is rounding
            return float(new)
        beta = new
    return float(beta)


def fit_map(method: str, odds: Array, positive: Array, w: Array) -> Array:
    """The map of one class: coefficients, or knots."""
    target = positive.astype(np.float64)
    if method == "isotonic":
        return np.stack(isotonic_map(odds, target, w))
    if method == "sigmoid":
        # Platt's targets, as if one more row of each class had been seen: finite even if the classes are separated.
        hit, miss = w @ target, w @ (1 - target)
        target = np.where(positive, (hit + 1) / (hit + 2), 1 / (miss + 2))
        return logistic(np.column_stack([odds, np.ones_like(odds)]), target, w)
    columns = beta_columns(odds)
    found = logistic(columns, target, w)
    for j in (0, 1):  # a falling map is refused: that column is left out (Kull et al. 2017)
        if found[j] < 0:
            columns[:, j] = 0.0
            found = logistic(columns, target, w)
    return np.maximum(found, [0.0, 0.0, -np.inf])


def beta_columns(odds: Array) -> Array:
    """[ln p, −ln(1 − p), 1]."""
    return np.column_stack([-np.logaddexp(0, -odds), np.logaddexp(0, odds), np.ones_like(odds)])


def fits_method(method: str, fitted: Array) -> bool:
    """Whether these may be the parameters of one map of the method: for maps that come from a file."""
    if method == "isotonic":
        return bool(fitted.ndim == 2 and fitted.shape[0] == 2 and fitted.shape[1] > 0 and (np.diff(fitted) >= 0).all())
    return bool(fitted.shape == ({"temperature": 1, "sigmoid": 2, "beta": 3}[method],))


def apply_map(method: str, fitted: Any, odds: Array) -> Array:
    """The calibrated probability of a class."""
    if method == "isotonic":
        return np.asarray(np.interp(odds, *fitted))
    columns = np.column_stack([odds, np.ones_like(odds)]) if method == "sigmoid" else beta_columns(odds)
    return np.asarray(expit(columns @ fitted))


def logistic(Z: Array, target: Array, w: Array) -> Array:
    """min over θ of  Σ w (log(1 + exp(z·θ)) − t z·θ)  by Newton's method, halving steps that do not help."""
    scale = np.maximum(np.abs(Z).max(axis=0), np.finfo(float).tiny)
    Z = Z / scale
    theta = np.zeros(Z.shape[1])

    def loss(at: Array) -> float:
        eta = Z @ at
        return float(w @ (np.logaddexp(0, eta) - target * eta))

    now = loss(theta)
    for _ in range(100):
        p = expit(Z @ theta)
        gradient = Z.T @ (w * (p - target))
        curvature = (Z * (w * p * (1 - p))[:, None]).T @ Z
        curvature += WEAK * max(np.trace(curvature), np.finfo(float).tiny) * np.eye(len(theta))
        step = np.linalg.solve(curvature, gradient)
        if (
            gradient @ step <= 1e-9 * now
        ):  # twice what a quadratic has still to fall: this step is the last, and a full one
            theta = theta - step
            break
        size, new = 1.0, theta - step
        while (after := loss(new)) > now and size > 1e-6:
            size /= 2
            new = theta - size * step
        if after > now:
            break
        theta, now = new, after
        if np.abs(theta).max() > STEEPEST:
            break
    return np.asarray(theta / scale)
