"""k-means step by step: the panels show the steps of scikit-learn."""

from __future__ import annotations

import io
import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans as Peer

import tenfold
from tenfold.draw import draw_kmeans_steps

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2)) + 4 * RNG.normal(size=(4, 2))[RNG.integers(0, 4, 300)]


def test_panels_are_the_steps() -> None:
    start = X[:4]
    axes = draw_kmeans_steps(tenfold.KMeans(4, init=start), X, panels=50)
    for number, ax in enumerate(axes):
        crosses = ax.collections[-1].get_offsets()
        if number:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it did not converge
                peer = Peer(4, init=start, n_init=1, max_iter=number, tol=0).fit(X)
            np.testing.assert_allclose(crosses, peer.cluster_centers_, rtol=1e-9)
        else:
            np.testing.assert_array_equal(crosses, start)
        assert ax.get_title().startswith(f"step {number}: inertia ")
    np.testing.assert_allclose(crosses, tenfold.KMeans(4, init=start, tol=0).fit(X).cluster_centers_, rtol=1e-9)
    picture = io.BytesIO()
    axes[0].figure.savefig(picture, format="png", dpi=40)
    assert picture.getvalue().startswith(b"\x89PNG")


@pytest.mark.parametrize("init", ["k-means++", "random", lambda X, k, random_state: X[:k]])
def test_few_panels_have_the_first_and_the_last_step(init: object) -> None:
    model = tenfold.KMeans(4, init=init, random_state=1)
    every, few = draw_kmeans_steps(model, X, panels=99), draw_kmeans_steps(model, X, panels=3)
    assert len(few) == min(3, len(every))
    assert (few[0].get_title(), few[-1].get_title()) == (every[0].get_title(), every[-1].get_title())


@pytest.mark.parametrize(
    ("model", "rows", "panels", "words"),
    [
        (tenfold.KMeans(2), X[:, :1], 6, "two columns"),
        (tenfold.KMeans(9), X[:4], 6, "at least 9 rows"),
        (tenfold.KMeans(2), np.full((5, 2), np.nan), 6, "NaN"),
        (tenfold.KMeans(2), X, 1, "panels=1"),
        (tenfold.KMedoids(2), X, 6, "give a KMeans"),
    ],
)
def test_bad_input_is_told_in_a_sentence(model: object, rows: object, panels: int, words: str) -> None:
    with pytest.raises(tenfold.core.errors.TenfoldError, match=words):
        draw_kmeans_steps(model, rows, panels=panels)
