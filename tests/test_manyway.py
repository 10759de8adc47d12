"""ID3 and C4.5: the loan table worked by hand, the tree of irises in the literature, missing values, words, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import pytest
from scipy.stats import binom
from sklearn.datasets import load_iris

import tenfold
from tenfold.tree.structure.multiway import LEAF, bits
from tenfold.tree.structure.prune import upper_error

LOANS = pandas.DataFrame(
    {
        "credit": ["positive", "positive", "positive", "negative", "negative"],
        "employed": ["yes", "no", "no", "no", "yes"],
        "collateral": ["no", "yes", "no", "yes", "no"],
    }
)
PAID = np.array(["yes", "yes", "no", "no", "no"])


def test_loan_table() -> None:
    """Entropy 0.97 bit, 0.42 bit from the credit report, and the tree: all by hand."""
    assert float(bits(np.array([2.0, 3.0]))) / 5 == pytest.approx(0.971, abs=5e-4)
    model = tenfold.ID3Classifier().fit(LOANS, PAID)
    tree = model.tree_
    by_hand = 0.97095 - 3 / 5 * 0.91830 - 0
    assert tree.feature[0] == 0 and tree.gain[0] == pytest.approx(by_hand, abs=1e-4) == pytest.approx(0.42, abs=5e-3)
    assert model.export_text().splitlines() == [
        "credit = negative: no (2)",
        "credit = positive",
        "|   employed = no",
        "|   |   collateral = no: no (1)",
        "|   |   collateral = yes: yes (1)",
        "|   employed = yes: yes (1)",
    ]
    assert model.rules()[1] == "if credit = positive and employed = no and collateral = no then no (1)"
    assert (model.predict(LOANS) == PAID).all()
    assert (model.get_depth(), model.get_n_leaves()) == (3, 4)


def test_gains_by_brute_force() -> None:
    """Every node splits on the column of largest gain, counted again from the rows that reach it."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 5)).astype(float)
    y = (X[:, 0] * X[:, 1] + X[:, 2] + rng.integers(0, 3, 300)).astype(int) % 3
    w = rng.integers(1, 4, 300)
    tree = tenfold.ID3Classifier(categorical_features=list(range(5))).fit(X, y, w).tree_
    reach = {0: np.ones(300, dtype=bool)}
    for i in range(len(tree)):
        if tree.feature[i] == LEAF:
            continue
        here = reach[i]
        gains = [_entropy(y[here], w[here]) - _rest(X[here, j], y[here], w[here]) for j in range(5)]
        assert tree.gain[i] == pytest.approx(max(gains), abs=1e-12) == pytest.approx(gains[tree.feature[i]], abs=1e-9)
        for value, child in tree.branches(i):
            reach[child] = here & (X[:, tree.feature[i]] == value)
            np.testing.assert_allclose(tree.counts[child], np.bincount(y[reach[child]], w[reach[child]], 3), rtol=1e-12)


def _entropy(y: Any, w: Any) -> float:
    share = np.array([w[y == k].sum() for k in np.unique(y)]) / w.sum()
    return float(-(share * np.log2(share)).sum())


def _rest(x: Any, y: Any, w: Any) -> float:
    return sum(w[x == v].sum() / w.sum() * _entropy(y[x == v], w[x == v]) for v in np.unique(x))


def test_c45_on_irises() -> None:
    """The pruned tree that C4.5 and J48 print for this table: 9 nodes, 3 + 1 rows wrong at the same leaves."""
    X, y = load_iris(return_X_y=True)
    assert tenfold.C45Classifier().fit(X, y).export_text(decimals=1).splitlines() == [
        "x3 <= 0.8: 0 (50)",
        "x3 > 0.8",
        "|   x3 <= 1.8",
        "|   |   x2 <= 5.0: 1 (47 of 48)",
        "|   |   x2 > 5.0",
        "|   |   |   x3 <= 1.6: 2 (3)",
        "|   |   |   x3 > 1.6: 1 (2 of 3)",
        "|   x3 > 1.8: 2 (45 of 46)",
    ]


def test_gain_ratio_is_wary_of_many_values() -> None:
    """A column with a value of its own for each row gains most, and tells nothing: ID3 takes it, C4.5 does not."""
    rng = np.random.default_rng(1)
    useful = rng.integers(0, 2, 60)
    y = np.where(rng.random(60) < 0.1, 1 - useful, useful)
    X = np.column_stack([np.arange(60), useful]).astype(float)
    assert tenfold.ID3Classifier(categorical_features=[0, 1]).fit(X, y).tree_.feature[0] == 0
    assert tenfold.C45Classifier(categorical_features=[0, 1]).fit(X, y).tree_.feature[0] == 1


