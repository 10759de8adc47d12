"""Scores of rankings: equal to scikit-learn and to counting pairs, with ties, weights and several classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics as theirs

from tenfold import evaluate as ours
from tenfold.core.errors import BadInput, BadParameter
from tenfold.score.inputs import truth_and_scores
from tenfold.score.ranks import Distinct, RankRows, RankSketch


def same(mine: Any, other: Any) -> None:
    np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-14)


def ranked(seed: int, n: int, digits: int, weighted: bool) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3 == 0).astype(int)
    return y, np.round(rng.normal(size=n) + y, digits), rng.uniform(0.1, 3, n) if weighted else None


CASES = [
    (0, 300, 1, False),
    (1, 300, 8, True),
    (2, 2000, 3, False),
    (3, 2000, 2, True),
    (4, 2, 1, False),
    (5, 3, 0, True),
]


@pytest.mark.parametrize("case", CASES)
def test_curves_and_areas(case: Any) -> None:
    y, s, w = ranked(*case)
    same(ours.roc_auc_score(y, s, sample_weight=w), theirs.roc_auc_score(y, s, sample_weight=w))
    same(ours.average_precision_score(y, s, sample_weight=w), theirs.average_precision_score(y, s, sample_weight=w))
    for label in (None, 0):
        for name in ("roc_curve", "precision_recall_curve"):
            for drop in (True, False):
                got = getattr(ours, name)(y, s, pos_label=label, sample_weight=w, drop_intermediate=drop)
                expected = getattr(theirs, name)(y, s, pos_label=label, sample_weight=w, drop_intermediate=drop)
                if w is not None and name == "roc_curve" and drop:  # which points are on a line is a matter of rounding
                    got, expected = got[2:], expected[2:]
                    assert set(got[0]) <= set(theirs.roc_curve(y, s, pos_label=label, drop_intermediate=False)[2])
                    continue
                for mine, other in zip(got, expected, strict=True):
                    same(mine, other)
    for most in (0.05, 0.3, 0.9):
        same(
            ours.roc_auc_score(y, s, sample_weight=w, max_fpr=most),
            theirs.roc_auc_score(y, s, sample_weight=w, max_fpr=most),
        )


@pytest.mark.parametrize("weighted", [False, True])
def test_auc_is_the_share_of_pairs_won(weighted: bool) -> None:
    y, s, w = ranked(6, 150, 1, weighted)
    w = np.ones(150) if w is None else w
    won = (s[y == 1][:, None] > s[y == 0]) + 0.5 * (s[y == 1][:, None] == s[y == 0])
    same(ours.roc_auc_score(y, s, sample_weight=w), w[y == 1] @ won @ w[y == 0] / w[y == 1].sum() / w[y == 0].sum())


@pytest.mark.parametrize("scale", ["exp", "tiny", "huge", "whole", "one", "sparse", "float32", "minus zero"])
def test_auc_whatever_the_scale(scale: str) -> None:
    """Scores that fill some buckets of the kernel and leave others empty."""
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 40_000)
    s = rng.normal(size=40_000) + y
    s = {
        "exp": np.exp(100 * s),
        "tiny": s * 1e-310,
        "huge": s * 1e307,
        "whole": np.floor(s),
        "one": np.where(rng.random(40_000) < 0.001, 1e9, s),
        "sparse": np.where(rng.random(40_000) < 0.9, 0.0, s),
        "float32": s.astype(np.float32),
        "minus zero": np.where(rng.random(40_000) < 0.5, -0.0, np.round(s)),
    }[scale]
    w = rng.uniform(0.5, 2, 40_000)
    # Ranks in place of scores, as scikit-learn's thresholds do not tell scores apart that are next to each other.
    rank = np.unique(s, return_inverse=True)[1].astype(float)
    same(ours.roc_auc_score(y, s), theirs.roc_auc_score(y, rank))
    same(ours.roc_auc_score(y, s, sample_weight=w), theirs.roc_auc_score(y, rank, sample_weight=w))


@pytest.mark.parametrize("average", ["macro", "weighted", "micro", None])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_against_the_rest(average: str | None, weighted: bool) -> None:
    y, P, w = classes(8, 400, weighted)
    given = {"average": average, "sample_weight": w}
    same(ours.roc_auc_score(y, P, multi_class="ovr", **given), theirs.roc_auc_score(y, P, multi_class="ovr", **given))
    same(ours.average_precision_score(y, P, **given), theirs.average_precision_score(y, P, **given))


@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_one_against_one(average: str) -> None:
    y, P, _ = classes(9, 300, False)
    given = {"average": average, "multi_class": "ovo"}
    same(ours.roc_auc_score(y, P, **given), theirs.roc_auc_score(y, P, **given))
    copies = np.random.default_rng(0).integers(1, 4, 300)
    rows = np.repeat(np.arange(300), copies)
    same(ours.roc_auc_score(y, P, sample_weight=copies, **given), ours.roc_auc_score(y[rows], P[rows], **given))


def classes(seed: int, n: int, weighted: bool) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    P = np.round(rng.dirichlet(np.ones(4), n), 2)
    P[:, 3] = 1 - P[:, :3].sum(axis=1)
    y = np.array(["a", "b", "c", "d"])[rng.integers(0, 4, n)]
    return y, P, rng.uniform(0.1, 3, n) if weighted else None


@pytest.mark.parametrize("most", [16, 64, 1000])
def test_a_sketch_is_within_its_bound_and_does_not_depend_on_blocks(most: int) -> None:
    y, s, w = ranked(10, 5000, 9, True)
    exact = ours.roc_auc_score(y, s, sample_weight=w), ours.average_precision_score(y, s, sample_weight=w)
    whole = RankSketch.of(truth_and_scores(y, s, w, [0, 1]), most)
    assert 0 < len(whole.columns[0].key) <= most
    from tenfold.score.precision_recall import average_precision_of
    from tenfold.score.roc import auc_of

    for value, (found, bound) in zip(exact, (auc_of(whole), average_precision_of(whole)), strict=True):
        assert abs(found - value) <= bound and bound > 0
    assert auc_of(whole).bound < 5 / most
    rng = np.random.default_rng(0)
    for _ in range(3):
        parts = np.array_split(rng.permutation(5000), rng.integers(2, 30))
        sketches = [RankSketch.of(truth_and_scores(y[rows], s[rows], w[rows]), most) for rows in parts]
        total = sketches[0]
        for sketch in sketches[1:]:
            total = total + sketch
        np.testing.assert_array_equal(total.columns[0].key, whole.columns[0].key)
        np.testing.assert_allclose(total.columns[0].weight, whole.columns[0].weight, rtol=1e-12)


def test_a_sketch_of_few_distinct_scores_is_exact() -> None:
    y, s, _ = ranked(11, 3000, 2, False)
    sketch = RankSketch.of(truth_and_scores(y, s))
    assert sketch.auc(0, 1).bound == 0
    same(sketch.auc(0, 1).value, theirs.roc_auc_score(y, s))
    rows = RankRows.of(truth_and_scores(y, s)).curve(0, 1)
    for mine, other in zip(sketch.curve(0, 1)[:3], rows[:3], strict=True):
        same(mine, other)


def test_distinct_scores_know_what_they_stand_for() -> None:
    s = np.random.default_rng(0).normal(size=500)
    found = Distinct.of(s, np.zeros(500, dtype=int), None, 1, 40)
    place = np.searchsorted(found.lows, s, side="right") - 1
    assert ((found.lows[place] <= s) & (s <= found.highs[place])).all()
    assert len(found.key) <= 40 and found.weight.sum() == 500


@pytest.mark.parametrize("k", [None, 1, 3, 10])
@pytest.mark.parametrize("ignore", [False, True])
def test_discounted_gains(k: int | None, ignore: bool) -> None:
    rng = np.random.default_rng(12)
    gain = rng.integers(0, 4, size=(50, 7)).astype(float)
    gain[3] = 0
    score = rng.normal(size=(50, 7)) if ignore else rng.integers(0, 3, size=(50, 7)).astype(float)
    w = rng.uniform(0.2, 2, 50)
    given = {"k": k, "sample_weight": w, "ignore_ties": ignore}
    same(ours.dcg_score(gain, score, log_base=3, **given), theirs.dcg_score(gain, score, log_base=3, **given))
    same(ours.ndcg_score(gain, score, **given), theirs.ndcg_score(gain, score, **given))


def test_all_scores_equal_give_a_half() -> None:
    assert ours.roc_auc_score([0, 1, 1, 0, 1], [3.0] * 5) == 0.5
    fpr, tpr, _ = ours.roc_curve([0, 1], [2.0, 2.0])
    assert fpr.tolist() == tpr.tolist() == [0, 1]


def test_weight_zero_is_no_row() -> None:
    y, s, _ = ranked(13, 50, 1, False)
    w = np.random.default_rng(0).integers(0, 3, 50)
    rows = np.repeat(np.arange(50), w)
    same(ours.roc_auc_score(y, s, sample_weight=w), ours.roc_auc_score(y[rows], s[rows]))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ours.roc_auc_score([0, 1], [0.1]), BadInput, "y_true has 2 rows, y_score has 1"),
        (lambda: ours.roc_auc_score([0, 1], [0.1, np.nan]), BadInput, "Input y_score contains NaN in row 1"),
        (lambda: ours.roc_auc_score([0, 1], None), BadInput, "y_score has shape"),
        (lambda: ours.roc_auc_score([0, 1], ["a", "b"]), BadInput, "does not hold numbers"),
        (lambda: ours.roc_auc_score([0, 1, 2], [0.1, 0.2, 0.3]), BadInput, "needs to be of shape .*: the truth holds 3 classes"),
        (lambda: ours.roc_auc_score([0, 1, 2], np.eye(3)), BadParameter, "multi_class must be in"),
        (lambda: ours.roc_auc_score([0, 1, 2], np.eye(3), labels=[0, 1], multi_class="ovr"), BadInput, "given labels, 2"),
        (lambda: ours.roc_auc_score([0, 1, 3], np.eye(3), labels=[0, 1, 2], multi_class="ovr"), BadInput, "see row 2"),
        (lambda: ours.roc_auc_score([0, 1], [0.1, 0.2], max_fpr=2), BadParameter, "max_fpr=2"),
        (lambda: ours.roc_curve(["a", "b"], [0.1, 0.2]), BadParameter, "pass pos_label explicitly"),
        (lambda: ours.average_precision_score([2, 3], [0.1, 0.2]), BadParameter, "pos_label=1 is not a valid label"),
        (lambda: ours.ndcg_score([[1, -1]], [[1, 2]]), BadInput, "negative y_true values: see row 0"),
        (lambda: ours.ndcg_score([[1], [2]], [[1], [2]]), BadInput, "more than 1 document"),
        (lambda: ours.dcg_score([1, 2], [1, 2]), BadInput, "a row for each list"),
        (lambda: ours.dcg_score([[1, 2]], [[1, 2]], k=0), BadParameter, "k=0"),
        (lambda: ours.dcg_score([[1, 2]], [[1, 2]], log_base=1), BadParameter, "log_base=1"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)
