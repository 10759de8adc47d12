"""Bad input: every learner gives a finite answer (perhaps with one of our warnings) or one of our errors.

Each test draws 200 cases, and each case is given to every public learner. Nothing else may come out: no
warning of NumPy, no error of LAPACK, no NaN in a fitted attribute, no crash.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from conftest import SETTINGS, public_classes
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import tenfold
from tenfold.core.errors import TenfoldError, TenfoldWarning

CLASSES = public_classes()
EXTREMES = [1e300, -1e300, 1e-300, 1e308, -1e308, 5e-324, 1e160, 1e-160, 1e154, 1.0, 0.0]
# Of a singular matrix; over a spread of zero; of rows that all members of an ensemble have seen.
INFINITE_BY_DEFINITION = {"condition_", "deviations_", "oob_prediction_", "oob_decision_function_"}
# Two clusters: small tables have room for no more. One member shows what many would.
PAIR = {
    "KMeans": {"n_clusters": 2, "random_state": 0},
    "AdaBoostClassifier": {"n_estimators": 2},
    "AdaBoostRegressor": {"n_estimators": 2},
    "BaggingClassifier": {"n_estimators": 1, "random_state": 0},
    "BaggingRegressor": {"n_estimators": 1, "random_state": 0},
    "RandomForestClassifier": {"n_estimators": 1, "random_state": 0},
    "RandomForestRegressor": {"n_estimators": 1, "random_state": 0},
    "ExtraTreesClassifier": {"n_estimators": 1, "random_state": 0},
    "ExtraTreesRegressor": {"n_estimators": 1, "random_state": 0},
}

two_hundred = settings(
    max_examples=200,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
seeds = st.integers(0, 2**32 - 1)
sizes = st.tuples(st.integers(2, 12), st.integers(1, 6))


class Case:
    """A small sound table, to be spoiled."""

    def __init__(self, size: tuple[int, int], seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.n, self.p = size
        self.X: Any = self.rng.normal(size=size) + self.rng.integers(-3, 4, self.p)
        self.real: Any = self.rng.normal(size=self.n)
        self.label: Any = self.rng.permutation(np.arange(self.n) % 2)
        self.w: Any = None
        self.new: Any = self.X[: max(1, self.n // 2)]

    def place(self) -> tuple[int, int]:
        return int(self.rng.integers(self.n)), int(self.rng.integers(self.p))

    def target(self, learner: Any) -> Any:
        return {"real": self.real, "label": self.label, "none": None}[learner.target]


cases = st.builds(Case, sizes, seeds)
ample = st.builds(Case, st.tuples(st.integers(8, 12), st.integers(1, 3)), seeds)  # every learner can fit these
Verdict = Callable[
    [Any, str | None], str | None
]  # of a learner and its error (None: it fitted): what is wrong with that


def judge(case: Case, verdict: Verdict = lambda learner, error: None, classes: dict[str, type] | None = None) -> None:
    """Fit and predict with every learner, or with those given; collect what must not be."""
    wrong = {}
    for name, cls in (classes or CLASSES).items():
        learner = cls(**PAIR.get(name, SETTINGS.get(name, [{}])[0]))
        try:
            objection = verdict(learner, outcome(learner, case))
        except AssertionError as failure:
            objection = str(failure)
        if objection:
            wrong[name] = objection
    assert not wrong, "\n".join(f"{name}: {objection}" for name, objection in wrong.items())


def outcome(learner: Any, case: Case) -> str | None:
    """The words of our error, or None where learner and predictions are finite; else an AssertionError."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", TenfoldWarning)
        try:
            learner.fit(case.X, case.target(learner), case.w)
            said = {
                verb: getattr(learner, verb)(case.new)
                for verb in ("predict", "predict_proba", "transform")
                if hasattr(learner, verb)
            }
        except TenfoldError as refusal:
            return in_words(str(refusal))
        except (Exception, Warning) as raw:
            raise AssertionError(f"{type(raw).__name__}: {raw}") from raw
    if learner.missing and not finite(np.asarray(case.new)):
        said = {}  # a learner that takes missing values may pass them on
    for what, value in {**vars(learner), **said}.items():
        if what in said or (what.endswith("_") and not what.startswith("_")):
            assert what in INFINITE_BY_DEFINITION or finite(value), f"{what} is not finite: {value}"
    return None


