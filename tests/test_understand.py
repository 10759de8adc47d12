"""Bias and variance, curves, calibration, importance, dependence: against closed forms, brute force, scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as SklearnLDA
from sklearn.inspection import partial_dependence as sklearn_partial_dependence
from sklearn.inspection import permutation_importance as sklearn_permutation_importance
from sklearn.linear_model import LogisticRegression as SklearnLogistic
from sklearn.linear_model import Ridge as SklearnRidge

import tenfold
from tenfold.base import check
from tenfold.evaluate import (
    GroupKFold,
    accumulated_effects,
    bias_variance,
    bias_variance_path,
    calibration_curve,
    fit_calibrator,
    learning_curve,
    partial_dependence,
    permutation_importance,
    validation_curve,
)
from tenfold.evaluate.explain import importance as importance_module
from tenfold.evaluate.explain.importance import drops_of
from tenfold.score.registry import find_score

# --- bias and variance ----------------------------------------------------------------------------------------------


def test_least_squares_has_the_variance_of_the_textbook() -> None:
    """At the training rows, with targets drawn anew: bias 0, variance σ² (p + 1)/n, and the parts add up."""
    rng = np.random.default_rng(0)
    X, sigma = rng.normal(size=(40, 3)), 0.7
    truth = X @ [1.0, -2.0, 0.5] + 3

    def draw(g: np.random.Generator) -> tuple[Any, Any]:
        return X, truth + sigma * g.normal(size=40)

    y_test = truth + sigma * rng.normal(size=40)
    parts = bias_variance(tenfold.LinearRegression(), draw, None, X, y_test, truth=truth, replicates=1500)
    np.testing.assert_allclose(parts.variance, sigma**2 * 4 / 40, rtol=0.08)
    assert abs(parts.bias) < 0.002
    np.testing.assert_allclose(parts.noise, ((y_test - truth) ** 2).mean(), rtol=1e-12)
    np.testing.assert_allclose(parts.error, parts.bias + parts.variance + parts.noise, rtol=1e-12)


def test_a_wrong_model_has_the_bias_of_its_limit() -> None:
    """A line through x² at fixed rows: the bias² is the mean square of what the best line leaves."""
    x = np.linspace(-1, 1, 50)[:, None]
    truth = x[:, 0] ** 2
    line = np.column_stack([np.ones(50), x])
    left = truth - line @ np.linalg.lstsq(line, truth, rcond=None)[0]

    def draw(g: np.random.Generator) -> tuple[Any, Any]:
        return x, truth + 0.1 * g.normal(size=50)

    parts = bias_variance(tenfold.LinearRegression(), draw, None, x, truth=truth, replicates=400)
    np.testing.assert_allclose(parts.bias, (left**2).mean(), rtol=0.01)
    assert parts.noise == 0


def bags(n: int, replicates: int, codes: Any = None) -> np.ndarray:
    """The bootstrap samples of `bias_variance` with seed 0."""
    rng, counts = np.random.default_rng(0), []
    while len(counts) < replicates:
        one = np.bincount(rng.integers(0, n, size=n), minlength=n)
        if codes is None or np.bincount(codes, one).min() > 0:
            counts.append(one)
    return np.array(counts)


def test_rows_out_of_the_bag_by_brute_force() -> None:
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:80], y[:80]
    parts = bias_variance(tenfold.Ridge(0.1), X, y, noise=1000.0, replicates=40)
    answers = np.full((40, 80), np.nan)
    for b, count in enumerate(bags(80, 40)):
        model = tenfold.Ridge(0.1).fit(np.repeat(X, count, axis=0), np.repeat(y, count))
        answers[b, count == 0] = model.predict(X[count == 0])
    np.testing.assert_allclose(parts.error, np.nanmean((answers - y) ** 2, axis=0).mean(), rtol=1e-9)
    np.testing.assert_allclose(parts.variance, np.nanvar(answers, axis=0, ddof=1).mean(), rtol=1e-9)
    np.testing.assert_allclose(parts.error - parts.bias - parts.variance, 1000.0, rtol=1e-9)
    np.testing.assert_allclose(parts.main, np.nanmean(answers, axis=0), rtol=1e-9)


def test_domingos_by_brute_force() -> None:
    """error = c₁ N + B + c₂ V, row by row with the coefficients of the paper, for three classes."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2))
    P = np.exp(X @ rng.normal(size=(2, 3)))
    P /= P.sum(axis=1, keepdims=True)
    y = np.array([rng.choice(3, p=p) for p in P])
    parts = bias_variance(tenfold.GaussianNB(), X[:60], y[:60], X[60:], y[60:], truth=P[60:], replicates=25)
    guesses = np.array(
        [
            tenfold.GaussianNB().fit(np.repeat(X[:60], c, axis=0), np.repeat(y[:60], c)).predict(X[60:])
            for c in bags(60, 25, y[:60])
        ]
    )
    expected = []
    for g, p in zip(guesses.T, P[60:], strict=True):
        best, main = p.argmax(), np.bincount(g, minlength=3).argmax()
        noise, bias, variance = 1 - p[best], float(main != best), (g != main).mean()
        miss = (g != best).mean()
        slip = np.mean([p[k] for k in g if k != best]) / noise if miss else 0.0  # P(y = f | f ≠ t, y ≠ t)
        c1 = (1 - miss) - miss * slip
        c2 = 1.0 if main == best else -((g == best).sum() / (g != main).sum() if variance else 0.0)
        expected.append((bias, c2 * variance, c1 * noise))
        np.testing.assert_allclose(sum(expected[-1]), (1 - p[g]).mean(), rtol=1e-12)
    np.testing.assert_allclose((parts.bias, parts.variance, parts.noise), np.mean(expected, axis=0), rtol=1e-10)
    np.testing.assert_allclose(parts.error, (1 - P[60:][np.arange(30), guesses]).mean(), rtol=1e-12)


