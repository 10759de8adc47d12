"""Naive Bayes, discriminant analysis, centroids: against scikit-learn, closed forms, at their edges."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as TheirQDA
from sklearn.naive_bayes import GaussianNB as TheirNB
from sklearn.neighbors import NearestCentroid as TheirCentroid

import tenfold
from tenfold.core.errors import BadInput, BadParameter, CannotForget, DataWarning, Degenerate, NotFitted

TABLES = {
    name: getattr(datasets, f"load_{name}")(return_X_y=True) for name in ("iris", "wine", "breast_cancer", "digits")
}
MODELS = [
    tenfold.GaussianNB(),
    tenfold.LinearDiscriminantAnalysis(),
    tenfold.QuadraticDiscriminantAnalysis(store_covariance=True),
    tenfold.NearestCentroid(shrink_threshold=0.3, priors="empirical"),
    tenfold.NearestCentroid(metric="manhattan"),
]
ANSWERS = (
    "theta_",
    "var_",
    "class_prior_",
    "coef_",
    "intercept_",
    "means_",
    "covariance_",
    "scalings_",
    "centroids_",
    "deviations_",
    "within_class_std_dev_",
)


@pytest.fixture(params=TABLES)
def table(request: Any) -> Any:
    return TABLES[request.param]


def made(model: Any) -> Any:
    return type(model)(**model.get_params())


def assert_close(found: Any, expected: Any, *, rtol: float = 1e-8) -> None:
    """Equal up to `rtol` of the largest number."""
    scale = float(np.abs(np.asarray(expected)).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=rtol * scale + 1e-300)


def assert_same_fit(one: Any, other: Any, *, rtol: float = 1e-8) -> None:
    compared = [name for name in ANSWERS if name in vars(other)]
    assert compared
    for name in compared:
        assert_close(getattr(one, name), getattr(other, name), rtol=rtol)


def quietly(call: Any, *args: Any, **named: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args, **named)


# --- against scikit-learn -------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [{}, {"var_smoothing": 1e-3}])
def test_naive_bayes_is_theirs(table: Any, setting: dict[str, Any]) -> None:
    X, y = table
    ours, theirs = tenfold.GaussianNB(**setting).fit(X, y), TheirNB(**setting).fit(X, y)
    for name in ("theta_", "var_", "class_count_", "class_prior_", "epsilon_"):
        assert_close(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    assert_close(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-11)
    assert_close(ours.predict_proba(X), theirs.predict_proba(X))
    assert (ours.predict(X) == theirs.predict(X)).all()


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize(
    "setting",
    [
        {"store_covariance": True},
        {"solver": "lsqr"},
        {"solver": "lsqr", "shrinkage": 0.3},
        {"solver": "eigen", "shrinkage": 0.0},
        {"solver": "eigen", "shrinkage": 0.3},
    ],
)
def test_linear_discriminant_is_theirs(table: Any, setting: dict[str, Any], given: bool) -> None:
    X, y = table
    if setting.get("solver") == "eigen" and setting["shrinkage"] == 0:
        X = X[:, X.std(axis=0) > 0.5]  # theirs refuses a singular covariance
    K = len(np.unique(y))
    priors = np.arange(1, K + 1) / (K * (K + 1) / 2) if given else None
    ours = tenfold.LinearDiscriminantAnalysis(priors=priors, **setting).fit(X, y)
    theirs = TheirLDA(priors=priors, **setting).fit(X, y)
    for name in (
        "coef_",
        "intercept_",
        "means_",
        "priors_",
        "covariance_",
        "explained_variance_ratio_",
        "xbar_",
    ):
        if hasattr(theirs, name):
            assert_close(getattr(ours, name), getattr(theirs, name))
    assert_close(ours.decision_function(X), theirs.decision_function(X))
    assert_close(ours.predict_proba(X), theirs.predict_proba(X))
    if ours.solver != "lsqr":
        assert_close(np.abs(ours.transform(X)), np.abs(theirs.transform(X)))  # up to sign
        assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())


@pytest.mark.parametrize("setting", [{"reg_param": 0.1}, {"solver": "eigen", "shrinkage": 0.2}])
def test_quadratic_discriminant_is_theirs(table: Any, setting: dict[str, Any]) -> None:
    X, y = table
    ours = tenfold.QuadraticDiscriminantAnalysis(store_covariance=True, **setting).fit(X, y)
    theirs = TheirQDA(store_covariance=True, **setting).fit(X, y)
    for name in ("means_", "priors_", "scalings_", "covariance_"):
        assert_close(getattr(ours, name), getattr(theirs, name))
    for V, values, C in zip(ours.rotations_, ours.scalings_, theirs.covariance_, strict=True):
        assert_close((V * values) @ V.T, C)  # rotations of equal variances are not unique; what they stand for is
    assert_close(ours.decision_function(X), theirs.decision_function(X))
    assert_close(ours.predict_proba(X), theirs.predict_proba(X))


def test_quadratic_discriminant_without_regularisation() -> None:
    for name in ("iris", "wine"):
        X, y = TABLES[name]
        ours, theirs = tenfold.QuadraticDiscriminantAnalysis().fit(X, y), TheirQDA().fit(X, y)
        assert_close(np.abs(ours.rotations_), np.abs(theirs.rotations_))
        assert_close(ours.decision_function(X), theirs.decision_function(X))


@pytest.mark.parametrize("priors", ["uniform", "empirical"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("threshold", [None, 0.5])
def test_centroids_are_theirs(table: Any, metric: str, threshold: float | None, priors: str) -> None:
    X, y = table
    setting = dict(metric=metric, shrink_threshold=threshold, priors=priors)
    ours, theirs = tenfold.NearestCentroid(**setting).fit(X, y), quietly(TheirCentroid(**setting).fit, X, y)
    for name in ("centroids_", "within_class_std_dev_", "class_prior_"):
        assert_close(getattr(ours, name), getattr(theirs, name), rtol=1e-12)
    known = np.isfinite(theirs.deviations_)  # theirs is NaN for columns that never vary
    assert_close(ours.deviations_[known], theirs.deviations_[known], rtol=1e-12)
    assert (ours.predict(X) == theirs.predict(X)).all()
    if metric == "euclidean":
        assert_close(ours.decision_function(X), theirs.decision_function(X), rtol=1e-12)
        assert_close(ours.predict_proba(X), theirs.predict_proba(X))


# --- closed forms ---------------------------------------------------------------------------------


def test_log_densities_are_gaussian() -> None:
    """The joint log density is log prior plus normal log density with the fitted mean and covariance."""
    X, y = TABLES["iris"]
    nb = tenfold.GaussianNB().fit(X, y)
    by_hand = [
        np.log(pi) + scipy_stats.norm.logpdf(X, m, np.sqrt(v)).sum(axis=1)
        for pi, m, v in zip(nb.class_prior_, nb.theta_, nb.var_, strict=True)
    ]
    assert_close(nb.predict_joint_log_proba(X), np.stack(by_hand, axis=1), rtol=1e-12)
    qda = tenfold.QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    by_hand = [
        np.log(pi) + scipy_stats.multivariate_normal(m, C).logpdf(X)
        for pi, m, C in zip(qda.priors_, qda.means_, qda.covariance_, strict=True)
    ]
    log_joint = np.stack(by_hand, axis=1)
    assert_close(
        qda.decision_function(X) - log_joint,
        np.full_like(log_joint, X.shape[1] / 2 * np.log(2 * np.pi)),
        rtol=1e-10,
    )


def test_discriminant_axes_solve_fishers_problem() -> None:
    """B v = λ W v for each column v of scalings_, with vᵀ W v = 1."""
    X, y = TABLES["wine"]
    model = tenfold.LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    V, W = model.scalings_, model.covariance_
    apart = model.means_ - model.xbar_
    B = (apart * model.priors_[:, None]).T @ apart
    assert_close(V.T @ W @ V, np.eye(2), rtol=1e-10)
    gains = np.diag(V.T @ B @ V)
    assert_close(B @ V, W @ V * gains, rtol=1e-8)
    assert_close(gains / gains.sum(), model.explained_variance_ratio_, rtol=1e-10)


def test_linear_discriminant_of_two_classes_is_least_squares() -> None:
    """The coefficients of a regression on the class lie along W⁻¹ (m₁ − m₀); of classes of equal size the two rules are one."""
    X, y = TABLES["breast_cancer"]
    for rows in (slice(None), np.concatenate([np.flatnonzero(y == k)[:200] for k in (0, 1)])):
        line = tenfold.LinearRegression().fit(X[rows], 2.0 * y[rows] - 1)
        model = tenfold.LinearDiscriminantAnalysis(tol=0).fit(X[rows], y[rows])
        direction = model.coef_[0] / np.linalg.norm(model.coef_[0])
        assert_close(line.coef_ / np.linalg.norm(line.coef_), direction, rtol=1e-8)
    np.testing.assert_array_equal(line.predict(X[rows]) > 0, model.predict(X[rows]) == 1)


def test_threshold_of_a_linear_discriminant_by_cross_validation() -> None:
    """Held-out probabilities cost one pass; the threshold of the least held-out error beats ½ where classes spread differently."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.4, (1000, 2)), rng.normal(2, 3, (1000, 2))])
    y = np.arange(2000) // 1000
    held = tenfold.cross_validate(tenfold.LinearDiscriminantAnalysis(), X, y, folds=10, random_state=0)
    assert held.method == "merged statistics" and held.probabilities is not None
    curve = tenfold.evaluate.risk_curve(y, held.probabilities[:, 1], false_positive=1, false_negative=1)
    new, truth = np.concatenate([rng.normal(0, 0.4, (9000, 2)), rng.normal(2, 3, (9000, 2))]), np.arange(18000) // 9000
    p = tenfold.LinearDiscriminantAnalysis().fit(X, y).predict_proba(new)[:, 1]
    errors = {t: float(np.mean((p >= t) != truth)) for t in (curve.best, 0.5)}
    assert errors[curve.best] < errors[0.5] - 0.005
    assert abs(errors[curve.best] - curve.least) < 0.02
    assert abs(errors[curve.best] - min(np.mean((p >= t) != truth) for t in np.linspace(0.2, 0.8, 61))) < 0.005


