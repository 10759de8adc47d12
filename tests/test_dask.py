"""Dask: two worker processes give the bits of this process, also when one of them dies."""

from __future__ import annotations

import copy
import gc
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask_workers import two_workers
from distributed import Client

import tenfold
from tenfold.core.data import block_rows
from tenfold.sources.cluster import current_client

# Of distributed itself: sockets of workers that die because we kill them.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]
P = 12
N = 3 * block_rows(P) + 700


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with two_workers() as client:
        yield client


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((N, P))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(P)])
    frame["y"] = X.sum(1) + rng.standard_normal(N)
    frame["w"] = rng.integers(0, 3, N).astype(float)
    frame["word"] = np.array(["no", "so", "yes"])[rng.integers(0, 3, N)]
    return frame


def columns(table: pd.DataFrame) -> np.ndarray:
    return np.ascontiguousarray(table[[f"x{j}" for j in range(P)]].to_numpy())


def same(a: Any, b: Any, names: str) -> bool:
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names.split())


def fits(table: pd.DataFrame) -> list[tuple[Any, tuple[Any, ...], str]]:
    X = columns(table)
    return [
        (tenfold.Ridge(), (X, table["y"].to_numpy(), table["w"].to_numpy()), "coef_ intercept_"),
        (tenfold.GaussianNB(), (X, table["word"].to_numpy()), "theta_ var_ classes_"),
        (tenfold.KMeans(5, n_init=1, max_iter=4, tol=0, random_state=0), (X,), "cluster_centers_ labels_"),
        (
            tenfold.HistGradientBoostingRegressor(max_iter=3, random_state=0),
            (X, table["y"].to_numpy(), table["w"].to_numpy()),
            "baseline_ feature_importances_ train_score_ validation_score_",
        ),
        (
            tenfold.make_pipeline(tenfold.StandardScaler(), tenfold.Ridge()),
            (X, table["y"].to_numpy()),
            "coef_",
        ),
        (
            tenfold.RandomForestClassifier(3, max_depth=6, random_state=0),
            (X, table["word"].to_numpy(), table["w"].to_numpy()),
            "oob_score_ _sums _times feature_importances_",
        ),
    ]


def fitted(model: Any, args: tuple[Any, ...]) -> Any:
    done = model.fit(*args)
    return done if not hasattr(done, "steps") else done.steps[-1][1]


# --- the engine ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", range(6), ids=["Ridge", "GaussianNB", "KMeans", "Boosting", "Pipeline", "Forest"])
def test_two_workers_give_the_bits_of_threads(which: int, client: Client, table: pd.DataFrame) -> None:
    model, args, names = fits(table)[which]
    with tenfold.engine(tenfold.Dask(client)):
        there = copy.deepcopy(fitted(model, args))
    with tenfold.engine(tenfold.Threads(2)):
        here = fitted(model, args)
    assert same(there, here, names)


def test_one_worker_gives_the_bits_of_two(client: Client, table: pd.DataFrame) -> None:
    model, args, names = fits(table)[0]
    with tenfold.engine(tenfold.Dask(client)):
        two = copy.deepcopy(fitted(model, args))
        address = next(iter(client.scheduler_info(n_workers=-1)["workers"]))
        only_one = _Pinned(client, address)
        with tenfold.engine(only_one):
            one = fitted(model, args)
    assert only_one.tasks > 4
    assert same(one, two, names)


class _Pinned(tenfold.Dask):
    """All tasks on one worker."""

    def __init__(self, client: Client, address: str) -> None:
        super().__init__(client)
        self.address, self.tasks = address, 0

    def submit(self, function: Any, *args: Any) -> Any:
        self.tasks += 1
        return self.client.submit(function, *args, pure=False, workers=[self.address])


