"""Known densities of classes along one column: what is seen, what follows of it, and the error that is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput
from tenfold.draw.look import COLOURS, GREY, new_axes, style
from tenfold.evaluate.decide.bayes_error import bayes_error
from tenfold.evaluate.decide.bayes_rule import posterior

POINTS = 2001


def draw_posteriors(
    densities: Sequence[Callable[[Array], Array]], priors: Any, low: float, high: float, names: Sequence[Any] | None = None
) -> Any:
    """Bayes' rule in a picture, of densities of one column from `low` to `high`: above, πₖ p(x | k) of each class, and in grey what the
    best decision gets wrong (the Bayes error); below, the posteriors P(k | x), over the colours of the classes that are decided for.

    Returns both axes.

    >>> from tenfold.distributions import Beta
    >>> from tenfold.draw import draw_posteriors
    >>> above, below = draw_posteriors([Beta(1, 2).density, Beta(2, 1).density], [0.5, 0.5], 0, 1)
    >>> above.get_title()
    'Bayes error 0.25'
    """
    error = bayes_error(densities, priors, low, high)  # which looks at what is given
    names = [f"class {k}" for k in range(len(densities))] if names is None else list(names)
    if len(names) != len(densities):
        raise BadInput(f"draw_posteriors: {len(names)} names for {len(densities)} classes: give one for each")
    x = np.linspace(low, high, POINTS)
    heights = np.column_stack([np.asarray(density(x), dtype=np.float64).reshape(len(x)) for density in densities])
    joint = heights * np.asarray(priors, dtype=np.float64)
    seen = joint.sum(axis=1) > 0
    with np.errstate(divide="ignore"):
        found = posterior(priors, np.log(heights[seen]))
    above, below = _panels()
    above.fill_between(x, joint.sum(axis=1) - joint.max(axis=1), color=GREY, alpha=0.4, linewidth=0, label="error")
    for k, name in enumerate(names):
        above.plot(x, joint[:, k], label=str(name), **style(k))
        chance = np.full(len(x), np.nan)  # nothing can be said where no class can be
        chance[seen] = found.probabilities[:, k]
        below.plot(x, chance, **style(k))
        decided = np.zeros(len(x), dtype=bool)
        decided[seen] = found.map == k
        below.fill_between(x, 1.0, where=decided, color=COLOURS[k % len(COLOURS)], alpha=0.12, linewidth=0)
    above.set_title(f"Bayes error {error:.4g}")
    above.set_ylabel("prior × density")
    above.set_ylim(bottom=0)
    above.legend(frameon=False)
    below.set(xlabel="x", ylabel="posterior", xlim=(low, high), ylim=(0, 1.02))
    return above, below


def _panels() -> tuple[Any, Any]:
    figure = new_axes(None, (6.4, 5.6)).figure
    figure.clear()
    above = new_axes(figure.add_subplot(2, 1, 1))
    return above, new_axes(figure.add_subplot(2, 1, 2, sharex=above))
