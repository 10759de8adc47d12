"""Random sample consensus: the lecture's table, gross errors, several instances, any model, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import config_context, linear_model
from sklearn.tree import DecisionTreeRegressor

import tenfold
from tenfold.compose.consensus import copy_of
from tenfold.compose.ransac import n_draws


def spoiled(share: float, n: int = 1000, seed: int = 0) -> tuple[Any, Any, Any]:
    """Rows near y = x·w + 1, of which a share has a target of its own; and w."""
    rng = np.random.default_rng(seed)
    X, true = rng.normal(size=(n, 3)), np.array([3.0, -2.0, 1.0])
    y = X @ true + 1 + 0.1 * rng.normal(size=n)
    far = rng.random(n) < share
    y[far] = 100 * rng.normal(size=far.sum()) + 50
    return X, y, true


@pytest.mark.parametrize(
    "size, expected", [(2, [3, 17, 49]), (3, [4, 35, 169]), (8, [9, 1172, 70128])], ids=["line", "plane", "8"]
)
def test_draws_of_the_lecture(size: int, expected: list[int]) -> None:
    """For 90, 50 and 30 % of inliers and success of 99 %; the two largest of the lecture are off by 0.5 %."""
    found = [n_draws(0.99, share, size) for share in (0.9, 0.5, 0.3)]
    np.testing.assert_allclose(found, expected, rtol=0.005 if size == 8 else 0)


def test_draws_succeed_as_often_as_they_say() -> None:
    rng, size, share = np.random.default_rng(1), 3, 0.5
    clean = (rng.random((4000, int(n_draws(0.9, share, size)), size)) < share).all(axis=2).any(axis=1)
    assert abs(clean.mean() - 0.9) < 0.02
    assert n_draws(0.99, 0.0, 2) == np.inf and n_draws(0.99, 1.0, 2) == 1 and n_draws(1.0, 0.5, 2) == np.inf


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5])
def test_gross_errors_do_not_move_it(share: float) -> None:
    X, y, true = spoiled(share)
    model = tenfold.RANSACRegressor(residual_threshold=0.5, random_state=0, max_trials=300).fit(X, y)
    assert np.linalg.norm(model.coef_ - true) < 0.02 * np.linalg.norm(true)
    assert abs(model.inlier_share_ - (1 - share)) < 0.05
    theirs = linear_model.RANSACRegressor(residual_threshold=0.5, random_state=0, max_trials=300).fit(X, y)
    near = np.abs(y - model.predict(X)) <= 0.5
    assert near.sum() >= theirs.inlier_mask_.sum()


def test_result_is_least_squares_of_its_inliers() -> None:
    X, y, _ = spoiled(0.3)
    model = tenfold.RANSACRegressor(residual_threshold=0.5, random_state=0).fit(X, y)
    near = np.abs(y - model.predict(X)) <= model.residual_threshold_
    expected = tenfold.LinearRegression().fit(X[near], y[near])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    np.testing.assert_array_equal(model.inlier_mask_, near)
    np.testing.assert_array_equal(model.inliers(X, y), near)
    np.testing.assert_array_equal(model.estimator_.predict(X), model.predict(X))
    streamed = tenfold.RANSACRegressor(residual_threshold=0.5, random_state=0).fit(
        [(X[:500], y[:500]), (X[500:], y[500:])]
    )
    np.testing.assert_allclose(streamed.coef_, model.coef_, rtol=1e-9)
    with pytest.raises(AttributeError, match="residual_threshold_"):
        streamed.inlier_mask_  # noqa: B018


def test_several_lines() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, size=(900, 1))
    lines = np.array([[3.0, 0.0], [-3.0, 5.0], [0.0, -8.0]])
    which = np.repeat([0, 1, 2], [400, 300, 200])
    y = X[:, 0] * lines[which, 0] + lines[which, 1] + 0.05 * rng.normal(size=900)
    model = tenfold.RANSACRegressor(residual_threshold=0.2, random_state=0, n_models=3).fit(X, y)
    np.testing.assert_allclose(model.models_, lines, atol=0.05)


# --- any model ---


def bent(seed: int = 3, n: int = 400) -> tuple[Any, Any, Any]:
    """A parabola, of which 40 % of the rows know nothing; and which do."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-2, 2, size=(n, 1))
    y = 1 + x[:, 0] - 2 * x[:, 0] ** 2 + 0.05 * rng.normal(size=n)
    good = rng.random(n) > 0.4
    y[~good] = rng.uniform(-20, 20, size=(~good).sum())
    return x, y, good