def test_units_of_the_columns_do_not_matter() -> None:
    """Units 1e12 apart: eigenvalues of the raw covariance would lose every digit of the small ones."""
    X, y = TABLES["iris"]
    units = np.array([1e-6, 1.0, 1e6, 1e3])
    for model in (tenfold.QuadraticDiscriminantAnalysis(), tenfold.LinearDiscriminantAnalysis()):
        plain = made(model).fit(X, y).predict_log_proba(X)
        assert_close(made(model).fit(X * units, y).predict_log_proba(X * units), plain, rtol=1e-10)


def test_large_means_cost_no_digits_of_the_spread() -> None:
    X, y = TABLES["iris"]
    X = np.round(X * 16) / 16  # so that X + 2²⁷ is exact
    far = X + 2.0**27
    nb = tenfold.GaussianNB(var_smoothing=0)
    assert_close(made(nb).fit(far, y).var_, made(nb).fit(X, y).var_, rtol=1e-12)
    qda = tenfold.QuadraticDiscriminantAnalysis(store_covariance=True)
    assert_close(made(qda).fit(far, y).covariance_, made(qda).fit(X, y).covariance_, rtol=1e-12)
    assert_close(qda.fit(far, y).predict_proba(far), made(qda).fit(X, y).predict_proba(X), rtol=1e-6)


