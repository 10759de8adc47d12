"""Support vector machines with kernels: scikit-learn's LIBSVM at tight tolerance, the conditions of a minimum, paths and bad input."""

from __future__ import annotations

import runpy
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn import svm

import tenfold
from tenfold.core.errors import Degenerate, NotConverged, TenfoldError
from tenfold.draw import draw_margins
from tenfold.kernel_machines import smo
from tenfold.kernel_machines.class_pairs import balanced, coupled_probabilities, folds_by_content, sigmoid_of
from tenfold.kernel_machines.pair_machine import _hashed
from tenfold.kernels import RBF, pairwise_kernels

TIGHT = 1e-9
SETTINGS: list[dict[str, Any]] = [
    {}, {"kernel": "linear"}, {"kernel": "poly", "coef0": 1.0, "degree": 2}, {"gamma": 2.0, "C": 10.0}, {"gamma": "auto"},
    {"kernel": "sigmoid", "gamma": 0.02},
]  # fmt: skip


def classes(n: int = 90, K: int = 3, p: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.arange(n) % K
    return rng.normal(size=(n, p)) + 1.2 * rng.normal(size=(K, p))[y], y


def numbers(n: int = 80, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)


def kkt_gap(model: Any, X: Any, y: Any, C: Any) -> float:
    """m − M of two classes from the fitted attributes alone."""
    s = np.where(y == model.classes_[1], 1.0, -1.0)
    b = np.zeros(len(X))
    b[model.support_] = model.dual_coef_[0]
    slope = model.decision_function(X) - model.intercept_[0] - s
    low, high = np.where(s > 0, 0.0, -C), np.where(s > 0, C, 0.0)
    assert (b >= low - 1e-12).all() and (b <= high + 1e-12).all() and abs(b.sum()) < 1e-8
    return float((-slope[b < high]).max() - (-slope[b > low]).min())


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("K", [2, 4])
def test_classes_have_the_support_vectors_of_libsvm(setting: dict[str, Any], K: int) -> None:
    X, y = classes(K=K)
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))
    for weights in (None, w) if not isinstance(setting.get("gamma", "scale"), str) else (None,):
        ours = tenfold.SVC(tol=TIGHT, **setting).fit(X, y, weights)
        theirs = svm.SVC(tol=TIGHT, **setting).fit(X, y, weights)
        assert_array_equal(ours.support_, theirs.support_)
        assert_array_equal(ours.n_support_, theirs.n_support_)
        assert_allclose(ours.support_vectors_, theirs.support_vectors_, rtol=1e-7)
        assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)  # theirs keeps kernels in single precision
        assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5)
        assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
        assert_array_equal(ours.predict(X), theirs.predict(X))
        if setting.get("kernel") == "linear":
            assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        assert (ours.kkt_gap_ <= TIGHT).all() and ours.fit_status_ == 0 and ours.shape_fit_ == theirs.shape_fit_


@pytest.mark.parametrize("setting", SETTINGS[:4], ids=str)
def test_numbers_have_the_support_vectors_of_libsvm(setting: dict[str, Any]) -> None:
    X, y = numbers()
    w = np.random.default_rng(1).uniform(0.5, 2, len(y)) if isinstance(setting.get("gamma"), float) else None
    ours, theirs = (kind(tol=TIGHT, epsilon=0.2, **setting).fit(X, y, w) for kind in (tenfold.SVR, svm.SVR))
    assert_array_equal(ours.support_, theirs.support_)
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)  # theirs keeps kernels in single precision
    assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-5)
    assert ours.kkt_gap_ <= TIGHT and ours.n_support_ == [len(ours.support_)]


