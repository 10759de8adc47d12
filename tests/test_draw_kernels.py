"""Pictures of kernel machines: margins, processes, kernels of rows, and the evidence."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.svm
from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
from sklearn.gaussian_process import kernels as their_kernels
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tenfold
from tenfold.draw import draw_evidence, draw_kernel, draw_margins, draw_process
from tenfold.kernels import RBF, ConstantKernel, WhiteKernel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)) * [1.0, 10.0]
TWO = np.where(X[:, 0] + X[:, 1] / 10 > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 5)]
x = np.linspace(0, 5, 25)[:, None]
z = np.sin(2 * x[:, 0]) + RNG.normal(0, 0.2, 25)


@pytest.fixture(scope="module")
def process() -> Any:
    return tenfold.GaussianProcessRegressor(ConstantKernel(1.0) * RBF(1.0) + WhiteKernel(0.1)).fit(x, z)


def texts(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def is_picture(ax: Any) -> bool:
    kept = io.BytesIO()
    ax.figure.savefig(kept, format="png", dpi=40)
    return kept.getvalue().startswith(b"\x89PNG")


def lines_of(ax: Any) -> dict[float, Any]:
    """The points of each line of a contour, by its level."""
    return {
        float(one.levels[0]): np.vstack([path.vertices for path in one.get_paths()])
        for one in ax.collections
        if hasattr(one, "levels")
    }


@pytest.mark.parametrize("model", [tenfold.LinearSVC(C=1.0), tenfold.LogisticRegression(), sklearn.svm.SVC()], ids=str)
def test_margins_are_where_the_decision_function_has_these_values(model: Any) -> None:
    fit = model.fit(X, TWO)
    ax = draw_margins(fit, X, TWO)
    found = lines_of(ax)
    assert set(found) == {-1.0, 0.0, 1.0} and is_picture(ax)
    for level, points in found.items():
        np.testing.assert_allclose(fit.decision_function(points), level, atol=0.02)
    assert texts(ax)[:2] == ["no", "yes"]


def test_support_vectors_have_rings_also_behind_transformers() -> None:
    alone = sklearn.svm.SVC().fit(X, TWO)
    rings = draw_margins(alone, X, TWO).collections[-1]
    np.testing.assert_array_equal(np.asarray(rings.get_offsets()), alone.support_vectors_)
    behind = make_pipeline(StandardScaler(), sklearn.svm.SVC()).fit(X, TWO)
    ax = draw_margins(behind, X, TWO)
    np.testing.assert_array_equal(np.asarray(ax.collections[-1].get_offsets()), X[behind[-1].support_])
    assert texts(ax)[-1] == f"{len(behind[-1].support_)} support vectors"
    others = draw_margins(behind, X[::-1], TWO[::-1])  # other rows than those of the fit: which ones they are is not known
    assert texts(others) == ["no", "yes"]


def test_several_classes_one_class_and_frames() -> None:
    frame = pandas.DataFrame(X, columns=["width", "height"])
    model = tenfold.LogisticRegression().fit(frame, THREE)
    ax = draw_margins(model, frame, THREE)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height") and texts(ax) == ["a", "b", "c"]
    assert sum(hasattr(one, "levels") for one in ax.collections) == 3
    pairs = sklearn.svm.SVC(decision_function_shape="ovo").fit(X, np.append(THREE[:-1], "d"))
    assert is_picture(draw_margins(pairs, X, THREE))
    own = sklearn.svm.OneClassSVM(nu=0.1, gamma=0.1).fit(X / [1, 10])
    assert set(lines_of(draw_margins(own, X / [1, 10]))) == {0.0}
    assert is_picture(draw_margins(tenfold.LinearSVC().fit(X, X[:, 0] > 0), X))


def test_margins_refuse_what_they_cannot_show() -> None:
    with pytest.raises(tenfold.BadInput, match="KNeighborsClassifier has none: use draw_regions"):
        draw_margins(tenfold.KNeighborsClassifier().fit(X, TWO), X)
    wide = RNG.normal(size=(20, 3))
    with pytest.raises(tenfold.BadInput, match="two columns"):
        draw_margins(tenfold.LinearSVC().fit(wide, wide[:, 0] > 0), wide)
    with pytest.raises(tenfold.BadInput, match="one target"):
        draw_margins(tenfold.LinearSVC().fit(X, TWO), X, TWO[:5])


def bands_of(ax: Any) -> list[tuple[Any, Any]]:
    """Each filled band as its lower and upper end, along the places of the picture."""
    found = []
    for one in ax.collections:
        points = one.get_paths()[0].vertices if one.get_paths() else np.empty((0, 2))
        if len(points) > 400:
            half = (len(points) - 1) // 2
            found.append((points[1:half, 1], points[half + 1 : -1, 1][::-1]))
    return found


def test_bands_of_a_process_are_those_of_functions_and_of_new_rows(process: Any) -> None:
    """The oracle: scikit-learn's process with the same kernel; without its noise for functions, with it for new rows."""
    ax = draw_process(process, x, z)
    at, mean = ax.lines[-1].get_data()
    size, length, noise = np.exp(process.kernel_.theta)
    kernel = their_kernels.ConstantKernel(size) * their_kernels.RBF(length)
    theirs, spread = Theirs(kernel, alpha=noise, optimizer=None).fit(x, z).predict(np.asarray(at)[:, None], return_std=True)
    np.testing.assert_allclose(mean, theirs, atol=1e-8)
    wide, functions, half = bands_of(ax)
    np.testing.assert_allclose(np.ptp(functions, axis=0), 2 * 1.959964 * spread[: len(functions[0])], rtol=1e-4)
    np.testing.assert_allclose(np.ptp(half, axis=0), 2 * 0.6744898 * spread[: len(half[0])], rtol=1e-4)
    np.testing.assert_allclose(np.ptp(wide, axis=0), 2 * 1.959964 * np.sqrt(spread**2 + noise)[: len(wide[0])], rtol=1e-4)
    assert texts(ax)[-1] == "rows" and is_picture(ax)


