"""Multidimensional scaling: what scikit-learn finds, stress that never rises, ranks, new rows, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import together
from scipy.spatial.distance import cdist
from sklearn import manifold
from sklearn.datasets import load_iris

import tenfold
from tenfold.manifold.smacof import Ranks, majorized

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)) * [3.0, 2.0, 1.0, 0.5, 0.2]
D = cdist(X, X)
START = RNG.normal(size=(60, 2))


def rows_of_iris() -> Array:
    return np.unique(load_iris().data, axis=0)


# --- classical scaling ---


@together("metric", ["euclidean", "manhattan"])
def test_classical_scaling_is_that_of_scikit_learn(metric: str) -> None:
    ours, theirs = tenfold.ClassicalMDS(3, metric=metric).fit(X), manifold.ClassicalMDS(3, metric=metric).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ours.embedding_), np.abs(theirs.embedding_), rtol=0, atol=1e-9)


def test_classical_scaling_of_rows_is_their_principal_components() -> None:
    """And new rows are where the components say."""
    new = RNG.normal(size=(9, 5))
    pca, model = tenfold.PCA(2).fit(X), tenfold.ClassicalMDS().fit(X)
    signs = np.sign(np.einsum("ij,ij->j", model.embedding_, pca.transform(X)))
    np.testing.assert_allclose(model.transform(new) * signs, pca.transform(new), rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), model.embedding_, rtol=0, atol=1e-9)
    given = tenfold.ClassicalMDS(metric="precomputed").fit(D)
    np.testing.assert_allclose(given.transform(cdist(new, X)), model.transform(new), rtol=0, atol=1e-9)


# --- majorization ---


@together("metric", [True, False])
def test_steps_are_those_of_scikit_learn(metric: bool) -> None:
    ours = tenfold.MDS(metric_mds=metric).fit(X, init=START)
    theirs = manifold.MDS(metric_mds=metric, init="random", n_init=1).fit(X, init=START)
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.stress_ == pytest.approx(theirs.stress_, rel=1e-9)
    np.testing.assert_allclose(ours.embedding_, theirs.embedding_, rtol=0, atol=1e-7)
    drawn = [kind(metric_mds=metric, init="random", n_init=2, random_state=3).fit(X) for kind in (tenfold.MDS, manifold.MDS)]
    assert drawn[0].stress_ == pytest.approx(drawn[1].stress_, rel=1e-9)


@together("metric", [True, False])
def test_stress_never_rises(metric: bool) -> None:
    w = RNG.uniform(0.5, 3, len(D))
    for weights in (np.ones(len(D)), w):
        found = majorized(D, weights, START, metric=metric, max_iter=60, eps=0.0)
        assert (np.diff(found.history) <= 1e-9 * found.size).all()
        away = cdist(found.places, found.places)
        pairs = np.outer(weights, weights) / 2
        assert found.stress == pytest.approx(float((pairs * (found.targets - away) ** 2).sum()), rel=1e-9)
        assert found.size == pytest.approx(float((pairs * away**2).sum()), rel=1e-9)


def test_where_it_ends_the_gradient_vanishes() -> None:
    """Certificate: Σⱼ wⱼ (1 − δ / d) (zᵢ − zⱼ) = 0 for all rows."""
    w = RNG.uniform(0.5, 3, len(D))
    with pytest.warns(tenfold.NotConverged, match="increase max_iter or eps"):
        tenfold.MDS(max_iter=3).fit(X, sample_weight=w)
    model = tenfold.MDS(eps=1e-15, max_iter=3000).fit(X, sample_weight=w)
    z = model.embedding_
    ratio = 1 - np.divide(D, cdist(z, z), out=np.ones_like(D), where=D > 0)
    slope = (w * ratio).sum(axis=1)[:, None] * z - (w * ratio) @ z
    assert np.abs(slope).max() < 1e-4 * w.sum()


def test_ranks_are_all_that_counts() -> None:
    """Disparities rise with the dissimilarities, and a rising function of these changes nothing."""
    rows = rows_of_iris()[::3]
    plain = tenfold.MDS(metric_mds=False, metric="precomputed", random_state=0).fit(cdist(rows, rows) + 1e-3 * (1 - np.eye(len(rows))))
    bent = plain.dissimilarity_matrix_**3
    start = plain.embedding_
    again = tenfold.MDS(metric_mds=False, metric="precomputed", normalized_stress=True)
    assert again.fit(bent, init=start).stress_ == pytest.approx(again.fit(plain.dissimilarity_matrix_, init=start).stress_, rel=0.2)
    ranks = Ranks.of(bent, np.ones(len(rows)))
    table = ranks.disparities(start)
    assert (np.diff(table[ranks.first, ranks.second]) >= 0).all()
    assert float((table**2).sum()) == pytest.approx(len(rows) * (len(rows) - 1))


def test_classical_start_and_scale() -> None:
    best = tenfold.MDS().fit(X)
    drawn = tenfold.MDS(init="random", n_init=4, random_state=0).fit(X)
    assert best.stress_ <= drawn.stress_ * 1.05
    assert tenfold.MDS(normalized_stress=True).fit(X).stress_ == pytest.approx(
        float(np.sqrt(best.stress_ / (cdist(best.embedding_, best.embedding_) ** 2).sum() * 2)), rel=1e-9
    )
    for scale in (1e-75, 1e75):
        other = tenfold.MDS().fit(X * scale)
        np.testing.assert_allclose(other.embedding_ / scale, best.embedding_, rtol=0, atol=1e-6)
        assert other.n_iter_ == best.n_iter_


@together("metric", [True, False])
def test_new_rows_find_their_places(metric: bool) -> None:
    """In the plane that the rows lie in they are placed exactly; those of the fit have their own places."""
    plane = RNG.normal(size=(50, 2)) @ RNG.normal(size=(2, 4))
    model = tenfold.MDS(metric_mds=metric, eps=1e-14, max_iter=2000).fit(plane[:40])
    assert np.array_equal(model.transform(plane[:5]), model.embedding_[:5])
    new = model.transform(plane[40:])
    away, truth = cdist(new, model.embedding_), cdist(plane[40:], plane[:40])
    assert np.corrcoef(away.ravel(), truth.ravel())[0, 1] > (1 - 1e-9 if metric else 0.99)


def test_older_names() -> None:
    expected = tenfold.MDS(metric="precomputed").fit(D)
    for model in (tenfold.MDS(dissimilarity="precomputed"), tenfold.MDS(metric=True, dissimilarity="precomputed")):
        assert np.array_equal(model.fit(D).embedding_, expected.embedding_)
    ordinal = tenfold.MDS(metric_mds=False).fit(X)
    assert np.array_equal(tenfold.MDS(metric=False).fit(X).embedding_, ordinal.embedding_)


# --- what is refused ---

CROOKED, BELOW, GAP, OWN = (D[:5, :5].copy() for _ in range(4))
CROOKED[1, 3] += 1
BELOW[1, 2] = BELOW[2, 1] = -1.0
GAP[0, 4] = np.nan
OWN[2, 2] = 3.0


@together(
    "table, wrong",
    [
        (CROOKED, r"symmetric: row 1 is .* from row 3.*\(X \+ X\.T\) / 2"),
        (BELOW, "row 1 to row 2 is -1"),
        (GAP, "row 0"),
        (OWN, "row 2 is 3 from itself"),
        (D[:4], "square"),
    ],
)
def test_tables_that_are_no_dissimilarities(table: Array, wrong: str) -> None:
    for model in (tenfold.MDS(metric="precomputed"), tenfold.ClassicalMDS(metric="precomputed")):
        with pytest.raises(tenfold.BadInput, match=wrong):
            model.fit(table)
    with pytest.raises(tenfold.BadInput, match="smacof"):
        tenfold.smacof(D[:4])


@together(
    "options, wrong",
    [
        ({"metric": "cosine", "dissimilarity": "euclidean"}, "provided both"),
        ({"normalized_stress": "always"}, "True, False or 'auto'"),
        ({"metric": "nowhere"}, "there is no such metric"),
        ({"init": "zero"}, "one of"),
    ],
)
def test_words_that_mean_nothing(options: dict[str, Any], wrong: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=wrong):
        tenfold.MDS(**options).fit(X)


def test_starts_equal_rows_and_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(tenfold.BadInput, match=r"shape \(60, 2\), not \(60, 3\)"):
        tenfold.MDS().fit(X, init=np.zeros((60, 3)))
    with pytest.warns(tenfold.DataWarning, match="0 dimensions"):
        assert not tenfold.MDS().fit_transform(np.ones((5, 3))).any()
    with pytest.raises(tenfold.BadInput, match="all dissimilarities are 0"):
        tenfold.MDS(metric_mds=False, init="random").fit(np.ones((5, 3)))
    monkeypatch.setattr("tenfold.core.memory.memory", lambda: (1e6, 2e6))
    monkeypatch.setattr("tenfold.core.memory.LITTLE", 1000)
    with pytest.raises(MemoryError, match=r"the distances of 2,000 rows will take about 0.1 GiB.*give fewer rows"):
        tenfold.MDS().fit(RNG.normal(size=(2000, 2)))
