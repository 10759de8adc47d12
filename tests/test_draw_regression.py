"""Pictures of regressions: what is in the axes is what was computed, and every picture can be saved."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas
import pytest
from scipy import stats

import tenfold
from tenfold.draw import draw_coefficients, draw_fit, draw_leverage, draw_qq, draw_weights


def saved(ax: Any) -> Any:
    """The same axes, after they were rendered without a complaint."""
    file = io.BytesIO()
    ax.figure.savefig(file, format="png", dpi=50)
    assert file.getvalue().startswith(b"\x89PNG")
    return ax


def line(n: int = 40, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 10, size=(n, 1))
    return x, 2 + 0.7 * x[:, 0] + rng.normal(size=n)


def edges(ax: Any, k: int, at: float) -> tuple[float, float]:
    """The lower and upper edge of the k-th band at a place."""
    corners = ax.collections[k].get_paths()[0].vertices
    near = corners[np.abs(corners[:, 0] - at) < 1e-9]
    return float(near[:, 1].min()), float(near[:, 1].max())


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_bands_of_least_squares() -> None:
    """By the formula of the textbook, at the left end of the picture."""
    x, y = line()
    ax = saved(draw_fit(tenfold.LinearRegression().fit(x, y), x, y, level=0.9))
    slope, intercept = np.polyfit(x[:, 0], y, 1)
    at, n = x.min(), len(y)
    noise = ((y - slope * x[:, 0] - intercept) ** 2).sum() / (n - 2)
    h = 1 / n + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    t = stats.t.ppf(0.95, n - 2)
    for k, variance in ((1, h * noise), (2, (1 + h) * noise)):
        expected = slope * at + intercept + np.array([-1, 1]) * t * np.sqrt(variance)
        np.testing.assert_allclose(edges(ax, k, at), expected, rtol=1e-9)
    np.testing.assert_allclose(ax.lines[0].get_ydata()[0], slope * at + intercept, rtol=1e-9)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), np.column_stack([x, y]), rtol=1e-12)
    assert texts(ax)[2:] == ["90 % of the fit", "90 % of new rows"] and (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")


def test_the_band_of_a_generalized_linear_model_is_that_of_its_mean() -> None:
    x, y = line()
    model = tenfold.PoissonRegressor(alpha=0.0).fit(x, np.round(np.abs(y)))
    ax = saved(draw_fit(model, x, np.round(np.abs(y)), level=0.9))
    assert texts(ax) == ["rows", "fit", "90 % of the fit"]
    at = x.min()
    low, high = edges(ax, 1, at)
    reach = stats.norm.ppf(0.95) * model.standard_errors([[at]])[0]
    np.testing.assert_allclose([low, high], model.predict([[at]])[0] + [-reach, reach], rtol=1e-9)
    assert texts(saved(draw_fit(tenfold.PoissonRegressor().fit(x, np.abs(y)), x, np.abs(y)))) == ["rows", "fit"]


def test_bands_of_a_curve_and_of_a_posterior() -> None:
    rng = np.random.default_rng(1)
    t = rng.uniform(0, 4, 50)
    v = 2.5 * np.exp(-1.3 * t) + 0.1 * rng.normal(size=50)
    curve = tenfold.CurveFit(lambda x, a, b: a * np.exp(-b * x), start=[1.0, 1.0]).fit(t, v)
    ax = saved(draw_fit(curve, t, v))
    for k, kind in ((1, "confidence"), (2, "prediction")):
        low, high = curve.band(np.array([t.min()]), 0.95, kind)
        np.testing.assert_allclose(edges(ax, k, t.min()), [low[0], high[0]], rtol=1e-9)
    assert ax.get_title() == "CurveFit"
    x, y = line()
    bayes = tenfold.BayesianRidge().fit(x, y)
    ax = saved(draw_fit(bayes, x, y))
    mean, deviation = bayes.predict(x[[x.argmin()]], return_std=True)
    np.testing.assert_allclose(edges(ax, 2, x.min())[1], mean[0] + stats.norm.ppf(0.975) * deviation[0], rtol=1e-9)
    inner = edges(ax, 1, x.min())
    np.testing.assert_allclose(
        (inner[1] - mean[0]) / stats.norm.ppf(0.975), (deviation[0] ** 2 - 1 / bayes.alpha_) ** 0.5, rtol=1e-6
    )


def test_one_column_of_several_and_no_bands() -> None:
    """Dots without the effect of the other columns lie around the line."""
    rng = np.random.default_rng(2)
    X = pandas.DataFrame(rng.normal(size=(60, 2)), columns=["age", "height"])
    y = 3 * X["age"] + 50 * X["height"] + 0.01 * rng.normal(size=60)
    model = tenfold.LinearRegression().fit(X, y)
    with pytest.warns(tenfold.DataWarning, match="feature names"):
        ax = saved(draw_fit(model, X.to_numpy(), y))
    dots, (curve,) = np.asarray(ax.collections[0].get_offsets()), ax.lines
    np.testing.assert_allclose(dots[:, 1], np.interp(dots[:, 0], *curve.get_data()), atol=0.1)
    assert ax.get_xlabel() == "age" and "at their means" in ax.get_ylabel()
    x, y = line()
    assert texts(saved(draw_fit(tenfold.HuberRegressor().fit(x, y), x, y))) == ["rows", "fit"]


def test_qq() -> None:
    rest = np.random.default_rng(3).normal(size=200)
    ax = saved(draw_qq(rest, np.zeros(200)))
    dots = np.concatenate([np.asarray(one.get_offsets()) for one in ax.collections[1:]])
    assert len(dots) == 200 and np.corrcoef(dots.T)[0, 1] > 0.99
    np.testing.assert_allclose(np.quantile(dots[:, 1], [0.25, 0.75]) @ [-1, 1], 1.349, rtol=1e-6)
    assert len(ax.collections[-1].get_offsets()) < 20 or len(ax.collections) == 2
    heavy = saved(draw_qq(np.random.default_rng(3).standard_t(1.5, size=200), np.zeros(200)))
    assert float(texts(heavy)[2].split()[1].rstrip("%")) > 5


def test_leverage() -> None:
    x, y = line()
    x, y = np.append(x, [[40.0]], axis=0), np.append(y, 0.0)
    model = tenfold.LinearRegression().fit(x, y)
    ax = saved(draw_leverage(model, x, y))
    dots = np.concatenate([one.get_offsets() for one in ax.collections])
    np.testing.assert_allclose(np.sort(dots[:, 0]), np.sort(model.leverage(x)), rtol=1e-12)
    assert ax.texts[0].get_text() == "40" and "Cook's distance ≥ 0.5" in texts(ax)
    cook = model.cooks_distance(x, y)
    assert f"{cook.max():.3g}" in ax.get_title()
    half = next(one for one in ax.lines if one.get_label() == "Cook's distance 0.5")
    h, r = half.get_data()
    np.testing.assert_allclose(r**2 * h / (1 - h) / 2, 0.5, rtol=1e-9)  # D = r² h / ((1 − h) p'), p' = 2


def test_coefficients_along_the_penalty() -> None:
    rng = np.random.default_rng(4)
    X = pandas.DataFrame(rng.normal(size=(80, 5)), columns=list("abcde"))
    y = (X @ [3.0, 0.0, -2.0, 0.1, 0.0] + 0.1 * rng.normal(size=80)).to_numpy()
    knots = tenfold.LassoLars(alpha=0.001).fit(X, y)
    ax = saved(draw_coefficients(knots, most=2))
    assert texts(ax) == ["a", "c"] and ax.get_xscale() == "log" and "more in grey" in ax.get_title()
    first = next(one for one in ax.lines if one.get_label() == "a")
    np.testing.assert_allclose(first.get_ydata(), knots.coef_path_[0], rtol=1e-12)
    for model in (tenfold.Ridge(2.0), tenfold.Lasso(0.1), tenfold.LassoCV(cv=3).fit(X, y), tenfold.RidgeCV().fit(X, y)):
        ax = saved(draw_coefficients(model, X, y, alphas=[0.01, 0.1, 1.0]))
        name = type(model).__name__.removesuffix("CV")
        for k, alpha in enumerate([0.01, 0.1, 1.0]):
            coef = getattr(tenfold, name)(alpha=alpha).fit(X, y).coef_
            drawn = [one.get_ydata()[k] for one in ax.lines if one.get_label() == "a"]
            np.testing.assert_allclose(drawn, coef[:1], rtol=1e-6)
        chosen = model.alpha_ if hasattr(model, "alpha_") else model.alpha
        assert texts(ax)[-1] == f"alpha = {chosen:.3g}"
    saved(draw_coefficients(tenfold.Ridge(), X, y))
    saved(draw_coefficients(tenfold.Lasso(), X, y))


def test_weights_of_robust_fits() -> None:
    x, y = line()
    y[7] = 1000.0
    for model in (tenfold.HuberRegressor(), tenfold.MMRegressor(), tenfold.RANSACRegressor(random_state=0)):
        ax = saved(draw_weights(model.fit(x, y), x, y))
        dots = np.concatenate([one.get_offsets() for one in ax.collections])
        expected = model.weights(x, y) if hasattr(model, "weights") else model.inlier_mask_.astype(float)
        np.testing.assert_allclose(np.sort(dots[:, 1]), np.sort(expected), rtol=1e-12)
        assert ax.texts[0].get_text() == "7" and ax.get_xscale() == "symlog"
    curve = tenfold.CurveFit(lambda x, a, b: a + b * x, start=[0.0, 0.0], loss="soft_l1").fit(x[:, 0], y)
    assert saved(draw_weights(curve, x[:, 0], y)).texts[0].get_text() == "7"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x, y: draw_fit(tenfold.LinearRegression().fit(x, y), x, y, level=2.0), "level"),
        (lambda x, y: draw_fit(tenfold.LinearRegression().fit(x, y), x, y, column=3), "column"),
        (lambda x, y: draw_leverage(tenfold.HuberRegressor().fit(x, y), x, y), "has no leverage"),
        (lambda x, y: draw_coefficients(tenfold.Ridge()), "give X and y"),
        (lambda x, y: draw_coefficients(tenfold.HuberRegressor(), x, y), "no penalty alpha"),
        (lambda x, y: draw_weights(tenfold.Ridge().fit(x, y), x, y), "weighs no rows"),
        (lambda x, y: draw_qq(y, y[:5]), "inconsistent numbers of samples"),
    ],
)
def test_bad_requests_are_told(call: Any, words: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=words):
        call(*line())


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_names_of_a_frame_stay_with_its_rows(library: str) -> None:
    """A model that was fitted to a frame is asked with frames: no warning of its own, and the same picture."""
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=40)
    frame = frames.DataFrame({"size": X[:, 0], "age": X[:, 1]})
    ax = draw_fit(tenfold.LinearRegression().fit(frame, y), frame, y, column=1)
    plain = draw_fit(tenfold.LinearRegression().fit(X, y), X, y, column=1)
    assert ax.get_xlabel() == "age"
    for mine, other in zip(ax.lines, plain.lines, strict=True):
        np.testing.assert_allclose(mine.get_xydata(), other.get_xydata(), rtol=1e-12, atol=1e-12)
