"""Naive Bayes with histograms and with columns of several kinds: scikit-learn on columns of one kind, else sums of log-likelihoods."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import bernoulli, norm, poisson
from sklearn import naive_bayes as theirs
from sklearn.datasets import load_iris
from sklearn.preprocessing import KBinsDiscretizer

import tenfold
from tenfold.core.errors import BadInput, BadParameter, Degenerate

IRIS, Y = load_iris(return_X_y=True)
RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 4, (150, 3)) + (Y == 2)[:, None]
MIXED = np.column_stack([IRIS[:, :1], RNG.poisson(2 + Y), RNG.random(150) < 0.2 + 0.3 * Y, CODES[:, 0], IRIS[:, 2]])
FOUR = ["gaussian", "count", "bernoulli", "categorical", "histogram"]


def test_of_one_kind_it_is_scikit_learns() -> None:
    for kind, X, other in (
        ("gaussian", IRIS, theirs.GaussianNB(var_smoothing=0)),  # which does not weigh the largest variance
        ("categorical", CODES, theirs.CategoricalNB(alpha=0.5)),
        ("bernoulli", CODES - 2.0, theirs.BernoulliNB(alpha=0.5)),
    ):
        for w in (None, RNG.integers(0, 3, 150)):
            ours = tenfold.MixedNB(numbers=kind, alpha=0.5, var_smoothing=0).fit(X, Y, w)
            other.fit(X, Y, sample_weight=w)
            np.testing.assert_allclose(ours.predict_joint_log_proba(X), other.predict_joint_log_proba(X), rtol=1e-9)
            np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize("bins", [3, 8, "scott", "fd"])
def test_histograms_are_bins_and_their_counts(bins: Any) -> None:
    """scikit-learn's bins of equal width, and its counts of them."""
    ours = tenfold.HistogramNB(bins, alpha=2).fit(IRIS, Y)
    numbers = [len(one) - 1 for one in ours.edges_]
    assert numbers == [len(np.histogram_bin_edges(column, bins)) - 1 for column in IRIS.T]
    coder = KBinsDiscretizer([max(2, m) for m in numbers], encode="ordinal", strategy="uniform").fit(IRIS)
    other = theirs.CategoricalNB(alpha=2, min_categories=numbers).fit(coder.transform(IRIS), Y)
    far = np.concatenate([IRIS, [[-100.0] * 4, [100.0] * 4]])  # beyond the range: the first and the last bin
    np.testing.assert_allclose(ours.predict_proba(far), other.predict_proba(coder.transform(far)), rtol=0, atol=1e-12)
    assert not hasattr(ours, "partial_fit") and ours.kind == "many passes"


def test_of_several_kinds_log_likelihoods_add_up() -> None:
    model = tenfold.MixedNB(FOUR, alpha=0.5, bins=6).fit(MIXED, Y)
    assert model.kinds_ == FOUR
    expected = np.log(np.full((150, 3), 1 / 3))
    edges = np.histogram_bin_edges(MIXED[:, 4], 6)
    for k in range(3):
        own = MIXED[k == Y]
        variance = own[:, 0].var() + 1e-9 * MIXED[:, 0].var()
        expected[:, k] += norm.logpdf(MIXED[:, 0], own[:, 0].mean(), np.sqrt(variance))
        expected[:, k] += poisson.logpmf(MIXED[:, 1], (own[:, 1].sum() + 0.5 * MIXED[:, 1].mean()) / (50 + 0.5))
        expected[:, k] += bernoulli.logpmf(MIXED[:, 2], (own[:, 2].sum() + 0.5) / 51)
        share = (np.bincount(own[:, 3].astype(int), minlength=5) + 0.5) / (50 + 2.5)
        expected[:, k] += np.log(share[MIXED[:, 3].astype(int)])
        density = (np.histogram(own[:, 4], edges)[0] + 0.5) / (50 + 3) / np.diff(edges)
        expected[:, k] += np.log(density[np.minimum(np.searchsorted(edges, MIXED[:, 4], side="right") - 1, 5)])
    np.testing.assert_allclose(model.predict_joint_log_proba(MIXED), expected, rtol=1e-10)