def test_drawn_functions_have_no_noise_and_follow_the_process(process: Any) -> None:
    ax = draw_process(process, x, z, samples=60)
    drawn = np.array([line.get_ydata() for line in ax.lines if line.get_linewidth() == 0.8])
    assert drawn.shape[0] == 60
    assert np.abs(np.diff(drawn, axis=1)).max() < 0.3, "smooth"
    low, high = bands_of(ax)[1]
    inside = (drawn[:, : len(low)] > low) & (drawn[:, : len(low)] < high)
    assert 0.9 < inside.mean() < 0.99  # 95 % at each place


def test_the_prior_and_processes_without_noise(process: Any) -> None:
    ax = draw_process(tenfold.GaussianProcessRegressor(RBF(0.5)), between=(-1, 1))
    assert ax.get_xlim() == (-1, 1) and texts(ax) == ["95 % of functions", "50 % of functions", "drawn functions", "mean"]
    low, high = bands_of(ax)[0]
    np.testing.assert_allclose(high - low, 2 * 1.959964, rtol=1e-6)
    assert "rows" not in texts(draw_process(process, x, z, prior=True)) and is_picture(draw_process(process))
    assert is_picture(draw_process(tenfold.GaussianProcessRegressor()))
    frame = pandas.DataFrame({"time": x[:, 0]})
    scaled = tenfold.GaussianProcessRegressor(RBF(1.0), alpha=0.1, normalize_y=True).fit(frame, 100 * z)
    ax = draw_process(scaled, frame, 100 * z, samples=0)
    assert ax.get_xlabel() == "time" and "drawn functions" not in texts(ax) and "95 % of new rows" in texts(ax)


def test_processes_refuse_what_they_cannot_show(process: Any) -> None:
    with pytest.raises(tenfold.BadInput, match="one column"):
        draw_process(process, X, z)
    with pytest.raises(tenfold.BadInput, match="fitted to 2"):
        draw_process(tenfold.GaussianProcessRegressor(RBF(), alpha=1.0, optimizer=None).fit(X, X[:, 0]))
    with pytest.raises(tenfold.BadInput, match="Ridge is none"):
        draw_process(tenfold.Ridge().fit(x, z), x, z)
    with pytest.raises(tenfold.BadInput, match="y has 3 values"):
        draw_process(process, x, z[:3])
    with pytest.raises(tenfold.BadParameter, match="below the second"):
        draw_process(process, between=(1, 0))


