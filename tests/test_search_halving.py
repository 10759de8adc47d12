"""Successive halving: how many settings and rows each step has, and who goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.model_selection as theirs
from scipy.stats import loguniform
from sklearn.experimental import enable_halving_search_cv  # noqa: F401

import tenfold

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 4))
Y = 2 * X[:, 0] + X[:, 1] + RNG.normal(size=240)
LABEL = np.where(Y > 0, "yes", "no")
STEPS = (
    "n_resources_", "n_candidates_", "n_remaining_candidates_", "n_iterations_", "n_possible_iterations_",
    "n_required_iterations_", "min_resources_", "max_resources_",
)  # fmt: skip
ALPHAS = {"alpha": [0.1, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5]}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"factor": 2},
        {"min_resources": "smallest"},
        {"min_resources": 20, "factor": 4},
        {"max_resources": 100},
        {"min_resources": 100, "aggressive_elimination": True},
    ],
    ids=str,
)
def test_steps_are_those_of_scikit_learn(more: dict[str, Any]) -> None:
    ours = tenfold.HalvingGridSearchCV(tenfold.Ridge(), ALPHAS, random_state=0, **more).fit(X, Y)
    peer = theirs.HalvingGridSearchCV(tenfold.Ridge(), ALPHAS, random_state=0, **more).fit(X, Y)
    assert {name: getattr(ours, name) for name in STEPS} == {name: getattr(peer, name) for name in STEPS}
    assert list(ours.cv_results_) == list(peer.cv_results_)
    for column in ("iter", "n_resources"):
        np.testing.assert_array_equal(ours.cv_results_[column], peer.cv_results_[column])


@pytest.mark.parametrize("more", [{}, {"n_candidates": 9}, {"n_candidates": 9, "min_resources": "exhaust"}], ids=str)
def test_draws_and_steps_are_those_of_scikit_learn(more: dict[str, Any]) -> None:
    given = {"C": loguniform(0.01, 100)}
    model = tenfold.LogisticRegression()
    ours = tenfold.HalvingRandomSearchCV(model, given, random_state=3, **more).fit(X, LABEL)
    peer = theirs.HalvingRandomSearchCV(model, given, random_state=3, **more).fit(X, LABEL)
    assert {name: getattr(ours, name) for name in STEPS} == {name: getattr(peer, name) for name in STEPS}
    n = ours.n_candidates_[0]
    assert ours.cv_results_["params"][:n] == peer.cv_results_["params"][:n]


def test_a_parameter_as_the_resource() -> None:
    grid = {"max_leaf_nodes": [2, 3, 5, 8]}
    more: dict[str, Any] = dict(resource="max_iter", max_resources=9, cv=theirs.KFold(3))
    ours = tenfold.HalvingGridSearchCV(tenfold.HistGradientBoostingRegressor(), grid, **more).fit(X, Y)
    peer = theirs.HalvingGridSearchCV(tenfold.HistGradientBoostingRegressor(), grid, **more).fit(X, Y)
    assert ours.cv_results_["params"][:4] == peer.cv_results_["params"][:4]
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], peer.cv_results_["mean_test_score"], rtol=1e-9)
    assert ours.best_params_ == peer.best_params_ and ours.best_estimator_.max_iter == 9


def test_the_best_of_a_step_go_on_and_the_best_of_the_last_step_is_taken() -> None:
    search = tenfold.HalvingGridSearchCV(tenfold.Ridge(), ALPHAS, random_state=0, factor=2).fit(X, Y)
    table = search.cv_results_
    for step in range(search.n_iterations_ - 1):
        here, after = (np.flatnonzero(table["iter"] == at) for at in (step, step + 1))
        best = here[np.argsort(-table["mean_test_score"][here], kind="stable")[: len(after)]]
        assert {table["params"][i]["alpha"] for i in best} == {table["params"][i]["alpha"] for i in after}
    last = np.flatnonzero(table["iter"] == search.n_iterations_ - 1)
    assert search.best_index_ == last[table["mean_test_score"][last].argmax()]
    assert search.best_score_ == table["mean_test_score"][search.best_index_]


def test_rows_of_a_step_are_among_those_of_the_next_and_keep_the_shares_of_classes() -> None:
    from tenfold.base import check
    from tenfold.compose.search.halving import _fewer, _random_places
    from tenfold.evaluate.split.plan import folds_plan

    source = check.check_fit(tenfold.GaussianNB(), X, LABEL)
    whole = [folds_plan(np.arange(240) % 4)]
    place = _random_places(source, 1)
    small, large = (_fewer(whole, share, place, source)[0] for share in (0.2, 0.6))
    for k in range(4):
        assert set(small.train_rows(k)) < set(large.train_rows(k)) < set(whole[0].train_rows(k))
        share = np.mean(LABEL[whole[0].train_rows(k)] == "yes")
        assert np.mean(LABEL[small.train_rows(k)] == "yes") == pytest.approx(share, abs=0.03)
        assert len(small.test_rows(k)) == pytest.approx(0.2 * 60, abs=1)


def test_bad_settings_are_refused_in_a_sentence() -> None:
    for more, match in (
        (dict(resource="max_iter"), "say how many max_iter"),
        (dict(resource="rounds", max_resources=9), "not supported by estimator Ridge"),
        (dict(resource="alpha", max_resources=9), "part of the searched parameters"),
        (dict(min_resources=500), "give more rows"),
        (dict(scoring=["r2"], refit="r2"), "give one"),
    ):
        with pytest.raises(tenfold.TenfoldError, match=match):
            tenfold.HalvingGridSearchCV(tenfold.Ridge(), ALPHAS, **more).fit(X, Y)
    with pytest.raises(tenfold.BadParameter, match="one follows from the other"):
        tenfold.HalvingRandomSearchCV(tenfold.Ridge(), ALPHAS, min_resources="exhaust").fit(X, Y)


def test_ctrl_c_keeps_the_steps_that_are_complete(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = tenfold.GradientBoostingRegressor._fit
    count = [0]

    def stopping(self: Any, *given: Any, **more: Any) -> Any:
        count[0] += 1
        if count[0] == 4 * 3 + 2:  # in the second step
            raise KeyboardInterrupt
        return fit(self, *given, **more)

    monkeypatch.setattr(tenfold.GradientBoostingRegressor, "_fit", stopping)
    model = tenfold.GradientBoostingRegressor(n_estimators=3)
    search = tenfold.HalvingGridSearchCV(model, {"max_depth": [1, 2, 3, 4]}, cv=3, factor=2, random_state=0)
    with tenfold.engine(tenfold.Local()), tenfold.threads(1), pytest.raises(KeyboardInterrupt, match="4 of"):
        search.fit(X, Y)
    assert search.cv_results_["iter"].tolist() == [0] * 4 and search.predict(X).shape == Y.shape
