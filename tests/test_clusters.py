"""Scores of groupings: equal to scikit-learn; weights count copies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics as theirs
from sklearn.metrics.cluster import contingency_matrix

from tenfold import evaluate as ours
from tenfold.core.errors import BadInput, BadParameter

NAMES = [
    "adjusted_rand_score", "mutual_info_score", "normalized_mutual_info_score", "rand_score", "homogeneity_score",
    "completeness_score", "v_measure_score", "fowlkes_mallows_score", "adjusted_mutual_info_score", "homogeneity_completeness_v_measure",
]  # fmt: skip


def same(mine: Any, other: Any) -> None:
    np.testing.assert_allclose(mine, other, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "case", [(200, 3, 4), (50, 1, 4), (50, 5, 1), (20, 1, 1), (1, 1, 1), (12, 12, 12), (500, 40, 3)]
)
def test_equal_to_scikit_learn(case: tuple[int, int, int], name: str) -> None:
    n, j, k = case
    rng = np.random.default_rng(n)
    a, b = rng.integers(0, j, n), np.array(list("abcdefghijkl"))[rng.integers(0, k, n)]
    same(getattr(ours, name)(a, b), getattr(theirs, name)(a, b))
    same(getattr(ours, name)(a, a), getattr(theirs, name)(a, a))
    if name in ("normalized_mutual_info_score", "adjusted_mutual_info_score"):
        for method in ("min", "max", "geometric", "arithmetic"):
            same(getattr(ours, name)(a, b, average_method=method), getattr(theirs, name)(a, b, average_method=method))


@pytest.mark.parametrize("name", NAMES)
def test_weights_count_copies(name: str) -> None:
    rng = np.random.default_rng(0)
    a, b, copies = (rng.integers(0, 4, 60) for _ in range(3))
    rows = np.repeat(np.arange(60), copies)
    same(getattr(ours, name)(a, b, sample_weight=copies), getattr(ours, name)(a[rows], b[rows]))


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "cosine"])
def test_silhouettes(metric: str) -> None:
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(150, 3)), 1) + 0.05
    labels = np.append(9, rng.integers(0, 4, 149))  # the first row is alone
    same(ours.silhouette_samples(X, labels, metric=metric), theirs.silhouette_samples(X, labels, metric=metric))
    same(ours.silhouette_score(X, labels, metric=metric), theirs.silhouette_score(X, labels, metric=metric))


def test_silhouettes_of_given_distances_of_copies_and_of_a_sample() -> None:
    rng = np.random.default_rng(2)
    X, labels, copies = rng.normal(size=(60, 2)), rng.integers(0, 3, 60), rng.integers(1, 4, 60)
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    same(ours.silhouette_score(D, labels, metric="precomputed"), ours.silhouette_score(X, labels))
    rows = np.repeat(np.arange(60), copies)
    repeated = theirs.silhouette_score(D[np.ix_(rows, rows)], labels[rows], metric="precomputed")
    same(ours.silhouette_score(X, labels, sample_weight=copies), repeated)
    sampled = ours.silhouette_score(X, labels, sample_size=40, random_state=0)
    assert sampled == ours.silhouette_score(X, labels, sample_size=40, random_state=0)
    same(ours.silhouette_score(D, labels, metric="precomputed", sample_size=40, random_state=0), sampled)


def test_silhouettes_in_parts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X, labels = rng.normal(size=(100, 2)), rng.integers(0, 3, 100)
    whole = ours.silhouette_samples(X, labels)
    monkeypatch.setattr("tenfold.score.silhouette.DISTANCES_AT_ONCE", 700)
    np.testing.assert_allclose(ours.silhouette_samples(X, labels), whole, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ours.adjusted_rand_score([0, 1], [0]), BadInput, "labels_true has 2 rows, labels_pred has 1"),
        (
            lambda: ours.normalized_mutual_info_score([0, 1], [0, 1], average_method="sum"),
            BadParameter,
            "average_method='sum'",
        ),
        (lambda: ours.silhouette_score([[0.0], [1.0]], [0, 0]), BadInput, "Number of labels is 1. .* 2 rows"),
        (lambda: ours.silhouette_score([[0.0], [1.0]], [0, 1]), BadInput, "Number of labels is 2. .* 2 rows"),
        (lambda: ours.silhouette_score([[0.0], [1.0]], [0]), BadInput, "X has 2 rows, labels has 1"),
        (lambda: ours.silhouette_score([[0.0], [np.nan], [1.0]], [0, 1, 1]), BadInput, "Input X contains NaN in row 1"),
        (
            lambda: ours.silhouette_score(np.ones((3, 3)), [0, 1, 1], metric="precomputed"),
            BadInput,
            "non-zero elements on the diagonal",
        ),
        (lambda: ours.silhouette_score(np.eye(3), [0, 1, 1], metric="nope"), BadParameter, "metric='nope'"),
        (lambda: ours.silhouette_score(np.eye(3), [0, 1, 1], sample_size=9), BadParameter, "sample_size=9"),
    ],
)
def test_bad_input_is_told_in_a_sentence(call: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("metric", ["manhattan", "l1", "l2", "euclidean", "cosine"])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_silhouettes_of_sparse_rows_and_other_distances(metric: str, form: Any) -> None:
    rng = np.random.default_rng(3)
    X, groups = np.where(rng.random((40, 6)) < 0.5, 0.0, rng.normal(size=(40, 6))) + 0.1, rng.integers(0, 3, size=40)
    expected = theirs.silhouette_samples(X, groups, metric=metric)
    np.testing.assert_allclose(ours.silhouette_samples(X, groups, metric=metric), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.silhouette_samples(form(X), groups, metric=metric), expected, rtol=1e-9, atol=1e-12)
    wide = np.zeros((40, 2000))
    wide[:, ::400] = X[:, :5]
    same = ours.silhouette_score(wide, groups)
    assert ours.silhouette_score(form(wide), groups) == pytest.approx(same, rel=1e-6)


def test_silhouettes_of_known_distances() -> None:
    rng = np.random.default_rng(4)
    X, groups = rng.normal(size=(20, 2)), rng.integers(0, 2, size=20)
    D = theirs.pairwise_distances(X)
    expected = ours.silhouette_samples(X, groups)
    for table in (D, D + np.eye(20) * 1e-16, sp.csr_array(D)):
        np.testing.assert_allclose(ours.silhouette_samples(table, groups, metric="precomputed"), expected, rtol=1e-7, atol=1e-9)
    whole = (D * 10).astype(int)
    assert ours.silhouette_score(whole, groups, metric="precomputed") == theirs.silhouette_score(
        whole, groups, metric="precomputed"
    )


def test_groups_without_rows_and_a_known_table() -> None:
    assert ours.adjusted_rand_score([], []) == ours.normalized_mutual_info_score([], []) == 1.0
    a, b = [1, 1, 2, 2, 3], [1, 2, 2, 2, 1]
    table = contingency_matrix(a, b)
    for given in (table, sp.csr_array(table)):
        assert ours.mutual_info_score(a, b, contingency=given) == ours.mutual_info_score(a, b)
    with pytest.warns(UserWarning, match="continuous values for label, and discrete values for target"):
        ours.adjusted_rand_score([0.1, 0.2, 0.2], [1, 1, 0])


WITHOUT_TRUTH = ["calinski_harabasz_score", "davies_bouldin_score"]


@pytest.mark.parametrize("name", WITHOUT_TRUTH)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_spread_within_and_between_groups(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(4)
    X = (100 * rng.normal(size=(150, 3)) + 1000).astype(dtype)
    labels = np.array(list("abcd"))[rng.integers(0, 4, 150)]
    labels[0] = "alone"
    same(getattr(ours, name)(X, labels), getattr(theirs, name)(X.astype(np.float64), labels))
    same(getattr(ours, name)(sp.csr_matrix(X), labels), getattr(ours, name)(X, labels))
    copies = rng.integers(0, 3, 150)
    copies[:10] = 1
    rows = np.repeat(np.arange(150), copies)
    same(getattr(ours, name)(X, labels, sample_weight=copies), getattr(ours, name)(X[rows], labels[rows]))


@pytest.mark.parametrize("name", WITHOUT_TRUTH)
def test_groups_without_any_spread(name: str) -> None:
    X, labels = np.repeat([[0.0, 0.0], [3.0, 4.0]], 5, axis=0), np.repeat([0, 1], 5)
    same(getattr(ours, name)(X, labels), getattr(theirs, name)(X, labels))
    same(getattr(ours, name)(np.zeros((10, 2)), labels), getattr(theirs, name)(np.zeros((10, 2)), labels))
    with pytest.raises(BadInput, match="needs 2 to 9 groups"):
        getattr(ours, name)(X, np.zeros(10))
    with pytest.raises(BadInput, match="NaN"):
        getattr(ours, name)(np.full((10, 2), np.nan), labels)


def test_information_by_chance_is_of_whole_rows() -> None:
    a, b = np.tile([0, 1, 2], 40), np.repeat([0, 1, 2, 3], 30)
    rng = np.random.default_rng(5)
    dealt = [ours.mutual_info_score(a, rng.permutation(b)) for _ in range(300)]
    from tenfold.score.clustering import expected_information

    assert abs(np.mean(dealt) - expected_information(contingency_matrix(a, b))) < 4 * np.std(dealt) / np.sqrt(300)
    with pytest.raises(BadInput, match="whole numbers"):
        ours.adjusted_mutual_info_score(a, b, sample_weight=np.full(120, 0.37))


@pytest.mark.parametrize("apart", [0.0, 5.0, 1e5])
def test_silhouettes_of_many_columns_keep_their_digits(apart: float) -> None:
    """Products of matrices cancel for copies, and for groups that are narrow and far away."""
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 3, 120)
    X = rng.normal(size=(120, 20)) + apart * rng.normal(size=(3, 20))[labels] + 1e3
    X[:10] = X[10:20]
    D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    expected = theirs.silhouette_samples(D, labels, metric="precomputed")
    np.testing.assert_allclose(ours.silhouette_samples(X, labels), expected, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(ours.silhouette_samples(X.astype(np.float32), labels), expected, rtol=0, atol=1e-3 if apart < 10 else 0.5)


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis", "haversine", "russellrao", "infinity"])
def test_silhouettes_do_not_depend_on_parts_for_any_metric(metric: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The spread of columns is that of all rows, and a row is no neighbour of itself also where a metric says that it is away."""
    rng = np.random.default_rng(7)
    X, labels = np.abs(rng.normal(size=(90, 2))), rng.integers(0, 3, 90)
    X = X > 0.7 if metric == "russellrao" else X
    usual = {"infinity": "chebyshev"}.get(metric, metric)
    whole = ours.silhouette_samples(X, labels, metric=metric)
    np.testing.assert_allclose(whole, theirs.silhouette_samples(X, labels, metric=usual), rtol=1e-9, atol=1e-12)
    monkeypatch.setattr("tenfold.score.silhouette.DISTANCES_AT_ONCE", 700)
    np.testing.assert_allclose(ours.silhouette_samples(X, labels, metric=metric), whole, rtol=1e-9, atol=1e-12)
