"""What is passed on to fits, scores and splits besides X and y: by scikit-learn's metadata routing where that is switched on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from tenfold.base import routing
from tenfold.core.errors import BadParameter
from tenfold.evaluate.split.splitting import UNSAID, Splitting, check_cv
from tenfold.evaluate.validate.ordinary import is_classifier
from tenfold.score.scorer import ModelScorer, Scorers


class Routed(NamedTuple):
    """Keywords for `fit`, for the scorer and for `split`."""

    fit: Mapping[str, Any]
    score: Mapping[str, Any]
    split: Mapping[str, Any]


def routed(
    function: str, model: Any, scorer: Any, splitting: Splitting, params: Mapping[str, Any] | None, verb: str = "fit"
) -> Routed:
    """Who gets which of `params`: the fit (or another `verb`) gets all of them, unless metadata routing says otherwise."""
    given = dict(params or {})
    if not routing.routing_enabled():
        return Routed(given, {}, {"groups": splitting.groups})
    if splitting.groups is not None:
        raise BadParameter(
            "`groups` can only be passed if metadata routing is not enabled via `sklearn.set_config(enable_metadata_routing=True)`. "
            "When routing is enabled, pass `groups` alongside other metadata via the `params` argument instead."
        )
    cv = check_cv(splitting.folds if splitting.cv is UNSAID else splitting.cv, classifier=is_classifier(model))
    inside = [("splitter", cv, [("fit", "split")]), ("estimator", model, [("fit", verb)])]
    if scorer is not None:
        inside.append(("scorer", asked_of(model, scorer), [("fit", "score")]))
    try:
        found = routing.routed(routing.router(function, inside), "fit", given)
    except Exception as caught:
        failure: Any = caught
        if type(failure).__name__ != "UnsetMetadataPassedError":
            raise
        raise type(failure)(
            message=str(failure).replace(f"{function}.fit", function), unrequested_params=failure.unrequested_params,
            routed_params=failure.routed_params,
        ) from None  # fmt: skip
    return Routed(found.estimator[verb], found.scorer.score if scorer is not None else {}, found.splitter.split)


def asked_of(model: Any, scorer: Any) -> Any:
    """Who says what a scorer asks for: the model where its own score is meant."""
    if isinstance(scorer, ModelScorer):
        return model
    if not isinstance(scorer, Scorers):
        return scorer
    named = {name: one for name, one in scorer.scorers.items() if hasattr(one, "get_metadata_routing")}
    return routing.router("scoring", [(name, one, [("score", "score")]) for name, one in named.items()])


class RoutedScorers:
    """Several scorers, each given what it asks for."""

    def __init__(self, scorers: Scorers) -> None:
        self.scorers = scorers

    def __call__(self, model: Any, X: Any, *y: Any, **params: Any) -> dict[str, Any]:
        found = routing.routed(asked_of(model, self.scorers), "score", params)
        scores: dict[str, Any] = {}
        for name, scorer in self.scorers.scorers.items():
            given = found[name].score if name in found else {}
            scores |= Scorers({name: partial(scorer, **given)} if given else {name: scorer}, self.scorers.raise_exc)(model, X, *y)
        return scores
