"""Scores of labels and the report: equal to scikit-learn on random labels with ties, weights, missing classes
and single rows.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as theirs

from tenfold import evaluate as ours
from tenfold.core.errors import BadInput, BadParameter, Degenerate
from tenfold.score.confusion import Confusion

NAMES = np.array(["ant", "bee", "cat", "dog", "eel"])
KINDS = {
    "numbers": lambda code: code,
    "text": lambda code: NAMES[code],
    "objects": lambda code: NAMES[code].astype(object),
    "far apart": lambda code: code * 10**6 - 5,
    "whole floats": lambda code: code.astype(float),
}


def labels(seed: int, n: int, k: int, weighted: bool, kind: str = "numbers") -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    truth, predicted = rng.integers(0, k, n), rng.integers(0, k, n)
    predicted = np.where(rng.random(n) < 0.5, truth, predicted)
    w = rng.uniform(0.1, 3, n) if weighted else None
    return KINDS[kind](truth), KINDS[kind](predicted), w


CASES = [
    (0, 200, 4, False),
    (1, 150, 5, True),
    (2, 7, 5, False),
    (3, 5, 5, True),
    (4, 1, 3, False),
    (5, 60, 2, True),
    (6, 2, 2, False),
]


@pytest.mark.filterwarnings("ignore:(A single label|y_pred contains classes):UserWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_tables_and_rates(case: Any, kind: str) -> None:
    y, p, w = labels(*case, kind)
    for normalize in (None, "true", "pred", "all"):
        np.testing.assert_allclose(
            ours.confusion_matrix(y, p, sample_weight=w, normalize=normalize),
            theirs.confusion_matrix(y, p, sample_weight=w, normalize=normalize),
            rtol=1e-12,
            atol=0,
        )
    for name in ("accuracy_score", "zero_one_loss"):
        for normalize in (True, False):
            got = getattr(ours, name)(y, p, sample_weight=w, normalize=normalize)
            assert got == pytest.approx(
                getattr(theirs, name)(y, p, sample_weight=w, normalize=normalize), rel=1e-12, abs=1e-15
            )
    same(ours.balanced_accuracy_score(y, p, sample_weight=w), theirs.balanced_accuracy_score(y, p, sample_weight=w))


@pytest.mark.parametrize("zero", [0, 1, np.nan])
@pytest.mark.parametrize("average", [None, "micro", "macro", "weighted"])
@pytest.mark.parametrize("case", CASES)
def test_by_class(case: Any, average: str | None, zero: float) -> None:
    y, p, w = labels(*case)
    for chosen in (None, [1, 0], [2, 7, 0]):
        given = {"labels": chosen, "average": average, "sample_weight": w, "zero_division": zero}
        of_beta = {beta: theirs.precision_recall_fscore_support(y, p, beta=beta, **given) for beta in (0, 0.3, 1.0, 2.0, np.inf)}
        for name, other in zip(("precision_score", "recall_score", "f1_score"), of_beta[1.0], strict=False):
            same(getattr(ours, name)(y, p, **given), other)
        for beta, (_, _, other, _) in of_beta.items():
            same(ours.fbeta_score(y, p, beta=beta, **given), other)
        for mine, other in zip(ours.precision_recall_fscore_support(y, p, **given), of_beta[1.0], strict=True):
            assert (mine is None) == (other is None)
            if mine is not None:
                same(mine, other)


def same(mine: Any, other: Any) -> None:
    np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("weighted", [False, True])
def test_binary_and_its_positive_label(weighted: bool) -> None:
    y, p, w = labels(7, 90, 2, weighted, "text")
    for label in ("ant", "bee"):
        for name in ("precision_score", "recall_score", "f1_score"):
            same(
                getattr(ours, name)(y, p, pos_label=label, sample_weight=w),
                getattr(theirs, name)(y, p, pos_label=label, sample_weight=w),
            )
    # The specificity of one class is the recall of the other.
    assert ours.specificity_score(y, p, pos_label="ant", sample_weight=w) == pytest.approx(
        ours.recall_score(y, p, pos_label="bee", sample_weight=w), rel=1e-12
    )


def test_specificity_by_brute_force() -> None:
    y, p, w = labels(8, 120, 4, True)
    expected = [w[(y != c) & (p != c)].sum() / w[y != c].sum() for c in range(4)]
    same(ours.specificity_score(y, p, average=None, sample_weight=w), expected)
    same(
        ours.specificity_score(y, p, average="weighted", sample_weight=w),
        np.average(expected, weights=np.bincount(y, weights=w)),
    )


@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_f_alpha_is_the_weighted_harmonic_mean_and_an_f_beta(alpha: float) -> None:
    y, p, _ = labels(9, 80, 2, False)
    P, R = ours.precision_score(y, p), ours.recall_score(y, p)
    got = ours.f_alpha_score(y, p, alpha=alpha)
    assert got == pytest.approx(1 / (alpha / P + (1 - alpha) / R), rel=1e-12)
    if alpha:
        assert got == pytest.approx(ours.fbeta_score(y, p, beta=((1 - alpha) / alpha) ** 0.5), rel=1e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("chosen", [None, [2, 0]])
def test_report_equals_the_dictionary_of_scikit_learn(case: Any, chosen: Any) -> None:
    y, p, w = labels(*case)
    got = ours.classification_report(y, p, labels=chosen, sample_weight=w, zero_division=0)
    expected = theirs.classification_report(y, p, labels=chosen, sample_weight=w, zero_division=0, output_dict=True)
    assert list(got.as_dict()) == list(dict(got)) == list(expected)
    if w is None:
        assert got == theirs.classification_report(y, p, labels=chosen, zero_division=0)
    for name, row in expected.items():
        same(
            got[name] if name == "accuracy" else list(got[name].values()),
            row if name == "accuracy" else list(row.values()),
        )
    assert got.accuracy == pytest.approx(theirs.accuracy_score(y, p, sample_weight=w), rel=1e-12)


@pytest.mark.parametrize("k", [2, 4])
def test_report_of_probabilities(k: int) -> None:
    rng = np.random.default_rng(k)
    P = rng.dirichlet(np.ones(k), 300)
    y = np.array([rng.choice(k, p=row) for row in P])
    w = rng.uniform(0.5, 2, 300)
    got = ours.classification_report(y, P, sample_weight=w)
    assert got.log_loss == pytest.approx(theirs.log_loss(y, P, sample_weight=w), rel=1e-12)
    assert got.brier == pytest.approx(theirs.brier_score_loss(y, P, sample_weight=w), rel=1e-12)
    same(got.roc_auc, [theirs.roc_auc_score(y == c, P[:, c], sample_weight=w) for c in range(k)])
    same(got.confusion, theirs.confusion_matrix(y, P.argmax(axis=1), sample_weight=w))
    assert got.calibration_error == pytest.approx(ours.calibration_error(y, P, sample_weight=w), rel=1e-12)
    assert "AUC" in str(got) and "log loss" in str(got)


def test_weights_count_rows() -> None:
    y, p, _ = labels(10, 40, 3, False)
    copies = np.random.default_rng(0).integers(0, 4, 40)
    rows = np.repeat(np.arange(40), copies)
    got, expected = Confusion.of(y, p, copies), Confusion.of(y[rows], p[rows])
    same(got.matrix(), expected.matrix())
    assert ours.f1_score(y, p, average="macro", sample_weight=copies) == pytest.approx(
        ours.f1_score(y[rows], p[rows], average="macro"), rel=1e-12
    )


def test_a_class_without_rows_is_told_or_set() -> None:
    with pytest.warns(Degenerate, match="Precision is ill-defined and being set to 0.0 due to no predicted samples"):
        assert ours.precision_score([0, 1, 1], [0, 0, 0]) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ours.precision_score([0, 1, 1], [0, 0, 0], zero_division=1) == 1
        assert np.isnan(ours.balanced_accuracy_score([1, 1], [1, 1], adjusted=True))
    assert ours.precision_recall_fscore_support([0, 1], [0, 0], average="binary", warn_for=())[0] == 0


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ours.accuracy_score([0, 1], [0]), BadInput, r"samples: \[2, 1\]; y_true has 2 rows, y_pred has 1"),
        (lambda: ours.accuracy_score([], []), BadInput, "Found empty input array.* y_true"),
        (lambda: ours.accuracy_score([[0, 2, 1]], [[0, 1, 2]]), BadInput, "multiclass-multioutput is not supported"),
        (lambda: ours.accuracy_score(["a", "b"], [0, 1]), BadInput, "y_true holds text and y_pred numbers"),
        (lambda: ours.accuracy_score([0, 1], [0.2, 0.7]), BadInput, "a mix of binary and continuous targets"),
        (lambda: ours.accuracy_score([0, 1], [[0, 1], [1, 0]]), BadInput, "mix of binary and multilabel-indicator"),
        (lambda: ours.confusion_matrix([[0, 1]], [[0, 1]]), BadInput, "multilabel-indicator is not supported"),
        (lambda: ours.accuracy_score([[1], [0, 1]], [[1], [0]]), BadInput, "sequences of sequences"),
        (lambda: ours.accuracy_score([0, np.nan], [0, 1]), BadInput, "NaN"),
        (lambda: ours.accuracy_score(["a", np.nan], ["a", "nan"]), BadInput, "Input y_true contains NaN in row 1"),
        (lambda: ours.accuracy_score(["a", None], ["a", "b"]), BadInput, "Input y_true contains NaN in row 1"),
        (lambda: ours.accuracy_score(np.array(["a", np.nan], dtype=object), ["a", "b"]), BadInput, "contains NaN in row 1"),
        (lambda: ours.accuracy_score(["a", 1], ["a", "1"]), BadInput, "mixed type, see 1 in row 1"),
        (lambda: ours.accuracy_score(5, 5), BadInput, "give one label for each row"),
        (lambda: ours.accuracy_score([0, 1], [0, 1], sample_weight=[0, 0]), BadInput, "zero in every row"),
        (lambda: ours.accuracy_score([0, 1], [0, 1], sample_weight=[1, -1]), BadInput, "row 1"),
        (lambda: ours.accuracy_score([0, 1], [0, 1], sample_weight=[1]), BadInput, "sample_weight has 1"),
        (lambda: ours.precision_score([0, 1, 2], [0, 1, 2]), BadParameter, "Target is multiclass but average='binary'"),
        (lambda: ours.precision_score([0, 2], [0, 2]), BadParameter, "pos_label=1 is not a valid label"),
        (lambda: ours.precision_score([0, 1], [0, 1], average="mean"), BadParameter, "average='mean'"),
        (lambda: ours.precision_score([0, 1], [0, 0], zero_division=2), BadParameter, "zero_division=2"),
        (lambda: ours.fbeta_score([0, 1], [0, 1], beta=-1), BadParameter, "beta=-1"),
        (lambda: ours.f_alpha_score([0, 1], [0, 1], alpha=2), BadParameter, "alpha=2"),
        (lambda: ours.confusion_matrix([0, 1], [0, 1], labels=[5]), BadInput, "At least one label specified must be in y_true"),
        (lambda: ours.confusion_matrix([0, 1], [0, 1], normalize="rows"), BadParameter, "normalize='rows'"),
        (lambda: ours.classification_report([0, 1], [0, 1], target_names=["a"]), BadParameter, "2, does not match size of target_names, 1"),
        (lambda: ours.classification_report([0, 1], [0, 1], digits=-1), BadParameter, "digits=-1"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore:(A single label|y_pred contains classes|invalid value):Warning")
def test_agreement(case: Any, kind: str) -> None:
    y, p, w = labels(*case, kind)
    same(ours.matthews_corrcoef(y, p, sample_weight=w), theirs.matthews_corrcoef(y, p, sample_weight=w))
    same(ours.hamming_loss(y, p, sample_weight=w), theirs.hamming_loss(y, p, sample_weight=w))
    if len(np.unique(y)) > 1:
        for weights in (None, "linear", "quadratic"):
            expected = theirs.cohen_kappa_score(y, p, weights=weights, sample_weight=w)
            np.testing.assert_allclose(ours.cohen_kappa_score(y, p, weights=weights, sample_weight=w), expected, rtol=1e-9, atol=1e-12)
    for average in (None, "micro", "macro", "weighted"):
        given = dict(average=average, sample_weight=w, zero_division=0)
        same(ours.jaccard_score(y, p, **given), theirs.jaccard_score(y, p, **given))
