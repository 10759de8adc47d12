"""Blocks of sparse tables: cut by what they hold."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix, random_array

from tenfold.core.data import Arrays, Target, block_rows, sparse_rows


def test_blocks_of_few_values_are_long_but_not_too_long_to_be_made_dense() -> None:
    X = random_array((30_000, 8000), density=1e-3, rng=np.random.default_rng(0), format="csr")
    assert block_rows(8000) == 128 and sparse_rows(X) == 1024
    assert sparse_rows(csr_matrix((10, 2_000_000))) == block_rows(2_000_000)
    assert sparse_rows(csr_matrix(np.ones((2000, 3000)))) == block_rows(3000)
    source = Arrays(X, None, None, Target("none"), {})
    assert source.n_parts == 30 and source.select(np.arange(2000)).n_parts == 2
    assert sum(source.load(part).X.nnz for part in source.parts()) == X.nnz
