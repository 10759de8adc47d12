"""How many clusters: known numbers are found, none where there are none, and every route gives the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

import tenfold
from tenfold.cluster.evidence import bic, halves, silhouette_curve
from tenfold.cluster.path import along, labels_of
from tenfold.core.errors import BadInput, BadParameter
from tenfold.draw import draw_cluster_choice, draw_clusters, draw_silhouette


def groups(k: int, d: int = 2, n: int = 40, apart: float = 8.0, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    centres = apart * np.array([[i % 3, i // 3] for i in range(k)]) @ np.eye(2, d)
    return np.concatenate([centre + rng.normal(size=(n, d)) for centre in centres])


@pytest.mark.parametrize(("k", "d"), [(1, 2), (2, 2), (3, 10), (6, 2)])
def test_the_number_of_groups_is_found(k: int, d: int) -> None:
    found = tenfold.choose_clusters(groups(k, d), most=8)
    assert found.clusters == k == len(found.centers)
    assert found.said("prediction strength") == k
    text = str(found)
    assert text.startswith(f"CLUSTERS  {k}\n") and "gap statistic" in text and f"\n{k:>10} " in text


@pytest.mark.parametrize("shape", ["uniform", "exponential", "standard_normal"])
def test_rows_without_groups_are_one_cluster(shape: str) -> None:
    X = getattr(np.random.default_rng(1), shape)(size=(150, 2))
    found = tenfold.choose_clusters(X, most=6)
    assert found.clusters == 1 and ("no groups" in found.why or "grouped differently" in found.why)


def test_curves_are_those_of_their_definitions() -> None:
    X = groups(3)
    X, w = X - X.mean(axis=0), np.ones(len(X))
    runs = along(X, w, 5, 0, 4)
    groupings = [labels_of(X, run.centers) for run in runs]
    curve = silhouette_curve(X, w, groupings)
    assert np.isnan(curve[0])
    for k in range(2, 6):
        assert curve[k - 1] == pytest.approx(silhouette_score(X, groupings[k - 1]), rel=1e-9)
        inertia = sum(((X[groupings[k - 1] == j] - centre) ** 2).sum() for j, centre in enumerate(runs[k - 1].centers))
        assert runs[k - 1].inertia == pytest.approx(inertia, rel=1e-5)
    mixture = GaussianMixture(3, covariance_type="diag", means_init=runs[2].centers, reg_covar=1e-12, random_state=0).fit(X)
    assert bic(X, w, groupings[2], 3) == pytest.approx(-mixture.bic(X), rel=1e-3)  # groups far apart: its EM has nothing to do


def test_weights_are_copies_and_scale_does_not_matter() -> None:
    X = groups(2)
    copied = tenfold.choose_clusters(np.repeat(X, 3, axis=0), most=4)
    weighted = tenfold.choose_clusters(X, most=4, sample_weight=np.full(len(X), 3.0))
    for one, other in zip(copied.table.values(), weighted.table.values(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert tenfold.choose_clusters(X * 2.0**-600, most=4).clusters == tenfold.choose_clusters(X + 1e9, most=4).clusters == 2
    without = tenfold.choose_clusters(groups(3), most=4, sample_weight=np.repeat([1.0, 1.0, 0.0], 40))
    assert without.clusters == 2 and without.looked == 80


def test_every_route_gives_the_same(tmp_path: Path) -> None:
    X = groups(3).astype(np.float32).astype(np.float64)
    expected = tenfold.choose_clusters(X, most=4)
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b", comments="")
    for given in (sp.csr_matrix(X), X.astype(np.float32), str(tmp_path / "x.csv"), lambda: iter(np.array_split(X, 3)), X.tolist()):
        found = tenfold.choose_clusters(given, most=4)
        assert found.clusters == 3
        np.testing.assert_allclose(found.table["gap"], expected.table["gap"], rtol=1e-9)
    assert tenfold.choose_clusters(iter(np.array_split(X, 3)), most=4).clusters == 3  # one pass is enough
    with tenfold.engine(tenfold.Threads(3)):
        np.testing.assert_array_equal(tenfold.choose_clusters(X, most=4).table["strength"], expected.table["strength"])


def test_few_equal_and_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tenfold.choose_clusters(np.ones((20, 3))).why == "all rows are the same"
    assert tenfold.choose_clusters([[1.0, 2.0]]).clusters == 1
    assert "needed to tell groups" in tenfold.choose_clusters(np.arange(5.0)[:, None]).why
    copies = tenfold.choose_clusters(np.repeat([[0.0], [1.0], [7.0]], 9, axis=0))
    assert copies.clusters == 3 and sorted(copies.centers[:, 0]) == [0, 1, 7]
    assert len(copies.plot()) == 3
    monkeypatch.setattr("tenfold.cluster.choose.ROWS", 60)
    monkeypatch.setattr("tenfold.cluster.choose.LEAST_ROWS", 60)
    found = tenfold.choose_clusters(groups(2, n=100), most=3)
    assert found.clusters == 2 and found.looked == 60 and "60 different rows were looked at, drawn by chance from 200" in str(found)


def test_more_columns_than_rows() -> None:
    X = groups(2, d=300, n=20, apart=30)
    found = tenfold.choose_clusters(X, most=3)
    assert found.clusters == 2 and found.centers.shape == (2, 300)
    np.testing.assert_allclose(np.sort(found.centers[:, 0]), np.sort([X[:20, 0].mean(), X[20:, 0].mean()]), rtol=1e-9)


@pytest.mark.parametrize("given", [dict(most=0), dict(most=2.5), dict(most=True), dict(random_state="x")])
def test_wrong_parameters_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(BadParameter, match=r"choose_clusters\((most|random_state)="):
        tenfold.choose_clusters(groups(2), **given)


def test_missing_and_infinite_values_are_refused() -> None:
    for value in (np.nan, np.inf):
        X = groups(2)
        X[3, 1] = value
        with pytest.raises(BadInput, match="column 1, row 3"):
            tenfold.choose_clusters(X)


def test_prediction_strength_of_a_known_split() -> None:
    """Two far groups: both halves agree on two, and on no more."""
    X = groups(2, apart=50)
    within, strength = halves(X - X.mean(axis=0), np.ones(len(X)), 3, np.random.default_rng(0))
    assert strength.shape == within.shape == (10, 3)
    assert (strength[:, :2] == 1).all() and strength[:, 2].mean() < 0.75
    assert within[:, 1].max() < 0.01


def test_pictures() -> None:
    X = groups(3)
    found = tenfold.choose_clusters(X, most=5)
    elbow, gap, apart = draw_cluster_choice(found)
    assert [len(ax.get_legend().get_texts()) for ax in (elbow, gap, apart)] == [3, 2, 3]
    labels = np.repeat(["a", "b", "c"], 40)
    ax = draw_silhouette(X, labels)
    assert "a: 40 rows" in ax.texts[0].get_text()
    ax = draw_clusters(X, labels, names=["width", "height"])
    assert {"width", "height"} <= {text.get_text() for text in ax.texts}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a: 40 rows", "b: 40 rows", "c: 40 rows"]
    assert draw_clusters(X[:, :1], labels).get_ylabel() == "second principal axis: 0 % of the variance"
