"""Frames of other columns than those of fit, sparse rows and types of columns: ColumnTransformer held to scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import polars
import pytest
import sklearn.compose as theirs
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse
from sklearn.base import clone

import tenfold

rng = np.random.default_rng(3)
N = 80
FRAME = pandas.DataFrame(
    {
        "age": rng.normal(40, 9, N),
        "town": rng.choice([f"town {i}" for i in range(12)], N),
        "rooms": rng.integers(1, 4, N).astype(np.int16),
        "note": rng.choice(["a", "b"], N),
        "spare": rng.normal(size=N),
    }
)
Y = rng.integers(0, 2, N)
PARTS = [("num", tenfold.StandardScaler(), ["age"]), ("cat", tenfold.OneHotEncoder(handle_unknown="ignore"), ["town"])]
LEARNERS = {
    "pipeline": lambda: tenfold.make_pipeline(tenfold.ColumnTransformer(PARTS), tenfold.LogisticRegression()),
    "search": lambda: tenfold.GridSearchCV(LEARNERS["pipeline"](), {"logisticregression__C": [0.1, 1.0]}, cv=3),
    "vote": lambda: tenfold.VotingClassifier([("a", LEARNERS["pipeline"]()), ("b", LEARNERS["pipeline"]())], voting="soft"),
}
OTHERS = {
    "other order": FRAME[["spare", "town", "rooms", "age", "note"]],
    "more columns": FRAME.assign(more=1.0),
    "unused ones gone": FRAME[["town", "age"]],
}


def dense(rows: Any) -> Any:
    return rows.toarray() if issparse(rows) else rows


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("frames", [lambda frame: frame, polars.from_pandas], ids=["pandas", "polars"])
def test_columns_are_found_by_name(other: str, frames: Any) -> None:
    front = tenfold.ColumnTransformer(PARTS).fit(frames(FRAME))
    assert_array_equal(dense(front.transform(frames(OTHERS[other]))), dense(front.transform(frames(FRAME))))
    for learner in LEARNERS.values():
        model = learner().fit(frames(FRAME), Y)
        assert_array_equal(model.predict_proba(frames(OTHERS[other])), model.predict_proba(frames(FRAME)))


def test_a_column_that_is_used_must_be_there() -> None:
    model = LEARNERS["pipeline"]().fit(FRAME, Y)
    with pytest.raises(ValueError, match=r"columns are missing: \{'town'\}"):
        model.predict(FRAME.drop(columns="town"))
    with pytest.raises(ValueError, match="must be in the same order"):  # a learner of all columns takes them as they stand
        tenfold.StandardScaler().fit(FRAME[["age", "spare"]]).transform(FRAME[["spare", "age"]])


@pytest.mark.parametrize("threshold", [0.0, 0.16, 0.17, 0.3, 1.0])
@pytest.mark.parametrize("wrapped", [False, True])
def test_rows_are_sparse_where_theirs_are(threshold: float, wrapped: bool) -> None:
    coder = tenfold.OneHotEncoder(handle_unknown="ignore")
    parts = [PARTS[0], ("cat", tenfold.make_pipeline(coder) if wrapped else coder, ["town"])]  # 2 of 13 values are not zero
    ours, other = (
        kind([(name, clone(one), columns) for name, one, columns in parts], sparse_threshold=threshold)
        for kind in (tenfold.ColumnTransformer, theirs.ColumnTransformer)
    )
    made, expected = ours.fit_transform(FRAME), other.fit_transform(FRAME)
    assert issparse(made) == issparse(expected) == ours.sparse_output_ == other.sparse_output_
    assert_allclose(dense(made), dense(expected), rtol=1e-12, atol=1e-14)
    both = tenfold.FeatureUnion([("front", ours), ("same", tenfold.ColumnTransformer(PARTS[:1]))]).fit(FRAME)
    assert issparse(both.transform(FRAME)) == ours.sparse_output_


def test_copies_keep_the_container() -> None:
    scaler = tenfold.StandardScaler().set_output(transform="pandas")
    for copy in (clone(scaler), tenfold.Pipeline([("scaled", clone(tenfold.Pipeline([("scaled", scaler)])))])):
        assert isinstance(copy.fit_transform(FRAME[["age"]]), pandas.DataFrame)
    assert isinstance(clone(tenfold.StandardScaler()).fit_transform(FRAME[["age"]]), np.ndarray)


def test_a_frame_of_a_frame_keeps_the_types_of_columns() -> None:
    coder = tenfold.OneHotEncoder(sparse_output=False, dtype=np.int8)
    given = [("cat", coder, ["note"]), ("num", tenfold.StandardScaler(), ["age"])]
    ours, other = (
        kind([(name, clone(one), columns) for name, one, columns in given], remainder="passthrough", verbose_feature_names_out=False)
        .set_output(transform="pandas").fit(FRAME)
        for kind in (tenfold.ColumnTransformer, theirs.ColumnTransformer)
    )  # fmt: skip
    pandas.testing.assert_frame_equal(ours.transform(FRAME), other.transform(FRAME))


@pytest.mark.parametrize("columns", [[0], ["age"], slice("age", "town"), [True, False, False, False, False], slice(0, 2)])
def test_fitted_transformers_and_the_remainder_as_theirs(columns: Any) -> None:
    frame = FRAME.drop(columns=["town", "note"]).assign(town=1.0, note=2.0)[list(FRAME.columns)]
    ours, other = (
        kind([("num", tenfold.StandardScaler(), columns)], remainder="passthrough").fit(frame)
        for kind in (tenfold.ColumnTransformer, theirs.ColumnTransformer)
    )
    assert ours.transformers_[-1][2] == other.transformers_[-1][2]
    assert isinstance(ours.named_transformers_.remainder, tenfold.FunctionTransformer)
    assert list(ours.transformers_[-1][1].get_feature_names_out()) == list(other.transformers_[-1][1].get_feature_names_out())
    assert ours["num"] is ours.named_transformers_["num"]
    with pytest.raises(KeyError, match="'else' is not a valid transformer name"):
        ours["else"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["age", 1], "No valid specification of the columns: names or places, not both"),
        (slice(1, "age"), "No valid specification of the columns: a slice from a name to a place"),
        (["age"], "Specifying the columns using strings is only supported for dataframes: 'age' names a column"),
    ],
)
def test_columns_that_make_no_sense(columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tenfold.ColumnTransformer([("num", tenfold.StandardScaler(), columns)]).fit(rng.normal(size=(4, 3)))


@pytest.mark.parametrize("name", ["Ridge", "Lasso", "ElasticNet", "Lars", "LassoLars", "LogisticRegression"])
def test_a_random_state_goes_into_learners_that_draw_nothing(name: str) -> None:
    X = rng.normal(size=(30, 3))
    y = X[:, 0] > 0 if name == "LogisticRegression" else X[:, 0]
    one, other = (getattr(tenfold, name)(random_state=seed).fit(X, y) for seed in (np.random.RandomState(0), 0))
    assert_array_equal(one.coef_, other.coef_)
