"""Metadata routing: which learner inside a learner receives what beside X and y, in scikit-learn's protocol.

With `sklearn.set_config(enable_metadata_routing=True)` each learner says what it wants (`set_fit_request(sample_weight=True)`), and a
learner made of learners hands that on. The requests and the routers are scikit-learn's own objects, as its learners must understand them;
without scikit-learn, or with routing switched off, nothing of this file is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from tenfold.core.errors import NotRouted

Pairs = Iterable[tuple[str, str]]  # what is called of the outer learner, and what that calls of the inner one


def routing_enabled() -> bool:
    """Whether the user has switched metadata routing on."""
    theirs = sys.modules.get("sklearn")
    return theirs is not None and bool(theirs.get_config().get("enable_metadata_routing", False))


def router(owner: Any, inside: Iterable[tuple[str, Any, Pairs]]) -> Any:
    """The router of a learner around others: name, learner and calls of each."""
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

    made = MetadataRouter(owner=owner)
    for name, learner, calls in inside:
        mapping = MethodMapping()
        for caller, callee in calls:
            mapping.add(caller=caller, callee=callee)
        made.add(method_mapping=mapping, **{name: learner})
    return made


def routed(owner: Any, verb: str, given: dict[str, Any]) -> Any:
    """What each learner inside receives of the given: by name and verb."""
    from sklearn.utils.metadata_routing import process_routing

    return process_routing(owner, verb, **given)


def refuse_unrouted(owner: Any, verb: str, given: dict[str, Any]) -> None:
    """What is given beside X where only routing says whom it is for."""
    if given and not routing_enabled():
        raise NotRouted(
            f"Passing extra keyword arguments to {type(owner).__name__}.{verb} is only supported if enable_metadata_routing=True, "
            "which you can set using `sklearn.set_config`: " + ", ".join(sorted(given))
        )