def test_zero_one_error_without_truth_is_the_error_out_of_the_bag() -> None:
    X, y = load_wine(return_X_y=True)
    for model in (tenfold.GaussianNB(), tenfold.NearestCentroid(metric="manhattan")):
        parts = bias_variance(model, X[:, :3], y, replicates=30)
        wrong = np.full((30, len(y)), np.nan)
        for b, count in enumerate(bags(len(y), 30, y)):
            model.fit(X[:, :3], y, count)
            wrong[b, count == 0] = model.predict(X[count == 0, :3]) != y[count == 0]
        np.testing.assert_allclose(parts.error, np.nanmean(wrong, axis=0).mean(), rtol=1e-12)
        assert parts.noise == 0 and "0-1 error" in str(parts)


def test_along_a_penalty_bias_grows_and_variance_falls() -> None:
    X, y = load_diabetes(return_X_y=True)
    path = bias_variance_path(tenfold.Ridge(), X[:150], y[:150], "alpha", [1e-3, 0.3, 3.0], replicates=30)
    assert (np.diff(path.column("bias")) > 0)[-1] and (np.diff(path.column("variance")) < 0).all()
    one = bias_variance(tenfold.Ridge(0.3), X[:150], y[:150], replicates=30)
    np.testing.assert_allclose(path.column("error")[1], one.error, rtol=1e-12)
    assert path.best in path.values and "variance" in str(path)


# --- curves ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [tenfold.Ridge(0.1), tenfold.GaussianNB()], ids=["Ridge", "GaussianNB"])
def test_learning_curve_by_merging_equals_refitting(model: Any) -> None:
    X, y = load_wine(return_X_y=True) if model.role == "classifier" else load_diabetes(return_X_y=True)
    merged = learning_curve(model, X, y, folds=5, sizes=[0.2, 0.5, 1.0], repeats=2)
    refitted = learning_curve(tenfold.make_pipeline(model), X, y, folds=5, sizes=[0.2, 0.5, 1.0], repeats=2)
    assert (merged.method, refitted.method) == ("merged statistics", "refitted")
    np.testing.assert_allclose(merged.test_scores, refitted.test_scores, rtol=1e-8)
    np.testing.assert_allclose(merged.train_scores, refitted.train_scores, rtol=1e-8)
    np.testing.assert_allclose(merged.sizes, len(y) * 0.8 * np.array([0.2, 0.5, 1.0]), rtol=0.05)
    whole = tenfold.cross_validate(model, X, y, folds=5, repeats=2)
    np.testing.assert_allclose(merged.test_scores[-1], whole.scores.reshape(-1), rtol=1e-9)
    assert merged.test_scores.shape == (3, 10) and "training rows" in str(merged)


