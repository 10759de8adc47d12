"""Regularised risk by stochastic gradient descent: classes and numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from tenfold.core.data import Array
from tenfold.core.learned import learned
from tenfold.core.learning import Learner
from tenfold.core.params import KW_ONLY, estimator, group, param
from tenfold.linear.affine import AffineRegressor
from tenfold.linear.online import Online
from tenfold.linear.online_classifier import OnlineClassifier
from tenfold.solve.online import LOSSES, RATES, Problems

NUMBER_LOSSES = ("squared_error", "absolute_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive")


@group
class Settings(Online):
    """Parameters of both."""

    _: KW_ONLY
    epsilon: float = param(
        default=0.1, at_least=0, doc="where 'huber' becomes linear; errors up to this cost nothing in the insensitive losses",
        before="random_state",
    )  # fmt: skip
    learning_rate: str = param(
        default="optimal", one_of=RATES, before="early_stopping",
        doc="the rate of step t: eta0 ('constant'); 1 / (alpha (alpha^(−3/4) + t − 1)) ('optimal'); eta0 / t^power_t ('invscaling'); eta0, "
        "divided by 5 when nothing is won ('adaptive'); or what the loss of the row asks for ('pa1', 'pa2': passive-aggressive)",
    )  # fmt: skip
    eta0: float = param(default=0.01, above=0, doc="the first rate; of passive-aggressive steps their limit", before="early_stopping")
    power_t: float = param(default=0.5, at_least=0, doc="how fast the rate of 'invscaling' falls", before="early_stopping")
    average: bool | int = param(
        default=False, at_least=1, doc="`coef_` are the averages of all steps, or of those from this number on"
    )

    def _rate(self) -> tuple[str, float, float]:
        return self.learning_rate, float(self.eta0), float(self.power_t)

    def _averages(self) -> int:
        return int(self.average)


@estimator
class SGDClassifier(Settings, OnlineClassifier):
    """SGDClassifier: linear classes by stochastic gradient descent, with any loss and any penalty.

    Model       class of x = argmaxₖ wₖ·x + bₖ, each class against the others; of two classes by the sign of w·x + b
    Objective   min over w, b of  Σᵢ sᵢ loss(yᵢ (xᵢ·w + b)) / n + alpha R(w), y = ±1; loss: hinge (1 − z)₊, squared_hinge (1 − z)₊²,
                log_loss log(1 + e⁻ᶻ), modified_huber ((1 − z)₊², −4z below −1), perceptron (−z)₊, or one of SGDRegressor;
                R: ½ ‖w‖² (l2), ‖w‖₁ (l1), ρ ‖w‖₁ + (1 − ρ) ½ ‖w‖² (elasticnet, ρ = l1_ratio), 0 (None)
    Algorithm   w ← (1 − η alpha) w − η sᵢ loss′ yᵢ xᵢ for one row after the other; the L1 penalty is taken from the columns of a
                row, cumulated and cut at zero; several classes side by side on all threads
    Cost        O(n p K) time an epoch, of sparse rows O(values K); O(p K) memory; as many epochs as tol asks for
    Fails when  columns have very different sizes: scale them first. For one pass over many scaled rows average=10_000,
                learning_rate="invscaling", eta0=0.1 comes within 1 % of the least objective
    Reference   Robbins & Monro 1951; Bottou 2012; averages: Polyak & Juditsky 1992; L1: Tsuruoka, Tsujii & Ananiadou 2009;
                pa1, pa2: Crammer et al. 2006

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-1.0, -1.0], [-2.0, -1.0], [1.0, 1.0], [2.0, 1.0]])
    >>> model = tenfold.SGDClassifier(random_state=0).fit(X, ["no", "no", "yes", "yes"])
    >>> model.predict([[-0.8, -1.0]]).tolist()
    ['no']
    """

    loss: str = param(
        default="hinge", one_of=LOSSES, before="penalty", doc="what a prediction costs; 'log_loss' and 'modified_huber' have probabilities"
    )

    def _loss(self) -> tuple[str, float]:
        return self.loss, float(self.epsilon)


@estimator
class SGDRegressor(AffineRegressor, Settings):
    """SGDRegressor: a plane by stochastic gradient descent, with any loss and any penalty.

    Model       y ≈ X w + b
    Objective   min over w, b of  Σᵢ sᵢ loss(xᵢ·w + b − yᵢ) / n + alpha R(w); loss of r: squared_error ½ r², absolute_error |r|,
                huber (½ r² up to epsilon, then linear), epsilon_insensitive (|r| − epsilon)₊, squared_epsilon_insensitive its
                square; R as in SGDClassifier
    Algorithm   w ← (1 − η alpha) w − η sᵢ loss′ xᵢ for one row after the other
    Cost        O(n p) time an epoch, of sparse rows O(values); O(p) memory; as many epochs as tol asks for
    Fails when  columns or target are large: steps then go further and further (refused in words): scale them first. For one pass
                over many scaled rows average=10_000, eta0=0.01 comes within 1 % of the least objective
    Reference   Robbins & Monro 1951; Bottou 2012; averages: Polyak & Juditsky 1992

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.linspace(-1, 1, 50)[:, None]
    >>> model = tenfold.SGDRegressor(eta0=0.1, tol=1e-8, random_state=0).fit(X, 2 * X[:, 0] + 1)
    >>> model.coef_.round(1), model.intercept_.round(1)
    (array([2.]), array([1.]))
    """

    coef_: Array = learned("float(p)", "coefficients", like_x=True)
    intercept_: Array = learned("float(1)", "constant, 0 with fit_intercept=False", like_x=True)

    loss: str = param(default="squared_error", one_of=NUMBER_LOSSES, before="penalty", doc="what an error costs")
    _: KW_ONLY
    learning_rate: str = param(default="invscaling", one_of=RATES, doc="the rate of a step, as in SGDClassifier")
    power_t: float = param(default=0.25, at_least=0, doc="how fast the rate of 'invscaling' falls")

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """One step for each of these rows."""
        return self._partial_fit(X, y, sample_weight, None)

    def _shaped(self, coef: Array) -> Array:
        return np.asarray(coef[0])

    def _problems(self) -> Learner[Problems]:
        yield from ()  # nothing to look at
        return Problems.of_numbers()

    def _loss(self) -> tuple[str, float]:
        return self.loss, float(self.epsilon)
