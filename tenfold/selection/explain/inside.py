"""What a model is made of, as plain values: coefficients of a linear one, the rules of a small tree; of an ensemble those of one member."""

from __future__ import annotations

from typing import Any

import numpy as np

import tenfold
from tenfold.base.sklearn_api import fresh
from tenfold.core.data import Array
from tenfold.core.errors import TenfoldError
from tenfold.selection.model.blend import Blend, Indicators
from tenfold.selection.model.table_model import TableModel

Facts = dict[str, Any]
MOST_TERMS, MOST_LEAVES, MOST_CLASSES = 20, 16, 5
LONGEST = 400  # characters of a learner as it writes itself
READABLE = (Indicators, tenfold.SimpleImputer, tenfold.StandardScaler, tenfold.PolynomialFeatures)  # before coefficients that can be read


def heaviest(model: TableModel) -> tuple[Any, float]:
    """The learner that the model is, or the member of most weight, with its weight."""
    pipeline: Any = model.pipeline
    if not isinstance(pipeline, Blend):
        return pipeline, 1.0
    place = int(np.argmax(pipeline.weights))
    return pipeline.members[place], float(pipeline.weights[place])


def alone(model: TableModel) -> TableModel:
    """The same model with its heaviest member alone."""
    pipeline: Any = model.pipeline
    if not isinstance(pipeline, Blend) or len(pipeline.members) == 1:
        return model
    place = int(np.argmax(pipeline.weights))
    powers = getattr(pipeline, "powers", None)
    one = type(pipeline).of([pipeline.members[place]], [1.0], **({} if powers is None else dict(powers=[powers[place]])))
    found: Any = fresh(model)
    vars(found).update(vars(model) | dict(pipeline=one))
    return found  # type: ignore[no-any-return]


def inside(model: TableModel, positive: str | None = None) -> Facts:
    """What the heaviest member is: how it writes itself, and its coefficients or its rules where a person can read them.

    positive: which of two classes coefficients speak for.
    """
    learner, weight = heaviest(model)
    facts = dict(learner=repr(learner)[:LONGEST], weight=weight)
    try:
        return facts | (_tree(learner) or _linear(model, learner, positive))
    except (TenfoldError, AttributeError, ValueError, NotImplementedError):  # one that has no names for what it takes
        return facts


def _tree(learner: Any) -> Facts:
    """The rules of one tree of few leaves."""
    if not isinstance(learner, (tenfold.DecisionTreeClassifier, tenfold.DecisionTreeRegressor)):
        return {}
    leaves = len(learner.rules())
    return dict(kind="tree", leaves=leaves, text=learner.export_text() if leaves <= MOST_LEAVES else "")


def _linear(model: TableModel, learner: Any, positive: str | None) -> Facts:
    """The largest coefficients, on the scale of the columns as the model takes them."""
    steps = learner.steps if isinstance(learner, tenfold.Pipeline) else [("model", learner)]
    last, before = steps[-1][1], [step for _, step in steps[:-1]]
    coef = vars(last).get("coef_")
    if not isinstance(coef, np.ndarray) or not all(isinstance(step, READABLE) for step in before):
        return {}
    names = _names(model, before)
    table = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    if table.shape[1] != len(names):
        return {}
    labels = [str(one) for one in last.classes_] if model.role == "classifier" else []
    if len(table) == 1 and len(labels) == 2:
        turned = positive == labels[0]
        table, labels = (-table, labels[:1]) if turned else (table, labels[1:])
    size = np.abs(table).max(axis=0)
    order = np.argsort(-size, kind="stable")[:MOST_TERMS]
    terms = [dict(name=names[j], values=table[:MOST_CLASSES, j].tolist()) for j in order if size[j] > 0]
    scaled = bool(before) and isinstance(before[-1], tenfold.StandardScaler)
    return dict(kind="linear", terms=terms, total=len(names), used=int((size > 0).sum()), scaled=scaled, classes=labels[:MOST_CLASSES])


def _names(model: TableModel, before: list[Any]) -> list[str]:
    """What the coefficients belong to."""
    coded = not before or not isinstance(before[0], Indicators)
    names: Array = np.array(model.coder.names_out() if coded else model.coder.feature_names_in_, dtype=object)
    for step in before:
        names = np.asarray(step.get_feature_names_out(names), dtype=object)
    return [str(name) for name in names]
