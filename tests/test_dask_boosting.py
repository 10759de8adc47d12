"""Boosting on two worker processes: the model of this process to the bit, from histograms that travel while rows stay."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster

import tenfold
from tenfold.sources import resident
from tenfold.tree import spread

# Of distributed itself: sockets of workers that die because we kill them.
pytestmark = [pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")]
N, P = 2000, 6
NUMBERS = "baseline_ train_score_ validation_score_ oob_scores_ n_iter_ n_estimators_ feature_importances_"
NODES = "first children_left feature threshold missing_go_to_left subset bits value gain n_node_samples weighted_n_node_samples"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    settings = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs="CRITICAL")
    with LocalCluster(**settings) as cluster, Client(cluster, timeout="20s") as client:
        client.wait_for_workers(2, timeout=30)
        yield client


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N, P)).round(2)
    X[:, 5] = rng.integers(0, 6, N)
    X[rng.random((N, P)) < 0.05] = np.nan
    signal = np.nansum(X[:, :3], axis=1) + (X[:, 5] % 2 == 1)
    X[:40], signal[:40] = X[40:80], signal[40:80]  # copies
    y = signal + rng.standard_normal(N).round(2)
    y[:40] = y[40:80]
    return {
        "X": X,
        "real": y,
        "count": np.round(np.exp(y / 4)),
        "two": (y > 0).astype(np.int64),
        "three": np.digitize(y, [-1, 1]),
        "w": rng.random(N) + 0.1,
    }


def fitted(model: Any, table: dict[str, Any], target: str, weighted: bool, lazy: bool) -> Any:
    given = [table["X"], table[target], *([table["w"]] if weighted else [])]
    if lazy:
        given = [da.from_array(one, chunks=(450, P)[: one.ndim]) for one in given]
    return model.fit(*given)


def assert_same(there: Any, here: Any) -> None:
    for name in NUMBERS.split():
        assert name in vars(here) or not hasattr(there, name) or name == "feature_importances_"
        if hasattr(here, name):
            np.testing.assert_array_equal(getattr(there, name), getattr(here, name), err_msg=name)
    for name in NODES.split():
        np.testing.assert_array_equal(getattr(there._trees, name), getattr(here._trees, name), err_msg=name)


Hist, HistC = tenfold.HistGradientBoostingRegressor, tenfold.HistGradientBoostingClassifier
Depth, DepthC = tenfold.GradientBoostingRegressor, tenfold.GradientBoostingClassifier
FEW = dict(max_iter=2, max_leaf_nodes=6)
EARLY = dict(early_stopping=True, n_iter_no_change=1, tol=0.02, max_iter=3, max_leaf_nodes=6, random_state=0)
CASES: dict[str, tuple[Any, str, bool]] = {
    "squared": (Hist(max_iter=2), "real", False),
    "logistic, weights": (HistC(**FEW), "two", True),
    "softmax, class weights, held out": (HistC(**EARLY, class_weight="balanced"), "three", True),
    "poisson": (Hist(**FEW, loss="poisson"), "count", True),
    "gamma, rows drawn": (Hist(**FEW, loss="gamma", subsample=0.5, random_state=0), "w", False),
    "leaves with a price, weights": (DepthC(n_estimators=2, max_depth=4, ccp_alpha=0.02), "three", True),
    "exponential": (DepthC(n_estimators=2, max_depth=2, loss="exponential"), "two", False),
    "categories, monotone, penalties": (
        Hist(**FEW, categorical_features=[5], monotonic_cst=[1, -1, 0, 0, 0, 0], l1_regularization=3.0),
        "real",
        False,
    ),
    "interactions, columns drawn": (
        Hist(**FEW, interaction_cst=[[0, 1], [2, 3, 4]], max_features=0.4, random_state=1),
        "real",
        True,
    ),
    "squared, held out": (Hist(**EARLY), "real", True),
    "whole trees of rows drawn": (
        Depth(n_estimators=2, subsample=0.6, max_features=0.5, max_depth=5, random_state=0, n_iter_no_change=2),
        "real",
        True,
    ),
    # rows are gathered
    "medians": (Hist(**FEW, loss="absolute_error"), "real", True),
    "accuracy of those held out": (HistC(**EARLY, scoring=None), "two", False),
}


@pytest.mark.parametrize("name", CASES)
def test_two_workers_give_the_bits_of_this_process(name: str, client: Client, table: dict[str, Any]) -> None:
    model, target, weighted = CASES[name]
    there = pickle.loads(pickle.dumps(fitted(model, table, target, weighted, lazy=True)))
    assert_same(there, fitted(model, table, target, weighted, lazy=False))


def test_rounds_are_added_to_a_fit(client: Client, table: dict[str, Any]) -> None:
    models = []
    for lazy in (True, False):
        model = HistC(max_iter=1, max_leaf_nodes=4, warm_start=True, subsample=0.7, random_state=0)
        fitted(model, table, "three", True, lazy)
        models.append(fitted(model.set_params(max_iter=2), table, "three", True, lazy))
    assert_same(*models)


def test_a_table_that_is_sent_there(client: Client, table: dict[str, Any]) -> None:
    frame = pd.DataFrame(table["X"][:500]).astype({5: "category"})
    with tenfold.engine(tenfold.Dask(client)):
        there = Hist(**FEW).fit(frame, table["real"][:500])
        behind = tenfold.make_pipeline(tenfold.SimpleImputer(), Hist(**FEW)).fit(table["X"], table["real"])
    assert_same(there, Hist(**FEW).fit(frame, table["real"][:500]))
    assert_same(behind[-1], Hist(**FEW).fit(tenfold.SimpleImputer().fit_transform(table["X"]), table["real"]))


def test_rows_stay_on_the_workers(client: Client, table: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes here in a fit does not grow with the rows, and a tree takes about as many turns as it is deep."""
    sizes: list[dict[str, int]] = []
    received = resident.received

    def noted(answer: Any) -> Any:
        sizes[-1][type(answer).__name__] = sizes[-1].get(type(answer).__name__, 0) + len(pickle.dumps(answer))
        sizes[-1]["asked"] = sizes[-1].get("asked", 0) + 1
        return received(answer)

    monkeypatch.setattr(resident, "received", noted)
    for rows in (1000, 2000):
        sizes.append({})
        some = {name: values[:rows] for name, values in table.items()}
        fitted(Hist(max_iter=2, max_leaf_nodes=8, max_bins=16), some, "real", True, lazy=True)
    histogram = P * 17 * 16
    assert sizes[1]["Whole"] < 2 * (2 * 8 * histogram + 4 * 67 * 8) + 10_000
    assert abs(sum(sizes[1].values()) - sum(sizes[0].values())) < 8 * histogram
    assert sizes[1]["asked"] < 2 * 9 + 6


