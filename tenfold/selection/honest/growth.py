"""From models of some of the rows to the model of all: what the last rows bring.

Held-out rows are judged by models of (K − 1)/K of the rows, and the model that is saved learns from all of them. Where more rows still
help, the score of the former is too cautious. Models of (K − 2)/K of the rows tell by how much. With a mean loss of a + b/n, and q for
the share of it that endlessly many rows would take off the loss L of models of (K − 1)/K of them,

    models of all rows lose L (1 − q/K),        models of (K − 2)/K of the rows L (1 + q/(K − 2))

Of q the mean difference g of the same rows is seen, as q̂ = (K − 2) g/L with a standard error s: by what the choice of a round takes, of
rows that this choice has not looked at. Before anything is seen q has a law. Where models take off most of what the guess loses, more
rows may take off much of the rest; where they take off little, nearly all that is left is noise, and stays. So with r for the share that
they take off, q has the law Beta(1, 3/r²), with the mean r²/(3 + r²), and by what is seen the density

    (1 − q)^(3/r² − 1) exp(−(q̂ − q)²/2s²)        from 0 to 1

by which q counts with its mean: q̂ where the rows tell it well, what is usual where they do not, so that luck is not taken for growth. Its
standard deviation widens the range, as does a fifth of the mean, since the form of the curve is not known either: n^−½ in place of 1/n
would make it a seventh more, n^−2 a quarter less.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import stdtrit

from tenfold.core.data import Array
from tenfold.score.record import Score, judged_output
from tenfold.selection.choice.choice import Z
from tenfold.selection.choice.costs import COST
from tenfold.selection.choice.held_out import WIDER, HeldOut
from tenfold.selection.honest.estimate import Estimate

UNTRIED = (  # also where all of their fits have failed
    "The estimate is for models of the rows without a fold: whether models of all rows are better was not seen, as a rule for want of time."
)
SELDOM_MUCH = 3.0  # c of the law Beta(1, c/r²) of what endlessly many rows would take off a loss, before anything is seen
FORM = 0.2  # of a gain: how far the form of the curve may be another one
FEW_MODELS = 1.4  # what the error of a gap is multiplied by where one model or two have judged all of its rows
LEAST = 0.001  # of a loss, that may be taken off: less is not worth the words
TINY = 1e-12  # of a loss: an error is not less, and no figure more than its inverse
ROUNDING = 1e-9  # of what the guess loses: what is left of a perfect fit
FAR, GRID = 8.0, 2001  # standard errors of what is looked at around the likeliest share, in so many steps
SCORES = ("rmse", "r2")  # that are no mean over rows, but follow from one


@dataclass(frozen=True)
class Growth:
    """A mean loss of rows by models of (K − 1)/K of the rows, what these are ahead of models of (K − 2)/K and its standard error, and the
    share of what the guess loses that they take off."""

    loss: float
    gain: float
    error: float
    folds: int
    learned: float

    @property
    def share(self) -> float:
        """The loss of the model of all rows, as a share of that of the models of folds."""
        less = self._endless[0] / self.folds
        return 1 - less if less >= LEAST else 1.0

    @property
    def spread(self) -> float:
        """The standard error of the logarithm of that share."""
        expected, unsure = self._endless
        return float(np.hypot(unsure, FORM * expected)) / (self.folds * self.share)

    @property
    def clear(self) -> bool:
        """Whether more rows help, beyond chance."""
        return self.gain > Z * self.error

    @property
    def _endless(self) -> tuple[float, float]:
        """The share that endlessly many rows would take off, as expected by what is seen, and its standard deviation."""
        if self.loss <= 0 or not 0 < self.learned < 1 - ROUNDING:
            return 0.0, 0.0
        scale = (self.folds - 2) / self.loss
        seen, error = (float(np.clip(scale * one, least, 1 / TINY)) for one, least in ((self.gain, -1 / TINY), (self.error, TINY)))
        falls = min(SELDOM_MUCH / max(self.learned, TINY) ** 2, 1 / TINY) - 1  # the law before it is (1 - q)^falls
        # the likeliest share is where (seen - q)(1 - q) = falls error²; beyond it the density falls by its slope and curvature there
        off = falls * error**2
        likeliest = float(np.clip(2 * (seen - off) / (1 + seen + np.hypot(1 - seen, 2 * np.sqrt(off))), 0.0, 1 - TINY))
        slope = max(falls / (1 - likeliest) - (seen - likeliest) / error**2, 0.0)
        curved = 1 / error**2 + falls / (1 - likeliest) ** 2
        above = FAR**2 / (slope + np.hypot(slope, FAR * np.sqrt(curved)))
        ends = np.linspace(max(likeliest - FAR * error, 0.0), min(likeliest + above, 1 - TINY / 2), GRID)
        q = (ends[1:] + ends[:-1]) / 2
        further = (q - likeliest) / error * ((q + likeliest - 2 * seen) / error)  # (seen - q)²/s² less that of the likeliest share
        law = falls * np.log1p(-q) - further / 2
        law = np.exp(law - law.max())
        mean = float(law @ q / law.sum())
        return mean, float(np.sqrt(law @ (q - mean) ** 2 / law.sum()))


def falls_with_rows(judge: Score) -> bool:
    """Whether the judge is a mean loss of rows by what is said of them, or follows from one; not by what is decided."""
    loss = judge.mean_of_rows and not judge.greater_is_better and not judge.by_class and judge.name != COST
    return judge.row_loss is not None and (loss or judge.name in SCORES)


def growth(
    judge: Score, held: HeldOut, rows: Array, more: Array, fewer: Sequence[Array], guessed: Array, folds: int, nested: bool
) -> Growth | None:
    """By what was said of rows by models of more of the rows and, several times, of fewer, NaN where nothing was; None where too little is
    known, or the judge is no loss of rows. guessed: what the guess says. nested: whether K − 1 models of fewer rows have judged each row,
    not one."""
    if judge.row_loss is None or not falls_with_rows(judge):
        return None
    some = np.flatnonzero(np.isfinite([one[:, 0] for one in fewer]).all(axis=0)) if fewer else np.empty(0, np.int64)
    units = len(some) if held.units is None else len(np.unique(held.units[rows[some]]))
    if units < 2:
        return None
    truth, loss_of = held.truth(rows), judge.row_loss

    def losses(output: Array, at: Array | slice = slice(None)) -> Array:
        return loss_of(truth[at], judged_output(judge, output[at].astype(np.float64, copy=False), held.classes))

    whole, least = losses(more), float(held.mean(losses(guessed), rows))
    loss = float(held.mean(whole, rows))
    ahead = np.mean([losses(one, some) for one in fewer], axis=0) - whole[some]
    wider = WIDER * float(stdtrit(units - 1, 0.975)) / Z * (1.0 if nested else FEW_MODELS)
    gain, error = float(held.mean(ahead, rows[some])), wider * held.error(ahead, rows[some])
    found = Growth(loss, gain, error, folds, 1 - loss / least if least > 0 else 0.0)
    return found if np.isfinite([found.loss, found.gain, found.error]).all() else None


def grown(found: Estimate, judge: Score, by: Growth | None) -> Estimate:
    """The estimate for the model of all rows."""
    return found if by is None or by.share == 1 else scaled(found, judge, by.share, Z * by.spread, "for the model of all rows")


def scaled(found: Estimate, judge: Score, share: float, spread: float, what: str) -> Estimate:
    """The estimate where rows lose a share of what they did, with its range wider by what the logarithm of that share may be off; what:
    for whom it is then."""
    if judge.name == "rmse":
        share, spread = np.sqrt(share), spread / 2
    turned = judge.name == "r2"  # what is left over falls
    value, low, high = (1 - found.value, 1 - found.high, 1 - found.low) if turned else (found.value, found.low, found.high)
    if not 0 < low <= value <= high < np.inf:
        return found
    down, up = (np.hypot(np.log(value / low), spread), np.hypot(np.log(high / value), spread))
    value *= share
    low, high = value * np.exp(-down), value * np.exp(up)
    if turned:
        value, low, high = 1 - value, 1 - high, 1 - low
    error = found.error * (high - low) / (found.high - found.low) if found.high > found.low else found.error
    method = f"{found.method}; {what}"
    return replace(found, value=float(value), low=float(low), high=float(high), error=float(error), method=method)
