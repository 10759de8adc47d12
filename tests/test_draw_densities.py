"""Pictures of densities of one column: what is drawn is what the models say."""

from __future__ import annotations

import io

import numpy as np
import pandas
import pytest

import tenfold
from tenfold.core.errors import BadInput, NotFitted
from tenfold.draw import draw_class_posteriors, draw_density, draw_histogram

RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(0, 1, 60), RNG.gamma(2, 1.5, 100) + 4])[:, None]


def test_histograms_by_each_rule_side_by_side() -> None:
    panels = draw_histogram(pandas.DataFrame({"length": X[:, 0]}), ["scott", "cv", 5, [-5.0, 0, 5, 30]])
    for ax, bins in zip(panels, ["scott", "cv", 5, [-5.0, 0, 5, 30]], strict=True):
        heights, edges = ax.patches[0].get_data()[:2]
        numbers = tenfold.Histogram(bins).fit(X).edges_[0]
        np.testing.assert_allclose(edges, numbers, rtol=1e-12)
        np.testing.assert_allclose(heights, np.histogram(X[:, 0], numbers, density=True)[0], rtol=1e-12)
        assert ax.get_ylim()[1] > heights.max() and ax.get_xlabel() == "length"
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), X[:, 0])
    assert [ax.get_title() for ax in panels[2:]] == ["5 bins", "3 bins"]
    picture = io.BytesIO()
    panels[0].figure.savefig(picture, format="png", dpi=40)
    assert picture.getvalue().startswith(b"\x89PNG")


def test_densities_over_the_rows() -> None:
    models = {"mixture": tenfold.GaussianMixture(2, random_state=0).fit(X), "steps": tenfold.Histogram(6).fit(X)}
    ax = draw_density(models, X)
    for line, model in zip(ax.lines, models.values(), strict=False):
        x, y = line.get_data()
        np.testing.assert_allclose(y, np.exp(model.score_samples(x[:, None])), rtol=1e-12)
        assert x.min() < X.min() and x.max() > X.max() and np.isin(models["steps"].edges_[0], x).all()
    assert draw_density(models["steps"], X[:, 0]).get_title() == "Histogram(bins=6)"
    many = draw_density([models["mixture"]], np.repeat(X, 50, axis=0))
    assert len(many.lines[-1].get_xdata()) == 2000
    copies = draw_density(tenfold.NeighborDensity(3).fit(np.repeat(X, 3, axis=0)), X)  # endless where three rows are one
    assert np.isfinite(copies.get_ylim()).all()


def test_posteriors_of_a_fitted_classifier_along_a_column() -> None:
    rows, y = np.column_stack([X, RNG.normal(size=160)]), np.where(np.arange(160) < 60, "early", "late")
    model = tenfold.HistogramNB(6).fit(rows, y)
    frame = pandas.DataFrame(rows, columns=["length", "noise"])
    mixed = tenfold.MixedNB(numbers="histogram", bins=6).fit(frame.assign(word="a"), y)
    text = draw_class_posteriors(mixed, frame.assign(word="a"), y)[1].lines[1].get_ydata()
    above, below = draw_class_posteriors(tenfold.HistogramNB(6).fit(frame, y), frame, y)
    x, shown = below.lines[1].get_data()
    np.testing.assert_allclose(shown, tenfold.HistogramNB(6).fit(X, y).predict_proba(x[:, None])[:, 1], atol=1e-12)
    np.testing.assert_allclose(text, shown, atol=1e-12)
    with pytest.raises(BadInput, match="column 2 holds no numbers"):
        draw_class_posteriors(mixed, frame.assign(word="a"), y, 2)
    areas = [one.get_data()[0] @ np.diff(one.get_data()[1]) for one in above.patches]
    np.testing.assert_allclose(areas, [60 / 160, 100 / 160], rtol=1e-9, atol=0)
    assert below.get_xlabel() == "length" and [text.get_text() for text in above.get_legend().get_texts()] == ["early", "late"]
    with pytest.raises(BadInput, match="can leave out all columns but one"):
        draw_class_posteriors(tenfold.GaussianNB().fit(rows, y), rows, y)
    with pytest.raises(BadInput, match="must have the 2 columns of the fit"):
        draw_class_posteriors(model, rows, y, column=2)


def test_what_is_no_density_of_one_column() -> None:
    with pytest.raises(BadInput, match=r"shape \(160, 2\): a picture of a density is of one column"):
        draw_histogram(np.column_stack([X, X]))
    with pytest.raises(BadInput, match="at least one rule"):
        draw_histogram(X, [])
    with pytest.raises(BadInput, match="is no density of one column"):
        draw_density(tenfold.Histogram().fit(np.column_stack([X, X])), X)
    with pytest.raises(NotFitted):
        draw_density(tenfold.Histogram(), X)