def test_a_widest_margin_by_hand() -> None:
    """Two rows at distance 2: w = 1 / half of it, and both carry ½ w."""
    model = tenfold.SVC(kernel="linear", C=10.0, tol=1e-12).fit([[0.0], [2.0]], ["a", "b"])
    assert_allclose(model.coef_, [[1.0]], rtol=1e-7)
    assert_allclose(model.intercept_, [-1.0], rtol=1e-7)
    assert_allclose(model.dual_coef_, [[-0.5, 0.5]], rtol=1e-7)
    flat = tenfold.SVR(epsilon=5.0).fit([[0.0], [1.0]], [1.0, 3.0])  # all within the tube
    assert flat.support_vectors_.shape == (0, 1)
    assert_allclose(flat.predict([[0.3], [50.0]]), 2.0, rtol=1e-7)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_working_sets_close_the_gap(tol: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many small working sets, in single precision and then in double, end where one set of all variables does."""
    X, y = classes(400, 2, 4)
    whole = tenfold.SVC(tol=tol, C=3.0).fit(X, y)
    target = numbers(300)
    tube = tenfold.SVR(tol=tol).fit(*target)
    monkeypatch.setattr(smo, "AT_ONCE", 0)
    monkeypatch.setattr(smo, "WORKING_SET", 64)
    for kernel in ("rbf", "linear", "poly"):
        model = tenfold.SVC(tol=tol, C=3.0, kernel=kernel).fit(X, y)
        assert model.kkt_gap_[0] <= tol and kkt_gap(model, X, y, 3.0) <= tol + 1e-9
    model = tenfold.SVC(tol=tol, C=3.0).fit(X, y)
    assert_allclose(model.decision_function(X), whole.decision_function(X), atol=20 * tol)
    assert_allclose(tenfold.SVR(tol=tol).fit(*target).predict(target[0]), tube.predict(target[0]), atol=20 * tol)
    with tenfold.threads(1):
        alone = tenfold.SVC(tol=tol, C=3.0).fit(X, y)
    assert_array_equal(alone.dual_coef_, model.dual_coef_)  # the same bits on any number of threads


def test_kernels_come_in_many_ways() -> None:
    """By name, as a value, as a function, as a table, of dense rows and of sparse ones."""
    X, y = classes(K=3)
    new = X[:20] + 0.1
    named = tenfold.SVC(gamma=0.5, tol=TIGHT).fit(X, y)
    table = tenfold.SVC(kernel="precomputed", tol=TIGHT).fit(pairwise_kernels(X, metric="rbf", gamma=0.5), y)
    others = [
        (table, pairwise_kernels(new, X, metric="rbf", gamma=0.5)),
        (tenfold.SVC(kernel=RBF(1.0), tol=TIGHT).fit(X, y), new),
        (tenfold.SVC(kernel=lambda A, B: pairwise_kernels(A, B, metric="rbf", gamma=0.5), tol=TIGHT).fit(X, y), new),
        (tenfold.SVC(gamma=0.5, tol=TIGHT).fit(csr_matrix(X), y), csr_matrix(new)),
    ]
    for model, rows in others:
        assert_array_equal(model.support_, named.support_)
        assert_allclose(model.decision_function(rows), named.decision_function(new), atol=1e-6)
    assert table.support_vectors_.shape == (0, 0)
    wide = csr_matrix(_spread(X))
    for kernel in ("rbf", "linear", "poly"):
        sparse = tenfold.SVC(kernel=kernel, gamma=0.5, tol=TIGHT).fit(wide, y)
        dense = tenfold.SVC(kernel=kernel, gamma=0.5, tol=TIGHT).fit(X, y)
        assert_allclose(sparse.decision_function(wide[:9]), dense.decision_function(X[:9]), atol=1e-6)
        assert sparse.support_vectors_.shape[1] == 3000


def _spread(X: Any) -> Any:
    wide = np.zeros((len(X), 3000))
    wide[:, [5, 900, 2900]] = X
    return wide


def test_a_path_of_costs_is_the_fits_one_by_one() -> None:
    X, y = classes(K=3)
    costs = [10.0, 0.1, 1.0]
    found = tenfold.cross_validate(tenfold.SVC(gamma=0.3, tol=TIGHT), X, y, folds=3)
    assert 0.4 < found.mean <= 1.0
    search = tenfold.GridSearchCV(tenfold.SVC(gamma=0.3, tol=TIGHT), {"C": costs}, cv=3).fit(X, y)
    alone = [tenfold.GridSearchCV(tenfold.SVC(gamma=0.3, tol=TIGHT), {"C": [C]}, cv=3).fit(X, y).best_score_ for C in costs]
    assert_allclose(search.cv_results_["mean_test_score"], alone, rtol=1e-7)


def test_shapes_of_decisions_and_ties() -> None:
    X, y = classes(K=4)
    pairs = tenfold.SVC(decision_function_shape="ovo").fit(X, y)
    assert pairs.decision_function(X).shape == (90, 6)
    assert tenfold.SVC().fit(X, y).decision_function(X).shape == (90, 4)
    with pytest.raises(TenfoldError, match="break_ties must be False"):
        tenfold.SVC(decision_function_shape="ovo", break_ties=True).fit(X, y).predict(X)
    tied = tenfold.SVC(break_ties=True).fit(X, y)
    assert_array_equal(tied.predict(X), tied.decision_function(X).argmax(axis=1))


def test_probabilities_are_calibrated() -> None:
    """Of rows that were not learned from, about as many are of a class as is said; the sigmoid is the most probable one."""
    X, y = classes(600, 2, 2, seed=3)
    model = tenfold.SVC(probability=True).fit(X[:300], y[:300])
    said = model.predict_proba(X[300:])
    assert_allclose(said.sum(axis=1), 1, rtol=1e-7)
    assert_allclose(np.exp(model.predict_log_proba(X[300:])), said, rtol=1e-7)
    assert abs(said[:, 1].mean() - y[300:].mean()) < 0.06
    assert tenfold.evaluate.log_loss(y[300:], said) < 0.65
    order = np.random.default_rng(0).permutation(300)
    again = tenfold.SVC(probability=True, tol=1e-10).fit(X[order], y[order])
    once = tenfold.SVC(probability=True, tol=1e-10).fit(X[:300], y[:300])
    assert_allclose(again.predict_proba(X), once.predict_proba(X), atol=1e-7)  # folds follow from the rows, not from their order
    assert not hasattr(tenfold.SVC(), "predict_proba")
    with pytest.raises(TenfoldError, match="probability=False"):
        tenfold.SVC().fit(X, y).set_params(probability=True).predict_proba(X)


@pytest.mark.parametrize("at_once", [0, 4000], ids=["parts", "one table"])
@pytest.mark.parametrize("make", [lambda: tenfold.SVC(C=5.0, tol=TIGHT), lambda: tenfold.NuSVC(nu=0.3, tol=TIGHT)], ids=["SVC", "NuSVC"])
def test_sigmoids_are_those_of_machines_that_have_not_seen_the_rows(make: Any, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However the machines of the folds begin: each fitted alone, from the start, says the same of the rows that it has not seen."""
    X, y = classes(n=120, K=2)
    monkeypatch.setattr(smo, "AT_ONCE", at_once)
    model = make().set_params(probability=True).fit(X, y)
    fold = folds_by_content(_hashed(X), np.where(y == 0, 1.0, -1.0), 5)
    decisions = np.zeros(len(y))
    for k in range(5):
        decisions[fold == k] = -make().set_params(gamma=model._gamma).fit(X[fold != k], y[fold != k]).decision_function(X[fold == k])
    assert_allclose((model.probA_[0], model.probB_[0]), sigmoid_of(decisions, y == 0, np.ones(len(y))), rtol=1e-6)


@pytest.mark.parametrize("b", [[3.0, -1.0, -1.0, 0.0], [1.0, 1.0, -4.0], [2.0, 0.0], [0.0, 0.0], [1.0, -1.0]])
def test_variables_sum_to_zero_again_without_growing(b: list[float]) -> None:
    found = balanced(np.array(b))
    assert abs(found.sum()) < 1e-15 and (np.abs(found) <= np.abs(b)).all() and (np.sign(found) * np.sign(b) >= 0).all()


def test_sigmoids_and_coupling() -> None:
    rng = np.random.default_rng(0)
    d = rng.normal(size=4000) * 2
    first = rng.random(4000) < 1 / (1 + np.exp(-1.5 * d + 0.3))
    A, B = sigmoid_of(d, first, np.ones(4000))
    assert abs(A + 1.5) < 0.15 and abs(B - 0.3) < 0.15
    p = np.array([0.5, 0.3, 0.2])  # pairs that agree are taken at their word
    pairs = np.array([[np.log(p[i] / p[j]) for i, j in ((0, 1), (0, 2), (1, 2))]])
    assert_allclose(coupled_probabilities(pairs, -np.ones(3), np.zeros(3), 3), p[None], atol=1e-12)


def test_bad_input_is_told_in_words() -> None:
    X, y = classes(40, 2)
    K = X @ X.T
    for model, given, words in (
        (tenfold.SVC(gamma=0.0), X, "gamma.*> 0"), (tenfold.SVC(gamma=float("inf")), X, "gamma.*finite"),
        (tenfold.SVC(kernel="square"), X, "kernel"), (tenfold.SVC(kernel=3), X, "a name, a kernel"),
        (tenfold.SVC(kernel=lambda A, B: A), X, "shape"), (tenfold.SVC(kernel="poly", degree=9, gamma=1.0), 1e40 * X, "scale the columns"),
        (tenfold.SVC(kernel="precomputed"), K + np.triu(K), "not symmetric"), (tenfold.SVC(kernel="precomputed"), X, "square"),
        (tenfold.SVC(C=0.0), X, "C.*> 0"), (tenfold.SVC(), 1e-200 * X, "near to one another"),
    ):  # fmt: skip
        with pytest.raises(TenfoldError, match=words):
            model.fit(given, y)
    with pytest.raises(TenfoldError, match=r"class"):
        tenfold.SVC().fit(X, np.zeros(40))
    with pytest.raises(TenfoldError, match=r"only one class|same class"):
        tenfold.SVC().fit(X, y, (y == 1).astype(float))
    with pytest.warns(Degenerate, match="not positive semidefinite"):
        tenfold.SVC(kernel="precomputed").fit(np.abs(X[:, :1] - X[:, 0]), y)
    with pytest.warns(NotConverged, match="lower C, raise max_iter"):
        model = tenfold.SVC(max_iter=2).fit(X, y)
    assert model.fit_status_ == 1 and model.n_iter_ == [2]


def test_odd_tables() -> None:
    """Duplicates in both classes, constant columns, more columns than rows, tiny and huge values."""
    X, y = classes(40, 2)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tenfold.core.errors.TenfoldWarning)
        for table in (np.ones((40, 2)), np.repeat(X[:20], 2, axis=0), rng.normal(size=(40, 500)), 1e90 * X, 1e-90 * X):
            hard = tenfold.SVC(C=float("inf"), max_iter=999)
            for model in (tenfold.SVC(), tenfold.SVR(), tenfold.SVC(kernel="linear", max_iter=10_000), hard):
                assert np.isfinite(model.fit(table, y).predict(table)).all()
    small, large = (tenfold.SVC(tol=1e-8).fit(scale * X, y).decision_function(scale * X) for scale in (1e-90, 1e90))
    assert_allclose(small, large, rtol=1e-6)  # 'scale' is the same in any unit


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("setting", [{"gamma": 0.5}, {"gamma": 2.0, "nu": 0.7}, {"gamma": "auto", "nu": 0.6}], ids=str)
def test_shares_have_the_support_vectors_of_libsvm(setting: dict[str, Any], weighted: bool) -> None:
    """Classes, numbers and one class by the share of support vectors."""
    (X, y), (A, b) = classes(K=3), numbers()
    for name, table, target in (("NuSVC", X, y), ("NuSVR", A, b), ("OneClassSVM", X, None)):
        w = np.random.default_rng(1).uniform(0.5, 2, len(table)) if weighted else None
        ours, theirs = (getattr(of, name)(tol=TIGHT, **setting).fit(table, target, w) for of in (tenfold, svm))
        assert_array_equal(ours.support_, theirs.support_)
        said = "predict" if name == "NuSVR" else "decision_function"
        size = np.abs(getattr(theirs, said)(table)).max()
        assert_allclose(getattr(ours, said)(table), getattr(theirs, said)(table), atol=1e-4 * max(size, 1.0))
        assert np.max(ours.kkt_gap_) <= TIGHT


