"""Calibration as a picture: predicted probability against observed frequency."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.draw.look import GREY, new_axes, style
from tenfold.evaluate.calibrate.curve import calibration_curve


def draw_calibration(
    curve: Any,
    y_prob: Any = None,
    *,
    n_bins: int = 10,
    strategy: str = "quantile",
    pos_label: Any = None,
    sample_weight: Any = None,
    ax: Any = None,
) -> Any:
    """The share of positives against the predicted probability, with 95 % ranges; on the dotted line they agree.

    curve: a result of `calibration_curve`; or the truth, with y_prob the probabilities of the positive class or a
    dict of name: probabilities. A strip at the foot then shows where the rows are.

    >>> from tenfold.draw import draw_calibration
    >>> ax = draw_calibration([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], n_bins=2)
    >>> ax.get_xlabel()
    'predicted probability'
    """
    ax = new_axes(ax, (5.2, 4.8))
    ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.2, label="perfectly calibrated")
    settings = dict(n_bins=n_bins, strategy=strategy, pos_label=pos_label, sample_weight=sample_weight)
    several = {} if y_prob is None else y_prob if isinstance(y_prob, dict) else {"": y_prob}
    curves = {name: calibration_curve(curve, p, **settings) for name, p in several.items()} or {"": curve}
    for k, (name, found) in enumerate(curves.items()):
        ranges = np.maximum([found.prob_true - found.low, found.high - found.prob_true], 0)
        label = f"{name}{', ' if name else ''}calibration error {found.error:.3f}"
        sizes = dict(marker="o", markersize=5, linewidth=1.6, elinewidth=1.0, capsize=2)
        ax.errorbar(found.prob_pred, found.prob_true, yerr=ranges, label=label, **sizes, **style(k))
    for k, p in enumerate(several.values()):
        count, edges = np.histogram(np.asarray(p, dtype=np.float64), bins=40, range=(0, 1), weights=sample_weight)
        strip = 0.1 * count / count.max() - 0.02
        ax.stairs(strip, edges, baseline=-0.02, fill=len(several) == 1, alpha=0.35, color=style(k)["color"])
    ax.set(
        xlabel="predicted probability",
        ylabel=f"share of positives ({100 * next(iter(curves.values())).level:g}% range)",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
        aspect="equal",
    )
    ax.legend(loc="upper left", fontsize=9)
    return ax
