"""Naive Bayes of counts and categories: equal to scikit-learn's, and to the formula; what cannot be counted is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.naive_bayes as theirs
from scipy.sparse import csr_matrix, random_array

import tenfold
from tenfold.core.errors import BadInput, BadParameter, CannotForget, DataWarning

rng = np.random.default_rng(0)
COUNTS = rng.poisson(rng.gamma(1.0, size=(3, 12))[np.arange(150) % 3]).astype(np.float64)
LABELS = np.array(["a", "b", "c"])[np.arange(150) % 3]
CODES = rng.integers(0, 4, (150, 5)).astype(np.float64)
CODES[:, 0] = np.arange(150) % 3
W = rng.uniform(0.2, 3, 150)
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("MultinomialNB", {}), ("MultinomialNB", {"alpha": 0.01, "fit_prior": False}), ("MultinomialNB", {"class_prior": [0.2, 0.3, 0.5]}),
    ("MultinomialNB", {"alpha": np.linspace(0.5, 2, 12)}), ("ComplementNB", {}), ("ComplementNB", {"norm": True, "alpha": 0.3}),
    ("BernoulliNB", {}), ("BernoulliNB", {"binarize": 1.0, "alpha": 0.1}),
]  # fmt: skip


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize(("name", "setting"), SETTINGS, ids=str)
def test_counts_equal_to_scikit_learn(name: str, setting: dict[str, Any], weights: Any, sparse: bool) -> None:
    X = csr_matrix(COUNTS) if sparse else COUNTS
    ours = getattr(tenfold, name)(**setting).fit(X, LABELS, weights)
    reference = getattr(theirs, name)(**setting).fit(X, LABELS, weights)
    for attribute in ("class_count_", "feature_count_", "feature_log_prob_", "class_log_prior_"):
        np.testing.assert_allclose(getattr(ours, attribute), getattr(reference, attribute), rtol=1e-11, err_msg=attribute)
    np.testing.assert_allclose(ours.predict_log_proba(X), reference.predict_log_proba(X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours.predict_joint_log_proba(X), reference.predict_joint_log_proba(X), rtol=1e-11)


@pytest.mark.parametrize("setting", [{}, {"alpha": 0.1}, {"min_categories": 6}, {"min_categories": [3, 4, 5, 6, 7], "fit_prior": False}])
def test_categories_equal_to_scikit_learn(setting: dict[str, Any]) -> None:
    ours, reference = tenfold.CategoricalNB(**setting).fit(CODES, LABELS, W), theirs.CategoricalNB(**setting).fit(CODES, LABELS, W)
    np.testing.assert_array_equal(ours.n_categories_, reference.n_categories_)
    for found, expected in zip(ours.feature_log_prob_, reference.feature_log_prob_, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(ours.predict_log_proba(CODES), reference.predict_log_proba(CODES), rtol=1e-10, atol=1e-10)


def test_bernoulli_is_the_mean_under_a_beta_prior() -> None:
    """By numerical integration of θ^N (1 − θ)^(n − N) times the Beta(α, α) density."""
    model = tenfold.BernoulliNB(alpha=2.0).fit(COUNTS, LABELS)
    theta = (np.arange(200_000) + 0.5) / 200_000
    for k in range(3):
        n, N = model.class_count_[k], model.feature_count_[k, 4]
        density = theta ** (N + 1) * (1 - theta) ** (n - N + 1)
        np.testing.assert_allclose(np.exp(model.feature_log_prob_[k, 4]), (theta * density).sum() / density.sum(), rtol=1e-8)


def test_missing_and_unseen_categories_are_left_out() -> None:
    model = tenfold.CategoricalNB().fit(CODES, LABELS)
    row = CODES[:1].copy()
    whole = model.predict_joint_log_proba(row)
    for strange in (np.nan, 9.0):
        row[0, 2] = strange
        part = model.feature_log_prob_[2][:, int(CODES[0, 2])]
        np.testing.assert_allclose(model.predict_joint_log_proba(row)[0], whole[0] - part, rtol=1e-12)
    frame = pandas.DataFrame({"sky": ["clear", "grey", None, "clear"] * 5, "day": [0, 1, 1, 0] * 5})
    text = tenfold.CategoricalNB().fit(frame, ["out", "in", "in", "out"] * 5)
    assert text.predict(pandas.DataFrame({"sky": ["grey", "purple"], "day": [1, 0]})).tolist() == ["in", "out"]


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "BernoulliNB", "CategoricalNB"])
def test_cross_validation_merges_sums(name: str) -> None:
    X = CODES if name == "CategoricalNB" else COUNTS
    model = getattr(tenfold, name)()
    folds = [(np.flatnonzero(np.arange(150) % 5 != f), np.flatnonzero(np.arange(150) % 5 == f)) for f in range(5)]
    found = tenfold.cross_val_predict(model, X, LABELS, folds=folds)
    result = tenfold.cross_validate(model, X, LABELS, folds=folds)
    assert "merged" in str(result) or "refit" not in str(result)
    for train, test in folds:
        alone = getattr(tenfold, name)().fit(X[train], LABELS[train]).predict(X[test])
        assert (found[test] == alone).all()
    both = getattr(tenfold, name)().fit(X[:70], LABELS[:70]).merge(getattr(tenfold, name)().fit(X[70:], LABELS[70:]))
    np.testing.assert_allclose(both.predict_proba(X), getattr(tenfold, name)().fit(X, LABELS).predict_proba(X), rtol=1e-10)
    with pytest.raises(CannotForget, match="more rows"):
        getattr(tenfold, name)().fit(X[:20], LABELS[:20]).forget(X[20:90], LABELS[20:90])


def test_a_million_columns() -> None:
    X = random_array((500, 1_000_000), density=2e-5, rng=np.random.default_rng(1), format="csr")
    y = np.arange(500) % 2
    for kind in (tenfold.MultinomialNB, tenfold.BernoulliNB):
        model = kind().fit(X, y)
        expected = getattr(theirs, kind.__name__)().fit(X, y).predict_log_proba(X)
        np.testing.assert_allclose(model.predict_log_proba(X), expected, rtol=1e-6, atol=1e-8)


def test_what_cannot_be_counted() -> None:
    frame = pandas.DataFrame({"height": [1.0, 2.0], "depth": [1.0, -3.0]})
    for kind in (tenfold.MultinomialNB, tenfold.ComplementNB, tenfold.CategoricalNB):
        with pytest.raises(BadInput, match=r"Negative values .*'depth'.* holds -3"):
            kind().fit(frame, [0, 1])
    with pytest.raises(BadInput, match="column 1 holds -3"):
        tenfold.MultinomialNB().fit(csr_matrix(frame.to_numpy()), [0, 1])
    for number in (1e100, 2e9, 1e8):  # 1e8 in a dozen rows took 22 GB
        with pytest.raises(BadInput, match="no number of a category"):
            tenfold.CategoricalNB().fit([[0.0], [number]], [0, 1])
    wide = np.zeros((2, 40_000))
    wide[1, 0] = 1.6e7
    with pytest.raises(MemoryError, match="categories"):
        tenfold.CategoricalNB().fit(wide, [0, 1])
    with pytest.raises(BadInput, match="binarize"):
        tenfold.BernoulliNB(binarize=None).fit([[0.0], [3.0]], [0, 1])
    for setting, message in (({"alpha": [1.0, -1.0]}, "All values in alpha"), ({"alpha": [1.0]}, "n_features"), ({"alpha": -1}, ">= 0"),
                             ({"class_prior": [1.0]}, "Number of priors"), ({"class_prior": [-1.0, 2.0]}, "probabilities")):  # fmt: skip
        with pytest.raises(BadParameter, match=message):
            tenfold.MultinomialNB(**setting).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    with pytest.warns(DataWarning, match="alpha too small"):
        tenfold.MultinomialNB(alpha=0.0, force_alpha=False).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])


def test_probabilities_of_zero() -> None:
    model = tenfold.MultinomialNB(alpha=0.0).fit([[3.0, 0.0], [0.0, 2.0]], [0, 1])
    np.testing.assert_array_equal(model.predict_proba([[1.0, 0.0], [0.0, 5.0], [0.0, 0.0]]), [[1, 0], [0, 1], [0.5, 0.5]])
    one = tenfold.BernoulliNB(alpha=0.0).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    np.testing.assert_array_equal(one.predict_proba([[1.0, 0.0], [0.0, 1.0]]), [[1, 0], [0, 1]])
    assert np.isfinite(one.predict_proba([[1.0, 1.0]])).all()
