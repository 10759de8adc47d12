"""The ordinary route of a pipeline: one step after the other, asked by its public verbs, on rows as they are.

It is taken where a step is not Tenfold's, where arguments are for single steps (`fit(X, y, clf__sample_weight=w)`, metadata routing), and
by pipelines put together of steps that were fitted before. Steps get what the user gave (frames, texts, lists), and what the step before
them returned; nothing is looked at on the way but the number of rows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from tenfold.base.foreign import is_own, takes
from tenfold.base.routing import refuse_unrouted, routed, router, routing_enabled
from tenfold.base.sklearn_api import fresh
from tenfold.compose.steps import Steps, is_through
from tenfold.core.errors import BadInput, BadParameter, not_fitted
from tenfold.gate.containers import frame_names
from tenfold.gate.inputs import Given

Received = dict[str, dict[str, Any]]  # what a step receives beside X and y, by verb
UNROUTED = ("transform", "inverse_transform", "decision_function")  # take nothing beside X where there is no routing


class Ordinary(Steps):
    """Abstract: fits and asks its steps by their verbs."""

    # --- fit ---

    def _fit_steps(self, verb: str, X: Any, y: Any, given: dict[str, Any]) -> Any:
        """Fit the transformers, then call this verb (fit, fit_transform or fit_predict) of the last step: what it returns."""
        self._look_at_steps()
        if self.transform_input is not None and not routing_enabled():
            raise BadParameter(
                "The `transform_input` parameter can only be set if metadata routing is enabled: "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        if isinstance(y, str):
            if verb == "fit" and not given and self._opens_in_parts(X):
                return self._fit_in_parts(X, y)
            from tenfold.prepare.table_rows import split_by_name  # needs polars

            X, y = split_by_name(X, y)
        received, width, names = self._received(verb, given), _width(X), _names(X)
        steps = list(self.steps)
        cache = _memory(self.memory)
        for place, (name, step) in enumerate(steps[:-1]):
            with self._timed(place):
                if is_through(step):
                    continue
                more = self._transformed_input(steps, place, received[name])
                n = _length(X)
                if cache is None:
                    X, fitted = fit_transform_step(step, X, y, more)
                else:
                    X, fitted = cache(fit_transform_step)(fresh(step), X, y, more)
                _check_rows(name, step, n, X)
                steps[place] = (name, fitted)
        self.steps = steps
        name, last = steps[-1]
        made = X
        with self._timed(len(steps) - 1):
            if not is_through(last):
                more = self._transformed_input(steps, len(steps) - 1, received[name])
                if verb == "fit_transform":
                    made = fit_transform_step(last, X, y, more)[0]
                else:
                    made = getattr(last, verb)(X, y, **more.get(verb, {}))
        vars(self).update({"_by_verbs": True, "n_features_in_": width})
        vars(self).pop("feature_names_in_", None)
        if names is not None:
            vars(self)["feature_names_in_"] = names
        return self if verb == "fit" else made

    def _opens_in_parts(self, X: Any) -> bool:
        """Whether X is a file too large to be read whole, and the first step opens it by itself."""
        first = self.steps[0][1]
        if len(self.steps) < 2 or not (is_own(first) and first.opens) or not isinstance(X, (str, os.PathLike)):
            return False
        from tenfold.table.chunks import is_large

        return is_large(Path(X))

    def _fit_in_parts(self, X: Any, y: str) -> Self:
        """Fit the first step to a file, and the others to the blocks that it makes of it."""
        name, first = self.steps[0]
        with self._timed(0):
            first.fit(X, y)
        pipeline: Any = type(self)
        rest = pipeline(self.steps[1:])
        rest.fit(lambda: first.blocks(X, y))
        self.steps = [(name, first), *rest.steps]
        vars(self).update({"_by_verbs": True, "n_features_in_": first.n_features_in_, "feature_names_in_": first.feature_names_in_})
        return self

    def _received(self, verb: str, given: dict[str, Any]) -> Any:
        """What each step receives beside X and y: as routing says, or by `step__name`; plain weights are for all that take some."""
        if routing_enabled():
            return routed(self, verb, given)
        everyone = given.pop("sample_weight", None)
        parts: dict[str, Received] = {name: {} for name, _ in self.steps}
        of_step: dict[str, dict[str, Any]] = {name: {} for name, _ in self.steps}
        for key, value in given.items():
            name, mark, inner = key.partition("__")
            if not mark or name not in of_step:
                raise BadParameter(
                    f"Pipeline.{verb} does not accept the {key} parameter. You can pass parameters to specific steps of your pipeline "
                    f"using the stepname__parameter format, e.g. `Pipeline.{verb}(X, y, {self.steps[-1][0]}__{key}={key})`"
                )
            of_step[name][inner] = value
        for name, step in self.steps:
            more = of_step[name]
            if everyone is not None and not is_through(step) and takes(step.fit, "sample_weight"):
                more = {"sample_weight": everyone, **more}
            parts[name] = {one: more for one in ("fit", "fit_transform", "fit_predict")}
        if everyone is not None and "sample_weight" not in parts[self.steps[-1][0]]["fit"]:
            raise BadParameter(
                f"Pipeline.{verb} does not accept the sample_weight parameter, as the fit of its last step, "
                f"{self.steps[-1][0]!r}, has none"
            )
        return parts

    def _transformed_input(self, steps: list[Any], place: int, received: Received) -> Received:
        """Metadata named in `transform_input` as the steps before leave them."""
        if not self.transform_input or not place:
            return received

        def change(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(change(one) for one in value)
            for _, step in steps[:place]:
                value = value if is_through(step) else step.transform(value)
            return value

        return {
            verb: {name: change(value) if name in self.transform_input else value for name, value in more.items()}
            for verb, more in received.items()
        }

    @contextmanager
    def _timed(self, place: int) -> Iterator[None]:
        """Say how long a step took, where that is wanted."""
        began = time.perf_counter()
        yield
        if self.verbose:
            print_step("[Pipeline]", f"(step {place + 1} of {len(self.steps)}) Processing {self.steps[place][0]}", began)

    # --- fitted ---

    def _ask_steps(self, verb: str, X: Any, given: dict[str, Any], *more: Any) -> Any:
        """What a verb of the last step says of rows that have passed through the steps before it."""
        if verb in UNROUTED:
            refuse_unrouted(self, verb, given)
        if not self.__sklearn_is_fitted__():
            raise not_fitted(type(self).__name__)
        parts = routed(self, verb, given) if routing_enabled() else None
        for name, step in self.steps[:-1]:
            if not is_through(step):
                n = _length(X)
                X = step.transform(X, **({} if parts is None else parts[name].get("transform", {})))
                _check_rows(name, step, n, X)
        name, last = self.steps[-1]
        if is_through(last):
            return X
        n, said = _length(X), getattr(last, verb)(X, *more, **(given if parts is None else parts[name].get(verb, {})))
        if verb.startswith("predict") and n is not None and _length(said) not in (n, None) and not isinstance(said, list):
            raise BadInput(f"Pipeline step {name!r} ({type(last).__name__}): {verb} has returned {_length(said)} of {n} rows")
        return said

    def _back_through_steps(self, X: Any, given: dict[str, Any]) -> Any:
        """`inverse_transform` of all steps, the last one first."""
        refuse_unrouted(self, "inverse_transform", given)
        if not self.__sklearn_is_fitted__():
            raise not_fitted(type(self).__name__)
        parts = routed(self, "inverse_transform", given) if routing_enabled() else None
        for name, step in reversed(self.steps):
            if not is_through(step):
                X = step.inverse_transform(X, **({} if parts is None else parts[name].get("inverse_transform", {})))
        return X

    def get_metadata_routing(self) -> Any:
        """Which step receives what beside X and y (`sklearn.utils.metadata_routing.MetadataRouter`)."""
        asked = ("predict", "predict_proba", "decision_function", "predict_log_proba", "transform", "score")
        inside = []
        for name, step in self.steps[:-1]:
            if not is_through(step):
                whole = ["fit_transform"] if hasattr(step, "fit_transform") else ["fit", "transform"]
                calls = [(caller, callee) for caller in ("fit", "fit_transform", "fit_predict") for callee in whole]
                calls += [(caller, "transform") for caller in asked] + [("inverse_transform", "inverse_transform")]
                inside.append((name, step, calls))
        name, last = self.steps[-1]
        if not is_through(last):
            whole = ["fit_transform"] if hasattr(last, "fit_transform") else ["fit", "transform"]
            own = [(verb, verb) for verb in ("fit", "fit_predict", "inverse_transform", *asked)]
            inside.append((name, last, [("fit_transform", callee) for callee in whole] + own))
        return router(self, inside)


def print_step(front: str, words: str, began: float) -> None:
    """One line: what was done, and how long it took."""
    end = f"{words}, total={time.perf_counter() - began:5.1f}s"
    print(f"{front} {'.' * max(1, 70 - len(front) - len(end) - 2)} {end}")


def fit_transform_step(step: Any, X: Any, y: Any, more: Received) -> tuple[Any, Any]:
    """Fit a transformer and transform the same rows, in one where it can: what it makes of them, and itself."""
    if hasattr(step, "fit_transform"):
        return step.fit_transform(X, y, **more.get("fit_transform", {})), step
    return step.fit(X, y, **more.get("fit", {})).transform(X, **more.get("transform", {})), step


def _memory(memory: Any) -> Any:
    """What remembers the results of a function, or None."""
    if memory is None:
        return None
    if isinstance(memory, str):
        from joblib import Memory

        return Memory(location=memory, verbose=0).cache
    if not callable(getattr(memory, "cache", None)):
        raise BadParameter(f"'memory' should be None, a string or have the same interface as joblib.Memory. Got memory={memory!r} instead.")
    return memory.cache


def _length(X: Any) -> int | None:
    """The number of rows; None for what has none, such as a path: it is for the first step to know what to do with it."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return int(shape[0]) if len(shape) else None
    return len(X) if hasattr(X, "__len__") and not isinstance(X, (str, bytes)) else None


def _width(X: Any) -> int:
    return 1 if _length(X) is None else Given(X).shape[1]


def _names(X: Any) -> Any:
    return None if _length(X) is None else frame_names(X)


def _check_rows(name: str, step: Any, n: int | None, X: Any) -> None:
    found = _length(X)
    if n is not None and found is not None and found != n:
        raise BadInput(
            f"Pipeline step {name!r} ({type(step).__name__}) has made {found} rows of {n}: a transformer must not change their number"
        )
