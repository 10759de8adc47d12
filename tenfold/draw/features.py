"""Pictures of the selection of columns: their scores, and the score against how many are left."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core.errors import BadInput
from tenfold.draw.look import BLUE, GREY, ORANGE, new_axes, short

LABELS = {"scores_": "score", "variances_": "variance", "relevance_": "correlation with y", "importances_": "importance"}


def draw_feature_scores(model: Any, *, ax: Any = None, n: int = 20) -> Any:
    """Scores of columns by a fitted selector as bars, the best first; those that are kept are blue, the others grey.

    model: a selector with scores_ (SelectKBest, ...), variances_ (VarianceThreshold), relevance_ (CorrelationFilter with
    keep="target") or importances_ (SelectFromModel). n: how many columns are shown.

    >>> import tenfold
    >>> from tenfold.draw import draw_feature_scores
    >>> X, y = [[0.0, 5.0], [1.0, 5.0], [9.0, 5.5], [8.0, 5.0]], ["a", "a", "b", "b"]
    >>> ax = draw_feature_scores(tenfold.SelectKBest(k=1).fit(X, y))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['x0', 'x1']
    """
    check.check_fitted(model)
    found = next((name for name in LABELS if getattr(model, name, None) is not None), None)
    if found is None:
        raise BadInput(f"draw_feature_scores: {type(model).__name__} gives columns no scores; draw a SelectKBest or SelectFromModel")
    scores, kept = np.asarray(getattr(model, found), dtype=np.float64), model.get_support()
    names = vars(model).get("feature_names_in_", [f"x{j}" for j in range(len(scores))])
    order = np.argsort(np.where(np.isnan(scores), np.inf, -scores), kind="stable")[:n]
    ax = new_axes(ax, (6.4, 1.2 + 0.28 * len(order)))
    place = np.arange(len(order))
    finite = scores[np.isfinite(scores) & (scores < np.finfo(np.float64).max)]
    lengths = np.minimum(np.nan_to_num(scores[order], nan=0.0), 1.1 * finite.max(initial=0.0) or 1.0)  # a perfect score has no length
    ax.barh(place, lengths, color=[BLUE if kept[j] else GREY for j in order])
    ax.set_yticks(place, [short(str(names[j]), 28) for j in order])
    ax.invert_yaxis()
    left = len(scores) - len(order)
    title = f"{int(kept.sum())} of {len(scores)} columns kept" + (f"; {left} not shown" if left else "")
    ax.set(xlabel=LABELS[found], title=title)
    return ax


def draw_elimination(model: Any, ax: Any = None) -> Any:
    """The cross-validated score of a fitted RFECV against the number of columns, with a band of one standard error.

    The choice is marked, and the fewest columns whose score is within one standard error of the best.

    >>> import numpy as np, tenfold
    >>> from tenfold.draw import draw_elimination
    >>> X = np.random.default_rng(0).normal(size=(80, 4))
    >>> ax = draw_elimination(tenfold.RFECV(tenfold.Ridge()).fit(X, X[:, 0] - X[:, 2]))
    >>> ax.get_xlabel()
    'number of columns'
    """
    check.check_fitted(model)
    found = model.cv_results_
    n, mean = np.asarray(found["n_features"]), np.asarray(found["mean_test_score"])
    splits = sum(key.startswith("split") and key.endswith("_test_score") for key in found)
    error = np.asarray(found["std_test_score"]) / max(splits - 1, 1) ** 0.5
    ax = new_axes(ax)
    ax.fill_between(n, mean - error, mean + error, color=BLUE, alpha=0.15, linewidth=0, label="± one standard error")
    ax.plot(n, mean, color=BLUE, marker=None if len(n) > 25 else "o", markersize=4, label="held-out rows")
    chosen = int(np.argmax(mean))
    ax.axvline(model.n_features_, color=ORANGE, linestyle="--", linewidth=1.2, label=f"chosen: {model.n_features_} columns")
    limit = mean[chosen] - error[chosen]
    enough = int(n[mean >= limit].min())
    ax.axhline(limit, color=GREY, linestyle=":", linewidth=1.2, label=f"one standard error from the best: {enough} columns")
    ax.set(xlabel="number of columns", ylabel="score", title=short(repr(model.estimator)))
    ax.legend(fontsize=9)
    return ax
