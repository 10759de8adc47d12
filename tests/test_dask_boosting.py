"""Boosting on two worker processes: the model of this process to the bit, from histograms that travel while rows stay."""

from __future__ import annotations

import gc
import os
import pickle
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import pandas as pd
import pytest
from dask_workers import two_workers
from distributed import Client
from test_boosting_parts import Depth, Hist, HistC, assert_same, given, made, rows_stay

import tenfold
from tenfold.tree.boosting import cluster_rounds as spread

__all__ = ["rows_stay"]  # a fixture that every test takes

# Of distributed itself: sockets of workers that die because we kill them.
pytestmark = [pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with two_workers() as client:
        yield client


def lazily(table: dict[str, Any], target: str, weighted: bool) -> list[Any]:
    return [da.from_array(one, chunks=(450, *one.shape[1:])) for one in given(table, target, weighted)]


EARLY = dict(early_stopping=True, n_iter_no_change=1, max_iter=3, max_leaf_nodes=6, random_state=0)
CASES: dict[str, tuple[Any, str, bool]] = {
    "softmax, class weights, held out": (HistC(**EARLY, tol=0.05, class_weight="balanced"), "three", True),
    "categories, rows and columns drawn": (
        Hist(max_iter=2, categorical_features=[5], max_features=0.5, subsample=0.5, random_state=0),
        "real",
        False,
    ),
    "whole trees": (Depth(n_estimators=2, max_depth=4), "real", True),
    "codes of two bytes": (Hist(max_iter=2, max_leaf_nodes=8, max_bins=1000), "real", True),
}


@pytest.mark.parametrize("name", CASES)
def test_two_workers_give_the_bits_of_this_process(name: str, client: Client) -> None:
    model, *what = CASES[name]
    there = pickle.loads(pickle.dumps(model.fit(*lazily(made(), *what))))
    assert_same(there, model.fit(*given(made(), *what)))


def test_a_table_that_is_sent_there(client: Client) -> None:
    X, y = made()["X"][:500], made()["real"][:500]
    frame, few = pd.DataFrame(X).astype({5: "category"}), dict(max_iter=1, max_leaf_nodes=4)
    with tenfold.engine(tenfold.Dask(client)):
        there = Hist(**few).fit(frame, y)
        behind = tenfold.make_pipeline(tenfold.SimpleImputer(), Hist(**few)).fit(X, y)
    assert_same(there, Hist(**few).fit(frame, y))
    assert_same(behind[-1], Hist(**few).fit(tenfold.SimpleImputer().fit_transform(X), y))


def test_nothing_stays_on_the_cluster(client: Client) -> None:
    with tenfold.engine(tenfold.Dask(client)):
        Hist(max_iter=2, max_leaf_nodes=4).fit(*given(made(), "real", False))
    gc.collect()
    deadline = time.monotonic() + 60
    while (
        left := client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))
    ) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == 0


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
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = HistC(max_iter=2, subsample=0.8, random_state=0, max_leaf_nodes=4)
    here = pickle.loads(pickle.dumps(model.fit(*given(made(), "two", True))))
    grow, rounds = spread.ClusterRounds._grow_round, []

    def noted(self: Any, number: int) -> None:
        rounds.append(number)
        monkeypatch.setattr(spread, "turned", Fatal(str(tmp_path / "dead")) if len(rounds) == 2 else TURNED)
        grow(self, number)

    monkeypatch.setattr(spread.ClusterRounds, "_grow_round", noted)
    before = set(client.run(os.getpid).values())
    there = model.fit(*lazily(made(), "two", True))
    assert (tmp_path / "dead").exists()
    client.wait_for_workers(2, timeout=30)
    assert set(client.run(os.getpid).values()) != before
    assert_same(there, here)