def test_the_evidence_is_that_of_the_model_and_largest_at_the_fit(process: Any) -> None:
    ax = draw_evidence(process, ("k1__k2__length_scale", 2), restarts=2)
    star = next(line for line in ax.lines if line.get_marker() == "*")
    np.testing.assert_allclose(np.ravel(star.get_data()), np.exp(process.kernel_.theta[1:]), rtol=1e-9)
    filled = next(one for one in ax.collections if hasattr(one, "levels") and one.filled)
    assert filled.levels[-1] == pytest.approx(process.log_marginal_likelihood_value_, abs=1e-3)
    ends = [np.ravel(line.get_data()) for line in ax.lines if line.get_markersize() == 9]
    assert len(ends) == 2 and is_picture(ax)
    for end in ends:  # there the evidence has no slope within the bounds of the picture
        theta = np.log([np.exp(process.kernel_.theta[0]), *end])
        inside = [a < b < c for (a, c), b in zip((np.log(ax.get_xlim()), np.log(ax.get_ylim())), theta[1:], strict=True)]
        slope = process.log_marginal_likelihood(theta, eval_gradient=True)[1][1:]
        assert np.abs(slope[np.array(inside)]).max(initial=0.0) < 0.05


def test_the_evidence_refuses_what_it_cannot_show(process: Any) -> None:
    with pytest.raises(tenfold.BadInput, match="fit one first"):
        draw_evidence(tenfold.GaussianProcessRegressor())
    with pytest.raises(tenfold.BadParameter, match="k2__noise_level; give two"):
        draw_evidence(process, (0, 9))
    with pytest.raises(tenfold.BadParameter, match="two different"):
        draw_evidence(process, (1, 1))
    with pytest.raises(tenfold.BadParameter, match="above 1"):
        draw_evidence(process, reach=0.5)


def test_kernels_of_rows_are_ordered_by_class_and_by_likeness() -> None:
    apart = np.repeat([[0.0, 0.0], [50.0, 0.0]], 15, axis=0) + RNG.normal(size=(30, 2))
    mixed = RNG.permutation(30)
    side = np.where(mixed < 15, "left", "right")
    by_class, eigenvalues = draw_kernel(RBF(1.0), apart[mixed], side)
    plain, _ = draw_kernel(RBF(1.0), apart[mixed])
    for ax in (by_class, plain):
        K = np.asarray(ax.images[0].get_array())
        assert K[:15, 15:].max() < 1e-12, "two blocks"
        np.testing.assert_allclose(np.linalg.eigvalsh(K), np.linalg.eigvalsh(RBF(1.0)(apart)), atol=1e-12)
    assert [text.get_text() for text in by_class.get_yticklabels()] == ["left", "right"]
    largest = np.linalg.eigvalsh(RBF(1.0)(apart))[::-1]
    np.testing.assert_allclose(eigenvalues.lines[0].get_ydata(), (largest / largest[0])[: len(eigenvalues.lines[0].get_ydata())], rtol=1e-6)
    assert is_picture(by_class)
    by_number, _ = draw_kernel("linear", apart[mixed], apart[mixed][:, 0])
    assert (np.diff(np.diagonal(np.asarray(by_number.images[0].get_array())[15:, 15:])) > -1e3).all()


def test_a_matrix_that_is_no_kernel_shows_it_and_long_tables_are_drawn_from() -> None:
    _, eigenvalues = draw_kernel(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert texts(eigenvalues) == ["eigenvalues", "1 below zero: no kernel"]
    matrix, _ = draw_kernel("rbf", RNG.normal(size=(1200, 2)))
    assert "1,000 of 1,200 rows" in matrix.get_title()
    one, _ = draw_kernel("rbf", [[1.0]])
    assert is_picture(one)


def test_kernels_refuse_what_they_cannot_show() -> None:
    for kernel, rows, y, match in (
        ("rbf", None, None, "give a kernel and the rows"),
        (np.ones((2, 3)), None, None, "square matrix"),
        ("gauss", X, None, "is none of"),
        (3, X, None, "no kernel"),
        ("rbf", X, TWO[:3], "one value for each"),
        ("rbf", [[np.nan]], None, "finite"),
        ("poly", [[1e200], [1.0]], None, "scale the columns"),
    ):
        with pytest.raises(tenfold.BadInput, match=match), np.errstate(all="ignore"):
            draw_kernel(kernel, rows, y)
