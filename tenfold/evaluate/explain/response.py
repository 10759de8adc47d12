"""A fitted predictor as a plain function of rows: what importance and dependence look at from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.base.estimator import Estimator, map_rows, softmax
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter

ROWS_AT_ONCE = 65_536  # altered copies of rows are made in batches of about so many


@dataclass(frozen=True)
class Response:
    """`of(X)` has a column for each output: values, the probability of the second of two classes, or of every class."""

    of: Callable[[Array], Array] = field(repr=False)
    X: Array = field(repr=False)  # (n, p) float64
    columns: list[str]
    outputs: list[str]
    categories: list[Array | None]  # of columns whose numbers are codes: what they stand for

    def column(self, which: Any) -> int:
        """The number of a column given by number or name."""
        if isinstance(which, (int, np.integer)) and not isinstance(which, bool):
            if not -len(self.columns) <= which < len(self.columns):
                raise BadInput(f"there is no column {which}: the rows have {len(self.columns)} columns, counted from 0")
            return int(which) % len(self.columns)
        if which not in self.columns:
            raise BadInput(f"there is no column {which!r}: the columns are {', '.join(self.columns[:10])}")
        return self.columns.index(which)


def response_of(model: Any, X: Any, method: str = "auto") -> Response:
    """The response of a fitted learner, of a fitted learner of another library, or of a function of rows; of classifiers by `method`."""
    if method not in ("auto", "predict_proba", "decision_function"):
        raise BadParameter(f"response_method={method!r}: must be 'auto', 'predict_proba' or 'decision_function'")
    scores = method == "decision_function"
    if method != "auto" and getattr(model, "classes_", None) is None:
        raise BadParameter(
            f"response_method={method!r}: The response_method parameter is ignored for regressors and must be 'auto'"
        )
    if getattr(model, "role", None) in ("classifier", "regressor") and model.accepts != "anything":
        table = check.check_predict(model, X)
        if ops.is_sparse(table) or not isinstance(table, np.ndarray):
            raise BadInput(
                "columns are altered one by one, which takes a dense table in memory: use X.toarray() or read it first"
            )
        names = getattr(model, "feature_names_in_", None) if "feature_names_in_" in vars(model) else None
        if scores and not model.has_decisions:
            raise BadParameter(f"response_method='decision_function': a {type(model).__name__} has none, use 'predict_proba'")
        way = _values if model.role == "regressor" else _leads if scores else _class_probabilities
        function: Callable[[Array], Array] = partial(way, model)
        classes = model.classes_ if model.role == "classifier" else None
        categories = getattr(model, "categories_", None)
    else:
        function, classes = _foreign(model, X, method)
        names, table, categories = getattr(X, "columns", None), X, None
    try:
        rows = np.array(table, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise BadInput("X holds values that are not numbers: encode text and categories first") from None
    if rows.ndim != 2 or not rows.size:
        raise BadInput(f"X has shape {rows.shape}: give a table of at least one row and one column")
    columns = [f"x{j}" for j in range(rows.shape[1])] if names is None else [str(name) for name in names]
    width = function(rows[:1]).shape[1]
    outputs = [f"output {k}" for k in range(width)]
    if classes is not None:
        outputs = [f"score of {label}" if scores else f"P({label})" for label in (classes[1:] if len(classes) == 2 else classes)]
    elif width == 1:
        outputs = ["prediction"]
    return Response(function, rows, columns, outputs, list(categories or [None] * len(columns)))


def _values(model: Estimator, rows: Array) -> Array:
    return _as_columns(map_rows(model._predict, rows))


def _class_probabilities(model: Estimator, rows: Array) -> Array:
    return _without_first(softmax(map_rows(model._scores, rows)))


def _leads(model: Any, rows: Array) -> Array:
    """Scores of the classes; of two, how much the second one leads."""
    values = map_rows(model._decisions, rows)
    return values[:, 1:] - values[:, :1] if values.shape[1] == 2 else values


def _foreign(model: Any, X: Any, method: str) -> tuple[Callable[[Array], Array], Any]:
    """The response of what is not of Tenfold; a model of pandas frames gets frames."""

    def given(rows: Array) -> Any:
        return type(X)(rows, columns=X.columns) if hasattr(X, "iloc") else rows

    scored = method == "decision_function" or (method == "auto" and not hasattr(model, "predict_proba"))
    if scored and hasattr(model, "decision_function"):
        return lambda rows: _as_columns(np.asarray(model.decision_function(given(rows)))), getattr(model, "classes_", None)
    if hasattr(model, "predict_proba"):
        return lambda rows: _without_first(np.asarray(model.predict_proba(given(rows)))), model.classes_
    if hasattr(model, "predict"):
        return lambda rows: _as_columns(np.asarray(model.predict(given(rows)))), None
    if callable(model):
        return lambda rows: _as_columns(np.asarray(model(rows), dtype=np.float64)), None
    raise BadInput(
        f"{type(model).__name__} predicts nothing: give a fitted classifier or regressor, or a function of rows"
    )


def _as_columns(values: Array) -> Array:
    return values.reshape(len(values), -1)


def _without_first(probabilities: Array) -> Array:
    """Of two probabilities the second is enough."""
    return probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities


def altered(response: Response, columns: list[int], points: Array, w: Array | None = None) -> Array:
    """The response (points, n, outputs) of all rows with `columns` set to each of the `points` (points, columns).

    With weights w, its weighted sum over the rows instead, (points, outputs).
    """
    n = len(response.X)
    together = min(max(1, ROWS_AT_ONCE // n), len(points))
    copies = np.tile(response.X, (together, 1))  # only the altered columns are written again
    responses = []
    for start in range(0, len(points), together):
        some = points[start : start + together]
        rows = copies[: n * len(some)]
        rows[:, columns] = np.repeat(some, n, axis=0)
        outputs = response.of(rows).reshape(len(some), n, -1)
        responses.append(outputs if w is None else np.tensordot(outputs, w, axes=([1], [0])))
    return np.concatenate(responses)
