"""Pictures of mixtures: ellipses and colours are those of the model, and the steps are those of its fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from scipy.stats import norm
from sklearn.datasets import load_iris

import tenfold
from tenfold.core.errors import BadInput, BadParameter
from tenfold.draw import draw_em_steps, draw_mixture
from tenfold.draw.look import COLOURS

X = load_iris().data[:, 2:]


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "VEV"])
def test_ellipses_lie_one_and_two_deviations_from_the_means(kind: str) -> None:
    model = tenfold.GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    ax = draw_mixture(model, X)
    lines = [line.get_xydata() for line in ax.lines if len(line.get_xydata()) > 1]
    precisions = model.precisions_
    for k in range(2):
        P = precisions if kind == "tied" else precisions[k] * np.eye(2) if kind == "spherical" else precisions[k]
        P = np.diag(P) if P.ndim == 1 else P
        for line, far in zip(lines[2 * k : 2 * k + 2], (1, 4), strict=True):
            away = line - model.means_[k]
            np.testing.assert_allclose(np.einsum("ni,ij,nj->n", away, P, away), far, rtol=1e-8)
    blends = model.predict_proba(X) @ np.array([to_rgb(one) for one in COLOURS[:2]])
    np.testing.assert_allclose(ax.collections[0].get_facecolors()[:, :3], blends, atol=1e-12)


def test_curves_of_one_column_are_densities() -> None:
    model = tenfold.GaussianMixture(2, random_state=0).fit(X[:, :1])
    ax = draw_mixture(model, X[:, :1])
    whole, *parts = (line.get_xydata() for line in ax.lines)
    np.testing.assert_allclose(np.log(whole[:, 1]), model.score_samples(whole[:, :1]), rtol=1e-9)
    for k, curve in enumerate(parts):
        deviation = np.sqrt(model.covariances_[k, 0, 0])
        np.testing.assert_allclose(curve[:, 1], model.weights_[k] * norm(model.means_[k, 0], deviation).pdf(curve[:, 0]), rtol=1e-9)


@pytest.mark.parametrize("kind", [tenfold.GaussianMixture, tenfold.BayesianGaussianMixture])
def test_steps_are_those_of_the_fit(kind: Any) -> None:
    model = kind(2, init_params="random", random_state=0, tol=1e-3, max_iter=300)
    axes = draw_em_steps(model, X, panels=4)
    bounds = axes[-1].lines[0].get_ydata()
    fitted = model.fit(X)
    np.testing.assert_allclose(bounds, fitted.lower_bounds_, rtol=1e-9)
    assert len(axes) == 5 and axes[0].get_title().startswith("step 0") and axes[3].get_title().startswith(f"step {len(bounds) - 1}")
    assert (np.diff(bounds) >= 0).all()


def test_marginals_and_gaps() -> None:
    whole = load_iris().data.copy()
    whole[::7, 2] = np.nan
    model = tenfold.GaussianMixture(2, covariance_type="diag", random_state=0).fit(whole)
    ax = draw_mixture(model, whole, columns=[0, 2])
    assert len(ax.collections[0].get_offsets()) == np.isfinite(whole[:, 2]).sum() and ax.get_ylabel() == "x2"
    with pytest.raises(BadParameter, match="one or two columns"):
        draw_mixture(model, whole)
    with pytest.raises(BadInput, match="GaussianMixture"):
        draw_mixture(tenfold.KMeans(2).fit(X), X)
    with pytest.raises(BadInput, match="GaussianMixture"):
        draw_em_steps(tenfold.KMeans(2), X)
    with pytest.raises(BadParameter, match="panels=1"):
        draw_em_steps(tenfold.GaussianMixture(2), X, panels=1)
