"""Scores of sets of labels, given as tables of zeros and ones; scikit-learn is the oracle."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import metrics as theirs
from sklearn.exceptions import UndefinedMetricWarning

from tenfold import evaluate as ours
from tenfold.core.errors import BadInput, BadParameter, UndefinedScore

RNG = np.random.default_rng(5)
TRUTH = (RNG.random((40, 5)) < 0.4).astype(int)
GUESS = np.where(RNG.random((40, 5)) < 0.3, 1 - TRUTH, TRUTH)
SCORES = TRUTH + RNG.normal(size=(40, 5))
WEIGHTS = RNG.integers(1, 4, size=40).astype(float)
AVERAGES = [None, "micro", "macro", "weighted", "samples"]


def same(mine: Any, other: Any) -> None:
    np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, lambda Y: Y.astype(bool), sp.csr_array, sp.coo_matrix])
@pytest.mark.parametrize("w", [None, WEIGHTS])
def test_labels(form: Any, w: Any) -> None:
    y, p = form(TRUTH), form(GUESS)
    for name in ("accuracy_score", "zero_one_loss"):
        for normalize in (True, False):
            got = getattr(ours, name)(y, p, normalize=normalize, sample_weight=w)
            same(got, getattr(theirs, name)(TRUTH, GUESS, normalize=normalize, sample_weight=w))
    same(ours.hamming_loss(y, p, sample_weight=w), theirs.hamming_loss(TRUTH, GUESS, sample_weight=w))
    for average in AVERAGES:
        for labels in (None, [3, 0, 1]):
            given = dict(average=average, labels=labels, sample_weight=w, zero_division=1)
            for name in ("precision_score", "recall_score", "f1_score", "jaccard_score"):
                if name == "jaccard_score":
                    given["zero_division"] = 0
                same(getattr(ours, name)(y, p, **given), getattr(theirs, name)(TRUTH, GUESS, **given))
            given["zero_division"] = 1
            same(ours.fbeta_score(y, p, beta=2, **given), theirs.fbeta_score(TRUTH, GUESS, beta=2, **given))


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("w", [None, WEIGHTS])
def test_rankings(average: str | None, w: Any) -> None:
    full = TRUTH.copy()
    full[np.arange(40), 1 + np.arange(40) % 4] = 1 - (full.sum(axis=1) > 2)  # each row has labels that are and are not
    full[:, 0] = np.where(full[:, 1:].all(axis=1), 0, np.where(full[:, 1:].any(axis=1), full[:, 0], 1))
    for name in ("roc_auc_score", "average_precision_score"):
        got = getattr(ours, name)(full, SCORES, average=average, sample_weight=w)
        same(got, getattr(theirs, name)(full, SCORES, average=average, sample_weight=w))
    same(
        ours.roc_auc_score(full, SCORES, average=average, max_fpr=0.4, sample_weight=w),
        theirs.roc_auc_score(full, SCORES, average=average, max_fpr=0.4, sample_weight=w),
    )


@pytest.mark.filterwarnings("ignore:The y_prob values do not sum to one:UserWarning")
def test_probabilities() -> None:
    P = RNG.random((40, 5))
    for name in ("log_loss", "brier_score_loss"):
        same(getattr(ours, name)(TRUTH, P), getattr(theirs, name)(TRUTH, P))
    one = np.eye(5, dtype=int)[RNG.integers(0, 5, size=40)]
    P /= P.sum(axis=1, keepdims=True)
    same(ours.log_loss(one, P), ours.log_loss(one.argmax(axis=1), P))
    same(ours.brier_score_loss(one, P), ours.brier_score_loss(one.argmax(axis=1), P))


def test_report() -> None:
    got = ours.classification_report(TRUTH, GUESS, zero_division=0)
    assert isinstance(got, str) and got == theirs.classification_report(TRUTH, GUESS, zero_division=0)
    assert got["samples avg"] == got.as_dict()["samples avg"] and got[:3] == "   "
    assert ours.classification_report(TRUTH, GUESS, output_dict=True, zero_division=0) == got.as_dict()
    back = pickle.loads(pickle.dumps(got))
    assert back == got and back.averages == got.averages and back.confusion is None


def test_blocks_of_rows_are_all_rows() -> None:
    blocks = [(TRUTH[:10], GUESS[:10]), (TRUTH[10:], GUESS[10:])]
    for name, more in (("accuracy_score", {}), ("f1_score", dict(average="samples", zero_division=0)), ("zero_one_loss", {})):
        assert ours.over(blocks, name, **more).value == getattr(ours, name)(TRUTH, GUESS, **more)
    with pytest.raises(BadInput, match="4 and 5 labels"):
        ours.over([(TRUTH, GUESS), (TRUTH[:, :4], GUESS[:, :4])], "accuracy_score")


def test_what_is_not_defined_is_told() -> None:
    with pytest.warns(UndefinedScore, match="Precision is ill-defined and being set to 0.0 in samples with no predicted labels"):
        assert ours.precision_score([[1, 0], [1, 0]], [[1, 0], [0, 0]], average="samples") == 0.5
    with pytest.warns(UndefinedMetricWarning, match="Only one class is present in y_true"):
        assert np.isnan(ours.roc_auc_score([1, 1], [0.1, 0.2]))
    with pytest.warns(UndefinedMetricWarning, match="Only one class is present in y_true"):
        assert np.isnan(ours.roc_auc_score([0, 1, 0], [0.1, 0.2, 0.3], sample_weight=[1, 0, 1]))
    with pytest.warns(UndefinedMetricWarning, match="Only one class is present in y_true"):
        assert np.isnan(ours.roc_auc_score([0, 1, 1], np.eye(3), labels=[0, 1, 2], multi_class="ovr"))
    with pytest.warns(UndefinedMetricWarning, match="No positive samples in y_true"):
        fpr, tpr, _ = ours.roc_curve([0, 0], [0.1, 0.2])
    same(fpr, [0, 0.5, 1])
    assert np.isnan(tpr).all()
    with pytest.warns(UndefinedMetricWarning, match="No positive class found in y_true"):
        same(ours.precision_recall_curve([0, 0], [0.1, 0.2])[1], [1, 1, 0])
    with pytest.warns(UndefinedMetricWarning, match="No positive class found in y_true"):
        assert ours.average_precision_score([0, 0], [0.1, 0.2]) == 0
    with pytest.warns(UserWarning, match="those of row 0 sum to 1.1"):
        ours.log_loss([0, 1], [[0.5, 0.6], [0.5, 0.5]])
    with pytest.warns(UserWarning, match=r"Pass the ordered labels=\[0, 1\]"):
        assert ours.log_loss([0, 1], [0.2, 0.3], labels=[1, 0]) == ours.log_loss([0, 1], [0.2, 0.3])
    with pytest.warns(UserWarning, match="A single label was found"):
        ours.confusion_matrix([1, 1], [1, 1])
    with pytest.warns(UserWarning, match="y_pred contains classes not in y_true"):
        ours.balanced_accuracy_score([1, 1], [1, 0])
    with pytest.warns(UserWarning, match=r"pos_label \(set to 2\) is ignored"):
        ours.f1_score([1, 2], [1, 2], pos_label=2, average="macro")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ours.f1_score(TRUTH, GUESS), BadParameter, "Target is multilabel-indicator but average='binary'"),
        (lambda: ours.f1_score([0, 1], [0, 1], average="samples"), BadParameter, "Samplewise metrics are not available"),
        (lambda: ours.f1_score(TRUTH, GUESS, labels=[5], average=None), BadParameter, r"All labels must be in \[0, n labels\)"),
        (lambda: ours.f1_score(TRUTH, GUESS[:, :4], average=None), BadInput, "5 labels for each row and y_pred 4"),
        (lambda: ours.roc_auc_score(TRUTH, SCORES[:, :4]), BadInput, "5 labels for each row and y_score 4"),
        (lambda: ours.roc_curve(TRUTH, SCORES), BadInput, "multilabel-indicator format is not supported"),
        (lambda: ours.roc_auc_score(TRUTH * 2 + GUESS, SCORES), BadInput, "multiclass-multioutput format is not supported"),
        (lambda: ours.average_precision_score(TRUTH, SCORES, pos_label=0), BadParameter, "pos_label is fixed to 1"),
        (lambda: ours.accuracy_score(sp.csr_array([[1], [2]]), [1, 2]), TypeError, "only supported when targets are of multilabel"),
        (lambda: ours.accuracy_score([b"a"], [b"a"]), TypeError, "represented as bytes is not supported"),
        (lambda: ours.roc_auc_score([0, 1, 2], np.eye(3), multi_class="ovo", average=None), NotImplementedError, "average=None"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
