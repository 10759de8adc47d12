"""Scorers: a score that asks a fitted model itself, scorer(model, X, y), and is always greater where the model is better.

They take any model with `predict`, Tenfold's, scikit-learn's or the user's own.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import partial
from traceback import format_exc
from typing import Any, Self

import numpy as np

from tenfold.core.errors import BadInput, BadParameter


class Scorer:
    """sign × score_func(y_true, response of the model to X, **kwargs)."""

    def __init__(
        self, score_func: Callable[..., Any], sign: int, kwargs: dict[str, Any], response_method: Any, name: str = ""
    ) -> None:
        self._score_func = score_func
        self._sign = sign
        self._kwargs = kwargs
        self._response_method = response_method
        self._metadata_request: Any = None
        self.name = name  # in the registry of scores; "" for one of a user's function

    def __call__(self, estimator: Any, X: Any, y_true: Any, *, sample_weight: Any = None, **more: Any) -> Any:
        """The score of a fitted model on rows; `more` goes to the function, as `sample_weight` does where it is given."""
        return self.of_response(partial(respond, estimator, X), estimator, y_true, sample_weight, **more)

    def of_response(
        self, ask: Callable[[str], Any], estimator: Any, y_true: Any, sample_weight: Any = None, **more: Any
    ) -> Any:
        """The same from a function that gives the response of a method: several scorers may share it."""
        method = found_method(estimator, self._methods(estimator))
        positive = self._positive(estimator)
        given = {**self._kwargs, **more, **({} if sample_weight is None else {"sample_weight": sample_weight})}
        if positive is not self._default_positive():
            given["pos_label"] = positive
        response = as_one_column(ask(method), method, estimator, positive)
        return self._sign * self._score_func(y_true, response, **given)

    def _methods(self, estimator: Any) -> Any:
        """Columns of more than two classes are compared with one another only as probabilities."""
        many = "multi_class" in self._kwargs and np.shape(getattr(estimator, "classes_", ())) > (2,)
        return "predict_proba" if many else self._response_method

    def _default_positive(self) -> Any:
        if "pos_label" in self._kwargs:
            return self._kwargs["pos_label"]
        named = _parameters(self._score_func).get("pos_label")
        return None if named is None else named.default

    def _positive(self, estimator: Any) -> Any:
        """The positive class: that of the function; the second of two where the model does not know the function's default."""
        default, classes = self._default_positive(), getattr(estimator, "classes_", None)
        asked = "pos_label" in _parameters(self._score_func) and self._kwargs.get("average", "binary") == "binary"
        if "pos_label" in self._kwargs or not asked or not isinstance(classes, np.ndarray) or classes.shape != (2,):
            return default
        return default if default in classes.tolist() else classes[1]

    @property
    def weighted(self) -> bool:
        """Whether the function takes weights."""
        return "sample_weight" in _parameters(self._score_func)

    def _accept_sample_weight(self) -> bool:  # scikit-learn's word for it
        return self.weighted

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Which metadata (weights, ...) a composite of scikit-learn's routing is to hand on: True, False, or their name there."""
        made = _routing("set_score_request").MetadataRequest(owner=self)
        for name, request in requests.items():
            made.score.add_request(param=name, alias=request)
        self._metadata_request = made
        return self

    def get_metadata_routing(self) -> Any:
        """The metadata that the function takes, and what was asked for, as scikit-learn's object."""
        if self._metadata_request is not None:
            return self._metadata_request
        made = _routing("get_metadata_routing", enabled=False).MetadataRequest(owner=self)
        for name in list(_parameters(self._score_func))[2:]:
            if name not in self._kwargs:
                made.score.add_request(param=name, alias=None)
        return made

    def __repr__(self) -> str:
        name = repr(self._score_func) if isinstance(self._score_func, partial) else self._score_func.__name__
        sign = "" if self._sign > 0 else ", greater_is_better=False"
        more = "".join(f", {key}={value}" for key, value in self._kwargs.items())
        return f"make_scorer({name}{sign}, response_method={self._response_method!r}{more})"


