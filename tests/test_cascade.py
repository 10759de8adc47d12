"""Cascades: the miss rate stays within its bound on rows never seen, early rejection is as specified, costs are reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold


def rows(n: int, seed: int, rare: float = 0.5) -> tuple[Any, Any]:
    """A corner of six Gaussian columns, with some noise at its border."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    depth = np.minimum(X[:, 0] - rare, X[:, 1] + X[:, 2] - 0.3)
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-8 * depth)), "face", "background")


def test_miss_rate_and_cost() -> None:
    X, y = rows(12_000, 0)
    model = tenfold.CascadeClassifier(max_miss=0.05, positive="face", random_state=0).fit(X, y)
    new, truth = rows(20_000, 1)
    missed = np.mean(model.predict(new[truth == "face"]) != "face")
    assert missed <= 0.05 and model.miss_bound_ <= 0.05 and model.held_out_miss_ <= model.miss_bound_
    # The stages grow, pass ever fewer of the others, and most rows never see the expensive ones.
    assert list(model.stage_costs_) == [2, 10, 50, 200]
    assert (np.diff(model.pass_rate_) <= 0).all() and model.pass_rate_[-1] < 0.35
    exits = model.exits(new)
    assert np.mean(exits == 0) > 0.3
    np.testing.assert_array_equal(exits == 4, model.predict(new) == "face")
    np.testing.assert_array_equal(model.costs(new), np.array([2, 12, 62, 262, 262])[exits])
    assert model.costs(new).mean() == pytest.approx(model.cost_, rel=0.1) and model.cost_ < 0.6 * 262


def test_the_bound_holds_as_often_as_it_says() -> None:
    """Of 50 cascades at confidence 0.8 about ten may exceed their bound: 20 or more would be one chance in a thousand."""
    rng = np.random.default_rng(0)
    stages = [tenfold.GaussianNB(), tenfold.LinearDiscriminantAnalysis()]
    new = rng.normal(size=(5000, 2)) + np.array([1.0, 0.5])  # positive rows
    beyond, bounds = 0, []
    for seed in range(50):
        X = rng.normal(size=(400, 2))
        y = np.arange(400) % 2
        X[y == 1] += [1.0, 0.5]
        cascade = tenfold.CascadeClassifier(stages, max_miss=0.15, confidence=0.8, random_state=seed).fit(X, y)
        bounds.append(cascade.miss_bound_)
        beyond += np.mean(cascade.predict(new) == 0) > 0.15
    assert max(bounds) <= 0.15 and 2 <= beyond <= 19


def test_thresholds_are_order_statistics() -> None:
    """One stage: the k-th smallest score of the positive rows held out, with the largest k that the Beta law allows."""
    from scipy.stats import beta

    from tenfold.core import ops
    from tenfold.core.random import generator, seed_of

    X, y = rows(3000, 2)
    y = (y == "face").astype(int)
    model = tenfold.CascadeClassifier([tenfold.GaussianNB()], max_miss=0.1, random_state=5).fit(X, y)
    held = ops.hash_rows(X, seed_of(generator(5))) < np.uint64(0.3 * 2.0**64)
    sides = np.bincount(y[~held])
    stage = tenfold.GaussianNB().fit(X[~held], y[~held], (1 / sides)[y[~held]])
    scores = np.sort(stage.predict_proba(X[held & (y == 1)])[:, 1])
    m = len(scores)
    k = max(k for k in range(1, m) if beta.ppf(0.95, k, m - k + 1) <= 0.1)
    assert model.thresholds_[0] == pytest.approx(scores[k - 1], rel=1e-9)
    assert model.miss_bound_ == pytest.approx(beta.ppf(0.95, k, m - k + 1), rel=1e-9)
    assert model.held_out_miss_ == pytest.approx((k - 1) / m, rel=1e-12)


def test_more_classes_and_few_rows() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 2000)
    X = rng.normal(size=(2000, 2)) + 3 * np.eye(3)[kind][:, :2]
    label = np.array(["car", "face", "tree"])[kind]
    stages = [tenfold.GaussianNB(), tenfold.AdaBoostClassifier(n_estimators=20)]
    model = tenfold.CascadeClassifier(stages, max_miss=0.1, positive="face", random_state=0).fit(X, label)
    assert np.mean(model.predict(X[label == "face"]) == "face") > 0.9
    assert set(model.predict(X)) <= {"car", "face", "tree"} and model.score(X, label) > 0.8
    with pytest.warns(tenfold.Degenerate, match="give 299 or more"):
        tenfold.CascadeClassifier(stages, random_state=0).fit(X[:60], label[:60])
    with pytest.raises(tenfold.BadParameter, match="must be one of the classes"):
        tenfold.CascadeClassifier(positive="dog").fit(X, label)
    with pytest.raises(tenfold.BadParameter, match="list of classifiers"):
        tenfold.CascadeClassifier([tenfold.Ridge()]).fit(X, label)
