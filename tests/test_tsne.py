"""Stochastic neighbour embedding: the objective and its gradient, neighbours kept, new rows, threads, and what is refused."""

from __future__ import annotations

import signal
import threading
from typing import Any

import numpy as np
import pytest
from conftest import together
from scipy.spatial.distance import cdist
from sklearn import manifold
from sklearn.datasets import load_digits, make_swiss_roll

import tenfold
from tenfold import _embed
from tenfold.evaluate import trustworthiness
from tenfold.manifold.affinity import joint, principal_start

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(0)
DIGITS = load_digits().data[:600]
X = RNG.normal(size=(90, 4))
THEIRS = 0.4495  # KL divergence that scikit-learn 1.9.1 finds for DIGITS in 500 steps
QUICK: dict[str, Any] = dict(max_iter=300, perplexity=10.0)


def objective(y: Array, table: Array, w: Array, freedom: int) -> float:
    q = (1 + cdist(y, y, "sqeuclidean") / freedom) ** (-(freedom + 1) / 2) * np.outer(w, w)
    np.fill_diagonal(q, 0)
    some = table > 0
    return float((table[some] * np.log(table[some] / (q / q.sum())[some])).sum())


def all_pairs(rows: Array, w: Array, perplexity: float) -> Any:
    away, near = tenfold.NeighborIndex(rows).nearest(None, len(rows) - 1)
    return joint(away, near, w, perplexity)


def as_table(pairs: Any, n: int) -> Array:
    table = np.zeros((n, n))
    table[np.repeat(np.arange(n), np.diff(pairs.start)), pairs.to] = pairs.p
    return table


# --- the objective ---


def test_probabilities_are_those_of_scikit_learn() -> None:
    from scipy.spatial.distance import squareform
    from sklearn.manifold._t_sne import _joint_probabilities

    expected = squareform(_joint_probabilities(cdist(X, X, "sqeuclidean"), 10.0, 0))
    table = as_table(all_pairs(X, np.ones(len(X)), 10.0), len(X))
    np.testing.assert_allclose(table, expected, rtol=0, atol=1e-6)
    assert table.sum() == pytest.approx(1.0) and np.array_equal(table, table.T)


@together("k", [1, 2, 3, 5])
def test_forces_are_the_gradient(k: int) -> None:
    """By differences of the objective; each row's is divided by its weight."""
    w, y, freedom = RNG.uniform(0.5, 2, 30), RNG.normal(size=(30, k)), max(k - 1, 1)
    w /= w.mean()
    pairs = all_pairs(X[:30], w, 6.0)
    table = as_table(pairs, 30)
    pull, push, total = _embed.forces(y, pairs.start, pairs.to, pairs.p, w, freedom, 0.0, 1)
    slope = 2 * (freedom + 1) / freedom * (pull - push / total)
    for i, a in ((0, 0), (7, k - 1)):
        e = np.zeros_like(y)
        e[i, a] = 1e-5
        by_differences = (objective(y + e, table, w, freedom) - objective(y - e, table, w, freedom)) / 2e-5
        assert slope[i, a] * w[i] == pytest.approx(by_differences, rel=1e-5, abs=1e-9)


@together("options", [{"method": "exact"}, {"angle": 0.0}, {"n_components": 3, "method": "exact"}])
def test_the_divergence_is_that_of_the_embedding(options: dict[str, Any]) -> None:
    model = tenfold.TSNE(**QUICK, **options).fit(X)
    k, freedom = model.embedding_.shape[1], max(model.embedding_.shape[1] - 1, 1)
    away, near = tenfold.NeighborIndex(X).nearest(None, len(X) - 1 if model.method == "exact" else 31)
    table = as_table(joint(away, near, np.ones(len(X)), 10.0), len(X))
    assert k == model.n_components
    assert model.kl_divergence_ == pytest.approx(objective(model.embedding_, table, np.ones(len(X)), freedom), rel=1e-9)


