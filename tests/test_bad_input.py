"""Bad input: every learner gives a finite answer (perhaps with one of our warnings) or one of our errors.

Each test draws cases, and each case is given to every public learner. Nothing else may come out: no
warning of NumPy, no error of LAPACK, no NaN in a fitted attribute, no crash.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from conftest import plain, small
from hypothesis import given, settings
from hypothesis import strategies as st
from spoiled import (
    ALL,
    ALL_EQUAL,
    AS_GIVEN,
    CLASSES,
    FEW_ROWS,
    READS,
    Case,
    Known,
    Reasons,
    cases,
    judge,
    known,
    learning,
    many,
    must_fit,
    must_say,
    outcome,
)

import tenfold

CONSTANT_TARGET: Reasons = {  # or a column of nothing but large numbers
    "could not find a valid consensus set": ("RANSACRegressor",),
    "out of the valid range of the loss": ("GammaRegressor",),
    "which is no number of a category": ("CategoricalNB",),
    "ill-defined empirical covariance": ("BayesianGaussianMixture",),
}
NO_LOGARITHM: Reasons = {"has no logarithm": ("LogTransformer",)}  # with the shift that the example sets
OUT_OF_SCALE: Reasons = {
    "divide the columns by a constant": ("ClassicalMDS", "MDS"),
    "distances between some rows are beyond": ("Isomap",),
    "is no date: numbers are seconds": ("DateParts",),
    "too far from the middle of their columns": ("RobustScaler",),
    "its inverse is no number: rescale": ("EMImputer",),
    "the points are so flat": ("CircleFit",),
    "whose squares no number holds": ("NMF", "MiniBatchNMF"),
    "too far apart for sums of their products": ("GammaRegressor",),
}
EXTREMES = [1e300, -1e300, 1e-300, 1e308, -1e308, 5e-324, 1e160, 1e-160, 1e154, 1.0, 0.0]


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
    for parameter in plain(name).get_params(deep=False):
        for value in STRANGE:
            functions = "func inverse_func callback scoring score_func strategy importance_getter max_features metric"
            if parameter in functions.split() and callable(value) and "Boosting" not in name:
                continue  # what a function of the user raises is its own, or a score that is NaN
            learner = small(CLASSES[name]).set_params(**{parameter: value})
            try:
                error = outcome(learner, case)
            except AssertionError as failure:
                raise AssertionError(f"{name}({parameter}={value!r}): {failure}") from failure
            named = error is None or re.search(rf"\b{parameter}_?\b", error)  # max_resources, and what it came to: max_resources_
            assert named, f"{name}({parameter}={value!r}): {error}"


# --- values -------------------------------------------------------------------------------------------------


@many
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
        taken = learner.missing and text == "NaN" and (error is None or text not in error)  # too few values may be left
        return None if taken else refusal(learner, error)

    judge(case, verdict, but=(*READS, *AS_GIVEN) if frame else READS)


@many
@given(cases, st.sampled_from([np.nan, np.inf, -np.inf]))
def test_not_finite_in_y(case: Case, value: float) -> None:
    row, _ = case.place()
    case.real[row] = value
    case.label = case.label.astype(float)
    case.label[row] = value
    refusal = must_say("Input y contains", f"row {row}", "drop")
    judge(case, refusal, learning("real", "label"))


@many
@given(known, st.sampled_from([np.nan, np.inf, -np.inf]))
def test_not_finite_in_new_rows(case: Known, value: float) -> None:
    case.new = case.X.copy()
    row, column = case.place()
    case.new[row, column] = value
    text = "NaN" if np.isnan(value) else "inf"
    refusal = must_say(text, f"column {column}", f"row {row}")
    judge(
        case,
        lambda learner, error: refusal(learner, error) if error or text == "inf" or not learner.missing else None,
        but=READS,
    )


@many
@given(known, st.sampled_from(EXTREMES), st.booleans())
def test_very_large_new_rows(case: Known, scale: float, all_columns: bool) -> None:
    row, column = case.place()
    case.new = case.X.copy()
    case.new[row, slice(None) if all_columns else column] = scale
    judge(case, must_fit({"too large to be squared": ALL} if abs(scale) > 1e100 else {}))


@many
@given(cases, st.sampled_from([0.0, 1.0, -7.0, 1e8, 1e-8, 0.1]), st.booleans())
def test_constant_columns(case: Case, value: float, all_of_them: bool) -> None:
    case.X[:, slice(None) if all_of_them else case.place()[1]] = value
    case.real = case.real if case.n % 2 else np.full(case.n, value)
    judge(case, must_fit(FEW_ROWS, ALL_EQUAL, CONSTANT_TARGET))


@many
@given(cases, st.sampled_from([1.0, -1.0, 1e6, 1e-6]))
def test_duplicate_columns(case: Case, scale: float) -> None:
    twins = [case.X, case.X[:, :1] * scale, case.X.sum(axis=1, keepdims=True)]
    case.X = np.hstack(twins)
    case.new, case.p = case.X, case.X.shape[1]
    judge(case, must_fit(FEW_ROWS, NO_LOGARITHM))


def test_what_is_only_awkward_is_fitted() -> None:
    """By every learner, where there are rows enough: a constant column, columns that are others or their sum, more columns than rows."""
    constant, twins = Case((12, 3), 0), Case((12, 3), 0)
    constant.X[:, 1] = 1.0
    twins.X = twins.new = np.hstack([twins.X, twins.X[:, :1], twins.X.sum(axis=1, keepdims=True)])
    for case in (constant, twins, Case((8, 12), 0)):
        judge(case, must_fit())


# --- in a process of their own: a crash of native code is a failed test and not the end of the run ----------


@many
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
    if how in REFUSED:
        words, who = REFUSED[how]
        judge(case, must_say(*words), but=(*AS_GIVEN, *who))
    else:
        judge(case, must_fit(FEW_ROWS, ALL_EQUAL if how in ("zero stride", "bool") else {}))


REFUSED = {"complex": (("Complex data not supported",), ()), "dates": (("dates",), ("DateParts",)), "structured": ((), ())}


def _unaligned(X: Any) -> Any:
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    raw[1:] = np.frombuffer(X.tobytes(), dtype=np.uint8)
    return raw[1:].view(X.dtype).reshape(X.shape)


@many
@given(
    cases,
    st.lists(st.sampled_from(EXTREMES), min_size=6, max_size=6),
    st.sampled_from(EXTREMES),
    st.booleans(),
)
def very_large_and_very_small(case: Case, scales: list[float], target: float, single: bool) -> None:
    with np.errstate(over="ignore"):
        case.X = case.X * np.array(scales[: case.p])
        case.real = np.clip(case.real * target, -1.7e308, 1.7e308)
        case.X = np.clip(case.X, -1.7e308, 1.7e308)
        if single:
            case.X = np.clip(case.X, -3e38, 3e38).astype(np.float32)
    case.new = case.X
    judge(case, must_fit({"too large to be squared": ALL}, FEW_ROWS, ALL_EQUAL, CONSTANT_TARGET, NO_LOGARITHM, OUT_OF_SCALE))


@pytest.mark.timeout(300)
def test_no_crash() -> None:
    drawn = f"import conftest, hypothesis; hypothesis.settings.load_profile({settings.get_current_profile_name()!r})"
    code = (
        f"import faulthandler; faulthandler.enable(); {drawn}; import test_bad_input, test_bad_kinds\n"
        "for test in (test_bad_input.layouts, test_bad_input.very_large_and_very_small, test_bad_kinds.the_largest_whole_numbers):\n"
        "    print(test.__name__, flush=True); test()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, f"in {done.stdout.split()[-1:]}: {done.stderr[-3000:]}"


@pytest.mark.parametrize("name", [name for name in CLASSES if plain(name).target != "none"])
def test_more_rows_than_memory(name: str) -> None:
    """2⁴⁰ rows that take no memory: refused because y is shorter, before anything of that size is made."""
    X = np.broadcast_to(np.zeros((1, 3)), (2**40, 3))
    with pytest.raises(tenfold.BadInput, match="1099511627776 rows, but y has 3"):
        plain(name).fit(X, [0, 1, 0])


def test_word_for_word() -> None:
    """One message in full, as an example of the rest."""
    with pytest.raises(tenfold.BadInput) as caught:
        tenfold.Ridge().fit([[1.0, 2.0], [3.0, np.nan]], [1.0, 2.0])
    assert str(caught.value) == "Input X contains NaN in column 1, row 1: fill or drop missing values first"
    with pytest.raises(tenfold.BadParameter) as caught:
        tenfold.Ridge(alpha=-1.0).fit([[1.0], [2.0]], [1.0, 2.0])
    assert str(caught.value) == "Ridge(alpha=-1.0): must be >= 0"