# --- more rows, fewer rows, weights ---------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_weights_are_copies(model: Any) -> None:
    X, y = TABLES["wine"]
    w = np.random.default_rng(0).integers(0, 4, len(y))
    assert_same_fit(made(model).fit(X, y, w), made(model).fit(np.repeat(X, w, axis=0), np.repeat(y, w)))


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_in_pieces_merged_and_forgotten(model: Any) -> None:
    X, y = TABLES["wine"]
    order = np.random.default_rng(1).permutation(len(y))
    X, y = X[order], y[order]
    whole = made(model).fit(X, y)
    parts = made(model)
    for start in range(0, len(y), 30):
        quietly(parts.partial_fit, X[start : start + 30], y[start : start + 30], classes=[0, 1, 2])
    assert_same_fit(parts, whole)
    merged = made(model).fit(X[:90], y[:90]).merge(made(model).fit(X[90:], y[90:]))
    assert_same_fit(merged, whole)
    assert_same_fit(merged.forget(X[90:], y[90:]), made(model).fit(X[:90], y[:90]))
    with pytest.raises(CannotForget, match="only rows that were fitted"):
        merged.forget(X + 1.0, y)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_single_precision(model: Any) -> None:
    X, y = TABLES["wine"]
    single = X.astype(np.float32)
    one, two = made(model).fit(single, y), made(model).fit(single.astype(np.float64), y)
    told = hasattr(one, "coef_")  # coefficients are told in the precision of the table
    assert_same_fit(one, two, rtol=1e-7 if told else 1e-10)
    assert not told or one.coef_.dtype == one.intercept_.dtype == np.float32
    assert (one.predict(single) == two.predict(single.astype(np.float64))).all()


