"""Containers of transformed rows, and the names of their columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base.check import check_fitted
from tenfold.core.data import Array
from tenfold.core.errors import BadInput


def names_out(learner: Any, input_features: Any) -> Array:
    """The names of the columns that `transform` returns."""
    check_fitted(learner)
    fitted = getattr(learner, "feature_names_in_", None)
    if input_features is not None:
        given = np.asarray(input_features, dtype=object)
        if len(given) != learner.n_features_in_:
            raise BadInput(
                f"input_features should have length equal to number of features ({learner.n_features_in_}), "
                f"got {len(given)}"
            )
        if fitted is not None and not np.array_equal(given, fitted):
            raise BadInput("input_features is not equal to feature_names_in_")
        fitted = given
    if fitted is None:
        fitted = np.array([f"x{j}" for j in range(learner.n_features_in_)], dtype=object)
    new = learner._names_out()
    return np.asarray(fitted if new is None else new, dtype=object)


def framed(rows: Any, container: str, names: list[str], index: Any) -> Any:
    """Rows as a frame of polars or pandas."""
    values = rows.toarray() if hasattr(rows, "toarray") else rows
    if container == "polars":
        import polars

        if values.dtype == object:  # categories beside numbers: each column has its own type
            return polars.DataFrame({name: values[:, j].tolist() for j, name in enumerate(names)})
        return polars.DataFrame(values, schema=names, orient="row")
    import pandas

    return pandas.DataFrame(values, columns=names, index=index).infer_objects()