def test_as_low_as_scikit_learn() -> None:
    """600 rows, by cells."""
    ours = tenfold.TSNE(max_iter=500).fit(DIGITS)
    assert ours.kl_divergence_ < THEIRS * 1.02
    assert ours.n_iter_ == 499 and ours.learning_rate_ == 50
    assert trustworthiness(DIGITS, ours.embedding_) > 0.97


def test_more_steps_are_lower() -> None:
    found = [tenfold.TSNE(perplexity=10, max_iter=steps).fit(X).kl_divergence_ for steps in (250, 300, 500)]
    assert found[2] <= found[1] <= found[0]


def test_same_bits_on_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tenfold.manifold.tsne.ROWS_A_THREAD", 100)
    runs = []
    for threads in (1, 2, 3):
        with tenfold.threads(threads):
            runs.append(tenfold.TSNE(max_iter=250).fit(DIGITS))
    for other in runs[1:]:
        assert np.array_equal(other.embedding_, runs[0].embedding_)
        assert np.array_equal(other.transform(DIGITS[:9] + 0.3), runs[0].transform(DIGITS[:9] + 0.3))


# --- starts, weights and tables of distances ---


def test_starts() -> None:
    start = principal_start(X, np.ones(len(X)), 2, RNG)
    scores = tenfold.PCA(2).fit_transform(X)
    np.testing.assert_allclose(np.abs(start), np.abs(scores / scores[:, 0].std() * 1e-4), rtol=1e-8, atol=1e-14)
    wide = principal_start(X[:3, :].repeat(50, axis=1), np.ones(3), 2, RNG)
    assert np.isfinite(wide).all() and wide.shape == (3, 2)
    assert np.isfinite(tenfold.TSNE(**QUICK).fit_transform(X[:, :1])).all()  # one column, two axes
    again = tenfold.TSNE(**QUICK, init=start).fit(X)
    assert np.isfinite(again.embedding_).all()
    seeds = [tenfold.TSNE(**QUICK, init="random", random_state=seed).fit(X).embedding_ for seed in (0, 0, 1)]
    assert np.array_equal(seeds[0], seeds[1]) and not np.array_equal(seeds[0], seeds[2])


@together("method", ["exact", "barnes_hut"])
def test_distances_alone_will_do(method: str) -> None:
    D, options = cdist(X, X), dict(QUICK, init="random", random_state=0, method=method)
    given, rows = tenfold.TSNE(metric="precomputed", **options).fit(D), tenfold.TSNE(**options).fit(X)
    assert given.kl_divergence_ == pytest.approx(rows.kl_divergence_, rel=0.05)
    new = X[:5] + 0.05
    placed = given.transform(cdist(new, X))
    assert np.linalg.norm(placed - given.embedding_[:5], axis=1).max() < 0.3 * np.abs(given.embedding_).max()


def test_weights_of_one_size_weigh_nothing_and_copies_are_together() -> None:
    plain, heavy = (tenfold.TSNE(**QUICK).fit(X, sample_weight=w).embedding_ for w in (None, np.full(90, 4.0)))
    assert np.array_equal(plain, heavy)
    other = tenfold.TSNE(**QUICK).fit(X, sample_weight=RNG.uniform(0.5, 2, 90)).embedding_
    assert np.abs(other - plain).max() > 0.01 * np.abs(plain).max()
    copies = tenfold.TSNE(**QUICK).fit_transform(np.repeat(X[:40], 3, axis=0)).reshape(40, 3, 2)
    assert np.median(np.abs(copies - copies[:, :1]).max(axis=(1, 2))) < 0.05 * np.abs(copies).max()
    with pytest.warns(tenfold.DataWarning, match="all rows are the same"):
        assert not tenfold.TSNE(perplexity=2, max_iter=250).fit_transform(np.ones((9, 3))).any()


# --- new rows ---


