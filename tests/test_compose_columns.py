"""Transformers side by side, held to scikit-learn's classes with the same members."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pytest
import sklearn.compose as theirs
import sklearn.pipeline
from scipy.sparse import csr_matrix, issparse
from sklearn.base import clone

import tenfold

rng = np.random.default_rng(0)
N = 60
FRAME = pandas.DataFrame(
    {
        "age": rng.normal(40, 9, N),
        "income": rng.normal(3, 1, N),
        "town": rng.choice(["bonn", "rome", "oslo"], N),
        "rooms": rng.integers(1, 4, N),
        "owner": rng.random(N) < 0.5,
    }
)
Y = FRAME["age"].to_numpy() / 10 + (FRAME["town"] == "rome") + FRAME["rooms"] + rng.normal(size=N) / 9
X = rng.normal(size=(N, 4))
SCALE, CODE = tenfold.StandardScaler(), tenfold.OneHotEncoder(sparse_output=False)

CASES: dict[str, Any] = {
    "names": dict(transformers=[("num", SCALE, ["age", "income"]), ("cat", CODE, ["town"])]),
    "one name": dict(transformers=[("num", SCALE, ["age"])]),
    "places": dict(transformers=[("num", SCALE, [0, -4]), ("cat", CODE, [2])]),
    "slice": dict(transformers=[("num", SCALE, slice(0, 2))]),
    "slice of names": dict(transformers=[("num", SCALE, slice("age", "income"))]),
    "mask": dict(transformers=[("num", SCALE, [True, True, False, False, False])]),
    "function": dict(transformers=[("num", SCALE, lambda frame: [c for c in frame.columns if "o" in c and c not in ("town", "owner")])]),
    "numbers as categories": dict(transformers=[("cat", CODE, ["rooms", "town"]), ("num", SCALE, ["age"])]),
    "passthrough": dict(transformers=[("num", SCALE, ["income"]), ("off", "drop", ["town"]), ("as", "passthrough", ["rooms"])]),
    "remainder": dict(transformers=[("cat", CODE, ["town"])], remainder="passthrough"),
    "learner": dict(transformers=[("cat", CODE, ["town", "owner"])], remainder=tenfold.PCA(2)),
    "weights": dict(transformers=[("num", SCALE, ["age"]), ("cat", CODE, ["town"])], transformer_weights={"num": 3.0}),
    "none": dict(transformers=[("num", SCALE, []), ("cat", CODE, ["town"])]),
    "plain names": dict(transformers=[("num", SCALE, ["age"])], remainder="drop", verbose_feature_names_out=False),
    "format": dict(transformers=[("num", SCALE, ["age"])], verbose_feature_names_out="{feature_name}-{transformer_name}"),
    "pipeline": dict(transformers=[("num", tenfold.make_pipeline(tenfold.SimpleImputer(), SCALE), ["age", "income"])]),
}


@pytest.mark.parametrize("case", CASES)
def test_columns_as_theirs(case: str) -> None:
    ours, other = (
        kind(**{key: clone(value, safe=False) for key, value in CASES[case].items()}).fit(FRAME)
        for kind in (tenfold.ColumnTransformer, theirs.ColumnTransformer)
    )
    np.testing.assert_allclose(ours.transform(FRAME).astype(float), other.transform(FRAME).astype(float), atol=1e-12)
    if case != "pipeline":  # names of steps that have others before them
        assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
    assert ours.output_indices_ == {**other.output_indices_, "remainder": ours.output_indices_["remainder"]}
    assert list(ours.named_transformers_)[:1] == list(other.named_transformers_)[:1]


@pytest.mark.parametrize(
    "selector",
    [
        dict(dtype_include=np.number), dict(dtype_include=float), dict(dtype_include="int64"), dict(dtype_include=bool),
        dict(dtype_include=["number", "bool"]), dict(dtype_exclude="number"), dict(pattern="^o|e$"), dict(pattern="i", dtype_include=float),
    ],
    ids=str,
)  # fmt: skip
def test_selector_as_theirs(selector: dict[str, Any]) -> None:
    expected = theirs.make_column_selector(**selector)(FRAME)
    assert tenfold.make_column_selector(**selector)(FRAME) == expected
    if "int64" not in selector.values():
        assert tenfold.make_column_selector(**selector)(polars.from_pandas(FRAME)) == expected


def test_selected_by_type_wherever_the_rows_are(tmp_path: Path) -> None:
    """Frames, files and streams; also inside a pipeline, a cross-validation and another learner."""
    numbers, texts = tenfold.make_column_selector(dtype_include="number"), tenfold.make_column_selector(dtype_include=object)
    front = tenfold.make_column_transformer((SCALE, numbers), (CODE, texts))
    expected = clone(front).fit_transform(FRAME)
    assert expected.shape == (N, 6)
    path = tmp_path / "rows.csv"
    FRAME.drop(columns="owner").to_csv(path, index=False)
    np.testing.assert_allclose(clone(front).fit(path).transform(path), expected, rtol=1e-9)
    model = tenfold.make_pipeline(clone(front), tenfold.Ridge())
    assert model.fit(FRAME, Y).score(FRAME, Y) > 0.9
    assert tenfold.cross_validate(model, FRAME, Y, folds=3).mean is not None
    vote = tenfold.VotingRegressor([("one", model), ("two", tenfold.make_pipeline(clone(front), tenfold.Ridge(9.0)))])
    assert vote.fit(FRAME, Y).score(FRAME, Y) > 0.9


def test_union_as_theirs() -> None:
    pairs = [("scaled", SCALE), ("axes", tenfold.PCA(2)), ("x", "passthrough"), ("off", "drop")]
    for more in ({}, {"transformer_weights": {"axes": 0.5, "x": 2.0}}, {"verbose_feature_names_out": True}):
        ours, other = (
            kind(clone(pairs, safe=False), **more).fit(X) for kind in (tenfold.FeatureUnion, sklearn.pipeline.FeatureUnion)
        )
        np.testing.assert_allclose(ours.transform(X), other.transform(X), atol=1e-12)
        assert list(ours.get_feature_names_out()) == list(other.get_feature_names_out())
        assert ours.named_transformers["axes"].components_.shape == (2, 4)
    union = tenfold.make_union(SCALE, tenfold.PCA(1))
    assert [name for name, _ in union.transformer_list] == ["standardscaler", "pca"]
    assert union.set_params(pca__n_components=3).fit_transform(X).shape == (N, 7)


def test_gaps_stay_where_they_are_taken() -> None:
    gaps = FRAME.assign(age=FRAME["age"].where(FRAME["age"] > 30))
    fill = tenfold.make_pipeline(tenfold.SimpleImputer(), SCALE)
    front = tenfold.ColumnTransformer([("num", fill, ["age"]), ("cat", CODE, ["town"])])
    assert np.isfinite(front.fit_transform(gaps)).all()
    assert tenfold.make_pipeline(clone(front), tenfold.Ridge()).fit(gaps, Y).score(gaps, Y) > 0.5
    with pytest.raises(tenfold.BadInput, match=r"NaN in column 'age'.*'axes' .PCA. takes no missing"):
        tenfold.ColumnTransformer([("axes", tenfold.PCA(1), ["income", "age"])]).fit(gaps)
    passing = tenfold.ColumnTransformer([("cat", CODE, ["town"]), ("as", "passthrough", ["age"])])
    assert np.isnan(passing.fit_transform(gaps)).any()
    with pytest.raises(tenfold.BadInput, match=r"missing values come to 'ridge' .Ridge."):
        tenfold.make_pipeline(passing, tenfold.Ridge()).fit(gaps, Y)
    with pytest.raises(tenfold.BadInput, match=r"missing values come to 'ridge' .Ridge."):
        tenfold.make_pipeline(passing, tenfold.StandardScaler(), tenfold.Ridge()).fit(gaps, Y)


def test_text_stays_where_it_is_taken() -> None:
    with pytest.raises(tenfold.BadInput, match=r"column 'town' holds text or categories, and 'num' .StandardScaler."):
        tenfold.ColumnTransformer([("num", SCALE, ["age", "town"])]).fit(FRAME)
    passing = tenfold.ColumnTransformer([("num", SCALE, ["age"])], remainder="passthrough")
    assert set(passing.fit_transform(FRAME)[:, 2]) == {"bonn", "rome", "oslo"}
    with pytest.raises(tenfold.BadInput, match=r"holds text or categories, and step 'ridge' .Ridge. takes numbers"):
        tenfold.make_pipeline(passing, tenfold.Ridge()).fit(FRAME, Y)
    tree = tenfold.make_pipeline(passing, tenfold.DecisionTreeRegressor(max_depth=4)).fit(FRAME, Y)
    assert tree.score(FRAME, Y) > 0.5


def test_categories_that_fit_has_not_met() -> None:
    new = FRAME.assign(town="bern", rooms=9)
    with pytest.raises(tenfold.BadInput, match=r"unknown categories in column 'town'.*handle_unknown of 'cat'"):
        tenfold.ColumnTransformer([("cat", CODE, ["town"])]).fit(FRAME).transform(new)
    ignoring = tenfold.OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    made = tenfold.ColumnTransformer([("cat", ignoring, ["town", "rooms"])]).fit(FRAME).transform(new)
    assert made.shape == (N, 6) and not made.any()
    both = tenfold.ColumnTransformer([("cat", CODE, ["rooms"])]).fit(FRAME)
    assert both.transform(new.assign(rooms=1)).sum() == N  # a column that nobody sees may hold anything
    order = tenfold.OrdinalEncoder(categories=[["oslo", "rome", "bonn"]])
    codes = tenfold.ColumnTransformer([("cat", order, ["town"])]).fit_transform(FRAME)[:, 0]
    assert (codes == FRAME["town"].map({"oslo": 0, "rome": 1, "bonn": 2}).to_numpy()).all()


def test_sparse_rows_containers_and_files(tmp_path: Path) -> None:
    rows = csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    front = tenfold.ColumnTransformer([("s", tenfold.StandardScaler(with_mean=False), [0, 1])], remainder="passthrough")
    made = front.fit_transform(rows)
    assert issparse(made)
    np.testing.assert_allclose(made.toarray(), clone(front).fit_transform(rows.toarray()), rtol=1e-12)
    model = tenfold.ColumnTransformer([("num", SCALE, ["age"]), ("cat", CODE, ["town", "rooms"])]).set_output(transform="polars")
    frame = model.fit_transform(FRAME)
    assert isinstance(frame, polars.DataFrame) and frame.columns[0] == "num__age"
    tenfold.save(model, tmp_path / "m")
    assert tenfold.load(tmp_path / "m").transform(FRAME).equals(frame)
    chosen = [("num", SCALE, tenfold.make_column_selector(dtype_include=float)), ("as", "passthrough", slice("rooms", None))]
    piped = tenfold.make_pipeline(tenfold.ColumnTransformer(chosen), tenfold.Ridge()).fit(FRAME, Y)
    tenfold.save(piped, tmp_path / "m")  # the columns that were chosen are in the file, not the function
    loaded = tenfold.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(FRAME), piped.predict(FRAME))
    assert loaded[0].transformers[0][2] == ["age", "income"] and callable(piped[0].transformers[0][2])
    assert model.get_params()["num__with_mean"] and clone(model).set_params(cat="drop").fit_transform(FRAME).shape == (N, 1)


@pytest.mark.parametrize(
    "given, message",
    [
        (dict(transformers=[("a", SCALE, ["nowhere"])]), "no column 'nowhere'"),
        (dict(transformers=[("a", SCALE, [9])]), "no column 9"),
        (dict(transformers=[("a", SCALE, [True, False])]), "the mask has 2 entries"),
        (dict(transformers=[("a", SCALE, 1.5)]), "No valid specification of the columns"),
        (dict(transformers=[("a", SCALE)]), "not a triple"),
        (dict(transformers=[("a", tenfold.Ridge(), [0])]), "type Ridge. doesn't: ColumnTransformer: 'a' cannot transform"),
        (dict(transformers=[("a", "keep", [0])]), "must be a transformer, 'drop' or 'passthrough'"),
        (dict(transformers=[("a", SCALE, [0])], remainder="keep"), "remainder='keep'"),
        (dict(transformers=[("a", SCALE, [0])], transformer_weights={"b": 1}), "weight transformer .b., but it is not present"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises((tenfold.BadParameter, tenfold.BadInput), match=message):
        tenfold.ColumnTransformer(**given).fit(FRAME)
    with pytest.raises(tenfold.BadInput, match="X has no names"):
        tenfold.ColumnTransformer([("a", SCALE, ["age"])]).fit(X)


def test_entries_that_were_looked_at_are_looked_at_again_once_they_are_others() -> None:
    table = np.random.default_rng(0).normal(size=(6, 2))
    model = tenfold.ColumnTransformer([("a", tenfold.StandardScaler(), [0]), ("b", "passthrough", [1])]).fit(table)
    model.transformers[1] = ("b", "nonsense", [1])
    with pytest.raises(ValueError, match="'b' is 'nonsense', and must be a transformer"):
        model.fit(table)
    model.transformers[1] = ("b", "drop", [1])
    assert model.fit_transform(table).shape == (6, 1)
    model.set_params(a="passthrough")
    np.testing.assert_array_equal(model.fit_transform(table), table[:, :1])
    voting = tenfold.VotingRegressor([("a", tenfold.Ridge()), ("b", tenfold.LinearRegression())]).fit(table, table[:, 0])
    voting.estimators[1] = ("b", tenfold.GaussianNB())
    with pytest.raises(ValueError, match="should be a regressor"):
        voting.fit(table, table[:, 0])
