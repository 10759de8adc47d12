"""The perceptron: plain, averaged, and with a pocket."""

from __future__ import annotations

from numpy.random import RandomState

from tenfold.core.errors import BadParameter
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.linear.online_classifier import OnlineClassifier


@estimator
class Perceptron(OnlineClassifier):
    """Perceptron: a plane that is moved by each row that it has on the wrong side.

    Model       class of x = argmaxₖ wₖ·x + bₖ, each class against the others; of two classes by the sign of w·x + b
    Objective   min over w, b of  Σᵢ sᵢ max(0, −yᵢ (xᵢ·w + b)) / n + alpha R(w), y = ±1, R as in SGDClassifier; zero where all
                rows are right
    Algorithm   for one row after the other: if yᵢ (xᵢ·w + b) ≤ 0 then w ← w + eta0 sᵢ yᵢ xᵢ, b ← b + eta0 sᵢ yᵢ. Of classes that a
                plane separates by a margin γ, with ‖x‖ ≤ R, at most (R / γ)² rows ever move it (x with a 1 for b).
                average: the mean of the planes after each row; pocket: the plane after the epoch with the fewest wrong rows
    Cost        O(n p K) time an epoch, of sparse rows O(values K), the pocket once more; O(p K) memory
    Fails when  no plane separates the classes: the last plane is as good or bad as the last rows (average, pocket help)
    Reference   Rosenblatt 1958; the bound: Novikoff 1962; average: Freund & Schapire 1999; pocket: Gallant 1990

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    >>> tenfold.Perceptron().fit(X, [0, 0, 1, 1]).predict([[-3.0, 1.0], [3.0, 1.0]]).tolist()
    [0, 1]
    """

    _: KW_ONLY
    penalty: str | None = param(default=None, one_of=("l2", "l1", "elasticnet", None), doc="which penalty of the coefficients")
    alpha: float = param(default=0.0001, at_least=0, doc="strength of the penalty")
    eta0: float = param(default=1.0, above=0, doc="size of a step", before="n_jobs")
    random_state: int | RandomState | None = param(default=0, doc="seed of the order of rows and of the rows held out")
    average: bool | int = param(
        default=False, at_least=1, doc="`coef_` are the averages of all steps, or of those from this number on"
    )
    pocket: bool = param(default=False, doc="fit keeps the plane with the fewest wrong rows; partial_fit goes on from it")

    def _loss(self) -> tuple[str, float]:
        return "perceptron", 0.0

    def _rate(self) -> tuple[str, float, float]:
        return "constant", float(self.eta0), 0.5

    def _averages(self) -> int:
        return int(self.average)

    def _pockets(self) -> bool:
        return bool(self.pocket)

    def _check_settings(self, part: bool = False) -> None:
        super()._check_settings(part)
        if self.pocket and self.average:
            raise BadParameter("Perceptron(pocket=True, average=True): a pocket keeps one plane, and averages are of all: choose one")
