"""What type checkers know of the public names: checked by mypy, not run."""

from __future__ import annotations

from typing import assert_type

import numpy as np

import tenfold
from tenfold import HistGradientBoostingRegressor, Pipeline, RandomForestClassifier, Ridge
from tenfold.evaluate import KFold

X, y = np.zeros((3, 2)), np.zeros(3)

assert_type(Ridge(), Ridge)
assert_type(Ridge(2.0, fit_intercept=False).fit(X, y), Ridge)
assert_type(tenfold.RandomForestClassifier(n_estimators=10).fit(X, y), RandomForestClassifier)
assert_type(KFold(5), KFold)
assert_type(Pipeline([("ridge", Ridge())]), Pipeline)
HistGradientBoostingRegressor(learning_rate="high")  # type: ignore[arg-type]
Ridge(penalty=1.0)  # type: ignore[call-arg]