def test_files_and_streams(client: Client, table: pd.DataFrame, tmp_path: Path) -> None:
    table.drop(columns="word").to_parquet(tmp_path / "t.parquet")
    X, y = columns(table), table["y"].to_numpy()
    here = tenfold.Ridge().fit(X, y, table["w"].to_numpy())
    with tenfold.engine(tenfold.Dask(client)):
        there = tenfold.Ridge().fit(tmp_path / "t.parquet", "y", sample_weight="w")
        stream = tenfold.Ridge().fit((X[i : i + 500], y[i : i + 500]) for i in range(0, N, 500))
    assert same(here, there, "coef_ intercept_")
    assert same(stream, tenfold.Ridge().fit([(X[i : i + 500], y[i : i + 500]) for i in range(0, N, 500)]), "coef_")


def test_blocks_are_sent_once_and_released(client: Client, table: pd.DataFrame) -> None:
    engine = tenfold.Dask(client)
    sent: list[str] = []
    submit = engine.submit

    def noted(function: Any, *args: Any) -> Any:
        sent.append(function.__name__)
        return submit(function, *args)

    engine.submit = noted  # type: ignore[method-assign]
    with tenfold.engine(engine):
        tenfold.KMeans(5, n_init=1, max_iter=4, tol=0, random_state=0).fit(columns(table))
    blocks = -(-N // block_rows(P))
    assert sent.count("_same") == blocks
    assert sent.count("_leaf") >= 5 * blocks
    gc.collect()
    assert len(engine.kept) == 0
    deadline = time.monotonic() + 60
    while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) == 0


def test_errors_on_workers_come_back_as_they_are(client: Client, table: pd.DataFrame) -> None:
    class Odd(Exception):
        def __init__(self, a: int, b: int) -> None:
            super().__init__(f"odd {a + b}")

    class Failing(tenfold.Ridge):
        def _summarize(self, block: Any) -> Any:
            if len(block) == 700:  # the last one
                raise Odd(1, 2)
            raise tenfold.BadInput("the first block fails")

    X, y = columns(table), table["y"].to_numpy()
    with tenfold.engine(tenfold.Dask(client)):
        with pytest.raises(tenfold.BadInput, match=r"^the first block fails$"):
            Failing().fit(X, y)
        with pytest.raises(tenfold.TenfoldError, match="odd 3"):
            Failing().fit(X[:700], y[:700])  # an error that cannot be pickled
        X[N - 1, 3] = np.nan
        with pytest.raises(tenfold.BadInput, match=f"NaN in column 3, row {N - 1}"):
            tenfold.Ridge().fit(X, y)


def test_an_interrupt_cancels_what_is_under_way(client: Client, table: pd.DataFrame) -> None:
    class Slow(tenfold.Ridge):
        def _summarize(self, block: Any) -> Any:
            time.sleep(0.2)
            return super()._summarize(block)

    class Interrupting(tenfold.Dask):
        count = 0

        def submit(self, function: Any, *args: Any) -> Any:
            Interrupting.count += 1
            if Interrupting.count > 6:
                raise KeyboardInterrupt
            return super().submit(function, *args)

    with pytest.raises(KeyboardInterrupt), tenfold.engine(Interrupting(client)):
        Slow().fit(columns(table), table["y"].to_numpy())
    with tenfold.engine(tenfold.Dask(client)):
        tenfold.Ridge().fit(columns(table), table["y"].to_numpy())


# --- collections --------------------------------------------------------------------------------------------


def test_dask_arrays_in_place(client: Client, table: pd.DataFrame) -> None:
    X, y, w = columns(table), table["y"].to_numpy(), table["w"].to_numpy()
    lazy = [da.from_array(X, chunks=(15_000, 7)), da.from_array(y, chunks=12_288), da.from_array(w, chunks=15_000)]
    there = tenfold.Ridge().fit(*lazy)  # the client in force is found
    with tenfold.engine(tenfold.Threads(2)):
        here = tenfold.Ridge().fit(*lazy)
    assert same(there, here, "coef_ intercept_")
    np.testing.assert_allclose(there.coef_, tenfold.Ridge().fit(X, y, w).coef_, rtol=1e-12, atol=0)
    predicted = there.predict(lazy[0])
    assert isinstance(predicted, da.Array)
    assert predicted.shape == (N,)
    assert np.array_equal(predicted.compute(), there.predict(X))
    assert same(there, tenfold.Ridge().fit(lazy[0], y, w), "coef_")  # a target in this process is cut alike


