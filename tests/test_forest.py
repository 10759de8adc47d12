"""Forests: quality, out-of-bag estimates, growing on, sources, importances."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import tenfold
import tenfold.tree.forest.growing
from tenfold.base.sklearn_api import fresh
from tenfold.core.errors import BadFile, BadInput, BadParameter, DataWarning, NotFitted
from tenfold.core.random import seed_of
from tenfold.tree.forest import quantiles

Array = np.ndarray[Any, Any]


def friedman(n: int, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 8))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.normal(size=n)


@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_as_good_as_scikit_learn(kind: str) -> None:
    """On rows not seen: R² of numbers, accuracy of classes, importances."""
    X, y = friedman(2200)
    label = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    for name, target in ((f"{kind}Regressor", y), (f"{kind}Classifier", label)):
        ours = getattr(tenfold, name)(40, random_state=0).fit(X[:1200], target[:1200])
        theirs = getattr(sklearn.ensemble, name)(40, random_state=0).fit(X[:1200], target[:1200])
        assert ours.score(X[1200:], target[1200:]) > theirs.score(X[1200:], target[1200:]) - 0.02
        np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=0, atol=0.03)


@pytest.mark.parametrize("data", [load_breast_cancer, load_wine, load_diabetes])
def test_out_of_bag_is_close_to_cross_validation(data: Any) -> None:
    X, y = data(return_X_y=True)
    kind = "Regressor" if data is load_diabetes else "Classifier"
    model = getattr(tenfold, f"RandomForest{kind}")(300, random_state=0, max_features=0.4).fit(X, y)
    fold = np.random.default_rng(0).permutation(len(y)) % 10
    said = np.empty(len(y))
    for k in range(10):
        part = getattr(tenfold, f"RandomForest{kind}")(100, random_state=k, max_features=0.4)
        said[fold == k] = part.fit(X[fold != k], y[fold != k]).predict(X[fold == k])
    crossed = (said == y).mean() if kind == "Classifier" else 1 - ((said - y) ** 2).sum() / ((y - y.mean()) ** 2).sum()
    assert abs(model.oob_score_ - crossed) < 0.015


def test_out_of_bag_predictions_come_from_trees_that_have_not_seen_the_row() -> None:
    """Targets that are pure noise are learned by heart; out of bag nothing of that is left."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.normal(size=300)
    model = tenfold.RandomForestRegressor(200, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.8 and model.oob_score_ < 0.05
    assert model.oob_prediction_.shape == (300,) and abs(np.corrcoef(model.oob_prediction_, y)[0, 1]) < 0.25
    label = tenfold.RandomForestClassifier(100, random_state=0).fit(X, y > 0)
    np.testing.assert_allclose(label.oob_decision_function_.sum(axis=1), 1.0, rtol=1e-12)
    assert abs(label.oob_score_ - 0.5) < 0.1
    never = tenfold.ExtraTreesClassifier(5).fit(X, y > 0)
    with pytest.raises(NotFitted, match="use bootstrap=True"):
        never.oob_score_  # noqa: B018


def test_every_tree_fits_its_own_rows() -> None:
    """Without bootstrap a tree with all columns learns everything by heart."""
    X, y = friedman(400)
    for model in (tenfold.RandomForestRegressor(2, bootstrap=False), tenfold.ExtraTreesRegressor(2)):
        model.fit(X, y)
        np.testing.assert_allclose(model.predict(X), y, rtol=1e-9)
        assert [one.get_n_leaves() for one in model.estimators_] == [400, 400]


def test_growing_on_is_growing_at_once() -> None:
    X, y = friedman(300)
    model = tenfold.RandomForestRegressor(4, random_state=1, warm_start=True).fit(X, y)
    model.set_params(n_estimators=9).fit(X, y)
    whole = tenfold.RandomForestRegressor(9, random_state=1).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))
    np.testing.assert_allclose(model.oob_prediction_, whole.oob_prediction_, rtol=1e-12)
    with pytest.warns(DataWarning, match="does not fit new trees"):
        model.fit(X, y)
    with pytest.raises(BadInput, match="grew on 300 rows"):
        model.set_params(n_estimators=12).fit(X[:200], y[:200])
    with pytest.raises(BadParameter, match="only adds"):
        tenfold.RandomForestRegressor(4, warm_start=True).fit(X, y).set_params(n_estimators=2).fit(X, y)


