"""Words of trees: what a rule says is true of the rows of its leaf and of no others, blanks and unseen categories included."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pandas
import pytest

import tenfold
from tenfold.tree.structure.describe import among, amount, number, word

LETTERS = list("abcdefg")


def table(seed: int, rows: int = 90) -> tuple[pandas.DataFrame, np.ndarray[Any, Any]]:
    """Numbers and categories, two columns each, one of them with blanks."""
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame(
        {
            "n": rng.integers(0, 9, rows).astype(float),
            "m": np.where(rng.random(rows) < 0.3, np.nan, rng.integers(0, 9, rows)),
            "c": rng.choice(LETTERS, rows),
            "d": np.where(rng.random(rows) < 0.4, "", rng.choice(LETTERS, rows)),
        }
    ).replace({"d": {"": None}})
    strange = np.array([(hash_of(row) + seed) % 7 for row in frame.itertuples(index=False)])
    with_blank = frame["d"].isna() | frame["d"].isin(LETTERS[: 1 if seed % 2 else 5])
    effect = frame["n"] + 3 * frame["c"].isin(["a", "c", "f"]) - 4 * with_blank + 2 * frame["m"].isna() + strange / 2
    return frame, effect.to_numpy()


def hash_of(row: Any) -> int:
    return sum(map(ord, "".join(map(str, row))))


def new_rows(frame: pandas.DataFrame) -> pandas.DataFrame:
    """The rows, and some with a category that fit has not seen, or a blank where there were some."""
    strange = frame.head(30).assign(c="z")
    blank = frame.tail(30).assign(m=np.nan, d=None)
    other = frame.tail(20).assign(d="y")
    return pandas.concat([frame, strange, blank, other], ignore_index=True)


def holds(condition: str, row: Any) -> bool:
    """Whether a condition, read as it stands, is true of a row. In a set (missing) also stands for what fit has not seen."""
    condition = condition.removeprefix("(").removesuffix(")") if condition.startswith("(") else condition
    if blank := re.fullmatch(r"(\w) is (missing|known)", condition):
        return gone(row, blank[1]) == (blank[2] == "missing")
    if either := re.fullmatch(r"(\w) is missing or not (in )?(.*)", condition):
        name, of, rest = either.groups()
        return gone(row, name) or not holds(f"{name} {'in' if of else '='} {rest}", row)
    if condition.endswith(" or missing"):
        condition = condition.removesuffix(" or missing")
        return gone(row, re.findall(r"[a-z]", condition)[0]) or holds(condition, row)
    if between := re.fullmatch(r"(?:([\d.]+) < )?(\w) (<=|>) ([\d.]+)", condition):
        low, name, sign, end = between.groups()
        value = row[name]
        return bool(
            (value <= float(end) if sign == "<=" else value > float(end)) and (low is None or value > float(low))
        )
    if one := re.fullmatch(r"(\w) (=|is not) (\w)", condition):
        return (row[one[1]] == one[3]) == (one[2] == "=")
    name, sign, members = re.fullmatch(r"(\w) (in|not in) \{(.*)\}", condition).groups()  # type: ignore[union-attr]
    words = members.split(", ")
    return (row[name] in words or ("(missing)" in words and gone(row, name))) == (sign == "in")


def gone(row: Any, name: str) -> bool:
    value = row[name]
    return value is None or value != value or (name == "d" and value not in LETTERS)


def rule_of(rules: list[str], row: Any) -> int:
    """The number of the one rule that is true of a row."""
    conditions = [re.fullmatch(r"if (.*) then .*", rule)[1].split(" and ") for rule in rules]  # type: ignore[index]
    (true,) = [i for i, said in enumerate(conditions) if said == ["anything"] or all(holds(one, row) for one in said)]
    return true


def answer_of(lines: list[str], row: Any) -> str:
    """Where the lines of a text lead a row: one of the branches side by side is true."""
    true = [i for i, line in enumerate(lines) if line[0] != "|" and holds(line.partition(": ")[0], row)]
    (at,) = true
    if ": " in lines[at]:
        return lines[at].partition(": ")[2]
    below = list(itertools.takewhile(lambda line: line[0] == "|", lines[at + 1 :]))
    return answer_of([line[4:] for line in below], row)


@pytest.mark.parametrize("kind", [tenfold.DecisionTreeClassifier, tenfold.DecisionTreeRegressor])
def test_a_rule_is_true_of_the_rows_of_its_leaf_alone(kind: Any) -> None:
    spoken = set()
    for seed in range(8):
        frame, effect = table(seed)
        y = effect if kind is tenfold.DecisionTreeRegressor else np.digitize(effect, [2.0, 6.0])
        model = kind(max_leaf_nodes=9, random_state=seed, splitter="random" if seed % 3 == 2 else "best").fit(frame, y)
        rules, lines = model.rules(), model.export_text().splitlines()
        spoken.update(re.findall(r"or missing|is missing or not|is missing|\(missing\)|is not|not in", " ".join(rules)))
        rows = new_rows(frame)
        leaves = model.apply(rows)
        place: dict[int, int] = {}
        for (_, row), leaf in zip(rows.iterrows(), leaves, strict=True):
            rule = rule_of(rules, row)
            assert place.setdefault(int(leaf), rule) == rule
            assert rules[rule].endswith(f" then {answer_of(lines, row)}")
        assert len(set(place.values())) == len(place) == model.get_n_leaves() == len(rules)
    assert spoken >= {"or missing", "is missing or not", "(missing)", "is not", "not in"}


def test_rules_of_many_branches() -> None:
    """Every row has one rule, also where a node has no branch for a value that fit saw elsewhere."""
    none_there = 0
    for seed in range(4):
        frame, effect = table(seed, 60)
        y = np.digitize(effect, [2.0, 6.0])
        model = tenfold.ID3Classifier(n_bins=4, max_depth=3).fit(frame, y)
        rules, lines = model.rules(), model.export_text().splitlines()
        none_there += sum(rule.endswith("(0)") for rule in rules)
        rows = pandas.concat([frame, frame.sample(40, random_state=seed).assign(d=None)], ignore_index=True)
        for (_, row), said in zip(rows.iterrows(), model.predict(rows), strict=True):
            rule = rules[rule_of(rules, row)]
            assert re.search(rf" then {said} \(", rule) and rule.endswith(f" then {answer_of(lines, row)}")
    assert none_there > 10


def test_blanks_in_parts() -> None:
    """C4.5 sends a blank down every branch: told where fit saw blanks, and only there."""
    frame = pandas.DataFrame({"c": ["a", "a", "a", "b", "b", "b", None, None]})
    y = ["yes", "yes", "yes", "no", "no", "no", "yes", "no"]
    assert tenfold.C45Classifier(prune=False).fit(frame, y).export_text().splitlines() == [
        "c = a: yes (3.5 of 4)",
        "c = b: no (3.5 of 4)",
        "c is missing: all of these, by their weights",
    ]
    assert "missing" not in tenfold.C45Classifier(prune=False).fit(frame[:6], y[:6]).export_text()


def test_what_fit_knows_of_blanks_is_saved(tmp_path: Any) -> None:
    frame, effect = table(3)
    for kind in (tenfold.DecisionTreeClassifier, tenfold.ID3Classifier, tenfold.C45Classifier):
        model = kind(max_depth=3).fit(frame, effect > 4)
        assert model.blank_.tolist() == [False, True, False, True]
        tenfold.save(model, tmp_path / "tree.tenfold")
        assert tenfold.load(tmp_path / "tree.tenfold").rules() == model.rules()
    tree = tenfold.DecisionTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], [0, 0, 1])
    assert "missing" not in tree.export_text()
    del tree.blank_  # a file of an older version: where a blank would go is told
    assert tree.export_text().splitlines() == ["x0 <= 2.50 or missing: 0 (2)", "x0 > 2.50: 1 (1)"]


def test_words() -> None:
    assert [number(x, 2) for x in (0.0, 1.0, 0.5, 0.0123, 1e-12, 12345.678, 1e20, -0.004)] == [
        "0.00", "1.00", "0.50", "0.012", "1e-12", "12345.68", "1e+20", "-0.0040",
    ]  # fmt: skip
    assert [number(x, 0) for x in (0.4, 12.6)] == ["0", "13"] and number(0.01234, None) == "0.0123"
    assert [amount(x) for x in (3.0, 48842.0, 2345678.0, 12.3456, 34567.8)] == [
        "3",
        "48842",
        "2345678",
        "12.35",
        "34568",
    ]
    assert (
        among("c", ["a", "b", "d", "e"], 3) == "c in {a, b, and 2 more}" and among("c", ["a"], 3, False) == "c is not a"
    )
    assert [word(x) for x in ("a b", "a, b", "", " a", "(missing)", "x\ny", 3.0, True)] == [
        "a b", "'a, b'", "''", "' a'", "'(missing)'", "'x\\ny'", "3", "True",
    ]  # fmt: skip
    long = pandas.DataFrame({"place": [f"p{i:02d}" for i in range(40)] * 3})
    odd = tenfold.DecisionTreeRegressor(max_depth=1).fit(long, np.tile(np.arange(40) % 2, 3))
    assert "and 13 more}" in odd.export_text() and "more" not in odd.rules(max_categories=None)[0]


def test_words_of_a_picture_do_not_overlap() -> None:
    """Long names, many classes, many categories: every box and label has its own place, and weights are not cut off."""
    rng = np.random.default_rng(0)
    names = np.array([f"a class with quite a long name {i}" for i in range(12)])
    frame, effect = table(5, 200)
    frame = frame.assign(
        a_column_with_a_very_long_name=rng.choice([f"quarter {i} of the town" for i in range(30)], 200)
    )
    y = names[(np.argsort(np.argsort(effect + rng.normal(size=200)))) * 12 // 200]
    many = tenfold.ID3Classifier(max_depth=1).fit(frame[["a_column_with_a_very_long_name"]], y)
    for model, depth in ((tenfold.DecisionTreeClassifier().fit(frame, y), 4), (many, 2)):
        ax = tenfold.draw.draw_tree(model, max_depth=depth)
        ax.figure.draw_without_rendering()
        draw = ax.figure.canvas.get_renderer()
        boxes = [text.get_window_extent(draw).extents for text in ax.texts]
        for i, (left, low, right, high) in enumerate(boxes):
            assert 0 <= left < right <= ax.figure.bbox.width
            for other in boxes[:i]:
                assert other[0] >= right or other[2] <= left or other[1] >= high or other[3] <= low
        assert sum(re.search(r"\([\d ]+(of \d+)?\)", text.get_text()) is not None for text in ax.texts) > 10
    assert "and 7 more" in [text.get_text() for text in ax.texts]
