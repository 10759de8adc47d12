"""Targets in another form: labels as whole numbers, as columns 0/1, and sets of labels as columns 0/1.

Learners take labels of any kind as they are; these are for what comes from elsewhere, or goes there.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, Self

import numpy as np

from tenfold.base import check
from tenfold.base.available import available
from tenfold.base.sklearn_api import SklearnApi
from tenfold.core import ops
from tenfold.core.data import Array
from tenfold.core.errors import BadInput, BadParameter, DataWarning, not_fitted, warn
from tenfold.core.learned import learned
from tenfold.core.params import KW_ONLY, estimator, param
from tenfold.prepare.label_values import distinct_labels, kind_of_labels, label_column, places_among
from tenfold.score.kinds import MULTILABEL


class Labels(SklearnApi):
    """Abstract: codes the targets alone, so that its verbs take y and no X."""

    classes_: Array = learned("label(K)", "the labels, in rising order")

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            raise not_fitted(type(self).__name__)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fit(self, y: Any) -> Self:
        """Learn the labels."""
        raise NotImplementedError

    def transform(self, y: Any) -> Any:
        """The labels in their new form."""
        raise NotImplementedError

    def fit_transform(self, y: Any) -> Any:
        """Fit, then transform the same labels."""
        return self.fit(y).transform(y)

    @available(lambda coder: False)  # a target comes in no frame
    def set_output(self, *, transform: str | None = None) -> Self:
        """Not offered."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "classes_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.target_tags.one_d_labels = False, True
        return tags


@estimator
class LabelEncoder(Labels):
    """LabelEncoder: the labels of a target as whole numbers 0, ..., K − 1, in their order.

    Example
    -------
    >>> import tenfold
    >>> coder = tenfold.LabelEncoder().fit(["red", "blue", "red"])
    >>> coder.transform(["blue", "red"]).tolist(), coder.inverse_transform([1, 0]).tolist()
    ([0, 1], ['red', 'blue'])
    """

    def fit(self, y: Any) -> Self:
        """Learn the labels."""
        vars(self)["classes_"] = distinct_labels(label_column(y))[0]
        return self

    def fit_transform(self, y: Any) -> Array:
        """Fit, then transform the same labels."""
        vars(self)["classes_"], codes = distinct_labels(label_column(y))
        return codes

    def transform(self, y: Any) -> Array:
        """The number of each label."""
        known, y = self.classes_, label_column(y)
        if not len(y):
            return np.empty(0, dtype=np.int64)
        distinct, codes = distinct_labels(y)
        place, met = places_among(known, distinct)
        if not met.all():
            raise BadInput(f"y contains previously unseen labels: {check.listed(distinct[~met])}")
        return np.asarray(place[codes])

    def inverse_transform(self, y: Any) -> Array:
        """The labels of numbers."""
        known, y = self.classes_, label_column(y)
        if not len(y):
            return np.empty(0, dtype=known.dtype)
        strange = np.setdiff1d(y, np.arange(len(known)))
        if len(strange):
            raise BadInput(f"y contains previously unseen labels: {check.listed(strange)}")
        return np.asarray(known[y.astype(np.int64)])


@estimator
class LabelBinarizer(Labels):
    """LabelBinarizer: the labels of a target as columns, one for each; two labels are one column.

    Example
    -------
    >>> import tenfold
    >>> coder = tenfold.LabelBinarizer().fit(["a", "b", "c"])
    >>> coder.transform(["c", "a"]).tolist(), coder.inverse_transform([[0.2, 0.7, 0.1]]).tolist()
    ([[0, 0, 1], [1, 0, 0]], ['b'])
    """

    y_type_: str = learned("str", "binary, multiclass or multilabel-indicator: the kind of target that fit has seen")
    sparse_input_: bool = learned("bool", "whether fit has seen a sparse table")

    _: KW_ONLY
    neg_label: int = param(default=0, doc="the number for: not this label")
    pos_label: int = param(default=1, doc="the number for: this label")
    sparse_output: bool = param(default=False, doc="let transform return a CSR matrix")

    def fit(self, y: Any) -> Self:
        """Learn the labels; of a table of zeros and ones, a column for each label, how many there are."""
        check.check_params(self)
        _check_numbers(self.neg_label, self.pos_label, self.sparse_output)
        labels, kind = kind_of_labels(y)
        classes = np.arange(labels.shape[1]) if kind == MULTILABEL else distinct_labels(labels)[0]
        vars(self).update(classes_=classes, y_type_=kind, sparse_input_=ops.is_sparse(y))
        return self

    def transform(self, y: Any) -> Any:
        """(rows, labels): `pos_label` in the column of the label; labels that fit has not met have none."""
        known = self.classes_
        if kind_of_labels(y)[1] == MULTILABEL and self.y_type_ != MULTILABEL:
            raise BadInput("The object was not fitted with multilabel input.")
        return label_binarize(
            y, classes=known, neg_label=self.neg_label, pos_label=self.pos_label, sparse_output=self.sparse_output
        )

    def inverse_transform(self, Y: Any, threshold: float | None = None) -> Any:
        """The label of the largest value of each row; of two labels, and of sets, what is above the threshold (half-way by default)."""
        known, sparse = self.classes_, self.sparse_input_
        threshold = (self.pos_label + self.neg_label) / 2 if threshold is None else threshold
        values = Y.toarray() if ops.is_sparse(Y) else np.asarray(Y)
        if self.y_type_ == "multiclass":
            return known[np.minimum(values.argmax(axis=1), len(known) - 1)]
        if self.y_type_ == MULTILABEL:
            if values.shape[1] != len(known):
                raise BadInput("The number of class is not equal to the number of dimension of y.")
            sets = (values > threshold).astype(np.int64)
            from scipy.sparse import csr_matrix

            return csr_matrix(sets) if sparse else sets
        if values.ndim == 2 and values.shape[1] > 2:
            raise BadInput(f"output_type='binary', but y.shape = {values.shape}")
        second = values[:, 1] if values.ndim == 2 and values.shape[1] == 2 else values.ravel()
        return np.repeat(known, len(second)) if len(known) == 1 else known[(second > threshold).astype(np.int64)]