def test_path_of_sizes_is_one_forest() -> None:
    from tenfold.base import check

    X, y = friedman(200)
    model = tenfold.RandomForestRegressor(random_state=3)
    fits = model._fit_path(check.check_fit(model, X, y), "n_estimators", [7, 2, 5])
    for size, fitted in zip([7, 2, 5], fits, strict=True):
        alone = tenfold.RandomForestRegressor(size, random_state=3).fit(X, y)
        assert fitted.n_estimators == size == len(fitted.trees_)
        np.testing.assert_array_equal(fitted.predict(X), alone.predict(X))
        np.testing.assert_array_equal(fitted.oob_score_, alone.oob_score_)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson", "gini", "entropy"])
def test_limits_hold_in_every_tree(criterion: str) -> None:
    X, y = friedman(500)
    kind = "Classifier" if criterion in ("gini", "entropy") else "Regressor"
    target = np.digitize(y, [10, 18]) if kind == "Classifier" else y - y.min()

    def fit(**limits: Any) -> Any:
        model = getattr(tenfold, f"RandomForest{kind}")(4, criterion=criterion, random_state=0, **limits)
        return model.fit(X, target).trees_

    assert fit(max_depth=3).depths().max() == 3
    assert fit(min_samples_leaf=11).n_node_samples.min() >= 11
    assert np.diff(fit(max_leaf_nodes=6).first).tolist() == [11] * 4
    weight = fit(min_weight_fraction_leaf=0.1).weighted_n_node_samples
    assert weight.min() >= 0.1 * 400
    some = fit(min_impurity_decrease=0.01)
    share = some.gain / np.repeat(some.weighted_n_node_samples[some.first[:-1]], np.diff(some.first))
    assert share[~some.leaves()].min() >= 0.01 * (1 - 1e-6) and len(some.feature) > 8
    assert len(fit(ccp_alpha=0.01).feature) < len(fit().feature)


@pytest.mark.parametrize("leaves", [None, 12])
def test_gains_and_impurities_add_up(leaves: int | None) -> None:
    """weight · impurity of a node = that of its children + gain, for every criterion; also where the best leaf is split first."""
    X, y = friedman(400)
    w = np.random.default_rng(1).random(400) + 0.5
    for name, criterion, target in (
        ("RandomForestRegressor", "squared_error", y),
        ("RandomForestRegressor", "absolute_error", y),
        ("RandomForestRegressor", "poisson", y - y.min()),
        ("RandomForestClassifier", "gini", y > 14),
        ("RandomForestClassifier", "gini", np.digitize(y, [10, 18])),
        ("RandomForestClassifier", "entropy", np.digitize(y, [10, 18])),
        ("RandomForestRegressor", "squared_error", np.column_stack([y, -(y**2)])),
        ("RandomForestClassifier", "gini", np.column_stack([y > 14, np.digitize(y, [10, 18])])),
    ):
        model = getattr(tenfold, name)(1, criterion=criterion, random_state=0, min_samples_leaf=5, max_leaf_nodes=leaves)
        for weight in (None, w):
            tree = model.fit(X, target, weight).trees_
            inner, total = np.flatnonzero(~tree.leaves()), tree.weighted_n_node_samples * tree.impurity
            below = total[tree.children_left[inner]] + total[tree.children_right[inner]]
            np.testing.assert_allclose(total[inner] - below, tree.gain[inner], rtol=1e-6, atol=1e-6 * total[0])


def test_missing_values_and_categories() -> None:
    rng = np.random.default_rng(0)
    level, x = rng.integers(0, 30, 2000), rng.normal(size=2000)
    y = (level * 7919 % 30) + np.where(np.isnan(x), 0, x)
    frame = pandas.DataFrame({"level": [f"v{i}" for i in level], "x": np.where(rng.random(2000) < 0.2, np.nan, x)})
    for kind in ("RandomForest", "ExtraTrees"):
        model = getattr(tenfold, f"{kind}Regressor")(30, random_state=0).fit(frame[:1500], y[:1500])
        assert model.score(frame[1500:], y[1500:]) > 0.95
        assert np.isfinite(model.predict(pandas.DataFrame({"level": ["never", None], "x": [np.nan, 1.0]}))).all()
    label = tenfold.RandomForestClassifier(30, random_state=0).fit(frame[:1500], level[:1500] % 3)
    assert label.score(frame[1500:], level[1500:] % 3) > 0.95


