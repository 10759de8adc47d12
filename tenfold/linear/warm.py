"""Fits that begin where the one before ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenfold.base.estimator import Estimator
from tenfold.base.sklearn_api import same
from tenfold.core.data import Source

if TYPE_CHECKING:  # Python need not know what a mixin stands beside
    _Beside = Estimator
else:
    _Beside = object


class WarmStart(_Beside):
    """Mixin: with `warm_start` a fit begins at the solution of the one before, if that was of the same columns, targets and classes."""

    warm_start: bool

    def _warm(self, source: Source) -> dict[str, Any]:
        mine = vars(self)
        if not self.warm_start or "coef_" not in mine:
            return {}
        alike = all(same(mine.get(name), source.facts.get(name)) for name in ("n_features_in_", "classes_", "_flat"))
        targets = 1 if mine.get("_flat", True) else len(mine["coef_"])
        if not alike or targets != source.n_targets:
            return {}
        return {name: mine[name] for name in ("coef_", "intercept_", "scale_") if name in mine}
