"""A regressor around another one that changes its target: by a function, which is undone in what it predicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, Regressor
from tenfold.base.foreign import as_ours, float_of, learner_of, objection_to, own_of
from tenfold.base.routing import routed, routing_enabled
from tenfold.base.sklearn_api import fresh
from tenfold.compose.fitting import Viewed, fit_inside, viewed, with_target
from tenfold.compose.routes import Routes, member_for, received
from tenfold.compose.single import OfOne
from tenfold.core.data import Array, Block, Source, Target
from tenfold.core.errors import BadParameter, DataWarning, warn
from tenfold.core.learned import learned
from tenfold.core.learning import Learner, through
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.core.stats import Counts
from tenfold.gate.inputs import AsGiven
from tenfold.prepare.function import FunctionTransformer

SAMPLE = 10  # rows of a block whose targets are sent through the transformation and back


@estimator
class TransformedTargetRegressor(Routes, Regressor, OfOne):
    """TransformedTargetRegressor: a regressor of a function of the target.

    Model       ŷ(x) = g⁻¹(f(x)),  f fitted to g(y)
    Objective   that of the regressor, for g(y)
    Algorithm   the transformer is fitted to the targets as rows, then the regressor to what it makes of them, block by
                block: no second table is made
    Cost        those of both; two readings of the rows before those of the regressor
    Fails when  g is not monotone, or its inverse is another function (warns: check_inverse); means of g(y) are not g of
                means, so that predictions of a skewed target lie below its mean
    Reference   Box & Cox 1964

    Example
    -------
    >>> import numpy as np, tenfold
    >>> X = np.arange(1.0, 9.0)[:, None]
    >>> model = tenfold.TransformedTargetRegressor(tenfold.LinearRegression(), func=np.log, inverse_func=np.exp)
    >>> model.fit(X, np.exp(X[:, 0] / 2)).predict([[4.0]]).round(3).tolist()
    [7.389]
    """

    held: ClassVar[str] = "regressor"
    hands_all: ClassVar[bool] = True

    regressor_: Any = learned("learner", "the fitted regressor")
    transformer_: Any = learned("part", "the fitted transformer of targets")

    regressor: Any = param(default=None, doc="the regressor; None: LinearRegression()")
    _: KW_ONLY
    transformer: Any = param(default=None, doc="the transformer of the targets, with an inverse; instead of func")
    func: Any = param(default=None, doc="g(Y) of targets (n, q), row by row; None: targets as they are")
    inverse_func: Any = param(default=None, doc="the inverse of func")
    check_inverse: bool = param(default=True, doc="warn where targets do not come back from func and inverse_func")

    @classmethod
    def _examples(cls) -> list[dict[str, Any]]:
        from tenfold.linear.ridge import Ridge
        from tenfold.prepare.scale import StandardScaler

        return [{"transformer": StandardScaler()}, {"regressor": Ridge()}]

    def _default(self) -> Any:
        from tenfold.linear.least_squares import LinearRegression

        return LinearRegression()

    @property
    def multi_output(self) -> bool:
        return bool(self._member.multi_output)

    @property
    def kind(self) -> str:
        return "keeps rows" if self._member.kind == "keeps rows" else "many passes"

    def _transformer(self) -> Any:
        """A fresh transformer of targets."""
        functions = self.func, self.inverse_func
        if self.transformer is None:
            if (self.func is None) != (self.inverse_func is None):
                raise BadParameter("TransformedTargetRegressor(func, inverse_func): give both, or neither")
            for name, one in zip(("func", "inverse_func"), functions, strict=True):
                if one is not None and not callable(one):
                    raise BadParameter(f"TransformedTargetRegressor({name}={check.short(one)}): must be a function or None")
            return FunctionTransformer(*functions, validate=True)
        if any(one is not None for one in functions):
            raise BadParameter(
                "'transformer' and functions 'func'/'inverse_func' cannot both be set. Give one of them, not both"
            )
        given = self.transformer if objection_to(self.transformer, "transform") is None else None
        if given is None or not learner_of(given).invertible or (isinstance(given, Estimator) and given.target != "none"):
            raise BadParameter(
                f"TransformedTargetRegressor(transformer={type(self.transformer).__name__}): must be a transformer with an inverse, "
                "such as StandardScaler"
            )
        return fresh(learner_of(given))

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        transformer, q = self._transformer(), source.n_targets
        as_rows = Viewed(source, _targets_as_rows, Target("none"), {"n_features_in_": q})
        yield from through(_targets_as_rows, fit_inside(transformer, as_rows, "transformer"))
        if self.check_inverse:
            lost = yield partial(_not_back, transformer)
            if lost.weight[0] > 0:
                warn(
                    "The provided functions or transformer are not strictly inverse of each other: targets do not come back from "
                    "func and inverse_func; correct one of them, or set check_inverse=False",
                    DataWarning,
                    stacklevel=2,
                )
        change = partial(_transformed_target, transformer._transform)
        named = own_of(transformer)
        width = len(named.get_feature_names_out()) if hasattr(named, "get_feature_names_out") else q
        target = replace(source.target, width=width, flat=source.target.flat and width == 1)
        rows = received(source, "regressor")
        seen = viewed(rows, change, target, {**source.facts, "_flat": target.flat})
        inside = fit_inside(member_for(self._member, source), seen)
        regressor = yield from (inside if isinstance(source, AsGiven) else through(change, inside))
        return {"regressor_": own_of(regressor), "transformer_": own_of(transformer)}

    def _calls(self) -> list[tuple[str, Any, Any]]:
        own = own_of(self._member)
        if self.regressor is None:  # nobody could ask for it
            own = own.set_fit_request(sample_weight=True)
        return [("regressor", own, [("fit", "fit"), ("predict", "predict")])]

    def predict(self, X: Any, **params: Any) -> Array:
        """What the regressor predicts, with the transformation undone; it receives `params`."""
        if not params:
            return super().predict(X)
        check.check_fitted(self)
        told = routed(self, "predict", params)["regressor"]["predict"] if routing_enabled() else params
        return self._back(self.regressor_.predict(X, **told), X)

    def _predict(self, X: Any) -> Array:
        return self._back(self._as_ours([self.regressor_], {})[0]._predict(X), X)

    def _back(self, said: Any, X: Any) -> Array:
        values = as_ours([self.transformer_], False)[0]._inverse(np.asarray(said, dtype=np.float64).reshape(len(said), -1))
        return np.asarray(values[:, 0] if self._flat else values, dtype=float_of(X))

    def _objection(self) -> str | None:
        regressor, transformer = self.regressor_, self.transformer_
        if regressor.role != "regressor" or not transformer.invertible:
            return "the learners inside are not a regressor and a transformer with an inverse"
        return None


def _targets_as_rows(block: Block) -> Block:
    return Block(block.y, None, block.w, block.key)


def _transformed_target(transform: Callable[[Array], Array], block: Block) -> Block:
    return with_target(block, np.ascontiguousarray(transform(block.y), dtype=np.float64))


def _not_back(transformer: Any, block: Block) -> Counts:
    """How many of some targets are not what they were after the transformation and its inverse."""
    y = block.y[:: max(1, len(block) // SAMPLE)]
    back = transformer._inverse(transformer._transform(y))
    return Counts(np.array([float((~np.isclose(back, y, rtol=1e-5, atol=1e-8)).sum())]))
