"""What evaluation finds, as it is shown in a session."""

from __future__ import annotations

import numpy as np
import pytest

import tenfold
from tenfold import evaluate

X = np.random.default_rng(0).normal(size=(60, 3))


RESULTS = {
    "importance": lambda: evaluate.permutation_importance(tenfold.Ridge(), X, X[:, 0], n_repeats=1),
    "bootstrap": lambda: evaluate.bootstrap_error(tenfold.Ridge(), X, X[:, 0], replicates=20),
    "curve": lambda: evaluate.learning_curve(tenfold.Ridge(), X, X[:, 0]),
    "validation": lambda: evaluate.validation_curve(tenfold.Ridge(), X, X[:, 0], "alpha", [0.1, 1.0]),
    "bias": lambda: evaluate.bias_variance(tenfold.Ridge(), X, X[:, 0], replicates=20),
    "interval": lambda: evaluate.wilson(3, 10),
    "attributions": lambda: evaluate.attributions(tenfold.DecisionTreeRegressor().fit(X, X[:, 0]), X),
    "advice": lambda: tenfold.advise(X, X[:, 0]),
}


@pytest.mark.parametrize("result", RESULTS)
def test_results_read_the_same_in_a_session_as_when_printed(result: str) -> None:
    found = RESULTS[result]()
    assert repr(found) == str(found) and " at 0x" not in repr(found)
