"""Filters of columns: by a score of each, by variance, by correlation. Oracles: scikit-learn, closed forms."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas
import pytest
import sklearn.feature_selection as theirs
from scipy.sparse import csr_matrix
from scipy.stats import entropy

import tenfold

NUMBERS = ("f_regression", "r_regression", "mutual_info_regression")
BY_SUMS = ("f_classif", "chi2", "f_regression", "r_regression")
SELECTORS = [
    ("SelectKBest", {"k": 3}), ("SelectKBest", {"k": "all"}), ("SelectPercentile", {"percentile": 34}),
    ("SelectFpr", {"alpha": 0.01}), ("SelectFdr", {"alpha": 0.2}), ("SelectFwe", {"alpha": 0.05}),
    ("GenericUnivariateSelect", {"mode": "k_best", "param": 4}), ("GenericUnivariateSelect", {"mode": "fwe", "param": 0.1}),
]  # fmt: skip


@pytest.fixture(scope="module")
def table() -> Any:
    rng = np.random.default_rng(0)
    X, y = rng.random((240, 9)), rng.integers(0, 3, 240)
    X[:, 1] += y
    X[:, 4] += 0.2 * (y == 2)
    X[:, 5] = X[:, 1] * 3 + 0.01 * rng.random(240)
    return X, y, X @ rng.normal(size=9) + rng.normal(size=240)


def of(name: str, table: Any) -> tuple[Any, Any]:
    X, labels, numbers = table
    return X, numbers if name in NUMBERS else labels


def both(found: Any) -> list[Any]:
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("name", BY_SUMS)
@pytest.mark.parametrize("sparse", [False, True])
def test_scores_of_one_pass_are_those_of_scikit_learn(table: Any, name: str, sparse: bool) -> None:
    X, y = of(name, table)
    X = csr_matrix(X * (X > 0.4)) if sparse else X
    for mine, expected in zip(both(getattr(tenfold, name)(X, y)), both(getattr(theirs, name)(X, y)), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("center", [True, False])
def test_correlations_without_centring_and_of_constants(table: Any, center: bool) -> None:
    X, y = table[0].copy(), table[2]
    np.testing.assert_allclose(
        tenfold.r_regression(X, y, center=center), theirs.r_regression(X, y, center=center), rtol=1e-10, atol=1e-14
    )
    X[:, 0], X[:, 1] = 0.1, 2 * y + 1
    F, p = tenfold.f_regression(X, y)
    assert F[0] == 0 and p[0] == 1 and F[1] == np.finfo(float).max and p[1] == 0
    F, p = tenfold.f_regression(X, y, force_finite=False)
    assert np.isnan(F[0]) and np.isnan(p[0]) and np.isposinf(F[1]) and p[1] == 0


def test_constants_have_no_f_and_are_told(table: Any) -> None:
    X = table[0].copy()
    X[:, 3] = 0.1
    with pytest.warns(tenfold.core.errors.Degenerate, match=r"\[3\] are constant"):
        F, p = tenfold.f_classif(X, table[1])
    assert np.isnan(F[3]) and np.isnan(p[3]) and np.isfinite(np.delete(F, 3)).all()
    shifted = tenfold.f_classif(table[0] + 1e8, table[1])[0]  # centred sums lose no digits
    np.testing.assert_allclose(shifted, tenfold.f_classif((table[0] + 1e8) - 1e8, table[1])[0], rtol=1e-6)


@pytest.mark.parametrize("name", BY_SUMS)
def test_weights_are_copies_and_streams_are_tables(table: Any, name: str) -> None:
    X, y = of(name, table)
    w = np.random.default_rng(1).integers(0, 4, len(X))
    score = getattr(tenfold, name)
    copies = both(score(np.repeat(X, w, axis=0), np.repeat(y, w)))
    blocks = [(X[i : i + 50], y[i : i + 50]) for i in range(0, len(X), 50)]
    for mine, expected in zip(both(score(X, y, sample_weight=w)), copies, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-10, atol=1e-13)
    model = tenfold.SelectKBest(name, k=2).fit(blocks)
    np.testing.assert_allclose(model.scores_, both(score(X, y))[0], rtol=1e-10)


def test_chi2_refuses_negative_values_by_column(table: Any) -> None:
    X = table[0].copy()
    X[7, 2] = -3
    with pytest.raises(tenfold.BadInput, match=r"non-negative.*column 2 holds -3"):
        tenfold.chi2(X, table[1])


@pytest.mark.parametrize("name", ["mutual_info_classif", "mutual_info_regression"])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_mutual_information_is_that_of_scikit_learn(table: Any, name: str, k: int) -> None:
    X, y = of(name, table)
    X = X.copy()
    X[:, 2] = np.round(4 * X[:, 2])
    for more in ({}, {"discrete_features": [2]}):
        mine, expected = (getattr(one, name)(X, y, n_neighbors=k, random_state=0, **more) for one in (tenfold, theirs))
        np.testing.assert_allclose(mine, expected, rtol=1e-10, atol=1e-12)


def test_mutual_information_of_discrete_columns_is_exact_and_sparse(table: Any) -> None:
    X, y = np.round(4 * table[0]), table[1]
    expected = theirs.mutual_info_classif(X, y, discrete_features=True)
    np.testing.assert_allclose(tenfold.mutual_info_classif(csr_matrix(X), y), expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(tenfold.information_gain(X, y, discrete_features=True) * np.log(2), expected, rtol=1e-10, atol=1e-14)
    with pytest.raises(tenfold.BadInput, match="continuous"):
        tenfold.mutual_info_classif(csr_matrix(X), y, discrete_features=False)
    with pytest.raises(IndexError):
        tenfold.mutual_info_classif(X, y, discrete_features=[99])


def test_mutual_information_of_gaussians_is_near_the_truth() -> None:
    rng = np.random.default_rng(0)
    z = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 4000)
    assert abs(tenfold.mutual_info_regression(z[:, :1], z[:, 1], random_state=0)[0] + 0.5 * np.log(1 - 0.64)) < 0.03


LOAN = pandas.DataFrame(  # age, job, house, credit of 15 people, and whether they got the loan: a table of many textbooks
    {
        "age": ["young"] * 5 + ["middle"] * 5 + ["old"] * 5,
        "job": [0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0],
        "house": [0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0],
        "credit": ["fair", "good", "good", "fair", "fair", "fair", "good", "good", "top", "top", "top", "good", "good", "top", "fair"],
    }
)
GRANTED = ["no", "no", "yes", "yes", "no", "no", "no", "yes", "yes", "yes", "yes", "yes", "yes", "yes", "no"]


def test_the_loan_table() -> None:
    gains = tenfold.information_gain(LOAN, GRANTED, discrete_features=True)
    np.testing.assert_allclose(gains, [0.083, 0.324, 0.420, 0.363], atol=5e-4, rtol=0)
    ratio = tenfold.gain_ratio(LOAN, GRANTED, discrete_features=[1, 2])  # text is discrete anyway
    own = [entropy(np.unique(LOAN[name], return_counts=True)[1], base=2) for name in LOAN]
    np.testing.assert_allclose(ratio, gains / own, rtol=1e-12)


def test_numbers_are_cut_where_it_pays() -> None:
    rng = np.random.default_rng(0)
    x, noise = rng.random(400), rng.random(400)
    y = np.digitize(x, [0.3, 0.6])
    X = np.column_stack([x, noise, np.ones(400)])
    X[::9, 2] = np.nan
    gains = tenfold.information_gain(X, y)
    np.testing.assert_allclose(gains[0], tenfold.information_gain(y[:, None], y, discrete_features=True)[0], rtol=1e-12)
    assert gains[1] == 0 and gains[2] < 0.05 and tenfold.gain_ratio(X, y)[0] == pytest.approx(1.0)
    w = rng.integers(0, 3, 400)
    for bins in ("mdl", "quantile"):
        copies = tenfold.information_gain(np.repeat(X, w, axis=0), np.repeat(y, w), bins=bins)
        np.testing.assert_allclose(tenfold.information_gain(X, y, bins=bins, sample_weight=w), copies, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("name, params", SELECTORS)
@pytest.mark.parametrize("score", ["f_classif", "chi2", "f_regression"])
def test_selectors_are_those_of_scikit_learn(table: Any, name: str, params: dict[str, Any], score: str) -> None:
    X, y = of(score, table)
    mine = getattr(tenfold, name)(getattr(tenfold, score), **params).fit(X, y)
    expected = getattr(theirs, name)(getattr(theirs, score), **params).fit(X, y)
    np.testing.assert_array_equal(mine.get_support(indices=True), expected.get_support(indices=True))
    np.testing.assert_array_equal(mine.transform(X), expected.transform(X))
    Z = mine.transform(csr_matrix(X))
    np.testing.assert_array_equal(mine.inverse_transform(Z).toarray(), expected.inverse_transform(expected.transform(X)))


def test_functions_of_anybody_see_all_rows(table: Any) -> None:
    X, y, numbers = table
    mine = tenfold.SelectKBest(theirs.f_classif, k=3)
    assert mine.kind == "keeps rows" and not hasattr(mine, "partial_fit")
    np.testing.assert_array_equal(mine.fit(X, y).get_support(), tenfold.SelectKBest(k=3).fit(X, y).get_support())
    texts = np.array(["a", "b", "c"])[y]
    np.testing.assert_array_equal(mine.fit(X, texts).scores_, theirs.f_classif(X, texts)[0])
    without = tenfold.SelectKBest(lambda X, y: np.arange(X.shape[1]), k=2).fit(X)
    assert without.get_support(indices=True).tolist() == [7, 8] and without.pvalues_ is None
    with pytest.raises(TypeError, match="sample_weight"):
        tenfold.SelectKBest("mutual_info_classif").fit(X, y, np.arange(len(y)) + 1.0)
    with pytest.raises(tenfold.BadInput, match="one for each"):
        tenfold.SelectKBest(lambda X, y: [1.0]).fit(X, y)
    with pytest.raises(tenfold.BadParameter, match="score_func='f1'"):
        tenfold.SelectKBest("f1").fit(X, y)
    with pytest.raises(tenfold.BadParameter, match="no p-values"):
        tenfold.SelectFdr("r_regression").fit(X, numbers)


def test_a_score_of_classes_before_a_regressor_and_the_other_way_round(table: Any) -> None:
    X, y, _ = table
    model = tenfold.make_pipeline(tenfold.SelectKBest("f_classif", k=2), tenfold.Ridge()).fit(X, y)
    np.testing.assert_allclose(model[0].scores_, theirs.f_classif(X, y)[0], rtol=1e-10)
    model = tenfold.make_pipeline(tenfold.SelectKBest("f_regression", k=2), tenfold.GaussianNB()).fit(X, y)
    np.testing.assert_allclose(model[0].scores_, theirs.f_regression(X, y)[0], rtol=1e-10)


def test_names_types_and_containers_stay(table: Any) -> None:
    X, y, _ = table
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(9)]).astype({"c1": np.float32, "c5": np.float32})
    model = tenfold.SelectKBest(k=2).fit(frame, y).set_output(transform="pandas")
    assert model.get_feature_names_out().tolist() == ["c1", "c5"]
    assert model.transform(frame).dtypes.tolist() == [np.float32, np.float32]
    whole = np.arange(40).reshape(10, 4)
    assert tenfold.VarianceThreshold().fit_transform(whole).dtype == whole.dtype
    plain = tenfold.SelectKBest(k=2).fit(X, y)
    assert plain.get_feature_names_out().tolist() == ["x1", "x5"]
    assert plain.get_feature_names_out(list("abcdefghi")).tolist() == ["b", "f"]
    with pytest.raises(tenfold.BadInput, match="different shape than during fitting"):
        plain.inverse_transform(X)
    with pytest.warns(UserWarning, match="No features were selected"):
        assert tenfold.SelectKBest(k=0).fit(X, y).transform(X).shape == (240, 0)
    with pytest.warns(UserWarning, match="k=99 is greater than n_features=9"):
        assert tenfold.SelectKBest(k=99).fit(X, y).get_support().all()


def test_files_hold_names_of_functions_only(table: Any, tmp_path: Any) -> None:
    X, y, _ = table
    model = tenfold.SelectKBest(tenfold.chi2, k=2).fit(X, y)
    tenfold.save(model, tmp_path / "m.tenfold", resumable=True)
    again = tenfold.load(tmp_path / "m.tenfold")
    assert again.score_func == "chi2" and repr(again) == repr(model) == "SelectKBest(score_func='chi2', k=2)"
    again.merge(tenfold.SelectKBest(tenfold.chi2, k=2).fit(X[:99], y[:99]))
    assert again.partial_fit(X[:9], y[:9]).stats_.weight.sum() == 348
    with pytest.raises(tenfold.BadFile):
        tenfold.save(tenfold.SelectKBest(theirs.chi2, k=2).fit(X, y), tmp_path / "n.tenfold")


@pytest.mark.parametrize("threshold", [0.0, 0.08])
@pytest.mark.parametrize("form", ["dense", "sparse", "missing"])
def test_variances_are_those_of_scikit_learn(table: Any, threshold: float, form: str) -> None:
    X = table[0].copy()
    X[:, 3], X[:, 6] = 0.1, 0
    if form == "missing":
        X[::5, 2] = np.nan
    given = csr_matrix(X) if form == "sparse" else X
    mine, expected = (one.VarianceThreshold(threshold).fit(given) for one in (tenfold, theirs))
    np.testing.assert_array_equal(mine.get_support(), expected.get_support())
    np.testing.assert_allclose(mine.variances_, expected.variances_, rtol=1e-10, atol=1e-15)
    assert not hasattr(mine, "forget")


def test_no_variance_is_refused() -> None:
    with pytest.raises(tenfold.BadInput, match="No feature in X meets the variance threshold 0"):
        tenfold.VarianceThreshold().fit([[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(tenfold.BadInput, match="only one sample"):
        tenfold.VarianceThreshold().fit([[1.0, 2.0]])


def test_of_two_columns_that_say_the_same_one_is_kept(table: Any) -> None:
    X, y, numbers = table
    frame = pandas.DataFrame(X, columns=[f"c{j}" for j in range(9)])
    first = tenfold.CorrelationFilter(0.9).fit(frame)
    np.testing.assert_allclose(first.correlations_, np.corrcoef(X.T), atol=1e-12, rtol=0)
    assert list(first.dropped_) == ["c5"] and first.dropped_["c5"].startswith("correlation 1 with c1")
    X = X.copy()
    X[:, 1] += 0.3 * np.random.default_rng(3).normal(size=240)
    for target, relevance in ((numbers, np.abs(theirs.r_regression(X, numbers))), (np.array(["a", "b", "c"])[y], None)):
        chosen = tenfold.CorrelationFilter(0.8, keep="target").fit(X, target)
        if relevance is None:  # of classes: the correlation ratio, F / (F + (n − K) / (K − 1))
            F = theirs.f_classif(X, y)[0]
            relevance = np.sqrt(F / (F + 237 / 2))
        np.testing.assert_allclose(chosen.relevance_, relevance, rtol=1e-9, atol=1e-12)
        less = 1 if relevance[1] < relevance[5] else 5
        assert np.flatnonzero(~chosen.get_support()).tolist() == [less] and "more correlated with y" in chosen.dropped_[f"x{less}"]
    X[:, 2] = 0.1  # a constant is correlated with nothing
    assert tenfold.CorrelationFilter().fit(X).get_support()[2]


def test_selection_inside_cross_validation_sees_training_rows_only() -> None:
    """500 columns of noise, 50 rows, classes of noise: columns chosen on all rows seem to know the classes, chosen inside they do not."""
    rng = np.random.default_rng(0)
    inside, outside = [], []
    for _ in range(8):
        X, y = rng.normal(size=(50, 500)), np.arange(50) % 2
        classifier = tenfold.GaussianNB()
        pipeline = tenfold.make_pipeline(tenfold.SelectKBest(k=10), classifier)
        inside.append(tenfold.cross_val_score(pipeline, X, y, cv=5).mean())
        leaked = tenfold.SelectKBest(k=10).fit_transform(X, y)
        outside.append(tenfold.cross_val_score(classifier, leaked, y, cv=5).mean())
    assert abs(np.mean(inside) - 0.5) < 0.06 and np.mean(outside) > 0.85


def test_wide_and_odd_tables() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5000)), np.arange(40) % 2
    assert tenfold.SelectKBest(k=7).fit_transform(X, y).shape == (40, 7)
    one = tenfold.SelectKBest(k=1).fit(X[:, :1], y)
    assert one.get_support().tolist() == [True]
    with pytest.raises(tenfold.BadInput, match=r"NaN.*column"):
        tenfold.SelectKBest(k=1).fit(np.where(X > 2.5, np.nan, X), y)
    with pytest.raises(tenfold.BadInput, match="one class"):
        tenfold.f_classif(X, np.zeros(40))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scale in (1e-90, 1e90):
            np.testing.assert_allclose(
                tenfold.f_classif(X[:, :9] * scale, y)[0], theirs.f_classif(X[:, :9], y)[0], rtol=1e-9
            )


def test_what_is_left_of_nothing() -> None:
    X, y = np.arange(12.0).reshape(6, 2) % 5, np.arange(6) % 2
    with pytest.raises(tenfold.BadInput, match=r"'selectkbest' .* keeps no column"):
        tenfold.make_pipeline(tenfold.SelectKBest(k=0), tenfold.GaussianNB()).fit(X, y)
    assert tenfold.mutual_info_classif(X[:3], [0, 1, 2], random_state=0).tolist() == [0.0, 0.0]
    F, p = tenfold.f_regression(X[:1], [1.0])
    assert F.tolist() == [0.0, 0.0] and p.tolist() == [1.0, 1.0]
    with pytest.raises(tenfold.BadInput, match="more than 3 rows"):
        tenfold.mutual_info_regression(X[:3], y[:3].astype(float))
