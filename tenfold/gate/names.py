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


def by_name(learner: Any, X: Any, names: Array, used: Array) -> tuple[Any, Array]:
    """The columns of fit of a frame, in their order, and their names: other columns are left out; of those that the learner has no use
    for, the absent ones are missing values."""
    fitted = vars(learner).get("feature_names_in_")
    if fitted is None or (len(names) == len(fitted) and (names == fitted).all()):
        return X, names
    there = set(names.tolist())
    gone = {str(name) for name in fitted[used] if name not in there}
    if gone:
        raise BadInput(f"columns are missing: {gone}: {type(learner).__name__} was fitted with them, and uses them")
    import narwhals as nw

    absent = nw.lit(None, dtype=nw.Float64)
    chosen = [nw.col(name) if name in there else absent.alias(name) for name in fitted.tolist()]
    return nw.from_native(X, eager_only=True).select(chosen).to_native(), fitted


def _listed(names: list[str]) -> str:
    shown = [f"- {str(name)[:80]}\n" for name in names[:5]]
    return "".join(shown) + ("- ...\n" if len(names) > 5 else "")
