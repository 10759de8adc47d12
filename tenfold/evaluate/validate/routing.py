"""What is passed on to fits, scores and splits besides X and y: by scikit-learn's metadata routing where that is switched on."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from tenfold.core.errors import BadParameter
from tenfold.evaluate.split.splitting import UNSAID, Splitting, check_cv
from tenfold.evaluate.validate.ordinary import is_classifier
from tenfold.score.scorer import ModelScorer, Scorers


class Routed(NamedTuple):
    """Keywords for `fit`, for the scorer and for `split`."""

    fit: Mapping[str, Any]
    score: Mapping[str, Any]
    split: Mapping[str, Any]


def routing_is_on() -> bool:
    """Whether users have switched on scikit-learn's metadata routing."""
    theirs = sys.modules.get("sklearn")
    return theirs is not None and bool(theirs.get_config().get("enable_metadata_routing"))


def routed(
    function: str, model: Any, scorer: Any, splitting: Splitting, params: Mapping[str, Any] | None, verb: str = "fit"
) -> Routed:
    """Who gets which of `params`: the fit (or another `verb`) gets all of them, unless metadata routing says otherwise."""
    given = dict(params or {})
    if not routing_is_on():
        return Routed(given, {}, {"groups": splitting.groups})
    if splitting.groups is not None:
        raise BadParameter(
            "`groups` can only be passed if metadata routing is not enabled via `sklearn.set_config(enable_metadata_routing=True)`. "
            "When routing is enabled, pass `groups` alongside other metadata via the `params` argument instead."
        )
    routing = sys.modules["sklearn.utils.metadata_routing"]
    cv = check_cv(splitting.folds if splitting.cv is UNSAID else splitting.cv, classifier=is_classifier(model))
    router = routing.MetadataRouter(owner=function)
    mapping = routing.MethodMapping
    router.add(splitter=cv, method_mapping=mapping().add(caller="fit", callee="split"))
    router.add(estimator=model, method_mapping=mapping().add(caller="fit", callee=verb))
    if scorer is not None:
        asked = model if isinstance(scorer, ModelScorer) else requests_of(scorer) if isinstance(scorer, Scorers) else scorer
        router.add(scorer=asked, method_mapping=mapping().add(caller="fit", callee="score"))
    try:
        found = routing.process_routing(router, "fit", **given)
    except Exception as caught:
        failure: Any = caught
        if type(failure).__name__ != "UnsetMetadataPassedError":
            raise
        raise type(failure)(
            message=str(failure).replace(f"{function}.fit", function), unrequested_params=failure.unrequested_params,
            routed_params=failure.routed_params,
        ) from None  # fmt: skip
    return Routed(found.estimator[verb], found.scorer.score if scorer is not None else {}, found.splitter.split)


def requests_of(scorers: Scorers) -> Any:
    """What several scorers ask for."""
    routing = sys.modules["sklearn.utils.metadata_routing"]
    named = {name: one for name, one in scorers.scorers.items() if hasattr(one, "get_metadata_routing")}
    return routing.MetadataRouter(owner="scoring").add(
        **named, method_mapping=routing.MethodMapping().add(caller="score", callee="score")
    )


class RoutedScorers:
    """Several scorers, each given what it asks for."""

    def __init__(self, scorers: Scorers) -> None:
        self.scorers = scorers

    def __call__(self, model: Any, X: Any, *y: Any, **params: Any) -> dict[str, Any]:
        found = sys.modules["sklearn.utils.metadata_routing"].process_routing(requests_of(self.scorers), "score", **params)
        scores: dict[str, Any] = {}
        for name, scorer in self.scorers.scorers.items():
            given = found[name].score if name in found else {}
            scores |= Scorers({name: partial(scorer, **given)} if given else {name: scorer}, self.scorers.raise_exc)(model, X, *y)
        return scores