def test_new_rows_find_their_groups() -> None:
    labels = load_digits().target[:600]
    model = tenfold.TSNE(max_iter=500).fit(DIGITS[:500])
    assert np.array_equal(model.transform(DIGITS[:4]), model.embedding_[:4])
    new = model.transform(DIGITS[500:])
    near = tenfold.KNeighborsClassifier(5).fit(model.embedding_, labels[:500])
    assert near.score(new, labels[500:]) > 0.8  # 0.84; by the nearest of the rows themselves 0.81
    own = model.transform(DIGITS[:100] + 1e-3)
    assert np.median(np.linalg.norm(own - model.embedding_[:100], axis=1)) < 0.05 * np.abs(model.embedding_).max()


def test_the_roll_is_kept_by_all_embeddings() -> None:
    roll = make_swiss_roll(1000, random_state=0)[0]
    for model in (tenfold.LocallyLinearEmbedding(n_neighbors=12), tenfold.Isomap(n_neighbors=10), tenfold.TSNE(max_iter=300)):
        assert trustworthiness(roll, model.fit_transform(roll), n_neighbors=5) > 0.95


# --- the score ---


@together("metric", ["euclidean", "manhattan", "cosine"])
def test_trustworthiness_is_that_of_scikit_learn(metric: str) -> None:
    places = RNG.normal(size=(90, 2)) + X[:, :2]
    for k in (1, 5, 20):
        expected = manifold.trustworthiness(X, places, n_neighbors=k, metric=metric)
        assert trustworthiness(X, places, n_neighbors=k, metric=metric) == pytest.approx(expected, rel=1e-12)
    given = trustworthiness(cdist(X, X), places, metric="precomputed")
    assert given == pytest.approx(trustworthiness(X, places), rel=1e-12)


# --- what is refused ---


@together(
    "options, wrong",
    [
        ({"perplexity": 90}, r"perplexity \(90\) must be less than n_samples \(90\): decrease"),
        ({"n_components": 4}, "inferior to 4.*method='exact'"),
        ({"metric": "precomputed"}, "init=.pca. cannot be used"),
        ({"init": "zeros"}, "'pca', 'random' or places"),
        ({"init": np.zeros((4, 2))}, r"shape \(90, 2\)"),
        ({"init": np.full((90, 2), np.nan)}, "finite"),
        ({"metric": "nowhere"}, "no such metric"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"max_iter": 9}, "max_iter"),
        ({"angle": 2.0}, "angle"),
    ],
)
def test_settings_that_are_refused(options: dict[str, Any], wrong: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=wrong):
        tenfold.TSNE(**options).fit(cdist(X, X))


def test_tables_that_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bad = cdist(X, X)
    bad[3, 5] = -1.0
    with pytest.raises(tenfold.BadInput, match="row 3 to row 5 is -1"):
        tenfold.TSNE(metric="precomputed", init="random").fit(bad)
    with pytest.raises(tenfold.BadInput, match="NaN"):
        tenfold.TSNE().fit(np.where(X > 2, np.nan, X))
    for wrong, given in (("n_samples / 2", X[:8]), ("a place for each row", X[:80])):
        with pytest.raises(tenfold.BadInput, match=wrong):
            trustworthiness(X[: len(given)] if wrong[0] == "n" else X, given[:, :2])
    monkeypatch.setattr("tenfold.core.memory.memory", lambda: (1e7, 2e7))
    monkeypatch.setattr("tenfold.core.memory.LITTLE", 1000)
    with pytest.raises(MemoryError, match=r"599 neighbours of 600 rows will take .*use method='barnes_hut'"):
        tenfold.TSNE(method="exact").fit(DIGITS)


@together("options", [{"learning_rate": 1e99}, {"learning_rate": 1e99, "method": "exact"}, {"learning_rate": 1e8}])
def test_steps_that_lead_nowhere_are_told_or_stay_finite(options: dict[str, Any]) -> None:
    try:
        found = tenfold.TSNE(max_iter=250, **options).fit(DIGITS)
    except tenfold.BadInput as told:
        assert "decrease learning_rate" in str(told)
    else:
        assert np.isfinite(found.embedding_).all()


def test_ctrl_c_ends_it() -> None:
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    model = tenfold.TSNE(max_iter=10**6, n_iter_without_progress=10**6, min_grad_norm=0.0)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(DIGITS)
    timer.join()
    assert not hasattr(model, "embedding_")