def parabola(x: Any, a: float, b: float, c: float) -> Any:
    return a + b * x[:, 0] + c * x[:, 0] ** 2


POLYNOMIAL = tenfold.make_pipeline(tenfold.PolynomialFeatures(2, include_bias=False), tenfold.LinearRegression())


@pytest.mark.parametrize(
    "model",
    [POLYNOMIAL, tenfold.CurveFit(parabola, start=[0.0, 0.0, 0.0]), DecisionTreeRegressor(max_depth=6)],
    ids=["pipeline", "curve", "tree of scikit-learn"],
)
def test_any_model(model: Any) -> None:
    X, y, good = bent()
    size = 3 if not isinstance(model, DecisionTreeRegressor) else 0.5
    found = tenfold.RANSACRegressor(model, min_samples=size, residual_threshold=0.25, random_state=0, max_trials=300)
    found.fit(X, y)
    if isinstance(model, DecisionTreeRegressor):  # no subset of half the rows is clean: it only has to run
        assert found.estimator_.tree_.node_count > 1 and found.inlier_mask_.mean() > 0.3
        return
    truth = parabola(X, 1.0, 1.0, -2.0)
    np.testing.assert_allclose(found.predict(X), truth, atol=0.03)
    assert found.inlier_mask_[good].mean() > 0.99 and found.inlier_mask_[~good].mean() < 0.05
    assert abs(found.inlier_share_ - found.inlier_mask_.mean()) < 1e-12
    again = copy_of(model).fit(X[found.inlier_mask_], y[found.inlier_mask_])
    np.testing.assert_allclose(found.predict(X), again.predict(X), rtol=1e-8)
    assert not vars(model).get("n_features_in_"), "the model given must not be fitted"


def test_models_of_blocks_are_those_of_the_table(tmp_path: Any) -> None:
    """And what is saved comes back."""
    X, y, _ = bent()
    w = np.random.default_rng(0).integers(0, 3, len(y))
    settings: dict[str, Any] = {"min_samples": 3, "residual_threshold": 0.25, "random_state": 0}
    model = tenfold.RANSACRegressor(POLYNOMIAL, **settings).fit(X, y, w)
    copies = np.repeat(np.arange(len(y)), w)
    blocks = [(X[copies][i : i + 30], y[copies][i : i + 30]) for i in range(0, len(copies), 30)]
    streamed = tenfold.RANSACRegressor(POLYNOMIAL, **settings).fit(blocks)
    np.testing.assert_allclose(streamed.predict(X), model.predict(X), rtol=1e-8)
    assert streamed.n_trials_ == model.n_trials_
    tenfold.save(model, tmp_path / "m")
    again = tenfold.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert repr(again) == repr(model)


def test_linear_models_agree_with_the_fast_way() -> None:
    X, y, _ = spoiled(0.3)
    fast = tenfold.RANSACRegressor(residual_threshold=0.5, random_state=0).fit(X, y)
    slow = tenfold.RANSACRegressor(residual_threshold=0.5, random_state=0, is_data_valid=lambda X, y: True).fit(X, y)
    np.testing.assert_allclose(slow.predict(X), fast.predict(X), rtol=1e-9, atol=1e-9)
    assert slow.n_trials_ == fast.n_trials_
    squared = tenfold.RANSACRegressor(residual_threshold=0.25, random_state=0, loss="squared_error").fit(X, y)
    np.testing.assert_allclose(squared.coef_, fast.coef_, rtol=1e-9)
    own = tenfold.RANSACRegressor(residual_threshold=0.5, random_state=0, loss=lambda y, guess: np.abs(y - guess))
    np.testing.assert_allclose(own.fit(X, y).predict(X), fast.predict(X), rtol=1e-9, atol=1e-9)
    ridge = tenfold.RANSACRegressor(tenfold.Ridge(1e-6), residual_threshold=0.5, random_state=0).fit(X, y)
    np.testing.assert_allclose(ridge.estimator_.coef_, fast.coef_, rtol=1e-6)