def test_a_class_without_rows_is_never_predicted() -> None:
    X, y = TABLES["iris"]
    for model in MODELS:
        fitted = made(model).partial_fit(X[:100], y[:100], classes=[0, 1, 2])
        assert set(fitted.predict(X)) <= {0, 1}
        if model.get_params().get("metric") != "manhattan":
            assert (fitted.predict_proba(X)[:, 2] == 0).all()


# --- edges ----------------------------------------------------------------------------------------


def test_linear_discriminant_tells_of_dependent_columns() -> None:
    X, y = TABLES["iris"]
    with pytest.warns(Degenerate, match="1 direction"):
        double = tenfold.LinearDiscriminantAnalysis().fit(np.hstack([X, X[:, :1]]), y)
    assert_close(double.predict_proba(np.hstack([X, X[:, :1]])), TheirLDA().fit(X, y).predict_proba(X))
    with pytest.warns(Degenerate, match="column 4 of X is constant within each class"):
        tenfold.LinearDiscriminantAnalysis().fit(np.column_stack([X, y]), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a column that never varies does no harm
        flat = tenfold.LinearDiscriminantAnalysis().fit(np.column_stack([X, np.full(len(y), 0.1)]), y)
    assert_close(flat.coef_[:, :4], TheirLDA().fit(X, y).coef_)
    assert (flat.coef_[:, 4] == 0).all()


def test_linear_discriminant_with_more_columns_than_rows() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 80)), np.arange(30) % 3
    with pytest.warns(Degenerate, match="53 direction"):
        ours = tenfold.LinearDiscriminantAnalysis().fit(X, y)
    assert_close(ours.decision_function(X), TheirLDA().fit(X, y).decision_function(X))


def test_one_row_for_each_class_is_not_enough() -> None:
    model = tenfold.LinearDiscriminantAnalysis()
    with pytest.raises(BadInput, match="more than the number of classes"):
        model.fit([[0.0], [1.0]], ["a", "b"])
    model.partial_fit([[0.0], [1.0]], ["a", "b"], classes=["a", "b"])
    with pytest.raises(NotFitted, match="more than the number of classes"):
        model.predict([[0.0]])
    model.partial_fit([[0.5], [2.0]], ["a", "b"])
    assert_close(model.coef_, TheirLDA().fit([[0.0], [1.0], [0.5], [2.0]], [0, 1, 0, 1]).coef_)


@pytest.mark.parametrize("spoil, reason", [
    (lambda X, y: (np.vstack([X, X[:1] + 9]), np.append(y, 3)), "only 1 sample"),
    (lambda X, y: (np.column_stack([X, y == 0]), y), "column 4 of X is constant"),
    (lambda X, y: (np.hstack([X, X[:, :1] + X[:, 1:2]]), y), "linearly dependent"),
])  # fmt: skip
def test_quadratic_discriminant_tells_of_singular_classes(spoil: Any, reason: str) -> None:
    X, y = spoil(*TABLES["iris"])
    with pytest.warns(Degenerate, match=reason):
        model = tenfold.QuadraticDiscriminantAnalysis().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > 0.95


def test_naive_bayes_of_constant_columns() -> None:
    X, y = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.5], [1.0, 2.5]]), [0, 0, 1, 1]
    with pytest.warns(Degenerate, match="column 0 of X is constant in class"):
        model = tenfold.GaussianNB(var_smoothing=0).fit(X, y)
    assert model.predict(X).tolist() == y
    with pytest.warns(Degenerate):
        assert tenfold.GaussianNB().fit([[3.0]], ["only"]).predict([[4.0]]).tolist() == ["only"]


