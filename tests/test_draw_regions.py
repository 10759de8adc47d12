"""The picture of a classifier's regions in a plane."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.linear_model

import tenfold
from tenfold.draw import draw_regions

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2)) * [1.0, 10.0]
Y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 5)]


def classes_shown(ax: Any) -> Any:
    """The colour of the region at each row, without its paleness."""
    image = ax.images[0]
    left, right, low, high = image.get_extent()
    data = np.asarray(image.get_array())
    across = np.clip(np.round((X[:, 0] - left) / (right - left) * (data.shape[1] - 1)).astype(int), 0, data.shape[1] - 1)
    up = np.clip(np.round((X[:, 1] - low) / (high - low) * (data.shape[0] - 1)).astype(int), 0, data.shape[0] - 1)
    return data[up, across]


@pytest.mark.parametrize("cells", [False, True])
def test_regions_are_what_the_model_says(cells: bool) -> None:
    model = tenfold.KNeighborsClassifier(5).fit(X, Y)
    ax = draw_regions(model, X, Y, cells=cells)
    colours = classes_shown(ax)
    said = model.predict(X)
    shown = np.array([tuple(colour[:3]) for colour in colours])
    same = np.mean([(shown[i] == shown[j]).all() == (said[i] == said[j]) for i in range(80) for j in range(80)])
    assert same > 0.97  # a place of the picture is not quite that of a row
    assert len(np.unique(colours[:, 3].round(6))) > 1, "paler where it is less sure"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    picture = io.BytesIO()
    ax.figure.savefig(picture, format="png", dpi=40)
    assert picture.getvalue().startswith(b"\x89PNG")


def test_frames_other_libraries_and_clusters() -> None:
    frame = pandas.DataFrame(X, columns=["width", "height"])
    ax = draw_regions(tenfold.LogisticRegression().fit(frame, Y), frame, Y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    draw_regions(sklearn.linear_model.LogisticRegression().fit(X, Y), X, Y)
    ax = draw_regions(tenfold.KMeans(3, random_state=0).fit(X), X)
    assert len(ax.get_legend().get_texts()) == 3
    draw_regions(tenfold.KNeighborsClassifier(1).fit(np.ones((3, 2)), [0, 0, 0]), np.ones((3, 2)), [0, 0, 0], cells=True)


def test_lines_hold_the_rows_of_a_class() -> None:
    """Of each class two lines of its density: half of its rows lie inside one of them, nine tenths inside the other."""
    model = tenfold.BayesClassifier(reject=0.2).fit(X, Y)
    ax = draw_regions(model, X, Y, densities=True)
    lines = [one for one in ax.collections if hasattr(one, "levels")]
    assert len(lines) == 3 and {text.get_text() for text in ax.get_legend().get_texts()} == {"a", "b", "c", "rejected"}
    for k, (line, label) in enumerate(zip(lines, "abc", strict=True)):
        at = model.predict_joint_log_proba(X[label == Y])[:, k]
        np.testing.assert_allclose([np.mean(at >= level) for level in line.levels], [0.9, 0.5], atol=0.05)
    with pytest.raises(tenfold.BadInput, match="KNeighborsClassifier knows none"):
        draw_regions(tenfold.KNeighborsClassifier().fit(X, Y), X, Y, densities=True)


def test_what_is_refused() -> None:
    wide = RNG.normal(size=(10, 3))
    with pytest.raises(tenfold.BadInput, match="two columns"):
        draw_regions(tenfold.GaussianNB().fit(wide, [0, 1] * 5), wide)
    with pytest.raises(tenfold.BadInput, match="draw_fit"):
        draw_regions(tenfold.LinearRegression().fit(X, X[:, 0]), X, X[:, 0])
    with pytest.raises(tenfold.BadInput, match="one target"):
        draw_regions(tenfold.KNeighborsClassifier().fit(X, Y), X, Y[:5])