@pytest.mark.parametrize("score", ["r2", "mae"])
def test_curves_with_weights_and_groups(score: str) -> None:
    """Rows of weight zero take no part; scores by moments (r2) and by rows (mae) both are those of refitting."""
    X, y = load_diabetes(return_X_y=True)
    w = np.random.default_rng(0).integers(0, 3, size=len(y)).astype(float)
    groups, kept = np.arange(len(y)) // 4, w > 0
    settings = dict(folds=4, score=score, sizes=[0.3, 1.0])
    whole = learning_curve(tenfold.Ridge(0.1), X, y, sample_weight=w, groups=groups, **settings)
    part = learning_curve(
        tenfold.make_pipeline(tenfold.Ridge(0.1)),
        X[kept],
        y[kept],
        sample_weight=w[kept],
        groups=groups[kept],
        **settings,
    )
    np.testing.assert_allclose(whole.test_scores, part.test_scores, rtol=1e-8)
    np.testing.assert_allclose(whole.train_scores, part.train_scores, rtol=1e-8)
    curve = validation_curve(
        tenfold.Ridge(), X, y, "alpha", [0.1], folds=4, score=score, sample_weight=w, groups=groups
    )
    np.testing.assert_allclose(curve.test_scores[0], whole.test_scores[-1], rtol=1e-8)
    np.testing.assert_allclose(curve.train_scores[0], whole.train_scores[-1], rtol=1e-8)


def test_learning_curve_tells_of_too_few_rows() -> None:
    X, y = load_wine(return_X_y=True)
    with pytest.raises(tenfold.BadInput, match="no row of class"):
        learning_curve(tenfold.GaussianNB(), X, y, sizes=[2, 100])
    for sizes in ([0.5, 0.2], [0.0, 1.0], [500], 0):
        with pytest.raises(tenfold.BadParameter, match="sizes="):
            learning_curve(tenfold.GaussianNB(), X, y, sizes=sizes)


def test_validation_curve_equals_the_path_and_refits() -> None:
    X, y = load_diabetes(return_X_y=True)
    alphas = [1e-3, 0.1, 10.0]
    curve = validation_curve(tenfold.Ridge(), X, y, "alpha", alphas, folds=5, score="mse")
    path = tenfold.validation_path(tenfold.Ridge(), X, y, "alpha", alphas, folds=5, score="mse")
    np.testing.assert_allclose(curve.test_scores, path.scores, rtol=1e-8)
    assert curve.best == path.best and curve.method == "merged statistics"
    fold = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=5).fold[0]
    for v, alpha in enumerate(alphas):
        for k in range(5):
            kept = fold != k
            model = tenfold.Ridge(alpha).fit(X[kept], y[kept])
            expected = ((model.predict(X[kept]) - y[kept]) ** 2).mean()
            np.testing.assert_allclose(curve.train_scores[v, k], expected, rtol=1e-8)
    by_name = validation_curve(tenfold.Ridge(), X, y, "fit_intercept", [True, False], folds=5)
    assert by_name.method == "refitted" and by_name.best is True


def test_the_choice_of_one_standard_error() -> None:
    X, y = load_diabetes(return_X_y=True)
    curve = validation_curve(tenfold.Ridge(), X, y, "alpha", np.logspace(-4, 2, 20))
    best = curve.test_scores[curve.best_index]
    np.testing.assert_allclose(curve.limit, best.mean() - best.std(ddof=1) / 10**0.5, rtol=1e-12)
    good = [a for a, mean in zip(curve.values, curve.test_mean, strict=True) if mean >= curve.limit]
    assert curve.one_standard_error == good[-1] > curve.best
    assert curve.simplest("smaller") == good[0]
    losses = validation_curve(tenfold.Ridge(), X, y, "alpha", np.logspace(-4, 2, 20), score="mse")
    assert losses.limit > losses.test_mean.min() and losses.one_standard_error > losses.best


# --- importance -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["r2", "accuracy"])
def test_importance_equals_scikit_learn_on_the_same_shuffles(kind: str) -> None:
    if kind == "r2":
        X, y = load_diabetes(return_X_y=True)
        model, peer = tenfold.Ridge().fit(X, y), SklearnRidge().fit(X, y)
    else:
        X, y = load_wine(return_X_y=True)
        model, peer = tenfold.LinearDiscriminantAnalysis().fit(X, y), SklearnLDA().fit(X, y)
    theirs = sklearn_permutation_importance(peer, X, y, n_repeats=3, random_state=5, scoring=kind)
    # How it shuffles: one seed for all columns; a shuffled list of rows is applied to the column as it stands.
    seed = np.random.RandomState(5).randint(np.iinfo(np.int32).max + 1)
    orders = []
    for _ in range(X.shape[1]):
        state, order, each = np.random.RandomState(seed), np.arange(len(y)), [np.arange(len(y))]
        for _ in range(3):
            state.shuffle(order)
            each.append(each[-1][order])
        orders.append(np.array(each[1:]))
    _, drops = drops_of(model, check.in_memory(model, X, y), orders, find_score(kind, model.role))
    np.testing.assert_allclose(drops, theirs.importances, rtol=1e-8, atol=1e-10)


