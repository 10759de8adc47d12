"""Categories as means of the target, against scikit-learn's; and that no row sees its own target, in pipelines neither."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.model_selection import KFold, LeaveOneOut, TimeSeriesSplit
from sklearn.model_selection import cross_val_score as their_scores
from sklearn.pipeline import make_pipeline as their_pipeline
from sklearn.preprocessing import TargetEncoder as Theirs

import tenfold

rng = np.random.default_rng(0)
N = 400
X = np.column_stack([rng.choice(list("abcdef"), N), rng.choice(["u", "v"], N)]).astype(object)
X[::13, 0] = np.nan
NEW = X[:50].copy()
NEW[3, 0], NEW[5, 1] = "never seen", np.nan
TARGETS: dict[str, Any] = {
    "continuous": rng.normal(size=N) + (X[:, 1] == "u"),
    "binary": np.where(rng.random(N) < 0.3, "yes", "no"),
    "multiclass": rng.integers(0, 3, N),
}


@pytest.mark.parametrize("smooth", ["auto", 0.0, 5.0])
@pytest.mark.parametrize("kind", TARGETS)
def test_codes_are_those_of_scikit_learn(kind: str, smooth: Any) -> None:
    y, cv = TARGETS[kind], KFold(4, shuffle=True, random_state=3)
    ours, theirs = tenfold.TargetEncoder(smooth=smooth, cv=cv), Theirs(smooth=smooth, cv=cv)
    np.testing.assert_allclose(ours.fit_transform(X, y), theirs.fit_transform(X, y), rtol=1e-12)
    np.testing.assert_allclose(ours.transform(NEW), theirs.transform(NEW), rtol=1e-12)
    assert ours.target_type_ == theirs.target_type_ == kind
    np.testing.assert_allclose(ours.target_mean_, theirs.target_mean_, rtol=1e-12)
    for mine, other in zip(ours.encodings_, theirs.encodings_, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_the_same_seed_gives_the_same_folds() -> None:
    for y in TARGETS.values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn wants the seed in a splitter
            expected = Theirs(random_state=5).fit_transform(X, y)
        np.testing.assert_allclose(tenfold.TargetEncoder(random_state=5).fit_transform(X, y), expected, rtol=1e-12)
        one, two = (tenfold.TargetEncoder().fit_transform(X, y) for _ in range(2))
        np.testing.assert_array_equal(one, two)


def test_no_row_sees_its_own_target() -> None:
    """A category of one row, and a target that is changed in one row: its own code stays."""
    y = TARGETS["continuous"].copy()
    before = tenfold.TargetEncoder().fit_transform(X, y)
    y[7] += 1e6
    after = tenfold.TargetEncoder().fit_transform(X, y)
    np.testing.assert_array_equal(before[7], after[7])
    assert (before != after).any(axis=1).mean() > 0.5
    noise, each = rng.normal(size=200), np.arange(200).astype(str)[:, None].astype(object)
    codes = tenfold.TargetEncoder().fit_transform(each, noise)[:, 0]
    assert abs(np.corrcoef(codes, noise)[0, 1]) < 0.5  # the means of the other folds alone


def _leaky() -> tuple[Any, Any]:
    """Categories of hardly any rows and a target of noise: codes of one's own target would explain it."""
    draw = np.random.default_rng(1)
    return draw.choice([f"c{i}" for i in range(150)], (300, 1)).astype(object), draw.normal(size=300)