def test_shares_are_bounds() -> None:
    """nu is at least the share of rows within the margin, outside the tube or the region, and at most that of support vectors."""
    X, y = classes(300, 2)
    A, b = numbers(300)
    for nu in (0.2, 0.5):
        model = tenfold.NuSVC(nu=nu, tol=1e-6).fit(X, y)
        inside = (np.where(y == 1, 1, -1) * model.decision_function(X) < 1 - 1e-4).mean()
        assert inside <= nu + 0.01 <= model.n_support_.sum() / 300 + 0.02
        region = tenfold.OneClassSVM(nu=nu, tol=1e-6).fit(X)
        assert (region.decision_function(X) < -1e-4).mean() <= nu + 0.01 <= region.n_support_[0] / 300 + 0.02
        assert_allclose(region.score_samples(X) - region.offset_, region.decision_function(X), rtol=1e-9)
        wide = tenfold.NuSVR(nu=nu, tol=1e-6).fit(A, b)
        assert nu <= wide.n_support_[0] / 300 + 0.01
    with pytest.raises(TenfoldError, match=r"nu is infeasible.*at most 0.2 goes: lower nu"):
        tenfold.NuSVC(nu=0.5).fit(X[:200], np.arange(200) % 10 == 0)
    with pytest.raises(TenfoldError, match="margin is 0"):
        tenfold.NuSVC().fit(np.ones((20, 2)), np.arange(20) % 2)


