"""Transformers and selectors equal scikit-learn's of the same name: dense, sparse, with gaps, with weights, and back again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
import sklearn.feature_selection
import sklearn.impute
import sklearn.preprocessing

import tenfold

CLOSE = 1e-10
POWERS = 1e-7  # scikit-learn looks for powers by Brent's method, to half of the digits; test_power.py holds ours to the likelihood

rng = np.random.default_rng(0)
N = 300
X = rng.gamma(2.0, size=(N, 5)) * [1, 10, 0.1, 1000, 1]
Y = np.digitize(X[:, 0] + rng.normal(size=N), [1.0, 2.5])
WEIGHTS = rng.integers(0, 4, N).astype(np.float64)
GAPS = np.where(rng.random(X.shape) < 0.1, np.nan, X)
SPARSE = scipy.sparse.csr_matrix(np.where(np.median(X, axis=0) < X, X, 0.0))
TEXTS = np.array(list("abcd"), dtype=object)[rng.integers(0, 4, (N, 3))]
TABLES: dict[str, Any] = {
    "dense": X,
    "gaps": GAPS,
    "sparse": SPARSE,
    "sparse with gaps": scipy.sparse.csr_matrix(np.where(np.isnan(GAPS), np.nan, SPARSE.toarray())),
    "text": TEXTS,
    "text with NaN": np.where(rng.random(TEXTS.shape) < 0.1, np.nan, TEXTS),
    "numbers as categories": np.round(X),
}
LEVELS = ("text", "text with NaN", "numbers as categories")
# name, parameters, tables, whether weights are taken
CASES: list[tuple[str, dict[str, Any], tuple[str, ...], bool]] = [
    ("StandardScaler", {}, ("dense", "gaps"), True),
    ("StandardScaler", {"with_mean": False}, ("dense", "gaps", "sparse"), True),
    ("MinMaxScaler", {"feature_range": (-1, 2), "clip": True}, ("dense", "gaps"), False),
    ("MaxAbsScaler", {}, ("dense", "gaps", "sparse", "sparse with gaps"), False),
    ("RobustScaler", {}, ("dense", "gaps"), False),
    ("RobustScaler", {"with_centering": False, "unit_variance": True, "quantile_range": (10, 80)}, ("dense", "sparse"), False),
    *(("QuantileTransformer", {"n_quantiles": 50, "output_distribution": how, "subsample": None}, ("dense", "gaps", "sparse"), False)
      for how in ("uniform", "normal")),
    *(("PowerTransformer", {"method": how}, ("dense", "gaps"), False) for how in ("yeo-johnson", "box-cox")),
    *(("Normalizer", {"norm": norm}, ("dense", "sparse"), False) for norm in ("l1", "l2", "max")),
    ("Binarizer", {"threshold": 1.0}, ("dense", "sparse"), False),
    *(("OneHotEncoder", setting, LEVELS, False) for setting in (
        {}, {"drop": "first"}, {"min_frequency": 0.26}, {"max_categories": 3, "handle_unknown": "infrequent_if_exist"})),
    *(("OrdinalEncoder", setting, LEVELS, False) for setting in ({}, {"min_frequency": 0.26}, {"encoded_missing_value": -2})),
    *(("SimpleImputer", {"strategy": how, "add_indicator": marks}, ("gaps", "sparse with gaps"), False)
      for how in ("mean", "median", "most_frequent", "constant") for marks in (False, True)),
    ("KNNImputer", {"n_neighbors": 3}, ("gaps",), False),
    ("MissingIndicator", {}, ("gaps",), False),
    *(("KBinsDiscretizer", {"n_bins": 4, "strategy": how, "encode": "ordinal"}, ("dense",), how == "uniform")
      for how in ("uniform", "kmeans")),
    ("KBinsDiscretizer", {"n_bins": 4, "quantile_method": "averaged_inverted_cdf"}, ("dense",), True),
    ("PolynomialFeatures", {"degree": 3}, ("dense", "sparse"), False),
    ("SplineTransformer", {}, ("dense",), True),
    ("VarianceThreshold", {"threshold": 0.5}, ("dense", "gaps", "sparse"), False),
    ("SelectKBest", {"k": 2}, ("dense", "sparse"), False),
    ("SelectPercentile", {"percentile": 40}, ("dense", "sparse"), False),
    ("SelectFpr", {"alpha": 0.5}, ("dense", "sparse"), False),
    ("SelectFdr", {"alpha": 0.9}, ("dense", "sparse"), False),
    ("SelectFwe", {"alpha": 0.9}, ("dense", "sparse"), False),
    ("TargetEncoder", {"target_type": "multiclass"}, ("text", "text with NaN"), False),
]  # fmt: skip
TRIED = [(*case[:2], table, weighted) for case in CASES for table in case[2] for weighted in {False, case[3]}]


def peer(name: str) -> Any:
    places = (sklearn.preprocessing, sklearn.impute, sklearn.feature_selection)
    return next(getattr(place, name) for place in places if hasattr(place, name))


def plain(rows: Any) -> Any:
    rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    return rows.astype(np.float64) if rows.dtype.kind in "biuf" else rows


def assert_alike(found: Any, expected: Any, close: float) -> None:
    found, expected = plain(found), plain(expected)
    assert found.shape == expected.shape
    if expected.dtype == object:
        assert ((found == expected) | ((found != found) & (expected != expected))).all()
    else:
        np.testing.assert_allclose(found, expected, rtol=close, atol=close)


@pytest.mark.parametrize("name, setting, table, weighted", TRIED, ids=lambda value: str(value))
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_rows_and_the_way_back(name: str, setting: dict[str, Any], table: str, weighted: bool) -> None:
    rows, close = TABLES[table], POWERS if name == "PowerTransformer" else CLOSE
    more = {"sample_weight": WEIGHTS} if weighted else {}
    target = (Y,) if name.startswith("Select") or name == "TargetEncoder" else ()
    ours, theirs = (kind(**setting).fit(rows, *target, **more) for kind in (getattr(tenfold, name), peer(name)))
    found, expected = ours.transform(rows), theirs.transform(rows)
    assert_alike(found, expected, close)
    assert scipy.sparse.issparse(found) == scipy.sparse.issparse(expected)
    if hasattr(theirs, "get_feature_names_out") and not weighted:
        assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    try:
        back = theirs.inverse_transform(expected)
    except (AttributeError, ValueError, IndexError):  # it has none, or none of such rows
        return
    assert_alike(ours.inverse_transform(found), back, close)
