"""Sparse tables: places that are none or named twice, and blocks, cut by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import label, learners
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csc_matrix, csr_array, csr_matrix, random, random_array

import tenfold
from tenfold.base.sklearn_api import fresh
from tenfold.core import data
from tenfold.core.data import Arrays, Target, block_rows, sparse_rows


def test_blocks_of_few_values_are_long_but_not_too_long_to_be_made_dense() -> None:
    X = random_array((30_000, 8000), density=1e-3, rng=np.random.default_rng(0), format="csr")
    assert block_rows(8000) == 128 and sparse_rows(X) == 1024
    assert sparse_rows(csr_matrix((10, 2_000_000))) == block_rows(2_000_000)
    assert sparse_rows(csr_matrix(np.ones((2000, 3000)))) == block_rows(3000)
    source = Arrays(X, None, None, Target("none"), {})
    assert source.n_parts == 30 and source.select(np.arange(2000)).n_parts == 2
    assert sum(source.load(part).X.nnz for part in source.parts()) == X.nnz


@pytest.mark.parametrize("container", [csr_matrix, csr_array])
def test_blocks_of_neighbours_are_no_copies(container: Any) -> None:
    X = container(random(300, 40, density=0.2, format="csr", random_state=0))
    for start, stop in ((0, 300), (0, 0), (7, 7), (7, 150), (299, 300)):
        block = data.rows_of(X, slice(start, stop))
        assert_array_equal(block.toarray(), X.toarray()[start:stop])
        assert block.nnz == 0 or np.shares_memory(block.data, X.data)
    twice = container((np.ones(3), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    assert not np.shares_memory(data.rows_of(twice, slice(0, 1)).data, twice.data)  # adding up what stands twice would change it


@pytest.mark.parametrize(
    "learner",
    [
        tenfold.LogisticRegression(),
        tenfold.LinearSVC(),
        tenfold.SGDClassifier(random_state=0),
        tenfold.SGDRegressor(random_state=0),
        tenfold.LinearSVR(),
        tenfold.PoissonRegressor(),
        tenfold.MultinomialNB(),
        tenfold.ComplementNB(),
        tenfold.BernoulliNB(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_is_said_of_many_columns_makes_no_row_dense(learner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that blocks may hold as many of them as their values fill."""
    rng = np.random.default_rng(0)
    X = random(2000, 9000, density=0.001, format="csr", random_state=rng, data_rvs=lambda n: rng.uniform(0, 1, n))
    y = (X.sum(axis=1).A1 + rng.uniform(0, 1, 2000) > 5).astype(int)
    learner.fit(X[:100], y[:100])
    expected = learner.predict(X.toarray())
    monkeypatch.setattr(csr_matrix, "toarray", None)
    assert_allclose(learner.predict(X), expected, rtol=1e-9, atol=1e-12)
    assert learner.lean and sparse_rows(X, lean=True) >= 2000 > sparse_rows(X)


def _by_hand(indices: list[int], indptr: list[int], kind: Any) -> Any:
    """A sparse matrix as somebody makes it from three arrays, which SciPy does not look at."""
    made = kind((3, 3))
    made.data, made.indices, made.indptr = np.arange(1.0, len(indices) + 1), np.array(indices), np.array(indptr)
    return made


@pytest.mark.parametrize("kind", [csr_matrix, csc_matrix])
@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 1, 2, 0, 50_000_000], [0, 3, 3, 5]), ([0, 1, 2, 0, -7], [0, 3, 4, 5]), ([0, 1, 2, 0, 1], [0, 7, 4, 5])],
    ids=str,
)
def test_sparse_places_outside_the_table_are_refused(indices: list[int], indptr: list[int], kind: Any) -> None:
    """SciPy would read and write beyond its arrays: the process would be gone."""
    bad, y = _by_hand(indices, indptr, kind), np.arange(3.0)
    whole = tenfold.Ridge().fit(np.eye(3), y)
    for ask in (lambda: tenfold.Ridge().fit(bad, y), lambda: whole.predict(bad), lambda: tenfold.KNeighborsRegressor(1).fit(bad, y)):
        with pytest.raises(tenfold.BadInput, match=r"no table of 3 rows and 3 columns .*give the right shape"):
            ask()


@pytest.mark.parametrize("case", [one for one in learners() if one.sparse and not isinstance(one, tenfold.Pipeline)], ids=label)
def test_values_of_one_sparse_place_are_their_sum(case: Any) -> None:
    """As everywhere in SciPy: counts of words are often made so."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(30, 4)) + 5) * (rng.random((30, 4)) > 0.3)
    whole = csr_matrix(X)
    halves = csr_matrix((np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), 2 * whole.indptr), shape=X.shape)
    kept = halves.data.copy()
    y = None if case.target == "none" else X[:, 0] > 4 if case.target == "label" else np.abs(X[:, 0]) / 50 + 0.1
    known, found = (fresh(case).fit(rows, y) for rows in (whole, halves))
    for verb in ("predict", "transform"):
        if hasattr(known, verb):
            a, b = (getattr(one, verb)(rows) for one, rows in ((known, whole), (found, halves)))
            a, b = (one.toarray() if hasattr(one, "toarray") else one for one in (a, b))
            if a.dtype.kind == "f":
                assert_allclose(b, a, rtol=1e-6, atol=1e-9)
            else:
                assert_array_equal(b, a)
    assert_array_equal(halves.data, kept)