def test_importance_on_held_out_folds_by_refitting(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_diabetes(return_X_y=True)
    X = X[:, :4]

    def turned(seed: int, n: int, repeats: int, columns: int) -> Any:
        return (np.tile(np.arange(n)[::-1], (repeats, 1)) for _ in range(columns))

    monkeypatch.setattr(importance_module, "shuffles", turned)
    found = permutation_importance(tenfold.Ridge(), X, y, folds=5, n_repeats=1, score="mse")
    fold = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=5).fold[0]
    for k in range(5):
        model = tenfold.Ridge().fit(X[fold != k], y[fold != k])
        held, truth = X[fold == k], y[fold == k]
        for j in range(4):
            changed = held.copy()
            changed[:, j] = held[::-1, j]
            rise = ((truth - model.predict(changed)) ** 2).mean() - ((truth - model.predict(held)) ** 2).mean()
            np.testing.assert_allclose(found.drops[j, k, 0], rise, rtol=1e-8)


def test_importance_has_ranges() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = 2 * X[:, 0] + X[:, 1] + rng.normal(size=300)
    found = permutation_importance(tenfold.Ridge(), X, y)
    low, high = found.interval.T
    assert (low[:2] > 0).all() and low[2] < 0 and abs(high[2]) < 0.01 and found.importances.shape == (3, 50)
    np.testing.assert_allclose(found.importances_mean, found.importances.mean(axis=1), rtol=1e-12)
    assert "x0" in str(found).splitlines()[1]
    fitted = permutation_importance(tenfold.Ridge().fit(X, y), X, y, folds=None, n_repeats=8)
    assert fitted.drops.shape == (3, 1, 8) and (np.diff(fitted.interval, axis=1) > 0).all()
    groups = np.arange(300) // 5
    grouped = permutation_importance(tenfold.Ridge(), X, y, folds=GroupKFold(4), groups=groups, n_repeats=2)
    assert grouped.drops.shape == (3, 4, 2) and grouped.importances_mean[0] > grouped.importances_mean[1]
    weighted = permutation_importance(tenfold.Ridge(), X, y, sample_weight=np.where(np.arange(300) < 150, 1.0, 0.0))
    assert np.isfinite(weighted.importances).all()


# --- dependence -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("features", [2, [0, 8], [1, 2]])
def test_partial_dependence_equals_scikit_learn(features: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    X = np.column_stack([X[:, :8], X[:, 0] * X[:, 1]])
    model, peer = tenfold.Ridge().fit(X, y), SklearnRidge().fit(X, y)
    w = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    names = features if isinstance(features, list) else [features]
    for weights in (None, w):
        ours = partial_dependence(model, X, features, grid_resolution=12, sample_weight=weights)
        peers = sklearn_partial_dependence(peer, X, names, grid_resolution=12, sample_weight=weights)
        for mine, theirs in zip(ours.grid_values, peers["grid_values"], strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(ours.average, peers["average"], rtol=1e-9)


def test_curves_of_rows_equal_scikit_learn_and_a_foreign_model_is_taken() -> None:
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    peer = SklearnLogistic().fit(X[:, :4], y)
    theirs = sklearn_partial_dependence(peer, X[:, :4], [1], kind="both", grid_resolution=9)
    ours = partial_dependence(peer, X[:, :4], 1, grid_resolution=9, individual=True)
    np.testing.assert_allclose(ours.individual, theirs["individual"], rtol=1e-9)
    np.testing.assert_allclose(ours.average, theirs["average"], rtol=1e-9)
    assert ours.outputs == ["P(0)", "P(1)", "P(2)"]
    two = partial_dependence(tenfold.GaussianNB().fit(X, y > 0), X, 0, grid_resolution=5)
    assert two.average.shape == (1, 5) and two.outputs == ["P(True)"]


def test_columns_by_name() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).normal(size=(40, 2)), columns=["age", "size"])
    model = tenfold.Ridge().fit(X, X["size"])
    assert partial_dependence(model, X, "size").columns == ["size"]
    foreign = SklearnRidge().fit(X, X["size"])
    np.testing.assert_allclose(
        partial_dependence(foreign, X, "size").average, partial_dependence(model, X, "size").average, rtol=1e-9
    )
    assert permutation_importance(tenfold.Ridge(), X, X["size"], folds=4).columns == ["age", "size"]
    with pytest.raises(tenfold.BadInput, match="no column 'weight'"):
        partial_dependence(model, X, "weight")