def meinshausen(model: Any, X: Array, y: Array, w: Array, new: Array, levels: list[float]) -> Array:
    """The definition, row by row: weights of all targets, and the least target at which they add up to a level."""
    trained, asked = model.apply(X), model.apply(new)
    said = np.empty((len(new), len(levels)))
    order = np.argsort(y)
    for i, leaves in enumerate(asked):
        shared = (trained == leaves) * w[:, None]
        weight = (shared / shared.sum(axis=0)).mean(axis=1)
        reached = np.cumsum(weight[order])
        for k, level in enumerate(levels):
            said[i, k] = y[order][(reached >= level - 1e-12) & (reached > 0)][0]
    return said


@pytest.mark.parametrize("leaf", [1, 4, 40])
@pytest.mark.parametrize("kind", ["RandomForest", "ExtraTrees"])
def test_quantiles_are_those_of_targets_that_share_leaves(kind: str, leaf: int) -> None:
    X, y = friedman(330)
    X[::7, 2], X[:, 5] = np.nan, np.round(X[:, 5], 1)
    w = np.random.default_rng(3).integers(1, 4, 300).astype(float)
    levels = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0]
    forest = getattr(tenfold, f"{kind}Regressor")
    model = forest(8, min_samples_leaf=leaf, random_state=0, keep_targets=True).fit(X[:300], y[:300], w)
    expected = meinshausen(model, X[:300], y[:300], w, X[270:], levels)
    np.testing.assert_array_equal(model.predict_quantiles(X[270:], levels), expected)
    np.testing.assert_array_equal(model.predict_quantiles(X[270:], 0.9), expected[:, 4])
    np.testing.assert_array_equal(model.predict_quantiles(X[270:]), expected[:, [1, 3, 4]])
    model.ccp_alpha = 0.05  # another fit of the same model
    expected = meinshausen(model.fit(X[:300], y[:300], w), X[:300], y[:300], w, X[270:], levels)
    np.testing.assert_array_equal(model.predict_quantiles(X[270:], levels), expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("leaf", [1, 4, 150])
def test_quantiles_of_large_leaves_are_searched(leaf: int, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """In small leaves too: the same as by the definition, ties and copies of rows included."""
    X, y = friedman(330)
    X[:20], y = X[20:40], np.round(y)
    levels = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0]
    model = tenfold.RandomForestRegressor(8, min_samples_leaf=leaf, random_state=0, keep_targets=True)
    w = np.random.default_rng(3).integers(1, 4, 300).astype(float) if weighted else np.ones(300)
    expected = meinshausen(model.fit(X[:300], y[:300], w), X[:300], y[:300], w, X[270:], levels)
    monkeypatch.setattr(quantiles, "LARGE_LEAF", 0)
    monkeypatch.setattr(quantiles.LeafTargets, "_some", None)
    np.testing.assert_array_equal(model.predict_quantiles(X[270:], levels), expected)
    np.testing.assert_array_equal(model.predict_quantiles(X[270:], 0.9), expected[:, 4])


@pytest.mark.parametrize("unit", [10.0, 10.001, 1e-3])
@pytest.mark.parametrize("name", ["RandomForestClassifier", "RandomForestRegressor", "ExtraTreesRegressor"])
def test_weights_are_shares(name: str, unit: float) -> None:
    """Their unit does not matter, whole or not; every row counts as one where rows are drawn, binned and counted."""
    X, y = friedman(700)
    target = np.round(y) % 3 if name.endswith("Classifier") else y
    w = np.random.default_rng(1).integers(0, 4, 700).astype(float)
    model = getattr(tenfold, name)(10, bootstrap=True, min_samples_leaf=3, random_state=0)
    for weight, other in ((w, unit * w), (None, np.full(700, unit)), ((w > 0) * 1.0, (w > 0) * unit)):
        one, two = fresh(model).fit(X, target, weight), fresh(model).fit(X, target, other)
        np.testing.assert_array_equal(two.trees_.threshold, one.trees_.threshold)
        np.testing.assert_array_equal(two.trees_.n_node_samples, one.trees_.n_node_samples)
        np.testing.assert_allclose(two.trees_.value, one.trees_.value, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(two.oob_score_, one.oob_score_, rtol=1e-9)
    assert one.trees_.n_node_samples[one.trees_.leaves()].min() >= 3
    drawn = fresh(model).fit(X, target).trees_.n_node_samples[0]
    assert fresh(model).fit(X, target, 1.0 + w).trees_.n_node_samples[0] == drawn  # the same rows, whatever they weigh


def test_quantiles_do_not_depend_on_order_or_copies_of_rows() -> None:
    """Nor on blocks: rows that are asked for in many small parts, and all at once."""
    X, y = friedman(700)
    w, order = np.random.default_rng(1).integers(1, 4, 300), np.random.default_rng(2).permutation(300)
    model = tenfold.RandomForestRegressor(10, random_state=0, min_weight_fraction_leaf=0.01, keep_targets=True)
    said = model.fit(X[:300], y[:300], w).predict_quantiles(X, [0.2, 0.5])
    again = model.fit(X[:300][order], y[:300][order], w[order])
    np.testing.assert_array_equal(again.predict_quantiles(X, [0.2, 0.5]), said)
    np.testing.assert_array_equal(np.vstack([again.predict_quantiles(row[None], [0.2, 0.5]) for row in X[:9]]), said[:9])
    model.set_params(bootstrap=False, max_features=3)  # where rows are drawn, a copy is a row of its own
    said = model.fit(X[:200], y[:200], w[:200]).predict_quantiles(X, [0.2, 0.5])
    copies = model.fit(np.repeat(X[:200], w[:200], axis=0), np.repeat(y[:200], w[:200]))
    np.testing.assert_array_equal(copies.predict_quantiles(X, [0.2, 0.5]), said)


def test_quantiles_cover_new_targets_and_follow_their_spread() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((3000, 3))
    y = X[:, 0] + (0.1 + X[:, 1]) * rng.normal(size=3000)
    model = tenfold.RandomForestRegressor(60, min_samples_leaf=20, random_state=0, keep_targets=True)
    low, high = model.fit(X[:2000], y[:2000]).predict_quantiles(X[2000:], [0.1, 0.9]).T
    assert abs(((low <= y[2000:]) & (y[2000:] <= high)).mean() - 0.8) < 0.05
    quiet, loud = X[2000:, 1] < 0.2, X[2000:, 1] > 0.8
    assert (high - low)[loud].mean() > 2 * (high - low)[quiet].mean()


def test_targets_are_kept_only_when_asked_for(tmp_path: Path) -> None:
    X, y = friedman(100)
    model = tenfold.ExtraTreesRegressor(4, random_state=0, keep_targets=True).fit(X, y)
    tenfold.save(model, tmp_path / "kept")
    assert tenfold.inspect(tmp_path / "kept").holds_training_rows
    loaded = tenfold.load(tmp_path / "kept")
    np.testing.assert_array_equal(loaded.predict_quantiles(X), model.predict_quantiles(X))
    loaded._leaf_rows[[0, -1]] += [1, -1]
    tenfold.save(loaded, tmp_path / "spoiled")
    with pytest.raises(BadFile, match="do not belong to its trees"):
        tenfold.load(tmp_path / "spoiled")
    with pytest.raises(BadParameter, match="numbers from 0 to 1"):
        model.predict_quantiles(X, [0.5, 1.5])
    model.set_params(keep_targets=False).fit(X, y)
    with pytest.raises(NotFitted, match="keep_targets=True"):
        model.predict_quantiles(X)
    tenfold.save(model, tmp_path / "lean")
    assert not tenfold.inspect(tmp_path / "lean").holds_training_rows


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_importance_out_of_bag_by_hand(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows not seen are recorded while the trees grow; then each tree predicts them with a column shuffled."""
    X, y = friedman(200)
    X[::9, 1] = np.nan
    w, target = np.random.default_rng(1).integers(1, 4, 200), y if kind == "Regressor" else np.digitize(y, [10, 18])
    unseen, pruned = [], tenfold.tree.forest.growing.Forest._pruned
    monkeypatch.setattr(
        tenfold.tree.forest.growing.Forest,
        "_pruned",
        lambda *given: unseen.append(np.flatnonzero(given[2] >= 0)) or pruned(*given),
    )
    model = getattr(tenfold, f"RandomForest{kind}")(6, random_state=0, max_depth=4)
    with tenfold.threads(1):
        model.fit(X, target, w)
    found = model.oob_importance(X, target, w, random_state=5)
    best = int(found.importances_mean.argmax())
    assert str(found).splitlines()[1].split()[:2] == [f"x{best}", f"{found.importances_mean[best]:.4g}"]
    lost = np.zeros((6, 8))
    for t, (tree, rows) in enumerate(zip(model.estimators_, unseen, strict=True)):
        rng = np.random.default_rng([seed_of(np.random.default_rng(5)), t])

        def wrong(X: Array, tree: Any = tree, rows: Array = rows) -> float:
            said = tree.predict(X)
            error = (said - target[rows]) ** 2 if kind == "Regressor" else said != target[rows]
            return float(np.average(error, weights=w[rows]))

        for j in np.unique(tree._trees.feature[~tree._trees.leaves()]):
            shuffled = X[rows].copy()
            shuffled[:, j] = shuffled[rng.permutation(len(rows)), j]
            lost[t, j] = wrong(shuffled) - wrong(X[rows])
    np.testing.assert_allclose(found.losses, lost, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.importances_mean, lost.mean(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.standard_error, lost.std(axis=0, ddof=1) / 6**0.5, rtol=1e-9, atol=1e-12)


def test_importance_out_of_bag_tells_noise_from_columns_that_matter() -> None:
    """A category matters too; noise with many values wins impurity by chance, but out of bag it is worth nothing."""
    X, y = friedman(600)
    frame = pandas.DataFrame(X[:, 3:], columns=list("abcde"))  # a and b matter
    frame["level"] = np.array(["low", "mid", "top"])[np.random.default_rng(1).integers(0, 3, 600)]
    y = y + 6 * (frame["level"] == "mid")
    for model, target in ((tenfold.RandomForestRegressor, y), (tenfold.RandomForestClassifier, y > y.mean())):
        forest = model(60, random_state=0).fit(frame, target)
        found = forest.oob_importance(frame, target)
        mean, error = found.importances_mean, found.standard_error
        assert (mean[[0, 1, 5]] > 4 * error[[0, 1, 5]]).all()
        assert (abs(mean[2:5]) < 3 * error[2:5]).all() and (abs(mean[2:5]) < 0.2 * mean[0]).all()
        with tenfold.threads(3):
            np.testing.assert_array_equal(forest.oob_importance(frame, target).losses, found.losses)


def test_importance_out_of_bag_asks_for_the_training_rows() -> None:
    X, y = friedman(200)
    model = tenfold.RandomForestRegressor(5, random_state=0).fit(X, y)
    for rows, target in ((X[::-1], y), (X, y + (np.arange(200) == 7)), (X[:100], y[:100])):
        with pytest.raises(BadInput, match="not the rows on which the forest has grown"):
            model.oob_importance(rows, target)
    with pytest.raises(BadInput, match="8 features"):
        model.oob_importance(X[:, :5], y)
    with pytest.raises(BadParameter, match="random_state"):
        model.oob_importance(X, y, random_state=-1)
    with pytest.raises(NotFitted, match="use bootstrap=True"):
        tenfold.ExtraTreesRegressor(5).fit(X, y).oob_importance(X, y)


def test_correlation_of_trees() -> None:
    """Trees of one column drawn at a time are less alike than those that may look at all; more of them are worth growing."""
    X, y = friedman(1500)
    found = [
        tenfold.RandomForestRegressor(30, max_features=k, random_state=0).fit(X[:800], y[:800])
        .tree_correlation(X[800:], y[800:])
        for k in (1, 8)
    ]  # fmt: skip
    assert 0 < found[0].correlation < found[1].correlation < 1
    for one in found:
        assert one.n_worth_growing == max(1.0, np.ceil(10 * (1 - one.correlation) / one.correlation))


def test_same_forest_on_any_number_of_threads() -> None:
    X, y = friedman(500)
    said = []
    for n in (1, 2, 5):
        with tenfold.threads(n):
            said.append(tenfold.RandomForestRegressor(8, random_state=0).fit(X, y).predict(X))
    np.testing.assert_array_equal(said[0], said[1])
    np.testing.assert_array_equal(said[0], said[2])


def test_an_interrupted_batch_leaves_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees of a batch that was not finished are dropped, with what they said out of bag."""
    from tenfold.tree.forest import growing

    X, y = friedman(100)
    calls, each = [], growing.each

    def stop_within(work: Any, items: list[int]) -> Any:
        calls.append(items)
        if len(calls) < 3:
            return each(work, items)
        work(items[0])
        raise KeyboardInterrupt

    with tenfold.threads(1):
        whole = tenfold.RandomForestRegressor(8, random_state=0).fit(X, y)
        monkeypatch.setattr(growing, "each", stop_within)
        cut = tenfold.RandomForestRegressor(50, random_state=0)
        with pytest.raises(KeyboardInterrupt, match="8 of 50 trees"):
            cut.fit(X, y)
    np.testing.assert_array_equal(cut.oob_prediction_, whole.oob_prediction_)
    np.testing.assert_array_equal(cut.predict(X), whole.predict(X))


@pytest.mark.parametrize("size", [1e-30, 1e-3, 1e25])
def test_importances_do_not_depend_on_the_unit_of_the_target(size: float) -> None:
    """Impurities of very small or large targets are beyond single precision: they are kept in double."""
    X, y = friedman(200)
    forest = tenfold.RandomForestRegressor(2, bootstrap=False, random_state=0)
    plain, scaled = (fresh(forest).fit(X, y * c) for c in (1.0, size))
    assert plain.trees_.gain.dtype == np.float32
    assert scaled.trees_.gain.dtype == (np.float32 if size == 1e-3 else np.float64)
    np.testing.assert_allclose(scaled.feature_importances_, plain.feature_importances_, rtol=1e-2, atol=1e-3)
    assert (scaled.trees_.impurity[scaled.trees_.first[:-1]] > 0).all()


def test_interrupted_forest_keeps_its_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    from tenfold.tree.forest import growing

    X, y = friedman(100)
    calls, each = [], growing.each

    def stop_later(work: Any, items: list[int]) -> Any:
        calls.append(items)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return each(work, items)

    monkeypatch.setattr(growing, "each", stop_later)
    model = tenfold.RandomForestRegressor(50, random_state=0)
    with tenfold.threads(1), pytest.raises(KeyboardInterrupt, match="8 of 50 trees"):
        model.fit(X, y)
    assert len(model.trees_) == 8 and np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    "wrong, words",
    [
        ({"monotonic_cst": [1] * 7}, "has shape 7 but the input data X has 8 features"),
        ({"max_samples": 2001}, "and 4 is the most"),
        ({"max_samples": 4.5}, "drawn 4.5 times"),
        ({"bootstrap": False, "max_samples": 0.5}, "switch to `bootstrap=True`"),
    ],
)
def test_bad_parameters(wrong: dict[str, Any], words: str) -> None:
    X, y = friedman(500)
    with pytest.raises(BadParameter, match=words):
        tenfold.RandomForestRegressor(2, **wrong).fit(X, y)


def test_categories_too_rare_for_a_bin_go_where_missing_values_go() -> None:
    """In the fit they share the bin of missing values; predictions must do the same."""
    rng = np.random.default_rng(0)
    code = np.concatenate([np.arange(400), rng.integers(0, 200, 1600)]).astype(float)
    y = np.where(code < 200, code % 7, 50.0) + rng.normal(size=len(code)) * 0.1
    for cls in (tenfold.RandomForestRegressor, tenfold.HistGradientBoostingRegressor):
        size = {"n_estimators": 5} if cls is tenfold.RandomForestRegressor else {"max_iter": 20}
        names = np.array([f"c{int(c):03d}" for c in code], dtype=object)[:, None]
        model = cls(**size, random_state=0).fit(names, y)
        rare = model.predict(np.array([[f"c{k:03d}"] for k in range(300, 400)], dtype=object))
        unseen = model.predict(np.array([["never seen"]], dtype=object))
        assert np.ptp(rare) < 1e-12 and abs(rare[0] - unseen[0]) < 1e-12
        assert rare[0] > (30 if cls is tenfold.RandomForestRegressor else y.mean())  # boosting shrinks small groups
