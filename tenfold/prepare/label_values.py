"""Labels of any kind: as a column, the different ones, and where they stand among known ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadType, DataConverted, warn
from tenfold.score.kinds import LABELS, MULTILABEL, as_labels, kind_of


def label_column(y: Any) -> Array:
    """Labels of any kind as they are, (n,)."""
    if ops.is_sparse(y):
        raise BadType("y is sparse: labels are a column of their own. Use y.toarray()")
    if isinstance(y, str) or not hasattr(y, "__len__"):
        raise BadInput("y should be a 1d array, got an array of shape () instead")
    labels = check.as_column(y)
    if labels.dtype.kind in "US" and not isinstance(y, np.ndarray) and any(not isinstance(one, (str, bytes)) for one in y):
        labels = np.asarray(y, dtype=object)  # NumPy makes text of whatever stands beside a text
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ), for example "
            "using ravel().",
            DataConverted,
            stacklevel=3,
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        raise BadInput(f"y should be a 1d array, got an array of shape {labels.shape} instead")
    return labels


def distinct_labels(labels: Array) -> tuple[Array, Array]:
    """The different labels in rising order, and the number of each; missing ones of objects last."""
    try:
        found, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        gone = np.array([one is None or one != one for one in labels.tolist()])
        try:
            found, inner = np.unique(labels[~gone], return_inverse=True)
        except TypeError:
            kinds = sorted({type(one).__name__ for one in labels.tolist()})
            raise BadType(
                f"Encoders require their input argument must be uniformly strings or numbers. Got {kinds}: make all labels one of them"
            ) from None
        codes = np.full(len(labels), len(found))
        codes[~gone] = inner
        found = np.array([*found.tolist(), *labels[gone][:1]], dtype=object)
    return found, codes.reshape(-1).astype(np.int64)


def places_among(known: Array, labels: Array) -> tuple[Array, Array]:
    """Where labels stand among rising ones, and whether they are there."""
    if known.dtype.kind in "OU" or labels.dtype.kind in "OU":
        number = {_key(label): i for i, label in enumerate(known.tolist())}
        place = np.array([number.get(_key(label), -1) for label in labels.tolist()], dtype=np.int64)
        return place, place >= 0
    place = np.minimum(np.searchsorted(known, labels), len(known) - 1)
    same = known[place] == labels
    if known.dtype.kind == "f":
        same |= np.isnan(known[place]) & np.isnan(labels)
    return place, np.asarray(same)


def _key(label: Any) -> Any:
    """A label to be looked up: NaN is one, though it is not equal to itself."""
    return label if label == label else None


def kind_of_labels(y: Any) -> tuple[Array, str]:
    """Labels, or a table of zeros and ones, and which of both in scikit-learn's words."""
    if not ops.is_sparse(y) and not len(y):
        raise BadInput(f"y has 0 samples: {y!r}")
    labels = as_labels(y, "y")
    kind = kind_of(labels)
    if kind == LABELS:
        return labels, "binary" if len(distinct_labels(labels)[0]) < 3 else "multiclass"
    if kind != MULTILABEL:
        what = "Multioutput" if "multioutput" in kind else f"Unknown label type: {kind}"
        raise BadInput(f"{what} target data is not supported with label binarization")
    return labels, kind