def in_words(text: str) -> str:
    assert 20 < len(text) < 700, f"not a sentence: {text}"
    assert text.count(". ") <= 1, f"more than a sentence and its remedy: {text}"
    return text


def finite(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(finite(one) for one in value)
    value = value.toarray() if hasattr(value, "toarray") else value
    return not (isinstance(value, (float, np.ndarray, np.floating)) and np.asarray(value).dtype.kind == "f") or bool(
        np.isfinite(value).all()
    )


def must_say(*words: str) -> Verdict:
    """The learner refuses, and its words hold all of these."""

    def verdict(learner: Any, error: str | None) -> str | None:
        if error is None:
            return "fitted, but must refuse"
        missing = [word for word in words if word not in error]
        return f"says nothing of {missing}: {error}" if missing else None

    return verdict


# --- parameters ---------------------------------------------------------------------------------------------

STRANGE = [
    np.nan,
    np.inf,
    -np.inf,
    -1,
    0,
    0.5,
    1,
    2,
    2**70,
    1e308,
    -1e308,
    5e-324,
    True,
    None,
    "",
    "auto",
    "texte",
    b"bytes",
    [],
    [1],
    {},
    (),
    object(),
    np.float32(0.5),
    np.int64(3),
    np.array([0.5, 0.5]),
    np.array(2.0),
    1j,
    int,
    "balanced",
    {"a": 1},
]


@pytest.mark.parametrize("name", CLASSES)
def test_strange_parameters(name: str) -> None:
    """Each parameter with each strange value: taken, or refused by name."""
    case = Case((12, 2), 0)
    for parameter in CLASSES[name]().get_params():
        for value in STRANGE:
            learner = CLASSES[name](**{**PAIR.get(name, {}), parameter: value})
            try:
                error = outcome(learner, case)
            except AssertionError as failure:
                raise AssertionError(f"{name}({parameter}={value!r}): {failure}") from failure
            assert error is None or parameter in error or "n_clusters" in error, (
                f"{name}({parameter}={value!r}): {error}"
            )


# --- values -------------------------------------------------------------------------------------------------


@two_hundred
@given(
    cases,
    st.sampled_from([np.nan, np.inf, -np.inf]),
    st.sampled_from([np.float32, np.float64]),
    st.booleans(),
)
def test_not_finite_in_X(case: Case, value: float, dtype: Any, frame: bool) -> None:
    row, column = case.place()
    case.X = case.X.astype(dtype)
    case.X[row, column] = value
    case.new = np.zeros((1, case.p), dtype=dtype)
    text = "NaN" if np.isnan(value) else "inf"
    if frame:
        case.X = pandas.DataFrame(case.X, columns=[f"height {j}" for j in range(case.p)])
        case.new = pandas.DataFrame(case.new, columns=case.X.columns)
    where = f"'height {column}'" if frame else f"column {column}"
    refusal = must_say(text, where, f"row {row}", "first")

    def verdict(learner: Any, error: str | None) -> str | None:
        return None if learner.missing and text == "NaN" and error is None else refusal(learner, error)

    judge(case, verdict)


@two_hundred
@given(cases, st.sampled_from([np.nan, np.inf, -np.inf]))
def test_not_finite_in_y(case: Case, value: float) -> None:
    row, _ = case.place()
    case.real[row] = value
    case.label = case.label.astype(float)
    case.label[row] = value
    refusal = must_say("Input y contains", f"row {row}", "drop")
    judge(case, lambda learner, error: error if learner.target == "none" else refusal(learner, error))


@two_hundred
@given(ample, st.sampled_from([np.nan, np.inf, -np.inf]))
def test_not_finite_in_new_rows(case: Case, value: float) -> None:
    case.new = case.X.copy()
    row, column = case.place()
    case.new[row, column] = value
    text = "NaN" if np.isnan(value) else "inf"
    refusal = must_say(text, f"column {column}", f"row {row}")
    judge(
        case,
        lambda learner, error: refusal(learner, error) if error or text == "inf" or not learner.missing else None,
    )


@two_hundred
@given(
    cases,
    st.lists(st.sampled_from(EXTREMES), min_size=6, max_size=6),
    st.sampled_from(EXTREMES),
    st.booleans(),
)
def test_very_large_and_very_small(case: Case, scales: list[float], target: float, single: bool) -> None:
    with np.errstate(over="ignore"):
        case.X = case.X * np.array(scales[: case.p])
        case.real = np.clip(case.real * target, -1.7e308, 1.7e308)
        case.X = np.clip(case.X, -1.7e308, 1.7e308)
        if single:
            case.X = np.clip(case.X, -3e38, 3e38).astype(np.float32)
    case.new = case.X
    judge(case)


@two_hundred
@given(ample, st.sampled_from(EXTREMES), st.booleans())
def test_very_large_new_rows(case: Case, scale: float, all_columns: bool) -> None:
    row, column = case.place()
    case.new = case.X.copy()
    case.new[row, slice(None) if all_columns else column] = scale
    judge(case)


@two_hundred
@given(cases, st.sampled_from([0.0, 1.0, -7.0, 1e8, 1e-8, 0.1]), st.booleans())
def test_constant_columns(case: Case, value: float, all_of_them: bool) -> None:
    case.X[:, slice(None) if all_of_them else case.place()[1]] = value
    case.real = case.real if case.n % 2 else np.full(case.n, value)
    judge(case)


@two_hundred
@given(cases, st.sampled_from([1.0, -1.0, 1e6, 1e-6]))
def test_duplicate_columns(case: Case, scale: float) -> None:
    twins = [case.X, case.X[:, :1] * scale, case.X.sum(axis=1, keepdims=True)]
    case.X = np.hstack(twins)
    case.new = case.X
    judge(case)


# --- shapes -------------------------------------------------------------------------------------------------


@two_hundred
@given(st.integers(1, 6), seeds, st.booleans())
def test_one_row(p: int, seed: int, weighted: bool) -> None:
    case = Case((1, p), seed)
    if weighted:  # one row is left when the others have weight zero
        case = Case((5, p), seed)
        case.w = np.array([0, 0, 2, 0, 0])
    judge(case)


@two_hundred
@given(st.integers(1, 30), seeds)
def test_one_column(n: int, seed: int) -> None:
    judge(Case((n, 1), seed), lambda learner, error: error if error and n > 8 else None)


@two_hundred
@given(st.integers(2, 5), st.integers(20, 60), seeds)
def test_more_columns_than_rows(n: int, p: int, seed: int) -> None:
    judge(Case((n, p), seed))


@two_hundred
@given(st.sampled_from([(0, 3), (3, 0), (0, 0), (0,), (3,), (2, 2, 2), (1, 0, 2), ()]), st.integers(0, 3))
def test_empty_and_wrong_dimensions(shape: tuple[int, ...], kind: int) -> None:
    case = Case((3, 2), 0)
    n = shape[0] if shape else 0
    X = np.zeros(shape, dtype=[np.float64, np.float32, np.int64, object][kind])
    case.X, case.real, case.label = X, np.zeros(n), np.zeros(n)
    judge(case, must_say("shape"))


@two_hundred
@given(
    st.sampled_from(
        [
            None,
            "text",
            b"bytes",
            {},
            {"a": [1.0]},
            set(),
            3,
            2.5,
            object(),
            [],
            [[]],
            [[1, 2], [3]],
            [None],
            "x.parquet",
        ]
    ),
    st.booleans(),
)
def test_things_that_are_not_tables(thing: Any, twice: bool) -> None:
    case = Case((3, 2), 0)
    case.X = [thing, thing] if twice else thing
    judge(case, must_say())


@two_hundred
@given(ample, st.integers(1, 9), st.booleans())
def test_wrong_width(case: Case, width: int, frame: bool) -> None:
    case.new = case.rng.normal(size=(2, width))
    refusal = must_say(f"{width} features", f"{case.p} features")
    judge(case, lambda learner, error: refusal(learner, error) if width != case.p else error)


@two_hundred
@given(
    ample,
    st.sampled_from(["renamed", "reversed", "fewer", "more", "twice"]),
    st.sampled_from([pandas, polars]),
)
def test_wrong_names(case: Case, how: str, library: Any) -> None:
    if case.p == 1 and how != "renamed":
        return
    names = [f"x{j}" for j in range(case.p)]
    given_names = {
        "renamed": [*names[:-1], "other"],
        "reversed": names[::-1],
        "fewer": names[:-1],
        "more": [*names, "other"],
        "twice": [names[0]] * case.p,
    }[how]
    case.X = library.DataFrame(dict(zip(names, case.X.T, strict=True)))
    rows = case.rng.normal(size=(2, len(given_names)))
    if how == "twice":
        case.new = pandas.DataFrame(rows, columns=given_names)
    else:
        case.new = library.DataFrame(dict(zip(given_names, rows.T, strict=True)))
    words = {
        "renamed": ("other",),
        "reversed": ("order",),
        "fewer": (names[-1],),
        "more": ("other",),
        "twice": ("x0", "once"),
    }
    judge(case, must_say(*words[how]))


# --- kinds --------------------------------------------------------------------------------------------------


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


@settings(two_hundred, max_examples=40)
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

    case.X, case.new = table(then, case.n), table(now[: len(then)], 3)
    judge(case, classes={name: cls for name, cls in CLASSES.items() if cls.categorical})


@two_hundred
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
    refusal = must_say(*where, "number")
    category = text == "" or container != "objects"  # a blank, or text throughout: some learners take it
    judge(case, lambda learner, error: None if learner.categorical and category else refusal(learner, error))


@two_hundred
@given(ample, st.sampled_from(["", "n/a", "two", None]))
def test_strings_in_a_real_target(case: Case, text: str | None) -> None:
    row, _ = case.place()
    case.real = case.real.astype(object)
    case.real[row] = text
    refusal = must_say("y", f"row {row}")
    judge(case, lambda learner, error: refusal(learner, error) if learner.target == "real" else error)


@two_hundred
@given(cases, st.sampled_from([-1.0, -1e-300, np.nan, np.inf, -np.inf]))
def test_bad_weights(case: Case, value: float) -> None:
    row, _ = case.place()
    case.w = np.ones(case.n)
    case.w[row] = value
    judge(case, must_say("sample_weight", f"row {row}", "not negative"))


@two_hundred
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


@two_hundred
@given(cases, st.sampled_from([1e300, 1e-300, 1e308, 5e-324, 1e16]), st.booleans())
def test_very_large_and_very_small_weights(case: Case, value: float, only_one: bool) -> None:
    case.w = np.ones(case.n)
    case.w[case.place()[0] if only_one else slice(None)] = value
    judge(case)


@two_hundred
@given(cases, st.sampled_from([0, 1, -5, "only", True, 2.0]), st.booleans())
def test_one_class(case: Case, value: Any, by_weight: bool) -> None:
    if by_weight:
        case.w = (case.label == case.label[0]).astype(float)
    else:
        case.label = np.full(case.n, value)
        case.real = np.zeros(case.n)

    def verdict(learner: Any, error: str | None) -> str | None:
        if learner.target != "label" or learner.least_classes < 2:
            few = error is not None and "use fewer folds" in error  # of a learner that cross-validates itself
            return None if learner.target == "label" or by_weight or few else error
        return must_say("class", "only one")(learner, error)

    judge(case, verdict)


@two_hundred
@given(cases, st.permutations(["yes", 1, 2.5, None, (1, 2), b"no", True]))
def test_labels_of_mixed_type(case: Case, kinds: list[Any]) -> None:
    case.label = np.empty(case.n, dtype=object)
    for i in range(case.n):
        case.label[i] = kinds[i % 2]
    if {type(kind) for kind in kinds[:2]} <= {int, float, bool}:
        return
    judge(
        case,
        lambda learner, error: must_say("y", "row")(learner, error) if learner.target == "label" else None,
    )


# --- whole numbers ------------------------------------------------------------------------------------------

WHOLE = [2**64 - 1, 2**63, 2**63 - 1, -(2**63), 2**53 + 1, 0, 1, -1]


@two_hundred
@given(cases, st.lists(st.sampled_from(WHOLE), min_size=2, max_size=12), st.sampled_from([np.uint64, np.int64]))
def test_the_largest_whole_numbers(case: Case, values: list[int], dtype: Any) -> None:
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


@two_hundred
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
        if too_large and (where == "X" or where == learner.target == "real"):
            return must_say(f"row {row}", "too large")(learner, error)
        return None

    judge(case, verdict)


# --- in a process of their own: a crash of native code is a failed test and not the end of the run ----------


@two_hundred
@given(
    cases,
    st.sampled_from(
        [
            "negative",
            "zero stride",
            "big endian",
            "unaligned",
            "half",
            "long",
            "matrix",
            "masked",
            "bool",
            "complex",
            "dates",
            "structured",
        ]
    ),
)
def layouts(case: Case, how: str) -> None:
    X = case.X
    case.X = case.new = {
        "negative": lambda: X[::-1, ::-1],
        "zero stride": lambda: np.broadcast_to(X[:1], X.shape),
        "big endian": lambda: X.astype(">f8"),
        "unaligned": lambda: _unaligned(X),
        "half": lambda: X.astype(np.float16),
        "long": lambda: X.astype(np.longdouble),
        "matrix": lambda: np.asmatrix(X),
        "masked": lambda: np.ma.masked_array(X),
        "bool": lambda: X > 0,
        "complex": lambda: X.astype(complex),
        "dates": lambda: X.astype("datetime64[s]"),
        "structured": lambda: np.zeros(3, dtype=[("a", float), ("b", float)]),
    }[how]()
    judge(case)


def _unaligned(X: Any) -> Any:
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    raw[1:] = np.frombuffer(X.tobytes(), dtype=np.uint8)
    return raw[1:].view(X.dtype).reshape(X.shape)


@pytest.mark.parametrize("name", ["layouts", "test_very_large_and_very_small", "test_the_largest_whole_numbers"])
def test_no_crash(name: str) -> None:
    code = f"import faulthandler; faulthandler.enable(); import test_bad_input; test_bad_input.{name}()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.parametrize("name", [name for name, cls in CLASSES.items() if cls.target != "none"])
def test_more_rows_than_memory(name: str) -> None:
    """2⁴⁰ rows that take no memory: refused because y is shorter, before anything of that size is made."""
    X = np.broadcast_to(np.zeros((1, 3)), (2**40, 3))
    with pytest.raises(tenfold.BadInput, match="1099511627776 rows, but y has 3"):
        CLASSES[name]().fit(X, [0, 1, 0])


def test_word_for_word() -> None:
    """One message in full, as an example of the rest."""
    with pytest.raises(tenfold.BadInput) as told:
        tenfold.Ridge().fit([[1.0, 2.0], [3.0, np.nan]], [1.0, 2.0])
    assert str(told.value) == "Input X contains NaN in column 1, row 1: fill or drop missing values first"
    with pytest.raises(tenfold.BadParameter) as told:
        tenfold.Ridge(alpha=-1.0).fit([[1.0], [2.0]], [1.0, 2.0])
    assert str(told.value) == "Ridge(alpha=-1.0): must be >= 0"