def additive(rows: np.ndarray) -> np.ndarray:
    return np.exp(rows[:, 0]) + 3 * np.sin(rows[:, 1]) - rows[:, 2]


def test_accumulated_effects_of_an_additive_function() -> None:
    """Each column gives its own term, shifted to mean zero over the rows; two columns together give nothing."""
    rng = np.random.default_rng(0)
    X = rng.multivariate_normal(np.zeros(3), 0.9 + 0.1 * np.eye(3), size=300)
    for j, term in enumerate((np.exp, lambda x: 3 * np.sin(x), lambda x: -x)):
        found = accumulated_effects(additive, X, j, bins=15)
        shift = found.average[0] - term(found.grid_values[0])
        np.testing.assert_allclose(shift, shift[0], rtol=1e-10)
        place = np.clip(np.searchsorted(found.grid_values[0], X[:, j]) - 1, 0, len(shift) - 2)
        middle = (found.average[0][:-1] + found.average[0][1:]) / 2
        np.testing.assert_allclose(middle[place].mean(), 0, atol=1e-12)
    np.testing.assert_allclose(accumulated_effects(additive, X, [0, 1], bins=8).average, 0, atol=1e-12)


def test_accumulated_effects_of_a_product() -> None:
    """Second differences of x₀ x₁ are products of bin widths; what belongs to one column alone is taken out."""
    X = np.random.default_rng(0).uniform(-1, 1, size=(4000, 2))
    found = accumulated_effects(lambda rows: rows[:, 0] * rows[:, 1], X, [0, 1], bins=6)
    (a, b), effect = found.grid_values, found.average[0]
    twist = np.diff(np.diff(effect, axis=0), axis=1)
    np.testing.assert_allclose(twist, np.outer(np.diff(a), np.diff(b)), rtol=1e-9)
    # For independent uniform columns the joint effect is x₀ x₁ itself, up to the sampling of the rows.
    np.testing.assert_allclose(effect, np.outer(a, b), atol=0.04)


