"""Trees without a target: a column for each leaf."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import make_circles

import tenfold
from tenfold.base.sklearn_api import fresh


def test_each_row_is_in_one_leaf_of_each_tree() -> None:
    X = np.random.default_rng(0).normal(size=(300, 4))
    model = tenfold.RandomTreesEmbedding(12, max_depth=3, random_state=0)
    Z = model.fit_transform(X)
    assert scipy.sparse.issparse(Z) and Z.shape[1] == sum(tree.get_n_leaves() for tree in model) == len(model.get_feature_names_out())
    np.testing.assert_array_equal(Z.sum(axis=1), 12)
    leaves = model.apply(X)
    for k, name in enumerate(model.get_feature_names_out()):
        t, node = map(int, name.split("_")[1:])
        np.testing.assert_array_equal(Z[:, [k]].toarray()[:, 0], leaves[:, t] == node)
    dense = fresh(model).set_params(sparse_output=False).fit(X)
    np.testing.assert_array_equal(dense.transform(X), Z.toarray())
    single, rows = X.astype(np.float32), scipy.sparse.csr_matrix(X)
    assert fresh(model).fit_transform(single).dtype == np.float32
    np.testing.assert_array_equal(fresh(model).fit_transform(rows).toarray(), Z.toarray())


def test_columns_and_thresholds_are_drawn_and_more_trees_grow_on() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    model = tenfold.RandomTreesEmbedding(60, random_state=0).fit(X)
    roots = model.trees_.first[:-1]
    assert np.bincount(model.trees_.feature[roots]).min() > 8 and len(np.unique(model.trees_.threshold[roots])) > 30
    grown = tenfold.RandomTreesEmbedding(20, random_state=0, warm_start=True).fit(X).set_params(n_estimators=60).fit(X)
    np.testing.assert_array_equal(grown.trees_.threshold, model.trees_.threshold)


def test_what_is_not_linear_becomes_so() -> None:
    X, y = make_circles(400, factor=0.5, noise=0.05, random_state=0)
    plain, leaves = tenfold.LogisticRegression(), tenfold.RandomTreesEmbedding(40, random_state=0)
    Z = leaves.fit(X[:300]).transform(X)
    assert plain.fit(X[:300], y[:300]).score(X[300:], y[300:]) < 0.7
    assert plain.fit(Z[:300], y[:300]).score(Z[300:], y[300:]) > 0.97
    with pytest.raises(tenfold.NotFitted):
        len(tenfold.RandomTreesEmbedding())
