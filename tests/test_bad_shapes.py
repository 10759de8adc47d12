"""Tables of shapes that a learner cannot use, or other columns than it was fitted on: refused in words, or fitted soundly."""

from __future__ import annotations

import errno
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from spoiled import (
    AS_GIVEN,
    FEW_ROWS,
    Case,
    Known,
    Reasons,
    judge,
    known,
    known_frames,
    many,
    must_fit,
    must_say,
    seeds,
)

import tenfold

BY_NAME = ("Prepare", "ColumnTransformer")  # they find the columns that they use by name, in any order and among others


@many
@given(st.integers(1, 6), seeds, st.booleans())
def test_one_row(p: int, seed: int, weighted: bool) -> None:
    case = Case((1, p), seed)
    if weighted:  # one row is left when the others have weight zero
        case = Case((5, p), seed)
        case.w = np.array([0, 0, 2, 0, 0])

    def verdict(learner: Any, error: str | None) -> str | None:
        if learner.target == "label" and learner.least_classes > 1:
            return must_say("only one class")(learner, error)
        if learner.least_rows > 1:
            return must_say("1 sample is not enough")(learner, error)
        return must_fit(ALONE)(learner, error)

    judge(case, verdict)


ALONE: Reasons = {
    "there is only one class": ("OneVsRestClassifier",),
    "n_samples=1 should be >= n_clusters=2": ("KMeans", "KMedoids", "KPlanes", "MiniBatchKMeans", "SoftKMeans"),
    "Cannot extract more clusters than samples": ("AgglomerativeClustering",),
    "Expected n_samples >= n_components": ("BayesianGaussianMixture", "GaussianMixture"),
    "Expected n_neighbors <=? n_s": ("LocalOutlierFactor", "NeighborDensity"),
    "a density needs a width": ("DensityForest", "DensityTree"),
    "1 sample is not enough": ("PCA", "FeatureUnion"),
    "No feature in X meets the variance threshold": ("VarianceThreshold",),
}


@many
@given(st.integers(1, 30), seeds)
def test_one_column(n: int, seed: int) -> None:
    judge(Case((n, 1), seed), lambda learner, error: error if error and n > 8 else None)


@many
@given(st.integers(2, 5), st.integers(8, 16), seeds)
def test_more_columns_than_rows(n: int, p: int, seed: int) -> None:
    judge(Case((n, p), seed), must_fit(FEW_ROWS))


@many
@given(st.sampled_from([(0, 3), (3, 0), (0, 0), (0,), (3,), (2, 2, 2), (1, 0, 2), ()]), st.integers(0, 3))
def test_empty_and_wrong_dimensions(shape: tuple[int, ...], kind: int) -> None:
    case = Case((3, 2), 0)
    n = shape[0] if shape else 0
    X = np.zeros(shape, dtype=[np.float64, np.float32, np.int64, object][kind])
    case.X, case.real, case.label = X, np.zeros(n), np.zeros(n)
    judge(case, must_say("shape"), but=AS_GIVEN)


@many
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


@many
@given(known, st.integers(1, 9))
def test_wrong_width(case: Known, width: int) -> None:
    case.new = case.rng.normal(size=(2, width))
    refusal = must_say(f"{width} features", f"{case.p} features")
    judge(case, lambda learner, error: refusal(learner, error) if width != case.p else error)


@many
@given(known_frames, st.sampled_from(["renamed", "reversed", "fewer", "more", "twice"]))
def test_wrong_names(case: Known, how: str) -> None:
    assume(case.p > 1 or how == "renamed")
    names = [f"x{j}" for j in range(case.p)]
    given_names = {
        "renamed": [*names[:-1], "other"],
        "reversed": names[::-1],
        "fewer": names[:-1],
        "more": [*names, "other"],
        "twice": [names[0]] * case.p,
    }[how]
    rows = case.rng.normal(size=(2, len(given_names)))
    if how == "twice":
        case.new = pandas.DataFrame(rows, columns=given_names)
    else:
        case.new = type(case.X)(dict(zip(given_names, rows.T, strict=True)))
    words = {
        "renamed": ("other",),
        "reversed": ("order",),
        "fewer": (names[-1],),
        "more": ("other",),
        "twice": ("x0", "once"),
    }
    judge(case, must_say(*words[how]), but=(*AS_GIVEN, *BY_NAME))


def test_a_fit_without_room_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(*_: Any) -> Any:
        raise MemoryError("Unable to allocate 12 GiB")

    monkeypatch.setattr(tenfold.Ridge, "_solve", no_room)
    model = tenfold.Ridge()
    with pytest.raises(
        tenfold.TooLarge, match=r"Ridge on 4 rows x 2 columns needs .* \(Unable to allocate 12 GiB\): give"
    ) as told:
        model.fit(np.eye(4)[:, :2], np.arange(4.0))
    assert isinstance(told.value, MemoryError)
    assert "n_features_in_" not in vars(model)


def test_pages_that_the_system_refuses_are_told_as_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """mmap says OSError where others say MemoryError. The next fit is as if nothing had been."""
    X = np.random.default_rng(0).normal(size=(20_000, 30))
    made = tenfold.HistGradientBoostingRegressor(max_iter=3, random_state=0)
    before = made.fit(X, X[:, 0]).predict(X)

    def full(*_: Any, **__: Any) -> Any:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    with monkeypatch.context() as patch, pytest.raises(tenfold.TooLarge, match=r"20000 rows x 30 columns .*Unable to allocate \d+.\d MiB"):
        patch.setattr("tenfold.core.pages.mmap.mmap", full)
        made.fit(X, X[:, 0])
    np.testing.assert_array_equal(made.fit(X, X[:, 0]).predict(X), before)