class NoRouting(BadParameter, RuntimeError):
    """Metadata are asked for where nobody hands them on."""


def _routing(method: str, enabled: bool = True) -> Any:
    """scikit-learn's routing of metadata, where it is loaded and, if need be, enabled."""
    theirs = sys.modules.get("sklearn.utils.metadata_routing")
    if theirs is None or (enabled and not sys.modules["sklearn"].get_config()["enable_metadata_routing"]):
        raise NoRouting(
            f"{method}: This method is only available when metadata routing is enabled: use "
            "sklearn.set_config(enable_metadata_routing=True)"
        )
    return theirs


class ModelScorer:
    """The model's own `score`."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def __call__(self, estimator: Any, *rows: Any, **more: Any) -> Any:
        return estimator.score(*rows, **more)

    def _accept_sample_weight(self) -> bool:
        return "sample_weight" in _parameters(self._estimator.score)

    def __repr__(self) -> str:
        return f"{type(self._estimator).__name__}.score"


class Scorers:
    """Several scorers by name, called as one: {name: score}. A model is asked for each response once."""

    def __init__(self, scorers: Mapping[str, Callable[..., Any]], raise_exc: bool = True) -> None:
        self.scorers = dict(scorers)
        self.raise_exc = raise_exc

    def __call__(self, estimator: Any, X: Any, *y: Any, sample_weight: Any = None, **more: Any) -> dict[str, Any]:
        kept: dict[str, Any] = {}

        def ask(method: str) -> Any:
            if method not in kept:
                kept[method] = respond(estimator, X, method)
            return kept[method]

        scores: dict[str, Any] = {}
        for name, scorer in self.scorers.items():
            takes = getattr(scorer, "_accept_sample_weight", lambda: False)
            given = {**more, **({"sample_weight": sample_weight} if sample_weight is not None and takes() else {})}
            try:
                if isinstance(scorer, Scorer):
                    scores[name] = scorer.of_response(ask, estimator, *y, **given)
                else:
                    scores[name] = scorer(estimator, X, *y, **given)
            except Exception:
                if self.raise_exc:
                    raise
                scores[name] = format_exc()
        return scores

    def _accept_sample_weight(self) -> bool:
        return any(getattr(one, "_accept_sample_weight", lambda: False)() for one in self.scorers.values())

    def __repr__(self) -> str:
        return f"Scorers({', '.join(self.scorers)})"


def found_method(estimator: Any, response_method: Any) -> str:
    """The first of the methods that the model has."""
    methods = [response_method] if isinstance(response_method, str) else list(response_method)
    for method in methods:
        if hasattr(estimator, method):
            return str(method)
    name = type(estimator).__name__
    raise BadAttribute(f"{name} has none of the following attributes: {', '.join(methods)}, which this score asks for")


class BadAttribute(BadInput, AttributeError):
    """A model without the method that a score asks for."""


def respond(estimator: Any, X: Any, method: str) -> Any:
    """What a method of the model says of the rows."""
    return getattr(estimator, method)(X)


def as_one_column(response: Any, method: str, estimator: Any, pos_label: Any = None) -> Any:
    """Class scores of two classes as one column, of the positive class; of several targets, a column for each."""
    classes = getattr(estimator, "classes_", None)
    if method == "predict" or classes is None:
        return response
    if isinstance(classes, list):  # several targets, each with its own classes
        return np.stack([part[:, -1] for part in response], axis=1) if isinstance(response, list) else response
    if len(classes) != 2 or (np.ndim(response) == 2 and np.shape(response)[1] != 2):
        return response
    if pos_label is not None and pos_label not in np.asarray(classes).tolist():
        raise BadParameter(
            f"pos_label={pos_label} is not a valid label: it should be one of {np.asarray(classes).tolist()}"
        )
    place = 1 if pos_label is None else int(np.flatnonzero(np.asarray(classes) == pos_label)[0])
    if method == "decision_function":
        return np.asarray(response) if place == 1 else -np.asarray(response)
    return np.asarray(response)[:, place]


def _parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
