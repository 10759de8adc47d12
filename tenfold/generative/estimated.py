"""Covariances of classes: from merged moments, or from the rows by the rule of Ledoit and Wolf or an estimator of the user."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from tenfold.base.estimator import Estimator
from tenfold.base.one_pass import OnePass
from tenfold.base.sums import Sums
from tenfold.core.data import Array, Block, Source
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.learning import Keep, Learner
from tenfold.core.stats import Moments
from tenfold.generative.class_rows import ClassRows, rows_or_moments


class Estimated(NamedTuple):
    """In the place of moments: what is known of the classes, with the estimated covariances in the place of their scatter."""

    weight: Array  # (K,)
    mean: Array  # (K, p)
    scatter: Array  # (K, p, p): the weight of a class times its covariance
    total: Array  # (p, p): of all rows


def needs_rows(learner: Estimator) -> bool:
    """Whether merged moments are not enough for the covariances that the parameters ask for."""
    given, shrinkage = learner.covariance_estimator, learner.shrinkage
    if given is not None and shrinkage not in (None, 0):
        raise BadParameter(
            f"{type(learner).__name__}: covariance_estimator and shrinkage parameters are not None. Only one of the two can be set."
        )
    return given is not None or shrinkage == "auto"


def estimated(learner: Estimator, K: int) -> Learner[Estimated]:
    """The rows are kept, and asked class by class."""
    X, y, w = yield Keep()
    X = X.astype(np.float64, copy=False)
    if learner.covariance_estimator is not None and len(w) and (w != w[0]).any():
        raise BadInput(f"{type(learner).__name__}(covariance_estimator=...): takes no sample_weight, as its fit(X) does not")
    p = X.shape[1]
    weight, mean, scatter = np.zeros(K), np.zeros((K, p)), np.zeros((K, p, p))
    for k in range(K):
        one = y == k
        if one.any():
            weight[k], mean[k] = w[one].sum(), np.average(X[one], axis=0, weights=w[one])
            scatter[k] = weight[k] * _covariance(learner, X[one], w[one])
    return Estimated(weight, mean, scatter, _covariance(learner, X, w))


def _covariance(learner: Estimator, X: Array, w: Array) -> Array:
    given = learner.covariance_estimator
    if given is None:
        return standardised_ledoit_wolf(X, w)
    name = f"{type(learner).__name__}(covariance_estimator={type(given).__name__}())"
    if not callable(getattr(given, "fit", None)):
        raise BadParameter(f"{name}: must have a method fit(X)")
    found = deepcopy(given)
    found.fit(X)
    if not hasattr(found, "covariance_"):
        raise BadParameter(f"{name}: {type(given).__name__} does not have a covariance_ attribute")
    C = np.asarray(found.covariance_, dtype=np.float64)
    if C.shape != (X.shape[1], X.shape[1]) or not np.isfinite(C).all():
        raise BadParameter(f"{name}: its covariance_ must be finite, of shape {(X.shape[1], X.shape[1])}, not {C.shape}")
    return 0.5 * (C + C.T)


def standardised_ledoit_wolf(X: Array, w: Array) -> Array:
    """(1 − s) C + s (trace C / p) I of the standardised columns, in their units.

    With zᵢ the standardised rows, n = Σ w and μ = trace C / p:  s = min(β, δ) / δ,  δ = ‖C − μ I‖² / p,
    β = (Σ w ‖zᵢ‖⁴ / n − ‖C‖²) / (n p)  (Ledoit & Wolf 2004).
    """
    n, p = float(w.sum()), X.shape[1]
    mean = w @ X / n
    Z = X - mean
    Z -= w @ Z / n
    scale = np.sqrt(w @ (Z * Z) / n)
    scale = np.where(scale > 10 * np.finfo(float).eps * np.abs(mean), scale, 1.0)  # constant columns
    Z = Z / scale
    C = (Z * w[:, None]).T @ Z / n
    if p > 1:
        size, level = float((C * C).sum()), float(np.trace(C)) / p
        apart = (size - p * level**2) / p
        noise = (float(w @ (Z * Z).sum(axis=1) ** 2) / n - size) / (n * p)
        share = min(max(noise, 0.0), apart) / apart if apart > 0 and noise > 0 else 0.0
        C = (1 - share) * C
        C.flat[:: p + 1] += share * level
    return np.asarray(scale[:, None] * C * scale)


class ByMoments(OnePass):
    """Abstract: a discriminant, solved from the moments of the classes; from the rows where those do not tell its covariances."""

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        if needs_rows(self):
            return self._solve((yield from estimated(self, len(self.classes_))))
        return (yield from super()._learn(source))

    def _from_sums(self, source: Source) -> Sums | None:
        return None if needs_rows(self) else super()._from_sums(source)

    def _summarize(self, block: Block) -> ClassRows | Moments:
        return rows_or_moments(block, len(self.classes_))

    def _from_moments(self, moments: Moments) -> Moments:
        return moments