def test_shares_in_small_working_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = classes(300, 2)
    A, b = numbers(200)
    made = [(tenfold.NuSVC(tol=1e-5), X, y), (tenfold.OneClassSVM(tol=1e-5), X, None), (tenfold.NuSVR(tol=1e-5), A, b)]
    said = ("decision_function", "score_samples", "predict")
    whole = [getattr(model.fit(*table), verb)(table[0]) for (model, *table), verb in zip(made, said, strict=True)]
    monkeypatch.setattr(smo, "AT_ONCE", 0)
    monkeypatch.setattr(smo, "WORKING_SET", 48)
    for (model, *table), verb, expected in zip(made, said, whole, strict=True):
        assert_allclose(getattr(model.fit(*table), verb)(table[0]), expected, atol=1e-3)
        assert np.max(model.kkt_gap_) <= 1e-5 and model.n_iter_ > 0


def test_the_example_of_noisy_xor() -> None:
    found = runpy.run_path(str(Path(__file__).parent.parent / "examples" / "noisy_xor.py"))["main"]([])
    assert 0.24 < found["best line"] < 0.28 and found["linear"] > 0.24
    assert max(found["quadratic"], found["Gaussian"]) < found["best rule"] + 0.01 < 0.05


def test_margins_are_drawn() -> None:
    X, y = classes(60, 2, 2)
    model = tenfold.SVC().fit(X, y)
    words = [text.get_text() for text in draw_margins(model, X, y).get_legend().get_texts()]
    assert words == ["0", "1", f"{len(model.support_)} support vectors"]
    assert len(draw_margins(tenfold.OneClassSVM(nu=0.2).fit(X), X).get_legend().get_texts()) == 3


def test_steps_in_pieces_are_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is heard between them."""
    X, y = classes(200, 2)
    whole = tenfold.SVC(C=50.0).fit(X, y)
    monkeypatch.setattr(smo, "AT_A_TIME", 7)
    pieces = tenfold.SVC(C=50.0).fit(X, y)
    assert_array_equal(pieces.dual_coef_, whole.dual_coef_)
    assert pieces.n_iter_ == whole.n_iter_ > 20
