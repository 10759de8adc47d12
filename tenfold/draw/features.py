"""Pictures of the selection of columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from tenfold.base import check
from tenfold.core.errors import BadInput
from tenfold.draw.look import BLUE, GREY, new_axes, short

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
