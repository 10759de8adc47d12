"""Column names, as they were in fit."""

from __future__ import annotations

from typing import Any

from tenfold.core.data import Array
from tenfold.core.errors import BadInput, DataWarning, warn


def check_names(learner: Any, names: Array | None) -> None:
    """Column names as in fit, in the same order; scikit-learn's words, as users look for them."""
    fitted, name = vars(learner).get("feature_names_in_"), type(learner).__name__
    if fitted is None and names is None:
        return
    if fitted is None:
        return warn(
            f"X has feature names, but {name} was fitted without feature names", DataWarning, stacklevel=4
        )
    if names is None:
        return warn(
            f"X does not have valid feature names, but {name} was fitted with feature names",
            DataWarning,
            stacklevel=4,
        )
    if len(names) == len(fitted) and (names == fitted).all():
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen, gone = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
    if unseen:
        message += "Feature names unseen at fit time:\n" + _listed(unseen)
    if gone:
        message += "Feature names seen at fit time, yet now missing:\n" + _listed(gone)
    if not unseen and not gone:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise BadInput(message)


def _listed(names: list[str]) -> str:
    shown = [f"- {str(name)[:80]}\n" for name in names[:5]]
    return "".join(shown) + ("- ...\n" if len(names) > 5 else "")
