"""Boosting on rows in several parts, asked as the workers of a cluster are: the model of one table, to the bit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tenfold
from tenfold.core.data import Array
from tenfold.core.resident import Resident
from tenfold.tree.boosting import training
from tenfold.tree.boosting.exact_sums import Whole

N, P = 2000, 6
NUMBERS = "baseline_ train_score_ validation_score_ oob_scores_ n_iter_ n_estimators_ feature_importances_"
NODES = "first children_left feature threshold missing_go_to_left subset bits value gain n_node_samples weighted_n_node_samples"


class Parts(Resident):
    """Rows in three parts, which know nothing of each other; what they are told and what they tell travels as bytes."""

    def __init__(self, blocks: list[Any], begin: Callable[[Any], Any], join: Callable[[list[Any]], Any]) -> None:
        begun = [begin(block) for block in blocks]
        self.states = {"kept": [join(begun[i::3]) for i in range(3) if begun[i::3]]}
        self.told: list[int] = []  # bytes of each answer

    def _each(self, function: Any, message: Any, of: Any, own: Any = None) -> list[Any]:
        firsts = [()] * len(self.states["kept"]) if own is None else [(one,) for one in own]
        states = zip(*(self.states[name] for name in of), strict=True)
        travelled = pickle.loads(pickle.dumps((function, message, firsts)))
        return [travelled[0](*first, *some, *travelled[1]) for first, some in zip(travelled[2], states, strict=True)]

    def _merged(self, answers: list[Any]) -> Any:
        total = answers[-1]
        for answer in answers[-2::-1]:
            total = answer + total
        self.told.append(len(pickle.dumps(total)))
        return total

    def ask(self, function: Any, *message: Any, of: Any = ("kept",)) -> Any:
        return self._merged(self._each(function, message, of))

    def change(self, into: str, function: Any, *message: Any, of: Any = ("kept",), own: Any = None) -> None:
        self.states[into] = self._each(function, message, of, own)

    def step(self, into: str, function: Any, *message: Any, of: Any = ("kept",)) -> Any:
        both = self._each(function, message, of)
        self.states[into] = [one[0] for one in both]
        return self._merged([one[1] for one in both])

    def forget(self, name: str) -> None:
        del self.states[name]


class InParts(tenfold.Local):
    """An engine whose rows stay where they are."""

    rows: Parts | None = None

    local = False

    def reside(self, source: Any, begin: Any, join: Any) -> Parts:
        pieces = source.finer(300)
        self.rows = Parts([pieces.load(part) for part in pieces.parts()], begin, join)
        return self.rows


@pytest.fixture(autouse=True)
def rows_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few they are."""
    monkeypatch.setattr(training, "FEW_BYTES", 0)


