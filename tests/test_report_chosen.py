"""What the page says of the chosen model: coefficients and rules as the learner has them, settings that were tried, and more rows."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from reports import explained_of, record_of

import tenfold
from tenfold.core.data import Array
from tenfold.prepare.coder import TableCoder
from tenfold.report.chosen import chosen, learning, setting_of, settings_tried
from tenfold.report.drivers import drivers, failing
from tenfold.report.facts import Facts
from tenfold.report.verdict import trusted
from tenfold.report.warned import warned
from tenfold.score.registry import SCORES
from tenfold.selection.explain.examples import examples
from tenfold.selection.explain.inside import alone, inside
from tenfold.selection.explain.reasons import reasons
from tenfold.selection.explain.sizes import by_sizes
from tenfold.selection.honest.unseen import Unseen
from tenfold.selection.model.blend import BlendRegressor
from tenfold.selection.model.table_model import TableModel
from tenfold.selection.monitor.order import first_seen, ordered
from tenfold.selection.race.prepared import front
from tenfold.table.reading import read_table


def table(n: int = 400) -> tuple[pl.DataFrame, Array]:
    rng = np.random.default_rng(0)
    a, b, colour = rng.normal(3, 2, n), rng.normal(size=n), rng.choice(["red", "blue"], n)
    return pl.DataFrame(dict(a=a, b=b, colour=colour)), 3 * a - b + 2 * (colour == "red") + 0.1 * rng.normal(size=n)


def fitted(frame: pl.DataFrame, y: Array, learner: object, raw: bool = False) -> TableModel:
    coder = TableCoder().fit(frame)
    if raw:
        return TableModel.of(coder, learner.fit(coder.frame(frame), y), "y")  # type: ignore[attr-defined]
    return TableModel.of(coder, tenfold.Pipeline([*front(), ("model", learner)]).fit(coder.transform(frame), y), "y")


def test_coefficients_are_those_of_standardised_columns() -> None:
    frame, y = table()
    found = inside(fitted(frame, y, tenfold.LinearRegression()))
    terms = {one["name"]: one["values"][0] for one in found["terms"]}
    assert found["kind"] == "linear" and found["scaled"] and found["used"] == found["total"] == len(terms)
    assert terms["a"] == pytest.approx(3 * frame["a"].std(ddof=0), rel=0.02)  # type: ignore[operator]
    assert terms["b"] == pytest.approx(-frame["b"].std(ddof=0), rel=0.03)  # type: ignore[operator]
    assert next(iter(terms)) == "a" and any(name.startswith("colour=") for name in terms)
    text = str(chosen(Facts(record_of(False), None, dict(inside=found))).blocks)  # type: ignore[union-attr]
    assert "one standard deviation of the column adds to the prediction" in text


def test_coefficients_speak_for_the_positive_class() -> None:
    frame, y = table()
    labels = np.where(y > np.median(y), "yes", "no")
    model = fitted(frame, labels, tenfold.LogisticRegression())
    for positive, sign in (("yes", 1), ("no", -1)):
        found = inside(model, positive)
        assert found["classes"] == [positive] and np.sign(found["terms"][0]["values"][0]) == sign and found["terms"][0]["name"] == "a"
    three = np.digitize(y, np.quantile(y, [0.3, 0.6])).astype(str)
    found = inside(fitted(frame, three, tenfold.LogisticRegression()))
    assert found["classes"] == ["0", "1", "2"] and all(len(one["values"]) == 3 for one in found["terms"])


def test_rules_of_a_small_tree_and_nothing_of_what_cannot_be_read() -> None:
    frame, y = table()
    small = inside(fitted(frame, y, tenfold.DecisionTreeRegressor(max_leaf_nodes=4, random_state=0), raw=True))
    assert small["kind"] == "tree" and small["leaves"] == 4 and "a <=" in small["text"]
    large = inside(fitted(frame, y, tenfold.DecisionTreeRegressor(random_state=0), raw=True))
    assert large["leaves"] > 16 and large["text"] == ""
    assert "too many to read" in str(chosen(Facts(record_of(False), None, dict(inside=large))).blocks)  # type: ignore[union-attr]
    kernels = tenfold.Pipeline([("kernels", tenfold.RadialBasisFeatures(5)), ("model", tenfold.Ridge())])
    assert set(inside(fitted(frame, y, kernels))) == {"learner", "weight"}


def test_of_an_ensemble_the_heaviest_member() -> None:
    frame, y = table()
    numbers = frame.select("a", "b")
    one = fitted(numbers, y, tenfold.LinearRegression())
    line = tenfold.Pipeline([*front(), ("model", tenfold.LinearRegression())])
    members = [tenfold.DecisionTreeRegressor(max_depth=2, random_state=0), line]
    coder = TableCoder().fit(numbers)
    blend = TableModel.of(coder, BlendRegressor(members, [0.3, 0.7]).fit(coder.frame(numbers), y), "y")
    assert inside(blend)["kind"] == "linear" and inside(blend)["weight"] == 0.7
    single = alone(blend)
    np.testing.assert_allclose(single.predict(numbers), one.predict(numbers), rtol=1e-12)
    assert alone(one) is one


def test_more_and_more_rows() -> None:
    """A line in 12 columns: the loss falls as that of least squares does, σ² n/(n − p − 1)."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(800, 12))
    y = X @ np.ones(12) + rng.normal(size=800)
    frame = pl.DataFrame({f"x{j}": X[:, j] for j in range(12)})
    order = rng.permutation(800)
    train, test = order[:600], np.sort(order[600:])
    points = by_sizes(fitted(frame, y, tenfold.LinearRegression()), frame, y, train, test, SCORES["rmse"])
    assert [one["rows"] for one in points] == [100, 200, 400, 600]
    scores = [one["score"] for one in points]
    assert scores[0] > scores[-1] and all(one["low"] < one["score"] < one["high"] for one in points)
    theory = np.sqrt([n / (n - 13) for n in (100, 600)])
    assert scores[0] / scores[-1] == pytest.approx(theory[0] / theory[1], abs=0.06)
    assert points[-1]["gain"] == pytest.approx(scores[-2] - scores[-1], abs=0.002) and points[-1]["error"] > 0
    labels = np.where(np.arange(800) < 5, "rare", np.where(y > 0, "yes", "no"))
    short = by_sizes(fitted(frame, labels, tenfold.LogisticRegression()), frame, labels, np.arange(790, -1, -1), test, SCORES["log_loss"])
    assert short == []  # the rare class is among the last


