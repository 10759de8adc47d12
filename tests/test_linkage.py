"""Trees of clusters: SciPy's table for every linkage and metric, scikit-learn's labels, cuts, new rows, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, fcluster, is_valid_linkage
from scipy.cluster.hierarchy import linkage as theirs
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering, FeatureAgglomeration
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

import tenfold
from tenfold import _linkage
from tenfold.cluster.linkage import LINKAGES, OF_CENTRES
from tenfold.draw import draw_dendrogram

METRICS = (
    "euclidean", "sqeuclidean", "cityblock", "chebyshev", "minkowski", "seuclidean", "mahalanobis", "cosine", "correlation", "braycurtis",
    "canberra",
)  # fmt: skip


def rows(n: int = 120, p: int = 5, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, p)) + rng.integers(0, 3, size=(n, 1)) * 1.5


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("metric", METRICS)
def test_the_tree_is_that_of_scipy(method: str, metric: str) -> None:
    if method in OF_CENTRES and metric != "euclidean":
        with pytest.raises(tenfold.BadParameter, match="euclidean"):
            tenfold.linkage(rows(), method, metric)
        return
    X = rows()
    found = tenfold.linkage(X, method, metric)
    expected = theirs(pdist(X, metric), method)
    np.testing.assert_allclose(found[:, 2], expected[:, 2], rtol=1e-10, atol=0)
    assert np.array_equal(found[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    assert is_valid_linkage(found)


@pytest.mark.parametrize("method", LINKAGES)
def test_many_rows_give_the_same_tree(method: str) -> None:
    """From so many rows on merges are made many at once, or without a table."""
    X = rows(2100 if method not in ("centroid", "median") else 1100, 4)
    found, expected = tenfold.linkage(X, method), theirs(X, method)
    np.testing.assert_allclose(found[:, 2], expected[:, 2], rtol=1e-10, atol=0)
    assert np.array_equal(found[:, [0, 1, 3]], expected[:, [0, 1, 3]])
    with tenfold.engine(tenfold.Local()):
        assert np.array_equal(tenfold.linkage(X, method), found)


def test_single_linkage_of_many_rows_by_a_tree() -> None:
    """On a k-d tree, where rows are many and columns few: the merges of rows one by one."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=5000), rng.integers(0, 50, 5000)])
    for apart, metric in enumerate(("euclidean", "manhattan", "chebyshev")):
        found = tenfold.linkage(X, "single", metric)
        row_by_row = _linkage.tree_of_rows(X, 0, np.ones(5000), apart, 2.0, metric == "euclidean", 1)
        np.testing.assert_allclose(found[:, 2], row_by_row[:, 2], rtol=1e-10, atol=0)
        assert adjusted_rand_score(fcluster(found, 0.1, "distance"), fcluster(row_by_row, 0.1, "distance")) == 1


@pytest.mark.parametrize("method", ["complete", "average", "weighted"])
def test_given_distances_of_many_rows(method: str) -> None:
    X = rows(1300, 3)
    D = pdist(X)
    expected = theirs(D, method)
    for given in (D, squareform(D)):
        np.testing.assert_allclose(tenfold.linkage(given, method, "precomputed")[:, 2], expected[:, 2], rtol=1e-10, atol=0)


@pytest.mark.parametrize("method", ["complete", "average", "ward"])
def test_rows_far_along_a_line_are_merged_one_by_one(method: str) -> None:
    """No two are nearest to one another but the first: chains merge all."""
    X = np.cumsum(np.linspace(1, 2, 1500))[:, None]
    np.testing.assert_allclose(tenfold.linkage(X, method)[:, 2], theirs(X, method)[:, 2], rtol=1e-10, atol=0)


@pytest.mark.parametrize("method", LINKAGES)
@pytest.mark.parametrize("n", [90, 1500])
def test_equal_distances(method: str, n: int) -> None:
    """Rows on a grid: single linkage has one answer, others SciPy's where its order of merges is ours."""
    grid = np.stack(np.meshgrid(*[np.arange(12.0)] * 3), axis=-1).reshape(-1, 3)
    X = np.random.default_rng(1).permutation(grid)[:n]
    found, expected = tenfold.linkage(X, method), theirs(X, method)
    assert is_valid_linkage(found)
    if method == "single":
        np.testing.assert_allclose(cophenet(found), cophenet(expected), rtol=1e-12, atol=0)
    elif method not in OF_CENTRES:
        np.testing.assert_allclose(found[:, 2].sum(), expected[:, 2].sum(), rtol=1e-10, atol=0)