def made(n: int = N) -> dict[str, Array]:
    """A table with missing values, categories and copies, and targets of all kinds."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, P)).round(2)
    X[:, 5] = rng.integers(0, 6, n)
    X[rng.random((n, P)) < 0.05] = np.nan
    y = np.nansum(X[:, :3], axis=1) + (X[:, 5] % 2 == 1) + rng.standard_normal(n).round(2)
    X[:40], y[:40] = X[40:80], y[40:80]  # copies
    return {
        "X": X,
        "real": y,
        "count": np.round(np.exp(y / 4)),
        "two": (y > 0).astype(np.int64),
        "three": np.digitize(y, [-1, 1]),
        "w": rng.random(n) + 0.1,
    }


def given(table: dict[str, Array], target: str, weighted: bool) -> list[Array]:
    return [table["X"], table[target], *([table["w"]] if weighted else [])]


def assert_same(there: Any, here: Any) -> None:
    """Two fitted models, to the bit."""
    for name in NUMBERS.split():
        assert (name in vars(here)) == (name in vars(there)), name
        if hasattr(here, name):
            np.testing.assert_array_equal(getattr(there, name), getattr(here, name), err_msg=name)
    for name in NODES.split():
        np.testing.assert_array_equal(getattr(there._trees, name), getattr(here._trees, name), err_msg=name)


Hist, HistC = tenfold.HistGradientBoostingRegressor, tenfold.HistGradientBoostingClassifier
Depth, DepthC = tenfold.GradientBoostingRegressor, tenfold.GradientBoostingClassifier
EARLY = dict(early_stopping=True, n_iter_no_change=2, max_iter=6, random_state=0)
CASES: dict[str, tuple[Any, str, bool]] = {
    "squared": (Hist(max_iter=3), "real", False),
    "weights": (Hist(max_iter=3), "real", True),
    "logistic": (HistC(max_iter=3), "two", False),
    "softmax": (HistC(max_iter=3, max_leaf_nodes=8), "three", False),
    "softmax, class weights": (HistC(max_iter=3, max_leaf_nodes=8, class_weight="balanced"), "three", True),
    "poisson": (Hist(max_iter=3, loss="poisson"), "count", True),
    "gamma": (Hist(max_iter=3, loss="gamma"), "w", False),
    "exponential": (DepthC(n_estimators=3, loss="exponential"), "two", True),
    "categories": (Hist(max_iter=3, categorical_features=[5], max_depth=4), "real", False),
    "monotone": (Hist(max_iter=3, monotonic_cst=[1, -1, 0, 0, 0, 0]), "real", False),
    "interactions": (Hist(max_iter=3, interaction_cst=[[0, 1], [2, 3, 4]]), "real", False),
    "columns drawn": (Hist(max_iter=3, max_features=0.4, random_state=1), "real", False),
    "penalties": (Hist(max_iter=3, l1_regularization=3.0, l2_regularization=2.0), "real", True),
    "held out": (Hist(**EARLY), "real", False),
    "held out of each class": (HistC(**EARLY, tol=0.05), "three", True),
    "the loss of all rows": (HistC(**EARLY, validation_fraction=None), "two", False),
    "rows drawn": (Hist(max_iter=3, subsample=0.5, random_state=0), "real", True),
    "whole trees": (Depth(n_estimators=3, max_depth=None, min_samples_leaf=9), "real", False),
    "whole trees of rows and columns drawn": (
        Depth(n_estimators=3, subsample=0.6, max_features=0.5, max_depth=7, random_state=0, n_iter_no_change=2),
        "real",
        True,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_parts_give_the_bits_of_the_table(name: str) -> None:
    model, *what = CASES[name]
    engine = InParts()
    with tenfold.engine(engine):
        there = pickle.loads(pickle.dumps(model.fit(*given(made(), *what))))
    assert engine.rows is not None
    assert_same(there, model.fit(*given(made(), *what)))


def test_rounds_are_added_to_a_fit() -> None:
    models = []
    for engine in (InParts(), tenfold.Local()):
        model = HistC(max_iter=1, max_leaf_nodes=4, warm_start=True, subsample=0.7, random_state=0)
        with tenfold.engine(engine):
            model.fit(*given(made(), "three", True))
            models.append(model.set_params(max_iter=3).fit(*given(made(), "three", True)))
    assert_same(*models)


def test_what_needs_all_rows_gathers_them() -> None:
    for model, target in (
        (Hist(max_iter=2, loss="absolute_error"), "real"),
        (HistC(**EARLY, scoring="accuracy"), "two"),
        (DepthC(n_estimators=2, init=tenfold.GaussianNB()), "two"),
    ):
        table, engine = made(), InParts()
        table["X"] = np.nan_to_num(table["X"])
        with tenfold.engine(engine):
            there = pickle.loads(pickle.dumps(model.fit(*given(table, target, True))))
        assert engine.rows is None
        assert_same(there, model.fit(*given(table, target, True)))


def test_what_parts_tell_does_not_grow_with_the_rows() -> None:
    """A tree takes about as many turns as it is deep, and no more than its histograms travel."""
    told = []
    for rows in (1000, 2000):
        engine = InParts()
        with tenfold.engine(engine):
            Hist(max_iter=2, max_leaf_nodes=8, max_bins=16).fit(*given(made(rows), "real", True))
        assert engine.rows is not None
        told.append(engine.rows.told)
    histogram = P * 17 * 16
    for sizes in told:
        assert len(sizes) < 2 * 9 + 6
        assert max(sizes) < 8 * histogram + 1000
        assert sum(sizes) < 2 * (2 * 8 * histogram) + 30_000  # exact sums besides


def test_an_interrupt_between_two_questions_keeps_the_trees_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def interrupted(self: Parts, into: str, function: Any, *message: Any, of: Any = ("kept",)) -> Any:
        asked.append(function.__name__)
        if asked.count("planted") == 3 and function.__name__ == "turned":
            raise KeyboardInterrupt
        return step(self, into, function, *message, of=of)

    step, model = Parts.step, HistC(max_iter=9)
    monkeypatch.setattr(Parts, "step", interrupted)
    with tenfold.engine(InParts()), pytest.raises(KeyboardInterrupt, match="2 of 9 rounds"):
        model.fit(*given(made(), "three", True))
    expected = HistC(max_iter=2).fit(*given(made(), "three", True))
    np.testing.assert_array_equal(model.predict_proba(made()["X"]), expected.predict_proba(made()["X"]))


def test_arrays_that_arrive_at_any_byte_are_moved() -> None:
    memory = bytearray(808)
    for start in range(4):
        odd = np.frombuffer(memory, dtype=np.float64, count=100, offset=start)
        sent: list[pickle.PickleBuffer] = []
        kept = pickle.dumps(Whole([odd, odd]), protocol=5, buffer_callback=sent.append)
        for array in pickle.loads(kept, buffers=sent).arrays:
            assert array.ctypes.data % 16 == 0
            np.testing.assert_array_equal(array, odd)


def test_a_part_that_fails_tells_why() -> None:
    table = made()
    table["count"][7] = -1.0
    with tenfold.engine(InParts()), pytest.raises(tenfold.BadInput, match="requires non-negative y"):
        Hist(loss="poisson").fit(table["X"], table["count"])
