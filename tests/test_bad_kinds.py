"""Texts, categories, weights, labels and whole numbers of every kind: refused in words, or fitted soundly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from conftest import small
from hypothesis import assume, given
from hypothesis import strategies as st
from spoiled import (
    ALL,
    CLASSES,
    FEW_ROWS,
    READS,
    Case,
    Reasons,
    cases,
    judge,
    learning,
    many,
    must_fit,
    must_say,
    seeds,
)

import tenfold

# --- categories ---------------------------------------------------------------------------------------------

TEXTS: dict[str, Callable[[np.random.Generator, int], list[Any]]] = {
    "few": lambda rng, n: [None if rng.random() < 0.2 else "abc"[rng.integers(3)] for _ in range(n)],
    "all different": lambda rng, n: [f"Zeile {i} ſ\x00" for i in range(n)],
    "one value": lambda rng, n: ["x"] * n,
    "blank": lambda rng, n: [None] * n,
    "empty": lambda rng, n: ["", "y"] * (n // 2) + [""] * (n % 2),
    "truth": lambda rng, n: [None if rng.random() < 0.2 else bool(rng.integers(2)) for _ in range(n)],
    "numbers": lambda rng, n: [None if rng.random() < 0.3 else float(rng.normal()) for _ in range(n)],
    "blank numbers": lambda rng, n: [float("nan")] * n,
}


@many
@given(
    st.builds(Case, st.tuples(st.integers(1, 12), st.just(1)), seeds),
    st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=4),
    st.lists(st.sampled_from(sorted(TEXTS)), min_size=4, max_size=4),
    st.sampled_from(["pandas", "polars", "objects"]),
)
def test_columns_of_categories(case: Case, then: list[str], now: list[str], container: str) -> None:
    """Any table of texts, blanks, truth values and numbers is fitted and answered, or refused in words."""

    def table(kinds: list[str], n: int) -> Any:
        columns = {f"c{j}": TEXTS[kind](case.rng, n) for j, kind in enumerate(kinds)}
        if container == "objects":
            return np.array(list(zip(*columns.values(), strict=True)), dtype=object)
        return pandas.DataFrame(columns) if container == "pandas" else polars.DataFrame(columns)

    case.X, case.new, case.p = table(then, case.n), table(now[: len(then)], 3), len(then)
    reasons: Reasons = {
        "but held .* before": ALL,
        "but there is only one class": ALL,  # of one row
        "code it first, with OneHotEncoder": ("ColumnTransformer",),
        "takes values of at least 0": ("CategoricalNB",),
    }
    judge(case, must_fit(reasons), {name: cls for name, cls in CLASSES.items() if small(cls).categorical})


@many
@given(
    cases,
    st.sampled_from(["", "n/a", "1,5", "einundzwanzig", "0x10", "1e", "3 kg", "−4", "ﬀ", "\x00"]),
    st.sampled_from(["objects", "text", "pandas", "polars"]),
)
def test_strings_in_numbers(case: Case, text: str, container: str) -> None:
    row, column = case.place()
    table = case.X.astype(object)
    table[row, column] = text
    where = [f"column {column}", f"row {row}"]
    if container == "text":
        table = table.astype(str)
    if container in ("pandas", "polars"):
        columns = {
            f"height {j}": [str(v) for v in table[:, j]] if j == column else list(table[:, j]) for j in range(case.p)
        }
        table = (pandas if container == "pandas" else polars).DataFrame(columns)
        where = [f"'height {column}'", "row"]
    case.X = table
    category = text == "" or container != "objects"  # a blank, or text throughout: some learners take it

    def verdict(learner: Any, error: str | None) -> str | None:
        if (learner.categorical and category) or "refuses_categories" in learner.exempt:
            return None
        if isinstance(learner, tenfold.DateParts):  # a blank is a missing date
            return None if text == "" and error is None else must_say("row", "is no date")(learner, error)
        return must_say(*where, "number")(learner, error)

    judge(case, verdict, but=READS)


TEXT_COLUMNS = [  # texts, where, and what to do
    (["1", "2", "n/a"], "row 2: 'n/a'", "make this cell a number or a missing value, or code the column as numbers first, with One"),
    ([None, "1.5", "x"], "row 2: 'x'", "make this cell a number"),
    (["x", "y", "z"], "row 0: 'x'", "code it as numbers first, with OneHotEncoder for example"),
    ([None, "2024-05-01", "2024-05-02"], "row 1: '2024-05-01'", "code it as numbers first, with Prepare or DateParts for example"),
]


@pytest.mark.parametrize("texts, where, remedy", TEXT_COLUMNS)
@pytest.mark.parametrize("container", [pandas.DataFrame, polars.DataFrame])
def test_the_text_that_is_no_number_is_named(container: Any, texts: list[str | None], where: str, remedy: str) -> None:
    with pytest.raises(tenfold.BadInput) as caught:
        tenfold.Ridge().fit(container({"c": texts}), [1.0, 2.0, 3.0])
    assert f"column 'c' holds String ({where}): {remedy}" in str(caught.value)


def test_numbers_stored_as_text() -> None:
    for gap in (None, np.nan, pandas.NA):
        for kind in (object, "string", "str"):
            column = pandas.Series(["1", gap, "2.5"], dtype=kind)
            scaled = tenfold.StandardScaler().fit_transform(column.to_frame("c"))
            np.testing.assert_array_equal(scaled[:, 0], [-1, np.nan, 1])
    texts = {"c": ["1", "2"]}
    for frame in (pandas.DataFrame(texts, dtype="category"), polars.DataFrame(texts, schema={"c": polars.Categorical})):
        with pytest.raises(tenfold.BadInput, match=r"Categorical \(row 0: '1'\): these are numbers stored as text"):
            tenfold.Ridge().fit(frame, [1.0, 2.0])


@many
@given(cases, st.sampled_from(["", "n/a", "two", None]))
def test_strings_in_a_real_target(case: Case, text: str | None) -> None:
    row, _ = case.place()
    case.real = case.real.astype(object)
    case.real[row] = text
    judge(case, must_say("y", f"row {row}"), learning("real"))


@many
@given(cases, st.sampled_from([-1.0, -1e-300, np.nan, np.inf, -np.inf]))
def test_bad_weights(case: Case, value: float) -> None:
    row, _ = case.place()
    case.w = np.ones(case.n)
    case.w[row] = value
    judge(case, must_say("sample_weight", f"row {row}", "not negative" if np.isfinite(value) else "NaN" if np.isnan(value) else "infinity"))


@many
@given(cases, st.sampled_from(["short", "long", "zero", "text", "square", "complex", "objects"]))
def test_wrong_weights(case: Case, how: str) -> None:
    n = case.n
    case.w = {
        "short": np.ones(n - 1),
        "long": np.ones(n + 1),
        "zero": np.zeros(n),
        "text": np.array(["1"] * n),
        "square": np.ones((n, n)),
        "complex": np.ones(n, dtype=complex),
        "objects": np.array([{}] * n),
    }[how]
    judge(case, must_say("sample_weight"))


@many
@given(cases, st.sampled_from([1e300, 1e-300, 1e308, 5e-324, 1e16]), st.booleans())
def test_very_large_and_very_small_weights(case: Case, value: float, only_one: bool) -> None:
    case.w = np.ones(case.n)
    case.w[case.place()[0] if only_one else slice(None)] = value
    far_apart: Reasons = {  # one row is as many others as make all else vanish
        "would have .* bins|cells in .* columns would be empty": ("Histogram",),
        "specified nu is infeasible": ("NuSVC",),
        "positive (semi)?definite": ("GaussianProcessClassifier", "GaussianProcessRegressor"),
        "could not find a valid consensus set": ("RANSACRegressor",),
    }
    judge(case, must_fit(FEW_ROWS, far_apart) if value == 1e16 else must_say("sample_weight is", "weights must be zero or from"))


@many
@given(cases, st.sampled_from([0, 1, -5, "only", True, 2.0]), st.booleans())
def test_one_class(case: Case, value: Any, by_weight: bool) -> None:
    if by_weight:
        case.w = (case.label == case.label[0]).astype(float)
    else:
        case.label = np.full(case.n, value)
        case.real = np.zeros(case.n)

    def verdict(learner: Any, error: str | None) -> str | None:
        if learner.target != "label" or learner.least_classes < 2:
            few = error is not None and ("use fewer folds" in error or "give more rows" in error)  # it cross-validates
            few = few or (error is not None and "out of the valid range" in error)  # amounts that are never zero
            return None if learner.target == "label" or by_weight or few else error
        return must_say("class", "only one")(learner, error)

    judge(case, verdict)


@many
@given(cases, st.permutations(["yes", 1, 2.5, None, (1, 2), b"no", True]))
def test_labels_of_mixed_type(case: Case, kinds: list[Any]) -> None:
    assume(not {type(kind) for kind in kinds[:2]} <= {int, float, bool})
    case.label = np.empty(case.n, dtype=object)
    for i in range(case.n):
        case.label[i] = kinds[i % 2]
    judge(case, must_say("y", "row"), learning("label"))


MISSING: dict[str, Any] = {
    "pandas": lambda texts: pandas.Series(texts),
    "pandas objects": lambda texts: pandas.Series(texts, dtype=object),
    "pandas string": lambda texts: pandas.Series(texts, dtype="string"),
    "pandas category": lambda texts: pandas.Series(texts, dtype="category"),
    "polars": lambda texts: polars.Series(texts),
    "list": lambda texts: texts,
    "list with NaN": lambda texts: [np.nan if one is None else one for one in texts],
    "objects with NaT": lambda texts: np.array([pandas.NaT if one is None else one for one in texts], dtype=object),
    "whole numbers": lambda texts: np.array([None if one is None else len(one) for one in texts], dtype=object),
}


@pytest.mark.parametrize("container", MISSING)
@pytest.mark.parametrize("known", [False, True])
def test_a_missing_label_is_not_one_of_another_type(container: str, known: bool) -> None:
    X, y = np.arange(5.0).reshape(-1, 1), MISSING[container](["a", "bb", None, "bb", "a"])
    with pytest.raises(tenfold.BadInput, match=r"^Input y contains NaN in row 2: drop the rows without a label first$"):
        if known:
            tenfold.GaussianNB().partial_fit(X, y, classes=[1, 2] if container == "whole numbers" else ["a", "bb"])
        else:
            tenfold.GaussianNB().fit(X, y)


# --- whole numbers (the largest are tried by test_bad_input, in a process of their own) ------------------------

WHOLE = [2**64 - 1, 2**63, 2**63 - 1, -(2**63), 2**53 + 1, 0, 1, -1]


@many
@given(cases, st.lists(st.sampled_from(WHOLE), min_size=2, max_size=12), st.sampled_from([np.uint64, np.int64]))
def the_largest_whole_numbers(case: Case, values: list[int], dtype: Any) -> None:
    info = np.iinfo(dtype)
    inside = [value for value in values if info.min <= value <= info.max] or [info.max]
    case.X = np.resize(np.array(inside, dtype=dtype), (case.n, case.p))
    case.real = np.resize(np.array(inside, dtype=dtype), case.n)
    case.label = np.resize(np.array(inside, dtype=dtype), case.n)
    case.new = case.X

    def verdict(learner: Any, error: str | None) -> str | None:
        if learner.target == "label" and error is None and set(learner.classes_.tolist()) != set(case.label.tolist()):
            return f"classes_ {learner.classes_} are not the labels {case.label}"
        return None

    judge(case, verdict)


@many
@given(
    cases,
    st.sampled_from([10**400, -(10**400), 2**64, -(2**64), 10**30]),
    st.sampled_from(["X", "real", "label"]),
)
def test_whole_numbers_beyond_64_bits(case: Case, value: int, where: str) -> None:
    row, column = case.place()
    setattr(case, where, getattr(case, where).astype(object))
    if where == "X":
        case.X[row, column] = value
        case.new = np.zeros((1, case.p))
    else:
        getattr(case, where)[row] = value
    too_large = abs(value) > 2 * 10**308

    def verdict(learner: Any, error: str | None) -> str | None:
        if too_large and where != "label" and "refuses_categories" not in learner.exempt:
            why = "is no date" if isinstance(learner, tenfold.DateParts) else "too large"
            return must_say(f"row {row}", why)(learner, error)
        return None

    judge(case, verdict, CLASSES if where == "X" else learning(where), but=READS)


@pytest.mark.parametrize("day", ["M8[D]", "M8[ns]", "m8[s]"])
def test_a_date_that_is_none_is_no_target(day: str) -> None:
    """As a number it would be −2⁶³."""
    X, y = np.arange(8.0)[:, None], np.arange(8).astype(day)
    y[5] = "NaT"
    for learner in (tenfold.Ridge(), tenfold.RandomForestRegressor(), tenfold.GaussianNB(), tenfold.HistGradientBoostingClassifier()):
        for target in (y, pandas.Series(y)):
            with pytest.raises(tenfold.BadInput, match=r"y contains NaN in row 5 \(NaT, no date\)"):
                learner.fit(X, target)


def test_what_an_array_masks_is_missing() -> None:
    rng = np.random.default_rng(0)
    X, y, w, mask = rng.normal(size=(60, 3)), rng.normal(size=60), np.ones(60), rng.random((60, 3)) < 0.2
    gaps = np.where(mask, np.nan, X)
    hidden = np.ma.array(np.where(mask, 1e6, X), mask=mask)
    for learner in (tenfold.HistGradientBoostingRegressor(max_iter=3), tenfold.make_pipeline(tenfold.SimpleImputer(), tenfold.Ridge())):
        expected = learner.fit(gaps, y).predict(gaps)
        np.testing.assert_array_equal(learner.fit(hidden, y).predict(hidden), expected)
    whole = np.ma.array(np.arange(180).reshape(60, 3), mask=mask)
    np.testing.assert_array_equal(np.isnan(tenfold.FunctionTransformer(validate=True).fit_transform(np.ma.array(X, mask=False))), False)
    with pytest.raises(tenfold.BadInput, match=rf"NaN in column \d, row {mask.any(axis=1).argmax()}"):
        tenfold.Ridge().fit(whole, y)
    one = np.arange(60) == 7
    with pytest.raises(tenfold.BadInput, match="y contains NaN in row 7"):
        tenfold.Ridge().fit(X, np.ma.array(y, mask=one))
    for labels in (y > 0, np.where(y > 0, "a", "b")):
        with pytest.raises(tenfold.BadInput, match="y contains NaN in row 7"):
            tenfold.GaussianNB().fit(X, np.ma.array(labels, mask=one))
    with pytest.raises(tenfold.BadInput, match="row 7"):
        tenfold.Ridge().fit(X, y, sample_weight=np.ma.array(w, mask=one))


def test_cells_that_are_lists_are_refused() -> None:
    for cells in ([[1.0]] * 6, [[1.0, 2.0]] * 6, [[1.0]] * 5 + [[]]):
        with pytest.raises(tenfold.TenfoldError, match=r"not 'list' \(column 'a', row 0\)"):
            tenfold.Ridge().fit(pandas.DataFrame({"a": cells, "b": np.arange(6.0)}), np.arange(6.0))