@pytest.mark.parametrize("model", MODELS[:4], ids=repr)
def test_values_that_cannot_be_squared_are_told(model: Any) -> None:
    X, y = TABLES["iris"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made(model).fit(X * np.array([1, 1, 1e-200, 1]), y)
    assert any("column 2 of X are too small to be squared" in str(one.message) for one in caught)
    with pytest.raises(BadInput, match="column 2"):
        made(model).fit(X * np.array([1, 1, 1e200, 1]), y)


@pytest.mark.parametrize("model", MODELS[:4], ids=repr)
@pytest.mark.parametrize(
    "priors, words",
    [
        ([0.5, 0.5], "match number of classes"),
        ([0.5, 0.7, -0.2], "non-negative"),
        ([0.0, 0.0, 0.0], "should be 1"),
        ("abc", "priors="),
    ],
)
def test_priors_that_are_none(model: Any, priors: Any, words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        made(model).set_params(priors=priors).fit(*TABLES["iris"])


def test_priors_are_renormalised_and_told() -> None:
    with pytest.warns(DataWarning, match="divided by 2"):
        model = tenfold.LinearDiscriminantAnalysis(priors=[1.0, 0.5, 0.5]).fit(*TABLES["iris"])
    assert model.priors_.tolist() == [0.5, 0.25, 0.25]


def test_what_is_not_offered_is_refused_in_words() -> None:
    X, y = TABLES["iris"]
    for model in (tenfold.LinearDiscriminantAnalysis, tenfold.QuadraticDiscriminantAnalysis):
        with pytest.raises(BadParameter, match="must be one of None, 'auto'"):
            model(shrinkage="oas").fit(X, y)
        with pytest.raises(BadParameter, match="must have a method"):
            model(covariance_estimator=object()).fit(X, y)
    with pytest.raises(BadParameter, match="n_classes - 1"):
        tenfold.LinearDiscriminantAnalysis(n_components=3).fit(X, y)
    assert tenfold.LinearDiscriminantAnalysis(n_components=1).fit(X, y).transform(X).shape == (150, 1)


def test_centroids_of_columns_without_spread_are_saved(tmp_path: Path) -> None:
    """Those lie infinitely many standard deviations apart."""
    X, y = np.repeat([[0.0, 1.0], [2.0, 5.0]], 4, axis=0), np.repeat(["a", "b"], 4)
    with pytest.warns(Degenerate, match="constant within each class"):
        model = tenfold.NearestCentroid().fit(X, y)
    tenfold.save(model, tmp_path / "m.tenfold")
    again = tenfold.load(tmp_path / "m.tenfold")
    assert np.isinf(again.deviations_).all() and again.predict(X).tolist() == y.tolist()


def test_labels_with_steps_between_them() -> None:
    X, y = TABLES["wine"]
    assert_same_fit(tenfold.GaussianNB().fit(X[::2], y[::2]), tenfold.GaussianNB().fit(X[::2].copy(), y[::2].copy()))


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
@pytest.mark.parametrize("K", [2, 3])
def test_means_far_larger_than_spreads_cost_no_more_digits_than_they_must(K: int, solver: str) -> None:
    """Rows that a float64 holds exactly at both places: what is left are the roundings of x·w, |x| ulps in all."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, 300)
    X = np.round(rng.normal(size=(300, 4)) * 1024) / 1024 + y[:, None] * np.array([1.0, 0.5, 0.0, 0.0])
    model = tenfold.LinearDiscriminantAnalysis(solver=solver, shrinkage=None if solver == "svd" else 0.1)
    expected = model.fit(X, y).predict_proba(X)
    for offset in (2.0**12, 2.0**20, 2.0**27):
        found = model.fit(X + offset, y).predict_proba(X + offset)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 * offset)


def test_naive_bayes_learns_on_with_classes_in_their_place() -> None:
    X, y = TABLES["iris"]
    one = tenfold.GaussianNB().partial_fit(X[::2], y[::2], [0, 1, 2]).partial_fit(X[1::2], y[1::2])
    assert_same_fit(one, tenfold.GaussianNB().fit(X, y))
    with pytest.raises(tenfold.BadInput, match=r"target label\(s\) 2 in y do not exist in the initial classes 0, 1, first in row 100"):
        tenfold.GaussianNB().partial_fit(X, y, [0, 1])