def test_the_sentence_about_rows_claims_no_more_than_is_known() -> None:
    points = [dict(rows=100, score=5.0, low=4.0, high=6.0), dict(rows=200, score=4.9, low=3.9, high=5.9, gain=0.1, error=0.02)]
    plain = {key: value for key, value in record_of(False).items() if key != "curve"}
    cases = ((0.1, 0.02, "would probably help"), (0.01, 0.1, "cannot tell"), (0.001, 0.002, "would change little"))
    for gain, error, words in cases:
        points[1] |= dict(gain=gain, error=error)
        section = learning(Facts(plain, None, dict(sizes=points)))
        assert section is not None and words in str(section.blocks[0])
    grown = learning(Facts(plain | dict(growth=dict(folds=5, clear=True)), None, dict(sizes=points)))
    assert grown is not None and "would probably help" in str(grown.blocks[0])
    both = learning(Facts(record_of(False), None, explained_of(False)))
    assert both is not None and both.blocks[1].figures[0].keys == ["the heaviest member alone", "the saved model"]
    assert learning(Facts(plain, None, {})) is None


def test_settings_that_were_tried() -> None:
    assert setting_of("ridge", "ridge, penalty 2.22e+03") == ("penalty", 2220.0)
    assert setting_of("trees, slow", "trees, slow, rounds 50") == ("rounds", 50.0)
    for label in ("ridge", "ridge, power 1.5", "ridge, penalty 3, power 2", "other, k 3", "ridge, k e"):
        assert setting_of("ridge", label) is None
    record = record_of(True)
    curve = settings_tried(record["tried"], "ridge")
    assert [one[0] for one in curve] == [0.01, 0.1, 1.0, 10.0, 100.0]
    figures = chosen(Facts(record)).blocks[-1].figures  # type: ignore[union-attr]
    assert [one.title for one in figures] == ["ridge"] and str(figures[0].svg).count("rule best") == 1