@pytest.mark.parametrize("inside", ["pipeline", "columns", "union", "nested"])
def test_pipelines_train_on_cross_fitted_rows(inside: str) -> None:
    table, y = _leaky()
    encoder = tenfold.TargetEncoder(smooth=0.0)
    front: Any = {
        "pipeline": encoder,
        "columns": tenfold.make_column_transformer((encoder, [0])),
        "union": tenfold.make_union(encoder),
        "nested": tenfold.make_pipeline(encoder, tenfold.StandardScaler()),
    }[inside]
    model = tenfold.make_pipeline(front, tenfold.LinearRegression()).fit(table, y)
    coef = model[-1].coef_[0]
    own = tenfold.LinearRegression().fit(tenfold.TargetEncoder(smooth=0.0).fit(table, y).transform(table), y)
    assert own.score(tenfold.TargetEncoder(smooth=0.0).fit(table, y).transform(table), y) > 0.4  # what a leak looks like
    assert abs(coef) < 0.3 < own.coef_[0]
    expected = tenfold.LinearRegression().fit(tenfold.TargetEncoder(smooth=0.0).fit_transform(table, y), y).coef_[0]
    if inside != "nested":
        np.testing.assert_allclose(coef, expected, rtol=1e-10)


def test_cross_validation_is_that_of_scikit_learn() -> None:
    y, cv = TARGETS["continuous"], KFold(3)
    inner = KFold(4, shuffle=True, random_state=0)
    ours = tenfold.make_pipeline(tenfold.TargetEncoder(cv=inner), tenfold.Ridge())
    theirs = their_pipeline(Theirs(cv=inner), TheirRidge())
    np.testing.assert_allclose(tenfold.cross_val_score(ours, X, y, cv=cv), their_scores(theirs, X, y, cv=cv), rtol=1e-8)
    model = tenfold.make_pipeline(tenfold.TargetEncoder(), tenfold.LogisticRegression())
    assert np.isfinite(tenfold.cross_val_score(model, X, TARGETS["multiclass"], cv=3)).all()


def test_weights_are_copies() -> None:
    y, w = TARGETS["continuous"], rng.integers(0, 4, N)
    again = np.repeat(np.arange(N), w)
    one = tenfold.TargetEncoder().fit(X, y, sample_weight=w)
    two = tenfold.TargetEncoder().fit(X[again], y[again])
    for mine, other in zip(one.encodings_, two.encodings_, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)


def test_frames_files_and_saved(tmp_path: Path) -> None:
    y = TARGETS["binary"]
    frame = pl.DataFrame({"a": [None if one != one else one for one in X[:, 0]], "b": X[:, 1].tolist()})
    encoder = tenfold.TargetEncoder()
    np.testing.assert_allclose(encoder.fit_transform(frame, y), tenfold.TargetEncoder().fit_transform(X, y), rtol=1e-12)
    tenfold.save(encoder, tmp_path / "e.tenfold")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "e.tenfold").transform(frame), encoder.transform(frame))
    model = tenfold.make_pipeline(tenfold.TargetEncoder(), tenfold.LogisticRegression()).fit(frame, y)
    tenfold.save(model, tmp_path / "m.tenfold")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "m.tenfold").predict(frame), model.predict(frame))


def test_what_is_refused() -> None:
    y = TARGETS["continuous"]
    with pytest.raises(tenfold.BadParameter, match="cover each sample index exactly once"):
        tenfold.TargetEncoder(cv=TimeSeriesSplit(3)).fit_transform(X, y)
    with pytest.raises(tenfold.BadInput, match="Target type was inferred to be"):
        tenfold.TargetEncoder().fit(X, np.ones((N, 2)))
    with pytest.raises(tenfold.BadParameter, match="3 classes"):
        tenfold.TargetEncoder(target_type="binary").fit(X, TARGETS["multiclass"])
    with pytest.raises(tenfold.BadInput, match="read them first"):
        tenfold.TargetEncoder().fit_transform([(X[:9], y[:9])])
    with pytest.raises(tenfold.BadInput, match="requires y"):
        tenfold.TargetEncoder().fit(X)
    few = tenfold.TargetEncoder(cv=LeaveOneOut()).fit_transform(X[:20, 1:], y[:20])
    np.testing.assert_allclose(few, Theirs(cv=LeaveOneOut()).fit_transform(X[:20, 1:], y[:20]), rtol=1e-10)