# --- a worker dies (last: it takes the cluster a while to recover) ------------------------------------------


class Fatal:
    """The first worker process that gets to this question in the second round kills itself."""

    def __init__(self, mark: str) -> None:
        self.mark = mark

    def __call__(self, part: Any, sprouts: Any, wanted: Any, n_bins: Any) -> Any:
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return TURNED(part, sprouts, wanted, n_bins)
        os._exit(1)


TURNED = spread.turned


def test_a_worker_that_dies_does_not_change_a_bit(
    client: Client, table: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = HistC(max_iter=3, subsample=0.8, random_state=0, max_leaf_nodes=8)
    here = pickle.loads(pickle.dumps(fitted(model, table, "two", True, lazy=False)))
    grow, rounds = spread.SpreadRounds._grow_round, []

    def noted(self: Any, number: int) -> None:
        rounds.append(number)
        monkeypatch.setattr(spread, "turned", Fatal(str(tmp_path / "dead")) if len(rounds) == 2 else TURNED)
        grow(self, number)

    monkeypatch.setattr(spread.SpreadRounds, "_grow_round", noted)
    before = set(client.run(os.getpid).values())
    there = fitted(model, table, "two", True, lazy=True)
    assert (tmp_path / "dead").exists()
    client.wait_for_workers(2, timeout=30)
    assert set(client.run(os.getpid).values()) != before
    assert_same(there, here)