def test_missing_cells_are_left_out_of_the_product() -> None:
    """What is learned of a column is what its present cells say, and rows say what their present columns say."""
    X = np.where(RNG.random(MIXED.shape) < 0.2, np.nan, MIXED)
    model = tenfold.MixedNB(FOUR, bins=5, priors=[0.2, 0.3, 0.5], var_smoothing=0).fit(X, Y)
    expected = np.tile(np.log([0.2, 0.3, 0.5]), (150, 1))
    for j, kind in enumerate(FOUR):
        here = ~np.isnan(X[:, j])
        alone = tenfold.MixedNB([kind], bins=5, var_smoothing=0, priors=[1 / 3] * 3).fit(X[here][:, [j]], Y[here])
        expected[here] += alone.predict_joint_log_proba(X[here][:, [j]]) + np.log(3)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), expected, rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(np.full((1, 5), np.nan)), [[0.2, 0.3, 0.5]], rtol=1e-12)
    gone = X.copy()
    gone[Y == 1, 0] = np.nan  # a class of which nothing is known in a column: that says no more of it than of all others together
    assert np.isfinite(tenfold.MixedNB(FOUR, bins=5).fit(gone, Y).predict_joint_log_proba(MIXED)).all()


def test_a_table_with_text_goes_straight_in() -> None:
    table = pl.DataFrame({"sky": np.array(["clear", "grey", "rain"])[Y], "wind": np.array([None, "weak", "strong"])[CODES[:, 1] % 3],
                          "warm": Y > 0, "degrees": IRIS[:, 0], "drops": MIXED[:, 1]})  # fmt: skip
    model = tenfold.MixedNB({"drops": "count"}).fit(table, Y)
    assert model.kinds_ == ["categorical", "categorical", "categorical", "gaussian", "count"]
    assert model.score(table, Y) == 1.0
    new = pl.DataFrame({"sky": ["fog"], "wind": ["weak"], "warm": [True], "degrees": [None], "drops": [3.0]})
    assert np.isfinite(model.predict_proba(new)).all()
    with pytest.raises(BadParameter, match="column 'sky' of X holds text or truth values, which are 'categorical'"):
        tenfold.MixedNB({"sky": "count"}).fit(table, Y)


def test_ten_folds_are_merged_where_one_pass_is_enough() -> None:
    for model, method in ((tenfold.MixedNB(FOUR[:4]), "merged statistics"), (tenfold.MixedNB(FOUR), None), (tenfold.HistogramNB(), None)):
        X = MIXED[:, :4] if method else MIXED
        found = tenfold.cross_validate(model, X, Y, folds=10)
        assert method is None or found.method == method
        for k in range(10):
            test = found.fold[0] == k
            alone = type(model)(**model.get_params(deep=False)).fit(X[~test], Y[~test])
            np.testing.assert_allclose(found.probabilities[test], alone.predict_proba(X[test]), rtol=0, atol=1e-10)


def test_odd_columns_and_what_is_refused() -> None:
    flat = np.column_stack([np.zeros(20), np.full(20, np.nan), np.arange(20.0)])
    y = np.arange(20) > 9
    for kind in FOUR:
        model = tenfold.MixedNB([kind, kind, "gaussian"]).fit(flat, y)
        alone = tenfold.MixedNB().fit(flat[:, 2:], y)
        np.testing.assert_allclose(model.predict_proba(flat + np.array([3.0, 3.0, 0.0])), alone.predict_proba(flat[:, 2:]), atol=1e-12)
    with pytest.warns(Degenerate, match="column 0 of X is constant in class False and nothing smooths it"):
        tenfold.MixedNB(var_smoothing=0).fit(flat, y)
    for asked, message in (
        ({"kinds": ["gaussian"]}, "a kind for each of the 5 columns"),
        ({"kinds": {7: "count"}}, "X has no column 7"),
        ({"kinds": {1: "poisson"}}, "column 1 has 'poisson', none of gaussian"),
        ({"kinds": FOUR, "bins": "auto"}, "bins='auto'"),
        ({"kinds": FOUR, "bins": 0}, "bins=0"),
        ({"priors": [1, 2]}, "Number of priors"),
    ):
        with pytest.raises(BadParameter, match=message):
            tenfold.MixedNB(**asked).fit(MIXED, Y)
    for kind, remedy in (("count", "a count is at least 0"), ("categorical", "categories are numbered 0, 1")):
        with pytest.raises(BadInput, match=rf"column 1 of X holds -2, and {remedy}"):
            tenfold.MixedNB({1: kind}).fit(np.column_stack([np.ones(4), [0, 1, -2, 3]]), [0, 1, 0, 1])
