"""Pictures: what is in the axes is what was computed, labels say what it is, and every picture can be saved."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_hex
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.metrics import average_precision_score, confusion_matrix, precision_recall_curve, roc_auc_score, roc_curve

import tenfold
import tenfold.draw
from tenfold.draw import (
    draw_bias_variance,
    draw_calibration,
    draw_confusion,
    draw_dependence,
    draw_importance,
    draw_learning_curve,
    draw_precision_recall,
    draw_residuals,
    draw_roc,
    draw_validation_curve,
)
from tenfold.draw.look import COLOURS, new_axes, pyplot_in_use
from tenfold.evaluate import (
    accumulated_effects,
    bias_variance,
    bias_variance_path,
    calibration_curve,
    learning_curve,
    partial_dependence,
    permutation_importance,
    validation_curve,
)

DIABETES = load_diabetes(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
CHANCE = tenfold.cross_val_predict(tenfold.GaussianNB(), CANCER[0][:, :4], CANCER[1], method="predict_proba")
WINE = load_wine(return_X_y=True)


def saved(ax: Any) -> Any:
    """The same axes, after they were rendered without a complaint."""
    file = io.BytesIO()
    ax.figure.savefig(file, format="png", dpi=50)
    assert file.getvalue().startswith(b"\x89PNG")
    return ax


def line(ax: Any, label: str) -> np.ndarray:
    """The points (n, 2) of the line whose label begins so."""
    (found,) = [one for one in ax.lines if str(one.get_label()).startswith(label)]
    return np.asarray(found.get_xydata())


def legend(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def ticks(ax: Any, side: str) -> list[str]:
    return [text.get_text() for text in (ax.get_xticklabels() if side == "x" else ax.get_yticklabels())]


def test_the_table_of_names() -> None:
    for name in tenfold.draw.PUBLIC:
        assert callable(getattr(tenfold.draw, name)) and name in dir(tenfold.draw)
    with pytest.raises(AttributeError, match="draw_nothing"):
        tenfold.draw.draw_nothing  # noqa: B018


def test_colours_differ_for_the_colour_blind() -> None:
    """With missing red or green cones (Viénot et al. 1999), no two colours come near one another."""
    rgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in COLOURS]) ** 2.2
    missing_red = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
    missing_green = np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]])
    for eyes in (np.eye(3), missing_red, missing_green):
        seen = np.clip(rgb @ eyes.T, 0, 1) ** (1 / 2.2)
        gaps = np.linalg.norm(seen[:, None] - seen, axis=2)[np.triu_indices(len(COLOURS), 1)]
        assert gaps.min() > 0.1


def test_the_axes_given_are_used() -> None:
    ax = new_axes()
    assert draw_roc([0, 1, 0, 1], [0.1, 0.4, 0.3, 0.9], ax=ax) is ax
    assert draw_residuals([1.0, 2.0], [1.0, 2.5], ax=ax) is ax


def test_confusion() -> None:
    X, y = WINE
    guess = tenfold.cross_val_predict(tenfold.GaussianNB(), X[:, :2], y)
    names = np.array(["red", "white", "rosé"])
    ax = saved(draw_confusion(names[y], names[guess]))
    order = ["red", "rosé", "white"]
    expected = confusion_matrix(names[y], names[guess], labels=order)
    np.testing.assert_allclose(ax.images[0].get_array(), expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)
    assert [text.get_text().split("\n")[0] for text in ax.texts] == [str(v) for v in expected.reshape(-1)]
    assert ticks(ax, "x") == ticks(ax, "y") == order
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted", "true")
    assert f"{100 * (guess == y).mean():.1f}%" in ax.get_title()
    again = saved(draw_confusion(expected, labels=order))
    assert [text.get_text() for text in again.texts] == [text.get_text() for text in ax.texts]
    chosen = draw_confusion(names[y], names[guess], labels=["white", "red"])
    assert ticks(chosen, "x") == ["white", "red"]
    weighted = draw_confusion([0, 1, 2], [0, 1, 2], sample_weight=[0.5, 1.0, 0.0])
    assert ticks(weighted, "y") == ["0", "1"] and weighted.texts[0].get_text() == "0.5\n100%"
    saved(draw_confusion(np.eye(40, dtype=int)))


def test_roc() -> None:
    y, p = CANCER[1], CHANCE[:, 1]
    ax = saved(draw_roc(y, {"both": CHANCE, "one": p}))
    fpr, tpr, _ = roc_curve(y, p)
    for name in ("both", "one"):
        np.testing.assert_allclose(line(ax, name), np.column_stack([fpr, tpr]), rtol=1e-12)
    assert legend(ax)[1].startswith(f"both, AUC {roc_auc_score(y, p):.3f} (")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false positive rate", "true positive rate")
    turned = draw_roc(y, 1 - p, pos_label=0)
    assert legend(turned)[1] == legend(draw_roc(y, p))[1]


def test_roc_of_several_classes() -> None:
    X, y = WINE
    P = tenfold.cross_val_predict(tenfold.GaussianNB(), X[:, :2], y, method="predict_proba")
    ax = saved(draw_roc(y, P))
    for k in range(3):
        fpr, tpr, _ = roc_curve(y == k, P[:, k])
        np.testing.assert_allclose(line(ax, f"class {k}: "), np.column_stack([fpr, tpr]), rtol=1e-12, atol=1e-15)
    assert len({to_hex(one.get_color()) for one in ax.lines[1:]}) == 3


def test_precision_recall() -> None:
    y, p = CANCER[1], CHANCE[:, 1]
    w = np.random.default_rng(0).uniform(0.5, 2, size=len(y))
    ax = saved(draw_precision_recall(y, p, sample_weight=w))
    precision, recall, _ = precision_recall_curve(y, p, sample_weight=w)
    np.testing.assert_allclose(line(ax, "average"), np.column_stack([recall, precision]), rtol=1e-10)
    assert legend(ax)[0] == f"average precision {average_precision_score(y, p, sample_weight=w):.3f}"
    np.testing.assert_allclose(line(ax, "guessing")[0, 1], np.average(y, weights=w), rtol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("recall", "precision")


def test_calibration() -> None:
    y, p = CANCER[1], CHANCE[:, 1]
    curve = calibration_curve(y, p, n_bins=10, strategy="quantile")
    for ax in (saved(draw_calibration(y, p)), saved(curve.plot())):
        box = ax.containers[0]
        np.testing.assert_allclose(
            box.lines[0].get_xydata(), np.column_stack([curve.prob_pred, curve.prob_true]), rtol=1e-12
        )
        ends = np.array([segment[:, 1] for segment in box.lines[2][0].get_segments()])
        np.testing.assert_allclose(ends, np.column_stack([curve.low, curve.high]), rtol=1e-9, atol=1e-12)
        assert legend(ax)[1] == f"calibration error {curve.error:.3f}"
    two = saved(draw_calibration(y, {"naive Bayes": p, "the mean": np.full(len(y), y.mean())}))
    assert [text.split(",")[0] for text in legend(two)[1:]] == ["naive Bayes", "the mean"]


def test_learning_and_validation_curves() -> None:
    X, y = DIABETES
    grown = learning_curve(tenfold.Ridge(0.1), X, y, folds=4, sizes=5)
    ax = saved(draw_learning_curve(grown))
    np.testing.assert_allclose(line(ax, "held-out"), np.column_stack([grown.sizes, grown.test_mean]), rtol=1e-12)
    np.testing.assert_allclose(line(ax, "training"), np.column_stack([grown.sizes, grown.train_mean]), rtol=1e-12)
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose(band.max(), (grown.test_mean + grown.test_error).max(), rtol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title()) == ("training rows", "R²", "Ridge(alpha=0.1)")

    curve = validation_curve(tenfold.Ridge(), X, y, "alpha", [10.0, 0.001, 0.1], folds=4)
    ax = saved(draw_validation_curve(curve))
    np.testing.assert_allclose(line(ax, "held-out")[:, 1], curve.test_mean[[1, 2, 0]], rtol=1e-12)
    assert line(ax, "best")[0, 0] == curve.best and ax.get_xscale() == "log" and ax.get_xlabel() == "alpha"
    words = validation_curve(tenfold.Ridge(), X, y, "fit_intercept", [True, False], folds=4)
    assert ticks(saved(words.plot()), "x") == ["True", "False"]


def test_residuals() -> None:
    X, y = DIABETES
    guess = tenfold.cross_val_predict(tenfold.Ridge(), X, y)
    ax = saved(draw_residuals(y, guess))
    np.testing.assert_allclose(ax.collections[0].get_offsets(), np.column_stack([guess, y - guess]), rtol=1e-12)
    groups = np.array_split(np.argsort(guess, kind="stable"), 15)
    means = next(one for one in ax.lines if one.get_label() == "mean").get_xydata()
    np.testing.assert_allclose(means, [(guess[g].mean(), (y - guess)[g].mean()) for g in groups], rtol=1e-9)
    assert ax.get_title().endswith(f"{np.sqrt(((y - guess) ** 2).mean()):.4g}")
    value = np.random.default_rng(0).normal(size=6000)
    many = saved(draw_residuals(value + 1, value))
    middle = next(one for one in many.lines if one.get_label() == "mean")
    np.testing.assert_allclose(middle.get_ydata(), 1.0, rtol=1e-12)
    assert draw_residuals([1.0], [1.0]).get_legend() is None


def test_importance() -> None:
    X, y = DIABETES
    found = permutation_importance(tenfold.Ridge(0.1), X, y, folds=5, score="mse")
    ax = saved(draw_importance(found))
    order = np.argsort(-found.importances_mean)
    assert ticks(ax, "y") == [f"x{j}" for j in order]
    shown = np.concatenate([np.asarray(box.lines[0].get_xydata()) for box in ax.containers])
    shown = shown[np.argsort(shown[:, 1])]
    np.testing.assert_allclose(shown[:, 0], found.importances_mean[order], rtol=1e-12)
    ends = np.concatenate([[s[:, 0] for s in box.lines[2][0].get_segments()] for box in ax.containers])
    np.testing.assert_allclose(np.sort(ends, axis=0), np.sort(found.interval, axis=0), rtol=1e-9)
    assert ax.get_xlabel() == "rise of mean squared error when shuffled (95% range)"
    few = saved(draw_importance(found, most=3))
    assert len(ticks(few, "y")) == 3 and "7 more columns" in few.get_title()


def test_dependence() -> None:
    X = np.random.default_rng(0).normal(size=(150, 2))

    def f(rows: np.ndarray) -> np.ndarray:
        return rows[:, 0] * rows[:, 1] + rows[:, 0]

    found = partial_dependence(f, X, 0, individual=True, grid_resolution=20)
    ax = saved(draw_dependence(found))
    np.testing.assert_allclose(line(ax, "mean"), np.column_stack([found.grid_values[0], found.average[0]]), rtol=1e-12)
    np.testing.assert_allclose(line(ax, "single rows")[:, 1], found.individual[0, 0], rtol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0 (marks: deciles)", "prediction") and len(ax.lines) == 101
    effect = accumulated_effects(f, X, 1)
    ax = saved(effect.plot())
    np.testing.assert_allclose(ax.lines[0].get_ydata(), effect.average[0], rtol=1e-12)
    assert ax.get_ylabel() == "effect on prediction"
    for pair in (partial_dependence(f, X, [0, 1], grid_resolution=8), accumulated_effects(f, X, [0, 1], bins=6)):
        ax = saved(pair.plot())
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("x0 (marks: deciles)", "x1 (marks: deciles)") and len(
            ax.figure.axes
        ) == 2
    flat = accumulated_effects(lambda rows: rows[:, 0], X, [0, 1], bins=4)
    saved(flat.plot())


def test_a_fold_for_every_row() -> None:
    """Thousands of folds are drawn, but not numbered; a score of all rows together has no error."""
    X, y = DIABETES
    for score in ("mse", "r2"):
        result = tenfold.cross_validate(tenfold.Ridge(), X, y, folds=len(y), score=score)
        ax = saved(result.plot())
        assert len(ax.get_xticks()) < 25
        text = ax.get_legend().get_texts()[0].get_text()
        assert ("standard error" in text) == (score == "mse") and f"{result.mean:.4g}" in text


def test_bias_and_variance() -> None:
    X, y = DIABETES
    found = bias_variance(tenfold.Ridge(), X[:60], y[:60], noise=1000.0, replicates=20)
    ax = saved(draw_bias_variance(found))
    assert ticks(ax, "y") == ["bias²", "variance", "noise", "error"]
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, (found.bias, found.variance, found.noise, found.error), rtol=1e-12)
    np.testing.assert_allclose(ax.patches[1].get_x(), found.bias, rtol=1e-12)
    labels = bias_variance(tenfold.GaussianNB(), *WINE, replicates=20)
    assert ticks(saved(labels.plot()), "y") == ["bias with noise", "variance", "error"]
    path = bias_variance_path(tenfold.Ridge(), X[:60], y[:60], "alpha", [0.01, 1.0, 100.0], noise=500.0, replicates=20)
    ax = saved(path.plot())
    for label, what in (("bias²", "bias"), ("variance", "variance"), ("noise", "noise"), ("error", "error")):
        np.testing.assert_allclose(line(ax, label)[:, 1], path.column(what), rtol=1e-12)
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "alpha"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: draw_confusion([[1, 2, 3]]), "must be square"),
        (lambda: draw_confusion(np.eye(2), labels=["a"]), "1 labels for 2 classes"),
        (lambda: draw_confusion([0, 1], [0]), "inconsistent numbers of samples"),
        (lambda: draw_roc([1, 1], [0.2, 0.3]), "only one"),
        (lambda: draw_roc([0, 1, 2], [0.2, 0.3, 0.1]), "column of scores for each"),
        (lambda: draw_roc([0, 1], [0.2, 0.3], pos_label=7), "pos_label=7"),
        (lambda: draw_roc([0, 1, 2], np.ones((3, 2))), "shape"),
        (lambda: draw_roc([0, 1], {}), "no scores"),
        (lambda: draw_precision_recall([0, 1], [0.2]), "inconsistent numbers of samples"),
        (lambda: draw_residuals([1.0, 2.0], [1.0]), "inconsistent numbers of samples"),
        (lambda: draw_calibration([0, 1], [0.2, 1.2]), "greater than 1"),
    ],
)
def test_bad_requests_are_told(call: Any, words: str) -> None:
    with pytest.raises(tenfold.TenfoldError, match=words):
        call()


# --- where pictures appear -------------------------------------------------------------------------------


def test_pictures_are_those_of_pyplot_where_it_is_in_use(tmp_path: Any) -> None:
    """plt.savefig after .plot() keeps the picture, and axes that are given stay alone."""
    plt = pytest.importorskip("matplotlib.pyplot")
    curve = learning_curve(tenfold.Ridge(), *DIABETES, folds=3, sizes=3)
    ax = curve.plot()
    assert ax.figure.number in plt.get_fignums() and plt.gca() is ax
    plt.savefig(tmp_path / "picture.png")
    ax.figure.savefig(tmp_path / "same.png")
    assert (tmp_path / "picture.png").read_bytes() == (tmp_path / "same.png").read_bytes()
    figures = plt.get_fignums()
    given = plt.subplots()[1]
    assert curve.plot(ax=given) is given and len(plt.get_fignums()) == len(figures) + 1


def test_a_program_that_saves_files_leaves_no_figures() -> None:
    """Without pyplot nothing of it is loaded, whatever is drawn."""
    program = (
        "import sys; from tenfold.draw import draw_residuals; ax = draw_residuals([1.0, 2.0], [1.0, 2.5]);"
        "ax.figure.savefig(sys.argv[1]); assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, os.devnull], check=True)


def test_pictures_appear_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = types.ModuleType("IPython")
    notebook.get_ipython = object  # type: ignore[attr-defined]
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    assert not pyplot_in_use()
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    assert pyplot_in_use()
