"""Nothing of the test fold enters the preparation inside cross-validation: for every transformer of columns of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tenfold

rng = np.random.default_rng(0)
X = rng.gamma(2.0, size=(120, 3)) + 0.5
y = X @ [1.0, -2.0, 0.5] + rng.normal(size=120)
FOLDS = [(np.setdiff1d(np.arange(120), test), test) for test in np.array_split(np.arange(120), 4)]
TRANSFORMERS = [
    tenfold.StandardScaler(),
    tenfold.MinMaxScaler(),
    tenfold.MaxAbsScaler(),
    tenfold.DecimalScaler(),
    tenfold.LogTransformer(),
    tenfold.RobustScaler(),
    tenfold.RankTransformer(),
    tenfold.QuantileTransformer(n_quantiles=20),
    tenfold.QuantileTransformer(n_quantiles=20, subsample=None, output_distribution="normal"),
    tenfold.PowerTransformer(),
    tenfold.PowerTransformer("box-cox"),
    tenfold.Whitener(),
    tenfold.Whitener(method="zca"),
    tenfold.Normalizer(),
    tenfold.Binarizer(threshold=2.0),
    tenfold.AnscombeTransformer(),
]


def planted(fold: int) -> Any:
    """The table with rows of one test fold far beyond all others: any statistic that has seen them shows it."""
    table = X.copy()
    table[FOLDS[fold][1]] *= 1e3
    return table


@pytest.mark.parametrize("transformer", TRANSFORMERS, ids=repr)
def test_the_test_fold_does_not_enter_the_preparation(transformer: Any) -> None:
    for fold, (train, test) in enumerate(FOLDS):
        table = planted(fold)
        model = tenfold.make_pipeline(transformer, tenfold.Ridge(1e-3))
        found = tenfold.cross_val_predict(model, table, y, folds=FOLDS)[test]
        alone = tenfold.make_pipeline(transformer, tenfold.Ridge(1e-3)).fit(table[train], y[train])
        size = np.abs(alone.predict(table[test])).max()
        np.testing.assert_allclose(found, alone.predict(table[test]), rtol=0, atol=1e-7 * size)
        prepared = type(transformer)(**transformer.get_params()).fit(table[train]).transform(table[test])
        np.testing.assert_allclose(alone[:-1].transform(table[test]), prepared, rtol=0, atol=1e-12 * max(1.0, np.abs(prepared).max()))


@pytest.mark.parametrize("transformer", TRANSFORMERS[:-4], ids=repr)
def test_a_preparation_of_all_rows_would_be_noticed(transformer: Any) -> None:
    """The planted rows do change the transform of a fit that sees them: the test above can fail."""
    table, (train, _) = planted(1), FOLDS[1]
    fits = [type(transformer)(**transformer.get_params()).fit(rows) for rows in (table, table[train])]
    one, two = (np.asarray(fit.transform(table[train])) for fit in fits)
    if type(transformer).__name__ == "LogTransformer":
        return  # all values are above zero in any fold: the shift is 0
    assert np.abs(one - two).max() > 1e-3
