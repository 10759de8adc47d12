"""Metadata routing as scikit-learn knows it: which of weights, groups and the like a learner wants from a composite around it.

    Ridge().set_fit_request(sample_weight=True)

A request is kept in scikit-learn's own object, so that its composites, searches and `clone` read it. Without scikit-learn there is
nobody to ask for it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, Self

from tenfold.base.available import available
from tenfold.core.errors import BadType, NotRouted

# What every one of these methods takes by itself: no metadata.
GIVEN = {"self", "X", "y", "Y", "Xt", "copy"}


def _wants(method: str) -> Callable[[Callable[..., Any]], Any]:
    """The method exists where the method it speaks of takes metadata."""
    return available(lambda learner: bool(metadata_of(type(learner), method)))


class MetadataRequests:
    """Abstract: the requests of a learner, one method for each of its methods that takes metadata."""

    @_wants("fit")
    def set_fit_request(self, **requests: bool | str | None) -> Self:
        """Whether `fit` is given these metadata by a composite: True, False, None (an error if given), or under which name."""
        return self._request("fit", requests)

    @_wants("partial_fit")
    def set_partial_fit_request(self, **requests: bool | str | None) -> Self:
        """As `set_fit_request`, for `partial_fit`."""
        return self._request("partial_fit", requests)

    @_wants("score")
    def set_score_request(self, **requests: bool | str | None) -> Self:
        """As `set_fit_request`, for `score`."""
        return self._request("score", requests)

    @_wants("predict")
    def set_predict_request(self, **requests: bool | str | None) -> Self:
        """As `set_fit_request`, for `predict`."""
        return self._request("predict", requests)

    @_wants("transform")
    def set_transform_request(self, **requests: bool | str | None) -> Self:
        """As `set_fit_request`, for `transform`."""
        return self._request("transform", requests)

    def get_metadata_routing(self) -> Any:
        """The requests of this learner, scikit-learn's object."""
        if "_metadata_request" in vars(self):
            return vars(self)["_metadata_request"]
        from sklearn.utils.metadata_routing import MetadataRequest

        made = MetadataRequest(owner=self)
        for method in ("fit", "partial_fit", "score", "predict", "transform"):
            for name in metadata_of(type(self), method):
                getattr(made, method).add_request(param=name, alias=None)
        return made

    def _request(self, method: str, requests: dict[str, Any]) -> Self:
        theirs = sys.modules.get("sklearn")
        if theirs is None or not theirs.get_config()["enable_metadata_routing"]:
            raise NotRouted(
                "This method is only available when metadata routing is enabled: use "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
        known = metadata_of(type(self), method)
        unknown = set(requests) - set(known)
        if unknown:
            raise BadType(f"Unexpected args: {unknown} in {method}. Accepted arguments are: {set(known)}")
        found = self.get_metadata_routing()
        for name, request in requests.items():
            getattr(found, method).add_request(param=name, alias=request)
        vars(self)["_metadata_request"] = found
        return self


def metadata_of(kind: Any, method: str) -> tuple[str, ...]:
    """The metadata that a method of a class takes: what is neither rows nor target."""
    return _metadata_of(kind, method)


@cache
def _metadata_of(kind: Any, method: str) -> tuple[str, ...]:
    function = getattr(kind, method, None)
    if not callable(function):
        return ()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = inspect.signature(function).parameters.values()
    return tuple(one.name for one in found if one.kind in named and one.name not in GIVEN)
