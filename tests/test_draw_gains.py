"""The picture of what columns won in the splits of trees."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas
import pytest

import tenfold
from tenfold.draw import draw_gains


@pytest.fixture(scope="module")
def table() -> Any:
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(200, 25)), columns=[f"column {j}" for j in range(25)])
    return X, np.digitize(X["column 3"] + 0.3 * X["column 7"], [-0.5, 0.5])


def test_bars_are_the_importances(table: Any) -> None:
    X, y = table
    model = tenfold.AdaBoostClassifier(n_estimators=30).fit(X, y)
    ax = draw_gains(model, most=5)
    order = np.argsort(-model.feature_importances_, kind="stable")[:5]
    assert [text.get_text() for text in ax.get_yticklabels()] == [f"column {j}" for j in order]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], model.feature_importances_[order], rtol=1e-12)
    assert ax.get_title() == "20 more columns not shown" and "middle half" in ax.get_xlabel()
    picture = io.BytesIO()
    ax.figure.savefig(picture, format="png", dpi=40)
    assert picture.getvalue().startswith(b"\x89PNG")


def test_one_tree_has_no_spread_and_other_learners_no_gains(table: Any) -> None:
    X, y = table
    ax = draw_gains(tenfold.DecisionTreeClassifier(max_depth=2).fit(X, y))
    assert not ax.collections and "half" not in ax.get_xlabel()
    with pytest.raises(tenfold.BadInput, match="not made of trees alone"):
        draw_gains(tenfold.GaussianNB().fit(X, y))
    with pytest.raises(tenfold.NotFitted):
        draw_gains(tenfold.DecisionTreeClassifier())