def test_missing_values_go_down_every_branch() -> None:
    """Weights at the children by hand: 3 of 5 known rows left, so 3/5 of the row that does not say."""
    x = np.array([0.0, 0.0, 0.0, 1.0, 1.0, np.nan])
    y = np.array([0, 0, 0, 1, 1, 1])
    model = tenfold.C45Classifier(min_samples_leaf=1, prune=False, categorical_features=[0]).fit(x[:, None], y)
    np.testing.assert_allclose(model.tree_.counts[1:], [[3, 0.6], [0, 2.4]], rtol=1e-12)
    left, right = np.array([3, 0.6]) / 3.6, np.array([0.0, 1.0])
    np.testing.assert_allclose(model.predict_proba([[np.nan]])[0], 0.6 * left + 0.4 * right, rtol=1e-12)
    np.testing.assert_array_equal(model.predict_proba([[7.0]]), model.predict_proba([[np.nan]]))  # never seen


def test_limit_of_errors() -> None:
    """At the limit, so few errors have just the probability asked for."""
    n, errors = np.array([3.0, 10.0, 50.0]), np.array([0.0, 2.0, 7.0])
    rate = upper_error(errors, n, 0.25) / n
    np.testing.assert_allclose(binom.cdf(errors, n, rate), 0.25, rtol=1e-9)
    assert upper_error(np.array([4.0]), np.array([4.0]), 0.25)[0] == 4


def test_pruning_makes_it_smaller_and_better() -> None:
    """Noise in the labels: a full tree learns it, a pruned one finds the one column that counts."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (800, 5)).astype(float)
    y = np.where(rng.random(800) < 0.2, X[:, 0] <= 2, X[:, 0] > 2).astype(int)
    every = list(range(5))
    full = tenfold.C45Classifier(prune=False, categorical_features=every).fit(X[:400], y[:400])
    pruned = tenfold.C45Classifier(categorical_features=every).fit(X[:400], y[:400])
    assert len(pruned.tree_) < 0.5 * len(full.tree_)
    assert pruned.score(X[400:], y[400:]) > full.score(X[400:], y[400:]) + 0.02
    assert pruned.get_depth() == 1 and pruned.tree_.feature[0] == 0


def test_discretised_numbers() -> None:
    """Intervals of equal weight, and words for them."""
    x = np.arange(100.0)
    model = tenfold.ID3Classifier(n_bins=4).fit(x[:, None], (x > 49.5).astype(int))
    np.testing.assert_allclose(model.edges_[0], [24.5, 49.5, 74.5], rtol=1e-12)
    assert model.rules()[1] == "if 24.50 < x0 <= 49.50 then 0 (25)"
    assert (model.predict([[-5.0], [50.0], [1e9]]) == [0, 1, 1]).all()


@pytest.mark.parametrize("cls", [tenfold.ID3Classifier, tenfold.C45Classifier])
def test_odd_tables(cls: Any) -> None:
    one = cls().fit([[1.0, np.nan]], ["a"])
    assert list(one.predict([[np.nan, 3.0]])) == ["a"] and one.export_text() == "a (1)" and one.rules() == ["a (1)"]
    blank = cls().fit(np.full((4, 1), np.nan), [0, 1, 0, 0])
    np.testing.assert_allclose(blank.predict_proba([[2.0]]), [[0.75, 0.25]], rtol=1e-12)
    rng = np.random.default_rng(0)
    many = pandas.DataFrame({"id": [f"n{i}" for i in range(100_000)], "x": rng.integers(0, 2, 100_000).astype(str)})
    wide = cls(max_depth=1).fit(many, many["x"].astype(int))
    unseen = pandas.DataFrame({"id": ["new"], "x": ["1"]})
    assert np.isfinite(wide.predict_proba(unseen)).all()


def test_a_damaged_tree_is_refused(tmp_path: Any) -> None:
    model = tenfold.ID3Classifier().fit(LOANS, PAID)
    model.tree_.child[0] = 0  # its own child: a walk without end
    tenfold.save(model, tmp_path / "model.tenfold")
    with pytest.raises(tenfold.BadFile, match="no tree"):
        tenfold.load(tmp_path / "model.tenfold")