def test_a_forest_of_a_collection_is_that_of_the_table(client: Client, table: pd.DataFrame) -> None:
    """To the bit: trees, what they say out of bag, quantiles, and importances."""
    X, y, w = columns(table)[:9000], table["y"].to_numpy()[:9000], table["w"].to_numpy()[:9000]
    lazy = [da.from_array(X, chunks=(2500, 7)), da.from_array(y, chunks=4096), da.from_array(w, chunks=2500)]
    model = tenfold.RandomForestRegressor(4, max_depth=6, max_features=0.4, random_state=0, keep_targets=True)
    there = copy.deepcopy(model.fit(*lazy))
    here = model.fit(X, y, w)
    assert same(there, here, "oob_score_ feature_importances_") and same(
        there.trees_, here.trees_, "first feature threshold value impurity weighted_n_node_samples"
    )
    np.testing.assert_array_equal(there.oob_prediction_, here.oob_prediction_)
    np.testing.assert_array_equal(there.predict(lazy[0]).compute(), here.predict(X))
    np.testing.assert_array_equal(there.predict_quantiles(lazy[0][:500]).compute(), here.predict_quantiles(X[:500]))
    np.testing.assert_array_equal(there.oob_importance(*lazy).losses, here.oob_importance(X, y, w).losses)


def test_a_dask_frame_in_place(client: Client, table: pd.DataFrame) -> None:
    lazy = dd.from_pandas(table, npartitions=5)
    numbers = lazy.drop(columns="word")
    there = tenfold.Ridge().fit(numbers, "y", sample_weight="w")
    here = tenfold.Ridge().fit(columns(table), table["y"].to_numpy(), table["w"].to_numpy())
    np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-12, atol=0)
    assert list(there.feature_names_in_) == [f"x{j}" for j in range(P)]
    np.testing.assert_allclose(there.predict(numbers).compute(), here.predict(columns(table)), rtol=1e-10, atol=1e-12)
    few = numbers[numbers["x0"] > 2.9]  # lengths are not known, and some partitions may have no row at all
    rows = table[table["x0"] > 2.9]
    np.testing.assert_allclose(
        tenfold.Ridge().fit(few, "y", sample_weight="w").coef_,
        tenfold.Ridge().fit(columns(rows), rows["y"].to_numpy(), rows["w"].to_numpy()).coef_,
        rtol=1e-9,
        atol=0,
    )


def test_classes_and_labels_of_collections(client: Client, table: pd.DataFrame) -> None:
    X, word = columns(table), table["word"].to_numpy()
    lazy = da.from_array(X, chunks=(15_000, P))
    expected = tenfold.GaussianNB().fit(X, word)
    found = tenfold.GaussianNB().fit(lazy, da.from_array(word.astype(str), chunks=12_000))
    np.testing.assert_allclose(found.theta_, expected.theta_, rtol=1e-10, atol=1e-14)
    assert np.array_equal(found.predict(lazy).compute(), expected.predict(X))
    named = tenfold.GaussianNB().fit(dd.from_pandas(table.drop(columns=["y", "w"]), npartitions=3), "word")
    assert named.classes_.tolist() == ["no", "so", "yes"]
    groups = tenfold.KMeans(3, n_init=1, max_iter=4, tol=0, random_state=0).fit(lazy)
    assert groups.labels_.compute().shape == (N,)
    scaled = tenfold.StandardScaler().fit_transform(lazy)
    assert isinstance(scaled, da.Array)
    np.testing.assert_allclose(scaled.std(axis=0).compute(), 1, rtol=1e-12, atol=0)


