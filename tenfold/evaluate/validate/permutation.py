"""A permutation test: whether a score is better than that of a target that has nothing to do with the columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tenfold.base.routing import routing_enabled
from tenfold.core.data import Array
from tenfold.core.errors import BadParameter
from tenfold.core.random import legacy_generator
from tenfold.evaluate.split.folds import n_rows
from tenfold.evaluate.split.splitting import UNSAID, Splitting, takes_splitting
from tenfold.evaluate.validate.cross import cross_validate
from tenfold.evaluate.validate.judges import check_one_scoring
from tenfold.evaluate.validate.ordinary import rows_of


class PermutationTest(NamedTuple):
    """The score, those of permuted targets, and the share of the latter that are as good: (C + 1) / (permutations + 1)."""

    score: float
    permutation_scores: Array
    pvalue: float


@takes_splitting("repeats", "kind", "stratify")
def permutation_test_score(
    model: Any,
    X: Any,
    y: Any,
    *,
    splitting: Splitting,
    n_permutations: int = 100,
    scoring: Any = None,
    params: Any = None,
) -> PermutationTest:
    """The cross-validated score, and how likely a score as good is where y is independent of X (Ojala & Garriga 2010).

    The target is permuted `n_permutations` times, with groups only within each of them, and the learner is cross-validated anew
    (`cross_validate`, in scikit-learn's words). Unpacks as score, scores of the permutations, p-value; greater is better.

    >>> import numpy as np, tenfold
    >>> from tenfold.evaluate import permutation_test_score
    >>> X = np.random.default_rng(0).normal(size=(60, 3)); y = X[:, 0] > 0
    >>> round(permutation_test_score(tenfold.GaussianNB(), X, y, n_permutations=50).pvalue, 3)
    0.02
    """
    check_one_scoring(scoring)
    if not isinstance(n_permutations, (int, np.integer)) or n_permutations < 1:
        raise BadParameter(f"n_permutations={n_permutations!r}: must be a whole number of at least 1")
    ours = splitting.cv is UNSAID and splitting.folds != Splitting.folds
    words: dict[str, Any] = dict(folds=splitting.folds) if ours else dict(cv=None if splitting.cv is UNSAID else splitting.cv)
    words |= dict(groups=splitting.groups, scoring=scoring, params=params, error_score="raise")

    def score(target: Any) -> float:
        return float(np.mean(cross_validate(model, X, target, **words)["test_score"]))

    groups = (params or {}).get("groups") if routing_enabled() else splitting.groups
    found, rng = score(y), legacy_generator(splitting.random_state)
    orders = [_order(n_rows(y), groups, rng) for _ in range(n_permutations)]
    permuted = np.array([score(rows_of(y, order)) for order in orders])
    return PermutationTest(found, permuted, float((np.count_nonzero(permuted >= found) + 1.0) / (n_permutations + 1)))


def _order(n: int, groups: Any, rng: np.random.RandomState) -> Array:
    """A random order of n rows; of each group only among themselves."""
    if groups is None:
        return rng.permutation(n)
    order, groups = np.arange(n), np.asarray(groups)
    for group in np.unique(groups):
        inside = groups == group
        order[inside] = rng.permutation(order[inside])
    return order