def test_several_circles() -> None:
    """Two circles in a cloud of points."""
    rng = np.random.default_rng(4)
    angle = rng.uniform(0, 2 * np.pi, 500)
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    circles = np.array([[0.0, 0.0, 2.0], [3.0, 1.0, 1.0]])
    which = np.repeat([0, 1], [300, 200])
    points = circles[which, :2] + circles[which, 2:] * around + 0.01 * rng.normal(size=(500, 2))
    X = np.concatenate([points, rng.uniform(-4, 5, size=(200, 2))])
    model = tenfold.RANSACRegressor(
        tenfold.CircleFit(), residual_threshold=0.05, n_models=2, random_state=0, max_trials=500
    ).fit(X)
    found = [[*one.center_, one.radius_] for one in model.estimators_]
    np.testing.assert_allclose(found, circles, atol=0.01)
    assert model.inlier_mask_[:300].mean() > 0.99
    np.testing.assert_array_equal(model.inliers(X), model.inlier_mask_)
    with pytest.raises(tenfold.BadInput, match="predicts no y"):
        model.predict(X)


def test_hooks_are_asked() -> None:
    X, y, _ = spoiled(0.3)
    asked = []

    def never(*given: Any) -> bool:
        asked.append(len(given))
        return False

    for name, arguments in (("is_data_valid", 2), ("is_model_valid", 3)):
        asked.clear()
        with pytest.raises(tenfold.BadInput, match="none of 8 subsets"):
            tenfold.RANSACRegressor(residual_threshold=0.5, random_state=0, max_skips=7, **{name: never}).fit(X, y)
        assert asked == [arguments] * 8


def test_median_deviation_is_the_default_threshold() -> None:
    X, y, _ = spoiled(0.3)
    model = tenfold.RANSACRegressor(random_state=0).fit(X, y)
    np.testing.assert_allclose(model.residual_threshold_, np.median(np.abs(y - np.median(y))), rtol=1e-12)