def test_accumulated_effects_are_not_fooled_by_correlation() -> None:
    """Of x₀² alone, a column that nearly equals x₀ has no effect, and empty corners of the plane have no say."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    X = np.column_stack([x, x + 0.01 * rng.normal(size=500)])
    found = accumulated_effects(lambda rows: rows[:, 0] ** 2, X, 1)
    np.testing.assert_allclose(found.average, 0, atol=1e-12)
    together = accumulated_effects(lambda rows: rows[:, 0] ** 2, X, [0, 1], bins=10)
    np.testing.assert_allclose(together.average, 0, atol=1e-12)


def test_weights_are_copies() -> None:
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(80, 2)), rng.integers(0, 4, size=80)

    def f(rows: np.ndarray) -> np.ndarray:
        return np.exp(rows[:, 0]) * rows[:, 1]

    for tool, kwargs in ((accumulated_effects, dict(bins=5)), (partial_dependence, dict(percentiles=(0.0, 1.0)))):
        for features in (0, [0, 1]):
            one = tool(f, X[w > 0], features, sample_weight=w[w > 0], **kwargs)
            copied = tool(f, np.repeat(X, w, axis=0), features, **kwargs)
            np.testing.assert_allclose(one.average, copied.average, rtol=1e-9, atol=1e-12)


# --- bad input ------------------------------------------------------------------------------------------------------

X3, Y3 = np.random.default_rng(0).normal(size=(30, 3)), np.random.default_rng(1).normal(size=30)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: bias_variance(tenfold.PCA(), X3, Y3), "predicts no target"),
        (lambda: bias_variance(tenfold.Ridge(), X3, Y3, replicates=1), "replicates=1"),
        (lambda: bias_variance(tenfold.Ridge(), X3, Y3, noise=-1.0), "noise=-1.0"),
        (lambda: bias_variance(tenfold.Ridge(), X3, Y3, truth=[1.0]), "truth has shape"),
        (lambda: bias_variance(tenfold.Ridge(), X3, Y3, X3), "give y_test"),
        (lambda: bias_variance(tenfold.Ridge(), lambda rng: (X3, Y3)), "needs rows to be judged"),
        (lambda: bias_variance(tenfold.Ridge(), X3, Y3, replicates=2), "more replicates"),
        (lambda: bias_variance_path(tenfold.Ridge(), X3, Y3, "alpha", []), "at least one value"),
        (lambda: bias_variance_path(tenfold.Ridge(), X3, Y3, "alpha", [-1.0]), "alpha=-1"),
        (lambda: learning_curve(tenfold.PCA(), X3, Y3), "predicts no target"),
        (lambda: learning_curve(tenfold.Ridge(), X3, Y3, repeats=0), "repeats=0"),
        (lambda: validation_curve(tenfold.Ridge(), X3, Y3, "alpha", []), "at least one value"),
        (lambda: validation_curve(tenfold.Ridge(), X3, Y3, "beta", [1.0]), "beta"),
        (lambda: calibration_curve([0, 1], [0.5, 1.5]), "greater than 1"),
        (lambda: calibration_curve([0, 1], [0.5]), "inconsistent numbers of samples"),
        (lambda: calibration_curve([0, 1], [0.5, 0.5], n_bins=0), "n_bins=0"),
        (lambda: calibration_curve([0, 1], [0.5, 0.5], strategy="odd"), "strategy"),
        (lambda: fit_calibrator([0, 1], [0.5, 0.5], "magic"), "method='magic'"),
        (lambda: permutation_importance(tenfold.PCA(), X3, Y3), "predicts no target"),
        (lambda: permutation_importance(tenfold.Ridge(), X3, Y3, n_repeats=0), "n_repeats=0"),
        (lambda: permutation_importance(tenfold.Ridge(), X3, Y3, level=1.0), "level=1.0"),
        (lambda: permutation_importance(tenfold.Ridge(), X3, Y3, folds=None), "not fitted"),
        (lambda: partial_dependence(additive, X3, 7), "no column 7"),
        (lambda: partial_dependence(additive, X3, [0, 0]), "two that differ"),
        (lambda: partial_dependence(additive, X3, [0, 1, 2]), "two that differ"),
        (lambda: partial_dependence(additive, X3[:0], 0), "at least one row"),
        (lambda: partial_dependence(additive, X3, 0, grid_resolution=1), "grid_resolution=1"),
        (lambda: partial_dependence(additive, X3, 0, percentiles=(0.9, 0.1)), "percentiles"),
        (lambda: partial_dependence(object(), X3, 0), "predicts nothing"),
        (lambda: partial_dependence(tenfold.Ridge(), X3, 0), "not fitted"),
        (lambda: accumulated_effects(additive, X3, 0, bins=0), "bins=0"),
        (lambda: accumulated_effects(additive, np.where(X3 > 1, np.inf, X3), 0), "infinite in row"),
        (lambda: partial_dependence(additive, X3 * [np.nan, 1, 1], 0), "missing in every row"),
        (lambda: partial_dependence(additive, [["a", "b", "c"]], 0), "not numbers"),
        (lambda: accumulated_effects(additive, np.ones((5, 3)), 0), "constant"),
    ],
)  # fmt: skip
def test_bad_requests_are_told(call: Any, words: str) -> None:
    with warnings.catch_warnings(), pytest.raises(tenfold.TenfoldError, match=words):
        warnings.simplefilter("error")
        call()


def test_dependence_reads_as_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    model = tenfold.LinearRegression().fit(X, X @ [1.0, 2.0, 0.0])
    found = partial_dependence(model, X, [1], kind="both", grid_resolution=5)
    expected = sklearn_partial_dependence(model, X, [1], kind="both", grid_resolution=5)
    assert list(found.keys()) == ["grid_values", "average", "individual"]
    for name in found.keys():  # noqa: SIM118
        np.testing.assert_allclose(np.asarray(found[name]), np.asarray(expected[name]), rtol=1e-9)
    with pytest.raises(KeyError, match="there are grid_values, average"):
        partial_dependence(model, X, [1])["individual"]
    with pytest.raises(tenfold.BadParameter, match="kind='all'"):
        partial_dependence(model, X, [1], kind="all")
