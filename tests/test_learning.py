"""The protocol: what a learner may yield, and who answers. The toys here are written as learners are."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from engines import Shuffled

import tenfold
from tenfold.base.estimator import Density, Detector, Estimator, RowClusterer
from tenfold.base.roles import Regressor
from tenfold.core.data import Array, Arrays, Block, Source, Target
from tenfold.core.engine import Engine, Local, Threads
from tenfold.core.errors import BadInput, TooLarge
from tenfold.core.learning import Keep, Learner, NoRows, Reside, Scan, drive, lockstep, through
from tenfold.core.params import estimator, param
from tenfold.core.stats import Counts

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1000, 3))
Y = X @ np.array([1.0, -2.0, 0.5]) + 0.1 * RNG.normal(size=1000)


def table(X: Array = X, size: int = 64, **more: Any) -> Arrays:
    return Arrays(X, Y[: len(X), None], None, Target("real"), {"n_features_in_": X.shape[1]}, size=size, **more)


def total(block: Block) -> Counts:
    return Counts(block.w @ np.column_stack([block.X, np.ones(len(block))]))


def sums() -> Learner[Array]:
    """Two passes, of which the second depends on the first."""
    first = yield total
    second = yield partial(shifted, shift=first.weight[0])
    return np.append(first.weight, second.weight)


def shifted(block: Block, shift: float) -> Counts:
    return Counts(np.array([(block.X[:, 0] - shift).sum()]))


def positive(block: Block) -> Block | None:
    rows = np.flatnonzero(block.X[:, 0] > 0)
    return block.take(rows) if len(rows) else None


def doubled(block: Block) -> Block:
    return Block(2 * block.X, block.y, block.w)


# --- the four requests ---


def follow(state: list[Array], block: Block) -> list[Array]:
    return [*state, block.X.copy()]


@pytest.mark.parametrize("engine", [Local(), Threads(2)])
def test_a_scan_sees_the_blocks_in_order(engine: Engine) -> None:
    def learner() -> Learner[list[Array]]:
        return (yield Scan(follow, []))

    np.testing.assert_array_equal(np.concatenate(drive(learner(), table(), engine)), X)


def test_a_shuffled_scan_sees_every_row_once_in_an_order_that_the_seed_alone_decides() -> None:
    def learner(seed: int) -> Learner[list[Array]]:
        return (yield Scan(follow, [], shuffle=seed))

    one, again, other = (np.concatenate(drive(learner(s), table(), e)) for s, e in ((1, Local()), (1, Threads(2)), (2, Local())))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other) and not np.array_equal(one, X)
    for rows in (one, other):
        np.testing.assert_array_equal(np.sort(rows, axis=0), np.sort(X, axis=0))


def test_rows_that_are_kept_are_the_users_own_where_that_will_do() -> None:
    def learner(**options: Any) -> Learner[tuple[Array, Array, Array]]:
        return (yield Keep(**options))

    kept, y, w = drive(learner(), table(), Local())
    assert kept is X and np.array_equal(y[:, 0], Y) and (w == 1).all()
    copied, _, _ = drive(learner(own=True), table(), Local())
    assert copied is not X and np.array_equal(copied, X)
    some, _, _ = drive(learner(), table().select(np.arange(0, 1000, 3)), Threads(2))
    np.testing.assert_array_equal(some, X[::3])


def test_rows_that_are_kept_have_passed_the_gate() -> None:
    bad = X.copy()
    bad[77, 1] = np.nan
    with pytest.raises(BadInput, match="row 77"):
        drive((lambda: (yield Keep()))(), table(bad), Local())


def test_memory_is_looked_at_before_rows_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from tenfold.core import memory

    monkeypatch.setattr(memory, "LITTLE", 0)
    monkeypatch.setattr(memory, "memory", lambda: (1000.0, 2000.0))
    with pytest.raises(TooLarge, match="1,000 rows of 3 columns"):
        drive((lambda: (yield Keep(own=True)))(), table(), Local())


def begin(block: Block) -> Array:
    return block.X[:, 0].copy()


def join(parts: list[Array]) -> Array:
    return np.concatenate(parts)


def test_resident_rows_answer_and_change() -> None:
    def learner() -> Learner[tuple[float, float, bool]]:
        rows = yield Reside(begin, join)
        before = rows.ask(np.sum)
        rows.change("squares", np.square)
        after = rows.step("squares", lambda kept, squares: (squares + 1, squares.sum()), of=("kept", "squares"))
        last = rows.ask(np.sum, of=("squares",))
        rows.forget("squares")
        return float(before), float(last - after), rows.here

    assert drive(learner(), table(), Threads(2)) == (pytest.approx(X[:, 0].sum()), pytest.approx(1000), True)


# --- through, lockstep ---


@pytest.mark.parametrize("engine", [Local(), Threads(2), Shuffled(3)], ids=str)
def test_through_is_the_learner_on_changed_rows(engine: Any) -> None:
    np.testing.assert_array_equal(drive(through(doubled, sums()), table(), engine), drive(sums(), table(2 * X), engine))
    some = drive(through(positive, sums(), drops=True), table(), engine)
    np.testing.assert_allclose(some, drive(sums(), table(X[X[:, 0] > 0]), engine), rtol=1e-12)


def test_every_request_goes_through() -> None:
    def learner() -> Learner[list[Array]]:
        scanned = yield Scan(follow, [])
        kept, _, _ = yield Keep()
        rows = yield Reside(begin, join)
        return [np.concatenate(scanned), kept, rows.ask(np.copy)]

    scanned, kept, asked = drive(through(positive, learner(), drops=True), table(), Local())
    expected = X[X[:, 0] > 0]
    np.testing.assert_array_equal(scanned, expected)
    np.testing.assert_array_equal(kept, expected)
    np.testing.assert_array_equal(asked, expected[:, 0])


def test_changes_are_made_in_the_order_they_are_written() -> None:
    """through(a, through(b, learner)): rows go through a, then b, then to the learner."""
    inner = partial(through, lambda block: Block(block.X + 1, block.y, block.w))
    found = drive(through(doubled, inner(sums())), table(), Local())
    np.testing.assert_allclose(found, drive(sums(), table(2 * X + 1), Local()), rtol=1e-12)


def test_no_rows_left_is_an_error_that_can_be_caught() -> None:
    for learner in (sums(), (lambda: (yield Keep()))()):
        with pytest.raises(NoRows):
            drive(through(lambda block: None, learner, drops=True), table(), Local())


def test_lockstep_reads_each_block_once_for_all() -> None:
    source = table()
    loads: list[int] = []
    load = source.load
    source.load = source.lazy = lambda part: (loads.append(part), load(part))[1]  # type: ignore[method-assign,assignment,func-returns-value]
    found = drive(lockstep({k: through(doubled, sums()) if k else sums() for k in range(5)}), source, Local())
    assert len(loads) == 2 * source.n_parts  # two passes, whatever the number of learners
    np.testing.assert_array_equal(found[0], drive(sums(), table(), Local()))
    np.testing.assert_array_equal(found[4], drive(sums(), table(2 * X), Local()))


def test_lockstep_of_learners_that_end_at_different_times_and_ask_different_things() -> None:
    def other() -> Learner[Any]:
        kept, _, _ = yield Keep()
        counts = yield total
        return kept.shape, counts.weight

    def at_once() -> Learner[str]:
        return "done"
        yield

    found = drive(lockstep({"sums": sums(), "other": other(), "none": at_once()}), table(), Threads(2))
    assert found["none"] == "done" and found["other"][0] == X.shape
    np.testing.assert_array_equal(found["sums"], drive(sums(), table(), Local()))


def halves(block: Block) -> dict[str, Block]:
    left = block.X[:, 0] < 0
    parts = {"left": np.flatnonzero(left), "right": np.flatnonzero(~left)}
    return {key: block.take(rows) for key, rows in parts.items() if len(rows)}


def test_lockstep_on_shares_of_the_rows() -> None:
    found = drive(lockstep({"left": sums(), "right": sums()}, halves), table(), Local())
    for key, rows in (("left", X[:, 0] < 0), ("right", X[:, 0] >= 0)):
        np.testing.assert_allclose(found[key], drive(sums(), table(X[rows]), Local()), rtol=1e-12)


def test_a_generator_that_fails_closes_the_others() -> None:
    closed = []

    def patient() -> Learner[None]:
        try:
            while True:
                yield total
        finally:
            closed.append(True)

    def failing() -> Learner[None]:
        yield total
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        drive(lockstep({0: patient(), 1: failing()}), table(), Local())
    assert closed == [True]


def test_an_engine_needs_nothing_but_run() -> None:
    class Plain:
        def run(self, summarize: Any, source: Any) -> Any:
            return Local().run(summarize, source)

    with tenfold.engine(Plain()):
        model = tenfold.HistGradientBoostingRegressor(max_iter=3).fit(X, Y)
    np.testing.assert_array_equal(model.predict(X), tenfold.HistGradientBoostingRegressor(max_iter=3).fit(X, Y).predict(X))


# --- a sequential learner, whole ---


@estimator
class Online(Regressor, Estimator):
    """Least mean squares: one step down the gradient for each row, in order."""

    kind = "sequential"
    rate: float = param(default=0.05, doc="size of a step")

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        weights = yield Scan(partial(descend, rate=self.rate), np.zeros(source.n_features))
        return dict(coef_=weights)

    def _predict(self, X: Array) -> Array:
        return np.asarray(X @ self.coef_)


def descend(weights: Array, block: Block, rate: float) -> Array:
    for x, y in zip(block.X, block.y[:, 0], strict=True):
        weights = weights + rate * (y - x @ weights) * x
    return weights


def test_a_sequential_learner_is_the_same_wherever_its_rows_are() -> None:
    whole = Online().fit(X, Y)
    blocks = Online().fit([(X[i : i + 100], Y[i : i + 100]) for i in range(0, 1000, 100)])
    np.testing.assert_array_equal(whole.coef_, blocks.coef_)
    np.testing.assert_allclose(whole.coef_, [1, -2, 0.5], atol=0.1)


# --- roles ---


@estimator
class Normal(Density, Estimator):
    """Independent normal columns."""

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        rows, _, _ = yield Keep()
        return dict(mean_=rows.mean(axis=0), scale_=rows.std(axis=0))

    def _log_density(self, X: Array) -> Array:
        z = (X - self.mean_) / self.scale_
        return np.asarray(-(z**2 / 2 + np.log(self.scale_) + np.log(2 * np.pi) / 2).sum(axis=1))

    def _draw(self, n: int, rng: np.random.Generator) -> Array:
        return self.mean_ + self.scale_ * rng.normal(size=(n, len(self.mean_)))


def test_a_density() -> None:
    from scipy.stats import norm

    model = Normal().fit(X)
    expected = norm.logpdf(X, X.mean(axis=0), X.std(axis=0)).sum(axis=1)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-12)
    assert model.score(X) == pytest.approx(expected.mean())
    w = RNG.integers(0, 3, 1000)
    assert model.score(X, sample_weight=w) == pytest.approx(np.average(expected, weights=w))
    np.testing.assert_allclose(model.sample(20_000, random_state=0).mean(axis=0), X.mean(axis=0), atol=0.05)
    np.testing.assert_array_equal(model.sample(5, random_state=1), model.sample(5, random_state=1))
    with pytest.raises(tenfold.BadParameter, match="n_samples=0"):
        model.sample(0)
    assert model.__sklearn_tags__().estimator_type == "density_estimator"


@estimator
class Far(Detector, Estimator):
    """Rows far from the centre."""

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        rows, _, _ = yield Keep()
        center = rows.mean(axis=0)
        far = -np.abs(rows - center).max(axis=1)
        return dict(center_=center, offset_=float(np.quantile(far, 0.1)))

    def _normality(self, X: Array) -> Array:
        return np.asarray(-np.abs(X - self.center_).max(axis=1))


def test_a_detector() -> None:
    model = Far()
    found = model.fit_predict(X)
    assert set(found) == {-1, 1} and (found == -1).mean() == pytest.approx(0.1, abs=0.01)
    np.testing.assert_array_equal(found == -1, model.decision_function(X) < 0)
    assert model.predict([[100.0, 0, 0]])[0] == -1
    assert model.__sklearn_tags__().estimator_type == "outlier_detector"


@estimator
class Signs(RowClusterer, Estimator):
    """Groups by the sign of the first column."""

    def _learn(self, source: Source) -> Learner[dict[str, Any]]:
        rows, _, _ = yield Keep()
        return dict(labels_=(rows[:, 0] > 0).astype(int))


def test_a_clusterer_that_knows_no_new_rows_does_not_pretend() -> None:
    model = Signs()
    np.testing.assert_array_equal(model.fit_predict(X), X[:, 0] > 0)
    assert not hasattr(model, "predict") and model.__sklearn_tags__().estimator_type == "clusterer"
