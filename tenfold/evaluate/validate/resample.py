"""The bootstrap estimate of error: models of resampled rows, judged on the rows left out of the bag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tenfold.base.estimator import Estimator, map_rows
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array, Arrays
from tenfold.core.engine import each
from tenfold.core.errors import BadInput, BadParameter
from tenfold.core.random import generator
from tenfold.core.threads import single_blas
from tenfold.evaluate.validate.memory import read
from tenfold.score.record import RowLoss, Score
from tenfold.score.registry import SCORES, find_score, score_names
from tenfold.score.statistics import squared

DEFAULTS = {"classifier": "error", "regressor": "mse"}


@dataclass(frozen=True)
class BootstrapError:
    """Four estimates of the error on new rows. `point632_plus` is the one to quote.

    training         error on the rows that were learned: too small
    out_of_bag       each row judged by the models that did not see it: a little too large, as they saw 63 % of the rows
    point632         0.368 training + 0.632 out_of_bag
    point632_plus    the weights moved towards out_of_bag as far as the model overfits (Efron & Tibshirani 1997)
    no_information   the error if the columns had no information on the target
    """

    loss: str
    training: float
    out_of_bag: float
    point632: float
    point632_plus: float
    no_information: float
    replicates: int

    def __str__(self) -> str:
        return (
            f"{self.loss}: .632+ {self.point632_plus:.4g}   out of bag {self.out_of_bag:.4g}   .632 {self.point632:.4g}   "
            f"training {self.training:.4g}   no information {self.no_information:.4g}   ({self.replicates} replicates)"
        )

    __repr__ = __str__


def bootstrap_error(
    model: Any,
    X: Any,
    y: Any,
    *,
    loss: str | None = None,
    replicates: int = 100,
    sample_weight: Any = None,
    random_state: Any = 0,
) -> BootstrapError:
    """The bootstrap estimate of a learner's error: out of bag, .632 and .632+.

    A bootstrap sample is a set of weights: row i counts as often as it was drawn. loss: "error", "log_loss" or "brier" for classifiers,
    "mse" or "mae" for regressors.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import bootstrap_error
    >>> X = np.random.default_rng(0).normal(size=(80, 3)); y = X @ [1.0, 2.0, 3.0] + 1
    >>> bootstrap_error(tenfold.LinearRegression(), X, y).point632_plus < 1e-20
    True
    """
    role = getattr(model, "role", "")
    if role not in DEFAULTS:
        raise BadInput(
            f"{type(model).__name__} predicts no target, so there is nothing to judge: give a classifier or a regressor"
        )
    judge = find_score(DEFAULTS[role] if loss is None else loss, role, parameter="loss")
    if judge.greater_is_better or not judge.mean_of_rows:
        names = ", ".join(name for name in score_names(role) if SCORES[name].mean_of_rows and SCORES[name].sign < 0)
        raise BadParameter(f"loss={loss!r}: is no mean of losses of rows: use one of {names}")
    if not isinstance(replicates, (int, np.integer)) or replicates < 1:
        raise BadParameter(f"replicates={replicates!r}: must be a whole number of at least 1")
    source = read(model, X, y, sample_weight)
    return _estimate(model, source, judge, int(replicates), generator(random_state))


def _estimate(
    model: Estimator, source: Arrays, judge: Score, replicates: int, rng: np.random.Generator
) -> BootstrapError:
    row_loss = cast(RowLoss, judge.row_loss)
    rows = np.arange(source.X.shape[0]) if source.rows is None else source.rows
    n, w = len(rows), np.ones(source.X.shape[0]) if source.w is None else source.w
    draws = [_draw(rng, source, rows) for _ in range(replicates)]
    assert source.y is not None
    truth, table = source.y[rows], source.select(np.arange(n))

    def losses(counts: Array | None) -> Array:
        """Loss of every row under the model of one bootstrap sample; None: of the rows as they are."""
        weights = w if counts is None else w * np.bincount(rows, counts, minlength=len(w))
        part = Arrays(
            source.X, source.y, weights, source.target, source.facts,
            rows=rows if counts is None else rows[counts > 0], missing=source.missing,
        )  # fmt: skip
        return row_loss(truth, outputs(fresh(model)._fit(part), table))

    with single_blas:
        whole = fresh(model)._fit(source)
        output = outputs(whole, table)
        judged = np.array(each(losses, draws))
    left = np.array(draws) == 0
    seen = left.sum(axis=0)
    if (seen == 0).any():
        raise BadInput(
            f"{replicates} bootstrap samples never left out row {int(rows[np.argmin(seen)])}: ask for more replicates"
        )
    share = w[rows] / w[rows].sum()
    out_of_bag = float(share @ ((judged * left).sum(axis=0) / seen))
    training = float(share @ row_loss(truth, output))
    ignorant = no_information(row_loss, truth, output, share)
    return BootstrapError(judge.name, training, out_of_bag, 0.368 * training + 0.632 * out_of_bag,
                          _plus(training, out_of_bag, ignorant), ignorant, replicates)  # fmt: skip


def _draw(rng: np.random.Generator, source: Arrays, rows: Array) -> Array:
    """How often each row is drawn; drawn again where a class would be absent from the bag."""
    for _ in range(100):
        counts = np.bincount(rng.integers(0, len(rows), size=len(rows)), minlength=len(rows)).astype(np.float64)
        if source.target.classes is None or source.y is None:
            return counts
        if np.bincount(source.y[rows], counts, minlength=len(source.target.classes)).min() > 0:
            return counts
    raise BadInput("bootstrap samples keep missing a class: its rows are too few for the bootstrap")


def outputs(model: Estimator, source: Arrays) -> Array:
    """Class scores or values of all rows of a source."""
    return map_rows(model._scores if model.role == "classifier" else model._predict, source)


def no_information(row_loss: RowLoss, truth: Array, output: Array, share: Array) -> float:
    """The loss of outputs paired with targets at random:  Σᵢ Σⱼ sᵢ sⱼ loss(yᵢ, f(xⱼ)).

    In closed form for 0-1 and squared loss and all losses of a class label (by class); on at most 500 rows each way otherwise.
    """
    if row_loss is squared:
        value = output.reshape(truth.shape)
        gap = share @ truth - share @ value
        spread = share @ (truth - share @ truth) ** 2 + share @ (value - share @ value) ** 2
        return float((gap**2 + spread).mean())
    if output.ndim == 2 and truth.ndim == 1:
        prior = np.bincount(truth, share, minlength=output.shape[1])
        by_class = [share @ row_loss(np.full(len(truth), k), output) for k in range(output.shape[1])]
        return float(prior @ by_class)
    rows = np.linspace(0, len(truth) - 1, min(len(truth), 500)).astype(int)
    pairs = [row_loss(np.repeat(truth[i : i + 1], len(rows), axis=0), output[rows]) @ share[rows] for i in rows]
    return float(share[rows] @ np.array(pairs) / share[rows].sum() ** 2)


def _plus(training: float, out_of_bag: float, ignorant: float) -> float:
    """(1 − ŵ) training + ŵ oob',  ŵ = 0.632 / (1 − 0.368 R),  R = (oob' − training)/(γ − training) in [0, 1],  oob' = min(oob, γ)."""
    bounded = min(out_of_bag, ignorant)
    rate = (bounded - training) / (ignorant - training) if bounded > training and ignorant > training else 0.0
    weight = 0.632 / (1 - 0.368 * min(1.0, rate))
    return (1 - weight) * training + weight * bounded
