"""The parts of an error: bias, variance and noise, from what many models predict for each row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tenfold.core.data import Array, Arrays
from tenfold.core.errors import BadInput


@dataclass(frozen=True)
class BiasVariance:
    """A mean error and its parts:  error = bias + variance + noise, exactly.

    Squared loss: `bias` is bias². 0-1 loss: `variance` is the net variance, that of rows whose main prediction is right
    less that of rows where it is wrong (where straying from it helps), and `noise` the effect of noise on the error.
    Without `truth` or `noise` given, noise is counted as bias (`noise_known` is False).
    """

    loss: str
    error: float
    bias: float
    variance: float
    noise: float
    replicates: int
    noise_known: bool  # otherwise it is counted as bias
    main: Array = field(repr=False)  # (rows,) the mean prediction, or the most frequent one
    bias_of_rows: Array = field(repr=False)
    variance_of_rows: Array = field(repr=False)

    def __str__(self) -> str:
        square = ("²" if self.loss == "squared" else "") + ("" if self.noise_known else " with noise")
        return (
            f"{self.loss} error {self.error:.4g} = bias{square} {self.bias:.4g} + variance {self.variance:.4g} "
            f"+ noise {self.noise:.4g}   ({self.replicates} training sets)"
        )

    __repr__ = __str__

    def plot(self, ax: Any = None) -> Any:
        """One bar for each part; returns the axes."""
        from tenfold.draw.bias_variance import draw_bias_variance

        return draw_bias_variance(self, ax)


@dataclass(frozen=True)
class BiasVariancePath:
    """The parts of the error for each value of a parameter."""

    name: str
    values: list[Any]
    parts: list[BiasVariance]

    @property
    def loss(self) -> str:
        return self.parts[0].loss

    @property
    def best(self) -> Any:
        """The value with the smallest error."""
        return self.values[int(np.argmin([part.error for part in self.parts]))]

    def column(self, what: str) -> Array:
        """`error`, `bias`, `variance` or `noise` along the values."""
        return np.array([getattr(part, what) for part in self.parts])

    def __str__(self) -> str:
        lines = [f"{self.name:>14}  {'error':>10} {'bias':>10} {'variance':>10} {'noise':>10}"]
        for value, p in zip(self.values, self.parts, strict=True):
            lines.append(f"{value!s:>14.14}  {p.error:10.4g} {p.bias:10.4g} {p.variance:10.4g} {p.noise:10.4g}")
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self, ax: Any = None) -> Any:
        """The parts along the parameter; returns the axes."""
        from tenfold.draw.bias_variance import draw_bias_variance

        return draw_bias_variance(self, ax)


def squared(f: Array, seen: Array, judged: Arrays, truth: Any, noise: float | None, no_targets: bool) -> BiasVariance:
    """Row by row  Σ (f − t)²/B = bias² + variance  with the unbiased parts, so that the means add up exactly."""
    count = seen.sum(axis=0)
    main = (f * seen).sum(axis=0) / count
    variance = ((f - main) ** 2 * seen).sum(axis=0) / (count - 1)
    assert judged.y is not None
    y = judged.y[:, 0]
    target = y if truth is None else _checked(truth, (len(y),))
    bias = (main - target) ** 2 - variance / count
    spread = float(noise or 0.0)
    if truth is not None:
        spread = 0.0 if no_targets else float(((y - target) ** 2).mean())
    elif noise is not None:
        bias = bias - noise
    parts = float(bias.mean()), float(variance.mean()), spread
    return BiasVariance(
        "squared", sum(parts), *parts, len(f), truth is not None or noise is not None, main, bias, variance
    )


def zero_one(f: Array, seen: Array, judged: Arrays, truth: Any) -> BiasVariance:
    assert judged.target.classes is not None
    K, n = len(judged.target.classes), f.shape[1]
    share = np.array([((f == k) & seen).sum(axis=0) for k in range(K)]).T / seen.sum(axis=0)[:, None]  # (rows, classes)
    chance = np.eye(K)[judged.y] if truth is None else _checked(truth, (n, K))
    if (np.abs(chance.sum(axis=1) - 1) > 1e-6).any() or chance.min() < 0:
        raise BadInput(
            "truth of a classifier holds the probabilities of its classes: not negative, each row summing to 1"
        )
    main, best, rows = share.argmax(axis=1), chance.argmax(axis=1), np.arange(n)
    right = main == best
    stray = np.where(right, 1 - share[rows, main], -share[rows, best])
    miss = 1 - share[rows, best]  # = bias + stray, row by row
    effect = np.zeros(n) if truth is None else (share * (1 - chance)).sum(axis=1) - miss
    bias = (~right).astype(np.float64)
    parts = float(bias.mean()), float(stray.mean()), float(effect.mean())
    return BiasVariance("0-1", sum(parts), *parts, len(f), truth is not None, judged.target.classes[main], bias, stray)


def _checked(truth: Any, shape: tuple[int, ...]) -> Array:
    values = np.asarray(truth, dtype=np.float64)
    if values.shape != shape or not np.isfinite(values).all():
        raise BadInput(
            f"truth has shape {values.shape}: it must hold finite numbers of shape {shape}, one row for each row judged"
        )
    return values