def label_binarize(y: Any, *, classes: Any, neg_label: int = 0, pos_label: int = 1, sparse_output: bool = False) -> Any:
    """Labels as columns, one for each of `classes` in the order given; of two classes the column of the second."""
    from scipy.sparse import csr_matrix

    _check_numbers(neg_label, pos_label, sparse_output)
    labels, kind = kind_of_labels(y)
    classes = np.asarray(classes)
    whole = labels.dtype if labels.dtype.kind == "i" else np.dtype(np.int64)
    if kind == MULTILABEL:
        if labels.shape[1] != len(classes):
            raise BadInput(f"classes {classes} mismatch with the labels {np.arange(labels.shape[1])} found in the data")
        there = np.asarray(labels != 0)
    else:
        order = np.argsort(classes, kind="stable")
        place, met = places_among(classes[order], labels)
        there = np.zeros((len(labels), len(classes)), dtype=bool)
        there[np.flatnonzero(met), order[place[met]]] = True
        if kind == "binary" and len(classes) < 3:
            there = there[:, -1:] if len(classes) == 2 else np.zeros((len(labels), 1), dtype=bool)
    if sparse_output:
        return csr_matrix(there.astype(np.int64) * pos_label)
    return np.where(there, pos_label, neg_label).astype(whole)


@estimator
class MultiLabelBinarizer(Labels):
    """MultiLabelBinarizer: sets of labels as columns 0/1, one for each label.

    Example
    -------
    >>> import tenfold
    >>> coder = tenfold.MultiLabelBinarizer()
    >>> coder.fit_transform([{"fast", "red"}, {"red"}, set()]).tolist(), coder.classes_.tolist()
    ([[1, 1], [0, 1], [0, 0]], ['fast', 'red'])
    """

    _: KW_ONLY
    classes: Any = param(default=None, doc="the labels in the order of the columns; None: all that fit meets, in rising order")
    sparse_output: bool = param(default=False, doc="let transform return a CSR matrix")

    def fit(self, y: Any) -> Self:
        """Learn the labels of an iterable of sets; with `classes` it is not looked at."""
        check.check_params(self)
        if self.classes is None:
            found = sorted(set(chain.from_iterable(y)))
        elif len(set(self.classes)) < len(self.classes):
            raise BadParameter(
                "The classes argument contains duplicate classes. Remove these duplicates before passing them to MultiLabelBinarizer."
            )
        else:
            found = list(self.classes)
        array = np.empty(len(found), dtype=np.int64 if all(isinstance(one, int) for one in found) else object)
        array[:] = found
        vars(self)["classes_"] = array
        return self

    def fit_transform(self, y: Any) -> Any:
        """Fit, then transform the same sets; they are iterated once."""
        sets = [list(labels) for labels in y]
        return self.fit(sets).transform(sets)

    def transform(self, y: Any) -> Any:
        """(rows, labels): 1 where the set of the row has the label. Labels that fit has not met are left out, with a warning."""
        from scipy.sparse import csr_matrix

        number = {label: j for j, label in enumerate(self.classes_.tolist())}
        strange, columns, starts = set(), list[int](), [0]
        for labels in y:
            own = {number.get(label, -1) for label in labels}
            if -1 in own:
                strange |= {label for label in labels if label not in number}
                own.remove(-1)
            columns += sorted(own)
            starts.append(len(columns))
        if strange:
            warn(f"unknown class(es) {sorted(strange, key=str)} will be ignored", DataWarning, stacklevel=2)
        ones = np.ones(len(columns), dtype=np.int64)
        table = csr_matrix((ones, np.array(columns, dtype=np.int32), starts), shape=(len(starts) - 1, len(number)))
        return table if self.sparse_output else table.toarray()

    def inverse_transform(self, yt: Any) -> list[tuple[Any, ...]]:
        """The set of labels of each row, as tuples."""
        known = self.classes_
        if yt.shape[1] != len(known):
            raise BadInput(f"Expected indicator for {len(known)} classes, but got {yt.shape[1]}")
        strange = np.setdiff1d(yt.tocsr().data if ops.is_sparse(yt) else yt, [0, 1])
        if len(strange):
            raise BadInput(f"Expected only 0s and 1s in label indicator. Also got {strange}")
        return [tuple(known[np.flatnonzero(row)]) for row in (yt.toarray() if ops.is_sparse(yt) else np.asarray(yt))]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.one_d_labels, tags.target_tags.two_d_labels = False, True
        return tags


def _check_numbers(negative: Any, positive: Any, sparse: bool) -> None:
    if negative >= positive:
        raise BadParameter(f"neg_label={negative} must be strictly less than pos_label={positive}.")
    if sparse and (positive == 0 or negative != 0):
        raise BadParameter(
            "Sparse binarization is only supported with non zero pos_label and zero neg_label, got "
            f"pos_label={positive} and neg_label={negative}"
        )
