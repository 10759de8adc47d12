"""Bayes' rule: from priors and likelihoods to posteriors, and the two plainest decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, Degenerate, warn


@dataclass(frozen=True)
class Posterior:
    """What Bayes' rule says of some cases, one row each (of one case, without that axis)."""

    probabilities: Array  # P(k | x)
    log_evidence: Array  # log p(x)
    log_likelihoods: Array  # log p(x | k), as they were given

    @property
    def map(self) -> Array:
        """The decision for the class of largest posterior (maximum a posteriori), by place, the first of several: no other errs less."""
        return np.asarray(self.probabilities.argmax(axis=-1))

    @property
    def maximum_likelihood(self) -> Array:
        """The decision for the class of largest likelihood, whatever the priors; the same as `map` where those are equal."""
        return np.asarray(self.log_likelihoods.argmax(axis=-1))


def posterior(priors: Any, log_likelihoods: Any) -> Posterior:
    """P(k | x) = πₖ p(x | k) / p(x),  with the evidence p(x) = Σ πₖ p(x | k);  in logarithms, so that no density is too small.

    priors: one for each class, with sum 1. log_likelihoods: log p(x | k), one row for each case and one column for each class; −inf where a
    class cannot be. A case that no class can have gets the priors, which is told (Degenerate).

    Half of the pens are red; of the red ones 2/7 are ballpens, of the black ones 5/7:

    >>> import numpy as np
    >>> from tenfold.evaluate import posterior
    >>> found = posterior([0.5, 0.5], np.log([2 / 7, 5 / 7]))
    >>> found.probabilities.round(4).tolist(), int(found.map)
    ([0.2857, 0.7143], 1)
    """
    p, log_p = checked_priors(priors), np.asarray(log_likelihoods)
    if log_p.dtype.kind not in "fiub" or log_p.ndim not in (1, 2) or log_p.shape[-1] != len(p):
        raise BadInput(
            f"log_likelihoods of shape {log_p.shape} ({log_p.dtype}): give a number for each case and each of {len(p)} classes"
        )
    log_p = log_p.astype(np.float64)
    rows = np.atleast_2d(log_p)
    bad = np.isnan(rows) | np.isposinf(rows)
    if bad.any():
        row, k = (int(i) for i in np.argwhere(bad)[0])
        raise BadInput(f"the log likelihood of class {k} in row {row} is {rows[row, k]:g}: must be a number, or -inf where it cannot be")
    with np.errstate(divide="ignore"):
        joint = rows + np.log(p)
    largest = joint.max(axis=1, keepdims=True)
    nowhere = np.isneginf(largest[:, 0])
    if nowhere.any():
        row, many = int(nowhere.argmax()), int(nowhere.sum())
        warn(f"no class can have row {row} ({many} such): it gets the prior probabilities", Degenerate, stacklevel=2)
    share = np.exp(joint - np.where(nowhere[:, None], 0.0, largest))
    total = share.sum(axis=1, keepdims=True)
    found = np.where(nowhere[:, None], p, share / np.where(nowhere[:, None], 1.0, total))
    with np.errstate(divide="ignore"):
        evidence = (largest + np.log(total))[:, 0]
    one = log_p.ndim == 1
    return Posterior(found[0] if one else found, evidence[0] if one else evidence, log_p)


def checked_priors(priors: Any) -> Array:
    """A probability for each of at least two classes."""
    p = np.asarray(priors, dtype=np.float64)
    if p.ndim != 1 or len(p) < 2 or not (p >= 0).all() or not abs(p.sum() - 1) <= 1e-9:
        raise BadInput(f"priors {np.asarray(priors).tolist()}: give one for each of at least two classes, none negative, with sum 1")
    return p