def test_rows_stay_on_the_workers(client: Client, table: pd.DataFrame) -> None:
    def told(block: np.ndarray) -> np.ndarray:
        block = block.copy()
        block[:, 0] = os.getpid()
        return block

    lazy = da.from_array(columns(table), chunks=(15_000, P)).map_blocks(told, dtype=float, meta=np.empty((0, 0)))
    mean = tenfold.StandardScaler(with_std=False).fit(lazy).mean_[0]
    workers = client.run(os.getpid).values()
    assert min(workers) <= round(mean, 6) <= max(workers)
    assert os.getpid() not in workers


def test_without_a_client_collections_are_fitted_here(client: Client, table: pd.DataFrame) -> None:
    lazy = da.from_array(columns(table), chunks=(15_000, P)), da.from_array(table["y"].to_numpy(), chunks=15_000)
    there = tenfold.Ridge().fit(*lazy)
    with tenfold.engine(tenfold.Local()):
        assert same(there, tenfold.Ridge().fit(*lazy), "coef_")
    assert current_client() is client


def test_bad_collections_are_told(client: Client, table: pd.DataFrame) -> None:
    X, y = columns(table), table["y"].to_numpy()
    lazy, target = da.from_array(X, chunks=(5000, P)), da.from_array(y, chunks=5000)
    broken = X.copy()
    broken[5001, 3] = np.nan
    frame = dd.from_pandas(table, npartitions=3)
    cases: list[tuple[Any, Any, str]] = [
        (da.from_array(broken, chunks=(5000, P)), target, "block 1: Input X contains NaN in column 3, row 1"),
        (lazy, None, "requires y"),
        (lazy, target[:100], "inconsistent numbers of samples"),
        (lazy, "y", "no column 'y' in X"),
        (frame, "nope", "no column 'nope' in X"),
        (frame, y, "must be a Dask collection too"),
        (frame, "y", "could not convert string to float: column 'word'"),
        (
            frame.drop(columns="word"),
            frame["y"].repartition(npartitions=2),
            "X has 3 partitions, but y has 2",
        ),
        (target, target, "Expected 2D"),
        (frame[frame["x0"] > 99].drop(columns="word"), "y", "Found 0 sample"),
    ]
    for given, y_given, message in cases:
        with pytest.raises(tenfold.TenfoldError, match=message):
            tenfold.Ridge().fit(given, y_given)
    with pytest.raises(tenfold.BadInput, match="expecting 12 features"):
        tenfold.Ridge().fit(X, y).predict(lazy[:, :4])


# --- a worker dies (last: it takes the cluster a while to recover) ------------------------------------------


class Dying(tenfold.KMeans):
    """In the third pass, the first worker process to get there kills itself."""

    def _learn(self, source: Any) -> Any:
        steps, stats, count = super()._learn(source), None, 0
        try:
            while True:
                summarize = steps.send(stats)
                count += 1
                stats = yield summarize if count != 3 else _Fatal(summarize, self.mark)
        except StopIteration as done:
            return done.value

    mark = ""


class _Fatal:
    def __init__(self, summarize: Any, mark: str) -> None:
        self.summarize, self.mark = summarize, mark

    def __call__(self, block: Any) -> Any:
        stats = self.summarize(block)
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return stats
        os._exit(1)


@pytest.mark.parametrize("lazy", [False, True], ids=["table", "collection"])
def test_a_worker_that_dies_does_not_change_a_bit(
    lazy: bool, client: Client, table: pd.DataFrame, tmp_path: Path
) -> None:
    client.wait_for_workers(2, timeout=30)
    X: Any = columns(table)
    X = da.from_array(X, chunks=(10_000, P)) if lazy else X
    setting = dict(n_init=1, max_iter=4, tol=0.0, random_state=0)
    with tenfold.engine(tenfold.Dask(client)):
        expected = tenfold.KMeans(5, **setting).fit(X)
        before = set(client.run(os.getpid).values())
        model = Dying(5, **setting)
        model.mark = str(tmp_path / "dead")
        found = model.fit(X)
    assert (tmp_path / "dead").exists()
    client.wait_for_workers(2, timeout=30)
    assert set(client.run(os.getpid).values()) != before
    assert same(found, expected, "cluster_centers_")
