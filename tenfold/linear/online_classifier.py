"""Classes by steps of one row at a time: each against the others."""

from __future__ import annotations

from typing import Any, Self

from tenfold.core.errors import BadParameter
from tenfold.core.params import KW_ONLY, group, param
from tenfold.linear.one_against_others import OneAgainstOthers
from tenfold.linear.online import Online


@group
class OnlineClassifier(OneAgainstOthers, Online):
    """Abstract: one against the others of each class, each by steps of its own."""

    _: KW_ONLY
    class_weight: dict[Any, Any] | str | None = param(
        default=None, one_of=("balanced", None), doc="weight of each class; 'balanced': Σ s / (K Σ s of the class)", before="warm_start"
    )
    n_jobs: int | None = param(default=None, doc="no effect: use tenfold.threads(n)", before="random_state")

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """One step for each of these rows. The first call names all `classes`."""
        if self.class_weight == "balanced":
            raise BadParameter(
                "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' weights, use "
                "compute_class_weight('balanced', classes=classes, y=y). In place of y you can use a large enough sample of the full "
                "training set target to properly estimate the class frequency distributions. Pass the resulting weights as the "
                "class_weight parameter."
            )
        return self._partial_fit(X, y, sample_weight, classes)
