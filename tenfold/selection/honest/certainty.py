"""How far single predictions can be relied on: ranges around numbers, sets of classes, and the calibration error of probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tenfold.core.data import Array
from tenfold.selection.honest.estimate import calibration_of, half_width_of, half_widths_of, least_of, sets_of


@dataclass(frozen=True)
class Certainty:
    """What was said of the rows of the rounds by what was taken without them."""

    outputs: Array  # (rows, outputs)
    truth: Array
    weights: Array | None
    rounds: Array  # of each row
    metric: str
    losses: Array | None  # of numbers, by this metric
    probabilities: Array | None  # of classes
    labels: Sequence[Any]

    @property
    def half_width(self) -> float | None:
        """Half the width of the range around a prediction that holds 90 % of new rows; None for classes, or too few rows."""
        return None if self.losses is None else half_width_of(self.losses, self.metric, self.weights)

    @property
    def half_widths(self) -> Array | None:
        """The same by the size of the prediction, where there are rows enough: (2, levels), ends of levels and half widths."""
        return None if self.losses is None else half_widths_of(self.outputs[:, 0], self.losses, self.metric, self.weights)

    @property
    def least(self) -> Array | None:
        """How likely each class must be to be in the set of a row, which holds 90 % of new rows; None for numbers, or too few rows."""
        return None if self.probabilities is None else least_of(self.probabilities, self.truth, self.weights)

    @cached_property
    def sets(self) -> dict[str, Any] | None:
        """Of classes what sets of held-out rows are like."""
        return None if self.probabilities is None else sets_of(self.probabilities, self.truth, self.rounds, self.labels, self.weights)

    @cached_property
    def calibration(self) -> dict[str, float] | None:
        """Of classes the calibration error of the probabilities, and what luck makes of it."""
        return None if self.probabilities is None else calibration_of(self.probabilities, self.truth, self.weights)
