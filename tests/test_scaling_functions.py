"""Scaling as functions of one table: against scikit-learn's of the same names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.preprocessing as theirs
from scipy import sparse

import tenfold

rng = np.random.default_rng(0)
X = rng.gamma(2.0, size=(60, 4))
CASES: list[tuple[str, dict[str, Any]]] = [
    ("scale", {}),
    ("scale", {"axis": 1, "with_std": False}),
    ("minmax_scale", {"feature_range": (1, 3)}),
    ("minmax_scale", {"axis": 1}),
    ("maxabs_scale", {}),
    ("robust_scale", {"quantile_range": (10, 90), "unit_variance": True}),
    ("robust_scale", {"axis": 1}),
    ("quantile_transform", {"n_quantiles": 20, "output_distribution": "normal"}),
    ("quantile_transform", {"n_quantiles": 4, "axis": 1}),
    ("normalize", {"norm": "l1"}),
    ("normalize", {"axis": 0}),
    ("binarize", {"threshold": 1.0}),
    ("add_dummy_feature", {"value": 3.0}),
]


@pytest.mark.parametrize("name, setting", CASES, ids=str)
def test_functions_are_theirs(name: str, setting: dict[str, Any]) -> None:
    np.testing.assert_allclose(getattr(tenfold, name)(X, **setting), getattr(theirs, name)(X, **setting), rtol=1e-10, atol=1e-10)


def test_powers_and_columns_alone() -> None:
    np.testing.assert_allclose(tenfold.power_transform(X), theirs.power_transform(X), rtol=0, atol=1e-6)
    assert tenfold.scale(X[:, 0]).shape == (60,)
    np.testing.assert_allclose(tenfold.scale([1.0, 2.0, 6.0]), theirs.scale([1.0, 2.0, 6.0]), rtol=1e-12, atol=0)
    rows, norms = tenfold.normalize(X, return_norm=True)
    np.testing.assert_allclose(rows * norms[:, None], X, rtol=1e-12, atol=0)
    table = sparse.csr_matrix(X * (X > 1))
    for name in ("maxabs_scale", "normalize", "binarize", "add_dummy_feature"):
        found, expected = (getattr(one, name)(table) for one in (tenfold, theirs))
        assert sparse.issparse(found)
        np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-12, atol=0)
    with pytest.raises(tenfold.BadParameter, match="axis=2"):
        tenfold.scale(X, axis=2)