@pytest.mark.parametrize("method", ["single", "complete", "average", "weighted", "ward"])
def test_copies_of_rows_are_merged_first(method: str) -> None:
    X = rows(1500, 3)
    X[1200:] = X[np.random.default_rng(0).integers(0, 900, 300)]
    found, expected = tenfold.linkage(X, method), theirs(X, method)
    assert is_valid_linkage(found) and not found[:300, 2].any()
    np.testing.assert_allclose(found[:, 2], expected[:, 2], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(cophenet(found), cophenet(expected), rtol=1e-10, atol=1e-12)


def test_large_means_do_not_cost_digits() -> None:
    X = rows(1500, 3)
    for method in ("ward", "average"):
        far = tenfold.linkage(X + 2.0**24, method)[:, 2]  # adds no rounding worth speaking of
        np.testing.assert_allclose(far, theirs(X + 2.0**24, method)[:, 2], rtol=1e-8, atol=1e-7)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_clusters_of_real_tables_are_those_of_scikit_learn(load: Any, linkage: str) -> None:
    X = load().data
    for k in (2, 3, 7):
        ours, other = (cls(k, linkage=linkage).fit(X) for cls in (tenfold.AgglomerativeClustering, AgglomerativeClustering))
        assert adjusted_rand_score(ours.labels_, other.labels_) == 1
        if linkage != "single":
            assert np.array_equal(ours.labels_, other.labels_) and np.array_equal(ours.children_, other.children_)


def test_cuts() -> None:
    X = rows()
    Z = tenfold.linkage(X, "average")
    for k in (1, 2, 5, 119, 120):
        model = tenfold.AgglomerativeClustering(k, linkage="average").fit(X)
        assert adjusted_rand_score(model.labels_, fcluster(Z, k, "maxclust")) == 1 and model.n_clusters_ == k
        assert set(model.labels_) == set(range(k)) and np.array_equal(model.linkage_, Z)
    middle = (Z[-6, 2] + Z[-5, 2]) / 2
    model = tenfold.AgglomerativeClustering(None, distance_threshold=middle, linkage="average").fit(X)
    assert model.n_clusters_ == 6 and np.array_equal(model.distances_, Z[:, 2])
    groups = np.repeat([[0.0, 0.0], [10.0, 0.0], [5.0, 8.7]], 20, axis=0) + np.random.default_rng(0).uniform(0, 1, (60, 2))
    for linkage in LINKAGES:
        assert tenfold.AgglomerativeClustering("gap", linkage=linkage).fit(groups).n_clusters_ == 3


@pytest.mark.parametrize("linkage", LINKAGES)
def test_new_rows_belong_to_the_nearest_cluster_by_the_linkage(linkage: str) -> None:
    """The cluster that SciPy merges a row with, if it comes last and alone."""
    X, new = rows(60, 3), rows(15, 3, seed=5)
    model = tenfold.AgglomerativeClustering(4, linkage=linkage).fit(X)
    predicted = model.predict(new)
    for x, found in zip(new, predicted, strict=True):
        away = []
        for k in range(4):
            one = X[model.labels_ == k]
            d = np.sqrt(((one - x) ** 2).sum(axis=1))
            c, n = one.mean(axis=0), len(one)
            match linkage:
                case "single":
                    away.append(d.min())
                case "complete":
                    away.append(d.max())
                case "average":
                    away.append(d.mean())
                case "centroid":
                    away.append(np.linalg.norm(x - c))
                case "ward":
                    away.append(np.sqrt(2 * n / (n + 1)) * np.linalg.norm(x - c))
        if away:
            assert found == int(np.argmin(away))
    if linkage not in OF_CENTRES:
        D, Q = (np.sqrt(((A[:, None] - X) ** 2).sum(axis=2)) for A in (X, new))
        other = tenfold.AgglomerativeClustering(4, linkage=linkage, metric="precomputed").fit(D)
        assert np.array_equal(other.labels_, model.labels_) and np.array_equal(other.predict(Q), predicted)


@pytest.mark.parametrize("linkage", ["ward", "average", "centroid"])
def test_a_weight_counts_as_copies(linkage: str) -> None:
    X = rows(50, 3)
    w = np.random.default_rng(0).integers(0, 4, 50)
    model = tenfold.AgglomerativeClustering(5, linkage=linkage).fit(X, sample_weight=w)
    copies = tenfold.AgglomerativeClustering(5, linkage=linkage).fit(np.repeat(X, w, axis=0))
    assert adjusted_rand_score(np.repeat(model.labels_, w), copies.labels_) == 1
    np.testing.assert_allclose(model.linkage_[-8:, 2], copies.linkage_[-8:, 2], rtol=1e-10, atol=0)
    assert model.n_leaves_ == (w > 0).sum() and len(model.labels_) == 50
    assert np.array_equal(model.labels_[w == 0], model.predict(X[w == 0]))


@pytest.mark.parametrize("linkage", ["ward", "average", "complete"])
def test_columns_are_put_together_as_in_scikit_learn(linkage: str) -> None:
    X = rows(50, 12)
    ours, other = (cls(4, linkage=linkage).fit(X) for cls in (tenfold.FeatureAgglomeration, FeatureAgglomeration))
    assert np.array_equal(ours.labels_, other.labels_) and np.array_equal(ours.children_, other.children_)
    np.testing.assert_allclose(ours.transform(X), other.transform(X), rtol=1e-12, atol=1e-12)
    back = ours.inverse_transform(ours.transform(X))
    np.testing.assert_allclose(back, other.inverse_transform(other.transform(X)), rtol=1e-12, atol=1e-12)
    middle = tenfold.FeatureAgglomeration(4, linkage=linkage, pooling_func=np.median).fit_transform(X)
    assert np.array_equal(middle, tenfold.FeatureAgglomeration(4, linkage=linkage, pooling_func="median").fit_transform(X))
    with pytest.raises(tenfold.BadParameter, match="choose one of 'mean'"):
        tenfold.FeatureAgglomeration(pooling_func="sum").fit(X)
    with pytest.raises(tenfold.BadInput, match="rows of other weights"):
        tenfold.FeatureAgglomeration(linkage="average", metric="chebyshev").fit(X, sample_weight=np.arange(50.0))


def test_functions_as_metrics() -> None:
    X = rows(30, 3)
    expected = theirs(pdist(X, "cityblock"), "average")
    for metric in (lambda a, b: float(np.abs(a - b).sum()), lambda X: squareform(pdist(X, "cityblock"))):
        np.testing.assert_allclose(tenfold.linkage(X, "average", metric)[:, 2], expected[:, 2], rtol=1e-10, atol=0)
    model = tenfold.AgglomerativeClustering(3, linkage="single", metric=lambda a, b: float(np.abs(a - b).sum())).fit(X)
    assert np.array_equal(model.predict(X), model.labels_)
    whole = tenfold.AgglomerativeClustering(3, linkage="single", metric=lambda X: squareform(pdist(X))).fit(X)
    with pytest.raises(tenfold.BadParameter, match="whole table"):
        whole.predict(X)


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_only_neighbours_are_merged(linkage: str) -> None:
    """Two rows of points: near one another, but connected only along each of them."""
    x, z = np.sort(np.random.default_rng(0).uniform(0, 10, (2, 40)))
    X = np.vstack([np.column_stack([x, 0 * x]), np.column_stack([z, 0 * x + 0.05])])
    graph = np.zeros((80, 80))
    for start in (0, 40):
        for i in range(start, start + 39):
            graph[i, i + 1] = 1
    with pytest.warns(tenfold.DataWarning, match="connected components"):
        model = tenfold.AgglomerativeClustering(2, linkage=linkage, connectivity=graph).fit(X)
    assert model.n_connected_components_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = AgglomerativeClustering(2, linkage=linkage, connectivity=graph).fit(X)
        all_pairs = tenfold.AgglomerativeClustering(6, linkage=linkage, connectivity=np.ones((80, 80))).fit(rows(80, 2))
    if linkage in ("ward", "complete"):
        assert adjusted_rand_score(model.labels_, other.labels_) == 1
    free = tenfold.AgglomerativeClustering(6, linkage=linkage).fit(rows(80, 2))
    assert adjusted_rand_score(all_pairs.labels_, free.labels_) == 1


def test_few_rows_and_equal_rows() -> None:
    for linkage in LINKAGES:
        one = tenfold.AgglomerativeClustering(1, linkage=linkage).fit([[1.0, 2.0]])
        assert one.labels_.tolist() == [0] and one.linkage_.shape == (0, 4) and one.predict([[5.0, 5.0]]).tolist() == [0]
        assert tenfold.AgglomerativeClustering("gap", linkage=linkage).fit([[1.0], [2.0]]).n_clusters_ == 2
        same = tenfold.AgglomerativeClustering(3, linkage=linkage).fit(np.ones((1200, 2)))
        assert not same.linkage_[:, 2].any() and set(same.labels_) == {0, 1, 2}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda X: tenfold.linkage(X, "wards"), "choose one of 'single'"),
        (lambda X: tenfold.linkage(X, "ward", "cosine"), "Ward can only work with euclidean"),
        (lambda X: tenfold.linkage(X[:3, :3], "average", "precomputed"), "not symmetric|at least 0"),
        (lambda X: tenfold.linkage(X, "average", "precomputed"), "should be square"),
        (lambda X: tenfold.linkage(np.arange(4.0), "average", "precomputed"), "4 distances"),
        (lambda X: tenfold.linkage(np.vstack([X, 0 * X[:1]]), "average", "cosine"), "row 30 has none"),
        (lambda X: tenfold.linkage(X, "average", lambda a, b: float(a[0] - b[0] if a[0] > b[0] else 0)), "not symmetric"),
        (lambda X: tenfold.linkage(X, "average", lambda a, b: np.nan), "NaN"),
        (lambda X: tenfold.linkage(X, "average", lambda a, b: -1.0), "negative distances"),
        (lambda X: tenfold.linkage(np.where(X > 2, np.nan, X), "average"), "NaN|missing"),
        (lambda X: tenfold.AgglomerativeClustering(31).fit(X), "31 clusters were given for a tree with 30 leaves"),
        (lambda X: tenfold.AgglomerativeClustering(None).fit(X), "Exactly one of"),
        (lambda X: tenfold.AgglomerativeClustering(linkage="median", connectivity=np.ones((30, 30))).fit(X), "no order of merges"),
        (lambda X: tenfold.AgglomerativeClustering(connectivity=np.ones((3, 3))).fit(X), "Wrong shape for connectivity"),
    ],
)
def test_what_is_refused(make: Any, words: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=words):
        make(rows(30, 4))


