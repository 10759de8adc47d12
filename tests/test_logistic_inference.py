"""What LogisticRegression says of itself: standard errors and odds ratios, its method, separated classes, sparse coefficients."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from sklearn.datasets import load_iris

import tenfold
from tenfold import LogisticRegression


def made(n: int, p: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows with labels drawn from a softmax of linear scores."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (X @ rng.standard_normal((p, k)) + rng.gumbel(size=(n, k))).argmax(1)


def check_equal(ours: Any, theirs: Any, shape: tuple[int, ...]) -> None:
    pairs = {
        "coef": (ours.coef, np.asarray(theirs.params).T),
        "standard errors": (ours.standard_errors, np.asarray(theirs.bse).T),
        "z": (ours.z, np.asarray(theirs.tvalues).T),
        "p": (ours.p_values, np.asarray(theirs.pvalues).T),
        "intervals": (ours.intervals(0.9), theirs.conf_int(0.1)),
        "covariance": (ours.covariance, theirs.cov_params()),
    }
    for what, (found, expected) in pairs.items():
        found = np.asarray(found)
        np.testing.assert_allclose(found, np.reshape(expected, found.shape), rtol=1e-7, atol=1e-12, err_msg=what)
    numbers = dict(
        log_likelihood="llf", null_log_likelihood="llnull", likelihood_ratio="llr", likelihood_ratio_p_value="llr_pvalue",
        pseudo_r2="prsquared", aic="aic", bic="bic",
    )  # fmt: skip
    for mine, name in numbers.items():
        np.testing.assert_allclose(getattr(ours, mine), getattr(theirs, name), rtol=1e-7, err_msg=mine)
    assert ours.coef.shape == shape
    np.testing.assert_allclose(ours.odds_ratios, np.exp(ours.coef), rtol=1e-15)
    np.testing.assert_allclose(ours.odds_ratio_intervals(), np.exp(ours.intervals()), rtol=1e-15)


def test_two_classes_as_statsmodels() -> None:
    X, y = made(400, 4, 2)
    X = X * [1.0, 10.0, 0.1, 100.0] + 3.0
    theirs = sm.Logit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12, maxiter=100)
    check_equal(LogisticRegression(C=np.inf).fit(X, y).inference(), theirs, (1, 5))


def test_many_classes_as_statsmodels() -> None:
    X, y = made(500, 3, 4)
    theirs = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, tol=1e-12, maxiter=100)
    check_equal(LogisticRegression(C=np.inf).fit(X, y).inference(), theirs, (3, 4))


@pytest.mark.parametrize("k", [2, 3])
def test_without_an_intercept(k: int) -> None:
    X, y = made(500, 3, k)
    kind = sm.Logit if k == 2 else sm.MNLogit
    theirs = kind(y, X).fit(disp=0, tol=1e-12, maxiter=100)
    ours = LogisticRegression(C=np.inf, fit_intercept=False).fit(X, y).inference()
    np.testing.assert_allclose(ours.standard_errors, np.asarray(theirs.bse).T.reshape(k - 1, 3), rtol=1e-7)
    assert ours.names == ["x0", "x1", "x2"] and ours.null_log_likelihood == pytest.approx(-500 * np.log(k))


def test_streams_weights_far_columns_and_sparse_rows_give_the_same() -> None:
    X, y = made(300, 3, 3)
    expected = LogisticRegression(C=np.inf).fit(X, y).inference()
    blocks = [(X[i : i + 37], y[i : i + 37]) for i in range(0, 300, 37)]
    for model in (LogisticRegression(C=np.inf).fit(blocks), LogisticRegression(C=np.inf).fit(sp.csr_array(X), y)):
        np.testing.assert_allclose(model.inference().standard_errors, expected.standard_errors, rtol=1e-9)
    far = LogisticRegression(C=np.inf).fit(X + np.array([1e5, 0.0, -1e6]), y).inference()
    np.testing.assert_allclose(far.standard_errors[:, 1:], expected.standard_errors[:, 1:], rtol=1e-6)
    turn = np.eye(4)
    turn[0, 1:] = [-1e5, 0.0, 1e6]
    np.testing.assert_allclose(far.standard_errors[0] ** 2, np.diagonal(turn @ expected.covariance[:4, :4] @ turn.T), rtol=1e-5)
    w = np.random.default_rng(1).integers(0, 3, 300)
    weighted = LogisticRegression(C=np.inf).fit(X, y, w).inference()
    repeated = LogisticRegression(C=np.inf).fit(np.repeat(X, w, 0), np.repeat(y, w)).inference()
    np.testing.assert_allclose(weighted.standard_errors, repeated.standard_errors, rtol=1e-8)
    assert weighted.n == w.sum() and weighted.bic == pytest.approx(repeated.bic)


def test_the_table_names_columns_classes_and_odds() -> None:
    import polars

    X, y = made(200, 2, 3)
    frame = polars.DataFrame({"age": X[:, 0], "income": X[:, 1]})
    model = LogisticRegression(C=np.inf).fit(frame, np.array(["low", "middle", "high"])[y])
    words = model.summary(0.9)
    assert all(word in words for word in ("age", "income", "class low against high", "class middle against high", "odds ratio", "95 %"))
    assert str(model.inference()) == model.summary()
    with pytest.raises(tenfold.BadParameter, match="level=2"):
        model.summary(2)


def test_where_there_is_no_uncertainty_the_reason_is_told(tmp_path: Path) -> None:
    X, y = made(200, 3, 2)
    with pytest.raises(tenfold.BadInput, match=r"penalty biases .* C=inf"):
        LogisticRegression().fit(X, y).inference()
    with pytest.raises(tenfold.BadInput, match="class_weight"):
        LogisticRegression(C=np.inf, class_weight="balanced").fit(X, y).inference()
    with pytest.warns(tenfold.Degenerate):
        model = LogisticRegression(C=np.inf).fit(X, X[:, 0] > 0)
    with pytest.raises(tenfold.BadInput, match="infinity"):
        model.inference()
    tenfold.save(model, tmp_path / "m.tenfold")
    with pytest.raises(tenfold.BadInput, match="infinity"):
        tenfold.load(tmp_path / "m.tenfold").inference()


def test_a_saved_model_knows_its_uncertainty(tmp_path: Path) -> None:
    X, y = made(200, 3, 3)
    model = LogisticRegression(C=np.inf).fit(X, y)
    tenfold.save(model, tmp_path / "m.tenfold")
    assert tenfold.load(tmp_path / "m.tenfold").summary() == model.summary()


@pytest.mark.parametrize(
    ("setting", "p", "k", "method"),
    [
        ({}, 3, 2, "newton"),
        ({}, 3, 3, "newton"),
        ({}, 40, 2, "lbfgs in the metric of the curvature of each class"),
        ({}, 40, 3, "lbfgs in the metric of the curvature"),
        ({}, 1200, 2, "lbfgs in the metric of the diagonal of the curvature"),
        ({"l1_ratio": 1.0}, 3, 2, "newton on the columns that matter"),
    ],
)
def test_the_method_is_recorded(setting: dict[str, Any], p: int, k: int, method: str) -> None:
    X, y = made(60, p, k)
    assert LogisticRegression(**setting).fit(X, y).solver_ == method


def test_a_class_that_is_separated_from_the_others_is_named() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    with pytest.warns(tenfold.Degenerate, match=r"class 'setosa' is separated from all others perfectly.*lower C"):
        LogisticRegression(C=np.inf).fit(X, names)
    with pytest.warns(tenfold.Degenerate, match=r"separated perfectly.*lower C"):
        LogisticRegression(C=np.inf).fit(X, names == "setosa")


def test_a_rare_class_is_not_taken_for_separated() -> None:
    X, y = made(4000, 2, 2)
    y[:] = 0
    y[np.argsort(X[:, 0])[1990:1994]] = 1  # four rows in the middle of all others
    twice = np.column_stack([X, X[:, 0]])
    with pytest.warns(tenfold.Degenerate, match=r"rank 2 only.*drop columns"):
        LogisticRegression(C=np.inf).fit(twice, y)
    LogisticRegression(C=np.inf).fit(X, y)  # a warning would be an error


def test_the_column_that_separates_in_part_is_named() -> None:
    import polars

    X, y = made(300, 2, 2)
    only = ((y == 1) & (X[:, 0] > 0)).astype(float)  # where it is 1, there is one class only
    frame = polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "flag": only})
    with pytest.warns(tenfold.Degenerate, match=r"in part, chiefly by column 'flag'.*lower C"):
        LogisticRegression(C=np.inf).fit(frame, y)


def test_sparse_coefficients_predict_the_same_and_are_saved(tmp_path: Path) -> None:
    X, y = made(200, 20, 3)
    model = LogisticRegression(C=0.05, l1_ratio=1.0, warm_start=True).fit(X, y)
    expected, coef = model.decision_function(X), model.coef_
    assert sp.issparse(model.sparsify().coef_) and model.coef_.nnz < coef.size / 2
    np.testing.assert_array_equal(model.decision_function(X), expected)
    np.testing.assert_allclose(model.decision_function(sp.csr_array(X)), expected, atol=1e-12)
    tenfold.save(model, tmp_path / "m.tenfold")
    np.testing.assert_array_equal(tenfold.load(tmp_path / "m.tenfold").coef_, coef)
    np.testing.assert_array_equal(model.densify().coef_, coef)
    np.testing.assert_allclose(model.sparsify().fit(X, y).coef_, coef, atol=1e-6)
    with pytest.raises(tenfold.NotFitted):
        LogisticRegression().sparsify()