def raw_of(frame: pl.DataFrame):  # type: ignore[no-untyped-def]
    return read_table(frame)


def test_groups_time_and_drift() -> None:
    rng, n = np.random.default_rng(2), 400
    patient = np.repeat(rng.permutation(n // 2) + 1000, 2)
    days = pl.Series(np.arange(n)).cast(pl.Int32).cast(pl.Date)
    values = dict(same=rng.normal(size=n), moved=rng.normal(size=n) + np.arange(n) / 100, y=np.arange(n) * 1.0)
    frame = pl.DataFrame(dict(patient_id=patient, day=days, **values))
    kinds = [("patient_id", "id"), ("day", "date"), ("same", "number"), ("moved", "number")]
    columns = [dict(name=name, kind=kind) for name, kind in kinds]
    found = ordered(raw_of(frame), columns, dict(target="y"))
    assert found["groups"] == ["patient_id"] and found["time"] == ["day"]
    assert {one["column"] for one in found["drift"]["columns"]} == {"y", "moved", "day"} and found["drift"]["columns"][0]["target"]
    told = ordered(raw_of(frame), columns, dict(target="y", groups="patient_id", time_column="day"))
    assert told["groups"] == told["time"] == []
    text = str(warned(Facts(record_of(False), None, dict(order=found))).blocks)  # type: ignore[union-attr]
    assert "--groups patient_id" in text and "--time-column day" in text and "y (the target)" in text
    quiet = ordered(raw_of(frame.select("same")), [dict(name="same", kind="number")], {})
    assert quiet["drift"]["changed"] == 0
    assert "no drift along the table" in str(warned(Facts(record_of(False), None, dict(order=quiet))).blocks)  # type: ignore[union-attr]


def test_levels_that_a_fold_sees_first() -> None:
    frame = pl.DataFrame(dict(c=["a"] * 8 + ["b", "b"], d=["x", "y"] * 5))
    held = Unseen(np.arange(10), np.array([0, 1, 0, 1, 0, 1, 0, 1, 1, 1]), np.zeros(10), [], np.zeros((10, 1)))
    columns = [dict(name=name, kind="category") for name in "cd"]
    assert first_seen(frame, columns, held) == [
        dict(column="d", share=0.5, rows=5, levels=1),
        dict(column="c", share=0.2, rows=2, levels=1),
    ]
    text = str(failing(Facts(record_of(True), None, explained_of(True))).blocks)  # type: ignore[union-attr]
    assert "rows with such a level" in text


def test_examples_tell_why_and_show_no_cells() -> None:
    frame, y = table()
    model = fitted(frame, y, tenfold.LinearRegression())
    secret = 123.456789
    frame = frame.with_columns(b=pl.when(pl.int_range(400) == int(np.argmax(y))).then(secret).otherwise("b"))
    held = Unseen(np.arange(400), np.arange(400) % 5, y, [], y[:, None])
    found = examples(model, raw_of(frame), held)
    assert [one["which"] for one in found] == ["largest", "middle", "smallest"] and found[0]["row"] == int(np.argmax(y)) + 1
    for one in found:
        total = one["base"] + sum(column["adds"] for column in one["columns"]) + one["rest"]
        assert total == pytest.approx(one["value"], abs=1e-6)
        assert one["value"] == pytest.approx(reasons(model, raw_of(frame), one["row"] - 1).answer.value)
    assert str(secret) not in str(found)
    words = str(drivers(Facts(record_of(False), None, explained_of(False) | dict(examples=found))).blocks)  # type: ignore[union-attr]
    assert "counted from 1" in words


def test_the_step_from_the_board_to_the_estimate() -> None:
    record = record_of(False)
    record["board"][0]["score"] = 3.8
    figures = next(one.figures for one in trusted(Facts(record)).blocks if hasattr(one, "figures"))  # type: ignore[union-attr]
    assert "+0.2000" in str(figures[0].svg)
    record["growth"] = dict(folds=5, score=4.3)
    figures = next(one.figures for one in trusted(Facts(record)).blocks if hasattr(one, "figures"))  # type: ignore[union-attr]
    assert "+0.5000" in str(figures[0].svg) and "−0.3000" in str(figures[0].svg)
