"""Coders of targets, against scikit-learn's."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn.preprocessing as theirs
from scipy.sparse import csr_matrix

import tenfold

TARGETS: dict[str, Any] = {
    "text": ["b", "a", "c", "b"],
    "two": ["yes", "no", "yes"],
    "one": ["only", "only"],
    "numbers": np.array([3, 1, 2, 1]),
    "floats": np.array([0.0, 1.0, 0.0]),
    "truth": np.array([True, False, True]),
    "sets": np.array([[1, 0, 1], [0, 0, 1]]),
}


@pytest.mark.parametrize("name", [name for name in TARGETS if name != "sets"])
def test_labels_as_numbers(name: str) -> None:
    ours, other = tenfold.LabelEncoder(), theirs.LabelEncoder()
    codes = ours.fit_transform(TARGETS[name])
    np.testing.assert_array_equal(codes, other.fit_transform(TARGETS[name]))
    np.testing.assert_array_equal(ours.classes_, other.classes_)
    np.testing.assert_array_equal(ours.transform(TARGETS[name]), codes)
    back = pickle.loads(pickle.dumps(ours)).inverse_transform(codes)
    np.testing.assert_array_equal(back, TARGETS[name])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("name", TARGETS)
def test_labels_as_columns(name: str, sparse: bool) -> None:
    for setting in ({}, dict(neg_label=-2, pos_label=3), dict(neg_label=-1, pos_label=0), dict(pos_label=5)):
        if sparse and setting.get("neg_label"):
            with pytest.raises(tenfold.BadParameter, match="Sparse binarization"):
                tenfold.LabelBinarizer(sparse_output=True, **setting).fit(TARGETS[name])
            continue
        ours = tenfold.LabelBinarizer(sparse_output=sparse, **setting)
        other = theirs.LabelBinarizer(sparse_output=sparse, **setting)
        mine, expected = ours.fit_transform(TARGETS[name]), other.fit_transform(TARGETS[name])
        assert hasattr(mine, "toarray") == sparse
        np.testing.assert_array_equal(*(one.toarray() if sparse else one for one in (mine, expected)))
        np.testing.assert_array_equal(ours.inverse_transform(mine), other.inverse_transform(expected))
    assert ours.y_type_ == other.y_type_


def test_label_binarize_keeps_the_order_given() -> None:
    for classes in ([3, 1, 2], [1, 2], [7], ["a"]):
        np.testing.assert_array_equal(
            tenfold.label_binarize([1, 2, 1] if classes != ["a"] else ["a", "a"], classes=classes),
            theirs.label_binarize([1, 2, 1] if classes != ["a"] else ["a", "a"], classes=classes),
        )


@pytest.mark.parametrize("classes", [None, ["red", "fast"], [1, 2]], ids=str)
def test_sets_of_labels(classes: Any) -> None:
    sets = [{1, 2}, {2}, set()] if classes == [1, 2] else [{"red", "fast"}, {"red"}, set()]
    ours, other = tenfold.MultiLabelBinarizer(classes=classes), theirs.MultiLabelBinarizer(classes=classes)
    table = ours.fit_transform(sets)
    np.testing.assert_array_equal(table, other.fit_transform(sets))
    assert ours.inverse_transform(table) == ours.inverse_transform(csr_matrix(table)) == other.inverse_transform(table)
    with pytest.warns(tenfold.DataWarning, match="unknown class"):
        assert not ours.transform([{"strange"}]).any()
    with pytest.raises(tenfold.BadInput, match="Expected indicator for 2 classes"):
        ours.inverse_transform(np.ones((1, 3)))


def test_what_is_refused() -> None:
    with pytest.raises(tenfold.NotFitted):
        tenfold.LabelEncoder().transform(["a"])
    with pytest.raises(tenfold.BadInput, match=r"previously unseen labels: .*z"):
        tenfold.LabelEncoder().fit(["a"]).transform(["a", "z"])
    with pytest.raises(tenfold.TenfoldError, match="uniformly strings or numbers"):
        tenfold.LabelEncoder().fit(["a", 1])
    with pytest.raises(tenfold.BadInput, match="continuous"):
        tenfold.LabelBinarizer().fit([0.5, 1.0])
    with pytest.raises(tenfold.BadInput, match="0 samples"):
        tenfold.LabelBinarizer().fit([])
    with pytest.raises(tenfold.BadInput, match="not fitted with multilabel"):
        tenfold.LabelBinarizer().fit([1, 2, 3]).transform(TARGETS["sets"])
    with pytest.raises(tenfold.BadParameter, match="duplicate"):
        tenfold.MultiLabelBinarizer(classes=[1, 1]).fit([])
