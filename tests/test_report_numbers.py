"""What the pictures of a report show, held to computations by other means: scikit-learn's scores, SciPy's tests, plain counting."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from reports import explained_of, held_out_of, record_of
from scipy import stats
from sklearn import metrics
from sklearn.calibration import calibration_curve

from tenfold.report import charts, classes, numbers, trust
from tenfold.report.facts import Facts
from tenfold.report.page import page_of
from tenfold.report.reproduce import card, written
from tenfold.report.scale import LETTER, Axis, cut, tick_text, ticks
from tenfold.report.svg import BOTTOM, LEFT, RIGHT, TOP, WIDTH, Plot, thinned
from tenfold.report.typed import command
from tenfold.score.registry import SCORES
from tenfold.selection.explain.along import along
from tenfold.selection.honest.unseen import Unseen

TWO, MANY, NUMBERS = (Unseen.of(held_out_of(k)) for k in (2, 4, 0))


def drawn(svg: str, kind: str = "line c0") -> np.ndarray:
    """The points of a path, in shares of a plot of the unit square."""
    d = re.search(f'class="{kind}" d="([^"]*)"', svg)
    assert d is not None
    points = np.array([[float(one) for one in pair.split(",")] for pair in re.sub("[MLZ]", "", d[1]).split()])
    height = int(re.search('viewBox="0 0 400 ([0-9]+)"', svg)[1])  # type: ignore[index]
    x, y = Axis(0, 1, LEFT, WIDTH - RIGHT, pad=0.02), Axis(0, 1, height - BOTTOM, TOP, pad=0.02)
    return np.column_stack([
        x.low + (points[:, 0] - x.start) / (x.end - x.start) * (x.high - x.low),
        y.low + (points[:, 1] - y.start) / (y.end - y.start) * (y.high - y.low),
    ])  # fmt: skip


@pytest.mark.parametrize("held", [TWO, MANY])
def test_roc_and_precision_are_scikit_learns(held: Unseen) -> None:
    for label in classes.drawn_classes(held):
        truth, chance = held.truth == label, held.outputs[:, label]
        roc, precision = classes.roc(held, label, True), classes.precision_recall(held, label, True)
        assert roc is not None and precision is not None
        assert roc.area == pytest.approx(metrics.roc_auc_score(truth, chance), abs=1e-12)
        assert precision.area == pytest.approx(metrics.average_precision_score(truth, chance), abs=1e-12)
        points = drawn(str(charts.curves_chart([roc], "roc", "x", "y", True)))
        assert np.trapezoid(points[:, 1], points[:, 0]) == pytest.approx(roc.area, abs=2e-3)
        inside = np.interp(roc.grid, roc.x, roc.y)
        assert ((roc.low <= inside + 1e-9) & (inside <= roc.high + 1e-9)).mean() > 0.9


def test_band_of_roc_is_as_wide_as_binomial_theory_says() -> None:
    """At a fixed false positive rate the hits are nearly binomial: the band must be near the normal range of such a share."""
    held = Unseen.of(held_out_of(2, n=4000))
    label = classes.positive_class(held)
    roc = classes.roc(held, label, True)
    assert roc is not None and roc.grid is not None and roc.low is not None and roc.high is not None
    share = np.interp(roc.grid, roc.x, roc.y)
    middle = (share > 0.5) & (share < 0.95)
    half = 1.96 * np.sqrt(share * (1 - share) / (held.truth == label).sum())
    ratio = (roc.high - roc.low)[middle] / 2 / half[middle]
    assert 0.8 < np.median(ratio) < 1.6  # the threshold at that rate is estimated too


def test_confusion_reliability_gain() -> None:
    for held in (TWO, MANY):
        names, counts = classes.confusion(held)
        np.testing.assert_array_equal(counts, metrics.confusion_matrix(held.truth, held.predicted))
        assert names == held.classes
    many = Unseen.of(held_out_of(30, n=3000))
    names, counts = classes.confusion(many)
    assert len(names) == 15 and counts.sum() == 3000
    np.testing.assert_array_equal(counts[:-1].sum(axis=1), np.bincount(many.truth)[[many.classes.index(name) for name in names[:-1]]])
    label = classes.positive_class(TWO)
    found = classes.reliability(TWO)
    true, said = calibration_curve(TWO.truth == label, TWO.outputs[:, label], n_bins=10, strategy="quantile")
    np.testing.assert_allclose(found.chance, said, rtol=0, atol=0.01)
    np.testing.assert_allclose(found.share, true, rtol=0, atol=0.03)
    wilson = stats.binomtest(round(found.share[3] * found.rows[3]), int(found.rows[3])).proportion_ci(method="wilson")
    assert (found.low[3], found.high[3]) == pytest.approx((wilson.low, wilson.high), abs=1e-9)
    gain = classes.gain(TWO, label)
    assert gain is not None
    order = np.argsort(-TWO.outputs[:, label], kind="stable")
    assert np.interp(0.1, gain.x, gain.y) == pytest.approx((TWO.truth[order[:40]] == label).sum() / (TWO.truth == label).sum(), abs=1e-12)


def test_thresholds_count_and_the_cheapest_is_cheapest() -> None:
    label = classes.positive_class(TWO)
    found = classes.thresholds(TWO, label)
    for k in (0, 30, 60, 98):
        said, is_one = TWO.outputs[:, label] >= found.at[k], TWO.truth == label
        counts = (said & is_one).sum(), (said & ~is_one).sum(), (~said & is_one).sum(), (~said & ~is_one).sum()
        assert (found.hits[k], found.false_alarms[k], found.misses[k], found.passed[k]) == counts
    for miss in (1.0, 5.0, 20.0):
        costs = [
            ((TWO.outputs[:, label] < t) & (TWO.truth == label)).sum() * miss + ((TWO.outputs[:, label] >= t) & (TWO.truth != label)).sum()
            for t in found.at
        ]
        assert found.cost(miss)[found.best(miss)] == pytest.approx(min(costs) / len(TWO))
    svg = str(charts.threshold_chart(found, 5.0))
    top = found.cost(5.0).max()
    np.testing.assert_allclose(drawn(svg, "line c0 cost")[:, 1] * top, found.cost(5.0), rtol=0, atol=0.01 * top)


def test_scores_count_rows_by_their_weights() -> None:
    """As the estimate does that they stand beside."""
    w = np.random.default_rng(3).uniform(0.1, 3, len(TWO))
    weighted = replace(TWO, weight=w)
    assert weighted.score(SCORES["log_loss"]) == pytest.approx(metrics.log_loss(TWO.truth, TWO.outputs, sample_weight=w))
    here = TWO.fold == 2
    wanted = metrics.log_loss(TWO.truth[here], TWO.outputs[here], sample_weight=w[here])
    assert trust.fold_scores(weighted, SCORES["log_loss"])[2] == pytest.approx(wanted)
    frame = held_out_of(2).with_columns(weight=w)
    said = f"the model {metrics.log_loss(TWO.truth, TWO.outputs, sample_weight=w):.4f}"
    assert said in page_of(record_of(True), frame) and said not in page_of(record_of(True), held_out_of(2))


def test_scores_and_losses_of_held_out_rows() -> None:
    labels = np.arange(len(MANY.classes))
    assert MANY.score(SCORES["log_loss"]) == pytest.approx(metrics.log_loss(MANY.truth, MANY.outputs, labels=labels))
    assert MANY.score(SCORES["accuracy"]) == pytest.approx(metrics.accuracy_score(MANY.truth, MANY.predicted))
    assert MANY.losses(SCORES["log_loss"]).mean() == pytest.approx(MANY.score(SCORES["log_loss"]))
    assert NUMBERS.score(SCORES["rmse"]) == pytest.approx(metrics.root_mean_squared_error(NUMBERS.truth, NUMBERS.predicted))
    assert NUMBERS.losses(SCORES["mae"]).mean() == pytest.approx(metrics.mean_absolute_error(NUMBERS.truth, NUMBERS.predicted))
    by_fold = [metrics.root_mean_squared_error(NUMBERS.truth[NUMBERS.fold == k], NUMBERS.predicted[NUMBERS.fold == k]) for k in range(5)]
    np.testing.assert_allclose(trust.fold_scores(NUMBERS, SCORES["rmse"]), by_fold, rtol=1e-12)
    null = trust.shuffled_scores(TWO, SCORES["roc_auc"])
    assert len(null) == 200 and abs(np.mean(null) - 0.5) < 0.01 and TWO.score(SCORES["roc_auc"]) > max(null)


def test_coverage_is_kept_and_nobody_takes_part_in_his_own_range() -> None:
    held = Unseen.of(held_out_of(0, n=2000))
    found = trust.coverage(held)
    off, kept = np.abs(held.truth - held.predicted), []
    for k in range(5):
        others, here = off[held.fold != k], off[held.fold == k]
        kept += (here <= np.sort(others)[int(np.ceil(0.9 * (len(others) + 1))) - 1]).tolist()
    assert found is not None and found.kept == pytest.approx(np.mean(kept)) and abs(found.kept - 0.9) < 0.03
    held = Unseen.of(held_out_of(3, n=2000))
    found = trust.coverage(held)
    assert found is not None and found.least is not None and abs(found.kept - 0.9) < 0.03
    assert all(abs(share - 0.9) < 0.05 for _, _, share in found.groups) and len(found.groups) == 3
    for code in range(3):  # each class by a threshold of its own
        true = np.sort(held.outputs[held.truth == code, code])
        assert found.least[code] == true[int(np.floor(0.1 * (len(true) + 1))) - 1]
    assert sum(share for _, share in found.sizes) == pytest.approx(1) and min(size for size, _ in found.sizes) == 1
    assert trust.coverage(Unseen.of(held_out_of(0, n=20))) is None


def test_pairs_of_models_by_students_t() -> None:
    scores = np.random.default_rng(1).normal([[0.4], [0.45], [0.6]], 0.03, (3, 10))
    better, same = trust.beats(scores, False, 0.01)
    d = scores[1] - scores[0]
    error = np.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1))
    assert better[0, 1] == pytest.approx(1 - stats.t.cdf((0.01 - d.mean()) / error, 9), abs=1e-12)
    np.testing.assert_allclose((better + better.T + same)[np.triu_indices(3, 1)], 1, rtol=1e-12)
    names, table = trust.fold_table(record_of(True))  # type: ignore[misc]
    assert names == ["forest", "ridge"] and table.shape == (2, 5)  # the tree was dropped


def test_residuals_and_histograms() -> None:
    found = along(NUMBERS.predicted, numbers.residuals(NUMBERS))
    assert np.all(found.low <= found.middle) and np.all(found.middle <= found.high)
    assert len(found.x) == 12 and np.all(np.diff(found.x) > 0)
    edges, counts = numbers.histogram(NUMBERS.truth)
    assert counts.sum() == len(NUMBERS) and np.all(np.diff(edges) > 0)
    edges, counts = numbers.histogram(np.array([3.0] * 7))
    assert counts.sum() == 7
    assert numbers.skew(NUMBERS.truth) == pytest.approx(stats.skew(NUMBERS.truth))
    many = Unseen.of(held_out_of(0, n=5000))
    cloud = numbers.cloud(many.predicted, many.truth, (-1e9, 1e9), (-1e9, 1e9))
    assert cloud.counts is not None and cloud.counts.sum() == 5000


def test_rows_of_the_same_value_are_one_part_of_a_curve() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 14, 31, 400, 5000):
        for x in (np.zeros(n), rng.integers(0, 4, n), rng.binomial(9, 0.6, n), rng.normal(size=n), np.minimum(rng.normal(size=n), 0)):
            y = rng.normal(size=n)
            found = along(x.astype(float), y)
            assert 1 <= len(found.x) <= 12 and np.all(np.diff(found.x) > 0)
            if len(np.unique(x)) == 1:
                np.testing.assert_allclose([found.low[0], found.middle[0], found.high[0]], np.quantile(y, [0.1, 0.5, 0.9]), rtol=1e-12)
    x = np.repeat([1.0, 2.0, 3.0], [100, 200, 100])
    y = rng.normal(size=400)
    np.testing.assert_allclose(along(x, y).middle, [np.median(y[x == one]) for one in (1, 2, 3)], rtol=1e-12)


def test_axes() -> None:
    assert ticks(0, 1) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(-3.7, 12.2) == pytest.approx([0, 5, 10]) or len(ticks(-3.7, 12.2)) > 2
    for low, high in ((0, 1e-12), (1e9, 1e9 + 1), (-1e300, 1e300), (5, 5), (np.nan, 1)):
        assert len(ticks(low, high)) <= 12
    assert [tick_text(one) for one in (0.25, 1500.0, 25_000.0, 3e6, 1e-7, -2.0)] == ["0.25", "1500", "25k", "3M", "1e-7", "−2"]
    log = Axis(1, 1000, 0, 300, log=True)
    np.testing.assert_allclose(log([1, 10, 100, 1000]), [0, 100, 200, 300], atol=1e-9)
    for low, high, is_log in ((101_300, 101_380, False), (1e9, 1e9 + 40, False), (0.031, 0.046, True), (540, 790, True)):
        marks = Axis(low, high, 0, 300, log=is_log).ticks()  # narrow, or far from zero: several marks, no two alike
        assert len(marks) > 2 and len({text for _, text in marks}) == len(marks) and all(low <= one <= high for one, _ in marks)
    assert Plot("a", (0, 1), (101_300, 101_380), y_title="Pa").left >= LEFT + 12  # room for long numbers beside the title
    assert cut("abc", 30) == "abc" and cut("a" * 99, 12 * LETTER) == "a" * 11 + "…" and cut("日" * 9, 10 * LETTER) == "日" * 4 + "…"
    close = str(Plot("a", (0, 80), (0, 1), x_ticks=[(0.0, "0"), (1.0, "1"), (40.0, "40"), (80.0, "80")]).svg())
    assert re.findall('class="tick mid"[^>]*>([^<]*)<', close) == ["0", "40", "80"]  # none upon another
    line = np.column_stack([np.arange(10_000.0), np.sin(np.arange(10_000.0))])
    assert len(thinned(line)) <= 600 and thinned(line)[:, 1].max() == line[:, 1].max()
    plot = Plot("a", (0, 1), (0, 1))
    plot.dots(np.zeros(5000), np.zeros(5000))
    assert str(plot.svg()).count("<circle") == 2000


def test_files_and_words_of_the_page() -> None:
    facts = Facts(record_of(True, " =1+1"), None, explained_of(True))
    assert command(facts).startswith("tenfold select 'churn =1+1.csv' --target 'left =1+1'")
    assert "an ensemble" in card(facts) and "0.4100" in card(facts)
    assert "'=SUM(A1)" in written([dict(model="=SUM(A1)", score=0.5)], "log_loss")
    page = page_of(record_of(False), held_out_of(0), explained_of(False))
    assert "Nine of ten predictions are off by at most 7.0000" in page