@pytest.mark.parametrize(
    "more, error, words",
    [
        ({"min_samples": 5000}, tenfold.BadInput, "n_samples"),
        ({"min_samples": 4.5}, tenfold.BadParameter, "whole number"),
        ({"residual_threshold": 0.0, "min_samples": 100}, tenfold.BadInput, "consensus"),
        ({"estimator": "tree"}, tenfold.BadParameter, "estimator"),
        ({"estimator": tenfold.PCA()}, tenfold.BadParameter, "estimator"),
        ({"estimator": POLYNOMIAL}, tenfold.BadParameter, "min_samples"),
        ({"estimator": tenfold.Ridge(alpha=-1.0)}, tenfold.BadParameter, "alpha"),
        ({"estimator": tenfold.CircleFit()}, tenfold.BadParameter, "residual_threshold"),
        (
            {"estimator": tenfold.CurveFit(lambda x, a: a * np.nan * x[:, 0], start=[1.0])},
            tenfold.BadInput,
            "begin where",
        ),
        ({"is_data_valid": 3}, tenfold.BadParameter, "is_data_valid"),
        ({"loss": "cubed"}, tenfold.BadParameter, "loss"),
        ({"loss": lambda y, guess: 1.0}, tenfold.BadParameter, "one number a row"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_refused(more: dict[str, Any], error: type[Exception], words: str) -> None:
    X, y, _ = spoiled(0.3)
    with pytest.raises(error, match=words):
        tenfold.RANSACRegressor(random_state=0, **more).fit(X, y)


def line(n: int = 120) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = X @ [1.0, 2.0] + 0.01 * rng.normal(size=n)
    y[::4] += 50
    return X, y


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_array"])
@pytest.mark.parametrize("ridge", [False, True])
def test_sparse_rows(kind: str, ridge: bool) -> None:
    import scipy.sparse

    X, y = line()
    model = tenfold.RANSACRegressor(tenfold.Ridge(1e-6) if ridge else None, residual_threshold=1.0, random_state=0)
    expected = model.fit(X, y).predict(X)
    sparse = getattr(scipy.sparse, kind)(X)
    np.testing.assert_allclose(model.fit(sparse, y).predict(sparse), expected, rtol=1e-9)
    np.testing.assert_array_equal(model.inlier_mask_, np.arange(120) % 4 != 0)


def test_several_targets_agree_together() -> None:
    X, y = line()
    two = np.column_stack([y, -X[:, 0]])
    two[1::4, 1] -= 40
    model = tenfold.RANSACRegressor(residual_threshold=1.0, random_state=0).fit(X, two)
    np.testing.assert_array_equal(model.inlier_mask_, np.arange(120) % 4 > 1)
    np.testing.assert_allclose(model.predict(X)[2::4], two[2::4], atol=0.1)
    np.testing.assert_array_equal(model.inliers(X, two), model.inlier_mask_)


def test_skips_are_counted_also_of_a_fit_that_fails() -> None:
    X, y = line()
    model = tenfold.RANSACRegressor(is_data_valid=lambda X, y: False, max_trials=5)
    with pytest.raises(tenfold.BadInput, match="could not find a valid consensus set"):
        model.fit(X, y)
    assert (model.n_skips_no_inliers_, model.n_skips_invalid_data_, model.n_skips_invalid_model_) == (0, 5, 0)
    asked: list[int] = []
    first = tenfold.RANSACRegressor(is_model_valid=lambda m, X, y: asked.append(1) or len(asked) == 1, max_skips=3)  # type: ignore[func-returns-value]
    with pytest.warns(tenfold.NotConverged, match="exited early due to skipping more iterations than `max_skips`"):
        first.fit(X, y)
    assert first.n_skips_invalid_model_ == 4
    with pytest.raises(AttributeError):
        tenfold.RANSACRegressor().n_skips_no_inliers_  # noqa: B018


def test_stop_score() -> None:
    X, y = line()
    model = tenfold.RANSACRegressor(residual_threshold=60.0, stop_score=0.0, random_state=0).fit(X, y)
    assert model.n_trials_ == 1


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_metadata_reach_the_models_of_subsets(own: bool, zeros: bool) -> None:
    draw = np.random.default_rng(5)
    X, w = draw.normal(size=(200, 3)), draw.uniform(0.5, 2.0, 200)
    y = X @ [1.0, 2.0, 3.0] + 0.01 * draw.normal(size=200) + np.where(np.arange(200) < 40, 30.0, 0.0)
    w[::7] *= not zeros
    kind = tenfold.LinearRegression if own else linear_model.LinearRegression
    with config_context(enable_metadata_routing=True):
        inside = kind().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        model = tenfold.RANSACRegressor(inside, residual_threshold=0.1, random_state=0).fit(X, y, sample_weight=w)
        here = np.flatnonzero(model.inliers(X, y) & (w > 0))
        expected = linear_model.LinearRegression().fit(X[here], y[here], sample_weight=w[here])
        np.testing.assert_allclose(model.estimator_.coef_, expected.coef_, rtol=1e-9)
        assert model.score(X, y, sample_weight=w) == pytest.approx(expected.score(X, y, sample_weight=w), rel=1e-9)
        with pytest.raises(ValueError, match="are passed but are not explicitly set"):
            tenfold.RANSACRegressor(kind()).fit(X, y, sample_weight=w)
    with pytest.raises(ValueError, match="only supported if enable_metadata_routing=True"):
        tenfold.RANSACRegressor(kind()).fit(X, y, groups=w)