def test_pictures() -> None:
    X = rows(80, 2)
    model = tenfold.AgglomerativeClustering(3).fit(X)
    ax = model.plot()
    leaves = [text.get_text() for text in ax.get_xticklabels()]
    rows_told = [int(leaf[1:-1]) if leaf.startswith("(") else 1 for leaf in leaves]
    assert len(leaves) == 30 and sum(rows_told) == 80
    cut = [line.get_ydata()[0] for line in ax.lines if list(line.get_xdata()) == [0, 1] and len(set(line.get_ydata())) == 1]
    Z = model.linkage_
    assert cut == [pytest.approx((Z[-3, 2] + Z[-2, 2]) / 2)]
    assert max(max(line.get_ydata()) for line in ax.lines) == Z[-1, 2]
    whole = draw_dendrogram(tenfold.linkage(X, "centroid"), clusters=80, most=100, names=[f"r{i}" for i in range(80)])
    assert sorted(text.get_text() for text in whole.get_xticklabels()) == sorted(f"r{i}" for i in range(80))
    draw_dendrogram(tenfold.linkage([[0.0], [1.0]]))
    for call, words in (
        (lambda: draw_dendrogram(np.zeros((0, 4))), "at least one merge"),
        (lambda: draw_dendrogram(model, clusters=81), "from 1 to 80"),
        (lambda: draw_dendrogram(model, most=1), "at least 2"),
        (lambda: draw_dendrogram(model, names=["a"]), "1 names"),
    ):
        with pytest.raises(tenfold.TenfoldError, match=words):
            call()


def test_memory_is_looked_at_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenfold.core.memory.memory", lambda: (1e8, 2e8))
    with pytest.raises(tenfold.TooLarge, match=r"distances of 9,000 rows .* linkage='single' or 'ward'"):
        tenfold.linkage(np.arange(9000.0)[:, None], "average")
